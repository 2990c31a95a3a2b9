//! What the tests of the host role share: a clock, a role in a folder of its own, its events.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use proofload_model::deployment::{InstanceName, StoragePlan};
use proofload_model::error::Error;
use proofload_model::replication::ReplicationPart;
use proofload_model::samples::Fact;
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::host::{Attach, RestoreSnapshot, RestoreTarget, Start};
use proofload_model::wire::{Ask, DataLocation, Event, Request};
use proofload_testbed::HostRole;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One role at a time: control groups are named after the process.
static ALONE: Mutex<()> = Mutex::new(());

/// How long what must happen may take where threads stand still for seconds.
pub const LONG: Duration = Duration::from_secs(120);

pub struct TestClock(Instant);

impl Clock for TestClock {
    fn now(&self) -> Moment {
        Moment(u64::try_from(self.0.elapsed().as_nanos()).expect("a test is short"))
    }
    fn wall(&self) -> WallTime {
        WallTime(0)
    }
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

pub struct Bench {
    // Dropped in this order: the role before its folder.
    pub role: HostRole,
    pub events: Arc<Mutex<Vec<Event>>>,
    pub clock: Arc<dyn Clock>,
    pub folder: tempfile::TempDir,
    /// Address of the server that was started last.
    pub address: Option<String>,
    _alone: MutexGuard<'static, ()>,
}

impl Bench {
    pub fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::Builder::new().prefix("proofload-test-").tempdir().expect("a temporary folder");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("the folder is ours");
        let clock: Arc<dyn Clock> = Arc::new(TestClock(Instant::now()));
        let events = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&events);
        let role = HostRole::new(Arc::clone(&clock), Arc::new(move |event| told.lock().expect("no panic").push(event)));
        Self { role, events, clock, folder, address: None, _alone: alone }
    }

    /// Where the data of an engine lies: one folder below the study's.
    pub fn place(&self, engine: &str, settings: &[(&str, &str)]) -> DataLocation {
        let folder = self.folder.path().join("study/data-of-it").display().to_string();
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        DataLocation { settings, ..DataLocation::in_folder(engine, folder) }
    }

    pub fn handle<A: Ask>(&mut self, ask: A) -> Result<A::Answer, Error> {
        let Request::Host(request) = ask.into() else { panic!("only the host role is here") };
        self.role.handle(request).map(|reply| A::answer(reply).expect("it is the request's own answer"))
    }

    #[track_caller]
    pub fn ask<A: Ask>(&mut self, ask: A) -> A::Answer {
        self.handle(ask).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Asks again until there is an answer: a server that stands still for a moment is too late for one question.
    #[track_caller]
    pub fn ask_until_answered<A: Ask + Clone>(&mut self, ask: A) -> A::Answer {
        let begun = Instant::now();
        loop {
            match self.handle(ask.clone()) {
                Ok(answer) => return answer,
                Err(error) => assert!(begun.elapsed() < LONG, "not within {LONG:?}: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    pub fn refused<A: Ask>(&mut self, ask: A) -> String
    where
        A::Answer: std::fmt::Debug,
    {
        self.handle(ask).expect_err("it is refused").to_string()
    }

    /// Attaches a directory.
    #[track_caller]
    pub fn attach(&mut self, place: &DataLocation) {
        self.ask(Attach { instance: one(), place: place.clone(), storage: StoragePlan::directory() });
    }

    /// Starts the server on a directory.
    #[track_caller]
    pub fn start(&mut self, place: &DataLocation) -> Vec<Fact> {
        let started = self.ask(alone(place.clone()));
        self.address = Some(started.address);
        started.facts
    }

    /// Waits for an event.
    #[track_caller]
    pub fn expect_event(&self, what: &str, is_it: impl Fn(&Event) -> bool) -> Event {
        let begun = Instant::now();
        while begun.elapsed() < LONG {
            if let Some(event) = self.events.lock().expect("no panic").iter().find(|event| is_it(event)) {
                return event.clone();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{what} was not told: {:?}", self.events.lock());
    }
}

/// Order to start the instance without standbys.
pub fn alone(place: DataLocation) -> Start {
    Start { instance: one(), place, part: ReplicationPart::Alone }
}

/// Order to replace the data of an instance by the snapshot of a folder.
pub fn restored(instance: InstanceName, place: DataLocation, from: &str) -> RestoreSnapshot {
    RestoreSnapshot { from: from.to_owned(), instances: vec![RestoreTarget { instance, place }] }
}

/// Name of the instance under test.
pub fn one() -> InstanceName {
    InstanceName::primary()
}

/// Effective value and verdict of a fact.
pub fn of<'a>(facts: &'a [Fact], name: &str) -> (Option<&'a str>, Option<bool>) {
    let fact = facts.iter().find(|fact| fact.name == name);
    fact.map_or((None, None), |fact| (fact.effective.as_deref(), fact.holds))
}

/// Segments of System V shared memory that a process has made. Format of `/proc/sysvipc/shm`: the maker is the fifth column.
pub fn segments_of(process: u32) -> usize {
    let all = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let maker = process.to_string();
    all.lines().filter(|line| line.split_ascii_whitespace().nth(4) == Some(maker.as_str())).count()
}
