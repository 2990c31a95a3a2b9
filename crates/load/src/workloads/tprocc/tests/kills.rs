//! Builds whose process is killed at random instants, begun again each time: each ends with the rows that were drawn.
//!
//! The killed process is this test's own program, called again for the one test `a_build_in_a_process_of_its_own`.

use super::case::Case;
use crate::workload::WorkloadRun as _;
use crate::workloads::tprocc::selftest::{BUILD_CHANGES, build_apart, build_with_kills};
use proofload_engine::Target;
use proofload_gen::Seed;
use proofload_model::wire::DataLocation;
use std::process::{Child, Command, Stdio};

/// Where the process finds what to build: `engine;folder;address`.
const ORDER: &str = "PROOFLOAD_TEST_BUILD";

/// Kills in place of those that each engine has in `make test`.
const KILLS: &str = "PROOFLOAD_BUILD_KILLS";

#[test]
fn a_build_in_a_process_of_its_own() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let [engine, folder, address] =
        order.split(';').map(str::to_owned).collect::<Vec<_>>().try_into().expect("three words");
    let place = DataLocation { engine, folder, url: None, settings: Vec::new(), tier: None };
    let address = (!address.is_empty()).then_some(address);
    build_apart(proofload_engine::engine(&place.engine).unwrap(), &Target::new(place, address)).unwrap();
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

/// Kills builds on an engine so often at least.
fn check(engine: &str, kills: u32) {
    let mut draw = Seed(4711).rng();
    let wanted: u32 = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()).unwrap_or(kills);
    let (mut kills, mut builds) = (0, 0);
    while kills < wanted {
        let Some(case) = Case::new(engine, BUILD_CHANGES) else { return };
        kills += build_with_kills(&|| Ok(start(&case.request.target)), &mut draw).unwrap();
        builds += 1;
        assert_eq!(case.kept().unwrap(), case.draws(), "{engine}, build {builds}, {kills} kills");
        case.workload_run().check_data().unwrap();
        assert!(builds < wanted, "{kills} kills in {builds} builds: they end before they are killed");
    }
    eprintln!("{engine}: {kills} kills in {builds} builds, every row of each is there once");
}

#[test]
fn a_build_killed_at_random_ends_with_what_was_drawn_on_sqlite() {
    check("sqlite", 20);
}

#[test]
fn a_build_killed_at_random_ends_with_what_was_drawn_on_postgresql() {
    check("postgresql", 20);
}

/// Making a table or an index takes it longest, so fewer.
#[test]
fn a_build_killed_at_random_ends_with_what_was_drawn_on_mariadb() {
    check("mariadb", 8);
}
