//! What the tests of the whole program share: running the binary, small studies, looking for what was left behind.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

pub(crate) mod left_behind;
pub(crate) mod nbd;
pub(crate) mod pools;
pub(crate) mod servers;
pub(crate) mod synthetic;
pub(crate) mod tiers;
pub(crate) mod waiting;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Marks every process of one test, so that orphans are found.
const MARK: &str = "PROOFLOAD_TEST_MARK";

/// A folder of one test, and the mark of its processes. Below `/tmp`, so that unprivileged servers reach it.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    mark: String,
}

impl Bench {
    pub(crate) fn new(name: &str) -> Self {
        left_behind::note_what_is_there();
        let folder = tempfile::Builder::new().prefix("proofload-test-").tempdir().expect("a temporary folder");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("the folder is ours");
        let mark = format!("{name}-{}-{}", std::process::id(), folder.path().display());
        Self { folder, mark }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a study file.
    pub(crate) fn study(&self, text: &str) -> PathBuf {
        let path = self.path("study.toml");
        std::fs::write(&path, text).expect("the folder takes a file");
        path
    }

    /// The program, in this folder, with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofload"));
        command.args(arguments).current_dir(self.folder.path()).env(MARK, &self.mark).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }

    /// Living processes of this test, with their command lines.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let wanted = format!("{MARK}={}", self.mark);
        let numbers = std::fs::read_dir("/proc").expect("/proc is there").flatten();
        numbers
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
            })
            .filter_map(|pid| {
                let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok().filter(|line| !line.is_empty())?;
                Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
            })
            .collect()
    }

    /// Waits until no process of this test lives; says which do after a while: what a host lets stand still ends late.
    #[track_caller]
    pub(crate) fn expect_no_process(&self) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(120) {
            if self.processes().is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("processes were left behind: {:?}", self.processes());
    }
}

/// Text of an output stream.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Kills a process at once.
pub(crate) fn kill(pid: u32) {
    let _status = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Asks a process to end.
pub(crate) fn kill_gently(pid: u32) {
    let _status = Command::new("kill").arg(pid.to_string()).stderr(Stdio::null()).status();
}

/// Control groups of ours whose owner is dead. The owner's process number stands in the name.
pub(crate) fn orphaned_groups() -> Vec<PathBuf> {
    groups_of(&|owner| !Path::new(&format!("/proc/{owner}")).exists())
}

/// Control groups whose owner, by its process number, is one of these.
pub(crate) fn groups_of(is_owner: &dyn Fn(u32) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"] {
        walk(Path::new(root), 4, is_owner, &mut found);
    }
    found
}

fn walk(folder: &Path, depth: u32, is_owner: &dyn Fn(u32) -> bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix("proofload-").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        match owner {
            Some(pid) if is_owner(pid) => found.push(entry.path()),
            Some(_) => {}
            None if depth > 0 => walk(&entry.path(), depth - 1, is_owner, found),
            None => {}
        }
    }
}

/// Whether PostgreSQL is installed. Without it tests are skipped, visibly, unless `PROOFLOAD_REQUIRE_POSTGRESQL` says that it must be.
pub(crate) fn postgresql_here(test: &str) -> bool {
    let found = proofload_engine::engine("postgresql").is_some_and(|engine| engine.locate().is_ok());
    if !found {
        assert!(std::env::var_os("PROOFLOAD_REQUIRE_POSTGRESQL").is_none(), "{test} needs PostgreSQL");
        println!("SKIPPED: {test}: PostgreSQL is not installed");
    }
    found
}

/// A study of a few seconds: so many points, so many repetitions. The null engine takes its time, or it would keep both cores busy.
pub(crate) fn small_study(engine: &str, extra: &str, repetitions: u32) -> String {
    let service_time = if engine == "null" { "\nservice_time = \"1ms\"" } else { "" };
    format!(
        r#"
[study]
name = "small"
title = "A study of a few seconds"
repetitions = {repetitions}
[workload]
kind = "tprocc"
warehouses = 1
virtual_users = 2
scale = "toy"
[engine]
kind = "{engine}"{service_time}
[storage]
path = "data"
[procedure]
warm_up = {{ at_least = "1s", at_most = "3s", round = "1s", tolerance = 0.5 }}
measure = "2s"
drift_tolerance = 1.0
steal_tolerance = 1.0
{extra}
"#
    )
}

/// A study of a few seconds on PostgreSQL whose operations have a deadline, and so few of them a second that the processor is left to the prober
/// and to other tests, and little is to be recovered.
pub(crate) fn paced_study(rate: u32, more: &str) -> String {
    let workload = format!("[workload]\ndeadline = \"1s\"\nreconnect_wait = \"50ms\"\nrate = {rate}\n");
    small_study("postgresql", more, 1).replacen("[workload]\n", &workload, 1)
}

/// Expects that a drill came to its end. Beside other work a window of two seconds may say nothing, the prober may be kept from a core, and a relay
/// be slow: all of that is said, and makes the drill void, not wrong.
#[track_caller]
pub(crate) fn expect_a_verdict(done: &std::process::Output) {
    let told = format!("{}{}", text(&done.stdout), text(&done.stderr));
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{told}");
    let in_one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for wrong in ["acknowledged and lost", "two primaries", "definitely failed", "a second failover", "ledger"] {
        assert!(!in_one_line.contains(wrong), "{told}");
    }
}

/// What a drill came to.
#[track_caller]
pub(crate) fn drill_report(attempt: &proofload_record::Attempt) -> &proofload_model::drill::DrillReport {
    let found = attempt.last_event(|event| match event {
        proofload_model::events::RunEvent::Drilled(report) => Some(report.as_ref()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("attempt {} was no drill: {:?}", attempt.id, attempt.events))
}
