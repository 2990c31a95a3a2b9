//! Order entry at the toy scale in one database: data, a user, checks, content.

use super::super::checks::{self, Evidence};
use super::super::dialect::Dialect;
use super::super::draw_counts::DrawCounts;
use super::super::paced::WaitTally;
use super::super::session_opener::SessionOpener;
use super::super::session_work::SessionWork;
use super::super::settings::TproccSettings;
use super::super::statements;
use super::super::transaction_runner::TransactionRunner;
use super::super::user::{KINDS, User};
use super::super::workload_run::{CountsBefore, TproccRun};
use crate::drive::VirtualUser as _;
use crate::operation::Completion;
use crate::selftest::{LOAD_TIME, spec};
use crate::workload::{RunRequest, Workload as _, WorkloadRun as _};
use crate::workloads::blocking_session::{BlockingSession, runtime};
use crate::workloads::tprocc::Tprocc;
use proofload_engine::{Engine, Target};
use proofload_gen::tprocc::population::{
    Chunk, Column, ContentHash, Hundredths, Kind, RowHash, Table, TenThousandths, Timestamp, Value,
};
use proofload_model::error::Error;
use proofload_model::samples::{Check, OperationCounts};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::LoadSpec;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Retries of one transaction before it is given up.
const TRIES: u32 = 1_000;

/// A clock that moves on by a second each time it is read, from a constant: equal inputs are dated equally.
#[derive(Debug)]
pub(in crate::workloads::tprocc) struct SteppingClock(AtomicI64);

impl SteppingClock {
    pub(in crate::workloads::tprocc) fn new() -> Arc<Self> {
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

/// A load of the toy scale: two warehouses and one user, these settings changed.
pub(in crate::workloads::tprocc) fn toy(target: &Target, changes: &[(&str, &str)]) -> Result<LoadSpec, Error> {
    let mut all = changes.to_vec();
    for (name, value) in [("warehouses", "2"), ("virtual_users", "1"), ("scale", "toy")] {
        if !changes.iter().any(|(given, _)| *given == name) {
            all.push((name, value));
        }
    }
    spec(&Tprocc.facts(), target, &all)
}

/// An engine at a place with a job.
pub(in crate::workloads::tprocc) struct OltpBench {
    pub(in crate::workloads::tprocc) request: RunRequest,
    pub(in crate::workloads::tprocc) settings: TproccSettings,
    pub(in crate::workloads::tprocc) dialect: Dialect,
}

impl OltpBench {
    /// A bench in a database.
    pub(in crate::workloads::tprocc) fn new(
        engine: &'static dyn Engine,
        target: &Target,
        changes: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let spec = toy(target, changes)?;
        let request = RunRequest { spec, engine, target: target.clone(), progress: Arc::new(|_, _| {}) };
        let settings = TproccSettings::read(&request.spec.settings)?;
        let dialect = Dialect::of(engine, settings.profile.departures)?;
        Ok(Self { request, settings, dialect })
    }

    /// The same with data.
    pub(in crate::workloads::tprocc) fn built(
        engine: &'static dyn Engine,
        target: &Target,
        changes: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let bench = Self::new(engine, target, changes)?;
        bench.run()?.build()?;
        Ok(bench)
    }

    pub(in crate::workloads::tprocc) fn run(&self) -> Result<Arc<TproccRun>, Error> {
        Ok(Arc::new(TproccRun::new(self.request.clone())?))
    }

    pub(in crate::workloads::tprocc) fn session(&self) -> Result<BlockingSession, Error> {
        Ok(BlockingSession::open(self.request.engine, &self.request.target)?)
    }

    /// A session with the workload's statements prepared, and its runtime.
    pub(in crate::workloads::tprocc) fn work(&self) -> Result<(Runtime, SessionWork), Error> {
        let statements = statements::of(&self.dialect, self.settings.form, self.settings.lines)?;
        let opener = SessionOpener {
            engine: self.request.engine,
            target: self.request.target.clone(),
            statements,
            in_one_flight: self.dialect.has_one_flight(),
        };
        let keeps_data = self.request.engine.facts().capabilities.durable;
        let opened = SessionWork::open(Arc::new(opener), &self.settings, SteppingClock::new(), keeps_data);
        let runtime = runtime()?;
        let work = runtime.block_on(opened)?;
        Ok((runtime, work))
    }

    /// Runs so many transactions of one user, one after another, and returns the user.
    pub(in crate::workloads::tprocc) fn run_user(
        &self,
        number: i32,
        transactions: u64,
    ) -> Result<(User, Vec<OperationCounts>), Error> {
        let (runtime, work) = self.work()?;
        let inputs = self.settings.inputs(&self.request.spec)?.user(number);
        let draws = Rc::new(RefCell::new(DrawCounts::new(&self.settings.scale)));
        let mut user = User::new(TransactionRunner::new(work, self.settings.warehouses, draws), inputs);
        let named = |kind: &&str| OperationCounts { kind: (*kind).to_owned(), ..OperationCounts::default() };
        let mut counts: Vec<OperationCounts> = KINDS.iter().map(named).collect();
        runtime.block_on(async {
            for _ in 0..transactions {
                let kind = user.draw();
                let completion = until_done(&mut user).await?;
                let counts = counts.get_mut(kind).ok_or_else(|| Error::new("a transaction of no kind was drawn"))?;
                match completion {
                    Completion::Done => counts.done += 1,
                    Completion::RolledBack => counts.rolled_back += 1,
                }
            }
            Ok::<(), Error>(())
        })?;
        Ok((user, counts))
    }

    /// State of the database that the checks compare with.
    pub(in crate::workloads::tprocc) fn before(&self) -> Result<CountsBefore, Error> {
        self.run()?.before(&mut self.session()?)
    }

    /// All checks after a run of one user.
    pub(in crate::workloads::tprocc) fn verify(
        &self,
        before: &CountsBefore,
        user: &User,
        counts: &[OperationCounts],
    ) -> Result<Vec<Check>, Error> {
        Ok(checks::excused(self.found(before, user, counts)?, &self.settings.profile))
    }

    /// The same, whatever the profile breaks.
    pub(in crate::workloads::tprocc) fn found(
        &self,
        before: &CountsBefore,
        user: &User,
        counts: &[OperationCounts],
    ) -> Result<Vec<Check>, Error> {
        let plan = self.settings.inputs(&self.request.spec)?;
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
        checks::found(&mut self.session()?, &evidence, &self.request.progress)
    }

    /// Content that the generator draws.
    pub(in crate::workloads::tprocc) fn draws(&self) -> ContentHash {
        let population = self.settings.population(&self.request.spec);
        let mut sum = ContentHash::default();
        Chunk::all(self.settings.warehouses).for_each(|chunk| sum.merge(population.content_hash(chunk)));
        sum
    }

    /// Content that the engine gives back.
    pub(in crate::workloads::tprocc) fn kept(&self) -> Result<ContentHash, Error> {
        let mut sum = ContentHash::default();
        self.content()?.into_iter().for_each(|(_, content)| sum.merge(content));
        Ok(sum)
    }

    /// Content hash of every table as the engine gives it back.
    pub(in crate::workloads::tprocc) fn content(&self) -> Result<Vec<(&'static str, ContentHash)>, Error> {
        let mut session = self.session()?;
        Table::ALL.iter().map(|table| Ok((table.name(), content(&mut session, *table)?))).collect()
    }
}

/// Tries the drawn transaction until it is done.
async fn until_done(user: &mut User) -> Result<Completion, Error> {
    for _ in 0..TRIES {
        match user.run().await {
            Ok(completion) => return Ok(completion),
            Err(error) if error.is_retryable() => user.recover().await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::new(format!("a transaction was to be tried again {TRIES} times")))
}

/// Content hash of a table as the engine gives it back.
fn content(session: &mut BlockingSession, table: Table) -> Result<ContentHash, Error> {
    let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
    let mut hash = ContentHash::default();
    for row in session.query(&format!("SELECT {} FROM {}", names.join(", "), table.name()))? {
        let mut row_hash = RowHash::new(table);
        for (column, found) in table.columns().iter().zip(&row) {
            let found = found.as_value();
            let wrong = || Error::new(format!("{} of {} is {found:?}", column.name, table.name()));
            row_hash.value(value(column, found).ok_or_else(wrong)?);
        }
        hash.add(row_hash);
    }
    Ok(hash)
}

/// A value as the generator draws it; `None` where it is of another kind.
fn value<'a>(column: &Column, found: proofload_engine::Value<'a>) -> Option<Value<'a>> {
    Some(match (column.kind, found) {
        (_, proofload_engine::Value::Null) => Value::Null,
        (Kind::Integer, _) => Value::Integer(found.integer()?),
        (Kind::Hundredths, _) => Value::Hundredths(Hundredths(found.units(2)?)),
        (Kind::TenThousandths, _) => Value::TenThousandths(TenThousandths(found.units(4)?)),
        (Kind::Timestamp, _) => Value::Timestamp(Timestamp(found.integer()?)),
        (Kind::Text { .. }, proofload_engine::Value::Text(text)) => Value::Text(text.as_bytes()),
        (Kind::Text { .. }, _) => return None,
    })
}
