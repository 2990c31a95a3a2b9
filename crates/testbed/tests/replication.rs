//! The host role with real PostgreSQL standbys: made from one snapshot, proved by withholding, watched, and every way out of force seen.

mod pair;
mod support;

use pair::{LONG, Pair, SHORT, bench, bench_of, until};
use proofload_engine::Target;
use proofload_model::commit_levels::CommitLevel;
use proofload_model::deployment::InstanceName;
use proofload_model::replication::{Confirmation, HeldPart, LinkAsked, ReplicationAsked, ReplicationMode};
use proofload_model::time::Moment;
use proofload_model::units::BytesPerSecond;
use proofload_model::wire::host::{
    BeginCommit, EndCommit, HoldStandby, MeasureLink, Protect, ReadReplication, SeeCommitWait, StartProbes, Stop,
    StopProbes, TimeCommits, WatchExisting,
};
use proofload_model::wire::{DataLocation, Event, ScrapeSpec};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Bench, one};

/// How far the shortest round trip may be off.
const NEAR: Duration = Duration::from_millis(3);

#[test]
fn a_commit_waits_for_what_its_mode_says() {
    use ReplicationMode::{Async, RemoteApply, RemoteFlush, RemoteWrite};
    let Some((mut bench, place)) = bench() else { return };
    for (mode, link, apply) in
        [(Async, false, false), (RemoteWrite, true, false), (RemoteFlush, true, false), (RemoteApply, true, true)]
    {
        let mut pair = Pair::start(bench, &place, mode, Confirmation::Any(1), 1);
        pair.expect(None);
        let found = (pair.waits(HeldPart::Link, link), pair.waits(HeldPart::Apply, apply));
        assert_eq!(found, (link, apply), "{mode}");
        pair.expect(None);
        let reading = pair.read();
        assert_eq!(reading.standbys.iter().map(|standby| standby.name.as_str()).collect::<Vec<_>>(), ["standby-1"]);
        bench = pair.end();
    }
}

#[test]
fn any_one_of_two_goes_on_without_the_other_and_first_one_does_not() {
    let Some((mut bench, place)) = bench() else { return };
    for (confirmation, waits) in
        [(Confirmation::Any(1), false), (Confirmation::First(1), true), (Confirmation::Any(2), true)]
    {
        let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, confirmation, 2);
        pair.expect(None);
        let first = InstanceName::standby(1);
        pair.bench.ask(HoldStandby { instance: first.clone(), part: HeldPart::Link, held: true });
        let within = if waits { SHORT } else { LONG };
        let ended = pair.bench.ask(BeginCommit { instance: one(), within });
        assert_eq!(!ended, waits, "{confirmation} with the first standby held");
        pair.bench.ask(HoldStandby { instance: first, part: HeldPart::Link, held: false });
        assert!(pair.bench.ask(EndCommit { instance: one(), within: LONG }));
        assert_eq!(pair.bench.ask(SeeCommitWait { instance: one() }), None, "no commit goes on");
        bench = pair.end();
    }
}

#[test]
fn the_number_that_must_confirm_is_told_from_one_more_and_one_less() {
    let Some((mut bench, place)) = bench() else { return };
    for (confirmation, held, waits) in [
        (Confirmation::Any(2), vec![3], false),
        (Confirmation::Any(2), vec![1, 2], true),
        (Confirmation::First(2), vec![3], false),
        (Confirmation::First(2), vec![2], true),
    ] {
        let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, confirmation, 3);
        pair.expect(None);
        let hold = |pair: &mut Pair, to: bool| {
            for number in &held {
                let instance = InstanceName::standby(*number);
                pair.bench.ask(HoldStandby { instance, part: HeldPart::Link, held: to });
            }
        };
        hold(&mut pair, true);
        let within = if waits { SHORT } else { LONG };
        let ended = pair.bench.ask(BeginCommit { instance: one(), within });
        assert_eq!(!ended, waits, "{confirmation} with {held:?} held");
        if waits {
            let listed = || pair.bench.ask(SeeCommitWait { instance: one() }) == Some(true);
            until("the server lists the commit as one that waits for a standby", listed);
        }
        hold(&mut pair, false);
        assert!(pair.bench.ask(EndCommit { instance: one(), within: LONG }));
        bench = pair.end();
    }
}

#[test]
fn a_commit_that_is_slow_for_another_reason_is_not_listed_as_one_that_waits_for_a_standby() {
    let Some((bench, place)) = bench() else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    pair.sql("CREATE SCHEMA slow");
    // In the place of the server's own, which writes the log of a test transaction.
    pair.sql(
        "CREATE FUNCTION slow.pg_logical_emit_message(boolean, text, text) RETURNS pg_lsn LANGUAGE plpgsql AS \
         'BEGIN PERFORM pg_sleep(10); RETURN pg_catalog.pg_logical_emit_message($1, $2, $3); END'",
    );
    pair.sql("ALTER ROLE proofload SET search_path = slow, pg_catalog");
    assert!(!pair.bench.ask(BeginCommit { instance: one(), within: SHORT }), "it sleeps");
    assert_eq!(pair.bench.ask(SeeCommitWait { instance: one() }), Some(false));
    assert!(pair.bench.ask(EndCommit { instance: one(), within: LONG }));
    pair.end();
}

#[test]
fn settings_that_were_emptied_and_restored_between_two_readings_are_seen() {
    let Some((bench, place)) = bench() else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    assert!(!pair.read().unprotected);
    for statement in [
        "ALTER SYSTEM SET synchronous_standby_names = ''",
        "SELECT pg_reload_conf()",
        "ALTER SYSTEM RESET synchronous_standby_names",
        "SELECT pg_reload_conf()",
    ] {
        pair.sql(statement);
    }
    let is_reloaded = |why: String| why.contains("settings were reloaded between two readings");
    until("the load of the settings is told", || {
        let reading = pair.read();
        reading.unprotected && reading.out_of_force.is_some_and(is_reloaded)
    });
    pair.expect(None);
    // What Proofload asks for itself is no reason: neither a change of an experiment nor a mode.
    let target = Target::new(place.clone(), Some(pair.address.clone()));
    let live = pair::postgresql().live_settings().expect("it has some");
    live.put(&target, &[("autovacuum".to_owned(), "off".to_owned())]).expect("it can be changed");
    let reading = pair.read();
    assert_eq!((reading.unprotected, reading.out_of_force), (false, None));
    let standbys = vec![InstanceName::standby(1)];
    let (mode, confirmation) = (ReplicationMode::RemoteApply, Confirmation::Any(1));
    let asked = ReplicationAsked { mode, standbys, confirmation, presented_as: Vec::new() };
    pair.bench.ask(Protect { instance: one(), asked });
    let reading = pair.read();
    assert_eq!((reading.unprotected, reading.out_of_force), (false, None));
    pair.end();
}

#[test]
fn every_way_out_of_force_is_seen_and_told_by_its_reason() {
    let Some((bench, place)) = bench() else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    for (change, undo, why) in [
        (
            "ALTER SYSTEM SET synchronous_standby_names = ''",
            "ALTER SYSTEM RESET synchronous_standby_names",
            "synchronous_standby_names is \"\"",
        ),
        (
            "ALTER SYSTEM SET synchronous_commit = local",
            "ALTER SYSTEM RESET synchronous_commit",
            "synchronous_commit is local",
        ),
        (
            "ALTER ROLE proofload SET synchronous_commit = local",
            "ALTER ROLE proofload RESET synchronous_commit",
            "a role or database overrides the level: synchronous_commit=local",
        ),
        (
            "ALTER DATABASE proofload SET synchronous_commit = off",
            "ALTER DATABASE proofload RESET synchronous_commit",
            "a role or database overrides the level: synchronous_commit=off",
        ),
    ] {
        // The change itself must not wait for the standby, nor must what takes it back.
        for (statement, expected) in [(change, Some(why)), (undo, None)] {
            pair.sql(statement);
            pair.sql("SELECT pg_reload_conf()");
            pair.expect(expected);
        }
    }
    let process = pair.standbys[0].1.to_string();
    assert!(Command::new("kill").args(["-9", &process]).status().expect("kill is installed").success());
    pair.expect(Some("standby-1 is not streaming"));
    pair.bench.expect_event(
        "the end of the standby",
        |event| matches!(event, Event::InstanceEnded { instance, .. } if *instance == InstanceName::standby(1)),
    );
}

#[test]
fn both_nodes_are_watched_under_their_names_and_roles_are_always_told() {
    let Some((bench, place)) = bench() else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteApply, Confirmation::Any(1), 1);
    pair.expect(None);
    pair.probed(&place, |pair| {
        pair.told(one(), "threads", "role", "walsender");
        pair.told(one(), "threads", "role", "checkpointer");
        pair.told(InstanceName::standby(1), "threads", "role", "walreceiver");
        pair.told(InstanceName::standby(1), "threads", "role", "startup");
        pair.told(one(), "cores", "busy", "0");
        pair.told(one(), "replication", "out_of_force", "");
        pair.told(one(), "replication", "unapplied", "standby-1");
        pair.told(one(), "replication", "lag", "standby-1");
    });
    let once = ["replication", "cores", "foreign", "pressure"];
    let twice = |event: &Event| matches!(event, Event::Telemetry(told) if told.instance.is_standby() && once.contains(&told.probe.as_str()));
    assert!(!pair.bench.events.lock().expect("no panic").iter().any(twice), "the host is watched once");
}

/// Measures the link of the standby: no trip is shorter than it should be, and one is not longer, as soon as the host lets it.
#[track_caller]
fn check_link(pair: &mut Pair, rtt: Duration) {
    let mut shortest = Duration::MAX;
    for _ in 0..20 {
        let found = pair.bench.ask(MeasureLink { instance: InstanceName::standby(1), count: 10 });
        assert!(found.round_trips.iter().all(|trip| *trip >= rtt - NEAR), "{found:?}");
        assert!(found.bandwidth.is_some_and(|rate| rate.0 <= 20_500_000), "{found:?}");
        shortest = found.round_trips.into_iter().fold(shortest, Duration::min);
        if shortest < rtt + NEAR {
            return;
        }
    }
    panic!("no round trip is shorter than {shortest:?}");
}

#[test]
fn a_standby_behind_a_relay_confirms_after_its_round_trip_and_is_held_by_it() {
    let Some((bench, place)) = bench() else { return };
    let link = LinkAsked { rtt: Duration::from_millis(60), bandwidth: Some(BytesPerSecond(20_000_000)) };
    let asked = (ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    let mut pair = Pair::start_through(Some(link), bench, &place, asked);
    pair.expect(None);
    check_link(&mut pair, link.rtt);
    let begun = Instant::now();
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }));
    assert!(begun.elapsed() >= link.rtt - NEAR, "a commit that took {:?}", begun.elapsed());
    assert!(pair.waits(HeldPart::Link, true));
    assert!(!pair.waits(HeldPart::Apply, false));
    pair.expect(None);
    let folder = format!("{}.standby-1/link", place.folder);
    assert_eq!(std::fs::read_dir(&folder).expect("the relay's folder").count(), 1);
    drop(pair.end());
    assert!(!std::path::Path::new(&folder).exists() || std::fs::read_dir(&folder).is_ok_and(|left| left.count() == 0));
}

#[test]
fn at_an_existing_server_each_connection_asks_for_its_mode() {
    let Some((bench, place)) = bench() else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    let existing = || InstanceName::new("existing");
    let facet = pair::postgresql().existing_replication().expect("it has one");
    let standby = InstanceName::standby(1);
    for mode in [ReplicationMode::Async, ReplicationMode::RemoteWrite, ReplicationMode::RemoteApply] {
        let settings = facet.session_settings(mode);
        let place = DataLocation { url: Some(pair.address.clone()), settings, ..place.clone() };
        let asked = ReplicationAsked {
            mode,
            standbys: vec![standby.clone()],
            confirmation: Confirmation::Any(1),
            presented_as: Vec::new(),
        };
        pair.bench.ask(WatchExisting { instance: existing(), place, asked });
        let ask = ReadReplication { instance: existing() };
        let read = |pair: &mut Pair| pair.bench.ask_until_answered(ask.clone()).out_of_force;
        assert_eq!(read(&mut pair), None, "{mode}: the server's own level is another, and its connection asks");
        pair.bench.ask(HoldStandby { instance: standby.clone(), part: HeldPart::Link, held: true });
        let within = if mode.waits() { SHORT } else { LONG };
        let ended = pair.bench.ask(BeginCommit { instance: existing(), within });
        pair.bench.ask(HoldStandby { instance: standby.clone(), part: HeldPart::Link, held: false });
        assert_eq!(ended, !mode.waits(), "{mode}");
        assert!(pair.bench.ask(EndCommit { instance: existing(), within: LONG }));
    }
    pair.bench.ask(Stop { instance: standby });
    let begun = Instant::now();
    let ask = ReadReplication { instance: existing() };
    let gone = |pair: &mut Pair| pair.bench.ask_until_answered(ask.clone()).out_of_force;
    while gone(&mut pair).is_none_or(|why| !why.contains("0 standbys are streaming")) {
        assert!(begun.elapsed() < LONG, "a standby that is gone is seen");
    }
    pair.end();
}

#[test]
fn commits_cost_what_they_wait_for() {
    // A flush beside other tests takes longer than the link, and no two take the same time; without flushes the link is left.
    let Some((bench, place)) = bench_of("postgresql", &[("shared_buffers", "16MB"), ("fsync", "off")]) else { return };
    let link = LinkAsked { rtt: Duration::from_millis(40), bandwidth: None };
    let asked = (ReplicationMode::RemoteApply, Confirmation::Any(1), 1);
    let mut pair = Pair::start_through(Some(link), bench, &place, asked);
    pair.expect(None);
    let log_end = |pair: &mut Pair| pair.read().log_end.expect("it is told").0;
    let before = log_end(&mut pair);
    let levels: Vec<CommitLevel> = CommitLevel::ALL.repeat(8);
    let times = pair.bench.ask(TimeCommits { instance: one(), levels: levels.clone(), within: LONG });
    assert_eq!(times.len(), levels.len());
    let shortest = |level: CommitLevel| {
        levels
            .iter()
            .zip(&times)
            .filter(|(one, _)| **one == level)
            .map(|(_, time)| *time)
            .min()
            .expect("eight were asked")
    };
    for level in CommitLevel::ALL {
        let waits = !matches!(level, CommitLevel::Off | CommitLevel::Local);
        assert_eq!(shortest(level) >= link.rtt - NEAR, waits, "{level:?} of {levels:?}: {times:?}");
    }
    let written = log_end(&mut pair) - before;
    assert!(written > 40 * 4000, "each left a message in the log: {written} bytes");
    // Where the host stands still for as long, it is over before the first has ended.
    let mut counts = Vec::new();
    while counts.last().is_none_or(|count| *count == 0) {
        let ask = TimeCommits { instance: one(), levels: levels.clone(), within: Duration::from_millis(100) };
        counts.push(pair.bench.ask(ask).len());
        assert!(counts.len() < 10 && counts.last() < Some(&40), "{counts:?} commits in 100 ms");
    }
}

#[test]
fn sessions_that_wait_for_a_standby_are_seen_and_observers_are_not() {
    let Some((bench, place)) = bench() else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    let (origin, scraped) = (pair.bench.clock.now(), ScrapeSpec::default());
    pair.bench.ask(StartProbes { instance: one(), origin, place, pid: None, scraped, session_looks: 20 });
    pair.hold(HeldPart::Link, true);
    let waiting = pair.spawn_sql("SELECT pg_logical_emit_message(true, 'proofload', 'a test')");
    let seen = |sessions: std::ops::Range<f64>, state: &'static str| {
        move |event: &Event| {
            matches!(event, Event::Telemetry(told) if told.probe == "sessions"
                && told.readings.iter().any(|one| one.component == state && sessions.contains(&one.value))
                && told.readings.iter().filter(|one| one.name == "state").map(|one| one.value).sum::<f64>() < 1.01)
        }
    };
    pair.bench.expect_event("a session that waits for a standby all the time", seen(0.99..1.01, "standby"));
    pair.bench.expect_event("what the looks cost", |event| {
        matches!(event, Event::Telemetry(told) if told.readings.iter().any(|one| one.name == "cost" && one.value > 0.0))
    });
    pair.hold(HeldPart::Link, false);
    let ended = waiting.wait_with_output().expect("it ends");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    pair.bench.ask(StopProbes { instance: one() });
}

/// A group whose processes have next to no CPU time; they are let go when it is dropped.
struct StarvedGroup(PathBuf);

impl StarvedGroup {
    /// `None` where groups of CPU time cannot be made so.
    fn of(process: u32) -> Option<Self> {
        let folder = PathBuf::from(format!("/sys/fs/cgroup/cpu/proofload-test-{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        let write = |file: &str, text: String| std::fs::write(group.0.join(file), text).ok();
        write("cpu.cfs_period_us", "500000".to_owned())?;
        write("cpu.cfs_quota_us", "1000".to_owned())?;
        write("cgroup.procs", process.to_string())?;
        Some(group)
    }
}

impl Drop for StarvedGroup {
    fn drop(&mut self) {
        let members = std::fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        for process in members.lines() {
            let _moved = std::fs::write("/sys/fs/cgroup/cpu/cgroup.procs", process);
        }
        let _removed = std::fs::remove_dir(&self.0);
    }
}

/// The role that has no CPU time.
const STARVED: &str = "walreceiver of standby-1";

/// Time in which threads of a role had a processor or waited for one, % of a core, by second and role.
type RolesBySecond = BTreeMap<u64, BTreeMap<String, f64>>;

fn roles_by_second(bench: &Bench, origin: Moment) -> RolesBySecond {
    let mut seconds = RolesBySecond::new();
    for event in bench.events.lock().expect("no panic").iter() {
        let Event::Telemetry(told) = event else { continue };
        let roles = told.readings.iter().filter(|one| ["role", "role_wait"].contains(&one.name.as_str()));
        for reading in roles.filter(|one| !one.component.starts_with("proofload")) {
            let second = seconds.entry(told.moment.since(origin).as_secs()).or_default();
            *second.entry(format!("{} of {}", reading.component, told.instance)).or_default() += reading.value;
        }
    }
    seconds
}

/// The same, once so many seconds tell of the role that has no CPU time; a host that pauses leaves some out.
fn roles_in_seconds(count: usize, bench: &Bench, origin: Moment) -> RolesBySecond {
    let begun = Instant::now();
    loop {
        let seconds = roles_by_second(bench, origin);
        if seconds.values().filter(|roles| roles.contains_key(STARVED)).count() >= count {
            return seconds.into_iter().filter(|(_, roles)| roles.contains_key(STARVED)).collect();
        }
        assert!(begun.elapsed() < 2 * LONG, "{seconds:?}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn a_single_thread_without_cpu_time_is_told_from_all_others() {
    // A thread that waits for a disk that others write to has no work; without flushes it waits for CPU time alone.
    let Some((bench, place)) = bench_of("postgresql", &[("shared_buffers", "16MB"), ("fsync", "off")]) else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    let receiver = pair.child(pair.standbys[0].1, "walreceiver");
    let Some(starved) = StarvedGroup::of(receiver) else {
        println!("SKIPPED: no group of CPU time can be made");
        return;
    };
    let commits = "SELECT pg_logical_emit_message(true, 'proofload', repeat('x', 4000));\n".repeat(20_000);
    let mut load = pair.spawn_script(&commits);
    let origin = pair.bench.clock.now();
    for instance in [one(), InstanceName::standby(1)] {
        let (place, scraped) = (place.clone(), ScrapeSpec::default());
        pair.bench.ask(StartProbes { instance, origin, place, pid: None, scraped, session_looks: 0 });
    }
    let seconds = roles_in_seconds(10, &pair.bench, origin);
    drop(starved);
    let _ended = load.kill().and_then(|()| load.wait());
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (role, busy) in seconds.values().flatten() {
        *sums.entry(role.as_str()).or_default() += *busy;
    }
    assert!(sums.values().all(|sum| *sum <= sums[STARVED]), "{sums:?} of {seconds:?}");
    let named = seconds.values().filter(|roles| roles.values().all(|busy| *busy <= roles[STARVED])).count();
    assert!(named * 3 >= seconds.len() * 2, "{named} of {}: {seconds:?}", seconds.len());
    let busy = sums[STARVED] / seconds.len() as f64;
    assert!(busy > 75.0, "it had work {busy} % of the time: {seconds:?}");
    println!("named first in {named} of {} seconds, with work {busy:.1} % of the time", seconds.len());
}
