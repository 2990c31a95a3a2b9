//! `--json` of every command that prints a table, its errors, and the form of each as the guide describes it.

mod support;

use expect_test::{Expect, expect};
use serde_json::Value;
use support::synthetic::Synthetic;
use support::{Bench, small_study, text};

/// Runs, and gives what is on stdout as JSON.
#[track_caller]
fn json(bench: &Bench, arguments: &[&str], code: i32) -> Value {
    let output = bench.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    let form = if arguments.first() == Some(&"status") { 2 } else { 1 };
    assert_eq!(found["form"], form, "{arguments:?}");
    found
}

/// The error of a command: one JSON object on a line of stderr, nothing on stdout, the exit code in both places.
#[track_caller]
fn error(bench: &Bench, arguments: &[&str], code: i32) -> Value {
    let output = bench.run(&[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
    let words = text(&output.stderr);
    assert_eq!(words.lines().count(), 1, "{words}");
    let found: Value = serde_json::from_str(&words).expect("JSON on stderr");
    assert_eq!((&found["form"], &found["error"]["exit"]), (&1.into(), &code.into()), "{words}");
    found["error"].clone()
}

/// A key on a line.
fn check(found: &Value, expected: &Expect) {
    let lines = found.as_object().expect("an object").iter().map(|(key, value)| format!("{key}: {value}\n"));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_study_is_checked_and_planned() {
    let bench = Bench::new("json-study");
    let factor = "[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"128MiB\"]\n";
    bench.study(&small_study("sqlite", factor, 1));
    check(
        &json(&bench, &["validate", "study.toml"], 0),
        &expect![[r#"
            faults: []
            file: "study.toml"
            form: 1
            points: 2
            runs: 2
            runs_at_most: 2
            study: "small"
            valid: true
        "#]],
    );
    check(
        &json(&bench, &["plan", "study.toml"], 0),
        &expect![[r#"
            build_s: 1
            calibration: {"device":0,"queries":0,"scans":0}
            changed_servers: []
            destroyed_devices: []
            expected_s: 21
            form: 1
            limits: {"limits.cores":[],"limits.cpu":[],"limits.memory":["64MiB","128MiB"],"limits.memory_per_data":[],"limits.read_bandwidth":[],"limits.read_iops":[],"limits.standby_cpu":[],"limits.thread_cpu":[],"limits.write_bandwidth":[],"limits.write_iops":[]}
            load_s: {"at_least":6.0,"at_most":6.0}
            pilot: null
            points: [{"id":0,"levels":{"limits.memory":"64MiB"}},{"id":1,"levels":{"limits.memory":"128MiB"}}]
            runs: [{"index":0,"load_s":{"at_least":3.0,"at_most":3.0},"operations":null,"point":1,"repetition":0,"sentinel":false},{"index":1,"load_s":{"at_least":3.0,"at_most":3.0},"operations":null,"point":0,"repetition":0,"sentinel":false}]
            search: null
            space: {"bytes":3145728,"copies":2,"data_sets":1,"path":"data"}
            study: {"name":"small","title":"A study of a few seconds"}
        "#]],
    );
    bench.study(&small_study("sqlit", "[limits]\nmemroy = \"1GiB\"\n", 1));
    let faults = json(&bench, &["validate", "study.toml"], 3);
    assert_eq!((&faults["valid"], faults["faults"].as_array().map(Vec::len)), (&false.into(), Some(2)));
    check(
        &faults["faults"][1],
        &expect![[r#"
        key: "limits.memroy"
        line: 21
        reason: "unknown setting"
        suggestion: "limits.memory"
        text: "line 21: limits.memroy: unknown setting; did you mean limits.memory?"
    "#]],
    );
    let refused = error(&bench, &["plan", "study.toml"], 3);
    assert_eq!(faults["error"], refused, "one path leads to the faults of either command");
    assert_eq!(
        (&refused["faults"], &refused["text"]),
        (&faults["faults"], &"the study study.toml has 2 faults".into())
    );
    assert!(
        error(&bench, &["validate", "none.toml"], 1)["text"].as_str().is_some_and(|text| text.contains("none.toml"))
    );
    let with_set = error(&bench, &["plan", "study.toml", "--set", "x"], 3);
    assert_eq!(with_set["faults"].as_array().map(Vec::len), Some(3), "a wrong --set hides no other fault");
    bench.study(&small_study("sqlite", "", 1));
    assert!(error(&bench, &["plan", "study.toml", "--set", "x"], 2)["text"].is_string());
}

#[test]
fn a_record_says_where_it_stands() {
    let bench = Bench::new("json-status");
    Synthetic { repetitions: 1, ..Synthetic::of(100.0, 1) }.write(&bench.path("x.proof"));
    check(
        &json(&bench, &["status", "x.proof"], 0),
        &expect![[r#"
            being_written: false
            done: 2
            elapsed_s: null
            faults: []
            form: 2
            left_s: 0
            next: []
            of: 2
            of_is_at_most: false
            result: {"exit":0,"measured_anew":0,"not_run":0,"points":2,"searches_without_answer":0,"valid":2,"void":{"generator":0,"host":0,"settling":0,"verification":0}}
            runs: [{"attempt":null,"failed":0,"foreign":null,"foreign_reads":null,"levels":"workload.virtual_users=2","modelled_busy":null,"note":"","phase":null,"phase_at_least_s":null,"phase_at_most_s":null,"phase_s":null,"point":1,"rate":49.9,"rate_half_width":0.01141624799644228,"reasons":[],"response_p99_ns":null,"run":0,"spin":null,"state":"finished","stolen":null,"verdict":"valid"},{"attempt":null,"failed":0,"foreign":null,"foreign_reads":null,"levels":"workload.virtual_users=4","modelled_busy":null,"note":"","phase":null,"phase_at_least_s":null,"phase_at_most_s":null,"phase_s":null,"point":0,"rate":99.4,"rate_half_width":0.012806803011639167,"reasons":[],"response_p99_ns":103284735,"run":1,"spin":null,"state":"finished","stolen":null,"verdict":"valid"}]
            searches: []
            study: "synthetic"
            unit: "operations/s"
        "#]],
    );
    assert_eq!(error(&bench, &["status", "none.proof"], 1)["text"], "no such record: none.proof");
}

#[test]
fn what_is_built_in_is_listed() {
    let bench = Bench::new("json-lists");
    let engines = json(&bench, &["engines"], 0);
    let null = engines["engines"].as_array().and_then(|all| all.iter().find(|engine| engine["name"] == "null"));
    check(
        null.expect("the null engine"),
        &expect![[r#"
            capabilities: {"documents":true,"durable":false,"embedded":true,"file_snapshot":false,"limits_at_url":[],"local_instance":false,"log_folder":false,"memory_setting":false,"replication":null,"restore_at_url":false,"sql":true,"tier_in_process":false,"url":false}
            found: {"place":"built in","version":"0.1.0"}
            minimum_memory_bytes: 16777216
            missing: null
            name: "null"
            title: "answers at once and stores nothing: measures Proofload itself"
            verified: []
        "#]],
    );
    for engine in engines["engines"].as_array().expect("engines") {
        assert_eq!(engine["found"].is_null(), engine["missing"].is_string(), "{engine}");
    }
    let workloads = json(&bench, &["workloads"], 0);
    let tprocc = workloads["workloads"].as_array().and_then(|all| all.iter().find(|one| one["name"] == "tprocc"));
    let tprocc = tprocc.expect("TPROC-C");
    assert!(tprocc["settings"].as_array().is_some_and(|all| all.contains(&"workload.warehouses".into())), "{tprocc}");
    assert_eq!(tprocc["needs_sql"], true);
    let findings = json(&bench, &["doctor"], 0)["findings"].clone();
    let states = ["good", "warning", "missing"];
    let keys = ["found", "part", "remedy", "state", "subject"];
    for finding in findings.as_array().expect("findings") {
        assert!(states.iter().any(|state| finding["state"] == *state), "{finding}");
        assert!(finding.as_object().is_some_and(|finding| finding.keys().eq(keys)), "{finding}");
    }
    let schema = bench.run(&["schema"]);
    assert!(serde_json::from_slice::<Value>(&schema.stdout).is_ok_and(|schema| schema["properties"].is_object()));
}

#[test]
fn a_verified_record_says_whether_it_is_whole() {
    let bench = Bench::new("json-verify");
    Synthetic { repetitions: 1, ..Synthetic::of(100.0, 1) }.write(&bench.path("x.proof"));
    let found = json(&bench, &["verify", "x.proof"], 0);
    assert_eq!((&found["being_written"], &found["not_in_hash"]), (&false.into(), &Value::Null));
}

#[test]
fn an_import_says_what_it_made() {
    let bench = Bench::new("json-import");
    let lines = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 10.0\n[READ], Operations, 10\n\
                 [READ], AverageLatency(us), 5540.0\n[READ], 99thPercentileLatency(us), 9000\n[READ], Return=OK, 10\n";
    std::fs::write(bench.path("old.txt"), lines).expect("the folder takes a file");
    check(
        &json(&bench, &["import", "old.txt", "-o", "old.toml"], 0),
        &expect![[r#"
        file: "old.toml"
        form: 1
        made: "results"
        operations: 1
        points: 1
    "#]],
    );
    let again = error(&bench, &["import", "old.txt", "-o", "old.toml"], 1);
    assert!(
        again["text"].as_str().is_some_and(|text| text.starts_with("old.toml exists")) && again["faults"].is_null()
    );
    let missing = error(&bench, &["import", "none.txt", "-o", "new.toml"], 1);
    assert_eq!(missing["text"], "nothing was imported");
    assert!(
        missing["faults"][0]["text"].as_str().is_some_and(|text| text.starts_with("failed to read none.txt: ")),
        "{missing}"
    );
    error(&bench, &["import", "old.txt", "-o", "-"], 2);
}

#[test]
fn the_guide_describes_every_command_with_json() {
    let bench = Bench::new("json-guide");
    let guide = include_str!("../../../docs/guides/machine-readable.md");
    let help = text(&bench.run(&["--help"]).stdout);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        let takes = text(&bench.run(&[command, "--help"]).stdout).contains("--json");
        assert_eq!(guide.contains(&format!("\n## {command}\n")), takes, "{command}");
    }
}
