//! `compare` and `gate` as a user meets them: exit codes, streams, files, and two studies that were really run.

mod support;

use proofload_model::catalogue::Catalogue;
use proofload_model::events::RunEvent;
use proofload_model::plan::expand;
use proofload_model::study::validate;
use proofload_model::time::WallTime;
use proofload_record::{AttemptEvent, Opening, Recorder};
use support::synthetic::{BEGUN, Synthetic};
use support::{Bench, small_study, text};

/// Three records: a baseline, an equal machine, one that is 10 % slower; and one with a void point.
fn records(bench: &Bench) {
    Synthetic::of(1_000.0, 1).write(&bench.path("base.proof"));
    Synthetic::of(1_000.0, 2).write(&bench.path("equal.proof"));
    Synthetic::of(900.0, 3).write(&bench.path("slow.proof"));
    Synthetic { falling: true, ..Synthetic::of(1_000.0, 4) }.write(&bench.path("void.proof"));
}

#[track_caller]
fn check(bench: &Bench, arguments: &[&str], code: i32, wanted: &[&str]) {
    let output = bench.run(arguments);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
    let words = out + &err;
    for wanted in wanted {
        assert!(words.contains(wanted), "{arguments:?} without {wanted:?}:\n{words}");
    }
}

#[test]
fn records_are_compared_and_gated_with_their_exit_codes() {
    let bench = Bench::new("pairs");
    records(&bench);
    check(&bench, &["compare", "base.proof", "slow.proof"], 0, &["  4   ", "slower", "study.seed"]);
    check(&bench, &["compare", "base.proof", "equal.proof", "--metric", "throughput"], 0, &["not shown (±"]);
    let gate = |candidate: &'static str, more: &[&'static str]| {
        [&["gate", "base.proof", candidate, "--tolerance", "3%", "--not-in-turns", "warn"], more].concat()
    };
    // Records of different times are not judged unless that is asked for.
    for candidate in ["slow.proof", "equal.proof"] {
        let unasked = ["gate", "base.proof", candidate, "--tolerance", "30%"];
        check(&bench, &unasked, 8, &["\ngate undecided", "--run", "--not-in-turns"]);
    }
    check(&bench, &gate("slow.proof", &[]), 4, &["regressed", "\ngate failed: 2 losses are shown"]);
    check(&bench, &gate("base.proof", &["--tolerance", "10%"]), 2, &["cannot be used multiple times"]);
    check(
        &bench,
        &["gate", "base.proof", "base.proof", "--tolerance", "10%", "--not-in-turns", "warn"],
        0,
        &["same bytes", "\ngate passed: all 2"],
    );
    check(
        &bench,
        &["gate", "base.proof", "equal.proof", "--tolerance", "0%"],
        8,
        &["undecided", "\ngate undecided: 2 of 2"],
    );
    let lenient = ["gate", "base.proof", "equal.proof", "--tolerance", "0%", "--undecided", "pass"];
    check(&bench, &lenient, 0, &["\ngate passed, undecided"]);
    check(&bench, &gate("void.proof", &["--undecided", "pass"]), 4, &["virtual users 2 (void in B)", "still falling"]);
    check(&bench, &gate("void.proof", &["--undecided", "pass", "--void", "pass"]), 0, &["as requested"]);
    let own = gate("slow.proof", &["--metric", "throughput=20%", "--metric", "response_ns_p50.*=40%"]);
    check(&bench, &own, 0, &["0.800  held", "1.400  held"]);
    let each = ["gate", "base.proof", "slow.proof", "--metric", "throughput=20%", "--metric", "response_ns_p50.*=40%"];
    check(&bench, &[&each[..], &["--not-in-turns", "warn"]].concat(), 0, &["0.800  held", "1.400  held"]);
}

#[test]
fn wrong_questions_are_answered_with_what_is_right() {
    let bench = Bench::new("questions");
    records(&bench);
    let compare = |more: &[&'static str]| [&["compare", "base.proof", "slow.proof"], more].concat();
    check(&bench, &compare(&["--metric", "tpm"]), 1, &["this workload has no metric tpm", "response_ns_p99.<kind>"]);
    let right = "the levels of workload.virtual_users are 4, 2; for example --point workload.virtual_users=4";
    check(&bench, &compare(&["--point", "workload.virtual_users=3"]), 1, &[right]);
    check(&bench, &compare(&["--point", "3"]), 2, &["use a setting and a level"]);
    check(&bench, &["gate", "base.proof", "slow.proof", "--tolerance", "3"], 2, &["use a percentage"]);
    check(
        &bench,
        &["gate", "base.proof", "slow.proof", "--tolerance", "3%", "--metric", "cpu_percent"],
        2,
        &["no better direction"],
    );
    check(&bench, &["compare", "base.proof", "none.proof"], 1, &["no such record: none.proof"]);
    let missing = ["A: failed to read the study none.toml: looked for /", "B: base.proof is a record, not a study"];
    for command in [&["compare"][..], &["gate", "--tolerance", "3%"][..]] {
        check(&bench, &[command, &["--run", "none.toml", "base.proof"][..]].concat(), 1, &missing);
    }
    for name in ["a.toml", "b.toml"] {
        std::fs::write(bench.path(name), small_study("null", "", 2)).expect("the folder takes a file");
    }
    let run = |more: &[&'static str]| [&["compare", "--run", "a.toml", "b.toml"], more].concat();
    check(&bench, &run(&["--metric", "tpmm"]), 1, &["this workload has no metric tpmm"]);
    check(&bench, &run(&["--point", "limits.cpu=7"]), 1, &["no point has limits.cpu=7; nothing varies"]);
    let far = "[agents]\nload = [\"ssh\", \"-T\", \"loader1\", \"proofload\", \"agent\"]\n";
    std::fs::write(bench.path("far.toml"), small_study("null", far, 2)).expect("the folder takes a file");
    let elsewhere = [
        "nothing was measured: the two studies have different agents: agents.load (not set in A, ssh -T loader1 proofload agent in B)",
        "set this alike in both, or measure each with proofload run and compare the two records",
    ];
    for how in [&["compare", "--run"][..], &["compare", "--run", "--duet"][..]] {
        check(&bench, &[how, &["a.toml", "far.toml"][..]].concat(), 3, &elsewhere);
        let left = ["a.proof", "far.proof"].map(|name| bench.path(name).exists());
        assert_eq!(left, [false; 2], "a record that is left would stand in the way of the changed study: {how:?}");
    }
    let judged = ["gate", "--run", "a.toml", "b.toml", "--metric", "cpu_percent=3%"];
    check(&bench, &judged, 2, &["no better direction"]);
    check(&bench, &["gate", "--run", "a.toml", "b.toml"], 2, &["no tolerance is given; use --tolerance 3%"]);
    let short = ["gate", "--run", "a.toml", "b.toml", "--tolerance", "3%"];
    check(&bench, &short, 3, &["procedure.measure = 2 s: throughput", "--set procedure.measure=30s"]);
    check(&bench, &run(&["-o", "none/x.html"]), 1, &["failed to write none/x.html: there is no folder none"]);
    check(&bench, &run(&["-o", "x.pdf"]), 1, &["the ending .pdf stands for no format"]);
    check(
        &bench,
        &run(&["--format", "text", "-o", "base.proof"]),
        1,
        &["base.proof exists; replace it with --overwrite"],
    );
    assert!(!bench.path("a.proof").exists(), "it is refused before anything is measured");
    check(&bench, &["compare", "none.toml", "base.proof"], 1, &["no such record: none.toml; to measure", "add --run"]);
    check(&bench, &["compare", "base.proof", "."], 1, &["only the baseline may be"]);
    std::fs::write(bench.path("faulty.toml"), "x = 1\n").expect("the folder takes a file");
    let refused = bench.run(&["compare", "--run", "faulty.toml", "b.toml", "--json"]);
    let error: serde_json::Value = serde_json::from_slice(&refused.stderr).expect("one JSON object on stderr");
    assert_eq!(error["error"]["exit"], 3, "{error}");
    let said = error["error"]["text"].as_str().unwrap_or_default();
    assert!(said.contains("faulty.toml is refused") && said.contains("unknown setting"), "{said}");
    let failed = bench.run(&["compare", "base.proof", "none.proof", "--json"]);
    let error: serde_json::Value = serde_json::from_slice(&failed.stderr).expect("one JSON object on stderr");
    assert_eq!((&error["error"]["exit"], &error["form"]), (&1.into(), &1.into()));
    assert!(failed.stdout.is_empty());
}

#[test]
fn a_comparison_is_written_to_a_file_that_is_not_there() {
    let bench = Bench::new("written");
    records(&bench);
    let written = ["compare", "base.proof", "slow.proof", "--format", "markdown", "-o", "c.md"];
    check(&bench, &written, 0, &["written: c.md"]);
    check(&bench, &written, 1, &["c.md exists; replace it with --overwrite"]);
    check(&bench, &[&written[..], &["--overwrite"]].concat(), 0, &["written: c.md"]);
    let page = std::fs::read_to_string(bench.path("c.md")).expect("it was written");
    assert!(page.contains("| 4 | Throughput |") && page.contains("**slower**"), "{page}");
    let judged = ["gate", "base.proof", "slow.proof", "--tolerance", "3%", "--not-in-turns", "warn", "--json"];
    let json = bench.run(&judged);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON on stdout");
    assert_eq!(json["gate"]["outcome"], "failed");
    assert_eq!(json["baseline"]["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(json["comparisons"][0]["point"]["workload.virtual_users"], "4");
}

/// Two records of a study that changes settings of its server, of which nothing is measured yet.
#[test]
fn a_continuation_that_is_refused_leaves_the_records_as_they_are() {
    let bench = Bench::new("refused");
    let catalogue = Catalogue {
        engines: proofload_engine::ENGINES.iter().map(|engine| engine.facts()).collect(),
        workloads: proofload_load::WORKLOADS.iter().map(|workload| workload.facts()).collect(),
    };
    let study_text = include_str!("../../../studies/papers/sn861-memory-sweep-sqlserver.toml");
    let study = validate(study_text, &[], &catalogue).expect("a study of ours is valid");
    let plan = expand(&study);
    let paths = ["one.proof", "other.proof"].map(|name| bench.path(name));
    for path in &paths {
        let opening = Opening { study_text, study: &study, plan: &plan, program: "proofload 0.1.0", at: BEGUN };
        let mut recorder = Recorder::create(path, &opening).expect("the folder takes a record");
        let in_turns = RunEvent::InTurns { with: "other".to_owned(), token: "token".to_owned(), at_once: false };
        recorder.event(None, &AttemptEvent::new(BEGUN, in_turns)).expect("an event fits");
        recorder.close().expect("the record closes");
    }
    for name in ["one.toml", "other.toml"] {
        std::fs::write(bench.path(name), study_text).expect("the folder takes a file");
    }
    let bytes = || paths.each_ref().map(|path| std::fs::read(path).expect("it is there"));
    let before = bytes();
    for arguments in [&["resume", "one.proof"][..], &["compare", "--run", "one.toml", "other.toml"][..]] {
        check(&bench, arguments, 2, &["add --yes db1:1433/proofload"]);
        assert!(bytes() == before, "{arguments:?} changed a record");
    }
}

/// Attempts at each of two runs of a record.
fn attempts(bench: &Bench, record: &str) -> [usize; 2] {
    let record = proofload_record::read(&bench.path(record)).expect("it is readable");
    [0, 1].map(|run| record.attempts.iter().filter(|attempt| attempt.run.index == run).count())
}

/// Older attempts that finished are no block.
#[test]
fn a_pair_whose_repeat_failed_is_measured_again() {
    let bench = Bench::new("repeat");
    for name in ["a.toml", "b.toml"] {
        std::fs::write(bench.path(name), small_study("null", "", 2)).expect("the folder takes a file");
    }
    let compare = ["compare", "--run", "a.toml", "b.toml"];
    let told = text(&bench.run(&compare).stderr);
    assert_eq!([attempts(&bench, "a.proof"), attempts(&bench, "b.proof")], [[1, 1], [1, 1]], "{told}");
    let last = |record: &str| {
        let record = proofload_record::read(&bench.path(record)).expect("it is readable");
        record.attempts.iter().flat_map(|attempt| &attempt.events).map(|event| event.at.0).max()
    };
    let at = WallTime(last("a.proof").max(last("b.proof")).expect("they were measured") + 1);
    let mut recorder = Recorder::resume(&bench.path("a.proof"), "proofload 0.1.0", at).expect("it is continued");
    let attempt = recorder.begin_attempt(0, at).expect("it begins");
    recorder.fail(attempt, at, "it broke").expect("it fails");
    recorder.close().expect("the record closes");

    let told = text(&bench.run(&compare).stderr);
    assert_eq!([attempts(&bench, "a.proof"), attempts(&bench, "b.proof")], [[3, 1], [2, 1]], "{told}");
    let before = ["a.proof", "b.proof"].map(|name| std::fs::read(bench.path(name)).expect("it is there"));
    let told = text(&bench.run(&compare).stderr);
    let after = ["a.proof", "b.proof"].map(|name| std::fs::read(bench.path(name)).expect("it is there"));
    assert!(before == after, "the pair is whole: {told}");
    for more in [["--set", "workload.virtual_users=3"], ["--set", "study.repetitions=3"]] {
        let of_others = [&compare[..], &more[..]].concat();
        check(&bench, &of_others, 1, &["a.proof and b.proof are of other studies than those asked for"]);
    }
    std::fs::write(bench.path("b.toml"), small_study("null", "", 4)).expect("the folder takes a file");
    check(&bench, &compare, 1, &["a.proof and b.proof are of other studies than those asked for"]);
    bench.expect_no_process();
}

/// Records that have the names of checks say nothing of studies that they are not of.
#[test]
fn checks_of_another_study_are_not_used() {
    let bench = Bench::new("checks");
    let study = small_study("null", "[limits]\ncores = 1\n", 2).replace("measure = \"2s\"", "measure = \"12s\"");
    for name in ["a", "b"] {
        let text = study.replace("name = \"small\"", &format!("name = \"{name}\""));
        std::fs::write(bench.path(&format!("{name}.toml")), text).expect("the folder takes a file");
    }
    for side in ["a", "b"] {
        Synthetic::of(1_000.0, 1).write(&bench.path(&format!("a-same-{side}.proof")));
    }
    let duet = ["compare", "--run", "--duet", "--prove", "a.toml", "b.toml", "--set", "limits.cpu=0.4"];
    let told = bench.run(&duet);
    let err = text(&told.stderr);
    let is_too_small = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2;
    if is_too_small || err.contains("this machine does not allow limits.") {
        println!("SKIPPED: checks of a duet, which need two cores and limits: {err}");
        return;
    }
    let refused = "a-same-a.proof and a-same-b.proof exist but were not measured in turns; move them away";
    assert!(told.status.code() == Some(1) && err.contains(refused), "{err}");
    assert!(!bench.path("a.proof").exists() && !bench.path("a-known-a.proof").exists(), "{err}");
}

/// Real runs on the null engine and on SQLite. A busy machine may void them, which is then said.
#[test]
fn studies_that_were_run_are_compared() {
    let bench = Bench::new("real");
    for (engine, record) in [("null", "n1.proof"), ("null", "n2.proof"), ("sqlite", "s.proof")] {
        bench.study(&small_study(engine, "", 1).replace("measure = \"2s\"", "measure = \"10s\""));
        let output = bench.run(&["run", "study.toml", "-o", record]);
        assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    }
    for (one, other) in [("n1.proof", "n2.proof"), ("n1.proof", "s.proof"), ("s.proof", "n1.proof")] {
        let output = bench.run(&["compare", one, other, "--json"]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
        let (rows, void) = (json["comparisons"].as_array().map_or(0, Vec::len), &json["void"]);
        let valid = void.as_array().is_some_and(Vec::is_empty);
        assert_eq!(output.status.code(), Some(i32::from(rows == 0)), "{json:#}");
        assert_eq!(rows > 0, valid, "{json:#}");
        let engine = json["differences"].as_array().and_then(|all| all.iter().find(|one| one["name"] == "engine.kind"));
        assert_eq!(engine.is_some(), one.starts_with('n') != other.starts_with('n'), "{json:#}");
        let code = bench.run(&["gate", one, other, "--tolerance", "50%"]).status.code();
        assert!(matches!(code, Some(0 | 4 | 8)) && (valid || code == Some(4)), "{code:?}");
    }
    bench.expect_no_process();
}
