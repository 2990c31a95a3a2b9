//! The whole way through the load role, as an agent goes it.

use super::case::{Case, failed};
use crate::{LoadRole, Opened as _};
use proofload_model::samples::{Check, CheckOutcome};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::{Event, LoadRequest, Reply};
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

/// Runs for a moment; returns the checks and the number of completed operations.
fn run(case: &Case) -> (Vec<Check>, u64) {
    let failures = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&failures);
    let events = Arc::new(move |event: Event| {
        if let Event::LoadFailed { error } = event {
            heard.lock().unwrap().push(error.to_string());
        }
    });
    let clock = Arc::new(RealClock(Instant::now()));
    let mut role = LoadRole::new(clock.clone(), events);
    let mut ask = |request| role.handle(request).unwrap();
    ask(LoadRequest::Open { spec: Box::new(case.job.spec.clone()) });
    ask(LoadRequest::Build);
    ask(LoadRequest::CheckData);
    ask(LoadRequest::Connect);
    ask(LoadRequest::Start { after: Duration::from_millis(10) });
    clock.sleep(Duration::from_millis(300));
    ask(LoadRequest::Mark);
    let Reply::Stopped { totals, .. } = ask(LoadRequest::Stop) else { panic!("a stop is answered") };
    let Reply::Checked(checks) = ask(LoadRequest::Verify) else { panic!("a verification is answered") };
    assert_eq!(*failures.lock().unwrap(), [""; 0]);
    assert_eq!(totals.iter().map(|counts| counts.failed).sum::<u64>(), 0);
    (checks, totals.iter().map(|counts| counts.done + counts.rolled_back).sum())
}

#[test]
fn the_null_engine_answers_everything_and_proves_nothing() {
    let case = Case::new("null", &[("warehouses", "10"), ("virtual_users", "3")]).unwrap();
    let (checks, done) = run(&case);
    assert!(done > 100, "{done}");
    assert!(checks.iter().all(|check| check.outcome == CheckOutcome::NotApplicable), "{checks:?}");
    assert_eq!(checks.len(), 5);
    assert!(case.opened().counters().unwrap().is_empty());
}

#[test]
fn a_run_on_sqlite_is_verified() {
    let case = Case::new("sqlite", &[("virtual_users", "2")]).unwrap();
    let (checks, done) = run(&case);
    assert!(done > 0);
    assert_eq!(failed(&checks), [""; 0]);
    let new_orders = case.opened().counters().unwrap();
    let acknowledged = checks.iter().find(|check| check.name == "new orders").unwrap();
    let gained = new_orders[0].1 - 2 * 10 * 31;
    assert_eq!(acknowledged.found, format!("database {gained}, acknowledged {gained}, of unknown outcome 0"));
}
