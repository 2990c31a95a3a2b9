//! Cases of limits: the tests of the testbed's own code run inside the machine, where control groups have version 2. One that skips itself has failed.

use super::case::{Case, Figures};
use super::disk::SPARE;
use super::programs::{PROOFLOAD, expect, line};
use serde_json::{Value, json};
use std::process::Command;

/// The name of the group.
pub(super) const GROUP: &str = "limits";

/// The tests of the testbed as a program.
pub(super) const TESTS: &str = "/testbed-tests";

/// Where the file system is mounted on whose device limits act.
const MOUNT: &str = "/mnt";

/// A case for a test, by the end of its path.
macro_rules! test_case {
    ($name:literal, $test:literal) => {
        Case { name: $name, boot: 1, run: || test_on(concat!("limits::", $test)) }
    };
}

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case { name: "version 2 alone", boot: 1, run: version_two_alone },
    test_case!("memory and cores", "applied::tests::limits_hold_for_who_joins_and_are_lifted_from_who_goes_on"),
    test_case!("a change is noticed", "applied::tests::a_process_that_never_joined_and_a_changed_limit_are_noticed"),
    test_case!("memory is reached", "applied::tests::who_takes_more_is_killed_and_the_kill_is_counted"),
    test_case!(
        "rates in force and lifted",
        "applied::tests::each_rate_is_verified_joined_lifted_and_a_change_is_noticed"
    ),
    test_case!("weight", "applied::tests::who_has_an_allowance_of_cpu_time_has_precedence_until_it_is_lifted"),
    test_case!("devices are reached", "applied::tests::reads_and_writes_are_no_faster_than_their_limits"),
    test_case!("CPU time is reached", "applied::tests::a_process_gets_no_more_cpu_time_than_its_limit"),
    test_case!("trial", "applied::tests::a_trial_leaves_nothing_behind"),
    test_case!("swept", "applied::tests::groups_of_dead_owners_are_swept_with_what_lives_in_them"),
    test_case!("swept from a slow device", "applied::tests::who_waits_for_a_slow_device_is_swept_all_the_same"),
    Case { name: "study by our agent", boot: 1, run: study_by_our_agent },
    test_case!("CPU time is changed live", "live::tests::cpu_time_follows_a_change_one_for_one_and_comes_back"),
    test_case!("requests are changed live", "live::tests::requests_follow_a_change_and_are_counted"),
    test_case!("memory is changed live", "live::tests::memory_follows_a_change_and_what_cannot_be_reclaimed_is_left"),
    test_case!("cores are slowed live", "live::tests::cores_are_lowered_by_a_share_and_every_thread_stays_on_them"),
    test_case!("a parent allows less", "live::tests::a_parent_that_allows_less_is_told_and_is_what_is_in_force"),
    test_case!("one role", "thread_cpu::tests::only_threads_of_the_role_are_limited_also_those_born_later"),
    Case { name: "experiment by our agent", boot: 1, run: experiment_by_our_agent },
    test_case!("without a limit no weight", "applied::tests::who_has_no_allowance_has_no_precedence"),
];

/// The machine has control groups of version 2 and no others, so that no test can have used version 1; a file system on a disk is mounted.
fn version_two_alone() -> Result<Figures, String> {
    let mounts = line("cat /proc/self/mounts")?;
    let groups: Vec<&str> = mounts.lines().filter(|line| line.contains(" cgroup")).collect();
    let alone = matches!(groups[..], [only] if only.contains(" cgroup2 "));
    expect(alone, || format!("control groups are mounted as {groups:?}"))?;
    let controllers = line("cat /sys/fs/cgroup/cgroup.controllers")?;
    for controller in ["cpu", "io", "memory"] {
        expect(controllers.split_whitespace().any(|found| found == controller), || {
            format!("no {controller}: {controllers}")
        })?;
    }
    line(&format!("mkfs.ext4 -q {SPARE}"))?;
    line(&format!("mount {SPARE} {MOUNT}"))?;
    Ok([("controllers".to_owned(), json!(controllers.trim()))].into_iter().collect())
}

/// A study of seconds under every limit.
const STUDY: &str = r#"
[study]
name = "limits"
title = "A study of seconds under limits"
repetitions = 1
seed = 1
[workload]
kind = "ycsb"
records = 500
virtual_users = 2
[engine]
kind = "sqlite"
[storage]
path = "data"
[limits]
memory = "64MiB"
cores = 1
cpu = 0.5
read_iops = 1000
write_iops = 200
read_bandwidth = "32MiB"
write_bandwidth = "8MiB"
[procedure]
restore = "every-run"
warm_up.at_least = "2s"
measure = "10s"
"#;

/// Limits of that study by the names of their facts; all but cores are of control groups.
const IN_FORCE: [&str; 7] =
    ["memory.max", "cores", "cpu", "read_iops", "write_iops", "read_bandwidth", "write_bandwidth"];

/// Exit codes after which a study has run and its limits were verified: good, and no result.
const HAS_RUN: [Option<i32>; 2] = [Some(0), Some(6)];

/// A study runs with our agent under every limit, and each is in force, as it reads back, by control groups of version 2.
fn study_by_our_agent() -> Result<Figures, String> {
    let (study, record) = (format!("{MOUNT}/study.toml"), format!("{MOUNT}/study.proof"));
    std::fs::write(&study, STUDY).map_err(|error| format!("{study}: {error}"))?;
    let run =
        Command::new("timeout").args(["300", PROOFLOAD, "run", &study, "-o", &record]).current_dir(MOUNT).output();
    let run = run.map_err(|error| format!("{PROOFLOAD}: {error}"))?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    expect(HAS_RUN.contains(&run.status.code()), || format!("{}: {said}", run.status))?;
    let text = line(&format!("{PROOFLOAD} export {record} --format json --table facts"))?;
    let facts: Value = serde_json::from_str(&text).map_err(|error| format!("facts: {error}"))?;
    let facts = facts["tables"]["facts"].as_array().cloned().unwrap_or_default();
    let limits: Vec<&Value> =
        facts.iter().filter(|fact| fact["subject"] == "limit" && fact["requested"].is_string()).collect();
    for name in IN_FORCE {
        let own: Vec<_> = limits.iter().filter(|fact| fact["name"] == name).collect();
        let by_version_two =
            |fact: &&&Value| fact["source"].as_str().is_some_and(|source| source.contains("(version 2)"));
        let holds = own.iter().all(|fact| fact["holds"] == true && (name == "cores" || by_version_two(fact)));
        expect(!own.is_empty() && holds, || format!("{name}: {own:?}"))?;
    }
    expect(limits.iter().all(|fact| fact["holds"] == true), || format!("one does not hold: {limits:?}"))?;
    Ok([("limits_read_back".to_owned(), json!(limits.len())), ("exit".to_owned(), json!(run.status.code()))]
        .into_iter()
        .collect())
}

/// Limits that an experiment with that study changes: all but memory, which a visit waits half a minute for, and cores, which take real-time
/// priority.
const CHANGED: [&str; 5] =
    ["limits.cpu", "limits.read_iops", "limits.write_iops", "limits.read_bandwidth", "limits.write_bandwidth"];

/// An experiment of two blocks with the study of the case before: each limit is in force as asked in the visit that lowers it, as it reads
/// back in the record.
fn experiment_by_our_agent() -> Result<Figures, String> {
    let record = format!("{MOUNT}/study.proof");
    let confirm = ["900", PROOFLOAD, "confirm", &record, "--blocks", "2", "--step", "0.3"];
    let run = Command::new("timeout").args(confirm).current_dir(MOUNT).output();
    let run = run.map_err(|error| format!("{PROOFLOAD}: {error}"))?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    expect(HAS_RUN.contains(&run.status.code()), || format!("{}: {said}", run.status))?;
    let text = line(&format!("{PROOFLOAD} report {record} --format json"))?;
    let report: Value = serde_json::from_str(&text).map_err(|error| format!("report: {error}"))?;
    let found = &report["attribution"][0];
    expect(found["blocks_made"] == 2, || format!("blocks: {found}"))?;
    let resources = found["resources"].as_array().cloned().unwrap_or_default();
    for name in CHANGED {
        let one = resources.iter().find(|one| one["name"] == name);
        let one = one.ok_or_else(|| format!("no {name}: {resources:?}"))?;
        let changed = one["true"].as_f64().is_some_and(|step| (step + 0.3).abs() < 0.02);
        let is_whole = one["blocks_left_out"] == 0 && one["verdict"] != "not tested";
        expect(changed && is_whole, || format!("{name}: {one}"))?;
    }
    Ok([("limits_changed".to_owned(), json!(CHANGED.len()))].into_iter().collect())
}

/// Runs tests of the testbed by the beginning of their path, with their files on the mounted file system.
pub(super) fn test_on(path: &str) -> Result<Figures, String> {
    tests_in(MOUNT, path)
}

/// The same with their files in a folder.
pub(super) fn tests_in(folder: &str, path: &str) -> Result<Figures, String> {
    let mut command = Command::new("timeout");
    command.args(["240", TESTS, path, "--test-threads=1", "--nocapture"]).env("TMPDIR", folder);
    let output = command.output().map_err(|error| format!("{TESTS}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let tail: String =
        text.lines().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" | ");
    expect(output.status.success(), || format!("{}: {tail}", output.status))?;
    expect(!text.contains("SKIPPED"), || format!("skipped: {tail}"))?;
    let passed = text.split("test result: ok. ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    let passed = passed.filter(|passed| *passed > 0).ok_or_else(|| format!("no test ran: {tail}"))?;
    Ok([("tests".to_owned(), json!(passed))].into_iter().collect())
}
