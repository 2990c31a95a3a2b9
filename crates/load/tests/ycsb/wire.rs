//! The workload over MongoDB's wire protocol: runs, and loads on which every kind of fault falls at random.

use super::case::{Case, failed};
use super::op_msg_server::{Behaviour, Fault, Server};
use proofload_gen::{Rng, Seed};
use std::time::Duration;

/// Loads in `make test`; more by the variable of `cargo xtask loads`.
const LOADS: u64 = 40;

/// Every so many-th load has several chunks.
const LARGE_EVERY: u64 = 100;

#[test]
fn core_workloads_over_the_wire() {
    for mix in ["a", "b", "c", "d", "e", "f"] {
        let server = Server::start(Behaviour::default());
        let changes = [("mix", mix), ("operations", "600"), ("fields", "4"), ("scan_most", "20")];
        let case = Case::at_url("mongodb", server.url("db"), &changes);
        case.build().expect("loads");
        let ran = case.run(|_| {}).expect("runs");
        assert_eq!(failed(&ran.checks), [""; 0], "{mix}: {:?}", ran.checks);
        assert_eq!(ran.totals.iter().map(|counts| counts.done).sum::<u64>(), 600, "{mix}");
    }
}

/// A fault that ends a load, or one that it must put right by itself.
fn fault(draw: &mut Rng) -> Fault {
    match draw.below(7) {
        0 => Fault::Close,
        1 => Fault::ShortFrame,
        2 => Fault::WrongResponseTo,
        3 => Fault::Damaged,
        4 => Fault::RefuseEvery { every: 1 + draw.below(5) as usize, code: 112 },
        5 => Fault::Error(11_600),
        _ => Fault::Unconfirmed(64),
    }
}

/// One load under faults until it succeeds; returns how often it failed.
fn load(number: u64) -> u32 {
    let mut draw = Seed(815).of(number).rng();
    let large = number.is_multiple_of(LARGE_EVERY);
    let records = 1 + if large { 20_000 + draw.below(5_000) } else { draw.below(400) };
    let (batch, loaders) = (1 + draw.below(if large { 5_000 } else { 150 }), 1 + draw.below(4));
    let [records_text, batch, loaders] = [records, batch, loaders].map(|number| number.to_string());
    let changes = [
        ("records", records_text.as_str()),
        ("batch", &batch),
        ("loaders", &loaders),
        ("fields", "2"),
        ("field_length", "12"),
        ("operations", "5"),
    ];
    let server = Server::start(Behaviour::default());
    let case = Case::at_url("mongodb", server.url("db"), &changes);
    for _ in 0..draw.below(6) {
        // The fault falls on one of the next insertions.
        for _ in 0..draw.below(4) {
            server.fault("insert", Fault::Slow(Duration::ZERO));
        }
        server.fault("insert", fault(&mut draw));
    }
    let mut failures = 0;
    while let Err(error) = case.build() {
        failures += 1;
        assert!(failures < 50, "load {number} never ends: {error}");
        let told = case.check_data().expect_err("a load that failed is not taken for whole").to_string();
        assert!(told.contains("load again") || told.contains("load the data first"), "{told}");
    }
    assert_eq!(server.documents("db.usertable") as u64, records, "load {number}");
    let ran = case.run(|_| {}).expect("the load is complete");
    assert_eq!(failed(&ran.checks), [""; 0], "load {number}: {:?}", ran.checks);
    failures
}

#[test]
fn loads_under_faults_end_with_every_record_or_say_so() {
    let loads = std::env::var("PROOFLOAD_LOADS").ok().and_then(|text| text.parse().ok()).unwrap_or(LOADS);
    let failures: u32 = (0..loads).map(load).sum();
    assert!(u64::from(failures) > loads / 4, "{failures} failures in {loads} loads: the faults fell beside them");
}

#[test]
fn a_lost_connection_ends_the_run_where_nobody_may_come_back_and_says_so() {
    let server = Server::start(Behaviour::default());
    let case = Case::at_url("mongodb", server.url("db"), &[("operations", "500"), ("reconnect_within", "0s")]);
    case.build().expect("loads");
    // Not on an update of the self-check of client paths, which comes first where the driver is built in.
    (0..60).for_each(|_| server.fault("update", Fault::Slow(Duration::ZERO)));
    server.fault("update", Fault::Close);
    let error = case.run(|_| {}).expect_err("it is told").to_string();
    assert!(error.contains("the connection to the database was lost"), "{error}");
}
