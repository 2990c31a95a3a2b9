//! Warehouse studies as a user meets them: runs by rounds, rated whole.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_record::{Attempt, Record, State};
use proofload_report::findings::{FailureCount, Findings, evaluate};
use proofload_report::metrics::QUERIES_PER_HOUR;
use serde_json::Value;
use std::process::Output;
use support::waiting::wait_until;
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
steal_tolerance = 1.0
{extra}
"#
    )
}

fn record(bench: &Bench) -> Record {
    proofload_record::read(&bench.path("small.proof")).expect("the record is readable")
}

/// Runs a study until its points are valid: a host that stands still voids a run of seconds, rightly, and then it is measured again. Rounds of
/// seconds that differed are not, so that the study is begun anew, at most twice. Its record.
#[track_caller]
fn run_until_valid(bench: &Bench, study: &str) -> Record {
    bench.study(study);
    let mut output = measured_again(bench, bench.run(&["run", "study.toml"]));
    for _anew in 0..2 {
        if output.status.code() == Some(6) {
            std::fs::remove_file(bench.path("small.proof")).expect("it was written");
            output = measured_again(bench, bench.run(&["run", "study.toml"]));
        }
    }
    expect_valid(bench, &output);
    record(bench)
}

/// Only what the host made void is measured again, at most four times; what is void for another reason stays so.
fn measured_again(bench: &Bench, mut output: Output) -> Output {
    for _again in 0..4 {
        if output.status.code() != Some(6) {
            break;
        }
        output = bench.run(&["resume", "small.proof", "--void"]);
    }
    output
}

#[track_caller]
fn expect_valid(bench: &Bench, output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    bench.expect_no_process();
}

/// Whether this happened to the attempt.
fn has(attempt: &Attempt, name: &str) -> bool {
    attempt.events.iter().any(|event| event.event.name() == name)
}

/// The detail of an event as the record's file has it.
#[track_caller]
fn detail(attempt: &Attempt, name: &str) -> Value {
    let event = attempt.events.iter().rev().find(|event| event.event.name() == name);
    serde_json::from_str(&event.unwrap_or_else(|| panic!("no event {name}")).listed).expect("JSON")
}

/// Whether DuckDB's library is here. Without it tests are skipped, visibly.
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
    let record = run_until_valid(&bench, &study(engine, "streams = 2\nrounds = 1", ""));
    let attempt = record.attempts.last().expect("an attempt");
    assert!(attempt.state == State::Finished && !has(attempt, "steady") && !has(attempt, "not_steady"));
    assert!(has(attempt, "cold_start"));
    check_calibration(attempt);
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

/// The value of a fact of the calibration, in an attempt.
fn calibrated<'a>(attempt: &'a Attempt, name: &str) -> Option<&'a str> {
    let fact = attempt.facts.iter().find(|fact| fact.subject == "calibration" && fact.name == name);
    fact.unwrap_or_else(|| panic!("no fact {name}")).effective.as_deref()
}

#[track_caller]
fn number(attempt: &Attempt, name: &str) -> f64 {
    calibrated(attempt, name).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name} is no number"))
}

/// Whether fio is here. Without it, the calibration of the device is known to fail.
fn fio_here() -> bool {
    std::process::Command::new("fio").arg("--version").output().is_ok()
}

/// Device, consumption and footprint are what they can be.
#[track_caller]
fn check_calibration(attempt: &Attempt) {
    assert_eq!(calibrated(attempt, "device_read_mb_s").is_some(), fio_here());
    if fio_here() {
        assert!(number(attempt, "device_read_mb_s") > 1.0);
    }
    let (cold, in_cache) = (number(attempt, "bcr_mb_per_cpu_s"), number(attempt, "mcr_mb_per_cpu_s"));
    assert!(cold > 1.0 && in_cache > 0.3 * cold, "{in_cache} MB per CPU s in cache, {cold} cold");
    assert_eq!(calibrated(attempt, "mcr_passes_mb_per_cpu_s").expect("passes").split(", ").count(), 3);
}

/// Queries per hour, to a hundredth.
#[track_caller]
fn check_rate(findings: &Findings<'_>, expected: f64) {
    let rate = findings.points[0].result(QUERIES_PER_HOUR).expect("the point is valid").value();
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
    let memory = "[limits]\nmemory_per_data = 4";
    let text = study("sqlite", workload, memory).replace("drift_tolerance = 0.9", "drift_tolerance = 1.0");
    let record = run_until_valid(&bench, &text);
    let attempt = record.attempts.last().expect("one attempt");
    // About 10.8 MB of table text, four times.
    let limit = attempt.facts.iter().find(|fact| fact.name == "memory.max").expect("memory is limited");
    let asked = limit.requested.as_deref().and_then(|text| text.strip_suffix("KiB")?.parse::<u64>().ok());
    assert!(limit.holds == Some(true) && asked.is_some_and(|kib| (41_000..44_000).contains(&kib)), "{limit:?}");
    assert!(!has(attempt, "cold_start"), "what is warmed up need not be cold");
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
    // One takes 100 ms of CPU and more, the other 2 ms, but from a slow disk it may meet the cap until its pages are in memory.
    let cap = "streams = 1\nrounds = 12\nqueries = [\"q01\", \"q17\"]\nquery_cap = \"40ms\"";
    let study = |extra: &str| study("sqlite", cap, extra).replace("scale_factor = 0.01", "scale_factor = 0.02");
    let allowed = study("error_budget = 1.0");
    bench.study(&allowed);
    let output = bench.run(&["run", "study.toml"]);
    assert!(matches!(output.status.code(), Some(0 | 6)), "{}", text(&output.stderr));
    let record = record(&bench);
    let attempt = record.attempts.last().expect("one attempt");
    let counts = |kind: &str| {
        let all = attempt.intervals.iter().flat_map(|interval| &interval.counts).filter(|of| of.kind == kind);
        all.fold((0, 0), |(done, failed), of| (done + of.done, failed + of.failed))
    };
    let (slow, (done, missed)) = (counts("q01"), counts("q17"));
    assert!(slow == (0, 12) && done > 0 && done + missed == 12, "done and capped: {slow:?}, {done} and {missed}");
    let failed: u64 = 12 + missed;
    let findings = evaluate(&record);
    let point = &findings.points[0];
    assert_eq!(point.runs[0].failures, FailureCount { failed, due: 24, given_up: 0 }, "also those of the last second");
    let whole = point.runs[0].whole.as_ref().expect("rated whole");
    let seconds: f64 = whole.rounds.iter().map(|round| round.to - round.from).sum();
    let rate = point.metric(QUERIES_PER_HOUR).expect("valid queries are rated").value();
    assert!((rate / (done as f64 / seconds * 3_600.0) - 1.0).abs() < 0.01, "{rate} of {done} in {seconds} s");
    let report = text(&bench.run(&["report", "small.proof", "--format", "markdown"]).stdout);
    assert!(report.contains("queries with invalid executions: ") && report.contains("query\\_cap"), "{report}");
    // Without a budget for failures the same run voids its point.
    bench.study(&study(""));
    let output = bench.run(&["run", "study.toml", "-o", "strict.proof"]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
}

/// Bytes of the largest file below a folder.
fn largest_file(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => largest_file(&entry.path()),
        _ => entry.metadata().map_or(0, |metadata| metadata.len()),
    };
    entries.map(size).max().unwrap_or(0)
}

/// Calibrations that the record has from all its sessions.
fn calibrations(record: &Record) -> usize {
    record.events.iter().filter(|event| event.event.name() == "calibrated").count()
}

#[test]
fn equal_limits_share_a_calibration_and_other_limits_have_their_own() {
    let bench = Bench::new("calibrated");
    let factors = "[[factor]]\nsetting = \"limits.cores\"\nlevels = [1, 2]\n[[factor]]\nsetting = \"workload.streams\"\nlevels = [1, 2]";
    let workload = "rounds = 1\nqueries = [\"q01\", \"q06\"]\ncalibrate = \"queries\"";
    let record = run_until_valid(&bench, &study("sqlite", workload, factors));
    assert_eq!(record.plan.runs.len(), 4);
    let of_each = if fio_here() { 3 } else { 2 };
    assert_eq!(calibrations(&record), 2 * of_each, "device, consumption and queries, for one core and for two");
    for attempt in &record.attempts {
        check_calibration(attempt);
        assert!(number(attempt, "query.q01.cpu_s") > 0.0 && number(attempt, "query.q06.elapsed_s") > 0.0);
    }
    let (footprint, file) =
        (number(&record.attempts[0], "cold_footprint_mb"), largest_file(&bench.path("data")) as f64 / 1e6);
    assert!(footprint > file / 2.0 && footprint < file * 2.0, "{footprint} MB of a file of {file} MB");
    assert!(!fio_here() || record.documents.keys().any(|name| name.starts_with("fio/calibration-")));
    let left = std::fs::read_dir(bench.path("data/small")).expect("the study's folder").flatten();
    let left: Vec<_> = left.flat_map(|entry| std::fs::read_dir(entry.path())).flatten().flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().contains("fio")), "{left:?}");
}

#[test]
fn a_calibration_that_fails_is_noted_and_loses_no_run() {
    let bench = Bench::new("uncalibrated");
    let workload = "rounds = 1\nqueries = [\"q01\", \"q17\"]\nquery_cap = \"1ms\"";
    bench.study(&study("sqlite", workload, "error_budget = 1.0"));
    // No fio on the path, and a cap that the scan meets.
    let empty = bench.path("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let output = bench.command(&["run", "study.toml"]).env("PATH", &empty).output().expect("the program starts");
    // 6: nothing was answered within the cap. The run came to its end all the same.
    assert!(matches!(output.status.code(), Some(0 | 6)), "{}", text(&output.stderr));
    bench.expect_no_process();
    let record = record(&bench);
    let attempt = record.attempts.last().expect("one attempt");
    assert!(attempt.state == State::Finished && record.attempts.len() == 1);
    assert_eq!((calibrations(&record), calibrated(attempt, "device_read_mb_s")), (0, None));
    let why = |name: &str| {
        let fact = attempt.facts.iter().find(|fact| fact.name == name).expect("noted all the same");
        assert_eq!(fact.effective, None);
        fact.source.clone()
    };
    assert!(why("device_read_mb_s").contains("not calibrated: fio is not installed"), "{}", why("device_read_mb_s"));
    assert!(why("mcr_mb_per_cpu_s").contains("query_cap"), "{}", why("mcr_mb_per_cpu_s"));
    assert!(attempt.events.iter().filter(|event| event.event.name() == "calibration_failed").count() == 2);
}

#[test]
fn a_calibration_outlives_a_kill_before_its_run() {
    let bench = Bench::new("calibration-kill");
    bench.study(&study("sqlite", "streams = 1\nrounds = 2", ""));
    let mut child = bench.spawn(&["run", "study.toml"]);
    let wanted = if fio_here() { 2 } else { 1 };
    wait_until("a calibration ends", || {
        proofload_record::read(&bench.path("small.proof")).is_ok_and(|record| calibrations(&record) == wanted)
    });
    support::kill(child.id());
    let _killed = child.wait();
    bench.expect_no_process();
    let output = measured_again(&bench, bench.run(&["resume", "small.proof"]));
    expect_valid(&bench, &output);
    let record = record(&bench);
    assert_eq!(calibrations(&record), wanted, "what was known is not found out again");
    let interrupted = record.attempts.iter().filter(|attempt| attempt.state != State::Finished).count();
    assert!(interrupted <= 1, "{:?}", record.attempts);
    check_calibration(record.finished(0).expect("it was finished"));
}
