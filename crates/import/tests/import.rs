//! Importing genuine results: written by YCSB 0.17.0 and go-ycsb 1.0.1 against stores that only wait, kept in `tests/data/ycsb`.

use expect_test::{Expect, expect};
use proofload_import::{
    Labels, Reference, ReferenceOperation, SourceFile, faults_text, import, read_reference, reference_text,
};
use proofload_model::samples::LatencyClock;

fn source(name: &str) -> SourceFile {
    let path = format!("{}/tests/data/ycsb/{name}", env!("CARGO_MANIFEST_DIR"));
    SourceFile { name: name.to_owned(), content: std::fs::read(&path).expect("the test's data is there") }
}

fn labels() -> Labels {
    Labels { id: "old".to_owned(), title: None }
}

fn imported(names: &[&str]) -> Reference {
    let files: Vec<SourceFile> = names.iter().map(|name| source(name)).collect();
    let reference = import(&files, &labels()).unwrap_or_else(|faults| panic!("{}", faults_text(&faults)));
    let text = reference_text(&reference);
    assert_eq!(read_reference("old.toml", &text).as_ref(), Ok(&reference), "what is written is read back:\n{text}");
    reference
}

fn faults(files: &[SourceFile]) -> String {
    faults_text(&import(files, &labels()).expect_err("must be refused"))
}

fn operation<'r>(reference: &'r Reference, kind: &str, clock: LatencyClock) -> &'r ReferenceOperation {
    let mut operations = reference.points[0].operations.iter();
    operations.find(|operation| operation.kind == kind && operation.clock == clock).expect("it is imported")
}

/// One line for each operation: count, failed, and the latencies.
fn check(names: &[&str], expected: Expect) {
    let reference = imported(names);
    let mut text = format!("{} by {}\n", reference.title, reference.software.join(", "));
    for point in &reference.points {
        text.push_str(&format!("{} {:?}", point.name, point.levels));
        for (name, figure) in &point.metrics {
            text.push_str(&format!(" {name} {} {}", figure.value, figure.unit));
        }
        text.push('\n');
        for operation in &point.operations {
            text.push_str(&format!("  {} {}:", operation.kind, operation.clock.word()));
            for (name, figure) in &operation.figures {
                text.push_str(&format!(" {name} {}", figure.value));
            }
            operation.notes.iter().for_each(|note| text.push_str(&format!("\n    {note}")));
            text.push('\n');
        }
        point.notes.iter().for_each(|note| text.push_str(&format!("  {note}\n")));
    }
    expected.assert_eq(&text);
}

#[test]
fn each_measurement_type_is_read() {
    check(
        &["hdrhistogram.txt"],
        expect![[r#"
        Results of YCSB by YCSB
        hdrhistogram [] run_time 386 ms throughput 3108.8082901554403 1/s
          read service: count 603 max 19343 mean 1132.961857379768 min 0 p95 2123 p99 3825
          update service: count 597 max 5619 mean 1103.6214405360133 min 0 p95 2161 p99 4195
    "#]],
    );
    check(
        &["buckets.txt"],
        expect![[r#"
        Results of YCSB by YCSB
        buckets [] run_time 360 ms throughput 3333.3333333333335 1/s
          read service: count 607 max 2771 mean 1047.683690280066 min 0 p95 2059 p99 2081
          update service: count 593 max 9479 mean 1072.5548060708263 min 0 p95 2059 p99 2423
    "#]],
    );
    check(
        &["histogram.txt"],
        expect![[r#"
        Results of YCSB by YCSB
        histogram [] run_time 364 ms throughput 3296.703296703297 1/s
          read service: count 588 max 6471 mean 1131.7738095238096 min 0 p95 2000 p99 4000
            Percentiles are whole milliseconds, rounded down (measurement type histogram).
          update service: count 612 max 4370 mean 1088.6552287581699 min 0 p95 2000 p99 3000
            Percentiles are whole milliseconds, rounded down (measurement type histogram).
    "#]],
    );
    check(
        &["timeseries.txt"],
        expect![[r#"
        Results of YCSB by YCSB
        timeseries [] run_time 322 ms throughput 3726.7080745341614 1/s
          read service: count 610 max 2223 mean 983.2081967213114 min 0
          update service: count 590 max 4727 mean 1068.3491525423728 min 0
          Averages of intervals in the time series are skipped; this measurement type has no percentiles.
    "#]],
    );
    check(
        &["raw.txt"],
        expect![[r#"
        Results of YCSB by YCSB
        raw [] run_time 20 ms throughput 1000 1/s
          read service: count 11 max 2504 mean 1584.5454545454545 min 1 p50 2073 p90 2269 p95 2504 p99 2504 p999 2504 p9999 2504
          update service: count 9 max 2108 mean 1274.4444444444443 min 2 p50 2066 p90 2108 p95 2108 p99 2108 p999 2108 p9999 2108
    "#]],
    );
}

#[test]
fn errors_and_read_modify_writes_are_counted_apart() {
    check(
        &["errors.txt"],
        expect![[r#"
        Results of YCSB by YCSB
        errors [] run_time 435 ms throughput 4597.701149425287 1/s
          read service: count 1357 failed 29 max 5043 mean 230.35593220338984 min 200 p95 203 p99 958
          update service: count 1203 failed 12 max 5747 mean 330.30257689110556 min 300 p95 302 p99 1241
          read_modify_write service: count 601 max 9463 mean 586.3560732113144 min 500 p95 552 p99 3173
          Reads and updates include those inside read-modify-writes.
    "#]],
    );
}

#[test]
fn batched_inserts_get_a_remark() {
    check(
        &["batch.txt"],
        expect![[r#"
        Results of YCSB by YCSB
        batch [] run_time 138 ms throughput 36231.884057971016 1/s
          insert service: count 5000 max 10911 mean 50.7042 min 0 p95 0 p99 399
            Most of these operations only appended to the client's own list; their latency is not the database's, and only the one that sends a batch waits.
            The rest of each thread's last batch may never have been sent although it is counted here; YCSB did not check the number of records in the database.
    "#]],
    );
}

#[test]
fn both_streams_give_threads_and_leave_the_status_lines_out() {
    check(
        &["both-streams.txt"],
        expect![[r#"
        Results of YCSB 0.17.0 by YCSB 0.17.0
        both-streams [("workload.virtual_users", "4")] run_time 3010 ms throughput 797.3421926910299 1/s
          read service: count 1223 max 2555 mean 1052.6737530662306 min 0 p95 2073 p99 2083
          update service: count 1177 max 4479 mean 1064.0067969413765 min 0 p95 2075 p99 2083
          Status lines of single intervals are skipped: their averages and percentiles cannot be combined.
          Latencies are service times. With a target rate, they do not include the wait for a busy client.
    "#]],
    );
}

#[test]
fn go_ycsb_gives_its_last_summary() {
    check(
        &["go-ycsb.txt"],
        expect![[r#"
        Results of go-ycsb by go-ycsb
        go-ycsb [("workload.virtual_users", "2")] run_time 2.439438521 s throughput 3689.4 1/s
          read service: count 4572 max 2067 mean 535 min 0 p50 1 p90 1089 p95 1096 p99 1132 p999 2042 p9999 2067
          update service: count 4428 max 2185 mean 524 min 0 p50 0 p90 1089 p95 1095 p99 1128 p999 2055 p9999 2185
          go-ycsb takes a process-wide lock for every latency; the wait for it is included in the throughput.
    "#]],
    );
}

#[test]
fn logs_give_percentiles_of_merged_intervals() {
    let text = imported(&["with-logs.txt"]);
    let logs =
        ["READ.hdr", "UPDATE.hdr", "Intended-READ.hdr", "Intended-UPDATE.hdr", "CLEANUP.hdr", "Intended-CLEANUP.hdr"];
    let joined = imported(&[&["with-logs.txt"][..], &logs].concat());
    let alone = imported(&logs);
    for (kind, clock) in
        [("read", LatencyClock::Service), ("read", LatencyClock::Response), ("update", LatencyClock::Response)]
    {
        let [text, joined, alone] = [&text, &joined, &alone].map(|reference| operation(reference, kind, clock));
        for name in ["count", "mean", "p50", "p95", "p99", "p999"] {
            let [printed, merged, only] = [text, joined, alone].map(|operation| operation.figures[name].value);
            assert_eq!(merged, if name == "mean" { printed } else { only }, "{kind} {name}");
            check_printed(name, text.figures["count"].value, printed, only);
        }
        assert_eq!(joined.figures["p99"].from.as_deref().map(|from| from.contains(".hdr:5-")), Some(true));
        assert!(joined.figures.contains_key("p9999") && !text.figures.contains_key("p9999"));
    }
}

/// YCSB 0.17.0 rounds the rank of a percentile to the nearest, HdrHistogram's definition and ours round it up; where that is the
/// same rank, the printed percentile of all values and the one of merged intervals must be the same bucket.
fn check_printed(name: &str, count: f64, printed: f64, merged: f64) {
    let share = match name {
        "p50" => 0.5,
        "p95" => 0.95,
        "p99" => 0.99,
        "p999" => 0.999,
        _ => return assert!((merged / printed - 1.0).abs() < 1e-3, "{name}: {printed} printed, {merged} merged"),
    };
    let rank: f64 = share * count;
    if (rank + 0.5).floor() == rank.ceil() {
        assert_eq!(printed, merged, "{name}");
    } else {
        assert!(printed <= merged, "{name}: {printed} printed, {merged} merged");
    }
}

#[test]
fn every_figure_names_its_line() {
    let reference = imported(&["hdrhistogram.txt"]);
    let content = String::from_utf8(source("hdrhistogram.txt").content).unwrap();
    let figures = reference.points[0].operations.iter().flat_map(|operation| &operation.figures);
    for (name, figure) in figures.chain(&reference.points[0].metrics) {
        let line: usize = figure.from.as_ref().unwrap().strip_prefix("hdrhistogram.txt:").unwrap().parse().unwrap();
        let value: f64 = content.lines().nth(line - 1).unwrap().rsplit(", ").next().unwrap().parse().unwrap();
        assert_eq!(value, figure.value, "{name}");
    }
}

#[test]
fn what_is_wrong_comes_all_at_once() {
    let mut cut = source("hdrhistogram.txt");
    cut.content.truncate(cut.content.len() - 60);
    cut.name = "cut.txt".to_owned();
    let twice = SourceFile {
        name: "twice.txt".to_owned(),
        content: [source("hdrhistogram.txt").content, source("histogram.txt").content].concat(),
    };
    let foreign = SourceFile { name: "notes.md".to_owned(), content: b"# Notes\n".to_vec() };
    let binary = SourceFile { name: "core.jar".to_owned(), content: vec![0x50, 0x4b, 0xff, 0xfe] };
    let mut log = source("READ.hdr");
    log.content.truncate(log.content.len() - 100);
    let files = [source("cut-off.txt"), cut, twice, foreign, binary, log, source("batch.txt"), source("batch.txt")];
    expect![[r#"
        cut-off.txt: it lists no kind of operation; the client ended too early, or the file was cut off
        cut.txt:30: the last line has no line end, so its number may be cut off; add one if the line is complete
        cut.txt:29: [UPDATE] ends before what [READ] has in line 17; was the file cut off?
        twice.txt:32: a second result starts here; import one result per file, such as load and run separately
        notes.md: unknown format: neither YCSB's text (`[OVERALL], RunTime(ms), …`) nor go-ycsb's (`READ - Takes(s): …`) nor an HdrHistogram log (`#[Histogram log format version …]`)
        core.jar: not a text file; YCSB results and HdrHistogram logs are text
        READ.hdr:10: the histogram of 18 bytes cannot be read: it ends before its 29 bytes
        batch.txt: same content as batch.txt; each value would count twice"#]].assert_eq(&faults(&files));
}

#[test]
fn a_property_file_is_no_result_and_may_be_a_study() {
    let content =
        b"# Yahoo! Cloud System Benchmark\nrecordcount=1000\nworkload=site.ycsb.workloads.CoreWorkload\n".to_vec();
    let workload = SourceFile { name: "workloada".to_owned(), content };
    let found = faults(&[workload]);
    assert_eq!(found, "workloada: a YCSB property file has no results; make a study of it with --as study");
}

#[test]
fn logs_of_another_run_are_refused() {
    expect![[r#"
        Intended-READ.hdr:5-11: hdrhistogram.txt has no [Intended-READ]; is the log from another run?
        READ.hdr:5-11: the log of READ has 1577 values, but hdrhistogram.txt counts 603; is it cut off, or from another run?"#]].assert_eq(&faults(&[source("hdrhistogram.txt"), source("READ.hdr"), source("Intended-READ.hdr")]));
    expect!["it is unclear which of the 2 result texts the HDR logs belong to; import each run with its own logs"]
        .assert_eq(&faults(&[source("hdrhistogram.txt"), source("histogram.txt"), source("READ.hdr")]));
}

#[test]
fn faults_of_a_reference_come_all_at_once_with_their_lines() {
    let text = "[reference]\nid = \"x\"\ntitle = 5\nyear = 2020\nworkloud = \"ycsb\"\n\n[[point]]\nrelative_percent = \"72\"\n\
                metrics = { throughput = 5 }\n[[point.operation]]\nkind = \"read\"\nmean = { value = 5.5 }\ncount = { value = 1.5 }\n\
                p95 = { value = -1, unit = \"ms\" }\np9x = { value = 1, unit = \"ms\" }\n[[point.operation]]\ntime = \"total\"\n";
    expect![[r#"
        mine.toml:1: [reference]: publisher is missing
        mine.toml:3: [reference]: title must be a quoted string
        mine.toml:5: [reference]: unknown key workloud; known: id, title, publisher, year, url, workload, compare, relative_to, origin, record_sha256, software, hardware, procedure, notes
        mine.toml:8: point 1: relative_percent must be a number from 0
        mine.toml:9: point 1, metric throughput must be a figure such as { value = 5.54, unit = "ms" }
        mine.toml:12: point 1, operation read: mean must be a time in one of ns, us, µs, ms, s, min, h
        mine.toml:13: point 1, operation read: count must be a whole number without a unit
        mine.toml:14: point 1, operation read: p95 needs a value that is a number from 0
        mine.toml:15: point 1, operation read: unknown key p9x; known: kind, time, count, failed, share, mean, min, max, notes
        mine.toml:16: point 1, operation: kind is missing
        mine.toml:17: point 1, operation : time total must be service or response"#]].assert_eq(&read_reference("mine.toml", text).expect_err("must be refused"));
    expect![[r#"
        mine.toml is not TOML: TOML parse error at line 1, column 11
          |
        1 | [reference
          |           ^
        unclosed table, expected `]`"#]]
    .assert_eq(&read_reference("mine.toml", "[reference\n").expect_err("must be refused"));
    expect![[r#"
        study.toml:1: the file: unknown key study; known: reference, point, context
        study.toml:1: there is no [reference]; is this a study file or a result of another program (`proofload import`)?"#]].assert_eq(&read_reference("study.toml", "[study]\nname = \"x\"\n").expect_err("must be refused"));
}

/// Cut at any byte, a result is refused: nothing is half imported.
#[test]
fn a_result_cut_anywhere_is_refused() {
    for name in ["hdrhistogram.txt", "errors.txt", "go-ycsb.txt", "both-streams.txt"] {
        let whole = source(name);
        for length in 0..whole.content.len() {
            let file = SourceFile { name: name.to_owned(), content: whole.content[..length].to_vec() };
            assert!(import(&[file], &labels()).is_err(), "{name} cut at {length} bytes");
        }
    }
}
