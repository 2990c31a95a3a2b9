//! What a report says of the key-value workload.

use crate::support::{KeyValue, key_value};
use proofload_model::events::RunEvent;
use proofload_record::Record;
use proofload_report::findings::{Verdict, evaluate};
use proofload_report::{Format, render};
use serde_json::Value as Json;

const FORMATS: [Format; 5] = [Format::Html, Format::Markdown, Format::Csv, Format::Json, Format::Text];

fn markdown(record: &Record) -> String {
    render(record, Format::Markdown).expect("the record has points")
}

fn json(record: &Record) -> Json {
    serde_json::from_str(&render(record, Format::Json).expect("the record has points")).expect("JSON is JSON")
}

/// The part of a text from a heading to the next one of any level.
#[track_caller]
fn section(markdown: &str, heading: &str) -> String {
    let (_, rest) = markdown.split_once(heading).unwrap_or_else(|| panic!("there is no {heading}"));
    rest.split("\n##").next().unwrap_or_default().to_owned()
}

#[track_caller]
fn check_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn every_form_speaks_of_operations_and_of_nothing_else() {
    let record = key_value(&KeyValue { not_found: 2, ..KeyValue::engines() });
    assert!(evaluate(&record).points.iter().all(|point| point.verdict == Verdict::Valid));
    for format in FORMATS {
        let text = render(&record, format).expect("the record has points");
        for foreign in ["Scan,", "TPM", "NOPM", "tpm", "New-Order", "ransaction", "NaN"] {
            assert!(!text.contains(foreign), "{format:?} says {foreign}");
        }
    }
    check_holds(
        &markdown(&record),
        &[
            "key-value workload in YCSB's vocabulary",
            "YCSB workload A with 5,000,000,000 records and 8 virtual users was measured at 3 levels of engine: MongoDB, \
             PostgreSQL, SQLite",
            "**Throughput is largest with MongoDB, 4,002 operations per second. With PostgreSQL it is 50 % lower, with SQLite 75 %.**",
            "Update p99 8.20 ms",
        ],
    );
}

#[test]
fn the_load_is_described_by_its_facts() {
    let text = markdown(&key_value(&KeyValue::plain()));
    let method = section(&text, "How it was measured");
    check_holds(
        &method,
        &[
            "- **Client path**: lean",
            "- **Mix of operations**: 50 % read, 50 % update",
            "- **Choice of keys**: zipfian, 0.99",
            "- **Mode of key choice**: exact",
            "- **Reads checked**: all",
            "- **Records**: 5,000,000,000",
            "Users are saturated",
        ],
    );
    check_holds(&section(&text, "#### Load generator"), &["- **Some other fact**: 17"]);
}

#[test]
fn response_and_service_stand_beside_each_other_where_both_are_recorded() {
    let paced = json(&key_value(&KeyValue { rate: Some(3_000), ..KeyValue::plain() }));
    let metrics = &paced["points"][0]["metrics"];
    for kind in ["read", "update", "all"] {
        for statistic in ["mean", "p50", "p95", "p99", "p999"] {
            let of = |clock: &str| metrics[format!("{clock}_ns_{statistic}")][kind]["value"].as_f64().unwrap();
            let waited = of("response") - of("service");
            assert!((waited - 100_000.0).abs() < 0.002 * of("response"), "{kind} {statistic}: {waited} ns");
        }
    }
    let text = markdown(&key_value(&KeyValue { rate: Some(3_000), ..KeyValue::plain() }));
    check_holds(
        &section(&text, "Response times\n"),
        &["| Read | response |", "| Read | service |", "Service time counts"],
    );
    let saturated = markdown(&key_value(&KeyValue::plain()));
    let times = section(&saturated, "Response times\n");
    check_holds(&times, &["| Update | response = service |", "service time equals response time"]);
    assert!(!times.contains("| service |"), "a column for nothing");
}

#[test]
fn percentiles_need_ten_values_beyond_them() {
    let rare = key_value(&KeyValue { capacity: 100, ..KeyValue::plain() });
    let text = markdown(&rare);
    check_holds(&section(&text, "Response times\n"), &["Omitted because of too few samples: p99, p99.9"]);
    let metrics = &json(&rare)["points"][0]["metrics"];
    assert_eq!(metrics["response_ns_p999"]["read"]["missing"], "fewer than 10,000 samples");
    assert!(metrics["response_ns_p95"]["read"]["value"].is_number());
}

#[test]
fn a_stall_is_named_by_its_seconds() {
    let record = key_value(&KeyValue { stall: vec![25, 26], ..KeyValue::plain() });
    let text = markdown(&record);
    let sentence =
        "The worst stall was in seconds 25 to 27 at the only point: for 2 s throughput fell to 0 operations/s";
    check_holds(&section(&text, "Stalls\n"), &[sentence, "in seconds 25 to 27"]);
    let stalls = &json(&record)["points"][0]["runs"][0]["stalls"];
    assert_eq!((stalls[0]["from"].as_u64(), stalls[0]["slow_seconds"].as_u64()), (Some(25), Some(2)));
    assert!(!text.contains("long throughout"), "one stall is no long tail");
    let steady = markdown(&key_value(&KeyValue::plain()));
    check_holds(&section(&steady, "Stalls\n"), &["No second of any measured window fell below half"]);
}

#[test]
fn a_run_by_count_shows_its_run_time_beside_the_window() {
    let completed = RunEvent::Completed { seconds: 40.0, operations: 140_000, first_user_ended: Some(36.1) };
    let record = key_value(&KeyValue { completed: Some(completed), ..KeyValue::plain() });
    let metrics = &json(&record)["points"][0]["metrics"];
    assert_eq!(metrics["run_time_s"]["value"], 40.0);
    assert_eq!(metrics["run_throughput"]["value"], 3_500.0);
    check_holds(&section(&markdown(&record), "## 2 Results"), &["First user finished, s", "| 140,000 |", "| 36.1 |"]);
    let by_time = json(&key_value(&KeyValue::plain()));
    assert_eq!(by_time["points"][0]["metrics"]["run_time_s"]["value"], 20.0);
}

#[test]
fn an_offered_load_above_capacity_is_marked() {
    let record = key_value(&KeyValue { rate: Some(3_000), ..KeyValue::engines() });
    let json = json(&record);
    let overloaded = |point: usize| json["points"][point]["overloaded"].clone();
    assert_eq!(overloaded(0), Json::Null);
    assert_eq!(overloaded(2), "offered load exceeds capacity: 33.3 % of it was achieved in the window");
    let text = markdown(&record);
    check_holds(
        &text,
        &[
            "PostgreSQL and SQLite did not keep up.",
            "**What broke first**: PostgreSQL: offered load exceeds capacity: 66.8 %",
        ],
    );
    check_holds(&section(&text, "## 2 Results"), &["✗ **overloaded**", "✓ kept up"]);
    let terminal = render(&record, Format::Text).expect("the record has points");
    check_holds(&terminal, &["SQLite is overloaded: offered load exceeds capacity"]);
    assert!(terminal.lines().all(|line| line.chars().count() <= 100), "{terminal}");
}

#[test]
fn failures_are_told_by_class() {
    let text = markdown(&key_value(&KeyValue { not_found: 5, ..KeyValue::plain() }));
    check_holds(
        &section(&text, "Failures\n"),
        &["100 of ", "| the only point | Read | `not_found` | 100 |", "no record has the key user17"],
    );
    let clean = markdown(&key_value(&KeyValue::plain()));
    check_holds(&section(&clean, "Failures\n"), &["None of ", "that became due in the measured windows failed."]);
}

#[test]
fn efficiency_says_what_was_measured_and_what_a_data_sheet_says() {
    let hardware = "\n[hardware]\nwatts = 400\ncapacity = \"3.84TB\"\nrack_units = 2\ndrive_iops = 768000\n".to_owned();
    let record = key_value(&KeyValue { more: hardware, watts: Some(100.0), ..KeyValue::plain() });
    let metrics = json(&record)["points"][0]["metrics"].clone();
    let value = |name: &str, source: &str| metrics[name][source]["value"].as_f64().expect("it was observed");
    let throughput = metrics["throughput"]["value"].as_f64().expect("it was observed");
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
    close(value("operations_per_watt", "measured"), throughput / 100.0);
    close(value("operations_per_watt", "data_sheet"), throughput / 400.0);
    close(value("device_iops_per_gb", "data_sheet"), 200.0);
    close(value("capacity_per_rack_unit", "data_sheet"), 1.92);
    let amplification = metrics["device_bytes_written_per_logical_byte"]["value"].as_f64();
    close(amplification.expect("it was observed"), 12.0);
    let bare = key_value(&KeyValue::plain());
    check_holds(
        &section(&markdown(&bare), "Efficiency\n"),
        &[
            "**Not measured:** Power, W and Operations/s per W (power was not observed)",
            "Operations/s per W, data sheet (the study does not state hardware.watts)",
        ],
    );
}

#[test]
fn logical_bytes_are_no_counters_of_the_engine() {
    let text = render(&key_value(&KeyValue::plain()), Format::Csv).expect("the record has points");
    assert!(text.contains(",logical_write_mb_s,") && !text.contains(",engine,logical_written,"), "{text}");
}
