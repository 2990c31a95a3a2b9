//! The load role of an agent: carries out the conductor's requests one after another. May not decide when anything
//! happens.

use crate::ceiling::ceiling;
use crate::drive::{ClientThreads, ConstantRate, Patience, PoissonRate, SaturatedSchedule, Schedule, ThreadsSpec};
use crate::events::LoadEvents;
use crate::open_files::allow_for;
use crate::prober::Prober;
use crate::workload::{RunRequest, WorkloadRun};
use crate::workloads::blocking_session::runtime;
use crate::workloads::workload;
use proofload_engine::{Backups, ErrorClass, Target};
use proofload_gen::Seed;
use proofload_model::drill::{ProberReport, drill};
use proofload_model::error::Error;
use proofload_model::facts::client;
use proofload_model::intervention::LimitMeter;
use proofload_model::log_level::LogLevel;
use proofload_model::samples::{Check, Fact, Mark};
use proofload_model::secret::Secret;
use proofload_model::settings::{Settings, setting};
use proofload_model::time::{Clock, Moment, Offset};
use proofload_model::units::duration_text;
use proofload_model::wire::load::{
    Acknowledge, Authenticate, BeginBuild, Build, BuildShare, ChangeLoad, CheckData, Close, Connect, ConnectProber,
    DataState, EndProber, Evidence, GiveEvidence, HoldUsers, KeepData, LoadService, LoadTotals, Open, OpenProbe,
    PaceProber, Probe, ReadLoad, ReadMark, Request, RestoreData, Start, Stop, TakeEvidence, Verify,
};
use proofload_model::wire::{Event, LoadSpec, ProbeResult, Reply};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One agent's load role.
pub struct LoadRole {
    clock: Arc<dyn Clock>,
    events: LoadEvents,
    workload_run: Option<(RunRequest, Arc<dyn WorkloadRun>)>,
    threads: Option<ClientThreads>,
    prober: Option<Prober>,
    origin: Option<Moment>,
    /// Seconds of load that the conductor has acknowledged.
    acknowledged: Arc<AtomicU64>,
    /// Evidence of this agent's users while it is sent away.
    given: Vec<u8>,
    /// Evidence of another agent's users, until all of it is here.
    taken: Vec<u8>,
    /// Password of started instances.
    password: Option<Secret>,
}

/// Size of the pieces in which evidence travels, bytes: well below the largest frame.
const PIECE: usize = 8 << 20;

impl LoadRole {
    /// A role that has nothing open.
    pub fn new(clock: Arc<dyn Clock>, events: LoadEvents) -> Self {
        Self {
            clock,
            events,
            workload_run: None,
            threads: None,
            prober: None,
            origin: None,
            acknowledged: Arc::default(),
            given: Vec::new(),
            taken: Vec::new(),
            password: None,
        }
    }

    /// Carries out one request.
    ///
    /// # Errors
    /// What was to be done, on what, what came back.
    pub fn handle(&mut self, request: Request) -> Result<Reply, Error> {
        request.serve(self)
    }

    fn workload_run(&self) -> Result<&Arc<dyn WorkloadRun>, Error> {
        self.workload_run
            .as_ref()
            .map(|(_, workload_run)| workload_run)
            .ok_or_else(|| Error::new("no workload is open"))
    }

    fn tell_documents(&self, workload_run: &dyn WorkloadRun) {
        for (name, body) in workload_run.documents() {
            (self.events)(Event::Document { name, body });
        }
    }

    /// Has the server's own backups do something.
    fn with_backups<T>(
        &self,
        work: impl AsyncFnOnce(&'static dyn Backups, &RunRequest) -> Result<T, proofload_engine::Error>,
    ) -> Result<T, Error> {
        let (request, _) = self.workload_run.as_ref().ok_or_else(|| Error::new("no workload is open"))?;
        let backups = request.engine.backups();
        let name = request.engine.facts().name;
        let backups = backups.ok_or_else(|| Error::new(format!("servers of {name} do not put back their data")))?;
        Ok(runtime()?.block_on(work(backups, request))?)
    }

    fn close_all(&mut self) {
        if let Some(threads) = self.threads.take() {
            let _ended = threads.stop();
        }
        if let Some(prober) = self.prober.take() {
            let _ended = prober.end();
        }
        if let Some((request, _)) = self.workload_run.take() {
            put_back(&request, &self.events);
        }
        self.origin = None;
    }
}

impl LoadService for LoadRole {
    fn authenticate(&mut self, ask: Authenticate) -> Result<(), Error> {
        self.password = ask.password;
        Ok(())
    }

    fn open(&mut self, ask: Open) -> Result<u32, Error> {
        self.close_all();
        let spec = *ask.spec;
        let engine = proofload_engine::engine(&spec.place.engine)
            .ok_or_else(|| Error::new(format!("this agent does not have the engine {}", spec.place.engine)))?;
        let of_kind = workload(&spec.workload)
            .ok_or_else(|| Error::new(format!("this agent does not have the workload {}", spec.workload)))?;
        let mut target = Target::of(engine, spec.place.clone(), spec.endpoints.clone());
        target.endpoints = target.endpoints.with_password(self.password.clone());
        let events = Arc::clone(&self.events);
        let progress = Arc::new(move |what: &str, count| events(Event::Progress { what: what.to_owned(), count }));
        let request = RunRequest { spec, engine, target, progress };
        let workload_run = of_kind.open(request.clone())?;
        self.workload_run = Some((request, workload_run));
        Ok(std::process::id())
    }

    fn build(&mut self, _ask: Build) -> Result<Vec<Fact>, Error> {
        self.workload_run()?.build()
    }

    fn begin_build(&mut self, _ask: BeginBuild) -> Result<bool, Error> {
        self.workload_run()?.begin_build()
    }

    fn build_share(&mut self, _ask: BuildShare) -> Result<(), Error> {
        self.workload_run()?.build_share()
    }

    fn check_data(&mut self, _ask: CheckData) -> Result<DataState, Error> {
        let (request, workload_run) = self.workload_run.as_ref().ok_or_else(|| Error::new("no workload is open"))?;
        if runtime()?.block_on(request.engine.has_database(&request.target))? {
            return workload_run.data_state();
        }
        Ok(DataState::Empty { why: "the server has no database of this name; a build makes it".to_owned() })
    }

    fn keep_data(&mut self, ask: KeepData) -> Result<bool, Error> {
        let KeepData { label, anew } = ask;
        self.with_backups(async |backups, request| {
            if anew {
                backups.keep(&request.target, &label, &*request.progress).await?;
            }
            backups.is_kept(&request.target, &label).await
        })
    }

    fn restore_data(&mut self, ask: RestoreData) -> Result<(), Error> {
        self.with_backups(async |backups, request| {
            backups.restore(&request.target, &ask.label, &*request.progress).await
        })
    }

    fn connect(&mut self, _ask: Connect) -> Result<Vec<Fact>, Error> {
        let (request, workload_run) = self.workload_run.as_ref().ok_or_else(|| Error::new("no workload is open"))?;
        self.acknowledged = Arc::default();
        let count = workload_run.client_threads().unwrap_or_else(|| default_threads(request, workload_run.sessions()));
        let ceiling = ceiling(request, workload_run.as_ref(), count, &self.clock);
        let spec = ThreadsSpec {
            threads: count,
            blocking: request.is_blocking(),
            schedule: schedule(&request.spec),
            queue_at_most: queue_at_most(&request.spec),
            patience: patience(&request.spec.settings),
            operations: workload_run.operations(),
            part: request.spec.part.clone(),
            sessions: workload_run.session_span(),
            acknowledged: Some(Arc::clone(&self.acknowledged)),
            clock: Arc::clone(&self.clock),
            events: Arc::clone(&self.events),
        };
        allow_for(workload_run.sessions());
        let threads = ClientThreads::connect(workload_run, &spec)?;
        self.threads = Some(threads);
        let mut facts = workload_run.begin()?;
        facts.push(client::THREADS.observed(count, "load agent"));
        facts.push(client::VIRTUAL_USERS.observed(workload_run.users(), "load agent"));
        let in_process = request.engine.facts().capabilities.embedded;
        facts.push(client::ENGINE_IN_PROCESS.observed(in_process, "load agent"));
        facts.extend(ceiling);
        facts.extend(arrival_facts(&request.spec));
        facts.extend(settings_in_force(request)?);
        Ok(facts)
    }

    fn start(&mut self, ask: Start) -> Result<Moment, Error> {
        let at = ask.at;
        let threads = self.threads.as_ref().ok_or_else(|| Error::new("the virtual users are not connected"))?;
        let alone = self.workload_run.as_ref().is_none_or(|(request, _)| request.spec.part.is_whole());
        let now = self.clock.now();
        if now > at && !alone {
            let late = now.since(at);
            return Err(Error::new(format!("the start order arrived {late:?} after time zero")));
        }
        let origin = at.max(now);
        self.origin = Some(origin);
        threads.start(origin);
        self.prober.iter_mut().for_each(|prober| prober.start(origin));
        Ok(origin)
    }

    fn acknowledge(&mut self, ask: Acknowledge) -> Result<(), Error> {
        self.acknowledged.fetch_max(ask.intervals, Ordering::Relaxed);
        if let (Some(index), Some((_, run))) = (ask.ended_below, &self.workload_run) {
            run.take_ended_below(index);
        }
        Ok(())
    }

    fn open_probe(&mut self, _ask: OpenProbe) -> Result<(), Error> {
        self.workload_run()?.open_probe(&self.clock)
    }

    fn probe(&mut self, ask: Probe) -> Result<ProbeResult, Error> {
        self.workload_run()?.probe(&ask.query)
    }

    /// Reads the database's counters; tries again while the server is away, for as long as users do.
    fn mark(&mut self, _ask: ReadMark) -> Result<Mark, Error> {
        let workload_run = self.workload_run()?;
        let patience = self
            .workload_run
            .as_ref()
            .map_or(Duration::ZERO, |(request, _)| patience(&request.spec.settings).reconnect_within);
        let began = self.clock.now();
        let (before, counters) = loop {
            let before = self.clock.now();
            match workload_run.counters() {
                Err(error) if error.class() == ErrorClass::ConnectionLost && before.since(began) < patience => {
                    self.clock.sleep(BETWEEN_TRIES);
                }
                counters => break (before, counters?),
            }
        };
        let moment = before + self.clock.now().since(before) / 2;
        let offset = self.origin.map_or(Offset(0), |origin| moment.offset_from(origin));
        Ok(Mark { moment, offset, counters })
    }

    /// Sends this agent's evidence; with the first piece also its documents, which the first agent does not have.
    fn give_evidence(&mut self, ask: GiveEvidence) -> Result<Evidence, Error> {
        let piece = ask.piece;
        if piece == 0 {
            let workload_run = Arc::clone(self.workload_run()?);
            self.tell_documents(workload_run.as_ref());
            self.given = workload_run.evidence()?;
        }
        let from = usize::try_from(piece).unwrap_or(usize::MAX).saturating_mul(PIECE).min(self.given.len());
        let to = from.saturating_add(PIECE).min(self.given.len());
        let (bytes, last) = (self.given[from..to].to_vec(), to == self.given.len());
        if last {
            self.given = Vec::new();
        }
        Ok(Evidence { bytes, last })
    }

    fn take_evidence(&mut self, ask: TakeEvidence) -> Result<(), Error> {
        let Evidence { bytes, last } = ask.piece;
        self.taken.extend_from_slice(&bytes);
        if last {
            let taken = std::mem::take(&mut self.taken);
            self.workload_run()?.take_evidence(&taken)?;
        }
        Ok(())
    }

    fn verify(&mut self, ask: Verify) -> Result<Vec<Check>, Error> {
        let workload_run = Arc::clone(self.workload_run()?);
        let checks = workload_run.verify(&ask.totals)?;
        self.tell_documents(workload_run.as_ref());
        Ok(checks)
    }

    fn hold_users(&mut self, ask: HoldUsers) -> Result<bool, Error> {
        let threads = self.threads.as_ref().ok_or_else(|| Error::new("failed to hold users: no load is running"))?;
        Ok(threads.hold(ask.active))
    }

    fn change_load(&mut self, ask: ChangeLoad) -> Result<Vec<LimitMeter>, Error> {
        let run = self.workload_run()?;
        run.change(&ask.values)?;
        Ok(run.meters())
    }

    fn read_load(&mut self, _ask: ReadLoad) -> Result<Vec<LimitMeter>, Error> {
        let mut meters = self.workload_run()?.meters();
        meters.extend(self.threads.as_ref().map(ClientThreads::active_users));
        Ok(meters)
    }

    fn stop(&mut self, _ask: Stop) -> Result<LoadTotals, Error> {
        let threads = self.threads.take().ok_or_else(|| Error::new("no load is running"))?;
        let (intervals, totals) = threads.stop();
        Ok(LoadTotals { intervals, totals })
    }

    fn connect_prober(&mut self, ask: ConnectProber) -> Result<(), Error> {
        let (request, _) = self.workload_run.as_ref().ok_or_else(|| Error::new("no workload is open"))?;
        self.prober = Some(Prober::connect(request, ask.asked, &self.clock, &self.events)?);
        Ok(())
    }

    fn pace_prober(&mut self, ask: PaceProber) -> Result<(), Error> {
        let prober = self.prober.as_ref().ok_or_else(|| Error::new("no prober is connected"))?;
        prober.set_pace(ask.pace);
        Ok(())
    }

    fn end_prober(&mut self, _ask: EndProber) -> Result<Box<ProberReport>, Error> {
        self.prober.take().ok_or_else(|| Error::new("no prober is connected"))?.end().map(Box::new)
    }

    fn close(&mut self, _ask: Close) -> Result<(), Error> {
        self.close_all();
        Ok(())
    }
}

impl Drop for LoadRole {
    fn drop(&mut self) {
        self.close_all();
    }
}

/// Label of the seed of arrivals, below that of the inputs.
const ARRIVALS: u64 = 0x6172_7269_7661_6c73;

/// Default of `workload.queue_at_most`: far longer than the stalls of a database that works, and short enough that an
/// overloaded one is not measured for minutes after the fact.
const QUEUE_AT_MOST: Duration = Duration::from_secs(10);

fn queue_at_most(spec: &LoadSpec) -> Duration {
    spec.settings.duration(setting::WORKLOAD_QUEUE_AT_MOST).unwrap_or(QUEUE_AT_MOST)
}

/// Pause between two tries to read the counters of a server that is away.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Patience of the sessions. In a drill they do not give up before it ends: how long the database is away is its result.
fn patience(settings: &Settings) -> Patience {
    let time = |path: &str| settings.duration(path).ok();
    let of_drill = drill(settings).ok().flatten().map_or(Duration::ZERO, |asked| asked.longest());
    let usual = Patience::reconnecting(time("workload.reconnect_within").unwrap_or_default() + of_drill);
    let longest_wait = time("workload.reconnect_wait").unwrap_or(usual.longest_wait);
    Patience { longest_wait, deadline: time(setting::WORKLOAD_DEADLINE), ..usual }
}

/// Facts about the arrivals, for the report.
fn arrival_facts(spec: &LoadSpec) -> Vec<Fact> {
    let Ok(rate) = spec.settings.number(setting::WORKLOAD_RATE) else { return Vec::new() };
    let arrivals = spec.settings.text(setting::WORKLOAD_ARRIVALS).unwrap_or("constant");
    vec![
        client::ARRIVALS.observed(format!("{arrivals}, {rate}/s"), "load agent"),
        client::QUEUE_AT_MOST.observed(duration_text(queue_at_most(spec)), "load agent"),
    ]
}

/// The schedule that the study asks for.
fn schedule(spec: &LoadSpec) -> Arc<dyn Schedule> {
    let Ok(per_second) = spec.settings.number(setting::WORKLOAD_RATE) else { return Arc::new(SaturatedSchedule) };
    match spec.settings.text(setting::WORKLOAD_ARRIVALS) {
        Ok("poisson") => Arc::new(PoissonRate { per_second, seed: Seed(spec.input_seed).of(ARRIVALS) }),
        _ => Arc::new(ConstantRate::per_second(per_second)),
    }
}

/// One thread per user when the engine blocks, else one per core.
fn default_threads(request: &RunRequest, users: u32) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1));
    if request.is_blocking() { users } else { users.min(cores) }
}

/// The engine's own view of the settings that were asked for.
fn settings_in_force(request: &RunRequest) -> Result<Vec<Fact>, Error> {
    Ok(runtime()?.block_on(request.engine.verify_settings(&request.target))?)
}

/// Puts back what the run has changed of a server that Proofload did not start. The run is over: what fails is told.
fn put_back(request: &RunRequest, events: &LoadEvents) {
    let Some(changes) = request.engine.server_changes() else { return };
    let done = runtime().and_then(|runtime| Ok(runtime.block_on(changes.put_back(&request.target))?));
    if let Err(error) = done {
        let text =
            format!("settings of the server are not put back: {error}; the next run that may change it puts them back");
        events(Event::Log { level: LogLevel::Error, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Value;

    #[test]
    fn sessions_of_a_drill_outlast_it() {
        let minute = Duration::from_secs(60);
        let mut settings = Settings::default();
        settings.0.insert("workload.reconnect_within".to_owned(), Value::Duration(minute));
        assert_eq!(patience(&settings).reconnect_within, minute);
        settings.0.insert("drill.fault".to_owned(), Value::Text("crash primary".to_owned()));
        settings.0.insert("drill.within".to_owned(), Value::Duration(3 * minute));
        settings.0.insert("drill.promote_after".to_owned(), Value::Duration(minute));
        assert_eq!(patience(&settings).reconnect_within, 8 * minute);
    }
}
