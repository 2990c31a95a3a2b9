//! A server that crashes under load and is started again: users come back, nothing that was acknowledged is lost,
//! and what was in flight is of unknown outcome and no more.

use super::case::{Case, failed};
use super::role::{End, Ran, Told, completed, run_through};
use super::stall::merged;
use proofload_model::samples::{CheckOutcome, IntervalSample, LatencyClock, LostSession};
use std::time::Duration;

/// The server crashes so long after the load was told to begin, which it does at most [`EARLY`] later.
const CRASH: Duration = Duration::from_secs(2);
/// The server is away for so long, and for its recovery.
const DOWN: Duration = Duration::from_millis(2500);
/// More than the time between the order to begin and time zero, seconds.
const EARLY: f64 = 0.2;
/// Sessions of a load whose users come back.
const SESSIONS: usize = 4;
/// Transactions a second of a load at a rate, few enough for any host.
const RATE: &str = "6";

/// Runs so far; the server crashes meanwhile.
fn crash(engine: &str, end: End, settings: &[(&str, &str)]) -> Option<Ran> {
    let settings = [&[("reconnect_within", "60s"), ("warehouses", "4")], settings].concat();
    let case = Case::new(engine, &settings)?;
    let crash = || {
        std::thread::sleep(CRASH);
        case.place.crash(DOWN);
    };
    Some(run_through(&case, end, crash))
}

/// Every session is back, and operations ended as they should in a later second.
fn are_back(told: &Told) -> bool {
    let returned = told.lost.iter().filter_map(|lost| Some(lost.returned?.as_seconds()));
    let last = returned.fold(0.0, f64::max);
    let is_later = |second: &&IntervalSample| second.index as f64 > last;
    told.lost.len() >= SESSIONS && told.seconds.iter().filter(is_later).any(|second| completed(second) > 0)
}

/// The same, and most of what waited for the server is done.
fn have_worked_off(told: &Told) -> bool {
    let waiting = waiting(&told.seconds);
    are_back(told) && 2 * waiting.last().copied().unwrap_or(0) < waiting.iter().copied().max().unwrap_or(0)
}

/// Operations that were due and waited at the end of each second.
fn waiting(seconds: &[IntervalSample]) -> Vec<u64> {
    seconds.iter().filter_map(|second| Some(second.client.offered?.waiting)).collect()
}

/// All users came back, and the checks of what was acknowledged hold.
#[track_caller]
fn check(ran: &Ran) {
    assert_eq!(ran.lost.len(), SESSIONS, "{:?}", ran.lost);
    let returned = |lost: &LostSession| lost.returned.expect("it came back").as_seconds();
    for lost in &ran.lost {
        let is_after_crash = lost.lost.as_seconds() > CRASH.as_secs_f64() - EARLY;
        assert!(is_after_crash && returned(lost) > (CRASH + DOWN).as_secs_f64() - EARLY, "{lost:?}");
    }
    // On a busy host a thread stands still for seconds, and its sessions notice late that the server is away. Not each of them does.
    let is_away_throughout =
        |lost: &LostSession| returned(lost) - lost.lost.as_seconds() >= DOWN.as_secs_f64() - 0.2 && lost.tries > 2;
    assert!(ran.lost.iter().any(is_away_throughout), "{:?}", ran.lost);
    // Each session failed once, in what was in flight, and none was lost twice.
    assert_eq!(ran.totals.iter().map(|counts| counts.failed).sum::<u64>(), SESSIONS as u64, "{:?}", ran.totals);
    assert_eq!(failed(&ran.checks), [""; 0], "{:#?}", ran.checks);
    for name in ["orders lost", "orders changed", "orders unasked", "new orders"] {
        let check = ran.checks.iter().find(|check| check.name == name).expect("it is checked");
        assert_eq!(check.outcome, CheckOutcome::Met, "{check:?}");
    }
    check_seconds(ran);
}

/// Nothing was done in the seconds in which every session was away.
#[track_caller]
fn check_seconds(ran: &Ran) {
    let lost = || ran.lost.iter().map(|lost| lost.lost.as_seconds());
    let (first, last) = (lost().fold(f64::MAX, f64::min), lost().fold(0.0, f64::max));
    let back = ran.lost.iter().filter_map(|lost| Some(lost.returned?.as_seconds())).fold(f64::MAX, f64::min);
    let away = last.ceil() as usize..back.floor() as usize;
    let noticed_at_once = last - first < 0.5;
    assert!(!away.is_empty() || !noticed_at_once, "{:?}", ran.lost);
    // A busy disk may leave any one second without a commit.
    let done = |second: usize| completed(&ran.seconds[second]);
    let [before, meanwhile, afterwards] =
        [0..away.start, away.clone(), away.end..ran.seconds.len()].map(|seconds| seconds.map(done).sum::<u64>());
    let told = || format!("{before}, {meanwhile} and {afterwards} operations: {:?}", ran.lost);
    assert!(before > 0 && meanwhile == 0 && afterwards > 0, "{}", told());
}

/// The longest response time, seconds.
fn longest(ran: &Ran) -> f64 {
    merged(&ran.seconds, LatencyClock::Response).max() as f64 / 1e9
}

#[test]
fn saturated_users_come_back_after_a_crash() {
    check_crashes(&[("postgresql", "statements"), ("postgresql", "procedures")]);
}

#[test]
fn saturated_users_come_back_after_a_crash_of_mariadb() {
    check_crashes(&[("mariadb", "statements"), ("mariadb", "procedures")]);
}

#[test]
#[ignore = "issue 17: a minute; run where MySQL is"]
fn saturated_users_come_back_after_a_crash_of_mysql() {
    check_crashes(&[("mysql", "statements"), ("mysql", "procedures")]);
}

fn check_crashes(ways: &[(&str, &str)]) {
    let sessions = SESSIONS.to_string();
    for (engine, form) in ways.iter().copied() {
        let settings = [("virtual_users", sessions.as_str()), ("form", form)];
        let Some(ran) = crash(engine, End::Once(are_back), &settings) else { continue };
        check(&ran);
        assert!(longest(&ran) > DOWN.as_secs_f64() - 0.2, "the outage is in a response time: {}", longest(&ran));
    }
}

#[test]
fn counters_wait_for_a_server_that_is_away_at_the_end_of_the_window() {
    // The server is still away at the end of the second in which an operation failed.
    let end = End::Once(|told| told.seconds.iter().any(|second| !second.errors.is_empty()));
    let Some(ran) = crash("postgresql", end, &[("virtual_users", "2")]) else { return };
    assert_eq!(failed(&ran.checks), [""; 0], "{:#?}", ran.checks);
    assert!(ran.seconds.len() > 4, "the load goes on while they wait: {} s", ran.seconds.len());
}

#[test]
fn users_at_a_rate_come_back_and_work_off_what_waited() {
    let sessions = SESSIONS.to_string();
    let settings = [("virtual_users", sessions.as_str()), ("rate", RATE)];
    let Some(ran) = crash("postgresql", End::Once(have_worked_off), &settings) else { return };
    assert!(!ran.lost.is_empty() && ran.lost.iter().all(|lost| lost.returned.is_some()), "{:?}", ran.lost);
    assert_eq!(failed(&ran.checks), [""; 0], "{:#?}", ran.checks);
    // Each session fails in one of those that are due first; the next one waits until a session is back.
    let outage = DOWN.as_secs_f64() - (SESSIONS + 1) as f64 / RATE.parse::<f64>().unwrap();
    assert!(longest(&ran) > outage - 0.2, "{}", longest(&ran));
    // All but those that failed and those in flight are done or, on a slow machine, still waiting, but fewer than when the server came back.
    // The load may be slow to stop, and by then nobody works off what is due.
    let whole = usize::try_from(ran.lasted.as_secs()).unwrap().min(ran.seconds.len());
    let seconds: Vec<&IntervalSample> =
        ran.seconds[..whole].iter().filter(|second| second.client.offered.is_some()).collect();
    let asked: u64 = seconds.iter().filter_map(|second| Some(second.client.offered?.due)).sum();
    let done: u64 = seconds.iter().copied().map(completed).sum();
    let waiting = waiting(&ran.seconds[..whole]);
    let (last, most) = (waiting.last().copied().unwrap_or(0), waiting.iter().copied().max().unwrap_or(0));
    assert!((asked.saturating_sub(12)..=asked).contains(&(done + last)), "{done} and {last} of {asked}");
    assert!(last < most, "what waited is worked off: {waiting:?}");
}
