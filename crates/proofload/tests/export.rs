//! `export` in every format: read back by the crate that reads such logs, by a parser of JSON, by the rules of the format.

mod support;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use proofload_model::samples::LatencyClock;
use proofload_record::Record;
use std::collections::{BTreeMap, BTreeSet};
use support::synthetic::{BEGUN, Synthetic};
use support::{Bench, small_study, text};

fn bench(name: &str) -> (Bench, Record) {
    let bench = Bench::new(name);
    Synthetic { repetitions: 1, ..Synthetic::of(400.0, 1) }.write(&bench.path("x.proof"));
    let record = proofload_record::read(&bench.path("x.proof")).expect("it was written");
    (bench, record)
}

#[track_caller]
fn exported(bench: &Bench, arguments: &[&str]) -> String {
    let output = bench.run(&[&["export", "x.proof"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Histograms by tag and start, as a stranger reads them.
fn read_log(log: &str) -> BTreeMap<(String, u64), Histogram<u64>> {
    let mut found = BTreeMap::new();
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        let LogEntry::Interval(interval) = entry.expect("every line is understood") else { continue };
        let payload = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, interval.encoded_histogram());
        let payload = payload.expect("base64");
        let histogram = deserializer.deserialize(&mut payload.as_slice()).expect("a histogram of version 2");
        let tag = interval.tag().expect("a tag").as_str().to_owned();
        let start = interval.start_timestamp().as_millis() as u64;
        assert_eq!(interval.duration().as_secs(), 1);
        let largest = found.insert((tag, start), histogram).is_none();
        assert!(largest, "one line for each kind and second");
    }
    found
}

#[test]
fn a_log_of_histograms_is_read_back_bucket_for_bucket() {
    let (bench, record) = bench("hdr");
    let log = exported(&bench, &["--format", "hdr"]);
    let found = read_log(&log);
    let mut stored = 0;
    for attempt in &record.attempts {
        for interval in &attempt.intervals {
            for part in &interval.histograms {
                assert_eq!(part.clock, LatencyClock::Response);
                let start = u64::from(attempt.run.index) * 60_000 + 1_000 + interval.index * 1_000;
                let key = (format!("run{}.{}", attempt.run.index, part.kind), start);
                let ours: Histogram<u64> =
                    Deserializer::new().deserialize(&mut part.payload.as_slice()).expect("the record's own form");
                assert_eq!(found.get(&key), Some(&ours), "{key:?}");
                assert_eq!(found[&key].len(), part.count);
                assert!(ours.equivalent(ours.max(), part.max_ns), "the largest value lies in the last bucket");
                stored += 1;
            }
        }
    }
    assert_eq!(found.len(), stored);
    let base = format!("#[BaseTime: {}.000 (seconds since epoch)]\n", BEGUN.0 / 1_000_000);
    assert!(log.contains(&base) && log.contains("#[Histogram log format version 1.3]\n"), "{}", &log[..600]);
    let only = read_log(&exported(&bench, &["--format", "hdr", "--run", "2"]));
    assert!(only.keys().all(|(tag, _)| tag.starts_with("run1.")) && only.len() * 2 == stored);
}

/// Splits CSV after RFC 4180.
fn rows_of(csv: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = csv.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    assert!(field.is_empty() && row.is_empty(), "the last line ends");
    rows
}

#[test]
fn tables_are_the_same_as_csv_and_as_json() {
    let (bench, record) = bench("tables");
    assert_eq!(exported(&bench, &["--format", "csv", "-o", "tables"]), "");
    let json: serde_json::Value = serde_json::from_str(&exported(&bench, &["--format", "json"])).expect("JSON");
    assert_eq!(json["form"], 1);
    let tables = json["tables"].as_object().expect("tables");
    for (name, rows) in tables {
        let csv = std::fs::read_to_string(bench.path(&format!("tables/{name}.csv"))).expect("a file each");
        let read = rows_of(&csv);
        let rows = rows.as_array().expect("rows");
        assert_eq!(read.len(), rows.len() + 1, "{name}");
        for (line, row) in read[1..].iter().zip(rows) {
            assert_eq!(line.len(), read[0].len(), "{name}");
            for (column, field) in read[0].iter().zip(line) {
                let value = &row[column];
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let plain = if value == "null" { String::new() } else { value };
                let same = *field == plain
                    || field.strip_prefix('\'') == Some(&plain)
                    || field.parse::<f64>() == plain.parse();
                assert!(same, "{name}.{column}: {field:?} and {plain:?}");
            }
        }
    }
    let seconds: usize = record.attempts.iter().map(|attempt| attempt.intervals.len()).sum();
    let count = |name: &str| tables[name].as_array().map_or(0, Vec::len);
    assert_eq!((count("operations"), count("latencies"), count("telemetry")), (2 * seconds, 2 * seconds, 2 * seconds));
    assert_eq!((count("runs"), count("checks"), count("levels"), count("documents")), (2, 2, 2, 4));
    assert_eq!(tables["logs"][0]["text"], "=a log line", "JSON has what is recorded, CSV an apostrophe before it");
    let first = &tables["runs"][0];
    assert_eq!(first["time_zero_us"], BEGUN.0 + 1_000_000);
    assert_eq!((&first["window_from_s"], &first["state"]), (&5.into(), &"finished".into()));
    let one = exported(&bench, &["--format", "csv", "--table", "facts"]);
    assert!(
        one.starts_with("attempt,run,subject,name,requested,effective,source,holds,standby\r\n,,host,cores,,2,"),
        "{one}"
    );
}

#[test]
fn the_guide_has_every_table_with_its_columns() {
    let guide = include_str!("../../../docs/guides/exporting.md");
    for table in proofload_report::export::TABLES {
        let columns: Vec<String> = table.columns.iter().map(|column| format!("`{}`", column.name)).collect();
        let row = format!("| `{}` | {} | {} |", table.name, table.row, columns.join(", "));
        assert!(guide.contains(&row), "{row}");
    }
}

/// One line of OpenMetrics: name, labels, value, time.
fn sample(line: &str) -> (&str, &str, f64, f64) {
    let (name, rest) = line.split_once('{').expect("labels");
    let (labels, rest) = rest.rsplit_once("} ").expect("an end of labels");
    let (value, at) = rest.split_once(' ').expect("a value and a time");
    (name, labels, value.parse().expect("a number"), at.parse().expect("a time"))
}

/// What the format asks for and a database relies on.
fn check_openmetrics(text: &str) -> BTreeSet<String> {
    assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1);
    let (mut families, mut times) = (BTreeSet::new(), BTreeMap::new());
    let (mut family, mut kind, mut finished) = (String::new(), String::new(), BTreeSet::new());
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, of) = rest.split_once(' ').expect("a name and a type");
            assert!(families.insert(name.to_owned()), "{name} stands twice");
            (family, kind) = (name.to_owned(), of.to_owned());
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').expect("a name and a unit");
            assert!(name == family && name.ends_with(&format!("_{unit}")), "{line}");
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.starts_with(&format!("{family} ")), "{line}");
        } else {
            let (name, labels, value, at) = sample(line);
            let endings: &[&str] = match kind.as_str() {
                "counter" => &["_total"],
                "info" => &["_info"],
                "summary" => &["", "_count", "_sum"],
                _ => &[""],
            };
            assert!(endings.iter().any(|ending| name == format!("{family}{ending}")), "{line} is not of {family}");
            assert!(kind != "counter" || value >= 0.0, "{line}");
            let key = format!("{name}{{{labels}}}");
            let before = times.insert(key.clone(), at);
            assert!(before.is_none_or(|before| before < at), "times of {key} do not ascend");
            finished.insert(key);
        }
    }
    families
}

#[test]
fn open_metrics_keep_the_rules_of_the_format() {
    let (bench, record) = bench("metrics");
    let text = exported(&bench, &["--format", "openmetrics"]);
    let families = check_openmetrics(&text);
    for family in [
        "proofload_operations",
        "proofload_response_seconds",
        "proofload_probe_cores_busy_ratio",
        "proofload_engine_statement_runs_per_second",
        "proofload_result_throughput_per_second",
        "proofload_result_response_seconds",
    ] {
        assert!(families.contains(family), "{family} is missing: {families:?}");
    }
    let last = |wanted: &str| {
        let line = text.lines().rfind(|line| line.starts_with(wanted));
        sample(line.unwrap_or_else(|| panic!("no {wanted}"))).2
    };
    let attempt = &record.attempts[0];
    let done: u64 = attempt
        .intervals
        .iter()
        .flat_map(|interval| &interval.counts)
        .filter(|c| c.kind == "read")
        .map(|c| c.done)
        .sum();
    let (run, point) = (attempt.run.index, attempt.run.point);
    let labels = format!("run=\"{run}\",point=\"{point}\",kind=\"read\"");
    assert_eq!(last(&format!("proofload_operations_total{{{labels},outcome=\"done\"}}")), done as f64);
    assert_eq!(last(&format!("proofload_response_seconds_count{{{labels}}}")), done as f64);
    let core = format!("proofload_probe_cores_busy_ratio{{run=\"{run}\",point=\"{point}\",instance=\"1\"}}");
    assert_eq!(last(&core), 0.4);
    assert!(
        text.contains("proofload_point_info{point=\"0\",workload_virtual_users=\"4\"")
            && text.contains(",estimand=\"as given\"} 1 "),
        "levels are joined by point"
    );
    let value = last("proofload_result_throughput_per_second{point=\"0\",metric=\"throughput\",bound=\"value\"}");
    assert!((value / 400.0 - 1.0).abs() < 0.1, "{value}");
}

/// What a schedule offered, and how late it was sent, is told in every format.
#[test]
fn a_load_by_a_schedule_is_exported_with_its_send_lag_and_backlog() {
    let bench = Bench::new("scheduled");
    Synthetic { repetitions: 1, scheduled: true, ..Synthetic::of(400.0, 1) }.write(&bench.path("x.proof"));
    let record = proofload_record::read(&bench.path("x.proof")).expect("it was written");
    let attempt = &record.attempts[0];
    let (run, point) = (attempt.run.index, attempt.run.point);
    let lag = |interval: &proofload_model::samples::IntervalSample| {
        interval.histograms.iter().find(|part| part.clock == LatencyClock::SendLag).expect("there is send lag").count
    };
    let lags: u64 = attempt.intervals.iter().map(lag).sum();
    let due: u64 = attempt.intervals.iter().filter_map(|interval| interval.client.offered).map(|one| one.due).sum();

    let log = exported(&bench, &["--format", "hdr"]);
    let found = read_log(&log);
    let tags: BTreeSet<&str> = found.keys().map(|(tag, _)| tag.as_str()).collect();
    assert_eq!(
        tags,
        BTreeSet::from(["run0.read", "run0.send_lag", "run0.update", "run1.read", "run1.send_lag", "run1.update"])
    );
    let own = found.iter().filter(|((tag, _), _)| *tag == format!("run{run}.send_lag"));
    assert_eq!(own.map(|(_, histogram)| histogram.len()).sum::<u64>(), lags);

    let rows = rows_of(&exported(&bench, &["--format", "csv", "--table", "client"]));
    assert_eq!(rows[0][4..], ["send_lag_p99_ns", "offered", "backlog"]);
    let of_run: Vec<&Vec<String>> = rows[1..].iter().filter(|row| row[1] == run.to_string()).collect();
    assert_eq!(of_run.iter().filter_map(|row| row[5].parse::<u64>().ok()).sum::<u64>(), due);
    assert!(of_run[0][6] == "3" && of_run.last().is_some_and(|row| row[5].is_empty() && row[6].is_empty()));

    let text = exported(&bench, &["--format", "openmetrics"]);
    let families = check_openmetrics(&text);
    assert!(families.contains("proofload_send_lag_seconds"), "{families:?}");
    let labels = format!("{{run=\"{run}\",point=\"{point}\"}}");
    for (name, wanted) in [
        ("proofload_operations_offered_total", due),
        ("proofload_operations_backlog", 3),
        ("proofload_send_lag_seconds_count", lags),
    ] {
        let line = text.lines().rfind(|line| line.starts_with(&format!("{name}{labels}")));
        assert_eq!(line.map(|line| sample(line).2), Some(wanted as f64), "{name}");
    }
}

#[test]
fn a_void_point_has_no_final_figure() {
    let bench = Bench::new("void");
    Synthetic { repetitions: 1, falling: true, ..Synthetic::of(400.0, 1) }.write(&bench.path("x.proof"));
    let text = exported(&bench, &["--format", "openmetrics"]);
    check_openmetrics(&text);
    assert!(
        text.contains("proofload_point_valid{point=\"0\"} 1 ")
            && text.contains("proofload_point_valid{point=\"1\"} 0 "),
        "{text}"
    );
    assert!(!text.lines().any(|line| line.starts_with("proofload_result") && line.contains("point=\"1\"")));
}

#[test]
fn exports_are_refused_where_they_would_lose_something_or_mean_nothing() {
    let (bench, _) = bench("refused");
    let refused = |arguments: &[&str], code: i32, wanted: &str| {
        let output = bench.run(&[&["export", "x.proof"], arguments].concat());
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {words}");
        assert!(words.contains(wanted) && output.stdout.is_empty(), "{arguments:?}: {words}");
    };
    refused(&["--format", "csv"], 2, "csv has 23 tables: choose one with --table");
    refused(&["--format", "parquet"], 2, "parquet has 23 tables: choose one with --table");
    refused(&["--format", "hdr", "--table", "facts"], 2, "--table is only used with");
    refused(&["--format", "hdr", "--run", "3"], 2, "--run 3: no such run; the plan has runs 1 to 2, in the order");
    refused(&["--format", "hdr", "--run", "0"], 2, "--run 0: no such run; the plan has runs 1 to 2, in the order");
    refused(&["--format", "csv", "--table", "fcts"], 2, "a similar value exists: 'facts'");
    exported(&bench, &["--format", "csv", "-o", "out"]);
    refused(&["--format", "csv", "-o", "out"], 1, "out/runs.csv exists; replace it with --overwrite");
    exported(&bench, &["--format", "csv", "-o", "out", "--overwrite"]);
    let one = |folder| ["--format", "csv", "--table", "facts", "-o", folder];
    refused(&one("out"), 1, "out is a folder, and one table is one file: use -o out/facts.csv");
    refused(&one("none/"), 1, "none/ is a folder, and one table is one file: use -o none/facts.csv");
    refused(&["--format", "hdr", "-o", "out/"], 1, "out/ is a folder, and one file is written: name it with -o");
    exported(&bench, &["--format", "hdr", "-o", "out/log"]);
    refused(&["--format", "hdr", "-o", "out/log"], 1, "out/log exists; replace it with --overwrite");
    assert_eq!(
        exported(&bench, &["--format", "hdr", "-o", "-"]),
        std::fs::read_to_string(bench.path("out/log")).expect("a log")
    );
}

/// A real run: every table has rows where the run has them, and its events say where time zero lies.
#[test]
fn a_study_that_was_run_is_exported() {
    let bench = Bench::new("real");
    bench.study(&small_study("sqlite", "", 1));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_str(&exported(&bench, &["--format", "json"])).expect("JSON");
    let tables = &json["tables"];
    for name in [
        "runs",
        "operations",
        "latencies",
        "client",
        "client_threads",
        "telemetry",
        "marks",
        "facts",
        "checks",
        "events",
        "sessions",
    ] {
        assert!(tables[name].as_array().is_some_and(|rows| !rows.is_empty()), "{name}");
    }
    let events = tables["events"].as_array().expect("events");
    let started = events.iter().find(|event| event["name"] == "load_started").expect("the load was started");
    let offset = started["offset_ns"].as_i64().expect("it lies before time zero");
    assert!((-2_000_000_000..0).contains(&offset), "{offset}");
    check_openmetrics(&exported(&bench, &["--format", "openmetrics"]));
    assert!(!read_log(&exported(&bench, &["--format", "hdr"])).is_empty());
    bench.expect_no_process();
}
