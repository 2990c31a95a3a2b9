//! What a report says of the warehouse workload.

use crate::support::{Appliance, warehouse};
use proofload_analysis::calibration::{Pass, device_facts, missing_facts, query_facts, scan_facts};
use proofload_analysis::warehouse::{Confidence, LimitingResource};
use proofload_import::read_reference;
use proofload_import::reference_text;
use proofload_model::facts::calibration::{COLD, DEVICE_READ, IN_CACHE};
use proofload_model::samples::Fact;
use proofload_model::settings::Value;
use proofload_model::units::{Bytes, BytesPerSecond};
use proofload_record::Record;
use proofload_report::findings::comparison::{self, Comparison, ComparisonFilter, NamedRecord, compare};
use proofload_report::findings::warehouse::{pairings, query_totals, rating, recorded_reference};
use proofload_report::findings::{Window, evaluate, evaluate_beside};
use proofload_report::metrics::{MetricKey, QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, SCAN_LOGICAL};
use proofload_report::{ComparisonFormat, Format, ReportOptions, render, render_comparison, render_with};
use std::time::Duration;

const FORMATS: [Format; 5] = [Format::Html, Format::Markdown, Format::Csv, Format::Json, Format::Text];

fn markdown(record: &Record) -> String {
    render(record, Format::Markdown).expect("the record has points")
}

/// The part of a text from a heading to the next one of the same or a higher level.
#[track_caller]
fn section(markdown: &str, heading: &str) -> String {
    let (_, rest) = markdown.split_once(heading).unwrap_or_else(|| panic!("there is no {heading}"));
    rest.split("\n## ").next().and_then(|part| part.split("\n### ").next()).unwrap_or_default().to_owned()
}

#[track_caller]
fn check_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

/// A metric of a point.
#[track_caller]
fn check_metric(record: &Record, point: usize, name: &str, expected: f64) {
    let key: MetricKey = name.parse().expect("the name of a metric");
    let value = evaluate(record).points[point].metric(key).unwrap_or_else(|why| panic!("{name}: {why}")).value();
    assert!((value / expected - 1.0).abs() < 0.02, "{name}: {value} is not {expected}");
}

#[test]
fn every_form_speaks_of_queries_and_names_the_derivation() {
    let record = warehouse(&Appliance::stores());
    assert!(evaluate(&record).points.iter().all(|point| point.verdict.is_valid()));
    for format in FORMATS {
        let text = render(&record, format).expect("the record has points");
        for foreign in ["TPM", "NOPM", "New-Order", "transaction", "NaN"] {
            assert!(!text.contains(foreign), "{format:?} says {foreign}");
        }
        assert!(matches!(format, Format::Csv | Format::Text) || text.contains("TPC-H-derived"), "{format:?}");
    }
    check_holds(&markdown(&record), &["A TPC-H-derived set of analytic queries at scale factor 1 with 2 streams"]);
}

#[test]
fn other_workloads_have_no_certificate() {
    for text in [
        markdown(&crate::support::record(&crate::support::Shape::memory(2))),
        markdown(&crate::support::key_value(&crate::support::KeyValue::plain())),
    ] {
        assert!(!text.contains("Rating certificate") && !text.contains("User data capacity"));
    }
}

#[test]
fn rates_follow_from_what_was_simulated() {
    let record = warehouse(&Appliance::stores());
    for (point, rate, device, cpu, compression, with_indexes) in
        [(0, 1_800.0, 195.0, 60.0, 0.764, 0.619), (1, 14_400.0, 40.0, 97.0, 3.8, 3.8)]
    {
        check_metric(&record, point, "queries_per_hour", rate);
        check_metric(&record, point, "queries_per_hour_per_tb", rate * 0.0011);
        check_metric(&record, point, "scan_physical_mb_s", device);
        check_metric(&record, point, "cpu_percent", cpu);
        check_metric(&record, point, "physical_mb_per_cpu_s", device / (2.0 * cpu / 100.0));
        check_metric(&record, point, "compression", compression);
        check_metric(&record, point, "compression_with_indexes", with_indexes);
    }
    check_metric(&record, 0, "scan_file_mb_s", 195.0 * 1.05);
    check_metric(&record, 0, "scan_logical_mb_s", 195.0 * 1.25);
    check_metric(&record, 0, "hit_percent", 20.0);
    check_metric(&record, 0, "io_throughput_mb_s", 195.0 * 1.125);
    let missing = evaluate(&record).points[1].metric(SCAN_LOGICAL).unwrap_err();
    assert_eq!(missing, "the engine has no such counter");
}

/// A study of one repetition whose runs end by rounds.
fn by_rounds(warm_up: u64, streams: &[&[f64]], repetitions: u32) -> Record {
    let streams = streams.iter().map(|lengths| lengths.to_vec()).collect();
    warehouse(&Appliance { rounds: Some((warm_up, streams)), repetitions, ..Appliance::stores() })
}

/// Reasons against the first run.
fn voids(record: &Record) -> Vec<String> {
    evaluate(record).points[1].runs[0].voids.iter().map(ToString::to_string).collect()
}

#[test]
fn a_run_of_rounds_is_rated_as_a_whole() {
    // Two streams until the first is through, at 70.5 s; the last query of each failed.
    let record = by_rounds(0, &[&[70.5], &[75.25]], 1);
    assert_eq!(voids(&record), [""; 0], "neither a detector nor throughput by the second is asked");
    check_metric(&record, 1, "queries_per_hour", 3_600.0 * (21.0 / 70.5 + 21.0 / 75.25));
    let findings = evaluate(&record);
    let rate = findings.points[1].metric(QUERIES_PER_HOUR).unwrap();
    assert!(rate.interval().bounds().is_none(), "one run of a fixed number has no spread: {rate}");
    let run = &findings.points[1].runs[0];
    let window = run.window.map(Window::span);
    assert_eq!((window, run.window_seconds()), (Some((0.0, 71.0)), Some((0.0, 70.5))));
    let text = markdown(&record);
    check_holds(&section(&text, "Results\n"), &["| Operations |"]);
    check_holds(
        &section(&text, "How it was measured\n"),
        &["No warm-up: cold start.", "until the first of the streams had no work left"],
    );
    assert!(!section(&text, "How it was measured\n").contains("never settled"));
    check_holds(
        &section(&text, "Runs, checks and audits\n"),
        &[
            "| none: cold start | *not measured: one round: drift cannot be judged, n = 1* |",
            "| DuckDB | 1 | 72.9 (n = 2, ",
        ],
    );
    assert!(!text.contains("# Stalls") && !text.contains(" Stalls\n"), "seconds of a rated run may be empty");
    for format in FORMATS {
        assert!(!render(&record, format).unwrap().contains("never settled"), "{format:?}");
    }
    let repeated = by_rounds(0, &[&[70.5], &[75.25]], 3);
    let rate = evaluate(&repeated).points[1].metric(QUERIES_PER_HOUR).unwrap();
    assert!(rate.interval().bounds().is_some() && rate.n() == 3, "repetitions give the interval: {rate}");
}

#[test]
fn warm_up_rounds_are_declared_and_not_rated() {
    let record = by_rounds(1, &[&[30.0, 20.0, 20.2], &[28.0, 22.0, 22.1]], 1);
    assert_eq!(voids(&record), [""; 0]);
    // From second 30 to 70.2: the first stream's 43 valid queries, and the second's in part.
    let second = (22.0 * 20.0 / 22.0 + 21.0 * 20.2 / 22.1) / 40.2;
    check_metric(&record, 1, "queries_per_hour", 3_600.0 * (43.0 / 40.2 + second));
    let text = markdown(&record);
    check_holds(
        &section(&text, "Runs, checks and audits\n"),
        &["| 1 round | *not measured: 2 rounds: drift cannot be judged, n = 2* |"],
    );
    let none = by_rounds(1, &[&[30.0, 20.0], &[70.0, 22.0]], 1);
    let reasons = voids(&none).join("; ");
    assert!(
        reasons.contains("a user ran out of work before all users had completed their warm-up rounds"),
        "{reasons}"
    );
}

#[test]
fn rounds_that_become_shorter_void_the_run() {
    let record = by_rounds(0, &[&[29.0, 20.1, 10.9, 2.0], &[29.0, 20.2, 11.0, 2.1]], 1);
    let record_ok = by_rounds(1, &[&[29.0, 15.0, 15.0, 15.0], &[29.0, 15.1, 15.0, 14.9]], 1);
    assert_eq!(voids(&record_ok), [""; 0]);
    let reasons = voids(&record);
    assert!(
        reasons[0].starts_with("rounds became 1") && reasons[0].contains("shorter from the first to the last of 4"),
        "{reasons:?}"
    );
}

#[test]
fn the_bound_is_told_with_its_confidence() {
    let bound = |shape: &Appliance, point: usize| {
        let record = warehouse(shape);
        let findings = evaluate(&record);
        let verdict = rating(&findings, &findings.points[point]).unwrap().verdict.unwrap();
        (verdict.bound, verdict.confidence)
    };
    let stores = Appliance::stores();
    assert_eq!(bound(&stores, 0), (LimitingResource::Io, Confidence::Firm));
    assert_eq!(bound(&stores, 1), (LimitingResource::Cpu, Confidence::Firm));
    let uncalibrated = Appliance { uncalibrated: true, ..stores };
    assert_eq!(bound(&uncalibrated, 0), (LimitingResource::Unclear, Confidence::None));
    assert_eq!(bound(&uncalibrated, 1), (LimitingResource::Cpu, Confidence::Firm));
    assert_eq!(
        bound(&Appliance::streams(), 0),
        (LimitingResource::Unclear, Confidence::None),
        "one stream fills nothing"
    );
}

#[test]
fn the_rating_stands_in_json_with_what_it_rests_on() {
    let json = |shape: &Appliance| -> serde_json::Value {
        serde_json::from_str(&render(&warehouse(shape), Format::Json).unwrap()).unwrap()
    };
    let stores = json(&Appliance { group_share: Some(1.0), ..Appliance::stores() });
    let rating = &stores["points"][0]["rating"];
    assert_eq!(
        (rating["bound"].as_str(), rating["confidence"].as_str()),
        (Some("I/O-bound"), Some("firm")),
        "{rating}"
    );
    assert_eq!(
        (rating["cpu_by"].as_str(), rating["reads_by"].as_str()),
        (Some("control group"), Some("control group"))
    );
    assert_eq!(rating["calibration"]["device_read_mb_s"], 200.0);
    assert!(rating["reasons"][0].as_str().unwrap().starts_with("CPU at "), "{rating}");
    let uncalibrated = json(&Appliance { uncalibrated: true, ..Appliance::stores() });
    let rating = &uncalibrated["points"][0]["rating"];
    assert_eq!((rating["bound"].as_str(), rating["cpu_by"].as_str()), (Some("unclear"), Some("threads")));
    assert!(rating["calibration"]["device_read_mb_s"].is_null());
}

/// A pass of a probe that took so much CPU time and moved so much.
fn pass(cpu_ms: u64, device_mb: u64) -> Pass {
    let (took, cpu) = (Duration::from_secs(2), Some(Duration::from_millis(cpu_ms)));
    let device = Some(Bytes(device_mb * 1_000_000));
    Pass { took, cpu, device, logical: None, sources: "a simulation".to_owned() }
}

/// A record in whose runs the conductor noted these facts.
fn noting(shape: &Appliance, facts: &[Fact]) -> Record {
    let mut record = warehouse(&Appliance { uncalibrated: true, repetitions: 1, ..shape.clone() });
    record.attempts.iter_mut().for_each(|attempt| attempt.facts.extend(facts.to_vec()));
    record
}

#[test]
fn a_calibration_of_the_runs_is_told_and_decides() {
    let mut facts = device_facts(BytesPerSecond(200_000_000), "fio, in a test");
    let warm = [pass(400, 0), pass(420, 0), pass(440, 0)];
    facts.extend(scan_facts("probe_scan", &pass(1_000, 800), &warm).unwrap());
    let record = noting(&Appliance::stores(), &facts);
    let text = section(&markdown(&record), "Calibration\n");
    check_holds(
        &text,
        &["| all points | 200 (n = 1, ", "| 1,908 (", "; n = 3) |", "| 800 (n = 1, ", "fio, in a test", "an estimate"],
    );
    let findings = evaluate(&record);
    let verdict = rating(&findings, &findings.points[0]).unwrap().verdict.unwrap();
    assert_eq!((verdict.bound, verdict.confidence), (LimitingResource::Io, Confidence::Firm), "{:?}", verdict.reasons);
}

#[test]
fn what_could_not_be_calibrated_says_why() {
    let mut facts = missing_facts(&[DEVICE_READ], "fio is not installed: looked for on the path");
    facts.extend(missing_facts(&[IN_CACHE, COLD], "probe_scan: query_cap"));
    let record = noting(&Appliance::stores(), &facts);
    let text = markdown(&record);
    check_holds(&section(&text, "Calibration\n"), &["not calibrated: fio is not installed: looked for on the path"]);
    let findings = evaluate(&record);
    let verdict = rating(&findings, &findings.points[0]).unwrap().verdict.unwrap();
    assert_eq!(verdict.bound, LimitingResource::Unclear);
    assert!(verdict.reasons.iter().any(|reason| reason.contains("fio is not installed")), "{:?}", verdict.reasons);
    assert!(findings.points.iter().all(|point| point.verdict.is_valid()), "a calibration voids nothing");
    let mut facts = missing_facts(&[DEVICE_READ], "");
    facts.iter_mut().for_each(|fact| fact.source = "the probe was killed".to_owned());
    let record = noting(&Appliance::stores(), &facts);
    let findings = evaluate(&record);
    let verdict = rating(&findings, &findings.points[0]).unwrap().verdict.unwrap();
    assert!(verdict.reasons.contains(&"the probe was killed".to_owned()), "whatever its words: {:?}", verdict.reasons);
}

#[test]
fn classes_are_held_against_what_their_queries_cost() {
    let cpu = |query: u64| match query {
        1 => 7_750,
        6 => 1_130,
        18 => 12_860,
        query => 1_000 + 40 * query,
    };
    let mut facts: Vec<Fact> =
        (1..=21).flat_map(|query| query_facts(&format!("q{query:02}"), &pass(cpu(query), 10 * query), None)).collect();
    facts.extend(query_facts("q22", &pass(1, 1), Some("query_cap: too long")));
    let text = section(&markdown(&noting(&Appliance::stores(), &facts)), "individually\n");
    check_holds(
        &text,
        &[
            "declared simple, but costs more CPU time than the median of the complex queries: Q1 with 7.75 CPU s against 1.56 CPU s",
            "| simple | 2 | 8.88 (n = 2, ",
            "| Q22 | complex | *not measured: not calibrated* |",
        ],
    );
    let none = section(&markdown(&noting(&Appliance::stores(), &[])), "individually\n");
    assert!(!none.contains("Cost of the queries of each class"), "{none}");
}

#[test]
fn cores_that_others_use_make_nothing_cpu_bound() {
    let record = warehouse(&Appliance { own_share: Some(0.5), ..Appliance::stores() });
    check_metric(&record, 1, "cpu_percent", 97.0);
    check_metric(&record, 1, "database_cpu_percent", 48.5);
    check_metric(&record, 1, "physical_mb_per_cpu_s", 40.0 / 0.97);
    let findings = evaluate(&record);
    let verdict = rating(&findings, &findings.points[1]).unwrap().verdict.unwrap();
    assert_eq!(verdict.bound, LimitingResource::Unclear);
    check_holds(&verdict.reasons.join("; "), &["the host was shared"]);
    let own = warehouse(&Appliance { own_share: Some(0.9), ..Appliance::stores() });
    check_metric(&own, 1, "database_cpu_percent", 97.0);
}

#[test]
fn the_control_group_says_what_is_the_databases_own() {
    let all = warehouse(&Appliance { group_share: Some(1.0), ..Appliance::stores() });
    check_metric(&all, 1, "database_cpu_percent", 97.0);
    check_metric(&all, 1, "cpu_seconds_per_s", 1.94);
    // Threads that are sampled short do not count where a group is there.
    let half = warehouse(&Appliance { group_share: Some(0.5), own_share: Some(0.9), ..Appliance::stores() });
    check_metric(&half, 1, "cpu_percent", 97.0);
    check_metric(&half, 1, "database_cpu_percent", 48.5);
    check_metric(&half, 1, "scan_physical_mb_s", 20.0);
    let of = |record: &Record| {
        let findings = evaluate(record);
        rating(&findings, &findings.points[1]).unwrap().verdict.unwrap()
    };
    assert_eq!((of(&all).bound, of(&half).bound), (LimitingResource::Cpu, LimitingResource::Unclear));
    check_holds(&of(&half).reasons.join("; "), &["the host was shared"]);
    let text = markdown(&half);
    check_holds(&text, &["comes from its control group", "device reads of the database's control group"]);
    check_holds(&markdown(&warehouse(&Appliance::stores())), &["all reads of the device, by any process"]);
}

#[test]
fn a_limit_of_cpu_time_is_what_the_database_may_use() {
    let limited =
        |cpu_limit| warehouse(&Appliance { group_share: Some(0.5), cpu_limit: Some(cpu_limit), ..Appliance::stores() });
    let record = limited(1.0);
    check_metric(&record, 1, "database_cpu_percent", 97.0);
    let findings = evaluate(&record);
    let rated = rating(&findings, &findings.points[1]).unwrap();
    assert_eq!((rated.verdict.unwrap().bound, rated.calibration.cores), (LimitingResource::Cpu, Some(1.0)));
    check_metric(&limited(64.0), 1, "database_cpu_percent", 48.5);
}

#[test]
fn the_drivers_own_share_is_told_and_limited() {
    let with = |driver| warehouse(&Appliance { group_share: Some(1.0), driver: Some(driver), ..Appliance::stores() });
    let record = with(0.01);
    check_metric(&record, 1, "driver_cpu_percent", 100.0 * 0.01 / 1.94);
    check_holds(&markdown(&record), &["Driver overhead", "within 1"]);
    check_holds(&markdown(&with(0.1)), &["above 1"]);
    assert!(
        !markdown(&warehouse(&Appliance::stores())).contains("Driver overhead, share of CPU"),
        "of servers nothing is said"
    );
}

#[test]
fn a_wrong_answer_does_not_count() {
    let record = warehouse(&Appliance { wrong: vec!["q06"], ..Appliance::stores() });
    let findings = evaluate(&record);
    let attempts: Vec<_> = findings.points[1].runs.iter().filter_map(|run| record.finished(run.run.index)).collect();
    let classes = query_totals(&attempts);
    let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["simple", "average", "complex"]);
    let wrong = classes[0].queries.iter().find(|query| query.kind == "q06").unwrap();
    assert!(wrong.valid == 0 && wrong.failed > 0 && wrong.codes == ["wrong_answer"], "{wrong:?}");
    check_metric(&record, 1, "queries_per_hour", 14_400.0 * 21.0 / 22.0);
    let text = markdown(&record);
    check_holds(
        &section(&text, "individually\n"),
        &["| Q6, what query 6 asks | simple | *not measured: not valid: wrong\\_answer*"],
    );
    check_holds(
        &section(&text, "individually\n"),
        &["**Caution:** queries with invalid executions: Q6 at PostgreSQL (6 of 6, "],
    );
    check_holds(&section(&text, "Failures\n"), &["`wrong_answer`"]);
}

#[test]
fn row_and_column_store_stand_beside_the_published_ones() {
    let record = warehouse(&Appliance::stores());
    let findings = evaluate(&record);
    let pairs = pairings(&findings);
    let [pair] = pairs.as_slice() else { panic!("one pair") };
    let ratio = pair.ratio(QUERIES_PER_HOUR_PER_TB).unwrap();
    assert!((ratio.value() - 8.0).abs() < 0.2 && ratio.interval().bounds().is_some(), "{ratio}");
    let text = markdown(&record);
    check_holds(
        &section(&text, "Row store and column store\n\n**"),
        &[
            "| `dwft-36tb` | row store | 244 | 4,849 | 6,246 | 5,547 | 72 |",
            "| `dwft-36tb` | column store | 2,365 | 2,182 |",
            "9.69 ×",
        ],
    );
    check_holds(
        &section(&text, "Comparison with results of others\n"),
        &["Sources of the results: Data warehouse appliance rating, 36 TB"],
    );
    assert_eq!(pairings(&evaluate(&warehouse(&Appliance::streams()))).len(), 3, "one for each number of streams");
}

#[test]
fn relative_throughput_needs_a_reference_of_the_same_work() {
    let record = warehouse(&Appliance { repetitions: 1, ..Appliance::stores() });
    check_holds(
        &section(&markdown(&record), "## 2 Rating certificate"),
        &[
            "no ratio to the reference Data warehouse appliance rating, 36 TB: scale factor \"1\" against \"not published\"",
        ],
    );
    let own = |scale: &str| {
        let text = format!(
            "[reference]\nid = \"own\"\ntitle = \"an older record\"\npublisher = \"ours\"\nworkload = \"warehouse\"\n[[point]]\n\
             levels = {{ layout = \"columns\", \"workload.scale_factor\" = \"{scale}\", \"data.generator\" = \"tpchgen 4.0.0\", \
             \"workload.mix\" = \"each\" }}\n\
             metrics = {{ queries_per_hour_per_tb = {{ value = 7.92, unit = \"queries/h × TB\" }} }}\n"
        );
        read_reference("own.toml", &text).unwrap()
    };
    let percent = |scale: &str| {
        let findings = evaluate_beside(&record, &[own(scale)]);
        let found = rating(&findings, &findings.points[1]).unwrap().relative;
        found.into_iter().find(|(name, _)| name == "an older record").unwrap().1
    };
    let same = percent("1").unwrap();
    assert!((same / 200.0 - 1.0).abs() < 0.02, "{same} %");
    assert!(percent("10").unwrap_err().contains("scale factor \"1\" against \"10\""));
}

#[test]
fn a_stored_record_is_a_baseline_and_its_hash_is_printed() {
    let old = warehouse(&Appliance { repetitions: 1, ..Appliance::stores() });
    let hash = "5f".repeat(32);
    let baseline = recorded_reference(&old, "old", &hash).unwrap();
    assert_eq!(read_reference("old.toml", &reference_text(&baseline)).unwrap(), baseline, "it survives as a file");
    let relative = |record: &Record| {
        let findings = evaluate_beside(record, std::slice::from_ref(&baseline));
        let of = |place: usize| rating(&findings, &findings.points[place]).unwrap().relative.pop().unwrap().1;
        [of(0), of(1)]
    };
    for percent in relative(&old) {
        assert!((percent.unwrap() - 100.0).abs() < 1e-9, "a record against itself");
    }
    let text = render_with(
        &old,
        Format::Markdown,
        ReportOptions { beside: std::slice::from_ref(&baseline), ..ReportOptions::default() },
    )
    .unwrap();
    check_holds(
        &section(&text, "## 2 Rating certificate"),
        &[&format!("SHA-256 of the record “Row store against column store (old)”: `{hash}`")],
    );
    let mut other_mix = old.clone();
    other_mix.study.settings.0.insert("workload.mix".to_owned(), Value::Text("70/20/10".to_owned()));
    let [rows, _] = relative(&other_mix);
    assert!(rows.unwrap_err().contains("queries \"all by 70/20/10\" against \"all by each\""));
    let error = recorded_reference(&Record { being_written: true, ..old.clone() }, "old", &hash).unwrap_err();
    assert!(error.starts_with("old: it is still being written"), "{error}");
    let more_streams = warehouse(&Appliance::streams());
    let findings = evaluate_beside(&more_streams, &[baseline]);
    let of = |place: usize| rating(&findings, &findings.points[place]).unwrap().relative.pop().unwrap().1;
    assert!(of(0).unwrap_err().ends_with("has no result for rows with as many streams (1)"));
    assert!(of(1).is_ok(), "two streams");
}

#[test]
fn capacity_states_its_assumptions_and_its_reach() {
    let record = warehouse(&Appliance { repetitions: 1, ..Appliance::stores() });
    let text = section(&markdown(&record), "User data capacity\n");
    check_holds(
        &text,
        &[
            "the measured ratio, with indexes",
            "2.82 (device reads)",
            "beyond 11",
            "cannot be derived. Missing are",
            "| reconstructed |",
        ],
    );
    // 1 TB with 1.1 GB raw in 1.776 GB stored.
    check_holds(&text, &["| PostgreSQL | 0.418 "]);
    let silent =
        warehouse(&Appliance { more: String::new(), uncalibrated: true, repetitions: 1, ..Appliance::stores() });
    let text = section(&markdown(&silent), "User data capacity\n");
    check_holds(&text, &["the study does not state hardware.capacity", "the device was not calibrated"]);
}

#[test]
fn streams_are_told_step_by_step() {
    let text = section(&markdown(&warehouse(&Appliance::streams())), "Throughput by streams\n");
    check_holds(&text, &["| PostgreSQL | 1 | ", "| DuckDB | 4 | ", "below 3 %"]);
}

/// Two records compared by the times of their queries.
fn compared_queries<'r>(baseline: &'r Record, candidate: &'r Record) -> Comparison<'r> {
    let named = |file: &str, record| NamedRecord { file: file.to_owned(), sha256: file.to_owned(), record };
    let chosen = ComparisonFilter { metrics: vec!["query_time_s".to_owned()], levels: Vec::new() };
    compare(named("a.proof", baseline), named("b.proof", candidate), &chosen).expect("comparable")
}

/// Makes every query of a record faster, each by another factor of 0.4 to 0.5.
fn with_faster_queries(mut record: Record) -> Record {
    let intervals = record.attempts.iter_mut().flat_map(|attempt| &mut attempt.intervals);
    for delta in intervals.flat_map(|interval| &mut interval.histograms) {
        let number: u64 = delta.kind.trim_start_matches('q').parse().expect("kinds are numbered");
        delta.sum_ns = delta.sum_ns * (40 + number % 3 * 5) / 100;
    }
    record
}

#[test]
fn queries_are_pairs_where_each_side_has_one_run() {
    let one = Appliance { repetitions: 1, ..Appliance::stores() };
    let slow = warehouse(&one);
    let fast = with_faster_queries(slow.clone());
    let comparison = compared_queries(&slow, &fast);
    for row in &comparison.rows {
        assert_eq!(
            (row.contrast.spread.word(), row.verdict),
            ("of the ratios of pairs", comparison::Verdict::Faster),
            "{row:?}"
        );
        let (low, high) = row.ratio.interval().bounds().expect("22 ratios have a spread");
        assert!(0.4 < low && low < row.ratio.value() && row.ratio.value() < high && high < 0.5, "{row:?}");
    }
    assert_eq!((comparison.rows.len(), comparison.left_out.len()), (2, 0), "{:?}", comparison.left_out);
    assert!(comparison.queries.len() >= 2 * 20, "{}", comparison.queries.len());
    let page = render_comparison(&comparison, ComparisonFormat::Html);
    assert!(page.contains("Query by query") && page.contains("figure-queries"));
    let wrong = warehouse(&Appliance { wrong: vec!["q01"], ..one });
    let comparison = compared_queries(&slow, &wrong);
    assert!(comparison.left_out.iter().all(|left| left.why == "B: q01 has no valid time"), "{:?}", comparison.left_out);
}
