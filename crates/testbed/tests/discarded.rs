//! Data that are discarded: their server ends at once and leaves nothing, and nothing is made of them until they are others.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_model::wire::host::{
    AreDiscarded, Create, Detach, Discard, FindSnapshot, LabelSnapshot, SaveSnapshot, Stop, Sweep,
};
use proofload_model::wire::{DataLocation, Event};
use std::path::Path;
use std::process::Command;
use support::{Bench, alone, of, one, restored, segments_of};

fn discard(place: &DataLocation) -> Discard {
    Discard { instance: one(), place: place.clone() }
}

fn save(place: &DataLocation) -> SaveSnapshot {
    SaveSnapshot { instance: one(), place: place.clone() }
}

fn are_discarded(place: &DataLocation) -> AreDiscarded {
    AreDiscarded { place: place.clone() }
}

#[track_caller]
fn expect_refused(error: &str) {
    assert!(error.contains("was ended at once, and its data were discarded"), "{error}");
}

#[test]
fn nothing_is_made_of_discarded_data_until_they_are_restored_or_made_anew() {
    let mut bench = Bench::new();
    let place = bench.place("sqlite", &[]);
    bench.ask(Create { instance: one(), place: place.clone() });
    let file = Path::new(&place.folder).join("data/proofload.sqlite");
    std::fs::write(&file, "rows").expect("the folder takes a file");
    bench.ask(save(&place));
    let label = || "sqlite w=1".to_owned();
    bench.ask(LabelSnapshot { place: place.clone(), label: label() });
    bench.ask(discard(&place));
    assert!(bench.ask(are_discarded(&place)));
    expect_refused(&bench.refused(save(&place)));
    assert!(bench.ask(FindSnapshot { place: place.clone(), label: label() }), "the snapshot stays");
    // An agent that comes later knows it as well.
    bench.ask(Sweep { folder: bench.folder.path().join("study").display().to_string() });
    expect_refused(&bench.refused(save(&place)));
    bench.ask(restored(one(), place.clone(), &place.folder));
    assert!(!bench.ask(are_discarded(&place)));
    bench.ask(save(&place));
    bench.ask(discard(&place));
    bench.ask(Create { instance: one(), place: place.clone() });
    assert!(!bench.ask(are_discarded(&place)) && !file.exists(), "made anew");
}

/// Whether a process runs that has not ended.
fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// A server that runs on restored data, and its first process; `None` where the engine is not installed.
fn started(engine: &str) -> Option<(Bench, DataLocation, u32)> {
    if let Err(error) = proofload_engine::engine(engine).expect("it is built in").locate() {
        println!("SKIPPED: {error}");
        return None;
    }
    let mut bench = Bench::new();
    let place = bench.place(engine, &[]);
    bench.ask(Create { instance: one(), place: place.clone() });
    bench.attach(&place);
    bench.start(&place);
    bench.ask(Stop { instance: one() });
    bench.ask(save(&place));
    bench.ask(LabelSnapshot { place: place.clone(), label: "x".to_owned() });
    let process = start(&mut bench, &place);
    Some((bench, place, process))
}

#[track_caller]
fn start(bench: &mut Bench, place: &DataLocation) -> u32 {
    let facts = bench.start(place);
    of(&facts, "instance.process").0.expect("it is told").parse().expect("a number")
}

/// Processes that work in the data folder.
fn working_in(place: &DataLocation) -> usize {
    let data = std::fs::canonicalize(Path::new(&place.folder).join("data")).expect("it is there");
    let processes = std::fs::read_dir("/proc").expect("it is mounted").flatten();
    processes.filter(|process| std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == data)).count()
}

fn check_end_at_once(engine: &str) {
    let Some((mut bench, place, process)) = started(engine) else { return };
    bench.ask(discard(&place));
    assert!(!runs(process), "{engine} has ended when this is answered");
    assert_eq!(working_in(&place), 0, "and all its processes");
    expect_refused(&bench.refused(save(&place)));
    expect_refused(&bench.refused(alone(place.clone())));
    bench.ask(Detach { instance: one() });
    assert_eq!(segments_of(process), 0, "its shared memory is freed");
    bench.attach(&place);
    expect_refused(&bench.refused(alone(place.clone())));
    bench.ask(restored(one(), place.clone(), &place.folder));
    bench.attach(&place);
    let again = start(&mut bench, &place);
    bench.ask(Stop { instance: one() });
    assert!(!runs(again));
    bench.ask(save(&place));
    let events = bench.events.lock().expect("no panic");
    assert!(
        !events.iter().any(|event| matches!(event, Event::InstanceEnded { .. })),
        "nobody is told of an end that was ordered: {events:?}"
    );
}

#[test]
fn a_server_that_is_ended_at_once_is_gone_and_its_data_are_no_snapshot() {
    check_end_at_once("postgresql");
}

#[test]
fn a_mariadb_that_is_ended_at_once_is_gone_and_its_data_are_no_snapshot() {
    check_end_at_once("mariadb");
}

/// A shell of somebody who looks at the data is no process of the server.
#[test]
fn a_process_of_others_in_the_folder_holds_no_end() {
    let Some((mut bench, place, process)) = started("postgresql") else { return };
    let data = Path::new(&place.folder).join("data");
    let mut shell = Command::new("sleep").arg("600").current_dir(data).spawn().expect("there is a sleep");
    bench.ask(discard(&place));
    let lives = shell.try_wait().expect("it is our child").is_none();
    shell.kill().expect("it is our child");
    shell.wait().expect("it is our child");
    assert!(lives, "it was not killed");
    assert_eq!(working_in(&place), 0, "nothing else works on the data when this is answered");
    bench.ask(Detach { instance: one() });
    assert_eq!(segments_of(process), 0, "its shared memory is freed");
}

#[test]
fn a_server_that_died_before_it_was_ended_at_once_is_told() {
    let Some((mut bench, place, process)) = started("postgresql") else { return };
    let killed = Command::new("kill").args(["-9", &process.to_string()]).status().expect("there is a kill");
    assert!(killed.success());
    bench.expect_event("the death", |event| matches!(event, Event::InstanceEnded { .. }));
    let error = bench.refused(discard(&place));
    assert!(error.contains("had already exited"), "{error}");
    assert!(bench.ask(are_discarded(&place)), "its data are discarded all the same");
}

#[test]
fn a_server_whose_data_are_kept_stops_cleanly() {
    let Some((mut bench, place, _)) = started("postgresql") else { return };
    bench.ask(Stop { instance: one() });
    assert!(!bench.ask(are_discarded(&place)));
    let data = Path::new(&place.folder).join("data");
    let control = std::fs::read(data.join("global/pg_control")).expect("it is there");
    // The state stands behind the identifier and the two versions; 1 is DB_SHUTDOWNED. Source: PostgreSQL's pg_control.h.
    assert_eq!(control[16..20], 1_u32.to_ne_bytes(), "a shutdown checkpoint was made");
    bench.ask(save(&place));
}
