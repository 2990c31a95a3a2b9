//! `selftest`: on instances of its own, on servers by URL in a database of its own, after a kill, and its sealed result.
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

/// A server of MongoDB's wire protocol in this process, with faults on command.
#[path = "../../engine/tests/support/op_msg_server/mod.rs"]
mod op_msg_server;
/// The conformance suite's places: a started server.
#[path = "../../engine/tests/support/mod.rs"]
mod places;
mod support;

use op_msg_server::{Behaviour, Fault, Server};
use places::{Place, Special};
use proofload_engine::{Engine, ScratchState, engine};
use proofload_load::selftest::Ground;
use serde_json::Value as Json;
use std::path::PathBuf;
use std::process::Output;
use support::waiting::wait_beside;
use support::{Bench, text};

const NAME: &str = "proofload_selftest";

/// An engine that is here; without it a test is skipped, visibly, unless it is required.
fn here(name: &str) -> Option<&'static dyn Engine> {
    let of_name = engine(name).expect("it is built in");
    if of_name.locate().is_ok() {
        return Some(of_name);
    }
    assert!(std::env::var_os(format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase())).is_none(), "{name} is required");
    println!("SKIPPED: {name} is not here");
    None
}

fn result(bench: &Bench, file: &str) -> Json {
    serde_json::from_str(&std::fs::read_to_string(bench.path(file)).expect("a result")).expect("JSON")
}

/// Names of steps with an outcome.
fn steps(document: &Json, outcome: &str) -> Vec<String> {
    let steps = document["steps"].as_array().expect("steps");
    let of_outcome = steps.iter().filter(|step| step["outcome"] == outcome);
    of_outcome.map(|step| step["name"].as_str().expect("a name").to_owned()).collect()
}

#[track_caller]
fn expect_passed(bench: &Bench, output: &Output, skipped: &[&str]) {
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    let document = result(bench, "selftest.json");
    assert!(text(&output.stdout).starts_with("passed: "), "{}", text(&output.stdout));
    assert_eq!(steps(&document, "failed"), [""; 0]);
    assert_eq!(steps(&document, "skipped"), skipped);
    assert!(document["version"].is_string() && !document["settings"].as_object().expect("settings").is_empty());
    assert_eq!(bench.run(&["selftest", "--check", "selftest.json"]).status.code(), Some(0));
}

/// A copy that was cut off, or says something twice, is not proved; one of another form is told with the form that is known.
#[track_caller]
fn expect_broken_copies(bench: &Bench, written: &str) {
    let cut = &written[..written.find("\"sha256\"").expect("a step has a hash")];
    let twice = written.replacen('{', "{ \"engine\": \"another\",", 1);
    for (file, content) in [("cut.json", cut), ("twice.json", twice.as_str())] {
        std::fs::write(bench.path(file), content).expect("a file");
        for command in [&["verify", file][..], &["selftest", "--check", file]] {
            let told = bench.run(command);
            assert_eq!(told.status.code(), Some(10), "{command:?}: {}{}", text(&told.stdout), text(&told.stderr));
            assert!(text(&told.stdout).starts_with("broken: "), "{command:?}: {}", text(&told.stdout));
        }
    }
    std::fs::write(bench.path("form.json"), written.replacen("\"form\": 1", "\"form\": 2", 1)).expect("a file");
    for command in [&["verify", "form.json"][..], &["selftest", "--check", "form.json"]] {
        let told = bench.run(command);
        assert_eq!(told.status.code(), Some(1), "{command:?}: {}", text(&told.stdout));
        assert!(text(&told.stderr).contains("knows form 1"), "{command:?}: {}", text(&told.stderr));
    }
}

const AT_A_SERVER: &[&str] =
    &["contract: settings are read back", "contract: a database that Proofload did not create is refused", "upkeep"];

#[test]
fn sqlite_passes_in_a_folder_and_a_changed_result_is_noticed() {
    let bench = Bench::new("selftest-sqlite");
    let output = bench.run(&["selftest", "--engine", "sqlite"]);
    expect_passed(
        &bench,
        &output,
        &[
            "contract: the observer counts commits",
            "order entry by statements: counters of the server move",
            "order entry by statements: 600 transactions leave the data of the reference",
            "order entry by procedures",
            "meetings by statements",
            "meetings by procedures",
            "upkeep",
        ],
    );
    bench.expect_no_process();
    let changes = bench.run(&["selftest", "--engine", "sqlite", "--changes", "allowed", "-o", "other.json"]);
    assert_eq!(changes.status.code(), Some(2), "{}", text(&changes.stderr));
    assert!(text(&changes.stderr).contains("give its --url"), "{}", text(&changes.stderr));
    let written = std::fs::read_to_string(bench.path("selftest.json")).expect("a result");
    std::fs::write(bench.path("changed.json"), written.replacen("\"passed\"", "\"skipped\"", 1)).expect("a file");
    let changed = bench.run(&["selftest", "--check", "changed.json"]);
    assert_eq!(changed.status.code(), Some(10), "{}", text(&changed.stdout));
    assert!(text(&changed.stdout).starts_with("broken: "), "{}", text(&changed.stdout));
    expect_broken_copies(&bench, &written);
    assert_eq!(bench.run(&["selftest", "--engine", "sqlite"]).status.code(), Some(1), "a result is not replaced");
}

#[test]
fn postgresql_passes_on_an_instance_of_its_own() {
    if here("postgresql").is_none() {
        return;
    }
    let bench = Bench::new("selftest-postgresql");
    let output = bench.run(&["selftest", "--engine", "postgresql"]);
    expect_passed(&bench, &output, AT_A_SERVER);
    bench.expect_no_process();
}

/// Folders of the programs of newer servers than the system's, with their engines: what `scripts/server-needs.sh` unpacks.
fn newer_servers() -> Vec<(&'static str, Vec<PathBuf>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/opt/proofload-test-needs").into_iter().flatten().flatten() {
        let place = entry.path();
        let versions = std::fs::read_dir(place.join("lib/postgresql")).into_iter().flatten().flatten();
        let folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
        if !folders.is_empty() {
            found.push(("postgresql", folders));
        } else if place.join("sbin/mariadbd").exists() {
            found.push(("mariadb", vec![place.join("sbin"), place.join("bin")]));
        }
    }
    found
}

#[test]
fn newer_servers_pass_on_instances_of_their_own() {
    let newer = newer_servers();
    if newer.is_empty() {
        println!("SKIPPED: no newer server is here; as root on Debian, scripts/server-needs.sh unpacks them");
    }
    for (engine, folders) in newer {
        let bench = Bench::new(&format!("selftest-newer-{engine}"));
        let path = std::env::var_os("PATH").expect("a path");
        let path = std::env::join_paths(folders.into_iter().chain(std::env::split_paths(&path))).expect("a path");
        let output = bench.command(&["selftest", "--engine", engine]).env("PATH", path).output().expect("it starts");
        expect_passed(&bench, &output, AT_A_SERVER);
        println!("MEASURED: {}", text(&output.stdout).lines().next().unwrap_or_default());
        bench.expect_no_process();
    }
}

/// Leave is needed at somebody's server, what is somebody's stays, what a killed one left goes.
#[test]
fn mariadb_passes_by_url_and_leaves_no_trace() {
    let Some(mariadb) = here("mariadb") else { return };
    let place = Place::new(mariadb, &[], &Special::default()).expect("a server");
    let url = place.target.address().expect("a server").to_owned();
    let bench = Bench::new("selftest-mariadb");
    let selftest = ["selftest", "--engine", "mariadb", "--url", &url];
    let ground = |name: &str| Ground::at_server(mariadb, &url, name, &bench.path("ground")).expect("a ground");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(mariadb.create_database(&place.target)).expect("a database of somebody");
    assert_eq!(ground("proofload").state().expect("answers"), ScratchState::Foreign);

    let unasked = bench.run(&selftest);
    assert_eq!(unasked.status.code(), Some(2), "{}", text(&unasked.stderr));
    assert!(text(&unasked.stderr).contains("--confirm proofload_selftest"), "{}", text(&unasked.stderr));
    let changing = bench.run(&[&selftest[..], &["--changes", "allowed"]].concat());
    assert_eq!(changing.status.code(), Some(2), "{}", text(&changing.stderr));
    assert!(text(&changing.stderr).contains("memory and cores of the whole server"), "{}", text(&changing.stderr));
    let foreign = bench.run(&[&selftest[..], &["--database", "proofload", "--confirm", "proofload"]].concat());
    assert_eq!(foreign.status.code(), Some(2), "{}", text(&foreign.stderr));
    assert_eq!(ground("proofload").state().expect("answers"), ScratchState::Foreign, "it is left as it is");

    let with_leave = [&selftest[..], &["--confirm", NAME]].concat();
    let mut killed = bench.spawn(&with_leave);
    wait_beside(&mut killed, "it makes its database", || {
        (ground(NAME).state().expect("answers") != ScratchState::Absent).then_some(())
    });
    killed.kill().expect("it is killed");
    killed.wait().expect("it has ended");
    assert_eq!(ground(NAME).state().expect("answers"), ScratchState::Marked, "the mark came with the database");

    let output = bench.run(&with_leave);
    expect_passed(&bench, &output, AT_A_SERVER);
    assert_eq!(ground(NAME).state().expect("answers"), ScratchState::Absent);
    assert_eq!(ground("proofload").state().expect("answers"), ScratchState::Foreign, "it is left as it is");
}

#[test]
fn mongodb_passes_over_the_wire_and_a_server_that_refuses_rows_fails() {
    let server = Server::start(Behaviour::default());
    let bench = Bench::new("selftest-mongodb");
    let url = server.url("db");
    let selftest = ["selftest", "--engine", "mongodb", "--url", &url, "--confirm", NAME];
    let output = bench.run(&selftest);
    expect_passed(
        &bench,
        &output,
        &[
            "contract",
            "order entry by statements",
            "order entry by procedures",
            "meetings by statements",
            "meetings by procedures",
            "a build that is killed",
            "warehouse",
            "upkeep",
        ],
    );
    assert_eq!(server.documents(&format!("{NAME}.usertable")), 0, "nothing is left");
    (0..2_000).for_each(|_| server.fault("insert", Fault::Error(11_600)));
    let failed = bench.run(&[&selftest[..], &["-o", "failed.json"]].concat());
    assert_eq!(failed.status.code(), Some(5), "{}{}", text(&failed.stdout), text(&failed.stderr));
    let document = result(&bench, "failed.json");
    assert!(steps(&document, "failed").iter().any(|name| name.contains("key-value")), "{document:#}");
    assert!(steps(&document, "passed").contains(&"nothing is left behind".to_owned()), "{document:#}");
    assert!(text(&failed.stdout).starts_with("FAILED: mongodb"), "{}", text(&failed.stdout));
}

#[test]
fn a_recording_of_an_engine_whose_sessions_are_not_recorded_is_refused_by_name() {
    let bench = Bench::new("selftest-record");
    let refused = bench.run(&["selftest", "--engine", "sqlite", "--record", "recording.txt"]);
    let told = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && told.contains("sessions of sqlite are not recorded"), "{told}");
    assert!(!bench.path("recording.txt").exists() && !bench.path("selftest.json").exists());
}
