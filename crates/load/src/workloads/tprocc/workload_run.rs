//! An opened TPROC-C: builds, checks, and runs virtual users on client threads.

use super::acknowledged::AcknowledgedOrders;
use super::build::{Build, Manifest, wanted};
use super::checks::totals::Totals;
use super::checks::{self, Evidence};
use super::departures;
use super::dialect::Dialect;
use super::draw_counts::DrawCounts;
use super::paced::{self, DeliveryLog, DeliveryQueues, DeliveryWorker, PacedSession, ThreadTerminals, WaitTally};
use super::procedures;
use super::session_opener::SessionOpener;
use super::session_work::SessionWork;
use super::settings::{Form, PacingSettings, TproccSettings};
use super::statements;
use super::tally::Tally;
use super::transaction_runner::TransactionRunner;
use super::user::{KINDS, User};
use crate::division::{from_bytes, to_bytes};
use crate::drive::{Retry, UserContext};
use crate::workload::{LocalFuture, RunRequest, SessionSpan, WorkloadRun};
use crate::workloads::blocking_session::{BlockingSession, integer};
use proofload_engine::Error as EngineError;
use proofload_gen::tprocc::inputs::InputPlan;
use proofload_model::error::Error;
use proofload_model::facts::client;
use proofload_model::samples::{Check, Fact, OperationCounts};
use proofload_model::time::Moment;
use proofload_model::wire::load::DataState;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};

/// Departures of the profile `spec` from the clauses, for the report: always, when saturated, and when paced.
const DEPARTURES: &str = "dates at load are the study's (4.3.3); there are no screens (2.2); the run is shorter than 120 minutes unless \
    the study says so (5.5)";
const OF_SATURATED: &str =
    "Delivery runs in line and is not queued (2.7.2); there are no keying and think times (5.2.5)";
const OF_PACED: &str = "the queue of Deliveries lies in the load generator's process (2.7.2)";

/// The workload with its job.
pub(super) struct TproccRun {
    request: RunRequest,
    settings: TproccSettings,
    dialect: Dialect,
    opener: Arc<SessionOpener>,
    inputs: InputPlan,
    /// Taken when users begin and end and by checks; never per transaction.
    run: Mutex<RunEvidence>,
    /// Queues of the next run, until all that put into them and take from them are connected.
    queues: Mutex<Option<Arc<DeliveryQueues>>>,
}

/// Evidence of a run for its checks.
#[derive(Default)]
struct RunEvidence {
    before: Option<CountsBefore>,
    tally: Tally,
    draws: DrawCounts,
    acknowledged: AcknowledgedOrders,
    waits: WaitTally,
    deliveries: DeliveryLog,
    origin: Option<Moment>,
}

/// The database before the run.
#[derive(Debug, Clone)]
pub(super) struct CountsBefore {
    pub(super) totals: Totals,
    /// d_next_o_id by (w_id, d_id), sorted.
    pub(super) next_o_ids: Vec<(i32, i32, i32)>,
}

impl TproccRun {
    /// Takes a job; reads its settings and suite.
    pub(super) fn new(request: RunRequest) -> Result<Self, Error> {
        let settings = TproccSettings::read(&request.spec.settings)?;
        let dialect = Dialect::of(request.engine, settings.profile.departures)?;
        let (form, lines) = (settings.form, settings.lines);
        let fault = procedures::lacking(&dialect, form);
        if let Some(fault) = fault.or_else(|| procedures::lines_contradiction(&dialect, form, lines)) {
            return Err(fault.into());
        }
        let statements = statements::of(&dialect, form, lines)?;
        let (engine, target, in_one_flight) = (request.engine, request.target.clone(), dialect.has_one_flight());
        let opener = Arc::new(SessionOpener { engine, target, statements, in_one_flight });
        let inputs = settings.inputs(&request.spec)?;
        Ok(Self { request, settings, dialect, opener, inputs, run: Mutex::default(), queues: Mutex::default() })
    }

    fn keeps_data(&self) -> bool {
        self.request.engine.facts().capabilities.durable
    }

    fn session(&self) -> Result<BlockingSession, Error> {
        Ok(BlockingSession::open(self.request.engine, &self.request.target)?)
    }

    fn run(&self) -> MutexGuard<'_, RunEvidence> {
        self.run.lock().expect("nobody panics while holding what a run leaves")
    }

    /// The manifest of data that fit the study and whose build has ended; else the state that they are in.
    fn manifest(&self, session: &mut BlockingSession) -> Result<Result<Manifest, DataState>, Error> {
        let Some(manifest) = Manifest::read(session, &self.dialect)? else {
            let why = "the database has no Proofload manifest; build the data first".to_owned();
            return Ok(Err(DataState::Empty { why }));
        };
        if let Err(differs) = manifest.fits(&wanted(&self.settings, &self.settings.population(&self.request.spec))) {
            return Ok(Err(DataState::Differs { why: differs.to_string() }));
        }
        if !manifest.is_complete() {
            let why = "the build of the data is incomplete; build again to continue".to_owned();
            return Ok(Err(DataState::Unfinished { why }));
        }
        let of_form =
            (self.settings.form == Form::Procedures).then(|| procedures::faults(session, &self.dialect, &manifest));
        let missing = of_form.transpose()?.flatten();
        Ok(missing.map_or(Ok(manifest), |why| Err(DataState::Unfinished { why })))
    }

    /// State of the database that the checks compare with after the run; refuses data that do not fit.
    pub(super) fn before(&self, session: &mut BlockingSession) -> Result<CountsBefore, Error> {
        let manifest = self.manifest(session)?.map_err(DataState::into_error)?;
        let totals = Totals::before_run(session, &self.dialect, &manifest)?;
        Ok(CountsBefore { totals, next_o_ids: next_o_ids(session, &self.dialect)? })
    }

    /// Facts about the inputs of this run.
    fn input_facts(&self) -> Vec<Fact> {
        let plan = self.inputs.settings();
        let source = "inputs of the run";
        let mut facts = vec![
            client::FORM.observed(self.settings.form.name(), source),
            client::INPUT_SEED.observed(plan.seed.0, source),
            client::INPUT_MIX.observed(format!("{:?}", plan.mix), source),
            client::INPUT_HOMES.observed(format!("{:?}", plan.homes), source),
            client::C_RUN.observed(plan.constants.c_run.to_string(), source),
            client::C_OF_C_ID.observed(plan.constants.c_id.to_string(), source),
            client::C_OF_OL_I_ID.observed(plan.constants.ol_i_id.to_string(), source),
            client::DEPARTURES.observed(
                format!("{DEPARTURES}; {}", if self.settings.paced.is_some() { OF_PACED } else { OF_SATURATED }),
                source,
            ),
        ];
        if self.settings.form == Form::Procedures && self.dialect.has_table_of_lines() {
            facts.push(client::LINES.observed(self.settings.lines.name(), source));
        }
        facts.extend(departures::facts(&plan.profile));
        if let Some(paced) = self.settings.paced {
            facts.push(client::CONNECTIONS.observed(paced.connections, source));
            facts.push(client::DELIVERY_WORKERS.observed(paced.delivery_workers, source));
            facts.push(client::CEILING.observed(self.settings.ceiling(paced.waits).to_string(), source));
        }
        facts
    }

    fn retry(&self) -> Retry {
        Retry { at_most: self.settings.max_retries }
    }

    /// A connected session.
    async fn runner(&self, context: &UserContext) -> Result<TransactionRunner, Error> {
        let opener = Arc::clone(&self.opener);
        let work = SessionWork::open(opener, &self.settings, context.clock(), self.keeps_data()).await?;
        let draws = context.shared_on_thread(|| RefCell::new(DrawCounts::new(&self.settings.scale)));
        Ok(TransactionRunner::new(work, self.settings.warehouses, draws))
    }

    /// Keeps what a session counted.
    fn keep(&self, runner: TransactionRunner) {
        let mut run = self.run();
        run.tally.merge(&runner.tally);
        run.draws.absorb(&mut runner.draws.borrow_mut());
        run.acknowledged.merge(runner.acknowledged);
    }

    /// One saturated user from its connection to its end.
    async fn run_user(&self, number: u32, mut context: UserContext) -> Result<(), Error> {
        let runner = self.runner(&context).await?;
        let number = self.settings.users_of(&self.request.spec.part).start + number;
        let inputs = self.inputs.user(i32::try_from(number).map_err(|_| Error::new("too many virtual users"))?);
        let mut user = User::new(runner, inputs);
        let Some(origin) = context.ready().await else { return Ok(()) };
        let ended = context.drive(origin, &mut user, self.retry()).await;
        self.keep(user.runner);
        ended
    }

    /// One session that serves the terminals of its client thread.
    async fn run_paced_session(&self, paced: PacingSettings, mut context: UserContext) -> Result<(), Error> {
        let runner = self.runner(&context).await?;
        let deliveries = self.queues(paced).sender();
        let (thread, threads) = context.thread();
        let part = &self.request.spec.part;
        let serving = threads.min(part.count_of(paced.connections)) as usize;
        let floor = context.shared_on_thread(|| {
            let numbers = self.settings.users_of(part).skip(thread as usize).step_by(serving);
            ThreadTerminals::new(&self.inputs, paced.waits, numbers.filter_map(|number| i32::try_from(number).ok()))
        });
        let mut server = PacedSession::new(runner, Rc::clone(&floor), deliveries);
        let Some(origin) = context.ready().await else { return Ok(()) };
        floor.open(origin);
        let ended = context.serve(origin, &floor.terminals, &mut server, self.retry()).await;
        self.run().waits.merge(&server.waits);
        self.keep(server.runner);
        ended
    }

    /// One session that does queued Deliveries.
    async fn run_delivery_worker(
        &self,
        paced: PacingSettings,
        worker: u32,
        mut context: UserContext,
    ) -> Result<(), Error> {
        let runner = self.runner(&context).await?;
        let queue = self.queues(paced).of_worker(worker as usize);
        let mut queue =
            queue.ok_or_else(|| Error::new("a queue of Deliveries has two workers; this is a bug in Proofload"))?;
        let mut worker = DeliveryWorker::new(runner);
        let Some(origin) = context.ready().await else { return Ok(()) };
        self.run().origin = Some(origin);
        let ended = context.work(origin, &mut queue, (&mut worker, paced::DEFERRED), self.retry()).await;
        self.run().deliveries.merge(worker.log);
        self.keep(worker.runner);
        ended
    }

    /// The queues of the run that is being connected.
    fn queues(&self, paced: PacingSettings) -> Arc<DeliveryQueues> {
        let workers = self.request.spec.part.count_of(paced.delivery_workers);
        let mut queues = self.queues.lock().expect("nobody panics while holding the queues");
        Arc::clone(queues.get_or_insert_with(|| Arc::new(DeliveryQueues::new(workers))))
    }
}

impl WorkloadRun for TproccRun {
    fn kinds(&self) -> &'static [&'static str] {
        if self.settings.paced.is_some() { paced::KINDS } else { KINDS }
    }

    fn users(&self) -> u32 {
        self.settings.users_of(&self.request.spec.part).len() as u32
    }

    fn sessions(&self) -> u32 {
        self.settings.sessions(&self.request.spec.part)
    }

    fn session_span(&self) -> SessionSpan {
        match self.settings.paced {
            None => {
                let first = self.settings.users_of(&self.request.spec.part).start;
                SessionSpan { first, all: self.settings.users }
            }
            Some(_) => SessionSpan { first: 0, all: self.sessions() },
        }
    }

    fn client_threads(&self) -> Option<u32> {
        self.settings.client_threads
    }

    fn build(&self) -> Result<Vec<Fact>, Error> {
        Build::new(&self.request, &self.dialect, self.settings).run()
    }

    fn begin_build(&self) -> Result<bool, Error> {
        Build::new(&self.request, &self.dialect, self.settings).begin().map(|_| true)
    }

    fn build_share(&self) -> Result<(), Error> {
        Build::new(&self.request, &self.dialect, self.settings).run_share()
    }

    fn data_state(&self) -> Result<DataState, Error> {
        if !self.keeps_data() {
            return Ok(DataState::Fits);
        }
        Ok(self.manifest(&mut self.session()?)?.map_or_else(|state| state, |_| DataState::Fits))
    }

    fn begin(&self) -> Result<Vec<Fact>, Error> {
        *self.run() = RunEvidence::default();
        // All are connected: from here on the queues end with the servers.
        *self.queues.lock().expect("nobody panics while holding the queues") = None;
        if self.keeps_data() && self.request.spec.part.is_first() {
            let before = self.before(&mut self.session()?)?;
            self.run().before = Some(before);
        }
        Ok(self.input_facts())
    }

    fn run_session(self: Arc<Self>, session: u32, context: UserContext) -> LocalFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            let Some(paced) = self.settings.paced else { return self.run_user(session, context).await };
            match session.checked_sub(self.request.spec.part.count_of(paced.connections)) {
                None => self.run_paced_session(paced, context).await,
                Some(worker) => self.run_delivery_worker(paced, worker, context).await,
            }
        })
    }

    fn documents(&self) -> Vec<(String, String)> {
        let mut run = self.run();
        let origin = run.origin.unwrap_or(Moment(0));
        run.deliveries.documents(origin)
    }

    fn counters(&self) -> Result<Vec<(String, i64)>, EngineError> {
        if !self.keeps_data() {
            return Ok(Vec::new());
        }
        let unreadable = |error: Error| EngineError::other(error.to_string());
        let statement = self.dialect.suite.statement("new_orders").map_err(unreadable)?;
        let row = BlockingSession::open(self.request.engine, &self.request.target)?.one_row(&statement.sql)?;
        Ok(vec![("new_orders".to_owned(), integer(&row, 0).map_err(unreadable)?)])
    }

    fn evidence(&self) -> Result<Vec<u8>, Error> {
        let run = self.run();
        to_bytes(&(&run.tally, &run.acknowledged, &run.waits, &run.draws))
    }

    fn take_evidence(&self, bytes: &[u8]) -> Result<(), Error> {
        let (tally, acknowledged, waits, mut draws): (Tally, AcknowledgedOrders, WaitTally, DrawCounts) =
            from_bytes(bytes)?;
        let mut run = self.run();
        run.tally.merge(&tally);
        run.acknowledged.merge(acknowledged);
        run.waits.merge(&waits);
        run.draws.absorb(&mut draws);
        Ok(())
    }

    fn verify(&self, totals: &[OperationCounts]) -> Result<Vec<Check>, Error> {
        let run = self.run();
        let evidence = Evidence {
            tally: &run.tally,
            draws: &run.draws,
            law: self.inputs.settings(),
            acknowledged: &run.acknowledged,
            waits: &run.waits,
            before: run.before.as_ref(),
            settings: &self.settings,
            dialect: &self.dialect,
            counts: totals,
        };
        if !self.keeps_data() {
            return Ok(checks::without_data(&evidence));
        }
        checks::all(&mut self.session()?, &evidence, &self.request.progress)
    }
}

/// The next order number of every district.
fn next_o_ids(session: &mut BlockingSession, dialect: &Dialect) -> Result<Vec<(i32, i32, i32)>, Error> {
    let narrow = |value: i64| i32::try_from(value).map_err(|_| Error::new("a key of district does not fit 32 bits"));
    session
        .query(&dialect.suite.statement("district_next")?.sql)?
        .iter()
        .map(|row| Ok((narrow(integer(row, 0)?)?, narrow(integer(row, 1)?)?, narrow(integer(row, 2)?)?)))
        .collect()
}
