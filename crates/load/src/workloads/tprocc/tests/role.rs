//! The whole way through the load role, as an agent goes it.

use super::case::{Case, failed};
use crate::{LoadRole, WorkloadRun as _};
use proofload_model::samples::{Check, CheckOutcome, Fact, IntervalSample, LostSession, OperationCounts};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::Event;
use proofload_model::wire::load::{Build, CheckData, Connect, LoadService as _, Open, ReadMark, Start, Stop, Verify};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// The machine's clocks.
struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Moment {
        Moment(u64::try_from(self.0.elapsed().as_nanos()).unwrap())
    }

    fn wall(&self) -> WallTime {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        WallTime(i64::try_from(now.as_micros()).unwrap())
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

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

/// When a run ends.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// Time after time zero.
    After(Duration),
    /// Time after the end of what is done meanwhile.
    AfterMeanwhile(Duration),
}

/// Runs for a moment; returns the checks and the number of completed operations.
fn run(case: &Case) -> (Vec<Check>, u64) {
    let ran = run_for(case, Duration::from_millis(300));
    (ran.checks, ran.totals.iter().map(|counts| counts.done + counts.rolled_back).sum())
}

/// Builds and runs for so long; nothing fails.
pub(super) fn run_for(case: &Case, time: Duration) -> Ran {
    let ran = run_through(case, End::After(time), || {});
    assert_eq!(ran.totals.iter().map(|counts| counts.failed).sum::<u64>(), 0);
    assert_eq!(ran.lost, []);
    ran
}

/// Builds and runs, whatever fails; `meanwhile` has its own thread, from time zero.
pub(super) fn run_through(case: &Case, end: End, meanwhile: impl FnOnce() + Send) -> Ran {
    let failures = Arc::new(Mutex::new(Vec::new()));
    let documents = Arc::new(Mutex::new(Vec::new()));
    let seconds = Arc::new(Mutex::new(Vec::new()));
    let lost = Arc::new(Mutex::new(Vec::new()));
    let (heard, kept, second_by_second) = (Arc::clone(&failures), Arc::clone(&documents), Arc::clone(&seconds));
    let losses = Arc::clone(&lost);
    let events = Arc::new(move |event: Event| match event {
        Event::LoadFailed { error } => heard.lock().unwrap().push(error.to_string()),
        Event::Document { name, body } => kept.lock().unwrap().push((name, body)),
        Event::SessionLost(session) => losses.lock().unwrap().push(session),
        Event::Interval(second) => second_by_second.lock().unwrap().push(*second),
        _ => {}
    });
    let clock = Arc::new(RealClock(Instant::now()));
    let mut role = LoadRole::new(clock.clone(), events);
    role.open(Open { spec: Box::new(case.request.spec.clone()) }).unwrap();
    role.build(Build {}).unwrap();
    role.check_data(CheckData {}).unwrap().must_fit().unwrap();
    let facts = role.connect(Connect {}).unwrap();
    let zero = clock.now() + Duration::from_millis(100);
    role.start(Start { at: zero }).unwrap();
    std::thread::scope(|scope| {
        let meanwhile = scope.spawn(meanwhile);
        match end {
            End::After(time) => clock.sleep(time),
            End::AfterMeanwhile(time) => {
                meanwhile.join().unwrap();
                clock.sleep(time);
            }
        }
        role.mark(ReadMark {}).unwrap();
    });
    let lasted = clock.now().since(zero);
    let totals = role.stop(Stop {}).unwrap().totals;
    let checks = role.verify(Verify { totals: totals.clone() }).unwrap();
    assert_eq!(*failures.lock().unwrap(), [""; 0]);
    let documents = std::mem::take(&mut *documents.lock().unwrap());
    let seconds = std::mem::take(&mut *seconds.lock().unwrap());
    let lost = std::mem::take(&mut *lost.lock().unwrap());
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
