//! What is changed of a load while it runs: throughput follows, the data stay right, and everything is put back.

use super::case::{Case, Ran, done, failed, settings};
use proofload_load::{LoadRole, workload};
use proofload_model::intervention::{HOLD, HOT_ROWS, POOL, USERS};
use proofload_model::wire::load::{ChangeLoad, HoldUsers, LoadService as _, ReadLoad};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// More than the time after which a load begins once it was told to.
const START: Duration = Duration::from_millis(300);

/// The longest time for which a change is awaited; a held update ends within milliseconds of its own, but a thread of a busy host may stand still.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whole seconds before the change and after it.
const EACH: u64 = 4;

/// Updates that are held, by users who meet: for far longer than one takes otherwise on a busy host.
const HELD: &[(&str, &str)] = &[
    ("mix", "own"),
    ("update", "1.0"),
    ("keys", "uniform"),
    ("virtual_users", "6"),
    ("hold", "400ms"),
    ("fields", "2"),
];

/// The most that one update at a time that is held for 400 ms ends in four seconds, however fast the machine is.
const ONE: u64 = EACH * 1000 / 400 + 1;

/// The same by two updates at a time.
const TWO: u64 = 2 * ONE;

/// Commits that do not wait for the disk.
const COMMITS_AT_ONCE: &[(&str, &[(&str, &str)])] =
    &[("postgresql", &[("synchronous_commit", "off")]), ("mariadb", &[("innodb_flush_log_at_trx_commit", "0")])];

fn change(role: &mut LoadRole, values: &[(&str, f64)]) -> BTreeMap<String, f64> {
    let values = values.iter().map(|(setting, value)| ((*setting).to_owned(), *value)).collect();
    let meters = role.change_load(ChangeLoad { values }).expect("it can be changed");
    meters.into_iter().filter_map(|meter| Some((meter.setting, meter.in_force?))).collect()
}

/// Runs with the settings as asked and then changed; what ended in four seconds of each.
fn check_follows(engine: &str, more: &[(&str, &str)], changed: (&str, f64)) -> Option<(u64, u64)> {
    let (_, own) = COMMITS_AT_ONCE.iter().find(|(name, _)| *name == engine).expect("its setting is known");
    let case = Case::with_server_settings(engine, own, &[HELD, more].concat())?;
    case.build().expect("loads");
    let (mut before, mut after) = (0, 0);
    let ran: Ran = case
        .run_beside(|role| {
            let begin = Instant::now();
            std::thread::sleep(Duration::from_secs(EACH) + START);
            let asked = change(role, &[]);
            before = (begin.elapsed() - START).as_secs();
            let mut now = change(role, &[changed]);
            // A connection that is in use comes back first.
            let patience = Instant::now();
            while now[changed.0] != changed.1 && patience.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(10));
                now = change(role, &[changed]);
            }
            assert_eq!(now[changed.0], changed.1, "{now:?}");
            assert!(asked.iter().all(|(name, value)| name == changed.0 || now[name] == *value), "{asked:?} {now:?}");
            // The load may have begun up to a second before this thread went on.
            after = begin.elapsed().as_secs() + 2;
            let whole = Duration::from_secs(after + EACH) + START;
            std::thread::sleep(whole.saturating_sub(begin.elapsed()));
            assert_eq!(change(role, &[]), asked, "it is put back");
        })
        .expect("runs");
    assert_eq!(failed(&ran.checks), [""; 0], "{:?}", ran.checks);
    assert!(done(&ran, "update") > 10);
    let ended = |seconds: std::ops::Range<u64>| {
        let inside = ran.seconds.iter().filter(|second| seconds.contains(&second.index));
        inside.flat_map(|second| &second.counts).map(|counts| counts.done).sum()
    };
    Some((ended(before - EACH..before), ended(after..after + EACH)))
}

/// Tries until two at a time did more than one could, which a machine that stands still for seconds does not show.
fn check_faster(tried: impl Fn() -> Option<[u64; 2]>) {
    let mut seen = Vec::new();
    for _ in 0..8 {
        let Some([one, two]) = tried() else { return };
        seen.push([one, two]);
        assert!(one <= ONE && two <= TWO, "{seen:?}");
        if two > ONE {
            return;
        }
    }
    panic!("two at a time did no more than one: {seen:?}");
}

#[test]
fn two_rows_are_updated_faster_than_one_on_postgresql() {
    check_faster(|| {
        let (one, two) = check_follows("postgresql", &[("hot_rows", "1")], (HOT_ROWS, 2.0))?;
        Some([one, two])
    });
}

#[test]
fn users_share_two_connections_and_then_one_on_mariadb() {
    check_faster(|| {
        let (two, one) = check_follows("mariadb", &[("pool", "2")], (POOL, 1.0))?;
        Some([one, two])
    });
}

#[test]
fn transactions_are_held_longer_on_sqlite() {
    let more = [("virtual_users", "2"), ("max_retries", "1000")];
    let mut held: Vec<(&str, &str)> =
        HELD.iter().filter(|(name, _)| !["virtual_users", "hold"].contains(name)).copied().collect();
    held.extend(more);
    held.push(("hold", "40ms"));
    let case = Case::new("sqlite", &held).expect("SQLite is built in");
    case.build().expect("loads");
    let ran = case
        .run_beside(|role| {
            std::thread::sleep(Duration::from_millis(500));
            assert_eq!(change(role, &[(HOLD, 50.0)])[HOLD], 50.0);
            let error = role.change_load(ChangeLoad { values: BTreeMap::from([(POOL.to_owned(), 1.0)]) }).unwrap_err();
            assert!(error.to_string().contains("the study does not set it"), "{error}");
            assert_eq!(
                role.read_load(ReadLoad {}).expect("it is read")[0].in_force,
                Some(50.0),
                "refused, and left alone"
            );
        })
        .expect("runs");
    assert_eq!(failed(&ran.checks), [""; 0], "{:?}", ran.checks);
}

/// Waits until so many users began an operation since the count before, again and again.
fn await_active(role: &mut LoadRole, users: f64) {
    let (patience, mut seen) = (Instant::now(), Vec::new());
    while seen.len() < 3 || seen[seen.len() - 3..].iter().any(|active| *active != Some(users)) {
        assert!(patience.elapsed() < PATIENCE, "{users} never were active: {seen:?}");
        std::thread::sleep(Duration::from_millis(500));
        let meters = role.read_load(ReadLoad {}).expect("it is read");
        seen.push(meters.iter().find(|meter| meter.setting == USERS).and_then(|meter| meter.in_force));
    }
}

#[test]
fn users_that_are_held_are_not_counted_as_active() {
    let settings = [("mix", "c"), ("virtual_users", "3")];
    let case = Case::new("sqlite", &settings).expect("SQLite is built in");
    case.build().expect("loads");
    let ran = case
        .run_beside(|role| {
            await_active(role, 3.0);
            assert!(role.hold_users(HoldUsers { active: Some(2) }).expect("the load runs"));
            await_active(role, 2.0);
            assert!(role.hold_users(HoldUsers { active: None }).expect("the load runs"));
            await_active(role, 3.0);
        })
        .expect("runs");
    assert_eq!(failed(&ran.checks), [""; 0], "{:?}", ran.checks);
}

#[test]
fn what_does_not_go_together_is_refused_with_the_reason() {
    let check = |engine: &str, changes: &[(&str, &str)], setting: &str, part: &str| {
        let settings = settings(engine, changes);
        let found = (workload("ycsb").expect("it is built in").facts().contradictions)(&settings);
        let told: Vec<String> = found.iter().map(|one| format!("{one:?}")).collect();
        assert!(told.iter().any(|one| one.contains(setting) && one.contains(part)), "{engine} {changes:?}: {told:?}");
    };
    check("postgresql", &[("hot_rows", "1001")], HOT_ROWS, "1000 records");
    check("postgresql", &[("mix", "c"), ("hold", "4ms")], HOLD, "the mix has none");
    check("mongodb", &[("hold", "4ms")], HOLD, "documents");
    check("postgresql", &[("pool", "3")], POOL, "2 users");
    check("postgresql", &[("pool", "2"), ("client_threads", "2")], POOL, "one client thread");
    check("sqlite", &[("pool", "2")], POOL, "thread of its own");
}
