//! What stands on a terminal and in a pipe while a study runs, and at its end.

mod support;

use proofload_record::State;
use std::process::{Command, Output};
use support::synthetic::Synthetic;
use support::{Bench, small_study, text};

/// Runs the program on a pseudo-terminal of `script`; all that it wrote.
fn on_terminal(bench: &Bench, arguments: &str) -> String {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_proofload"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").current_dir(bench.path("."));
    let Output { stdout, .. } = command.output().expect("script is part of every Linux");
    text(&stdout)
}

/// Nothing moves the cursor once the verdict stands there, so that nothing is overwritten.
#[track_caller]
fn check_end(written: &str, first: &str) {
    assert!(written.contains('\u{1b}'), "it was no terminal: {written}");
    let (_, end) = written.rsplit_once(first).unwrap_or_else(|| panic!("there is no {first:?} in {written:?}"));
    assert!(!end.contains('\u{1b}'), "something is drawn over the last lines: {end:?}");
}

#[test]
fn the_last_lines_stay_on_the_terminal() {
    let bench = Bench::new("terminal");
    bench.study(&small_study("null", "", 1));
    let ran = on_terminal(&bench, "run study.toml");
    check_end(&ran, "verdict  ");
    for line in ["record   small.proof", "report   small.html"] {
        assert!(ran.contains(line), "{line} is missing: {ran:?}");
    }
    check_end(&on_terminal(&bench, "resume small.proof"), "verdict  ");
    assert!(bench.path("small.html").exists());
}

#[test]
fn a_pipe_hears_of_every_phase() {
    let bench = Bench::new("pipe");
    bench.study(&small_study("null", "", 1));
    let plain = text(&bench.run(&["run", "study.toml", "--no-report"]).stderr);
    for phase in ["preparing", "warming up", "measuring", "verifying", "done"] {
        assert!(plain.lines().any(|line| line.contains("run 1 of") && line.ends_with(phase)), "{phase}: {plain}");
    }
    assert!(!bench.path("small.html").exists() && !plain.contains("report   "));
    std::fs::write(bench.path("small.html"), "notes of somebody").unwrap();
    std::fs::remove_file(bench.path("small.proof")).unwrap();
    let json = text(&bench.run(&["run", "study.toml", "--progress", "json"]).stderr);
    let lines: Vec<serde_json::Value> = json.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(lines.iter().any(|line| line["event"] == "phase" && line["phase"] == "measuring" && line["run"] == 1));
    assert!(lines.iter().any(|line| line["event"] == "ended" && line["trouble"].is_null()), "{json}");
    assert!(json.contains("report   not written: small.html exists and is not a report of Proofload"), "{json}");
    assert_eq!(std::fs::read_to_string(bench.path("small.html")).unwrap(), "notes of somebody");
}

/// A point that moved beside a compiler is measured again; one that is valid is left alone, and so is one that moved by itself.
#[test]
fn void_points_are_measured_again_and_earlier_attempts_stay() {
    let bench = Bench::new("again");
    let beside = Synthetic { repetitions: 1, falling: true, ..Synthetic::of(1_000.0, 1) };
    beside.write(&bench.path("small.proof"));
    let before = text(&bench.run(&["report", "small.proof", "--format", "text"]).stdout);
    assert!(before.contains("cc1 1.0 cores") && before.contains("void"), "{before}");
    let again = text(&bench.run(&["resume", "small.proof", "--void", "--no-report", "--progress", "plain"]).stderr);
    assert!(again.contains("measuring 1 void run again") && again.contains("was measured again"), "{again}");
    // Whatever the host allowed the second time: both attempts stand, and the report tells of the first.
    let record = proofload_record::read(&bench.path("small.proof")).expect("the record is read");
    let finished = record.attempts.iter().filter(|attempt| attempt.state == State::Finished).count();
    assert_eq!((record.plan.runs.len(), finished), (2, 3));
    let after = text(&bench.run(&["report", "small.proof", "--format", "markdown"]).stdout);
    assert!(after.contains("1 of 2 attempts were made again: attempt 1 of run 1, "), "{after}");
    let verified = bench.run(&["verify", "small.proof"]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
}
