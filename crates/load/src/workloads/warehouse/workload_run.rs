//! An opened warehouse: loads, checks the data, and runs streams on client threads.

use super::build::{Load, Manifest, data_facts};
use super::checks;
use super::own_cpu::OwnCpu;
use super::probe::Probe;
use super::session_opener::SessionOpener;
use super::settings::WarehouseSettings;
use super::stream::{Plan, Stream, Tally};
use super::suite::{Class, Dialect, Draw, kinds};
use crate::division::{from_bytes, to_bytes};
use crate::drive::{Retry, UserContext};
use crate::workload::{LocalFuture, RunRequest, SessionSpan, WorkloadRun};
use crate::workloads::blocking_session::BlockingSession;
use proofload_gen::Seed;
use proofload_model::error::Error;
use proofload_model::facts::{Description, client};
use proofload_model::samples::{Check, Fact, OperationCounts};
use proofload_model::time::Clock;
use proofload_model::units::duration_text;
use proofload_model::wire::ProbeResult;
use proofload_model::wire::load::DataState;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// The workload with its job.
pub(super) struct WarehouseRun {
    request: RunRequest,
    settings: WarehouseSettings,
    plan: Arc<Plan>,
    opener: SessionOpener,
    /// Taken when streams end and by checks; never per query.
    tallies: Mutex<Vec<Tally>>,
    probe: Probe,
}

impl WarehouseRun {
    /// Takes a job; reads its settings, suite and golden answers.
    pub(super) fn new(request: RunRequest) -> Result<Self, Error> {
        let settings = WarehouseSettings::read(&request.spec.settings)?;
        let dialect = Dialect::of(request.engine)?;
        let plan = Plan::new(dialect, &settings, Seed(request.spec.input_seed))?;
        let opener = SessionOpener::new(&request, &plan.dialect, &settings)?;
        Ok(Self { request, settings, plan: Arc::new(plan), opener, tallies: Mutex::default(), probe: Probe::default() })
    }

    fn tallies(&self) -> MutexGuard<'_, Vec<Tally>> {
        self.tallies.lock().expect("nobody panics while holding what streams leave")
    }

    /// The manifest of data that fit the study and whose load has ended; else the state that they are in.
    fn manifest(&self) -> Result<Result<Manifest, DataState>, Error> {
        let mut session = BlockingSession::open(self.request.engine, &self.request.target)?;
        let Some(manifest) = Manifest::read(&mut session, &self.plan.dialect.suite)? else {
            let why = "the database has no Proofload manifest; load the data first".to_owned();
            return Ok(Err(DataState::Empty { why }));
        };
        if let Err(differs) = manifest.fits(&self.settings.data()) {
            return Ok(Err(DataState::Differs { why: differs.to_string() }));
        }
        if !manifest.is_complete() {
            let why = "the load of the data is incomplete; load again to continue".to_owned();
            return Ok(Err(DataState::Unfinished { why }));
        }
        Ok(Ok(manifest))
    }

    /// Facts about the queries of this run.
    fn input_facts(&self) -> Vec<Fact> {
        let source = "inputs of the run";
        let (all, validated) = (self.plan.chosen.len(), self.plan.validated());
        let mut facts = vec![
            client::INPUT_SEED.observed(self.request.spec.input_seed, source),
            client::QUERIES.observed(all, source),
            client::PARAMETERS.observed(if self.settings.seeded { "seeded" } else { "validation" }, source),
            client::QUERY_CAP.observed(self.settings.query_cap.map_or("none".to_owned(), duration_text), source),
            client::ANSWERS.observed(format!("{validated} of {all} queries validated"), source),
        ];
        let in_round = self.plan.rounds.length();
        facts.push(client::OPERATION_MIX.observed(&self.settings.mix, source));
        facts.push(client::QUERIES_PER_ROUND.observed(in_round, source));
        for class in Class::ALL {
            let count = self.plan.in_round(class);
            let share = client::CLASS_SHARE.of(class.word());
            facts.push(share.observed(format!("{count} of {in_round}"), source));
        }
        facts.extend(self.plan.queries().map(|query| {
            let description = Description::new(query.class.word(), query.title.as_str());
            client::QUERY.of(query.name).observed(description, source)
        }));
        facts
    }

    /// Numbers of this agent's streams.
    fn streams_here(&self) -> Range<u32> {
        self.request.spec.part.range(self.settings.streams)
    }

    async fn run_stream(&self, stream: u32, mut context: UserContext) -> Result<(), Error> {
        let session = self.opener.session().await?;
        let alone = self.request.engine.facts().capabilities.embedded
            && self.settings.client_threads.is_none_or(|threads| threads >= self.settings.streams);
        let own_cpu = OwnCpu::new(alone.then(|| context.clock()));
        let mut user = Stream::new((self.opener.clone(), session), Arc::clone(&self.plan), stream, own_cpu);
        let Some(origin) = context.ready().await else { return Ok(()) };
        let ended = context.drive(origin, &mut user, Retry { at_most: 0 }).await;
        self.tallies().push(user.tally);
        ended
    }
}

impl WorkloadRun for WarehouseRun {
    fn kinds(&self) -> &'static [&'static str] {
        kinds()
    }

    fn users(&self) -> u32 {
        self.streams_here().len() as u32
    }

    fn session_span(&self) -> SessionSpan {
        SessionSpan { first: self.streams_here().start, all: self.settings.streams }
    }

    fn client_threads(&self) -> Option<u32> {
        self.settings.client_threads
    }

    fn operations(&self) -> Option<u64> {
        let all = u64::from(self.settings.streams) * self.plan.rounds.length() as u64;
        self.settings.rounds.map(|rounds| rounds.saturating_mul(all))
    }

    fn round(&self) -> Option<u64> {
        Some(self.plan.rounds.length() as u64)
    }

    fn build(&self) -> Result<Vec<Fact>, Error> {
        Load::new(&self.request, &self.plan.dialect, &self.settings).run()
    }

    fn begin_build(&self) -> Result<bool, Error> {
        Load::new(&self.request, &self.plan.dialect, &self.settings).begin().map(|_| true)
    }

    fn build_share(&self) -> Result<(), Error> {
        Load::new(&self.request, &self.plan.dialect, &self.settings).run_share()
    }

    fn data_state(&self) -> Result<DataState, Error> {
        Ok(self.manifest()?.map_or_else(|state| state, |_| DataState::Fits))
    }

    fn begin(&self) -> Result<Vec<Fact>, Error> {
        self.tallies().clear();
        let mut facts = data_facts(&self.manifest()?.map_err(DataState::into_error)?, &self.settings)?;
        facts.extend(self.input_facts());
        facts.extend(self.opener.facts(&self.plan.dialect, &self.settings)?);
        Ok(facts)
    }

    fn run_session(self: Arc<Self>, user: u32, context: UserContext) -> LocalFuture<'static, Result<(), Error>> {
        Box::pin(async move { self.run_stream(self.streams_here().start + user, context).await })
    }

    fn open_probe(&self, clock: &Arc<dyn Clock>) -> Result<(), Error> {
        self.probe.open(&self.opener, &self.plan.dialect, clock)
    }

    fn probe(&self, query: &str) -> Result<ProbeResult, Error> {
        let known = self.plan.dialect.queries.iter().find(|known| known.name == query);
        let known = known.ok_or_else(|| Error::new(format!("unknown query {query:?}")))?;
        let sql = self.plan.dialect.sql(known, Draw::Validation, self.settings.scale)?;
        self.probe.run(sql)
    }

    fn evidence(&self) -> Result<Vec<u8>, Error> {
        to_bytes(&*self.tallies())
    }

    fn take_evidence(&self, bytes: &[u8]) -> Result<(), Error> {
        let tallies: Vec<Tally> = from_bytes(bytes)?;
        self.tallies().extend(tallies);
        Ok(())
    }

    fn verify(&self, _totals: &[OperationCounts]) -> Result<Vec<Check>, Error> {
        let tallies = self.tallies();
        Ok(vec![checks::golden(&tallies), checks::agreement(&tallies, &self.plan)])
    }
}
