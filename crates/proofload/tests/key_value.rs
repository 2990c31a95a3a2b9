//! Key-value studies as a user meets them: a run that ends by count, a server by URL, data that do not fit, a server that goes away.

/// A server of MongoDB's wire protocol in this process.
#[path = "../../engine/tests/support/op_msg_server/mod.rs"]
mod op_msg_server;
mod support;

use op_msg_server::{Behaviour, Fault, Server};
use proofload_model::events::RunEvent;
use proofload_record::Record;
use std::process::Output;
use std::time::Duration;
use support::{Bench, text};

/// A study of a few seconds.
fn study(workload: &str, engine: &str) -> String {
    format!(
        r#"
[study]
name = "small"
title = "Key-value operations of a few seconds"
[workload]
kind = "ycsb"
virtual_users = 2
{workload}
[engine]
{engine}
[storage]
path = "data"
[procedure]
restore = "never"
warm_up = {{ at_least = "1s", at_most = "12s", round = "1s", tolerance = 0.5 }}
measure = "2s"
drift_tolerance = 1.0
steal_tolerance = 1.0
"#
    )
}

fn record(bench: &Bench) -> Record {
    proofload_record::read(&bench.path("small.proof")).expect("the record is readable")
}

/// Checks of the last attempt, those that failed.
fn failed(record: &Record) -> Vec<String> {
    let checks = record.attempts.iter().flat_map(|attempt| &attempt.checks);
    let failed = checks.filter(|check| check.outcome == proofload_model::samples::CheckOutcome::Failed);
    failed.map(|check| format!("{}: {}", check.name, check.found)).collect()
}

#[test]
fn a_run_ends_when_its_operations_are_done() {
    let bench = Bench::new("count");
    bench.study(&study(
        "records = 100000\noperations = 40000\nrate = 10000\nqueue_at_most = \"10m\"",
        "kind = \"null\"",
    ));
    let output = bench.run(&["run", "study.toml"]);
    // 6, 7: a busy machine may void the point; its operations are done all the same.
    assert!(matches!(output.status.code(), Some(0 | 6)), "{}", text(&output.stderr));
    let record = record(&bench);
    let attempt = record.attempts.first().expect("one attempt");
    let completed = attempt.last_event(|event| match event {
        RunEvent::Completed { seconds, operations, .. } => Some((*seconds, *operations)),
        _ => None,
    });
    let (seconds, operations) = completed.expect("it came to its end");
    assert_eq!(operations, 40_000);
    assert!(seconds > 3.9, "the last operation is due after 4 s, and it took {seconds} s");
    let (from, to) = attempt.window().expect("a window");
    assert!(from < to && to as f64 <= seconds, "{from}..{to}");
    let done: u64 = attempt.intervals.iter().flat_map(|second| &second.counts).map(|counts| counts.done).sum();
    assert_eq!(done, 40_000);
    let report = bench.run(&["report", "small.proof", "--format", "markdown"]);
    assert!(text(&report.stdout).contains("Run time"), "{}", text(&report.stderr));
}

#[test]
fn a_server_by_url_is_loaded_run_and_verified() {
    let bench = Bench::new("url");
    let server = Server::start(Behaviour::default());
    bench.study(&study("records = 2000\nrate = 500", &format!("kind = \"mongodb\"\nurl = \"{}\"", server.url("db"))));
    let output = bench.run(&["run", "study.toml"]);
    assert!(matches!(output.status.code(), Some(0 | 6)), "{}", text(&output.stderr));
    assert_eq!(server.documents("db.usertable"), 2_000);
    let record = record(&bench);
    assert_eq!(failed(&record), [""; 0]);
    assert!(record.attempts[0].checks.iter().any(|check| check.name == "latest writes"));

    // The same database for another study: refused with each difference, and left as it is.
    let other = study("records = 3000", &format!("kind = \"mongodb\"\nurl = \"{}\"", server.url("db")));
    bench.study(&other.replace("\"small\"", "\"other\""));
    let output = bench.run(&["run", "study.toml"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let told = text(&output.stderr);
    assert!(told.contains("records is 2000, but the study needs 3000"), "{told}");
    assert_eq!(server.documents("db.usertable"), 2_000);
}

/// Only the answer that nothing of ours is there may lead to a build on somebody's server.
#[test]
fn a_check_of_the_data_that_fails_begins_no_build() {
    for fault in [Fault::Close, Fault::Error(13)] {
        let bench = Bench::new("check");
        let server = Server::start(Behaviour::default());
        server.fault("find", fault);
        bench
            .study(&study("records = 200\nrate = 200", &format!("kind = \"mongodb\"\nurl = \"{}\"", server.url("db"))));
        let output = bench.run(&["run", "study.toml"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        let [attempt] = &record(&bench).attempts[..] else { panic!("one attempt") };
        let builds = attempt.events.iter().filter(|event| matches!(event.event, RunEvent::Building(_))).count();
        assert_eq!((builds, server.documents("db.usertable")), (0, 0), "{}", text(&output.stderr));
        // A server that answers that it is empty is filled.
        let output = bench.run(&["resume", "small.proof"]);
        assert!(matches!(output.status.code(), Some(0 | 6)), "{}", text(&output.stderr));
        assert_eq!(server.documents("db.usertable"), 200);
    }
}

#[test]
fn a_lost_connection_ends_the_run_where_nobody_may_come_back_and_nothing_is_lost() {
    let (bench, _server, output) = with_a_lost_connection("reconnect_within = \"0s\"");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("the connection to the database was lost"), "{}", text(&output.stderr));
    let output = bench.run(&["resume", "small.proof"]);
    assert!(matches!(output.status.code(), Some(0 | 6)), "{}", text(&output.stderr));
    assert_eq!(failed(&record(&bench)), [""; 0]);
}

#[test]
fn a_user_comes_back_after_a_lost_connection() {
    let (bench, _server, output) = with_a_lost_connection("");
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    let record = record(&bench);
    assert_eq!(failed(&record), [""; 0]);
    let [attempt] = &record.attempts[..] else { panic!("{} attempts", record.attempts.len()) };
    let lost = attempt.last_event(|event| match event {
        RunEvent::SessionsLost(lost) => Some(lost),
        _ => None,
    });
    let lost = lost.expect("it is told");
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(lost[0].returned > Some(lost[0].lost) && lost[0].tries == 1, "{lost:?}");
    let report = bench.run(&["report", "small.proof", "--format", "markdown"]);
    assert!(text(&report.stdout).contains("1 lost, the first at second"), "{}", text(&report.stdout));
}

/// A run in which the server closes one connection, and what becomes of it.
fn with_a_lost_connection(setting: &str) -> (Bench, Server, Output) {
    let bench = Bench::new("lost");
    let server = Server::start(Behaviour::default());
    let workload = format!("records = 200\nrate = 200\n{setting}");
    bench.study(&study(&workload, &format!("kind = \"mongodb\"\nurl = \"{}\"", server.url("db"))));
    // Not on the notes of the load, which are updates too, but on one of the run's own.
    (0..60).for_each(|_| server.fault("update", Fault::Slow(Duration::ZERO)));
    server.fault("update", Fault::Close);
    let output = bench.run(&["run", "study.toml"]);
    (bench, server, output)
}

#[test]
fn a_server_that_is_not_there_or_is_another_is_told() {
    for (url, expected) in [
        ("mongodb://127.0.0.1:1/db", "127.0.0.1 port 1: Connection refused"),
        ("postgres://127.0.0.1:1/db", "mongodb://"),
    ] {
        let bench = Bench::new("wrong");
        bench.study(&study("records = 10", &format!("kind = \"mongodb\"\nurl = \"{url}\"")));
        let output = bench.run(&["run", "study.toml"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
}
