//! An opened YCSB: loads, checks, and runs virtual users on client threads.

use super::build::{Load, Manifest, wanted};
use super::checks::{self, CheckEvidence};
use super::connection::UserConnection;
use super::live::LiveSettings;
use super::settings::{YcsbSettings, choice_text};
use super::store::{BlockingStore, Store, StoreAccess, StoreDialect, TABLE};
use super::tally::Tally;
use super::user::{KINDS, ReadChecks, User, UserNumbers};
use super::watermark::{Watermark, WatermarkUser};
use crate::division::{from_bytes, to_bytes};
use crate::drive::{Retry, UserContext};
use crate::workload::{LocalFuture, RunRequest, SessionSpan, WorkloadRun};
use proofload_gen::ycsb::{Compatibility, Kind, Plan};
use proofload_model::error::Error;
use proofload_model::facts::client;
use proofload_model::intervention::LimitMeter;
use proofload_model::samples::{Check, Fact, OperationCounts};
use proofload_model::wire::load::DataState;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// Acknowledged writes that are remembered of all users together.
const REMEMBERED: u32 = 2_000;

/// The workload with its job.
pub(super) struct YcsbRun {
    request: RunRequest,
    settings: YcsbSettings,
    dialect: StoreDialect,
    plan: Arc<Plan>,
    /// What experiments change while users run.
    live: LiveSettings,
    /// Taken when users begin and end and by checks; never per operation.
    run: Mutex<RunEvidence>,
}

/// Evidence of a run for its checks.
struct RunEvidence {
    watermark: Watermark,
    before: Option<u64>,
    tallies: Vec<Tally>,
}

impl RunEvidence {
    fn new(users: Range<u32>, is_alone: bool) -> Self {
        Self { watermark: Watermark::new(users, is_alone), before: None, tallies: Vec::new() }
    }
}

impl YcsbRun {
    /// Takes a job; reads its settings and suite.
    pub(super) fn new(request: RunRequest) -> Result<Self, Error> {
        let settings = YcsbSettings::read(&request.spec.settings)?;
        let dialect = StoreDialect::of(request.engine, settings.form, settings.shape.fields)?;
        let plan = Arc::new(settings.plan(&request.spec)?);
        let part = &request.spec.part;
        let run = Mutex::new(RunEvidence::new(part.range(settings.users), part.is_whole()));
        let live = LiveSettings::new(&settings, dialect.has_transactions());
        Ok(Self { request, settings, dialect, plan, live, run })
    }

    fn keeps_data(&self) -> bool {
        self.request.engine.facts().capabilities.durable
    }

    fn grows(&self) -> bool {
        self.settings.mix.share(Kind::Insert) > 0.0
    }

    fn access(&self) -> StoreAccess<'_> {
        StoreAccess {
            engine: self.request.engine,
            target: &self.request.target,
            dialect: &self.dialect,
            settings: &self.settings,
        }
    }

    /// What can be changed while users run.
    pub(super) fn live(&self) -> &LiveSettings {
        &self.live
    }

    /// A session that is ready for operations.
    pub(super) async fn store(&self) -> Result<Store, Error> {
        self.access().connect_for_operations().await
    }

    fn run(&self) -> MutexGuard<'_, RunEvidence> {
        self.run.lock().expect("nobody panics while holding what a run leaves")
    }

    /// Refuses data that do not fit the study or whose load has not ended.
    fn state(&self, session: &mut BlockingStore) -> Result<DataState, Error> {
        if self.settings.adopted {
            return Self::has_table(session);
        }
        let Some(manifest) = Manifest::read(session)? else {
            let why = "the database has no Proofload manifest; load the data first".to_owned();
            return Ok(DataState::Empty { why });
        };
        if let Err(differs) = manifest.fits(&wanted(self.settings.data(self.request.spec.data_seed), &self.plan)) {
            return Ok(DataState::Differs { why: differs.to_string() });
        }
        if !manifest.is_complete() {
            let why = "the load of the data is incomplete; load again to continue".to_owned();
            return Ok(DataState::Unfinished { why });
        }
        Ok(DataState::Fits)
    }

    fn has_table(session: &mut BlockingStore) -> Result<DataState, Error> {
        let tables = session.work(async |store| store.tables().await)?;
        if tables.iter().any(|name| name.eq_ignore_ascii_case(TABLE)) {
            return Ok(DataState::Fits);
        }
        Ok(DataState::Differs { why: format!("workload.data is \"adopted\" and the database has no {TABLE}") })
    }

    /// Records before the run; an error when they are not those that operations would be drawn over.
    fn count(&self, session: &mut BlockingStore) -> Result<u64, Error> {
        let found = session.work(async |store| store.count().await)?;
        let wanted = self.settings.records;
        if found == wanted {
            return Ok(found);
        }
        let why = if found > wanted && !self.settings.adopted {
            "an earlier run inserted some; set procedure.restore to \"every-run\" or load again"
        } else {
            "operations would look for missing records; set workload.records to the actual number"
        };
        Err(Error::new(format!("{TABLE} has {found} records, but workload.records is {wanted}: {why}")))
    }

    /// Facts about the inputs of this run.
    fn input_facts(&self) -> Vec<Fact> {
        let settings = &self.settings;
        let source = "inputs of the run";
        let mode = match settings.compatibility {
            Compatibility::Exact => "exact",
            Compatibility::Ycsb => "ycsb",
        };
        let shares: Vec<String> = Kind::ALL
            .into_iter()
            .filter(|kind| settings.mix.share(*kind) > 0.0)
            .map(|kind| format!("{} {} %", kind.name(), settings.mix.share(kind) * 100.0))
            .collect();
        vec![
            client::INPUT_SEED.observed(self.request.spec.input_seed, source),
            client::OPERATION_MIX.observed(format!("{}: {}", settings.mix_name, shares.join(", ")), source),
            client::KEY_CHOICE.observed(choice_text(settings), source),
            client::KEY_MODE.observed(mode, source),
            client::READS_COMPARED.observed(
                match settings.check_reads {
                    0 => "none".to_owned(),
                    every => format!("one of {every}"),
                },
                source,
            ),
        ]
    }

    /// Numbers of this agent's users.
    fn users_here(&self) -> Range<u32> {
        self.request.spec.part.range(self.settings.users)
    }

    fn numbers(&self, user: u32) -> UserNumbers {
        let users = self.settings.users;
        UserNumbers { user, users, room: (REMEMBERED / users).clamp(4, 256) as usize }
    }

    /// The connection of a user: its own, or its place at the pool, into which the first users put the connections.
    async fn connection(&self, number: u32, context: &UserContext) -> Result<UserConnection, Error> {
        let Some(pool) = self.live.pool() else { return Ok(UserConnection::own(self.store().await?)) };
        let turn = pool.turn(context.shared_on_thread(|| RefCell::new(Vec::with_capacity(pool.size() as usize))));
        if number < pool.size() {
            turn.add(self.store().await?);
        }
        Ok(UserConnection::of_pool(turn))
    }

    /// One user, by its number in the whole load, from its connection to its end.
    async fn run_user(self: &Arc<Self>, number: u32, mut context: UserContext) -> Result<(), Error> {
        let connection = self.connection(number, &context).await?;
        let progress = self.grows().then(|| WatermarkUser::new(self.run().watermark.clone(), number));
        let compare = self.keeps_data() && !self.settings.adopted;
        let every = if compare { self.settings.check_reads } else { 0 };
        let read_checks = ReadChecks { keeps_data: self.keeps_data(), every };
        let mut user = User::new(
            (Arc::clone(self), connection),
            (Arc::clone(&self.plan), context.user_wait()),
            progress,
            self.numbers(number),
            read_checks,
        );
        let Some(origin) = context.ready().await else { return Ok(()) };
        let ended = context.drive(origin, &mut user, Retry { at_most: self.settings.max_retries }).await;
        self.run().tallies.push(user.tally);
        ended
    }
}

impl WorkloadRun for YcsbRun {
    fn kinds(&self) -> &'static [&'static str] {
        KINDS
    }

    fn users(&self) -> u32 {
        self.users_here().len() as u32
    }

    fn session_span(&self) -> SessionSpan {
        SessionSpan { first: self.users_here().start, all: self.settings.users }
    }

    fn client_threads(&self) -> Option<u32> {
        // A connection belongs to the thread that has made it.
        self.settings.client_threads.or_else(|| self.settings.pool.map(|_| 1))
    }

    fn operations(&self) -> Option<u64> {
        self.settings.operations
    }

    fn build(&self) -> Result<Vec<Fact>, Error> {
        Load::new(&self.request, &self.dialect, &self.settings, &self.plan).run()
    }

    fn begin_build(&self) -> Result<bool, Error> {
        Load::new(&self.request, &self.dialect, &self.settings, &self.plan).begin().map(|_| true)
    }

    fn build_share(&self) -> Result<(), Error> {
        Load::new(&self.request, &self.dialect, &self.settings, &self.plan).run_share()
    }

    fn data_state(&self) -> Result<DataState, Error> {
        if self.keeps_data() { self.state(&mut BlockingStore::open(self.access())?) } else { Ok(DataState::Fits) }
    }

    fn begin(&self) -> Result<Vec<Fact>, Error> {
        let mut run = RunEvidence::new(self.users_here(), self.request.spec.part.is_whole());
        if self.keeps_data() && self.request.spec.part.is_first() {
            let mut session = BlockingStore::open(self.access())?;
            self.state(&mut session)?.must_fit()?;
            run.before = Some(self.count(&mut session)?);
        }
        *self.run() = run;
        Ok(self.input_facts())
    }

    fn run_session(self: Arc<Self>, user: u32, context: UserContext) -> LocalFuture<'static, Result<(), Error>> {
        Box::pin(async move { self.run_user(self.users_here().start + user, context).await })
    }

    fn change(&self, values: &BTreeMap<String, f64>) -> Result<(), Error> {
        self.live.change(values)
    }

    fn meters(&self) -> Vec<LimitMeter> {
        self.live.meters()
    }

    fn ended_below(&self) -> Option<u64> {
        self.grows().then(|| self.run().watermark.ended_here_below())
    }

    fn take_ended_below(&self, index: u64) {
        self.run().watermark.tell(index);
    }

    fn evidence(&self) -> Result<Vec<u8>, Error> {
        to_bytes(&self.run().tallies)
    }

    fn take_evidence(&self, bytes: &[u8]) -> Result<(), Error> {
        let tallies: Vec<Tally> = from_bytes(bytes)?;
        self.run().tallies.extend(tallies);
        Ok(())
    }

    fn verify(&self, totals: &[OperationCounts]) -> Result<Vec<Check>, Error> {
        let run = self.run();
        let evidence = CheckEvidence { plan: &self.plan, tallies: &run.tallies, before: run.before, counts: totals };
        if !self.keeps_data() {
            return Ok(checks::without_data(&evidence));
        }
        checks::all(self.access(), &evidence, &self.request.progress)
    }
}
