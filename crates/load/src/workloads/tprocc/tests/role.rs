//! The whole way through the load role, as an agent goes it.

use super::case::{Case, failed};
use crate::real_clock::RealClock;
use crate::{LoadRole, WorkloadRun as _};
use proofload_model::samples::{Check, CheckOutcome, Fact, IntervalSample, LostSession, OperationCounts};
use proofload_model::time::Clock as _;
use proofload_model::wire::Event;
use proofload_model::wire::load::{Build, CheckData, Connect, LoadService as _, Open, ReadMark, Start, Stop, Verify};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a run leaves.
pub(super) struct Ran {
    pub(super) checks: Vec<Check>,
    pub(super) totals: Vec<OperationCounts>,
    pub(super) facts: Vec<Fact>,
    pub(super) documents: Vec<(String, String)>,
    pub(super) seconds: Vec<IntervalSample>,
    pub(super) lost: Vec<LostSession>,
    /// Time from time zero to the stop.
    pub(super) lasted: Duration,
}

/// What a load has told so far.
#[derive(Default)]
pub(super) struct Told {
    failures: Vec<String>,
    documents: Vec<(String, String)>,
    pub(super) seconds: Vec<IntervalSample>,
    pub(super) lost: Vec<LostSession>,
}

impl Told {
    fn hear(&mut self, event: Event) {
        match event {
            Event::LoadFailed { error } => self.failures.push(error.to_string()),
            Event::Document { name, body } => self.documents.push((name, body)),
            Event::SessionLost(session) => self.lost.push(session),
            Event::Interval(second) => self.seconds.push(*second),
            _ => {}
        }
    }

    /// Whether operations ended as they should in a second that is over.
    pub(super) fn does_work(&self) -> bool {
        self.seconds.iter().any(|second| completed(second) > 0)
    }

    fn is_over(&self, holds: fn(&Self) -> bool) -> bool {
        holds(self) || !self.failures.is_empty()
    }
}

/// Operations that ended as they should in a second.
pub(super) fn completed(second: &IntervalSample) -> u64 {
    second.counts.iter().map(OperationCounts::completed).sum()
}

/// When a run ends.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// Time after time zero.
    After(Duration),
    /// Once this holds of what the load has told, and after [`PATIENCE`] whether or not it does.
    Once(fn(&Told) -> bool),
}

/// The longest time for which what ends a run is awaited: seconds of a busy host may pass without an operation.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until it holds, or the load has failed.
fn wait_until(told: &Mutex<Told>, holds: fn(&Told) -> bool) {
    let begun = Instant::now();
    while !told.lock().unwrap().is_over(holds) && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs until operations were done; returns the checks and the number of completed operations.
fn run(case: &Case) -> (Vec<Check>, u64) {
    let ran = run_for(case, End::Once(Told::does_work));
    (ran.checks, ran.totals.iter().map(|counts| counts.done + counts.rolled_back).sum())
}

/// Builds and runs to the end; nothing fails.
pub(super) fn run_for(case: &Case, end: End) -> Ran {
    let ran = run_through(case, end, || {});
    assert_eq!(ran.totals.iter().map(|counts| counts.failed).sum::<u64>(), 0);
    assert_eq!(ran.lost, []);
    ran
}

/// Builds and runs, whatever fails; `meanwhile` has its own thread, from time zero, and ends before the run does.
pub(super) fn run_through(case: &Case, end: End, meanwhile: impl FnOnce() + Send) -> Ran {
    let told = Arc::new(Mutex::new(Told::default()));
    let hears = Arc::clone(&told);
    let events = Arc::new(move |event: Event| hears.lock().unwrap().hear(event));
    let clock = Arc::new(RealClock(Instant::now()));
    let mut role = LoadRole::new(clock.clone(), events);
    role.open(Open { spec: Box::new(case.request.spec.clone()) }).unwrap();
    role.build(Build {}).unwrap();
    role.check_data(CheckData {}).unwrap().must_fit().unwrap();
    let facts = role.connect(Connect {}).unwrap();
    let zero = role.start(Start { at: clock.now() + Duration::from_millis(100) }).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(meanwhile);
        match end {
            End::After(time) => clock.sleep(time),
            End::Once(holds) => wait_until(&told, holds),
        }
        role.mark(ReadMark {}).unwrap();
    });
    let lasted = clock.now().since(zero);
    let totals = role.stop(Stop {}).unwrap().totals;
    let checks = role.verify(Verify { totals: totals.clone() }).unwrap();
    let Told { failures, documents, seconds, lost } = std::mem::take(&mut *told.lock().unwrap());
    assert_eq!(failures, [""; 0]);
    Ran { checks, totals, facts, documents, seconds, lost, lasted }
}

#[test]
fn the_null_engine_answers_everything_and_proves_nothing() {
    let case = Case::new("null", &[("warehouses", "10"), ("virtual_users", "3")]).unwrap();
    let (checks, done) = run(&case);
    assert!(done > 100, "{done}");
    assert!(checks.iter().all(|check| check.outcome == CheckOutcome::NotApplicable), "{checks:?}");
    assert_eq!(checks.len(), 5);
    assert!(case.workload_run().counters().unwrap().is_empty());
}

#[test]
fn a_run_on_sqlite_is_verified() {
    let case = Case::new("sqlite", &[("virtual_users", "2")]).unwrap();
    let (checks, done) = run(&case);
    assert!(done > 0);
    assert_eq!(failed(&checks), [""; 0]);
    let new_orders = case.workload_run().counters().unwrap();
    let acknowledged = checks.iter().find(|check| check.name == "new orders").unwrap();
    let gained = new_orders[0].1 - 2 * 10 * 31;
    assert_eq!(acknowledged.found, format!("database {gained}, acknowledged {gained}, unknown outcome 0"));
}
