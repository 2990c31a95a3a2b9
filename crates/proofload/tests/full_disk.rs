//! Streams that take nothing: on a full disk, or in a pipe that nobody reads. A result that is cut is a failure; a lost message is none.

mod support;

use proofload_record::State;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use support::synthetic::Synthetic;
use support::{Bench, pools, small_study, text};

/// A disk without room: every write to it fails.
fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").expect("Linux has it")
}

/// A run that a busy host makes void is as good as another here.
const RUN: [&str; 6] = ["run", "study.toml", "--void", "ok", "--progress", "plain"];

#[track_caller]
fn expect_complete(bench: &Bench, code: Option<i32>) {
    assert_eq!(code, Some(0));
    let record = proofload_record::read(&bench.path("small.proof")).expect("the record is read");
    assert_eq!(record.attempts.iter().map(|attempt| &attempt.state).collect::<Vec<_>>(), [&State::Finished]);
    assert!(bench.path("small.html").exists(), "the report is written");
    bench.expect_no_process();
}

#[test]
fn a_study_goes_on_when_its_messages_meet_a_full_disk() {
    let bench = Bench::new("stderr-full");
    bench.study(&small_study("null", "", 1));
    let ended = bench.command(&RUN).stdout(Stdio::null()).stderr(full()).status().expect("the program starts");
    expect_complete(&bench, ended.code());
}

#[test]
fn a_study_goes_on_when_nobody_reads_its_messages_any_more() {
    let bench = Bench::new("stderr-closed");
    bench.study(&small_study("null", "", 1));
    let mut run = bench.command(&RUN);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut first = String::new();
    // The reader goes at the end of this line, and with it the pipe.
    BufReader::new(run.stderr.take().expect("piped")).read_line(&mut first).expect("it says something");
    assert!(first.ends_with('\n'), "{first:?}");
    expect_complete(&bench, run.wait().expect("it ends").code());
}

/// Commands whose result is what they print.
const RESULTS: [&[&str]; 14] = [
    &["report", "a.proof", "--format", "json"],
    &["report", "a.proof", "--format", "text"],
    &["status", "a.proof", "--json"],
    &["status", "a.proof", "--watch"],
    &["verify", "a.proof", "--json"],
    &["gate", "a.proof", "b.proof", "--tolerance", "3%"],
    &["compare", "a.proof", "b.proof"],
    &["export", "a.proof", "--format", "json"],
    &["plan", "study.toml"],
    &["validate", "study.toml"],
    &["engines"],
    &["studies"],
    &["schema"],
    &["--help"],
];

#[test]
fn a_result_that_is_cut_is_a_failure() {
    let bench = Bench::new("stdout-full");
    bench.study(&small_study("null", "", 1));
    for (name, seed) in [("a.proof", 1), ("b.proof", 2)] {
        Synthetic::of(1_000.0, seed).write(&bench.path(name));
    }
    for arguments in RESULTS {
        let done = bench.command(arguments).stdout(full()).output().expect("the program starts");
        let told = text(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains("failed to write to standard output: No space left on device"), "{arguments:?}: {told}");
    }
}

#[test]
fn a_pool_that_is_made_stays_made_where_nobody_is_told() {
    let bench = Bench::new("stdout-full-pool");
    pools::zeros(&bench, "data", 64 << 20);
    let format = ["tier", "format", "cache", "--origin", "data=data", "--size", "8MiB"];
    let done = bench.command(&format).stdout(full()).output().expect("the program starts");
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{told}");
    assert!(told.contains("done, but failed to write to standard output"), "{told}");
    pools::succeed(&bench.run(&["tier", "check", "cache"]));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let bench = Bench::new("stdout-closed");
    Synthetic::of(1_000.0, 1).write(&bench.path("a.proof"));
    for arguments in [["status", "a.proof", "--json"], ["verify", "a.proof", "--json"]] {
        let mut run = bench.spawn(&arguments);
        drop(run.stdout.take());
        let done = run.wait_with_output().expect("it ends");
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()), "{arguments:?}");
    }
}
