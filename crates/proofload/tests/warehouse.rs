//! Warehouse studies as a user meets them: runs by rounds, rated whole.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_record::{Attempt, Record, State};
use proofload_report::findings::{Findings, evaluate};
use serde_json::Value;
use support::{Bench, postgresql_here, text};

/// A study at the smallest scale factor; runs end by rounds.
fn study(engine: &str, workload: &str, extra: &str) -> String {
    format!(
        r#"
[study]
name = "small"
title = "Queries of a few seconds"
[workload]
kind = "warehouse"
scale_factor = 0.01
{workload}
[engine]
kind = "{engine}"
[storage]
path = "data"
[procedure]
restore = "never"
drift_tolerance = 0.9
{extra}
"#
    )
}

fn record(bench: &Bench) -> Record {
    proofload_record::read(&bench.path("small.proof")).expect("the record is readable")
}

/// Runs a study; its record, once it ended with this code.
#[track_caller]
fn run(bench: &Bench, study: &str, code: i32) -> Record {
    bench.study(study);
    let output = bench.run(&["run", "study.toml"]);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    bench.expect_no_process();
    record(bench)
}

/// The detail of an event.
#[track_caller]
fn detail(attempt: &Attempt, name: &str) -> Value {
    let event = attempt.event(name).unwrap_or_else(|| panic!("no event {name}"));
    serde_json::from_str(&event.detail).expect("JSON")
}

/// Is DuckDB's library here? Without it tests are skipped, visibly.
fn duckdb_here(test: &str) -> bool {
    let found = proofload_engine::engine("duckdb").is_some_and(|engine| engine.locate().is_ok());
    if !found {
        println!("SKIPPED: {test}: DuckDB's library is not here");
    }
    found
}

/// Two streams, one round each, cold: rated from time zero until the first stream is through.
#[track_caller]
fn check_whole(engine: &str) {
    let bench = Bench::new("whole");
    let record = run(&bench, &study(engine, "streams = 2\nrounds = 1", ""), 0);
    let attempt = record.attempts.last().expect("one attempt");
    assert!(
        attempt.state == State::Finished && attempt.event("steady").is_none() && attempt.event("not_steady").is_none()
    );
    assert!(attempt.event("cold_start").is_some());
    let (completed, whole) = (detail(attempt, "completed"), detail(attempt, "whole_run"));
    assert_eq!(whole["to"], completed["first_user_ended"]);
    let to = whole["to"].as_f64().expect("a number");
    assert_eq!(attempt.window(), Some((0, to.ceil() as u64)));
    let rounds = detail(attempt, "rounds");
    let ended: Vec<f64> =
        rounds.as_array().expect("a list").iter().map(|round| round["ended"].as_f64().expect("a number")).collect();
    assert_eq!(ended.len(), 2, "{rounds}");
    assert!((ended.iter().copied().fold(f64::INFINITY, f64::min) * 1e-9 - to).abs() < 0.1, "{rounds} {to}");
    let findings = evaluate(&record);
    let expected: f64 = ended.iter().map(|ended| 22.0 / (ended * 1e-9) * 3_600.0).sum();
    check_rate(&findings, expected);
    check_baseline(&bench);
}

/// A record beside itself: every point is 100 % of the baseline, which the report names by its file's hash.
#[track_caller]
fn check_baseline(bench: &Bench) {
    let output = bench.run(&["report", "small.proof", "--format", "markdown", "--beside", "small.proof"]);
    let report = text(&output.stdout);
    let hash = proofload_record::file_sha256(&bench.path("small.proof")).expect("the record is readable");
    for part in [format!("SHA-256 of the record “Queries of a few seconds (small)”: `{hash}`"), "| 100 |".to_owned()]
    {
        assert!(report.contains(&part), "{part}: {}\n{report}", text(&output.stderr));
    }
}

/// Queries per hour, to a hundredth.
#[track_caller]
fn check_rate(findings: &Findings<'_>, expected: f64) {
    let rate = findings.points[0].result("queries_per_hour").expect("the point is valid").value();
    assert!((rate / expected - 1.0).abs() < 0.01, "{rate} queries/h are not {expected}");
}

#[test]
fn a_run_by_rounds_on_sqlite_is_valid_and_rated_whole() {
    check_whole("sqlite");
}

#[test]
fn a_run_by_rounds_on_postgresql_is_valid_and_rated_whole() {
    if postgresql_here("a_run_by_rounds") {
        check_whole("postgresql");
    }
}

#[test]
fn a_run_by_rounds_on_duckdb_is_valid_and_rated_whole() {
    if duckdb_here("a_run_by_rounds") {
        check_whole("duckdb");
    }
}

#[test]
fn warm_up_rounds_come_first_and_later_ones_are_judged() {
    let bench = Bench::new("warmed");
    let workload = "streams = 1\nrounds = 5\nwarm_up_rounds = 1";
    let text = study("sqlite", workload, "").replace("drift_tolerance = 0.9", "drift_tolerance = 1.0");
    let record = run(&bench, &text, 0);
    let attempt = record.attempts.last().expect("one attempt");
    assert!(attempt.event("cold_start").is_none(), "what is warmed up need not be cold");
    let rounds = detail(attempt, "rounds");
    let first = rounds[0]["ended"].as_f64().expect("a number") * 1e-9;
    assert_eq!(detail(attempt, "whole_run")["from"].as_f64(), Some(first.ceil()));
    let run = &evaluate(&record).points[0].runs[0];
    let whole = run.whole.as_ref().expect("rated whole");
    assert_eq!((whole.warm_up_rounds, whole.rounds_of_each()), (1, 4));
    let drift = run.stability.as_ref().and_then(|check| check.drift.clone()).expect("four rounds have a trend");
    assert!(drift.n() == 4 && drift.interval().bounds().is_some(), "{drift}");
}

#[test]
fn queries_that_meet_their_cap_stay_in_the_record_and_the_others_count() {
    let bench = Bench::new("cap");
    // One takes about 160 ms, the other 2 ms: the cap lies far from both.
    let cap = "streams = 1\nrounds = 3\nqueries = [\"q01\", \"q17\"]\nquery_cap = \"20ms\"";
    let allowed = study("sqlite", cap, "error_budget = 1.0");
    bench.study(&allowed);
    let output = bench.run(&["run", "study.toml"]);
    assert!(matches!(output.status.code(), Some(0 | 6)), "{}", text(&output.stderr));
    let record = record(&bench);
    let attempt = record.attempts.last().expect("one attempt");
    let counts = || attempt.intervals.iter().flat_map(|interval| &interval.counts);
    let (done, failed): (u64, u64) = counts().fold((0, 0), |(done, failed), of| (done + of.done, failed + of.failed));
    assert_eq!((done, failed), (3, 3), "valid and capped");
    let findings = evaluate(&record);
    let point = &findings.points[0];
    assert_eq!(point.runs[0].failures, (failed, 6), "also those of the last second");
    let whole = point.runs[0].whole.as_ref().expect("rated whole");
    let seconds: f64 = whole.rounds.iter().map(|round| round.to - round.from).sum();
    let rate = point.metric("queries_per_hour").expect("valid queries are rated").value();
    assert!((rate / (done as f64 / seconds * 3_600.0) - 1.0).abs() < 0.01, "{rate} of {done} in {seconds} s");
    let report = text(&bench.run(&["report", "small.proof", "--format", "markdown"]).stdout);
    assert!(report.contains("queries with runs that do not count: ") && report.contains("query\\_cap"), "{report}");
    // Without a budget for failures the same run voids its point.
    let strict = Bench::new("cap-strict");
    strict.study(&study("sqlite", cap, ""));
    let output = strict.run(&["run", "study.toml"]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
}
