//! Losses planted on real PostgreSQL servers: the link is held, k writes are acknowledged, the primary crashes, and the promoted standby lacks
//! exactly these. `PROOFLOAD_PLANTED_LOSSES` says how often.

mod pair;
mod support;

use pair::{Pair, bench};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::FaultKind;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::replication::{Confirmation, HeldPart, LinkAsked, ReplicationMode};
use proofload_model::wire::DataLocation;
use proofload_model::wire::host::{EndFaulty, HoldStandby, MakeFault, Promote};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{Bench, one};

fn psql(address: &str) -> Command {
    let (host, rest) = address.split_once("' port=").expect("an address of a socket");
    let port = rest.split(' ').next().expect("a port");
    let mut command = Command::new("psql");
    command.args(["-h", host.trim_start_matches("host='"), "-p", port, "-U", "proofload", "-d", "proofload"]);
    command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
    command
}

fn numbers(address: &str) -> BTreeSet<u32> {
    let done = psql(address).args(["-c", "SELECT op FROM kept"]).output().expect("psql is installed");
    let told = String::from_utf8(done.stdout).expect("numbers");
    told.lines().map(|line| line.trim().parse().expect("a number")).collect()
}

/// Writes numbers, each in a commit of its own, and waits for every acknowledgement.
fn write(address: &str, numbers: std::ops::Range<u32>) {
    let mut child = psql(address).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("psql is installed");
    let mut to = child.stdin.take().expect("a pipe");
    for number in numbers {
        writeln!(to, "INSERT INTO kept VALUES ({number});").expect("psql reads");
    }
    drop(to);
    assert!(child.wait().expect("psql ends").success(), "a write was not acknowledged");
}

/// Plants one loss; the bench, for the next.
fn plant(bench: Bench, place: &DataLocation, planted: u32) -> Bench {
    let link = Some(LinkAsked { rtt: Duration::ZERO, bandwidth: None });
    let mut pair = Pair::start_through(link, bench, place, (ReplicationMode::Async, Confirmation::Any(1), 1));
    pair.expect(None);
    let standby = InstanceName::standby(1);
    pair.sql("CREATE TABLE kept (op int PRIMARY KEY)");
    write(&pair.address, 0..50);
    let begun = Instant::now();
    while numbers(&pair.standby_address(place)).len() < 50 {
        assert!(begun.elapsed() < pair::LONG, "the standby does not follow");
        std::thread::sleep(Duration::from_millis(20));
    }
    pair.bench.ask(HoldStandby { instance: standby.clone(), part: HeldPart::Link, held: true });
    write(&pair.address, 50..50 + planted);
    let acknowledged: BTreeSet<u32> = (0..50 + planted).collect();
    assert_eq!(numbers(&pair.address), acknowledged);
    pair.bench.ask(MakeFault { instance: one(), kind: FaultKind::Crash, strength: FaultStrength::Whole });
    pair.bench.ask(Promote { instance: standby });
    let lost: Vec<u32> = acknowledged.difference(&numbers(&pair.standby_address(place))).copied().collect();
    assert_eq!(lost, (50..50 + planted).collect::<Vec<u32>>(), "{planted} were planted");
    pair.bench.ask(EndFaulty { instance: one() });
    pair.end()
}

#[test]
fn what_was_acknowledged_while_the_link_was_held_is_lost_and_nothing_else() {
    let times: u32 = std::env::var("PROOFLOAD_PLANTED_LOSSES").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let Some((mut bench, place)) = bench() else { return };
    for number in 0..times {
        bench = plant(bench, &place, 1 + number * 7 % 60);
    }
    println!("{times} of {times} planted losses were counted exactly");
}
