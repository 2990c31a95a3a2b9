//! The host role with real standbys of MariaDB and MySQL: made from one snapshot, proved by withholding, watched, every way out of force seen, and promoted.

mod pair;
mod support;

use pair::{LONG, Pair, SHORT, bench_of, until};
use proofload_engine::{Session as _, Target, Value};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::FaultKind;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::replication::{Confirmation, HeldPart, LinkAsked, ReplicationAsked, ReplicationMode};
use proofload_model::session_state::{SessionSample, SessionState};
use proofload_model::wire::DataLocation;
use proofload_model::wire::host::{
    BeginCommit, EndCommit, EndFaulty, Follow, HoldStandby, IsFenced, MakeFault, Promote, Protect, ReadReceived,
    ReadReplication, WatchExisting,
};
use std::time::{Duration, Instant};
use support::{Bench, one};

/// What a server of the family calls what is changed here.
struct Server {
    kind: &'static str,
    settings: &'static [(&'static str, &'static str)],
    waits: &'static str,
    timeout: &'static str,
    waits_unconnected: &'static str,
    stop_receiving: &'static str,
    /// Roles of threads at the primary and at a standby, where the server tells them.
    roles: Option<[&'static str; 3]>,
}

const MARIADB: Server = Server {
    kind: "mariadb",
    settings: &[("innodb_buffer_pool_size", "24MiB"), ("innodb_log_file_size", "16MiB"), ("max_connections", "40")],
    waits: "rpl_semi_sync_master_enabled",
    timeout: "rpl_semi_sync_master_timeout",
    waits_unconnected: "rpl_semi_sync_master_wait_no_slave",
    stop_receiving: "STOP SLAVE IO_THREAD",
    roles: Some(["binlog_dump", "slave_io", "slave_sql"]),
};

const MYSQL: Server = Server {
    kind: "mysql",
    settings: &[("innodb_buffer_pool_size", "24MiB"), ("innodb_redo_log_capacity", "16MiB"), ("max_connections", "40")],
    waits: "rpl_semi_sync_source_enabled",
    timeout: "rpl_semi_sync_source_timeout",
    waits_unconnected: "rpl_semi_sync_source_wait_no_replica",
    stop_receiving: "STOP REPLICA IO_THREAD",
    roles: None,
};

fn bench(server: &Server) -> Option<(Bench, DataLocation)> {
    bench_of(server.kind, server.settings)
}

/// A table of 1 to a number.
fn filled(rows: u32) -> String {
    let rows: Vec<String> = (1..=rows).map(|row| format!("({row})")).collect();
    format!("INSERT INTO t VALUES {}", rows.join(", "))
}

/// Runs statements at an instance; the first number of the last query, if it is one.
#[track_caller]
fn at(place: &DataLocation, address: &str, statements: &[&str]) -> Option<i64> {
    let engine = proofload_engine::engine(&place.engine).expect("it is built in");
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

/// Bytes that the primary's standby has not applied; `None` while it does not answer.
fn unapplied(pair: &mut Pair) -> Option<u64> {
    let reading = pair.read();
    let [standby] = &reading.standbys[..] else { return None };
    assert_eq!(standby.name.as_str(), "standby-1");
    reading.log_end.filter(|end| end.0 > 0).map(|_| standby.unapplied.0)
}

#[test]
fn a_commit_waits_for_what_its_mode_says_and_async_loses_what_was_not_sent() {
    check_modes(&MARIADB);
}

#[test]
fn a_commit_waits_for_what_its_mode_says_on_mysql() {
    check_modes(&MYSQL);
}

#[track_caller]
fn check_modes(server: &Server) {
    let Some((bench, place)) = bench(server) else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }), "nothing is held");
    assert_eq!((pair.waits(HeldPart::Link, true), pair.waits(HeldPart::Apply, false)), (true, false));
    pair.expect(None);
    until("the standby has applied everything", || unapplied(&mut pair) == Some(0));
    threads_tell_their_roles(server, &mut pair, &place);
    a_session_that_waits_is_told(&mut pair, &place);

    let mut pair = Pair::start(pair.end(), &place, ReplicationMode::Async, Confirmation::Any(1), 1);
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }), "nothing is held");
    assert_eq!((pair.waits(HeldPart::Link, false), pair.waits(HeldPart::Apply, false)), (false, false));
    at(&place, &pair.address, &["CREATE TABLE t (n int PRIMARY KEY)", &filled(100)]);
    until("the standby has applied everything", || unapplied(&mut pair) == Some(0));
    let standby = pair.standby_addresses[0].clone();
    at(&place, &standby, &[server.stop_receiving]);
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

#[test]
fn commits_of_mysql_wait_for_as_many_standbys_as_asked() {
    let Some((bench, place)) = bench(&MYSQL) else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteWrite, Confirmation::Any(2), 2);
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }), "nothing is held");
    let second = || InstanceName::standby(2);
    pair.bench.ask(HoldStandby { instance: second(), part: HeldPart::Link, held: true });
    assert!(!pair.bench.ask(BeginCommit { instance: one(), within: SHORT }), "a commit that one of two confirmed");
    pair.bench.ask(HoldStandby { instance: second(), part: HeldPart::Link, held: false });
    assert!(pair.bench.ask(EndCommit { instance: one(), within: LONG }));
    at(&place, &pair.address, &["SET GLOBAL rpl_semi_sync_source_wait_for_replica_count = 1"]);
    pair.expect(Some("wait_for_replica_count is 1, but any 2 needs 2"));
    pair.end();
}

/// What an existing server of others is asked: a connection asks for nothing, a timeout of theirs is no reason, and a commit that went on after it is
/// told.
fn an_existing_server_keeps_its_settings(server: &Server, pair: &mut Pair, place: &DataLocation) {
    let existing = || InstanceName::new("existing");
    let engine = proofload_engine::engine(server.kind).expect("it is built in");
    let facet = engine.existing_replication().expect("it has one");
    assert!(facet.session_settings(ReplicationMode::RemoteWrite).is_empty());
    let read = |pair: &mut Pair, mode, standbys: u32| {
        let standbys = (1..=standbys).map(InstanceName::standby).collect();
        let asked = ReplicationAsked { mode, standbys, confirmation: Confirmation::Any(1), presented_as: Vec::new() };
        let place = DataLocation { url: Some(pair.address.clone()), ..place.clone() };
        pair.bench.ask(WatchExisting { instance: existing(), place, asked });
        pair.bench.ask_until_answered(ReadReplication { instance: existing() }).out_of_force.unwrap_or_default()
    };
    let primary = pair.address.clone();
    at(place, &primary, &[&format!("SET GLOBAL {} = 50", server.timeout)]);
    assert!(read(pair, ReplicationMode::Async, 1).contains("async needs OFF"));
    assert!(read(pair, ReplicationMode::RemoteWrite, 2).contains("1 standbys are connected"));
    assert_eq!(read(pair, ReplicationMode::RemoteWrite, 1), "");
    pair.hold(HeldPart::Link, true);
    assert!(pair.bench.ask(BeginCommit { instance: existing(), within: LONG }), "it goes on after 50 ms");
    pair.hold(HeldPart::Link, false);
    let found = pair.bench.ask_until_answered(ReadReplication { instance: existing() });
    let found = found.out_of_force.unwrap_or_default();
    assert!(found.contains("commits returned without a standby's confirmation"), "{found}");
    at(place, &primary, &[&format!("SET GLOBAL {} = 1000000000", server.timeout)]);
    let again = pair.read().out_of_force.unwrap_or_default();
    assert!(again.contains("commits returned without"), "{again}");
}

fn threads_tell_their_roles(server: &Server, pair: &mut Pair, place: &DataLocation) {
    pair.probed(place, |pair| {
        if let Some([dump, receiver, applier]) = server.roles {
            pair.told(one(), "threads", "role", dump);
            pair.told(InstanceName::standby(1), "threads", "role", receiver);
            pair.told(InstanceName::standby(1), "threads", "role", applier);
        }
        pair.told(one(), "replication", "out_of_force", "");
        pair.told(one(), "replication", "unapplied", "standby-1");
        pair.told(one(), "replication", "lag", "standby-1");
    });
}

/// A session of the load whose commit waits is seen by who looks what sessions do.
fn a_session_that_waits_is_told(pair: &mut Pair, place: &DataLocation) {
    let address = pair.address.clone();
    at(place, &address, &["CREATE TABLE waits (n int)"]);
    pair.hold(HeldPart::Link, true);
    let engine = proofload_engine::engine(&place.engine).expect("it is built in");
    let sampler = engine.session_sampler(&Target::new(place.clone(), Some(address.clone())));
    let mut sampler = sampler.expect("it can be opened").expect("it has one");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| at(place, &address, &["INSERT INTO waits VALUES (1)"]));
        let begun = Instant::now();
        let waits = |sample: &SessionSample| sample.sessions.contains(&(SessionState::Standby, 1));
        let mut seen = false;
        while !seen && begun.elapsed() < LONG {
            // A look that fails must not end this thread: the writer waits until the link is let go.
            seen = sampler.sample().is_ok_and(|sample| waits(&sample));
            std::thread::sleep(Duration::from_millis(20));
        }
        pair.hold(HeldPart::Link, false);
        writer.join().expect("it ends once the standby goes on");
        assert!(seen, "no session waits for the standby");
    });
}

#[test]
fn every_way_out_of_force_is_seen_and_told_by_its_reason() {
    check_ways_out(&MARIADB);
}

#[test]
fn every_way_out_of_force_is_seen_and_told_by_its_reason_on_mysql() {
    check_ways_out(&MYSQL);
}

#[track_caller]
fn check_ways_out(server: &Server) {
    let Some((bench, place)) = bench(server) else { return };
    let mut pair = Pair::start(bench, &place, ReplicationMode::RemoteFlush, Confirmation::Any(1), 1);
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }));
    let (primary, standby) = (pair.address.clone(), pair.standby_addresses[0].clone());
    let Server { waits, timeout, waits_unconnected, .. } = server;
    for (address, name, changed, usual, why) in [
        (&primary, waits, "OFF", "ON", "enabled is OFF"),
        (&primary, timeout, "10000", "1000000000", "after which commits go on alone"),
        (&primary, waits_unconnected, "OFF", "ON", "is OFF: commits go on"),
        (&standby, &"sync_relay_log", "10000", "1", "sync_relay_log of standby-1 is 10000"),
    ] {
        for (value, expected) in [(changed, Some(why)), (usual, None)] {
            at(&place, address, &[&format!("SET GLOBAL {name} = {value}")]);
            pair.expect(expected);
        }
    }
    an_existing_server_keeps_its_settings(server, &mut pair, &place);
    pair.expect(None);
    // A fall-back that is over before anybody looks is told by the commits that nobody confirmed.
    at(&place, &primary, &[&format!("SET GLOBAL {timeout} = 50")]);
    pair.hold(HeldPart::Link, true);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }), "it goes on after 50 ms");
    pair.hold(HeldPart::Link, false);
    at(&place, &primary, &[&format!("SET GLOBAL {timeout} = 1000000000")]);
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
    check_promotion(&MARIADB);
}

#[test]
fn a_promoted_standby_of_mysql_is_protected_from_its_first_write_on() {
    check_promotion(&MYSQL);
}

#[track_caller]
fn check_promotion(server: &Server) {
    let Some((bench, place)) = bench(server) else { return };
    let mode = ReplicationMode::RemoteFlush;
    let link = LinkAsked { rtt: Duration::from_millis(20), bandwidth: None };
    let mut pair = Pair::start_through(Some(link), bench, &place, (mode, Confirmation::Any(1), 2));
    pair.expect(None);
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }));
    let begun = Instant::now();
    assert!(pair.bench.ask(BeginCommit { instance: one(), within: LONG }));
    assert!(begun.elapsed() >= Duration::from_millis(19), "a commit that took {:?}", begun.elapsed());
    assert!(pair.waits(HeldPart::Link, true), "the relays are held");
    at(&place, &pair.address, &["CREATE TABLE t (n int PRIMARY KEY)", &filled(500)]);
    let (first, second) = (InstanceName::standby(1), InstanceName::standby(2));
    until("both have received it", || {
        let ask = |name: &InstanceName| ReadReceived { instance: name.clone() };
        let ends = [&first, &second].map(|name| pair.bench.ask_until_answered(ask(name)));
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
    assert!(pair.bench.ask_until_answered(ReadReplication { instance: first.clone() }).out_of_force.is_some());
    let folder = format!("{}.{second}", place.folder);
    let at_second = DataLocation { folder, ..place.clone() };
    pair.bench.ask(Follow { instance: second.clone(), place: at_second, upstream, link: Some(link) });
    assert!(pair.bench.ask(EndCommit { instance: first.clone(), within: LONG }), "nobody follows");
    until("it is protected again", || {
        let seen = pair.bench.ask_until_answered(ReadReplication { instance: first.clone() });
        seen.out_of_force.is_none() && !seen.unprotected
    });
    assert_eq!(at(&place, &pair.standby_addresses[1], &["SELECT count(*) FROM t"]), Some(500));
    pair.bench.ask(EndFaulty { instance: one() });
    pair.end();
}
