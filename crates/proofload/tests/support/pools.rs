//! Pools of tests: their devices, and servers of the program on them.

use super::{Bench, text};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Output, Stdio};
use std::time::{Duration, Instant};

/// A server that is ready.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// What it said until it was ready.
    pub(crate) said: String,
    /// Held so that it can go on saying.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server whose volume `data` is a file in the folder `mount`; `None`, with the reason, where mounting is not allowed.
    #[track_caller]
    pub(crate) fn start_mounted(bench: &Bench, test: &str, more: &[&str]) -> Option<Self> {
        if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
            println!("SKIPPED: {test}: it needs /dev/fuse and root");
            return None;
        }
        // After a kill it is there and dead.
        let _there = std::fs::create_dir(bench.path("mount"));
        Some(Self::start(bench, &[&["--origin", "data=data", "--fuse", "mount"], more].concat()))
    }

    /// Starts `tier serve` with these arguments and waits until everything is in its place.
    #[track_caller]
    pub(crate) fn start(bench: &Bench, arguments: &[&str]) -> Self {
        let all = [&["tier", "serve", "cache", "--control", "control"], arguments].concat();
        let mut command = bench.command(&all);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut said = String::new();
        while !said.contains("\n  control ") {
            if stdout.read_line(&mut said).expect("the output is text") == 0 {
                let output = child.wait_with_output().expect("it has ended");
                panic!("the server ended: {said}{}", text(&output.stderr));
            }
        }
        Self { child, said, _stdout: stdout }
    }

    /// The loop device of its only volume.
    #[track_caller]
    pub(crate) fn loop_device(&self) -> PathBuf {
        let word = self.said.split_whitespace().find(|word| word.starts_with("/dev/loop"));
        word.map(|word| PathBuf::from(word.trim_end_matches(','))).expect("it told one")
    }

    /// Kills it without warning.
    pub(crate) fn kill(mut self) {
        // Somebody may have killed it before.
        drop(self.child.kill());
        self.child.wait().expect("it is ours");
    }

    /// Waits for its end; returns its exit code and what it said on stderr.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut said).expect("the output is text");
        (self.child.wait().expect("it is ours").code(), said)
    }
}

/// Whatever a failed test leaves is ended.
impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Makes a file of zeros.
pub(crate) fn zeros(bench: &Bench, name: &str, bytes: u64) -> PathBuf {
    let path = bench.path(name);
    std::fs::File::create(&path).and_then(|file| file.set_len(bytes)).expect("the folder takes a file");
    path
}

/// Makes a pool `cache` of so many MiB with an origin `data` of 64 MiB.
#[track_caller]
pub(crate) fn format(bench: &Bench, mebibytes: u32) {
    format_sized(bench, mebibytes, 64 << 20);
}

/// Makes a pool `cache` of so many MiB with an origin `data` of so many bytes.
#[track_caller]
pub(crate) fn format_sized(bench: &Bench, mebibytes: u32, origin: u64) {
    zeros(bench, "data", origin);
    let size = format!("{mebibytes}MiB");
    succeed(&bench.run(&["tier", "format", "cache", "--origin", "data=data", "--size", &size]));
}

/// What a command said that must succeed.
#[track_caller]
pub(crate) fn succeed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// What a command said that must fail so.
#[track_caller]
pub(crate) fn fail(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

/// Waits for the end of a process; a process that hangs fails the test.
#[track_caller]
pub(crate) fn ends(mut child: Child, within: Duration) -> Output {
    let begun = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        assert!(begun.elapsed() < within, "process {} hangs", child.id());
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("it is ours")
}
