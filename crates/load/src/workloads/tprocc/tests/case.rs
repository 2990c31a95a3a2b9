//! A case: a place, a job and what tests do with it.

use super::support::{Place, Special};
use crate::drive::VirtualUser as _;
use crate::operation::Completion;
use crate::workload::{RunRequest, WorkloadRun as _};
use crate::workloads::blocking_session::BlockingSession;
use crate::workloads::blocking_session::runtime;
use crate::workloads::tprocc::build::Build;
use crate::workloads::tprocc::checks::{self, Evidence};
use crate::workloads::tprocc::dialect::Dialect;
use crate::workloads::tprocc::draw_counts::DrawCounts;
use crate::workloads::tprocc::paced::WaitTally;
use crate::workloads::tprocc::session_opener::SessionOpener;
use crate::workloads::tprocc::session_work::SessionWork;
use crate::workloads::tprocc::settings::{SETTINGS, TproccSettings};
use crate::workloads::tprocc::statements;
use crate::workloads::tprocc::transaction_runner::TransactionRunner;
use crate::workloads::tprocc::user::{KINDS, User};
use crate::workloads::tprocc::workload_run::{CountsBefore, TproccRun};
use proofload_engine::{Engine, Target, engine};
use proofload_gen::tprocc::population::{
    ContentHash, Hundredths, Kind, RowHash, Table, TenThousandths, Timestamp, Value,
};
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{Check, CheckOutcome, OperationCounts};
use proofload_model::settings::{STANDARD, Settings, Value as Setting};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::LoadSpec;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// 2026-01-01.
pub(super) const LOAD_TIME: WallTime = WallTime(1_767_225_600_000_000);

/// A clock that moves on by a second each time it is read, from a constant.
#[derive(Debug)]
pub(super) struct SteppingClock(AtomicI64);

impl SteppingClock {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(LOAD_TIME.0)))
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> Moment {
        Moment(0)
    }

    fn wall(&self) -> WallTime {
        WallTime(self.0.fetch_add(1_000_000, Ordering::Relaxed) + 1_000_000)
    }

    fn sleep(&self, _time: Duration) {}
}

/// An engine at a place with a job.
pub(super) struct Case {
    pub(super) place: Place,
    pub(super) request: RunRequest,
    pub(super) settings: TproccSettings,
    pub(super) dialect: Dialect,
}

/// The settings of a study of the toy scale, these changed.
pub(crate) fn toy(changes: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    for spec in SETTINGS {
        let given = changes.iter().find(|(name, _)| format!("workload.{name}") == spec.path).map(|(_, value)| *value);
        let value = match spec.path {
            "workload.warehouses" => given.or(Some("2")),
            "workload.virtual_users" => given.or(Some("1")),
            "workload.scale" => given.or(Some("toy")),
            _ => given.or(spec.default),
        };
        if let Some(value) = value {
            settings.0.insert(spec.path.to_owned(), spec.kind.read_text(value).unwrap());
        }
    }
    for spec in STANDARD {
        let given = changes.iter().find(|(name, _)| format!("workload.{name}") == spec.path);
        let value = given.map(|(_, value)| spec.kind.read_text(value).unwrap());
        settings.0.extend(value.map(|value| (spec.path.to_owned(), value)));
    }
    settings.0.insert("workload.kind".to_owned(), Setting::Text("tprocc".to_owned()));
    settings
}

/// A job of the toy scale at a place.
pub(super) fn job_at(target: Target, changes: &[(&str, &str)]) -> RunRequest {
    let spec = LoadSpec {
        workload: "tprocc".to_owned(),
        settings: toy(changes),
        place: target.place.clone(),
        endpoints: target.address().map(str::to_owned).into_iter().collect(),
        data_seed: 1,
        input_seed: 2,
        load_time: LOAD_TIME,
        part: LoadShare::default(),
    };
    let engine = engine(&target.place.engine).unwrap();
    RunRequest { spec, engine, target, progress: Arc::new(|_, _, _| {}) }
}

impl Case {
    /// A case on an engine; `None`, with a message, where the engine is not available.
    pub(super) fn new(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        let of_name: &'static dyn Engine = engine(name).unwrap();
        match Place::new(of_name, &[], &Special { prefix: "proofload-tprocc-", ..Special::default() }) {
            Ok(place) => Some(Self::at(place, of_name, changes)),
            Err(reason) => {
                let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
                assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
                eprintln!("SKIPPED: {name}: {reason}");
                None
            }
        }
    }

    fn at(place: Place, engine: &'static dyn Engine, changes: &[(&str, &str)]) -> Self {
        let request = job_at(place.target.clone(), changes);
        let settings = TproccSettings::read(&request.spec.settings).unwrap();
        Self { place, request, settings, dialect: Dialect::of(engine, settings.profile.departures).unwrap() }
    }

    /// The same with data.
    pub(super) fn built(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        let case = Self::new(name, changes)?;
        case.workload_run().build().unwrap();
        Some(case)
    }

    pub(super) fn workload_run(&self) -> Arc<TproccRun> {
        Arc::new(TproccRun::new(self.request.clone()).unwrap())
    }

    pub(super) fn build(&self) -> Build<'_> {
        Build::new(&self.request, &self.dialect, self.settings)
    }

    pub(super) fn session(&self) -> BlockingSession {
        BlockingSession::open(self.request.engine, &self.request.target).unwrap()
    }

    /// The server's log so far; `None` for an embedded engine.
    pub(super) fn server_log(&self) -> Option<String> {
        let recipe = self.request.engine.server()?;
        let file = std::path::Path::new(&self.request.target.place.folder).join("instance").join(recipe.log_file());
        Some(std::fs::read_to_string(file).unwrap())
    }

    /// A session with the workload's statements prepared, and its runtime.
    pub(super) fn work(&self) -> (tokio::runtime::Runtime, SessionWork) {
        let statements = statements::of(&self.dialect, self.settings.form).unwrap();
        let opener = SessionOpener { engine: self.request.engine, target: self.request.target.clone(), statements };
        let keeps_data = self.request.engine.facts().capabilities.durable;
        let workload_run = SessionWork::open(Arc::new(opener), &self.settings, SteppingClock::new(), keeps_data);
        let runtime = runtime().unwrap();
        let work = runtime.block_on(workload_run).unwrap();
        (runtime, work)
    }

    /// Runs so many transactions of one user, one after another, and returns the user.
    pub(super) fn run_user(&self, number: i32, transactions: u64) -> (User, Vec<OperationCounts>) {
        let (runtime, work) = self.work();
        let inputs = self.settings.inputs(&self.request.spec).unwrap().user(number);
        let draws = Rc::new(RefCell::new(DrawCounts::new(&self.settings.scale)));
        let mut user = User::new(TransactionRunner::new(work, self.settings.warehouses, draws), inputs);
        let mut counts: Vec<OperationCounts> = KINDS
            .iter()
            .map(|kind| OperationCounts { kind: (*kind).to_owned(), ..OperationCounts::default() })
            .collect();
        runtime.block_on(async {
            for _ in 0..transactions {
                let kind = user.draw();
                loop {
                    match user.run().await {
                        Ok(Completion::Done) => counts[kind].done += 1,
                        Ok(Completion::RolledBack) => counts[kind].rolled_back += 1,
                        Err(error) => {
                            assert!(error.is_retryable(), "{error}");
                            user.recover().await.unwrap();
                            continue;
                        }
                    }
                    break;
                }
            }
        });
        (user, counts)
    }

    /// State of the database that the checks compare with.
    pub(super) fn before(&self) -> CountsBefore {
        self.workload_run().before(&mut self.session()).unwrap()
    }

    /// All checks after a run of one user.
    pub(super) fn verify(&self, before: &CountsBefore, user: &User, counts: &[OperationCounts]) -> Vec<Check> {
        checks::excused(self.found(before, user, counts), &self.settings.profile)
    }

    /// The same, whatever the profile breaks.
    pub(super) fn found(&self, before: &CountsBefore, user: &User, counts: &[OperationCounts]) -> Vec<Check> {
        let plan = self.settings.inputs(&self.request.spec).unwrap();
        let evidence = Evidence {
            tally: &user.runner.tally,
            draws: &user.runner.draws.borrow(),
            law: plan.settings(),
            acknowledged: &user.runner.acknowledged,
            before: Some(before),
            waits: &WaitTally::default(),
            settings: &self.settings,
            dialect: &self.dialect,
            counts,
        };
        checks::found(&mut self.session(), &evidence, &self.request.progress).unwrap()
    }

    /// Content hash of every table as the engine gives it back.
    pub(super) fn content(&self) -> Vec<(&'static str, ContentHash)> {
        let mut session = self.session();
        Table::ALL.iter().map(|table| (table.name(), content(&mut session, *table))).collect()
    }
}

/// Content hash of a table as the engine gives it back.
fn content(session: &mut BlockingSession, table: Table) -> ContentHash {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
    let mut hash = ContentHash::default();
    for row in session.query(&format!("SELECT {} FROM {}", names.join(", "), table.name())).unwrap() {
        let mut row_hash = RowHash::new(table);
        for (column, value) in table.columns().iter().zip(&row) {
            let value = value.as_value();
            row_hash.value(match column.kind {
                _ if value == proofload_engine::Value::Null => Value::Null,
                Kind::Integer => Value::Integer(value.integer().unwrap()),
                Kind::Hundredths => Value::Hundredths(Hundredths(value.units(2).unwrap())),
                Kind::TenThousandths => Value::TenThousandths(TenThousandths(value.units(4).unwrap())),
                Kind::Timestamp => Value::Timestamp(Timestamp(value.integer().unwrap())),
                Kind::Text { .. } => match value {
                    proofload_engine::Value::Text(text) => Value::Text(text),
                    other => panic!("{} is {other:?}", column.name),
                },
            });
        }
        hash.add(row_hash);
    }
    hash
}

/// Names of the checks that failed.
pub(super) fn failed(checks: &[Check]) -> Vec<&str> {
    checks.iter().filter(|check| check.outcome == CheckOutcome::Failed).map(|check| check.name.as_str()).collect()
}
