//! The load role of an agent: carries out the conductor's requests one after another. May not decide when anything happens.

use crate::drive::{ClientThreads, ConstantRate, Crew, LoadEvents, PoissonRate, Saturated, Schedule};
use crate::workload::{Job, Opened, workload};
use proofload_engine::Target;
use proofload_gen::Seed;
use proofload_model::error::Error;
use proofload_model::samples::{Fact, Mark, OperationCounts};
use proofload_model::time::{Clock, Moment, Offset};
use proofload_model::units::duration_text;
use proofload_model::wire::{Event, LoadRequest, LoadSpec, Reply};
use std::sync::Arc;
use std::time::Duration;

/// One agent's load role.
pub struct LoadRole {
    clock: Arc<dyn Clock>,
    events: LoadEvents,
    opened: Option<(Job, Arc<dyn Opened>)>,
    crew: Option<Crew>,
    origin: Option<Moment>,
    totals: Vec<OperationCounts>,
}

impl LoadRole {
    /// A role that has nothing open.
    pub fn new(clock: Arc<dyn Clock>, events: LoadEvents) -> Self {
        Self { clock, events, opened: None, crew: None, origin: None, totals: Vec::new() }
    }

    /// Carries out one request.
    pub fn handle(&mut self, request: LoadRequest) -> Result<Reply, Error> {
        match request {
            LoadRequest::Open { spec } => self.open(*spec),
            LoadRequest::Build => self.opened()?.build().map(|facts| Reply::Built { facts }),
            LoadRequest::CheckData => self.opened()?.check_data().map(|()| Reply::Done),
            LoadRequest::Connect => self.connect(),
            LoadRequest::Start { after } => self.start(after),
            LoadRequest::OpenProbe => self.opened()?.open_probe(&self.clock).map(|()| Reply::Done),
            LoadRequest::Probe { query } => self.opened()?.probe(&query).map(Reply::Probed),
            LoadRequest::Mark => self.mark(),
            LoadRequest::Stop => self.stop(),
            LoadRequest::Verify => self.verify(),
            LoadRequest::Close => {
                self.close();
                Ok(Reply::Done)
            }
        }
    }

    fn opened(&self) -> Result<&Arc<dyn Opened>, Error> {
        self.opened.as_ref().map(|(_, opened)| opened).ok_or_else(|| Error::new("no workload is open"))
    }

    fn open(&mut self, spec: LoadSpec) -> Result<Reply, Error> {
        self.close();
        let engine = proofload_engine::engine(&spec.place.engine)
            .ok_or_else(|| Error::new(format!("this agent has no engine {}", spec.place.engine)))?;
        let of_kind = workload(&spec.workload)
            .ok_or_else(|| Error::new(format!("this agent has no workload {}", spec.workload)))?;
        let target = Target { place: spec.place.clone(), address: spec.address.clone() };
        let events = Arc::clone(&self.events);
        let progress =
            Arc::new(move |what: &str, done, total| events(Event::Progress { what: what.to_owned(), done, total }));
        let job = Job { spec, engine, target, progress };
        let opened = of_kind.open(job.clone())?;
        self.opened = Some((job, opened));
        Ok(Reply::Pong { moment: self.clock.now(), pid: std::process::id() })
    }

    fn connect(&mut self) -> Result<Reply, Error> {
        let (job, opened) = self.opened.as_ref().ok_or_else(|| Error::new("no workload is open"))?;
        let threads = opened.client_threads().unwrap_or_else(|| default_threads(job, opened.sessions()));
        let how = ClientThreads {
            threads,
            blocking: job.is_blocking(),
            schedule: schedule(&job.spec),
            queue_at_most: queue_at_most(&job.spec),
            operations: opened.operations(),
            clock: Arc::clone(&self.clock),
            events: Arc::clone(&self.events),
        };
        let crew = Crew::connect(opened, &how)?;
        self.crew = Some(crew);
        let mut facts = opened.begin()?;
        facts.push(Fact::observed("client", "threads", threads.to_string(), "load agent"));
        facts.push(Fact::observed("client", "virtual_users", opened.users().to_string(), "load agent"));
        let in_process = job.engine.facts().capabilities.embedded;
        facts.push(Fact::observed("client", "engine_in_process", in_process.to_string(), "load agent"));
        facts.extend(arrival_facts(&job.spec));
        facts.extend(settings_in_force(job)?);
        Ok(Reply::Connected { facts })
    }

    fn start(&mut self, after: Duration) -> Result<Reply, Error> {
        let crew = self.crew.as_ref().ok_or_else(|| Error::new("the virtual users are not connected"))?;
        let origin = self.clock.now() + after;
        self.origin = Some(origin);
        crew.start(origin);
        Ok(Reply::Starting { origin })
    }

    fn mark(&self) -> Result<Reply, Error> {
        let before = self.clock.now();
        let counters = self.opened()?.counters()?;
        let moment = before + self.clock.now().since(before) / 2;
        let offset = self.origin.map_or(Offset(0), |origin| moment.offset_from(origin));
        Ok(Reply::Marked(Mark { moment, offset, counters }))
    }

    fn verify(&self) -> Result<Reply, Error> {
        let opened = self.opened()?;
        let checks = opened.verify(&self.totals)?;
        for (name, body) in opened.documents() {
            (self.events)(Event::Document { name, body });
        }
        Ok(Reply::Checked(checks))
    }

    fn stop(&mut self) -> Result<Reply, Error> {
        let crew = self.crew.take().ok_or_else(|| Error::new("no load is running"))?;
        let (intervals, totals) = crew.stop();
        self.totals.clone_from(&totals);
        Ok(Reply::Stopped { intervals, totals })
    }

    fn close(&mut self) {
        if let Some(crew) = self.crew.take() {
            let _ended = crew.stop();
        }
        self.opened = None;
        self.origin = None;
    }
}

impl Drop for LoadRole {
    fn drop(&mut self) {
        self.close();
    }
}

/// Names what is drawn from the seed of the inputs for the schedule.
const ARRIVALS: u64 = 0x6172_7269_7661_6c73;

/// So long after it was due an operation that has not begun is dropped, where the study says nothing: far longer than the stalls of a
/// database that works, and short enough that an overloaded one is not measured for minutes after the fact.
const QUEUE_AT_MOST: Duration = Duration::from_secs(10);

fn queue_at_most(spec: &LoadSpec) -> Duration {
    spec.settings.duration("workload.queue_at_most").unwrap_or(QUEUE_AT_MOST)
}

/// How operations become due, for the report.
fn arrival_facts(spec: &LoadSpec) -> Vec<Fact> {
    let Ok(rate) = spec.settings.number("workload.rate") else { return Vec::new() };
    let arrivals = spec.settings.text("workload.arrivals").unwrap_or("constant");
    vec![
        Fact::observed("client", "arrivals", format!("{arrivals}, {rate}/s"), "load agent"),
        Fact::observed("client", "queue_at_most", duration_text(queue_at_most(spec)), "load agent"),
    ]
}

/// When operations are due, as the study asks.
fn schedule(spec: &LoadSpec) -> Arc<dyn Schedule> {
    let Ok(per_second) = spec.settings.number("workload.rate") else { return Arc::new(Saturated) };
    match spec.settings.text("workload.arrivals") {
        Ok("poisson") => Arc::new(PoissonRate { per_second, seed: Seed(spec.input_seed).of(ARRIVALS) }),
        _ => Arc::new(ConstantRate::per_second(per_second)),
    }
}

/// One thread per user when the engine blocks, else one per core.
fn default_threads(job: &Job, users: u32) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
    if job.is_blocking() { users } else { users.min(cores) }
}

/// What the engine says of the settings that were asked for.
fn settings_in_force(job: &Job) -> Result<Vec<Fact>, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(format!("starting a runtime: {error}")))?;
    Ok(runtime.block_on(job.engine.verify_settings(&job.target))?)
}
