//! A case: a place, settings, and what tests do with them.

use super::support::{Place, Special};
use proofload_engine::{Engine, Session as _, engine};
use proofload_load::{LoadRole, workload};
use proofload_model::error::Error;
use proofload_model::part::Part;
use proofload_model::samples::{Check, CheckOutcome, Fact, IntervalSample, OperationCounts, add_counts};
use proofload_model::settings::{STANDARD, Settings, Value};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::{DataPlace, Event, LoadRequest, LoadSpec, Reply};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The machine's clock; dates stand still.
struct RealClock(Instant);

impl RealClock {
    fn new() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for RealClock {
    fn now(&self) -> Moment {
        Moment(u64::try_from(self.0.elapsed().as_nanos()).expect("584 years"))
    }

    fn wall(&self) -> WallTime {
        WallTime(1_767_225_600_000_000)
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// An engine at a place.
pub(crate) struct Case {
    place: Option<Place>,
    spec: LoadSpec,
    clock: Arc<RealClock>,
}

/// What a load left.
pub(crate) struct Ran {
    pub(crate) checks: Vec<Check>,
    pub(crate) totals: Vec<OperationCounts>,
    pub(crate) seconds: Vec<IntervalSample>,
    pub(crate) ended_by_itself: bool,
}

/// Settings of the workload, these changed.
pub(crate) fn settings(changes: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    let of_load = STANDARD.iter().filter(|spec| spec.path.starts_with("workload."));
    for spec in workload("ycsb").expect("it is built in").facts().settings.iter().chain(of_load) {
        let given = changes.iter().find(|(name, _)| format!("workload.{name}") == spec.path).map(|(_, value)| *value);
        let value = match spec.path {
            "workload.records" => given.or(Some("1000")),
            "workload.virtual_users" => given.or(Some("2")),
            "workload.check_reads" => given.or(Some("1")),
            "workload.verify" => given.or(Some("full")),
            _ => given.or(spec.default),
        };
        if let Some(value) = value {
            settings.0.insert(spec.path.to_owned(), spec.kind.read_text(value).expect("a valid value"));
        }
    }
    settings.0.insert("workload.kind".to_owned(), Value::Text("ycsb".to_owned()));
    settings
}

fn spec(place: DataPlace, address: Option<String>, changes: &[(&str, &str)]) -> LoadSpec {
    LoadSpec {
        workload: "ycsb".to_owned(),
        settings: settings(changes),
        place,
        address,
        data_seed: 1,
        input_seed: 2,
        load_time: WallTime(1_767_225_600_000_000),
        part: Part::default(),
    }
}

impl Case {
    /// A case on an engine; none, said aloud, where the engine cannot be had.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) fn new(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        let of_name: &'static dyn Engine = engine(name).expect("it is built in");
        match Place::new(of_name, &[], &Special { prefix: "proofload-ycsb-", ..Special::default() }) {
            Ok(place) => {
                let spec = spec(place.target.place.clone(), place.target.address.clone(), changes);
                Some(Self { place: Some(place), spec, clock: RealClock::new() })
            }
            Err(reason) => {
                assert!(std::env::var_os("PROOFLOAD_REQUIRE_POSTGRESQL").is_none(), "{name} is required: {reason}");
                eprintln!("SKIPPED: {name}: {reason}");
                None
            }
        }
    }

    /// A case on embedded SQLite in a folder that outlives it.
    pub(crate) fn in_folder(folder: &Path, changes: &[(&str, &str)]) -> Self {
        let folder = folder.display().to_string();
        let place = DataPlace { engine: "sqlite".to_owned(), folder, url: None, settings: Vec::new() };
        Self { place: None, spec: spec(place, None, changes), clock: RealClock::new() }
    }

    /// A case on a server that is there.
    pub(crate) fn at_url(engine: &str, url: String, changes: &[(&str, &str)]) -> Self {
        let (engine, folder) = (engine.to_owned(), String::new());
        let place = DataPlace { engine, folder, url: Some(url), settings: Vec::new() };
        Self { place: None, spec: spec(place, None, changes), clock: RealClock::new() }
    }

    /// The same place with other settings.
    pub(crate) fn change(&mut self, changes: &[(&str, &str)]) {
        self.spec.settings = settings(changes);
    }

    /// The same place with another seed of the data.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.spec.data_seed = seed;
    }

    /// Loads.
    pub(crate) fn build(&self) -> Result<Vec<Fact>, Error> {
        let (mut role, _events) = self.role();
        role.handle(LoadRequest::Open { spec: Box::new(self.spec.clone()) })?;
        match role.handle(LoadRequest::Build)? {
            Reply::Built { facts } => Ok(facts),
            other => panic!("{other:?}"),
        }
    }

    /// Do the data fit?
    pub(crate) fn check_data(&self) -> Result<(), Error> {
        let (mut role, _events) = self.role();
        role.handle(LoadRequest::Open { spec: Box::new(self.spec.clone()) })?;
        role.handle(LoadRequest::CheckData).map(drop)
    }

    /// Runs until all operations are done, after which `meddle` may change what is stored; then verifies.
    pub(crate) fn run(&self, meddle: impl FnOnce(&Self)) -> Result<Ran, Error> {
        let (mut role, events) = self.role();
        role.handle(LoadRequest::Open { spec: Box::new(self.spec.clone()) })?;
        role.handle(LoadRequest::Connect)?;
        role.handle(LoadRequest::Start { at: self.clock.now() + Duration::from_millis(100) })?;
        let (seconds, ended_by_itself) = seconds_of(&events)?;
        let Reply::Stopped { totals, .. } = role.handle(LoadRequest::Stop)? else { panic!("a stop is answered") };
        meddle(self);
        let Reply::Checked(checks) = role.handle(LoadRequest::Verify { totals: totals.clone() })? else {
            panic!("a verification is answered")
        };
        Ok(Ran { checks, totals, seconds, ended_by_itself })
    }

    /// The same by several agents with these shares, as a conductor leads them.
    pub(crate) fn run_in_parts(&self, shares: &[u32]) -> Result<Ran, Error> {
        let parts = (0..).zip(shares).map(|(agent, _)| Part { agent, shares: shares.to_vec() });
        let mut agents = Vec::new();
        for part in parts {
            let (mut role, events) = self.role();
            role.handle(LoadRequest::Open { spec: Box::new(LoadSpec { part, ..self.spec.clone() }) })?;
            role.handle(LoadRequest::Connect)?;
            agents.push((role, events));
        }
        let at = self.clock.now() + Duration::from_millis(500);
        for (role, _) in &mut agents {
            assert_eq!(role.handle(LoadRequest::Start { at })?, Reply::Starting { origin: at });
        }
        let (mut totals, mut seconds, mut ended_by_itself) = (Vec::new(), Vec::new(), true);
        for (role, events) in &mut agents {
            let (own, by_itself) = seconds_of(events)?;
            seconds.extend(own);
            ended_by_itself &= by_itself;
            let Reply::Stopped { totals: own, .. } = role.handle(LoadRequest::Stop)? else {
                panic!("a stop is answered")
            };
            add_counts(&mut totals, &own);
        }
        let (first, others) = agents.split_first_mut().expect("there is an agent");
        for (role, _) in others {
            let Reply::Evidence { bytes, last: true } = role.handle(LoadRequest::GiveEvidence { piece: 0 })? else {
                panic!("so little evidence is one piece")
            };
            // In two pieces all the same.
            let (begin, end) = bytes.split_at(bytes.len() / 2);
            first.0.handle(LoadRequest::TakeEvidence { bytes: begin.to_vec(), last: false })?;
            first.0.handle(LoadRequest::TakeEvidence { bytes: end.to_vec(), last: true })?;
        }
        let verified = first.0.handle(LoadRequest::Verify { totals: totals.clone() })?;
        let Reply::Checked(checks) = verified else { panic!("a verification is answered") };
        Ok(Ran { checks, totals, seconds, ended_by_itself })
    }

    /// One of several agents that is told too late.
    pub(crate) fn start_late(&self) -> Error {
        let (mut role, _events) = self.role();
        let part = Part { agent: 1, shares: vec![1, 1] };
        let spec = Box::new(LoadSpec { part, ..self.spec.clone() });
        for request in [LoadRequest::Open { spec }, LoadRequest::Connect] {
            role.handle(request).expect("it is done");
        }
        let past = Moment(self.clock.now().0 - 1);
        role.handle(LoadRequest::Start { at: past }).expect_err("the others have begun")
    }

    /// Runs until all operations are done, on a server that keeps nothing to be verified.
    pub(crate) fn load_only(&self) -> Result<Vec<IntervalSample>, Error> {
        let (mut role, events) = self.role();
        role.handle(LoadRequest::Open { spec: Box::new(self.spec.clone()) })?;
        role.handle(LoadRequest::Connect)?;
        role.handle(LoadRequest::Start { at: self.clock.now() + Duration::from_millis(100) })?;
        let seconds = seconds_of(&events)?.0;
        role.handle(LoadRequest::Stop)?;
        Ok(seconds)
    }

    /// Runs SQL beside the workload.
    pub(crate) fn script(&self, sql: &str) {
        let place = self.place.as_ref().expect("a place");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async { place.connect().await.script(sql).await.expect("the script runs") });
    }

    fn role(&self) -> (LoadRole, Receiver<Event>) {
        let (sender, events): (Sender<Event>, Receiver<Event>) = channel();
        let sender = Mutex::new(sender);
        let hear = move |event| {
            let _nobody_listens = sender.lock().expect("nobody panics here").send(event);
        };
        (LoadRole::new(self.clock.clone(), Arc::new(hear)), events)
    }
}

/// Every second until the load ends, and whether it ended because all was done.
fn seconds_of(events: &Receiver<Event>) -> Result<(Vec<IntervalSample>, bool), Error> {
    let mut seconds = Vec::new();
    loop {
        match events.recv_timeout(Duration::from_secs(60)).expect("the load ends") {
            Event::Interval(sample) => seconds.push(*sample),
            Event::LoadEnded { first_without_work, .. } => return Ok((seconds, first_without_work.is_some())),
            Event::LoadFailed { error } => return Err(error),
            _ => {}
        }
    }
}

/// Names of the checks that failed.
pub(crate) fn failed(checks: &[Check]) -> Vec<&str> {
    checks.iter().filter(|check| check.outcome == CheckOutcome::Failed).map(|check| check.name.as_str()).collect()
}

/// Completed operations of a kind.
pub(crate) fn done(ran: &Ran, kind: &str) -> u64 {
    ran.totals.iter().filter(|counts| counts.kind == kind).map(|counts| counts.done).sum()
}
