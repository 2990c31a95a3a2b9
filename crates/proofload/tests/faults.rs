//! Faults of the world during a study: a full disk, a record in use, a server that cannot start. Each ends with a clear text, the right
//! exit code, nothing lost, and nothing left behind.

mod support;

use proofload_model::events::RunEvent;
use proofload_model::samples::IntervalSample;
use proofload_record::State;
use std::path::PathBuf;
use std::process::Command;
use support::waiting::{wait_beside, wait_for, wait_until};
use support::{Bench, orphaned_groups, postgresql_here, small_study, text};

/// The workload of [`small_study`].
const TOY: &str = "kind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 2\nscale = \"toy\"";

/// A file system of its own, so that it can be full.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a file system; `None` when we may not.
    fn mount(at: PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir_all(&at).ok()?;
        let options = format!("size={size}");
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(&at).status().ok()?;
        status.success().then_some(Self(at))
    }

    fn resize(&self, size: &str) {
        let options = format!("remount,size={size}");
        let status = Command::new("mount").args(["-o", &options]).arg(&self.0).status().expect("mount is there");
        assert!(status.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _unmounted = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_fails_the_run_and_resume_finishes_it_when_there_is_room() {
    let bench = Bench::new("full");
    let Some(disk) = SmallDisk::mount(bench.path("data"), "3m") else {
        println!("SKIPPED: a full disk: mounting a file system is not allowed here");
        return;
    };
    bench.study(&small_study("sqlite", "", 1));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("SQLITE_FULL") || said.contains("are free"), "{said}");
    assert!(said.contains("proofload resume x.proof"), "{said}");
    bench.expect_no_process();
    let failed = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert!(failed.attempts.iter().all(|attempt| matches!(attempt.state, State::Failed { .. })));
    disk.resize("400m");
    let output = bench.run(&["resume", "x.proof"]);
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    let finished = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert!(finished.finished(0).is_some());
    assert_eq!(orphaned_groups(), Vec::<PathBuf>::new());
}

#[test]
fn a_record_that_is_being_written_can_be_looked_at_and_not_be_written_twice() {
    let bench = Bench::new("twice");
    bench.study(&small_study("null", "", 2));
    let first = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    wait_until("the record is there", || bench.path("x.proof").exists());
    let status = bench.run(&["status", "x.proof"]);
    assert!(text(&status.stdout).contains("being written now"), "{}", text(&status.stdout));
    let verified = text(&bench.run(&["verify", "x.proof"]).stdout);
    assert!(verified.starts_with("intact so far: x.proof is being written\n"), "{verified}");
    let second = bench.run(&["resume", "x.proof"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(text(&second.stderr).contains("another process"), "{}", text(&second.stderr));
    let ended = first.wait_with_output().expect("it ends");
    assert!(matches!(ended.status.code(), Some(0 | 5 | 6)), "{}", text(&ended.stderr));
}

#[test]
fn a_folder_of_somebody_else_is_refused_and_left_alone() {
    let bench = Bench::new("foreign");
    bench.study(&small_study("sqlite", "", 1));
    let first = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    assert!(matches!(first.status.code(), Some(0 | 5 | 6)), "{}", text(&first.stderr));
    let place = std::fs::read_dir(bench.path("data/small"))
        .expect("the study's folder")
        .flatten()
        .find(|entry| entry.path().is_dir());
    let place = place.expect("the folder of the data").path();
    std::fs::remove_dir_all(&place).expect("it is ours");
    std::fs::create_dir(&place).expect("its parent is there");
    std::fs::write(place.join("thesis.txt"), "years of work").expect("it is empty");
    let output = bench.run(&["run", "study.toml", "-o", "y.proof"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("was not created by Proofload"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(place.join("thesis.txt")).expect("untouched"), "years of work");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    if !postgresql_here("a server that cannot start") {
        return;
    }
    let bench = Bench::new("server");
    bench.study(&small_study("postgresql", "[engine.settings]\nshared_preload_libraries = \"no_such_library\"\n", 1));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no_such_library"), "the server's own words are shown: {said}");
    bench.expect_no_process();
    assert_eq!(orphaned_groups(), Vec::<PathBuf>::new());
}

/// 60 MB of records under a cache that would take them all, in less memory than that. It ends with the kill, on a slow disk later.
#[test]
fn a_database_that_the_memory_limit_kills_is_told_with_the_limit() {
    let bench = Bench::new("killed");
    let workload = "kind = \"ycsb\"\nvirtual_users = 2\nrecords = 60000\nmix = \"c\"\nkeys = \"uniform\"";
    let more = "[limits]\nmemory = \"32MiB\"\n[engine.settings]\ncache_size = \"-524288\"\n";
    let study = small_study("sqlite", more, 1)
        .replace("at_least = \"1s\", at_most = \"3s\"", "at_least = \"240s\", at_most = \"240s\"");
    bench.study(&study.replace(TOY, workload));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let said = text(&output.stderr);
    if said.contains("apply limits.memory") {
        println!("SKIPPED: a database that the memory limit kills: {said}");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("killed") && said.contains("limits.memory = 32MiB is too small"), "{said}");
    bench.expect_no_process();
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let attempt = record.attempts.last().expect("one attempt");
    let kills = attempt.facts.iter().find(|fact| fact.name == "memory.oom_kills").expect("noted");
    assert!(kills.effective.as_deref().is_some_and(|kills| kills != "0"), "{kills:?}");
}

#[test]
fn a_limit_that_cannot_be_had_stops_a_study_before_it_begins_or_is_left_out_and_named() {
    let bench = Bench::new("refused-limit");
    let factor = "[[factor]]\nsetting = \"limits.cores\"\nlevels = [1, 4096]\n";
    bench.study(&small_study("null", factor, 1));
    let output = bench.run(&["run", "study.toml"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("this machine does not allow limits.cores, and nothing was started"), "{said}");
    assert!(said.contains("--without-limits"), "{said}");
    assert!(!bench.path("small.proof").exists() && !bench.path("data").exists());
    let output = bench.run(&["run", "study.toml", "--without-limits", "--progress", "none"]);
    assert!(
        text(&output.stderr).contains("does not allow limits.cores (proofload doctor says why); running without"),
        "{}",
        text(&output.stderr)
    );
    let record = proofload_record::read(&bench.path("small.proof")).expect("the study was carried out");
    assert_eq!(record.study.title(), "A study of a few seconds, without limits.cores");
    assert_eq!((record.plan.points.len(), record.study.settings.get("limits.cores")), (1, None));
    assert!(record.documents["study.toml"].contains("# --set 'limits.cores=none'"));
    let left_out = RunEvent::LimitsLeftOut(vec!["limits.cores".to_owned()]);
    assert!(record.events.iter().any(|event| event.event == left_out), "{:?}", record.events);
    bench.expect_no_process();
}

/// Threads of the load agent that belong to it alone.
fn drives_load(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.map(name).any(|name| name.starts_with("client-"))
}

#[test]
fn a_load_agent_that_was_stopped_for_a_while_leaves_a_gap_and_no_zeros() {
    let bench = Bench::new("stopped");
    bench.study(&small_study("null", "", 1).replace("measure = \"2s\"", "measure = \"12s\""));
    let mut run = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let signal = |name: &str, pid: u32| {
        assert!(Command::new("kill").args([name, &pid.to_string()]).status().is_ok_and(|status| status.success()));
    };
    let (agent, _) =
        wait_for("an agent drives load", || bench.processes().into_iter().find(|(pid, _)| drives_load(*pid)));
    // The warm-up lasts a second.
    let seconds = || {
        let record = proofload_record::read(&bench.path("x.proof")).ok();
        record.and_then(|record| record.attempts.first().map(|one| one.intervals.len())).unwrap_or(0)
    };
    wait_beside(&mut run, "it measures", || (seconds() >= 3).then_some(()));
    signal("-STOP", agent);
    std::thread::sleep(std::time::Duration::from_millis(2_600));
    signal("-CONT", agent);
    let output = run.wait_with_output().expect("it ends");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("the load generator stood still for "), "{said}");
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let intervals = &record.attempts[0].intervals;
    let paused: u64 = intervals.iter().map(|interval| interval.client.paused_ns).sum();
    assert!(paused >= 2_400_000_000, "{paused} ns");
    let (from, to) = record.attempts[0].window().expect("a window");
    let is_zero = |second: &&IntervalSample| second.counts.iter().all(|counts| counts.done == 0);
    let of_window = intervals.iter().filter(|second| (from..to).contains(&second.index));
    let zeros: Vec<_> = of_window.filter(is_zero).filter(|second| second.client.paused_ns == 0).collect();
    assert!(zeros.is_empty(), "{zeros:?}");
}

/// A process that takes a core, and is no child of ours.
struct Neighbour(PathBuf);

impl Neighbour {
    fn start(bench: &Bench) -> Self {
        let program = bench.path("pl-loud");
        std::fs::copy("/bin/sh", &program).expect("it can be copied");
        let script = format!("for i in 1 2 3; do setsid {} -c 'while :; do :; done' & done", program.display());
        assert!(Command::new("/bin/sh").args(["-c", &script]).status().is_ok_and(|status| status.success()));
        Self(program)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ended = Command::new("pkill").args(["-9", "-f", &self.0.to_string_lossy()]).status();
    }
}

#[test]
fn a_run_beside_a_neighbour_is_measured_again_and_all_attempts_are_told() {
    let bench = Bench::new("retry");
    let study = small_study("null", "retries = 2", 1).replace("steal_tolerance = 1.0", "steal_tolerance = 0.2");
    bench.study(&study.replace("measure = \"2s\"", "measure = \"8s\""));
    let neighbour = Neighbour::start(&bench);
    let mut run = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let is_noisy_again = || {
        let record = proofload_record::read(&bench.path("x.proof")).ok();
        record.is_some_and(|record| record.finished(0).is_some())
    };
    while !is_noisy_again() && run.try_wait().expect("it is ours").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    drop(neighbour);
    let output = run.wait_with_output().expect("it ends");
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let finished = record.attempts.iter().filter(|attempt| attempt.state == State::Finished).count();
    assert!((2..=3).contains(&finished), "{finished} attempts: {}", text(&output.stderr));
    let looked = record.events.iter().any(|event| matches!(event.event, RunEvent::QuietChecked { .. }));
    assert!(looked, "{:?}", record.events);
    let table = text(&bench.run(&["report", "x.proof", "--format", "text", "-o", "-"]).stdout);
    // Lines end where the figures let them.
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    // What a neighbour takes may also show as a client that stood still or as telemetry that is missing.
    let reasons = ["others took", "stood still", "is missing for"];
    assert!(table.contains("was repeated") && reasons.iter().any(|why| table.contains(why)), "{table}");
}
