//! Records of long loads: written with constant memory, opened and rendered within bounds that do not grow with their length. `cargo xtask day`
//! asks for a whole day; here ten minutes stand for it, without bounds on time.

mod support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::Bench;
use support::synthetic::Synthetic;

/// Series of telemetry besides the cores.
const SERIES: usize = 60;

/// Virtual users of the two loads, and of the one of a single day.
const TWO: &[u32] = &[4, 2];
const ONE: &[u32] = &[64];

/// Largest page, bytes, whatever the length of the load.
const PAGE: u64 = 2_000_000;

/// Most bytes of the page for each point of a study of many, what it has besides them included.
const PAGE_OF_A_POINT: u64 = 12_000;

/// Runs of each point of a plan of many.
const RUNS_OF_A_POINT: u32 = 10;

/// Most CPU seconds in which a plan of 10,000 runs is shown.
const OF_A_PLAN: f64 = 2.0;

/// Most memory that the writer may gain while it writes, kB.
const GAIN: u64 = 64 << 10;

#[test]
fn a_long_load_is_written_with_constant_memory_and_rendered_small() {
    let seconds = std::env::var("PROOFLOAD_DAY_SECONDS").map_or(600, |text| text.parse().expect("a number of seconds"));
    let users = if std::env::var("PROOFLOAD_DAY_LOADS").is_ok_and(|loads| loads == "1") { ONE } else { TWO };
    let bench = Bench::new("day");
    let warm = Synthetic { seconds: 60, series: SERIES, users, repetitions: 1, ..Synthetic::of(400.0, 2) };
    warm.write(&bench.path("warm.proof"));
    let (before, began) = (peak("self"), Instant::now());
    Synthetic { seconds, ..warm }.write(&bench.path("day.proof"));
    let (gain, written) = (peak("self") - before, began.elapsed());
    assert!(gain < GAIN, "{gain} kB more after {seconds} s");

    let (status, status_peak) = timed(&bench, &["status", "day.proof"]);
    let (report, report_peak) = timed(&bench, &["report", "day.proof", "-o", "day.html"]);
    let page = std::fs::metadata(bench.path("day.html")).expect("a page").len();
    assert!(page < PAGE, "{page} bytes of HTML for {seconds} s");
    let html = std::fs::read_to_string(bench.path("day.html")).expect("a page");
    assert!(html.contains("operations per second"), "the page has its answer");
    let size = std::fs::metadata(bench.path("day.proof")).expect("a record").len();
    eprintln!(
        "{} runs of {seconds} s: {:.1} MB, written in {written:.1?} with {gain} kB more; status {status:.1?}, {status_peak} kB; \
         report {report:.1?}, {report_peak} kB, {page} bytes",
        users.len(),
        size as f64 * 1e-6
    );
}

/// `PROOFLOAD_DAY_POINTS` asks for 500 points; here 100 stand for them.
#[test]
fn a_report_of_many_points_is_rendered_small() {
    let points = std::env::var("PROOFLOAD_DAY_POINTS").map_or(100, |text| text.parse().expect("a number of points"));
    let users: &'static [u32] = Box::leak((1..=points).collect::<Vec<u32>>().into_boxed_slice());
    let bench = Bench::new("points");
    Synthetic { users, repetitions: 1, ..Synthetic::of(400.0, 2) }.write(&bench.path("points.proof"));
    let (report, peak) = timed(&bench, &["report", "points.proof", "-o", "points.html"]);
    let page = std::fs::metadata(bench.path("points.html")).expect("a page").len();
    eprintln!("{points} points: report {report:.1?}, {peak} kB, {page} bytes");
    assert!(page < u64::from(points) * PAGE_OF_A_POINT, "{page} bytes of HTML for {points} points");
}

/// `PROOFLOAD_DAY_RUNS` asks for 10,000 runs, of which a hundredth has finished; here 100 stand for them, without a bound on time.
#[test]
fn a_plan_of_many_runs_is_shown() {
    let asked = std::env::var("PROOFLOAD_DAY_RUNS").ok();
    let runs: u32 = asked.as_ref().map_or(100, |text| text.parse().expect("a number of runs"));
    let users: &'static [u32] = Box::leak((1..=runs / RUNS_OF_A_POINT).collect::<Vec<u32>>().into_boxed_slice());
    let bench = Bench::new("runs");
    let study = Synthetic { users, repetitions: RUNS_OF_A_POINT, seconds: 8, ..Synthetic::of(400.0, 2) };
    std::fs::write(bench.path("runs.toml"), study.study()).expect("the study is written");
    study.write_begun(&bench.path("runs.proof"), runs as usize / 100);
    let looks: [&[&str]; 3] = [&["plan", "runs.toml"], &["plan", "runs.toml", "--json"], &["status", "runs.proof"]];
    for arguments in looks {
        let cpu = cpu_seconds_of(&bench, arguments);
        eprintln!("{runs} runs: {} {cpu:.2} CPU s", arguments.join(" "));
        assert!(asked.is_none() || cpu <= OF_A_PLAN, "{arguments:?} takes {cpu:.2} CPU seconds for {runs} runs");
    }
}

/// CPU seconds that the program takes, as a shell tells them of its children.
fn cpu_seconds_of(bench: &Bench, arguments: &[&str]) -> f64 {
    let program = std::env::var_os("PROOFLOAD_DAY_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_proofload").into());
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\" > told.txt && times", "sh"]).arg(program).args(arguments);
    let output = shell.env("LC_ALL", "C").current_dir(bench.path("")).output().expect("a shell runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    // `0m1.23s 0m0.04s`: in the program and in the kernel.
    let seconds = |text: &str| {
        let (minutes, seconds) = text.trim_end_matches('s').split_once('m').expect("minutes and seconds");
        let number = |text: &str| text.parse::<f64>().expect("a number");
        60.0 * number(minutes) + number(seconds)
    };
    let children = told.lines().last().expect("the last line is of the children");
    children.split_whitespace().map(seconds).sum()
}

/// Runs the program; how long it took, and its peak of resident memory, kB, as last seen.
fn timed(bench: &Bench, arguments: &[&str]) -> (Duration, u64) {
    let program = std::env::var_os("PROOFLOAD_DAY_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_proofload").into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(bench.path("")).stdout(Stdio::null());
    let (began, mut child) = (Instant::now(), command.spawn().expect("the program starts"));
    let (id, mut most) = (child.id().to_string(), 0);
    let status = loop {
        most = most.max(peak(&id));
        if let Some(status) = child.try_wait().expect("it can be asked") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{arguments:?} ended with {status}");
    (began.elapsed(), most)
}

/// Peak of resident memory of a process, kB; 0 when it has ended.
fn peak(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
