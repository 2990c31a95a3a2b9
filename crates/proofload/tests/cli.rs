//! The program as a user meets it: exit codes, texts on the right stream, bad input.

mod support;

use expect_test::{Expect, expect};
use proofload_model::events::RunEvent;
use std::process::Stdio;
use support::waiting::wait_until;
use support::{Bench, small_study, text};

/// Runs, and compares exit code, stdout and stderr.
fn check(bench: &Bench, arguments: &[&str], expected: &Expect) {
    let output = bench.run(arguments);
    let found = format!(
        "exit {}\n-- stdout\n{}-- stderr\n{}",
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr)
    );
    // A new engine changes no test of the command line.
    let engines: Vec<&str> = proofload_engine::ENGINES.iter().map(|engine| engine.facts().name).collect();
    let found = found.replace(&engines.join(", "), "<engines>");
    let found = found.replace(&proofload_model::engines::verified_words("sqlite", None), "<verified>");
    expected.assert_eq(&without_time_of_day(&found.replace(&bench.path("").display().to_string(), "<folder>/")));
}

/// The same text whenever it was made.
fn without_time_of_day(text: &str) -> String {
    let Some((before, after)) = text.split_once("if started now, it ends ") else { return text.to_owned() };
    let rest = after.split_once('\n').map_or("", |(_, rest)| rest);
    format!("{before}if started now, it ends <time>\n{rest}")
}

#[test]
fn a_wrong_command_line_is_an_error_of_usage() {
    let bench = Bench::new("usage");
    assert_eq!(bench.run(&["rnu"]).status.code(), Some(2));
    assert_eq!(bench.run(&[]).status.code(), Some(2));
    assert_eq!(bench.run(&["--help"]).status.code(), Some(0));
    assert_eq!(bench.run(&["--version"]).status.code(), Some(0));
    assert_eq!(bench.run(&["validate", "missing.toml"]).status.code(), Some(1), "a file is a failure");
}

#[test]
fn faults_of_a_study_come_all_at_once() {
    let bench = Bench::new("faults");
    bench.study(&small_study("sqlit", "[limits]\nmemroy = \"1GiB\"\ncores = 0\n", 1));
    check(
        &bench,
        &["validate", "study.toml"],
        &expect![[r#"
        exit 3
        -- stdout
        -- stderr
        proofload: the study study.toml has 3 faults
        line 12: engine.kind: unknown engine "sqlit"; built in: <engines>; did you mean sqlite?
        line 21: limits.memroy: unknown setting; did you mean limits.memory?
        line 22: limits.cores: 0 must be a whole number from 1 to 4096
    "#]],
    );
    check(
        &bench,
        &["run", "study.toml"],
        &expect![[r#"
        exit 3
        -- stdout
        -- stderr
        proofload: the study study.toml has 3 faults
        line 12: engine.kind: unknown engine "sqlit"; built in: <engines>; did you mean sqlite?
        line 21: limits.memroy: unknown setting; did you mean limits.memory?
        line 22: limits.cores: 0 must be a whole number from 1 to 4096
    "#]],
    );
    assert!(!bench.path("small.proof").exists(), "a study with faults leaves no record");
}

#[test]
fn what_is_no_study_file_is_refused_at_once() {
    let bench = Bench::new("no-study");
    for (name, told) in [("/dev/zero", "it is a folder, a device or a pipe"), ("big.toml", "at most 8388608 are taken")]
    {
        std::fs::write(bench.path("big.toml"), vec![b'#'; (8 << 20) + 1]).expect("it is written");
        let done = bench.run(&["validate", name]);
        assert_eq!(done.status.code(), Some(1), "{name}");
        assert!(text(&done.stderr).contains(told), "{name}: {}", text(&done.stderr));
    }
    // Each of these keys was compared with every setting, and its line counted from the start.
    let keys: String = (0..15_000).map(|key| format!("memory{key} = 1\n")).collect();
    bench.study(&small_study("sqlite", &format!("[limits]\n{keys}"), 1));
    let done = bench.run(&["validate", "study.toml", "--json"]);
    assert_eq!(done.status.code(), Some(3));
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(json["faults"].as_array().map(Vec::len), Some(1_000));
    let told = bench.run(&["validate", "study.toml"]);
    let told = text(&told.stderr);
    assert!(told.contains("has 15000 faults") && told.ends_with("and 14000 more\n"), "{told}");
}

#[test]
fn a_valid_study_says_so_and_shows_its_plan() {
    let bench = Bench::new("plan");
    bench.study(&small_study(
        "sqlite",
        "[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"128MiB\"]\n\
         [limits]\nread_bandwidth = \"200MiB\"\nwrite_iops = 500\n",
        1,
    ));
    check(
        &bench,
        &["validate", "study.toml"],
        &expect![[r#"
        exit 0
        -- stdout
        study.toml: valid, 2 points
        -- stderr
    "#]],
    );
    check(
        &bench,
        &["plan", "study.toml"],
        &expect![[r#"
            exit 0
            -- stdout
            small: A study of a few seconds

            2 runs of 2 points, in this order:
                1  limits.memory = 128MiB  3 s
                2  limits.memory = 64MiB  3 s

            load: 6 s
            build the data once: about 1 s
            in total: about 21 s, including time to build, restore, start and verify; if started now, it ends <time>
            space: about 3MiB in data (1 data set, 2 copies each, plus half while it grows)
            limits.memory: 64MiB, 128MiB
            limits.read_bandwidth: 200MiB/s
            limits.write_iops: 500
            sqlite: <verified>
            -- stderr
        "#]],
    );
}

#[test]
fn a_plan_of_a_server_of_yours_has_its_data_there() {
    let bench = Bench::new("plan-url");
    let url = "postgresql://bench@127.0.0.1:1/bench";
    let made = bench.run(&["init", "--workload", "oltp", "--url", url, "--vary", "users", "-o", "mine.toml"]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let plan = text(&bench.run(&["plan", "mine.toml"]).stdout);
    assert!(plan.contains(" in the server's database (1 data set"), "{plan}");
    let json: serde_json::Value =
        serde_json::from_slice(&bench.run(&["plan", "mine.toml", "--json"]).stdout).expect("JSON");
    assert_eq!(json["space"]["path"], "the server's database");
}

#[test]
fn a_long_plan_is_cut_in_text_and_whole_in_json() {
    let bench = Bench::new("long-plan");
    let levels: Vec<String> = (1..=150).map(|users| users.to_string()).collect();
    let factor = format!("[[factor]]\nsetting = \"workload.virtual_users\"\nlevels = [{}]\n", levels.join(", "));
    bench.study(&small_study("null", &factor, 1));
    let plan = text(&bench.run(&["plan", "study.toml"]).stdout);
    assert!(plan.contains("150 runs of 150 points") && plan.contains("\n    …  70 more; "), "{plan}");
    let json: serde_json::Value =
        serde_json::from_slice(&bench.run(&["plan", "study.toml", "--json"]).stdout).expect("JSON");
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(150));
}

#[test]
fn a_destructive_step_wants_its_device_named_twice() {
    let bench = Bench::new("device");
    bench.study(
        &small_study("sqlite", "[storage.precondition]\ndevice = \"/dev/proofload-none\"\n", 1)
            .replace("[storage]\npath = \"data\"\n", ""),
    );
    let output = bench.run(&["run", "study.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--yes /dev/proofload-none"), "{}", text(&output.stderr));
    assert!(!bench.path("small.proof").exists());
    let plan = text(&bench.run(&["plan", "study.toml"]).stdout);
    assert!(plan.contains("this machine would refuse to precondition /dev/proofload-none"), "{plan}");
    let output = bench.run(&["run", "study.toml", "--yes", "/dev/proofload-none"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("refuse to precondition /dev/proofload-none"), "{}", text(&output.stderr));
}

#[test]
fn a_server_that_a_study_changes_is_named_twice() {
    let bench = Bench::new("changed-server");
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/papers/sn861-memory-sweep-sqlserver.toml");
    let run = ["run", study, "-o", "changed.proof"];
    for arguments in [run.to_vec(), [&run[..], &["--yes", "db1/proofload"]].concat()] {
        let output = bench.run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("add --yes db1:1433/proofload"), "{}", text(&output.stderr));
        assert!(!bench.path("changed.proof").exists());
    }
    let plan = text(&bench.run(&["plan", study]).stdout);
    assert!(plan.contains("requires --yes db1:1433/proofload"), "{plan}");
    let plan: serde_json::Value = serde_json::from_slice(&bench.run(&["plan", study, "--json"]).stdout).expect("JSON");
    assert_eq!(plan["changed_servers"], serde_json::json!(["db1:1433/proofload"]));
}

#[test]
fn a_missing_foreign_or_existing_record_is_refused() {
    let bench = Bench::new("record");
    bench.study(&small_study("null", "", 1));
    std::fs::write(
        bench.path("notes.proof"),
        "no record, but long enough to be looked at as a database header would be ....... ".repeat(9),
    )
    .expect("the folder takes a file");
    for command in ["status", "resume", "report"] {
        assert_eq!(bench.run(&[command, "none.proof"]).status.code(), Some(1), "{command}");
        let output = bench.run(&[command, "notes.proof"]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(text(&output.stderr).contains("not a"), "{command}: {}", text(&output.stderr));
    }
    let study = text(&bench.run(&["report", "study.toml"]).stderr);
    assert!(study.contains("study.toml is not a Proofload record but, by its name, a study"), "{study}");
    support::synthetic::Synthetic::of(40.0, 1).write(&bench.path("x.proof"));
    let record = bench.run(&["run", "x.proof"]);
    let told = text(&record.stderr);
    assert_eq!(record.status.code(), Some(3), "{told}");
    assert!(told.contains("x.proof is no study but a record") && told.contains("proofload report x.proof"), "{told}");
    for more in [&["--plan"][..], &[]] {
        let output = bench.run(&[&["run", "study.toml", "-o", "none/x.proof"], more].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("the folder none does not exist"), "{}", text(&output.stderr));
    }
    let output = bench.run(&["run", "study.toml", "-o", "notes.proof"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("exists"), "{}", text(&output.stderr));
}

#[test]
fn a_study_on_the_null_engine_goes_through_and_reports_in_every_format() {
    let bench = Bench::new("null");
    bench.study(&small_study("null", "[[factor]]\nsetting = \"limits.cores\"\nlevels = [1, 2]\n", 1));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 5 | 6)), "{code:?}: {}", text(&output.stderr));
    assert!(text(&output.stdout).is_empty(), "results go to the record; stdout stays free");
    for format in ["html", "markdown", "typst", "csv", "json", "text"] {
        let once = bench.run(&["report", "x.proof", "--format", format, "-o", "-"]);
        let twice = bench.run(&["report", "x.proof", "--format", format, "-o", "-"]);
        assert_eq!(once.status.code(), Some(0), "{format}: {}", text(&once.stderr));
        assert!(!once.stdout.is_empty() && once.stdout == twice.stdout, "{format} is the same twice");
    }
    assert!(text(&bench.run(&["status", "x.proof"]).stdout).contains("small  2 of 2 runs  "));
    let again = bench.run(&["resume", "x.proof"]);
    assert_eq!(again.status.code(), code, "resuming a finished record changes nothing");
    bench.expect_no_process();
}

/// The fixture workload has its folder and its line in the registry, and no words in the report.
#[cfg(feature = "fixtures")]
#[test]
fn a_workload_of_a_folder_and_a_line_is_listed_run_and_told() {
    let bench = Bench::new("example_rows");
    for arguments in [&["workloads"][..], &["schema"]] {
        let output = bench.run(arguments);
        assert!(text(&output.stdout).contains("example_rows"), "{arguments:?}: {}", text(&output.stdout));
    }
    let workload = "kind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 2\nscale = \"toy\"\n";
    let fixture = "kind = \"example_rows\"\nrows = 1000\nvirtual_users = 2\n";
    bench.study(&small_study("sqlite", "", 1).replace(workload, fixture));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("the record is readable");
    let checks = record.attempts.iter().flat_map(|attempt| &attempt.checks);
    let outcomes: Vec<_> = checks.map(|check| (check.name.as_str(), check.outcome)).collect();
    assert_eq!(outcomes, [("rows read back", proofload_model::samples::CheckOutcome::Met)]);
    let report = bench.run(&["report", "x.proof", "--format", "markdown", "-o", "-"]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
    assert!(text(&report.stdout).contains("operations per second"), "{}", text(&report.stdout));
}

#[test]
fn every_command_that_lists_something_lists_it() {
    let bench = Bench::new("lists");
    for (arguments, wanted) in [
        (&["engines"][..], "sqlite"),
        (&["workloads"], "tprocc"),
        (&["schema"], "limits"),
        (&["schema", "--reference"], "`limits.memory`"),
        (&["doctor"], "fio"),
        (&["doctor", "--json"], "remedy"),
    ] {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains(wanted), "{arguments:?}: {}", text(&output.stdout));
    }
}

#[test]
fn an_interrupt_is_resumable() {
    let bench = Bench::new("interrupt");
    bench.study(&small_study("null", "[[factor]]\nsetting = \"limits.cores\"\nlevels = [1, 2]\n", 1));
    let child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let begun = |record: &proofload_record::Record| {
        let mut events = record.attempts.iter().flat_map(|attempt| &attempt.events);
        events.any(|event| matches!(event.event, RunEvent::LoadStarted(_)))
    };
    wait_until("a load begins", || proofload_record::read(&bench.path("x.proof")).is_ok_and(|record| begun(&record)));
    let _sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(75), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("proofload resume x.proof"), "{}", text(&output.stderr));
    bench.expect_no_process();
    let resumed = bench.run(&["resume", "x.proof"]);
    assert!(matches!(resumed.status.code(), Some(0 | 5 | 6)), "{}", text(&resumed.stderr));
}

#[test]
fn an_agent_is_started_by_any_command() {
    let bench = Bench::new("wrapper");
    let wrapper = bench.path("far-away.sh");
    let program = env!("CARGO_BIN_EXE_proofload");
    let script = format!(
        "#!/bin/sh\necho 'Welcome to db1. Authorised users only.'\necho far >> {}\nexec {program} agent\n",
        bench.path("started").display()
    );
    std::fs::write(&wrapper, script).expect("the folder takes a file");
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("the file is ours");
    let agents = format!("[agents]\nhost = [{0:?}]\nload = [\"sh\", {0:?}]\n", wrapper.display().to_string());
    bench.study(&small_study("null", &agents, 1));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    let started = std::fs::read_to_string(bench.path("started")).expect("the wrapper ran");
    assert_eq!(started.lines().count(), 2, "one host agent, one load agent");
}

#[test]
fn results_of_others_are_imported_and_drawn_or_refused() {
    let bench = Bench::new("import");
    let lines = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 10.0\n[READ], Operations, 10\n\
                 [READ], AverageLatency(us), 5540.0\n[READ], 99thPercentileLatency(us), 9000\n[READ], Return=OK, 10\n";
    std::fs::write(bench.path("old.txt"), lines).expect("the folder takes a file");
    std::fs::write(bench.path("half.txt"), &lines[..lines.len() - 30]).expect("the folder takes a file");
    let refused = bench.run(&["import", "old.txt", "half.txt", "missing.txt", "-o", "old.toml"]);
    assert_eq!(refused.status.code(), Some(1));
    let words = text(&refused.stderr);
    assert!(words.contains("missing.txt: ") && words.contains("half.txt:5: "), "{words}");
    assert!(!bench.path("old.toml").exists(), "nothing is written");
    assert_eq!(bench.run(&["import", "old.txt", "-o", "old.toml", "--title", "Old"]).status.code(), Some(0));
    let again = bench.run(&["import", "old.txt", "-o", "old.toml"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("old.toml exists"), "{}", text(&again.stderr));

    bench.study(&small_study("null", "", 1));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    let beside = ["report", "x.proof", "--format", "markdown", "--beside", "old.toml"];
    assert_eq!(bench.run(&beside).status.code(), Some(0));
    std::fs::write(bench.path("bad.toml"), "[reference]\nid = 1\n").expect("the folder takes a file");
    let bad = bench.run(&["report", "x.proof", "--format", "markdown", "--beside", "old.toml", "--beside", "bad.toml"]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(text(&bad.stderr).contains("bad.toml:2: [reference]: id must be a quoted string"), "{}", text(&bad.stderr));
    let own = bench.run(&["report", "x.proof", "--format", "markdown", "--beside", "x.proof"]);
    assert!(
        text(&own.stderr).contains("x: only records of warehouse studies can be compared here"),
        "{}",
        text(&own.stderr)
    );
}

#[test]
fn a_property_file_becomes_a_study_that_validates() {
    let bench = Bench::new("properties");
    let text = "recordcount=1000\noperationcount=5000\nreadproportion=0.5\nupdateproportion=0.5\nrequestdistribution=zipfian\n\
                insertorder=ordered\nzeropadding=12\nthreadcount=4\nbatchsize=100\n";
    std::fs::write(bench.path("workloada"), text).expect("the folder takes a file");
    let made = bench.run(&["import", "workloada", "--as", "study", "--engine", "null", "-o", "a.toml"]);
    assert_eq!(made.status.code(), Some(0), "{}", support::text(&made.stderr));
    let valid = bench.run(&["validate", "a.toml"]);
    assert_eq!(support::text(&valid.stdout), "a.toml: valid, 1 point\n", "{}", support::text(&valid.stderr));
    let unknown = bench.run(&["import", "workloada", "--as", "study", "--engine", "nll", "-o", "b.toml"]);
    assert_eq!(unknown.status.code(), Some(1));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let bench = Bench::new("manual");
    let help = text(&bench.run(&["--help"]).stdout);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"run") && commands.contains(&"man"), "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&bench.run(&["completions", shell]).stdout);
        assert!(commands.iter().all(|command| script.contains(command)), "{shell}");
        std::fs::write(bench.path(shell), script).expect("the folder takes a file");
    }
    let bash = std::process::Command::new("bash").arg("-n").arg(bench.path("bash")).status();
    assert!(bash.expect("bash is there").success());
    assert_eq!(bench.run(&["man", "-o", "pages"]).status.code(), Some(0));
    for command in &commands {
        let page = std::fs::read_to_string(bench.path(&format!("pages/proofload-{command}.1"))).expect("a page each");
        assert!(page.contains(".SH \"EXIT STATUS\"\n.TP\n0\n"), "{page}");
    }
    let again = bench.run(&["man", "-o", "pages"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("pages/proofload.1 exists"), "{}", text(&again.stderr));
    assert_eq!(bench.run(&["man", "-o", "pages", "--overwrite"]).status.code(), Some(0));
}

#[test]
fn doctor_holds_a_study_against_the_machine() {
    let bench = Bench::new("doctor");
    bench.study(&small_study("sqlite", "", 1));
    // Each looks at the machine for ten seconds.
    let look = |more: &[&str]| {
        let mut command = bench.command(&[&["doctor", "study.toml"], more].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let looks = [
        look(&["--json"]),
        look(&["--set", "agents.host=[\"ssh\", \"db1\"]"]),
        look(&["--set", "limits.memory=900TiB"]),
    ];
    let [good, remote, large] = looks.map(|look| look.wait_with_output().expect("it ends"));
    let found: serde_json::Value = serde_json::from_slice(&good.stdout).expect("it is JSON");
    let parts: Vec<&str> =
        found["findings"].as_array().expect("a list").iter().filter_map(|one| one["part"].as_str()).collect();
    assert!(["run", "quiet", "machine"].iter().all(|part| parts.contains(part)), "{found}");
    let neighbours = &found["neighbours"];
    assert!(neighbours["seconds"].as_f64().is_some_and(|seconds| seconds >= 10.0), "{found}");
    assert_eq!(neighbours["tolerated"], 1.0, "{found}");
    assert!(neighbours["spin_p99_s"].as_f64().is_some_and(|seconds| seconds >= 0.005), "{found}");
    let remote = text(&remote.stdout);
    assert!(remote.contains("which was not checked") && !remote.contains("read back"), "{remote}");
    let told = text(&large.stdout);
    assert_eq!(large.status.code(), Some(1), "{told}");
    assert!(told.starts_with("Can it run?  no, one thing is missing\n"), "{told}");
    assert!(told.contains("exceeds the memory of this machine"), "{told}");
    assert!(told.contains("\nIs it quiet?  ") && told.contains("\nnext: fix what is missing above"), "{told}");
    let run = bench.run(&["run", "study.toml", "-o", "x.proof", "--set", "limits.memory=900TiB"]);
    assert!(run.status.code() == Some(1) && !bench.path("x.proof").exists(), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("nothing was started: limits.memory"), "{}", text(&run.stderr));
}

#[test]
fn two_studies_are_measured_at_once_and_compared() {
    let bench = Bench::new("duet");
    let study = small_study("null", "[limits]\ncores = 1\n", 2).replace("measure = \"2s\"", "measure = \"12s\"");
    for (name, users, repetitions) in [("a", 2, 2), ("b", 1, 2), ("c", 1, 3)] {
        let text = study
            .replace("virtual_users = 2", &format!("virtual_users = {users}"))
            .replace("repetitions = 2", &format!("repetitions = {repetitions}"))
            .replace("name = \"small\"", &format!("name = \"{name}\""));
        std::fs::write(bench.path(&format!("{name}.toml")), text).expect("the folder takes a file");
    }
    let refused = bench.run(&["compare", "--run", "--duet", "c.toml", "c.toml", "--set", "limits.cores=1000"]);
    let told = text(&refused.stderr);
    assert!(refused.status.code() != Some(0) && !bench.path("c.proof").exists(), "{told}");
    let refused = bench.run(&["compare", "--run", "--duet", "a.toml", "c.toml", "--set", "procedure.retries=1"]);
    let told = text(&refused.stderr);
    let faults = ["c: study.repetitions = 3", "a: procedure.retries", "must have the same points and repetitions"];
    assert!(faults.iter().all(|fault| told.contains(fault)), "{told}");
    assert!(refused.status.code() == Some(3) && !bench.path("a.proof").exists(), "{told}");
    for name in ["d", "e"] {
        let text =
            study.replace("[limits]\ncores = 1\n", "").replace("name = \"small\"", &format!("name = \"{name}\""));
        std::fs::write(bench.path(&format!("{name}.toml")), text).expect("the folder takes a file");
    }
    let refused = bench.run(&["compare", "--run", "--duet", "d.toml", "e.toml"]);
    let told = text(&refused.stderr);
    assert!(refused.status.code() == Some(3) && told.contains("d: limits.cores is not set at every point"), "{told}");
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        return;
    }

    let refused = bench.run(&["compare", "--run", "--duet", "--prove", "a.toml", "b.toml"]);
    let told = text(&refused.stderr);
    assert!(refused.status.code() == Some(3) && told.contains("the study a has not one limits.cpu"), "{told}");
    assert!(!bench.path("a.proof").exists() && !bench.path("a-same-a.proof").exists(), "{told}");
    let output = bench.run(&["compare", "--run", "--duet", "a.toml", "b.toml", "--json"]);
    let told = text(&output.stderr);
    let records = ["a.proof", "b.proof"].map(|name| proofload_record::read(&bench.path(name)).expect(&told));
    for repetition in 0..2 {
        let loads = records.each_ref().map(|record| {
            let attempt = record.finished(repetition).expect(&told);
            let at = |is_it: fn(&RunEvent) -> bool| {
                attempt.events.iter().find(|event| is_it(&event.event)).expect("it is told").at.0
            };
            let began = at(|event| matches!(event, RunEvent::LoadStarted(_)));
            (began, at(|event| matches!(event, RunEvent::LoadStopped { .. })))
        });
        // In turns, one would begin after the other was stopped.
        let [(one_began, one_stopped), (other_began, other_stopped)] = loads;
        assert!(one_began < other_stopped && other_began < one_stopped, "the loads ran at once: {loads:?}");
    }
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    if output.status.code() == Some(0) && json["comparisons"].as_array().is_some_and(|found| !found.is_empty()) {
        assert_eq!(json["comparisons"][0]["spread"], "of the ratio over the same seconds", "{json}");
    }
    let late = bench.run(&["compare", "--run", "--duet", "--prove", "a.toml", "b.toml"]);
    assert!(text(&late.stderr).contains("were begun without --prove"), "{}", text(&late.stderr));
    bench.expect_no_process();
}

#[test]
fn two_studies_are_measured_in_turns_and_compared() {
    let bench = Bench::new("turns");
    let study = small_study("null", "", 3);
    bench.study(&study);
    for (name, users) in [("a.toml", 2), ("b.toml", 1)] {
        let text = study.replace("virtual_users = 2", &format!("virtual_users = {users}"));
        std::fs::write(bench.path(name), text).expect("the folder takes a file");
    }
    let output = bench.run(&["compare", "--run", "a.toml", "b.toml", "--json"]);
    let told = text(&output.stderr);
    let records = ["a.proof", "b.proof"].map(|name| proofload_record::read(&bench.path(name)).expect(&told));
    assert!(records.iter().all(|record| (0..3).all(|run| record.finished(run).is_some())), "{told}");
    // Each pair of runs is over before the next begins.
    let ended = |block: usize| records.each_ref().map(|record| record.attempts[block].started.0);
    for block in 0..2 {
        assert!(ended(block).iter().max() < ended(block + 1).iter().min(), "{told}");
    }
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    if output.status.code() == Some(0) {
        assert_eq!(json["comparisons"][0]["spread"], "of the ratios inside blocks", "{json}");
    }
    let plan = bench.run(&["plan", "a.toml", "--pilot", "a.proof", "--json"]);
    let planned = text(&plan.stdout) + &text(&plan.stderr);
    let told = ["no valid point", "measure 10 s or more", "\"measure_s\""];
    assert!(told.iter().any(|told| planned.contains(told)), "{planned}");
    let before = ["a.proof", "b.proof"].map(|name| std::fs::read(bench.path(name)).expect("it is there"));
    let again = bench.run(&["compare", "--run", "a.toml", "b.toml"]);
    assert!(!text(&again.stderr).contains("measuring"), "{}", text(&again.stderr));
    let after = ["a.proof", "b.proof"].map(|name| std::fs::read(bench.path(name)).expect("it is there"));
    assert!(before == after, "complete records are only read");
    std::fs::remove_file(bench.path("b.proof")).expect("it is there");
    let alone = bench.run(&["compare", "--run", "a.toml", "b.toml"]);
    assert!(
        alone.status.code() == Some(1) && text(&alone.stderr).contains("they were not measured in turns"),
        "{}",
        text(&alone.stderr)
    );
}
