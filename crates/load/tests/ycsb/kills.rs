//! Loads that are killed: the process is ended at a random instant, the load begun again, until it ends. Then every
//! record is there, or the load has said that it is not.
//!
//! The killed process is this test's own program, called again for the one test `a_load_in_a_process_of_its_own`.

use super::case::{Case, failed};
use proofload_gen::Seed;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the process finds its folder and what to load: `folder;records;batch`.
const ORDER: &str = "PROOFLOAD_TEST_LOAD";

/// Loads in `make test`; more by this variable, as `cargo xtask loads` does.
const LOADS: &str = "PROOFLOAD_LOADS";

#[test]
fn a_load_in_a_process_of_its_own() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let [folder, records, batch] = order.split(';').collect::<Vec<_>>()[..] else { panic!("{order}") };
    let case = Case::in_folder(folder.as_ref(), &[("records", records), ("batch", batch), ("fields", "2")]);
    if let Err(error) = case.build() {
        panic!("{error}");
    }
}

fn start(order: &str) -> Child {
    Command::new(std::env::current_exe().expect("this test's program"))
        .args(["--exact", "kills::a_load_in_a_process_of_its_own"])
        .env(ORDER, order)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// Starts and kills until a load comes to its end by itself; returns the number of kills.
fn load_with_kills(order: &str, draw: &mut proofload_gen::Rng) -> u32 {
    let mut kills = 0;
    let mut latest = 20_000;
    loop {
        let mut child = start(order);
        let wait = Duration::from_micros(draw.below(latest));
        // The kills come later and later, so that the load ends at last, also on a slow host.
        latest += latest / 4;
        std::thread::sleep(wait);
        if let Some(status) = child.try_wait().expect("it can be asked") {
            assert!(status.success(), "a load that was not killed failed: {order}");
            return kills;
        }
        child.kill().expect("it is killed");
        child.wait().expect("it has ended");
        kills += 1;
    }
}

#[test]
fn killed_loads_end_with_every_record() {
    let loads: u64 = std::env::var(LOADS).ok().and_then(|text| text.parse().ok()).unwrap_or(15);
    let mut kills = 0;
    for load in 0..loads {
        let mut draw = Seed(4711).of(load).rng();
        let (records, batch) = (1 + draw.below(12_000), 1 + draw.below(1_000));
        let folder = tempfile::tempdir().expect("a temporary folder");
        kills += load_with_kills(&format!("{};{records};{batch}", folder.path().display()), &mut draw);
        let (records, batch) = (records.to_string(), batch.to_string());
        let changes = [("records", records.as_str()), ("batch", &batch), ("fields", "2"), ("operations", "5")];
        let ran = Case::in_folder(folder.path(), &changes).run(|_| {}).expect("the load is complete");
        assert_eq!(failed(&ran.checks), [""; 0], "load {load}: {:?}", ran.checks);
    }
    assert!(u64::from(kills) >= loads, "{kills} kills in {loads} loads: most loads were never killed");
    eprintln!("{loads} loads, {kills} kills: every record of each is there");
}
