//! Drills as tables of the export: whether each counts and why not, every outage, and what the prober counted tenth by tenth.

use crate::drills::{changed, drills, lose_ten, seconds};
use proofload_model::drill::{DrillReport, LogFork, Outage, ProbeTenth, StandbyReach};
use proofload_model::events::RunEvent;
use proofload_model::prober::{PaceCause, PaceChange, ProberPace, ProberPaces};
use proofload_model::time::Offset;
use proofload_model::units::Bytes;
use proofload_record::Record;
use proofload_report::export::{Selection, TABLES, write_json};
use proofload_report::{Format, render};
use serde_json::{Value as Json, json};

/// The rows of a table.
fn rows(record: &Record, name: &str) -> Vec<Json> {
    let table = TABLES.iter().find(|known| known.name == name).expect("it is exported");
    let mut page = Vec::new();
    write_json(record, &Selection::default(), &[table], &mut page).expect("memory takes it");
    let document: Json = serde_json::from_slice(&page).expect("it is JSON");
    document["tables"][name].as_array().expect("it is a table").clone()
}

#[track_caller]
fn check_row(row: &Json, expected: &[(&str, Json)]) {
    for (column, value) in expected {
        assert_eq!(&row[column], value, "{column}: {row}");
    }
}

#[test]
fn a_drill_says_whether_it_counts_and_why_it_does_not() {
    let mut record = drills("remote_flush", &[0.5, 0.6, 0.7]);
    let mut of_attempt = |place: usize, change: &dyn Fn(&mut DrillReport)| {
        for event in &mut record.attempts[place].events {
            if let RunEvent::Drilled(report) = &mut event.event {
                change(report);
            }
        }
    };
    of_attempt(1, &lose_ten);
    of_attempt(2, &|report| report.prober.ledger.unread = Some("refused".to_owned()));
    let found = rows(&record, "drills");
    let counts = |row: &Json| (row["counts"].as_bool(), row["lost_against_promise"].as_u64());
    let told: Vec<_> = found.iter().map(counts).collect();
    assert_eq!(told, [(Some(true), Some(0)), (Some(false), Some(10)), (Some(false), None)]);
    assert_eq!(found[0]["void_reasons"], Json::Null);
    for (row, why) in found[1..].iter().zip(["none may be lost: 100, 101", "losses are unknown: refused"]) {
        assert!(row["void_reasons"].as_str().is_some_and(|told| told.contains(why)), "{why}: {row}");
    }
}

#[test]
fn a_drill_has_what_was_found_of_its_fork_its_standbys_and_its_prober() {
    let mut record = drills("async", &[0.5]);
    changed(&mut record, |report| {
        report.fault_begun = Some(report.fault_after - 0.25);
        report.reach = Some(StandbyReach { reached: 1, of: 2, holds_all: false });
        report.fork = Some(LogFork { timeline_before: 3, timeline: 4, at: Bytes(5_000), old_end: Some(Bytes(6_680)) });
        for (place, probe) in report.prober.kinds.iter_mut().enumerate() {
            (probe.blips, probe.lag_p99_ms) = (place as u64 + 1, place as f64 + 0.5);
        }
        (report.prober.ledger.stale_reads, report.prober.ledger.two_claimed_seconds) = (6, 2);
    });
    let row = &rows(&record, "drills")[0];
    let [begun, after] = ["fault_begun_s", "fault_after_s"].map(|column| row[column].as_f64().expect("it is told"));
    assert!((after - begun - 0.25).abs() < 1e-6, "{begun}, {after}");
    check_row(
        row,
        &[
            ("standbys_reached", json!(1)),
            ("standbys", json!(2)),
            ("reach_holds_all", json!(false)),
            ("timeline_before", json!(3)),
            ("timeline", json!(4)),
            ("fork_at_bytes", json!(5_000)),
            ("old_log_end_bytes", json!(6_680)),
            ("log_lost_bytes", json!(1_680)),
            ("write_blips", json!(1)),
            ("read_blips", json!(2)),
            ("connection_blips", json!(3)),
            ("write_lag_p99_ms", json!(0.5)),
            ("read_lag_p99_ms", json!(1.5)),
            ("connection_lag_p99_ms", json!(2.5)),
            ("stale_reads", json!(6)),
            ("two_claimed_s", json!(2)),
        ],
    );
    changed(&mut record, |report| (report.reach, report.fork, report.fault_begun) = (None, None, None));
    let row = &rows(&record, "drills")[0];
    for column in ["fault_begun_s", "standbys", "reach_holds_all", "timeline", "fork_at_bytes", "log_lost_bytes"] {
        assert_eq!(row[column], Json::Null, "{column}");
    }
}

#[test]
fn every_outage_is_listed_and_those_before_the_fault_are_told_apart() {
    let mut record = drills("async", &[0.5]);
    changed(&mut record, |report| {
        let later = seconds(report.fault_at + 3.0);
        let outages = &mut report.prober.kinds[0].outages;
        outages.insert(0, Outage { from: seconds(1.0), to: Some(seconds(1.25)), failed: 3 });
        outages.push(Outage { from: later, to: None, failed: 7 });
    });
    let found = rows(&record, "outages");
    let kinds: Vec<&str> = found.iter().filter_map(|row| row["kind"].as_str()).collect();
    assert_eq!(kinds, ["write", "write", "write", "read", "connect"]);
    let begun = [("from_s", json!(1.0)), ("to_s", json!(1.25)), ("failed", json!(3)), ("of_the_fault", json!(false))];
    check_row(&found[0], &begun);
    let resolutions = |record: &Record| -> Vec<Json> {
        rows(record, "outages").iter().map(|row| row["resolution_ms"].clone()).collect()
    };
    let of_all = |writes_and_reads: Json| {
        let mut all = vec![writes_and_reads; 4];
        // Connections are further apart than writes.
        all.push(Json::Null);
        all
    };
    assert_eq!(resolutions(&record), of_all(json!(5.0)));
    changed(&mut record, |report| {
        let from = PaceChange { from: Offset(0), pace: ProberPace::Calm, cause: PaceCause::Begin };
        report.prober.ledger.paces = ProberPaces { calm_step: 10, changes: vec![from] };
    });
    assert_eq!(resolutions(&record), of_all(json!(50.0)));
    let mut before = record.clone();
    changed(&mut before, |report| report.prober.ledger.period_ns = 0);
    assert_eq!(resolutions(&before), of_all(Json::Null), "a record from before the period was kept");
    check_row(&found[1], &[("attempt", json!(1)), ("failed", json!(20)), ("of_the_fault", json!(true))]);
    check_row(&found[2], &[("to_s", Json::Null), ("failed", json!(7)), ("of_the_fault", json!(true))]);
    let drill = &rows(&record, "drills")[0];
    assert_eq!(drill["first_failed_s"], found[1]["from_s"], "the first that belongs to the fault");
    let page = render(&record, Format::Markdown).expect("it is rendered");
    assert!(page.contains("0.51; 3 to the end"), "{page}");
}

#[test]
fn the_prober_is_exported_tenth_by_tenth() {
    let mut record = drills("async", &[0.5]);
    changed(&mut record, |report| {
        for probe in &mut report.prober.kinds {
            probe.tenths.truncate(2);
            probe.tenths[1] = ProbeTenth { acknowledged: 17, failed: 2, unknown: 1 };
        }
    });
    let found = rows(&record, "prober");
    assert_eq!(found.len(), 6);
    let row = |kind: &str, tenth: u32, [acknowledged, failed, unknown]: [u32; 3]| {
        json!({
            "attempt": 1, "run": 0, "kind": kind, "tenth": tenth, "acknowledged": acknowledged, "failed": failed,
            "unknown": unknown,
        })
    };
    assert_eq!(found[..2], [row("write", 0, [20, 0, 0]), row("write", 1, [17, 2, 1])]);
    assert_eq!(found[5], row("connect", 1, [17, 2, 1]));
}
