//! A case: a place, settings, and what tests do with them.

use super::support::{Place, Special};
use proofload_engine::{Engine, Session as _, engine};
pub(crate) use proofload_load::selftest::WholeLoad as Ran;
use proofload_load::selftest::{self, whole_load};
use proofload_load::{LoadRole, workload};
use proofload_model::error::Error;
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{Check, CheckOutcome, Fact, IntervalSample, add_counts};
use proofload_model::settings::Settings;
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::load::{
    Build, CheckData, Connect, Evidence, GiveEvidence, LoadService as _, Open, Start, Stop, TakeEvidence, Verify,
};
use proofload_model::wire::{DataLocation, Event, LoadSpec};
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

/// Settings of the workload on an engine, these changed.
pub(crate) fn settings(engine: &str, changes: &[(&str, &str)]) -> Settings {
    let facts = workload("ycsb").expect("it is built in").facts();
    // The first change counts.
    let usual = [("records", "1000"), ("virtual_users", "2"), ("check_reads", "1"), ("verify", "full")];
    selftest::settings(&facts, engine, &[changes, &usual[..]].concat()).expect("valid values")
}

fn spec(place: DataLocation, address: Option<String>, changes: &[(&str, &str)]) -> LoadSpec {
    LoadSpec {
        workload: "ycsb".to_owned(),
        settings: settings(&place.engine, changes),
        place,
        endpoints: address.into_iter().collect(),
        data_seed: 1,
        input_seed: 2,
        load_time: WallTime(1_767_225_600_000_000),
        part: LoadShare::default(),
    }
}

impl Case {
    /// A case on an engine; `None`, with a message, where the engine is not available.
    pub(crate) fn new(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        Self::with_server_settings(name, &[], changes)
    }

    /// A case on an engine whose server has these settings.
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    pub(crate) fn with_server_settings(name: &str, own: &[(&str, &str)], changes: &[(&str, &str)]) -> Option<Self> {
        let of_name: &'static dyn Engine = engine(name).expect("it is built in");
        match Place::new(of_name, own, &Special { prefix: "proofload-ycsb-", kept: true, ..Special::default() }) {
            Ok(place) => {
                let spec = spec(place.target.place.clone(), place.target.address().map(str::to_owned), changes);
                Some(Self { place: Some(place), spec, clock: RealClock::new() })
            }
            Err(reason) => {
                let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
                assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
                eprintln!("SKIPPED: {name}: {reason}");
                None
            }
        }
    }

    /// A case on embedded SQLite in a folder that outlives it.
    pub(crate) fn in_folder(folder: &Path, changes: &[(&str, &str)]) -> Self {
        let folder = folder.display().to_string();
        let place = DataLocation { engine: "sqlite".to_owned(), folder, url: None, settings: Vec::new(), tier: None };
        Self { place: None, spec: spec(place, None, changes), clock: RealClock::new() }
    }

    /// A case on a server that is there.
    pub(crate) fn at_url(engine: &str, url: String, changes: &[(&str, &str)]) -> Self {
        let (engine, folder) = (engine.to_owned(), String::new());
        let place = DataLocation { engine, folder, url: Some(url), settings: Vec::new(), tier: None };
        Self { place: None, spec: spec(place, None, changes), clock: RealClock::new() }
    }

    /// The same place with other settings.
    pub(crate) fn change(&mut self, changes: &[(&str, &str)]) {
        self.spec.settings = settings(&self.spec.place.engine, changes);
    }

    /// The same place with another seed of the data.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.spec.data_seed = seed;
    }

    /// Loads.
    pub(crate) fn build(&self) -> Result<Vec<Fact>, Error> {
        let (mut role, _events) = self.role();
        role.open(Open { spec: Box::new(self.spec.clone()) })?;
        role.build(Build {})
    }

    /// Connects all users and returns what the load agent reports of itself.
    pub(crate) fn connect(&self) -> Result<Vec<Fact>, Error> {
        let (mut role, _events) = self.role();
        role.open(Open { spec: Box::new(self.spec.clone()) })?;
        role.connect(Connect {})
    }

    /// Checks that the data fit.
    pub(crate) fn check_data(&self) -> Result<(), Error> {
        let (mut role, _events) = self.role();
        role.open(Open { spec: Box::new(self.spec.clone()) })?;
        role.check_data(CheckData {})?.must_fit()
    }

    /// Runs until all operations are done, after which `meddle` may change what is stored; then verifies.
    pub(crate) fn run(&self, meddle: impl FnOnce(&Self)) -> Result<Ran, Error> {
        let clock: Arc<dyn Clock> = self.clock.clone();
        whole_load(self.spec.clone(), &clock, || meddle(self))
    }

    /// Runs while `beside` asks the role for more, then stops and verifies.
    pub(crate) fn run_beside(&self, beside: impl FnOnce(&mut LoadRole)) -> Result<Ran, Error> {
        let (mut role, events) = self.role();
        role.open(Open { spec: Box::new(self.spec.clone()) })?;
        role.connect(Connect {})?;
        role.start(Start { at: self.clock.now() + Duration::from_millis(100) })?;
        beside(&mut role);
        let totals = role.stop(Stop {})?.totals;
        let seconds = events.try_iter().filter_map(|event| match event {
            Event::Interval(sample) => Some(*sample),
            _ => None,
        });
        let seconds = seconds.collect();
        let checks = role.verify(Verify { totals: totals.clone() })?;
        Ok(Ran { checks, totals, seconds, ended_by_itself: false })
    }

    /// The same by several agents with these shares, as a conductor leads them.
    pub(crate) fn run_in_parts(&self, shares: &[u32]) -> Result<Ran, Error> {
        let parts = (0..).zip(shares).map(|(agent, _)| LoadShare { agent, shares: shares.to_vec() });
        let mut agents = Vec::new();
        for part in parts {
            let (mut role, events) = self.role();
            role.open(Open { spec: Box::new(LoadSpec { part, ..self.spec.clone() }) })?;
            role.connect(Connect {})?;
            agents.push((role, events));
        }
        // Time enough for all of them to be told, on a host that pauses too.
        let at = self.clock.now() + Duration::from_secs(3);
        for (role, _) in &mut agents {
            assert_eq!(role.start(Start { at })?, at);
        }
        let (mut totals, mut seconds, mut ended_by_itself) = (Vec::new(), Vec::new(), true);
        for (role, events) in &mut agents {
            let (own, by_itself) = seconds_of(events)?;
            seconds.extend(own);
            ended_by_itself &= by_itself;
            add_counts(&mut totals, &role.stop(Stop {})?.totals);
        }
        let (first, others) = agents.split_first_mut().expect("there is an agent");
        for (role, _) in others {
            let Evidence { bytes, last } = role.give_evidence(GiveEvidence { piece: 0 })?;
            assert!(last, "so little evidence is one piece");
            // In two pieces all the same.
            let (begin, end) = bytes.split_at(bytes.len() / 2);
            for (bytes, last) in [(begin.to_vec(), false), (end.to_vec(), true)] {
                first.0.take_evidence(TakeEvidence { piece: Evidence { bytes, last } })?;
            }
        }
        let checks = first.0.verify(Verify { totals: totals.clone() })?;
        Ok(Ran { checks, totals, seconds, ended_by_itself })
    }

    /// One of several agents that is told too late.
    pub(crate) fn start_late(&self) -> Error {
        let (mut role, _events) = self.role();
        let part = LoadShare { agent: 1, shares: vec![1, 1] };
        let spec = Box::new(LoadSpec { part, ..self.spec.clone() });
        role.open(Open { spec }).expect("it is done");
        role.connect(Connect {}).expect("it is done");
        let past = Moment(self.clock.now().0 - 1);
        role.start(Start { at: past }).expect_err("the others have begun")
    }

    /// Runs until all operations are done, on a server that keeps nothing to be verified.
    pub(crate) fn load_only(&self) -> Result<Vec<IntervalSample>, Error> {
        let (mut role, events) = self.role();
        role.open(Open { spec: Box::new(self.spec.clone()) })?;
        role.connect(Connect {})?;
        role.start(Start { at: self.clock.now() + Duration::from_millis(100) })?;
        let seconds = seconds_of(&events)?.0;
        role.stop(Stop {})?;
        Ok(seconds)
    }

    /// Runs SQL beside the workload.
    pub(crate) fn script(&self, sql: &str) {
        let place = self.place.as_ref().expect("a place");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async { place.connect().await.script(sql).await.expect("the script runs") });
    }

    /// Runs SQL in a transaction that stays open while `beside` runs on a thread of its own, and commits when somebody waits for it.
    pub(crate) fn commit_late<T: Send>(&self, sql: &str, beside: impl FnOnce() -> T + Send) -> T {
        let place = self.place.as_ref().expect("a place");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut session = runtime.block_on(place.connect());
        let mut script = |sql: &str| runtime.block_on(session.script(sql)).expect("the script runs");
        script(&format!("BEGIN; {sql}"));
        std::thread::scope(|scope| {
            let beside = scope.spawn(beside);
            // Statistics of a transaction stand still unless they are cleared.
            script(
                "DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_stat_clear_snapshot(); EXIT WHEN EXISTS (SELECT FROM \
                 pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'); PERFORM pg_sleep(0.01); \
                 IF i = 3000 THEN RAISE 'nobody waited'; END IF; END LOOP; END $$; COMMIT",
            );
            beside.join().expect("it does not panic")
        })
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
        match events.recv_timeout(Duration::from_secs(180)).expect("the load ends") {
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
