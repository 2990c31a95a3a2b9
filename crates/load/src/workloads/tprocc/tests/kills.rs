//! Builds whose process is killed at random instants, begun again each time, fifty times: each ends with the rows that
//! were drawn.
//!
//! The killed process is this test's own program, called again for the one test `a_build_in_a_process_of_its_own`.

use super::build::{draws, kept};
use super::case::{Case, job_at};
use crate::workload::WorkloadRun as _;
use crate::workloads::tprocc::workload_run::TproccRun;
use proofload_engine::Target;
use proofload_gen::Seed;
use proofload_model::wire::DataLocation;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the process finds what to build: `engine;folder;address`.
const ORDER: &str = "PROOFLOAD_TEST_BUILD";

const KILLS: u32 = 50;

/// Enough for several chunks to be open at once and for kills to meet every step.
const WAREHOUSES: &str = "6";

#[test]
fn a_build_in_a_process_of_its_own() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let [engine, folder, address] =
        order.split(';').map(str::to_owned).collect::<Vec<_>>().try_into().expect("three words");
    let place = DataLocation { engine, folder, url: None, settings: Vec::new(), tier: None };
    let address = (!address.is_empty()).then_some(address);
    let request = job_at(Target::new(place, address), &[("warehouses", WAREHOUSES)]);
    if let Err(error) = TproccRun::new(request).and_then(|workload_run| workload_run.build()) {
        eprintln!("{error}");
        panic!("{error}");
    }
}

fn start(target: &Target) -> Child {
    let address = target.address().unwrap_or_default();
    let order = format!("{};{};{address}", target.place.engine, target.place.folder);
    Command::new(std::env::current_exe().expect("this test's program"))
        .args(["--exact", "workloads::tprocc::tests::kills::a_build_in_a_process_of_its_own", "--nocapture"])
        .env(ORDER, order)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Builds and kills until a build comes to its end by itself; returns the number of kills.
fn build_with_kills(target: &Target, draw: &mut proofload_gen::Rng) -> u32 {
    let mut kills = 0;
    loop {
        let mut child = start(target);
        // The kills come later and later, so that the build ends at last.
        std::thread::sleep(Duration::from_micros(draw.below(30_000 + u64::from(kills) * 10_000)));
        let ended = child.try_wait().expect("it can be asked");
        if ended.is_none() {
            child.kill().expect("it is killed");
        }
        let output = child.wait_with_output().expect("it has ended");
        let Some(status) = ended else {
            kills += 1;
            continue;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(status.success(), "after {kills} kills a build that was not killed failed: {said}");
        return kills;
    }
}

fn check(engine: &str) {
    let mut draw = Seed(4711).rng();
    let (mut kills, mut builds) = (0, 0);
    while kills < KILLS {
        let Some(case) = Case::new(engine, &[("warehouses", WAREHOUSES)]) else { return };
        kills += build_with_kills(&case.request.target, &mut draw);
        builds += 1;
        assert_eq!(kept(&case), draws(&case), "{engine}, build {builds}, {kills} kills");
        case.workload_run().check_data().unwrap();
        assert!(builds < 40, "{kills} kills in {builds} builds: they end before they are killed");
    }
    eprintln!("{engine}: {kills} kills in {builds} builds, every row of each is there once");
}

#[test]
fn a_build_killed_at_random_ends_with_what_was_drawn_on_sqlite() {
    check("sqlite");
}

#[test]
fn a_build_killed_at_random_ends_with_what_was_drawn_on_postgresql() {
    check("postgresql");
}
