//! What stands on a terminal and in a pipe while a study runs, and at its end.

mod support;

use proofload_model::error::ErrorKind;
use proofload_model::events::RunEvent;
use proofload_record::State;
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use support::synthetic::Synthetic;
use support::waiting::wait_until;
use support::{Bench, kill, small_study, text};

/// Size of the pseudo-terminal.
const LINES: u16 = 24;

/// Runs the program on a pseudo-terminal of `script`, so many columns wide; all that it wrote. Typed letters are written a while after the
/// text before them has been seen.
fn on_terminal(bench: &Bench, columns: u16, arguments: &str, typed: Option<(&str, &[u8])>) -> String {
    on_terminal_of(bench, (LINES, columns), arguments, typed)
}

/// The same on a pseudo-terminal that says so many lines and columns.
fn on_terminal_of(
    bench: &Bench,
    (lines, columns): (u16, u16),
    arguments: &str,
    typed: Option<(&str, &[u8])>,
) -> String {
    let line = format!("stty rows {lines} cols {columns}; exec {} {arguments}", env!("CARGO_BIN_EXE_proofload"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").current_dir(bench.path("."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("script is part of every Linux");
    let (mut input, mut output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let (mut written, mut piece, mut typed) = (Vec::new(), [0; 4096], typed);
    while let Ok(read @ 1..) = output.read(&mut piece) {
        written.extend_from_slice(&piece[..read]);
        if let Some((_, letters)) = typed.filter(|(after, _)| text(&written).contains(after)) {
            input.write_all(letters).expect("it listens");
            typed = None;
        }
    }
    drop(input);
    let _status = child.wait();
    text(&written)
}

/// The screen that a terminal shows after it got this text: every line but empty ones at the end.
fn screen(written: &str, columns: u16) -> Vec<String> {
    let mut parser = vt100::Parser::new(LINES, columns, 1_000);
    parser.process(written.as_bytes());
    let screen = parser.screen();
    let mut lines: Vec<String> = screen.rows(0, columns).map(|line| line.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Clears from the cursor to the end of the screen.
const CLEAR: &str = "\u{1b}[0J";

/// Every screen that the live view has drawn, in order: its head says how long of how long.
fn drawn(written: &str, columns: u16) -> Vec<Vec<String>> {
    let mut parser = vt100::Parser::new(LINES, columns, 1_000);
    let mut screens = Vec::new();
    // Each drawing begins with a cleared screen, and ends before the cursor moves up for the next one.
    for piece in written.split(CLEAR) {
        let (lines, rest) = piece.rsplit_once('\u{1b}').unwrap_or((piece, ""));
        parser.process(lines.as_bytes());
        let screen = parser.screen();
        assert!((0..LINES).all(|line| !screen.row_wrapped(line)), "a line wraps: {}", screen.contents());
        screens.push(screen.rows(0, columns).map(|line| line.trim_end().to_owned()).collect());
        parser.process(format!("\u{1b}{rest}{CLEAR}").as_bytes());
    }
    screens
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
    for columns in [80, 200] {
        let _removed = std::fs::remove_file(bench.path("small.proof"));
        let ran = on_terminal(&bench, columns, "run study.toml", None);
        check_end(&ran, "verdict  ");
        let last = ran.trim_end().lines().next_back().expect("it says something");
        let shown = screen(&ran, columns);
        assert!(shown.last().is_some_and(|line| last.contains(line.as_str())), "{last:?} is not the end of {shown:#?}");
        for line in ["record   small.proof", "report   small.html"] {
            assert!(shown.iter().any(|shown| shown == line), "{line} is missing: {shown:#?}");
        }
        let screens = drawn(&ran, columns);
        for part in [" of about 0:", "ends ", "warming up", "measuring", " of 2 s", "/s"] {
            assert!(screens.iter().flatten().any(|line| line.contains(part)), "{part:?} was never drawn: {screens:#?}");
        }
    }
    let again = on_terminal(&bench, 80, "resume small.proof", None);
    assert!(again.contains("nothing is missing in small.proof") && again.contains("verdict  "), "{again}");
    assert!(bench.path("small.html").exists());
}

#[test]
fn ctrl_c_leaves_a_screen_that_says_how_to_go_on() {
    let bench = Bench::new("ctrl-c");
    bench.study(&small_study("null", "", 1).replace("measure = \"2s\"", "measure = \"60s\""));
    let ran = on_terminal(&bench, 80, "run study.toml", Some(("measuring", b"\x03")));
    check_end(&ran, "interrupted; continue with: proofload resume small.proof");
    let shown = screen(&ran, 80);
    assert!(shown.iter().any(|line| line.contains("· the only point  interrupted")), "{shown:#?}");
    assert_eq!(shown.last().map(String::as_str), Some("exit     75: interrupted; finished runs are kept"));
    bench.expect_no_process();
    let status = text(&bench.run(&["status", "small.proof"]).stdout);
    assert!(status.contains("not running\n") && status.contains("· the only point  interrupted"), "{status}");
}

/// A study that is interrupted long before its end, on the null engine.
fn long_study() -> String {
    small_study("null", "", 1).replace("measure = \"2s\"", "measure = \"60s\"")
}

/// Waits until the load of the only run goes on.
fn wait_for_load(bench: &Bench) {
    wait_until("the load goes on", || {
        proofload_record::read(&bench.path("small.proof"))
            .is_ok_and(|record| record.attempts.first().is_some_and(|attempt| attempt.intervals.len() > 1))
    });
}

/// The attempt was ended in order, not left open, and its record says that somebody asked for it.
#[track_caller]
fn expect_ended_in_order(bench: &Bench) {
    let record = proofload_record::read(&bench.path("small.proof")).expect("the record is read");
    let attempt = &record.attempts[0];
    assert!(matches!(attempt.state, State::Failed { .. }), "{:?}", attempt.state);
    let asked = RunEvent::FailedAs(ErrorKind::Interrupted);
    assert!(attempt.events.iter().any(|event| event.event == asked), "{:?}", attempt.events);
}

/// `timeout` of GNU signals its child, and then the group that the child is in.
#[test]
fn signals_in_the_same_second_are_one_request_to_stop() {
    let bench = Bench::new("twice");
    bench.study(&long_study());
    let run = bench.spawn(&["run", "study.toml", "--no-report"]);
    wait_for_load(&bench);
    let twice = format!("kill -TERM {0}; kill -INT {0}; kill -TERM {0}", run.id());
    assert!(Command::new("sh").args(["-c", &twice]).status().is_ok_and(|status| status.success()));
    let done = run.wait_with_output().expect("it ends");
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(75), "{told}");
    assert!(told.contains("interrupted; continue with: proofload resume small.proof"), "{told}");
    expect_ended_in_order(&bench);
    bench.expect_no_process();
}

/// An orderly end waits for agents, and one that is frozen answers to nothing.
#[test]
fn a_later_signal_ends_a_study_at_once() {
    let bench = Bench::new("later");
    bench.study(&long_study());
    let mut run = bench.spawn(&["run", "study.toml", "--no-report"]);
    wait_for_load(&bench);
    let signal = |name: &str, pid: u32| {
        Command::new("kill").args([name, &pid.to_string()]).stderr(Stdio::null()).status().expect("kill is there");
    };
    let agents = bench.processes().into_iter().filter(|(_, title)| title.contains(" agent"));
    let agents: Vec<u32> = agents.map(|(pid, _)| pid).collect();
    agents.iter().for_each(|pid| signal("-STOP", *pid));
    wait_until("it ends", || {
        signal("-TERM", run.id());
        run.try_wait().expect("it is ours").is_some()
    });
    let done = run.wait_with_output().expect("it has ended");
    agents.into_iter().for_each(kill);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(75), "{told}");
    assert!(!told.contains("continue with"), "it ended in order, and waited for the agents: {told}");
    bench.expect_no_process();
}

#[test]
fn a_terminal_that_has_gone_stops_a_study_in_order() {
    let bench = Bench::new("hangup");
    bench.study(&long_study());
    // The shell leads the session, and stays without its terminal to write down the exit code.
    let program = env!("CARGO_BIN_EXE_proofload");
    let line = format!("trap '' HUP; {program} run study.toml & echo $! > pid; wait $!; echo $? > code");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env("SHELL", "/bin/sh");
    command.current_dir(bench.path(".")).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut terminal = command.spawn().expect("script is part of every Linux");
    wait_for_load(&bench);
    terminal.kill().expect("it is ours");
    terminal.wait().expect("it ends");
    let pid = std::fs::read_to_string(bench.path("pid")).expect("it was written");
    assert!(Command::new("kill").args(["-HUP", pid.trim()]).status().is_ok_and(|status| status.success()));
    let written = || std::fs::read_to_string(bench.path("code")).unwrap_or_default();
    wait_until("the study ends", || written().ends_with('\n'));
    assert_eq!(written().trim(), "75");
    expect_ended_in_order(&bench);
}

#[test]
fn colours_are_only_emphasis() {
    let bench = Bench::new("no-color");
    bench.study(&small_study("null", "", 1));
    let arguments = "run study.toml --no-report";
    let coloured = on_terminal(&bench, 80, arguments, None);
    assert!(coloured.contains("\u{1b}[1m"), "{coloured:?}");
    let line = format!("NO_COLOR=1 exec {} run study.toml -o bare.proof --no-report", env!("CARGO_BIN_EXE_proofload"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").current_dir(bench.path("."));
    let bare = text(&command.output().expect("script is part of every Linux").stdout);
    assert!(
        bare.contains("\u{1b}[0J")
            && !bare.contains("\u{1b}[1m")
            && !bare.contains("\u{1b}[2m")
            && !bare.contains("\u{1b}[32m"),
        "{bare:?}"
    );
}

/// What a run of the only study says on stderr, once no host that stood still has made it void.
fn said_of_a_valid_run(bench: &Bench, more: &[&str]) -> String {
    let arguments = [&["run", "study.toml"], more].concat();
    let mut done = bench.run(&arguments);
    for _again in 0..8 {
        if done.status.code() == Some(6) {
            std::fs::remove_file(bench.path("small.proof")).expect("it was written");
            done = bench.run(&arguments);
        }
    }
    text(&done.stderr)
}

#[test]
fn a_pipe_hears_of_every_phase() {
    let bench = Bench::new("pipe");
    bench.study(&small_study("null", "", 1));
    let plain = said_of_a_valid_run(&bench, &["--no-report"]);
    for phase in ["preparing", "warming up for 1 s", "measuring for 2 s", "verifying"] {
        assert!(plain.lines().any(|line| line.contains("run 1 of 1") && line.ends_with(phase)), "{phase}: {plain}");
    }
    assert!(plain.lines().any(|line| line.contains("run 1 of 1") && line.contains(" transactions/s")), "{plain}");
    assert!(!bench.path("small.html").exists() && !plain.contains("report   "));
    std::fs::remove_file(bench.path("small.proof")).unwrap();
    let nothing = text(&bench.run(&["run", "study.toml", "--no-report", "--progress", "none"]).stderr);
    assert!(!nothing.contains("measuring") && nothing.contains("verdict  "), "{nothing}");
}

#[test]
fn programs_hear_one_object_a_line_to_the_end() {
    let bench = Bench::new("progress-json");
    bench.study(&small_study("null", "", 1));
    std::fs::write(bench.path("small.html"), "notes of somebody").unwrap();
    let json = said_of_a_valid_run(&bench, &["--progress", "json"]);
    let lines: Vec<Json> =
        json.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let measuring =
        lines.iter().find(|line| line["event"] == "phase" && line["phase"] == "measuring").expect("it measures");
    assert_eq!(
        (&measuring["run"], &measuring["of"], &measuring["point"]),
        (&1.into(), &1.into(), &"the only point".into())
    );
    assert_eq!((&measuring["phase_at_least_s"], &measuring["phase_at_most_s"]), (&2.0.into(), &2.0.into()));
    assert!(measuring["left_s"].as_u64().is_some_and(|left| (2..60).contains(&left)), "{measuring}");
    let ended = lines.iter().find(|line| line["event"] == "ended").expect("it ends");
    assert!(ended["trouble"].is_null() && ended["rate"].as_f64().is_some_and(|rate| rate > 0.0), "{ended}");
    assert_eq!(ended["unit"], "transactions/s");
    let end = lines.last().expect("a last line");
    assert_eq!(
        (&end["event"], &end["record"], &end["result"]["points"]),
        (&"end".into(), &"small.proof".into(), &1.into())
    );
    assert!(end["report_missing"].as_str().is_some_and(|why| why.contains("is not a Proofload report")), "{end}");
    assert_eq!(end["exit"], end["result"]["exit"]);
    assert_eq!(std::fs::read_to_string(bench.path("small.html")).unwrap(), "notes of somebody");
}

/// Another process sees the phases of the live view, and the view of that process ends with the study.
#[test]
fn a_record_is_watched_while_another_process_writes_it() {
    let bench = Bench::new("watch");
    bench.study(&small_study("null", "", 1).replace("measure = \"2s\"", "measure = \"10s\""));
    let mut run = bench.spawn(&["run", "study.toml", "--no-report", "--progress", "none", "--void", "ok"]);
    wait_until("the record is there", || bench.path("small.proof").exists());
    let watched = bench.run(&["status", "small.proof", "--watch", "--json"]);
    assert_eq!(run.wait().expect("it ends").code(), Some(0));
    let lines: Vec<Json> =
        text(&watched.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let measuring: Vec<&Json> = lines.iter().filter(|line| line["runs"][0]["phase"] == "measuring").collect();
    assert!(measuring.len() > 1, "{lines:?}");
    for line in &measuring {
        assert!(line["elapsed_s"].is_u64() && line["left_s"].is_u64() && line["being_written"] == true, "{line}");
        assert!(line["runs"][0]["phase_at_most_s"] == 10.0 && line["runs"][0]["verdict"].is_null(), "{line}");
    }
    assert!(measuring.iter().any(|line| line["runs"][0]["rate"].as_f64().is_some_and(|rate| rate > 0.0)), "{lines:?}");
    let last = lines.last().expect("it says something");
    assert!(last["being_written"] == false && last["runs"][0]["state"] == "finished", "{last}");
    assert!(last["runs"][0]["verdict"].is_string() && last["result"]["points"] == 1, "{last}");
    let told = text(&bench.run(&["status", "small.proof"]).stdout);
    assert!(told.contains("1 of 1 run") && told.contains("verdict  ") && told.contains("  finished\n"), "{told}");
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
    assert!(again.contains("measuring 1 void run again") && again.contains("was repeated"), "{again}");
    // Whatever the host allowed the second time: both attempts stand, and the report tells of the first.
    let record = proofload_record::read(&bench.path("small.proof")).expect("the record is read");
    let finished = record.attempts.iter().filter(|attempt| attempt.state == State::Finished).count();
    assert_eq!((record.plan.runs.len(), finished), (2, 3));
    let after = text(&bench.run(&["report", "small.proof", "--format", "markdown"]).stdout);
    assert!(after.contains("1 of 2 attempts were repeated: attempt 1 of run 1, "), "{after}");
    let verified = bench.run(&["verify", "small.proof"]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
}

/// Some terminals know their columns alone.
#[test]
fn a_comparison_fits_a_terminal_that_says_no_lines() {
    let bench = Bench::new("no-lines");
    for (name, rate) in [("a.proof", 1_000.0), ("b.proof", 800.0)] {
        Synthetic::of(rate, 1).write(&bench.path(name));
    }
    let written = on_terminal_of(&bench, (0, 60), "compare a.proof b.proof", None);
    assert!(written.contains("a.proof"), "{written}");
    for line in written.lines() {
        assert!(line.trim_end().chars().count() <= 60, "wider than 60 columns: {line}\n{written}");
    }
}
