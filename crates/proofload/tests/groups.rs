//! A factor over a group of settings, as a user meets it: validated, planned, run with the null engine, reported and exported.

mod support;

use support::{Bench, small_study, text};

/// Three levels of the load of the null engine: two settings, one, and as the study has it.
fn study() -> String {
    let levels = "[{ virtual_users = 3, client_threads = 1 }, {}, { virtual_users = 1 }]";
    let factor = format!("[[factor]]\nsetting = \"workload\"\nlevels = {levels}\n");
    small_study("null", &factor, 1)
}

#[track_caller]
fn stdout(bench: &Bench, arguments: &[&str]) -> String {
    let output = bench.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_group_of_settings_is_planned_run_and_reported_by_its_labels() {
    let bench = Bench::new("groups");
    bench.study(&study());
    let plan = stdout(&bench, &["plan", "study.toml"]);
    assert!(plan.contains("3 runs of 3 points"), "{plan}");
    assert!(plan.contains("workload = client_threads 1, virtual_users 3  3 s"), "{plan}");
    let json = stdout(&bench, &["plan", "study.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["points"][1]["levels"]["workload"], "unchanged");

    let run = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    // A host that stands still may void a window of two seconds; every point was run all the same.
    assert!(matches!(run.status.code(), Some(0 | 5 | 6)), "{}{}", text(&run.stdout), text(&run.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("the record is readable");
    assert_eq!(record.plan.points.len(), 3);
    for (point, users) in [(0, 3), (1, 2), (2, 1)] {
        let attempt = record.attempts.iter().find(|attempt| attempt.run.point == point).expect("every point was run");
        let settings = record.plan.settings(&record.study, attempt.run.point);
        assert_eq!(settings.count("workload.virtual_users"), Ok(users));
    }

    let labels = ["client_threads 1, virtual_users 3", "unchanged", "virtual_users 1"];
    let report = stdout(&bench, &["report", "x.proof", "--format", "markdown"]).replace('\\', "");
    let rows: Vec<usize> = labels.iter().filter_map(|label| report.find(&format!("| {label} |"))).collect();
    assert!(rows.len() == 3 && rows.is_sorted(), "{report}");
    assert!(
        report.contains("3 levels of workload: client_threads 1, virtual_users 3; unchanged; virtual_users 1"),
        "{report}"
    );
    let table = stdout(&bench, &["export", "x.proof", "--format", "csv", "--table", "levels"]);
    let lines =
        ["0,workload,\"client_threads 1, virtual_users 3\"", "1,workload,unchanged", "2,workload,virtual_users 1"];
    assert!(lines.iter().all(|line| table.lines().any(|found| found == *line)), "{table}");
    bench.expect_no_process();
}

#[test]
fn what_is_wrong_with_a_level_is_told_with_its_line() {
    let bench = Bench::new("groups-faults");
    bench.study(&study().replace("{ virtual_users = 1 }", "{ virtual_user = 1, kind = \"ycsb\" }"));
    let output = bench.run(&["validate", "study.toml"]);
    let told = text(&output.stderr) + &text(&output.stdout);
    assert_ne!(output.status.code(), Some(0));
    assert!(told.contains("workload.virtual_user: unknown setting; did you mean workload.virtual_users?"), "{told}");
    assert!(told.contains("workload.kind: cannot be a factor: this setting is the same for all points"), "{told}");
}
