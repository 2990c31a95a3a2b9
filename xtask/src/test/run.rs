//! Runs all tests: programs that do not disturb each other side by side, the others apart or alone, each once; ignored tests that run in every
//! run, and the checks of T-SQL texts, are further entries.
//!
//! Cargo runs test programs one after another, and many of them wait rather than work. This chore decides only when a
//! program runs; what is tested, and how, stays the programs' own.

use super::build::{BuildRequest, TestProgram, build};
use super::place::TestPlace;
use super::{ignored, texts};
use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Programs that look at the whole machine or change it, by package and target, and why: beside them runs only what touches nothing.
const APART: &[(&str, &str, &str)] = &[
    ("proofload", "kill", "counts control groups without an owner on the whole machine"),
    (
        "proofload",
        "cache_tier_server",
        "unmounts what network namespaces of other tests would hold in mount namespaces of theirs",
    ),
    (
        "proofload",
        "tier_file_systems",
        "unmounts what network namespaces of other tests would hold in mount namespaces of theirs",
    ),
    (
        "proofload",
        "tier_mounts",
        "unmounts what network namespaces of other tests would hold in mount namespaces of theirs",
    ),
];

/// Programs whose times or speeds are checked, by package and target, and why: nothing runs beside them.
const ALONE: &[(&str, &str, &str)] = &[
    ("proofload", "faults", "asks for verdicts on windows of a few seconds"),
    ("proofload", "load_agents", "agents begin together and lose one within times that are checked"),
    ("proofload", "search", "asks for steady windows, since a search reads their throughput"),
    ("proofload-testbed", "proofload_testbed", "measures how much CPU time and bandwidth a limit lets through"),
    ("proofload-testbed", "host", "sweeps what dead owners left, and reads probes on the second"),
    ("proofload-testbed", "instance", "starts servers under limits and sweeps what dead agents left"),
];

/// Packages whose tests start no server, make no control group and mount nothing: they run beside those of [`APART`].
const TOUCH_NOTHING: &[&str] = &["proofload-report", "proofload-analysis", "proofload-gen"];

/// Programs that take longest, begun first so that nothing waits for them at the end.
const LONG: &[(&str, &str)] = &[
    ("proofload-load", "proofload_load"),
    ("proofload-load", "ycsb"),
    ("proofload", "drills"),
    ("proofload-testbed", "faults"),
    ("proofload", "hosts"),
    ("proofload-testbed", "replication"),
    ("proofload", "selftest"),
    ("proofload", "warehouse"),
    ("proofload-testbed", "semisynchronous"),
    ("proofload-testbed", "managers"),
    ("proofload", "networks"),
];

/// Programs whose tests wait for most of their time: twice as many of them at once.
const WAITING: &[(&str, &str)] = &[("proofload", "kill")];

/// How a program ended.
#[derive(Clone)]
pub(super) struct ProgramEnd {
    pub(super) name: String,
    pub(super) success: bool,
    pub(super) took: Duration,
    pub(super) output: String,
}

/// Builds and runs all tests of the workspace. With `--lint` the build lints, and a warning is an error; with `--no-run` nothing runs; with
/// `--ignored=WORD` only ignored tests run that have the word in their names; all other arguments, such as `--features`, go to cargo.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let begun = Instant::now();
    let request = BuildRequest::of(arguments);
    let programs = build(&request)?;
    if programs.is_empty() {
        return Err("cargo built no test program".to_owned());
    }
    check_table(&programs)?;
    if request.build_only {
        return Ok(());
    }
    tell(&format!("test: {} programs built in {} s", programs.len(), begun.elapsed().as_secs()));
    let ended = match &request.ignored {
        Some(word) => run_ignored(&programs, word)?,
        None => run_all(programs, &request)?,
    };
    let failed: Vec<&str> = ended.iter().filter(|ended| !ended.success).map(|ended| ended.name.as_str()).collect();
    let (all, seconds) = (ended.len(), begun.elapsed().as_secs());
    if failed.is_empty() {
        tell(&format!("test: {all} programs passed in {} min {} s", seconds / 60, seconds % 60));
        return Ok(());
    }
    ended.iter().filter(|ended| !ended.success).for_each(|ended| tell(&summary(ended)));
    Err(format!("test: {} of {all} programs failed: {}", failed.len(), failed.join(", ")))
}

/// Runs ignored tests with a word in their names. Errors: there is none.
fn run_ignored(programs: &[TestProgram], word: &str) -> Result<Vec<ProgramEnd>, String> {
    let found = ignored::of_word(programs, word)?;
    if found.is_empty() {
        return Err(format!("test: no ignored test has {word:?} in its name"));
    }
    let place = TestPlace::new()?;
    Ok(run_stages(Stages::of(found), place.path()))
}

/// Runs all programs, with the ignored tests that are run in every run, examples in doc comments, and the checks of T-SQL texts.
fn run_all(mut programs: Vec<TestProgram>, request: &BuildRequest) -> Result<Vec<ProgramEnd>, String> {
    let table_program = texts::table_program(&programs)?;
    for word in ignored::WORDS {
        let found = ignored::of_word(&programs, word)?;
        programs.extend(found);
    }
    let place = TestPlace::new()?;
    let Stages { together, apart, touch_nothing, alone } = Stages::of(programs);
    let first = Stages { together, ..Stages::default() };
    // Nobody measures times in the first stage, so that the texts are checked beside it.
    let mut ended = std::thread::scope(|scope| {
        let texts = scope.spawn(|| texts::check(&table_program));
        let ended = run_stages(first, place.path());
        [ended, texts.join().expect("it hands over what ended")].concat()
    });
    ended.extend(run_stages(Stages { apart, touch_nothing, alone, ..Stages::default() }, place.path()));
    ended.push(doc_tests(request));
    Ok(ended)
}

/// Runs programs stage by stage.
fn run_stages(stages: Stages, place: &Path) -> Vec<ProgramEnd> {
    let Stages { together, apart, touch_nothing, alone } = stages;
    let mut ended = run_programs(in_order(together), processors() + 1, place);
    ended.extend(std::thread::scope(|scope| {
        let beside = scope.spawn(|| run_programs(touch_nothing.into(), 1, place));
        let apart = run_programs(apart.into(), 1, place);
        [apart, beside.join().expect("it hands over what ended")].concat()
    }));
    ended.extend(run_programs(alone.into(), 1, place));
    ended
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Lines of a failed program that say which test failed and at what, for who sees only the end of a long output.
fn summary(ended: &ProgramEnd) -> String {
    const MOST: usize = 12;
    let lines: Vec<&str> = ended.output.lines().collect();
    let mut told: Vec<String> = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        if line.starts_with("test ") && line.ends_with("FAILED") {
            told.push((*line).to_owned());
        } else if line.contains("panicked at ") {
            told.extend(lines[place..].iter().take(3).map(|line| line.chars().take(300).collect()));
        }
    }
    if told.is_empty() {
        told.extend(lines.iter().rev().take(MOST).rev().map(|line| (*line).to_owned()));
    }
    format!("failed: {}\n{}", ended.name, told[..told.len().min(MOST)].join("\n"))
}

/// Programs by what may run beside them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stages {
    together: Vec<TestProgram>,
    apart: Vec<TestProgram>,
    touch_nothing: Vec<TestProgram>,
    alone: Vec<TestProgram>,
}

impl Stages {
    fn of(programs: Vec<TestProgram>) -> Self {
        let mut stages = Self::default();
        for program in programs {
            let is_of =
                |table: &[(&str, &str, &str)]| table.iter().any(|(package, target, _)| program.is(package, target));
            let stage = match () {
                () if is_of(APART) => &mut stages.apart,
                () if is_of(ALONE) => &mut stages.alone,
                () if TOUCH_NOTHING.contains(&program.package.as_str()) => &mut stages.touch_nothing,
                () => &mut stages.together,
            };
            stage.push(program);
        }
        stages
    }
}

/// An error when a table names a program that does not exist, so that a renamed one is not forgotten.
fn check_table(programs: &[TestProgram]) -> Result<(), String> {
    let tables = APART.iter().chain(ALONE).map(|(package, target, _)| (package, target));
    let named = tables.chain(LONG.iter().chain(WAITING).map(|(package, target)| (package, target)));
    let there = |package: &str, target: &str| programs.iter().any(|program| program.is(package, target));
    let ghosts: Vec<String> = named.filter(|(p, t)| !there(p, t)).map(|(p, t)| format!("{p} {t}")).collect();
    if ghosts.is_empty() { Ok(()) } else { Err(format!("xtask/src/test.rs names no program: {}", ghosts.join(", "))) }
}

/// The longest first, the others as they came.
fn in_order(mut programs: Vec<TestProgram>) -> VecDeque<TestProgram> {
    programs.sort_by_key(|program| {
        let is = |(package, target): &(&str, &str)| program.is(package, target);
        LONG.iter().position(is).unwrap_or(LONG.len())
    });
    programs.into()
}

/// Runs programs, so many at a time, with their temporary folders below a place.
fn run_programs(programs: VecDeque<TestProgram>, sessions: usize, place: &Path) -> Vec<ProgramEnd> {
    let queue = Mutex::new(programs);
    let ended = Mutex::new(Vec::new());
    let next = || queue.lock().expect("no thread panics while it holds the queue").pop_front();
    std::thread::scope(|scope| {
        for _ in 0..sessions {
            scope.spawn(|| {
                while let Some(program) = next() {
                    let one = run_program(&program, place);
                    tell(&line(&one));
                    ended.lock().expect("no thread panics while it holds the list").push(one);
                }
            });
        }
    });
    ended.into_inner().expect("every thread has ended")
}

fn run_program(program: &TestProgram, place: &Path) -> ProgramEnd {
    let mut name = format!("{} {}", program.package, program.target);
    let mut command = Command::new(&program.executable);
    if let Some(word) = &program.ignored {
        name.push_str(&format!(", ignored tests of {word}"));
        command.args(["--ignored", word]);
    }
    // Without it, nobody sees what a test that was skipped says.
    command.arg("--show-output");
    command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder).env("TMPDIR", place);
    if WAITING.iter().any(|(package, target)| program.is(package, target)) {
        command.env("RUST_TEST_THREADS", (2 * processors()).to_string());
    }
    ended(name, command)
}

/// Examples in doc comments, which are no programs of their own.
fn doc_tests(request: &BuildRequest) -> ProgramEnd {
    let mut command = request.cargo_test();
    command.args(["--doc", "--quiet"]);
    let one = ended("doc tests".to_owned(), command);
    tell(&line(&one));
    one
}

fn ended(name: String, mut command: Command) -> ProgramEnd {
    let begun = Instant::now();
    let (success, output) = match command.output() {
        Ok(output) => {
            let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (output.status.success(), text.concat())
        }
        Err(error) => (false, format!("it did not start: {error}")),
    };
    ProgramEnd { name, success, took: begun.elapsed(), output }
}

/// One line, and the whole output of a program that failed; what was skipped is said in either case.
pub(super) fn line(ended: &ProgramEnd) -> String {
    let word = if ended.success { "ok    " } else { "FAILED" };
    let mut text = format!("{word} {:6.1} s  {}", ended.took.as_secs_f64(), ended.name);
    if !ended.success {
        text.push_str(&format!("\n{}", ended.output));
        return text;
    }
    for skipped in ended.output.lines().filter(|line| line.contains("SKIPPED")) {
        text.push_str(&format!("\n       {skipped}"));
    }
    text
}

pub(super) fn tell(text: &str) {
    // Nobody is left to tell that standard error is closed.
    let _told = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::super::build::example;
    use super::*;

    #[test]
    fn each_program_has_one_stage() {
        let program = |(package, target): (&str, &str)| TestProgram {
            package: package.to_owned(),
            target: target.to_owned(),
            executable: "/bin/true".into(),
            folder: "/".into(),
            ignored: None,
        };
        let [engine, kill, report, faults] = [
            ("proofload-engine", "mariadb"),
            ("proofload", "kill"),
            ("proofload-report", "report"),
            ("proofload", "faults"),
        ]
        .map(program);
        let stages = Stages::of([&engine, &kill, &report, &faults].map(Clone::clone).into());
        let expected =
            Stages { together: vec![engine], apart: vec![kill], touch_nothing: vec![report], alone: vec![faults] };
        assert_eq!(stages, expected);
    }

    #[test]
    fn a_name_without_a_program_is_refused() {
        let error = check_table(&example()).unwrap_err();
        assert!(error.contains("proofload kill") && !error.contains("ycsb"), "{error}");
    }

    #[test]
    fn every_program_runs_once_and_a_failure_shows_its_output() {
        let program = |name: &str| TestProgram {
            package: "p".to_owned(),
            target: name.to_owned(),
            executable: format!("/bin/{name}").into(),
            folder: "/".into(),
            ignored: None,
        };
        let mut ended =
            run_programs(["true", "false", "absent"].map(program).into_iter().collect(), 2, Path::new("/tmp"));
        ended.sort_by(|a, b| a.name.cmp(&b.name));
        let outcomes: Vec<(&str, bool)> = ended.iter().map(|ended| (ended.name.as_str(), ended.success)).collect();
        assert_eq!(outcomes, [("p absent", false), ("p false", false), ("p true", true)]);
        assert!(line(&ended[0]).contains("it did not start"), "{}", line(&ended[0]));
        assert!(summary(&ended[0]).starts_with("failed: p absent\nit did not start"), "{}", summary(&ended[0]));
    }

    #[test]
    fn ignored_tests_run_by_their_word_in_the_stage_of_their_program() {
        let host = TestProgram {
            package: "proofload-testbed".to_owned(),
            target: "instance".to_owned(),
            executable: "/bin/echo".into(),
            folder: "/".into(),
            ignored: Some("mysql".to_owned()),
        };
        let stages = Stages::of(vec![host.clone()]);
        assert_eq!(stages, Stages { alone: vec![host], ..Stages::default() });
        let ended = run_stages(stages, Path::new("/tmp"));
        let told: Vec<(&str, &str)> =
            ended.iter().map(|ended| (ended.name.as_str(), ended.output.trim_end())).collect();
        assert_eq!(told, [("proofload-testbed instance, ignored tests of mysql", "--ignored mysql --show-output")]);
        let error = run_ignored(&[], "mysql").err();
        assert_eq!(error.as_deref(), Some("test: no ignored test has \"mysql\" in its name"));
    }

    #[test]
    fn the_summary_names_tests_and_what_they_met() {
        let output = "running 2 tests\ntest one ... ok\ntest two ... FAILED\n---- two stdout ----\n\
                      thread 'two' panicked at a.rs:1:2:\nleft: 1\nright: 2\nnote: more\n";
        let ended =
            ProgramEnd { name: "p".to_owned(), success: false, took: Duration::ZERO, output: output.to_owned() };
        assert_eq!(
            summary(&ended),
            "failed: p\ntest two ... FAILED\nthread 'two' panicked at a.rs:1:2:\nleft: 1\nright: 2"
        );
    }
}
