//! The host role with real MariaDB standbys: made from one snapshot, proved by withholding, watched, every way out of force seen, and promoted.

mod pair;
mod support;

use pair::{LONG, Pair, SHORT, bench_of};
use proofload_engine::{Session as _, Target, Value};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::FaultKind;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::replication::{Confirmation, HeldPart, LinkAsked, ReplicationAsked, ReplicationMode};
use proofload_model::session_state::{SessionSample, SessionState};
use proofload_model::wire::host::{
    BeginCommit, EndCommit, EndFaulty, Follow, IsFenced, MakeFault, Promote, Protect, ReadReceived, ReadReplication,
    StartProbes, StopProbes,
};
use proofload_model::wire::{DataLocation, Event, ScrapeSpec};
use std::time::{Duration, Instant};
use support::{Bench, one};

const SETTINGS: &[(&str, &str)] =
    &[("innodb_buffer_pool_size", "24MiB"), ("innodb_log_file_size", "16MiB"), ("max_connections", "40")];

fn bench() -> Option<(Bench, DataLocation)> {
    bench_of("mariadb", SETTINGS)
}

/// Runs statements at an instance; the first number of the last query, if it is one.
#[track_caller]
fn at(place: &DataLocation, address: &str, statements: &[&str]) -> Option<i64> {
    let engine = proofload_engine::engine("mariadb").expect("it is built in");
    let target = Target::new(place.clone(), Some(address.to_owned()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut session = engine.connect(&target).await.unwrap_or_else(|error| panic!("{error}"));
        let mut found = None;
        for statement in statements {
            if statement.starts_with("SELECT") {
                let rows = session.query(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
                found = rows.first().and_then(|row| row.first()).map(|value| match value.as_value() {
                    Value::Integer(number) => number,
                    other => panic!("{statement}: {other:?}"),
                });
            } else {
                session.script(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
            }
        }
        found
    })
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Bytes that the primary's standby has not applied; `None` while it does not answer.
fn unapplied(pair: &mut Pair) -> Option<u64> {
    let reading = pair.read();
    let [standby] = &reading.standbys[..] else { return None };
    assert_eq!(standby.name.as_str(), "standby-1");
    reading.log_end.filter(|end| end.0 > 0).map(|_| standby.unapplied.0)
}

#[test]
fn a_commit_waits_for_what_its_mode_says_and_async_loses_what_was_not_sent() {
    let Some((bench, place)) = bench() else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }), "nothing is held");
    assert_eq!((pair.waits(HeldPart::Link), pair.waits(HeldPart::Apply)), (true, false));
    pair.expect(None);
    until("the standby has applied everything", || unapplied(&mut pair) == Some(0));
    threads_tell_their_roles(&mut pair, &place);
    a_session_that_waits_is_told(&mut pair, &place);

    let mut pair = Pair::start(pair.end(), &place, ReplicationMode::Async, Confirmation::Any(1), 1);
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }), "nothing is held");
    assert_eq!((pair.waits(HeldPart::Link), pair.waits(HeldPart::Apply)), (false, false));
    at(&place, &pair.address, &["CREATE TABLE t (n int PRIMARY KEY)", "INSERT INTO t SELECT seq FROM seq_1_to_100"]);
    until("the standby has applied everything", || unapplied(&mut pair) == Some(0));
    let standby = pair.standby_addresses[0].clone();
    at(&place, &standby, &["STOP SLAVE IO_THREAD"]);
    at(
        &place,
        &pair.address,
        &["INSERT INTO t VALUES (101)", "INSERT INTO t VALUES (102)", "INSERT INTO t VALUES (103)"],
    );
    pair.bench.ask(MakeFault { instance: one(), kind: FaultKind::Crash, strength: FaultStrength::Whole });
    until("the primary is fenced", || pair.bench.ask(IsFenced { instance: one() }));
    pair.bench.ask(Promote { instance: InstanceName::standby(1) });
    assert_eq!(at(&place, &standby, &["SELECT count(*) FROM t"]), Some(100), "three acknowledged rows were not sent");
    pair.bench.ask(EndFaulty { instance: one() });
    pair.end();
}

fn threads_tell_their_roles(pair: &mut Pair, place: &DataLocation) {
    let origin = pair.bench.clock.now();
    for instance in [one(), InstanceName::standby(1)] {
        let scraped = ScrapeSpec::default();
        pair.bench.ask(StartProbes { instance, origin, place: place.clone(), pid: None, scraped, session_looks: 0 });
    }
    let told = |instance: InstanceName, probe: &'static str, name: &'static str, component: &'static str| {
        let what = format!("{probe} {name} {component} of {instance}");
        pair.bench.expect_event(&what, |event| {
            matches!(event, Event::Telemetry(told) if told.instance == instance && told.probe == probe
                && told.readings.iter().any(|one| one.name == name && one.component == component))
        });
    };
    told(one(), "threads", "role", "binlog_dump");
    told(InstanceName::standby(1), "threads", "role", "slave_io");
    told(InstanceName::standby(1), "threads", "role", "slave_sql");
    told(one(), "replication", "out_of_force", "");
    told(one(), "replication", "unapplied", "standby-1");
    for instance in [one(), InstanceName::standby(1)] {
        pair.bench.ask(StopProbes { instance });
    }
}

/// A session of the load whose commit waits is seen by who looks what sessions do.
fn a_session_that_waits_is_told(pair: &mut Pair, place: &DataLocation) {
    let address = pair.address.clone();
    at(place, &address, &["CREATE TABLE waits (n int)"]);
    pair.hold(HeldPart::Link, true);
    let engine = proofload_engine::engine("mariadb").expect("it is built in");
    let sampler = engine.session_sampler(&Target::new(place.clone(), Some(address.clone())));
    let mut sampler = sampler.expect("it can be opened").expect("it has one");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| at(place, &address, &["INSERT INTO waits VALUES (1)"]));
        let begun = Instant::now();
        let waits = |sample: &SessionSample| sample.sessions.contains(&(SessionState::Standby, 1));
        let mut seen = false;
        while !seen && begun.elapsed() < LONG {
            seen = waits(&sampler.sample().unwrap_or_else(|error| panic!("{error}")));
            std::thread::sleep(Duration::from_millis(20));
        }
        pair.hold(HeldPart::Link, false);
        writer.join().expect("it ends once the standby goes on");
        assert!(seen, "no session waits for the standby");
    });
}

#[test]
fn every_way_out_of_force_is_seen_and_told_by_its_reason() {
    let Some((bench, place)) = bench() else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }));
    let (primary, standby) = (pair.address.clone(), pair.standby_addresses[0].clone());
    for (address, change, undo, why) in [
        (&primary, "rpl_semi_sync_master_enabled = OFF", "rpl_semi_sync_master_enabled = ON", "enabled is OFF"),
        (
            &primary,
            "rpl_semi_sync_master_timeout = 10000",
            "rpl_semi_sync_master_timeout = 1000000000",
            "after which commits go on alone",
        ),
        (
            &primary,
            "rpl_semi_sync_master_wait_no_slave = OFF",
            "rpl_semi_sync_master_wait_no_slave = ON",
            "wait_no_slave is OFF",
        ),
        (&standby, "sync_relay_log = 10000", "sync_relay_log = 1", "sync_relay_log of standby-1 is 10000"),
    ] {
        for (change, expected) in [(change, Some(why)), (undo, None)] {
            at(&place, address, &[&format!("SET GLOBAL {change}")]);
            pair.expect(expected);
        }
    }
    // A fall-back that is over before anybody looks is told by the commits that nobody confirmed.
    at(&place, &primary, &["SET GLOBAL rpl_semi_sync_master_timeout = 50"]);
    pair.hold(HeldPart::Link, true);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }), "it goes on after 50 ms");
    pair.hold(HeldPart::Link, false);
    at(&place, &primary, &["SET GLOBAL rpl_semi_sync_master_timeout = 1000000000"]);
    let reading = pair.read();
    let why = reading.out_of_force.unwrap_or_default();
    assert!(why.contains("1 commits returned without") && reading.unprotected, "{why}");
    pair.expect(None);
    // A row of its own on the standby: what the primary then sends cannot be applied.
    at(&place, &primary, &["CREATE TABLE t (n int PRIMARY KEY)"]);
    until("the table is there", || {
        at(&place, &standby, &["SELECT count(*) FROM information_schema.tables WHERE table_name = 't'"]) == Some(1)
    });
    at(&place, &standby, &["SET SESSION sql_log_bin = 0; INSERT INTO t VALUES (7)"]);
    at(&place, &primary, &["INSERT INTO t VALUES (7)"]);
    pair.expect(Some("standby-1 applies no more"));
    pair.end();
}

#[test]
fn a_promoted_standby_has_all_that_was_acknowledged_and_is_protected_from_its_first_write_on() {
    let Some((bench, place)) = bench() else { return };
    let mode = ReplicationMode::RemoteFlush;
    let link = LinkAsked { rtt: Duration::from_millis(20), bandwidth: None };
    let mut pair = Pair::start_through(Some(link), bench, &place, (mode, Confirmation::Any(1), 2));
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }));
    let begun = Instant::now();
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }));
    assert!(begun.elapsed() >= Duration::from_millis(19), "a commit that took {:?}", begun.elapsed());
    assert!(pair.waits(HeldPart::Link), "the relays are held");
    at(&place, &pair.address, &["CREATE TABLE t (n int PRIMARY KEY)", "INSERT INTO t SELECT seq FROM seq_1_to_500"]);
    let (first, second) = (InstanceName::standby(1), InstanceName::standby(2));
    until("both have received it", || {
        let ends = [&first, &second].map(|name| pair.bench.ask(ReadReceived { instance: name.clone() }));
        pair.read().log_end.is_some_and(|end| ends == [end; 2])
    });
    pair.bench.ask(MakeFault { instance: one(), kind: FaultKind::Crash, strength: FaultStrength::Whole });
    until("the primary is fenced", || pair.bench.ask(IsFenced { instance: one() }));
    let confirmation = Confirmation::Any(1);
    let asked = ReplicationAsked { mode, standbys: vec![second.clone()], confirmation, presented_as: Vec::new() };
    pair.bench.ask(Protect { instance: first.clone(), asked });
    pair.bench.ask(Promote { instance: first.clone() });
    let upstream = pair.standby_addresses[0].clone();
    assert_eq!(at(&place, &upstream, &["SELECT count(*) FROM t"]), Some(500));
    assert_eq!(at(&place, &upstream, &["SELECT @@global.read_only"]), Some(0));
    // Nobody follows it yet: what is committed now must wait.
    let ended = pair.bench.ask(BeginCommit { instance: first.clone(), within: SHORT });
    assert!(!ended, "a commit ended on a promoted standby that nobody follows");
    assert!(pair.bench.ask(ReadReplication { instance: first.clone() }).out_of_force.is_some());
    let folder = format!("{}.{second}", place.folder);
    let at_second = DataLocation { folder, ..place.clone() };
    pair.bench.ask(Follow { instance: second.clone(), place: at_second, upstream, link: Some(link) });
    assert!(pair.bench.ask(EndCommit { instance: first.clone(), within: LONG }), "nobody follows");
    until("it is protected again", || {
        let seen = pair.bench.ask(ReadReplication { instance: first.clone() });
        seen.out_of_force.is_none() && !seen.unprotected
    });
    assert_eq!(at(&place, &pair.standby_addresses[1], &["SELECT count(*) FROM t"]), Some(500));
    pair.bench.ask(EndFaulty { instance: one() });
    pair.end();
}
