//! Golden answers of the warehouse suite: computed with DuckDB and PostgreSQL, and written, or with `--check` compared
//! with those that are stored, if the two agree. With `--check engine=NAME`, the stored ones with that engine's alone.
//!
//! The work is done by a test of the workload, which loads and asks as a study does; this chore only asks for it. It
//! may not judge. Generator and engines are optimised in the profile of tests, so that it takes no other build.

use crate::program::{cargo, output, succeeds};
use std::path::Path;
use std::process::Command;

/// Scale factors that have golden answers.
const SCALES: &[&str] = &["0.01", "0.1", "1"];

/// The test that does the work.
const TEST: &str = "workloads::warehouse::tests::golden::engines_agree_on_golden_answers_when_the_chore_asks";

/// The variable by which the test is asked.
const ASKED: &str = "PROOFLOAD_ANSWERS";

/// Task, scales and engine from the command line.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    task: &'static str,
    scales: Vec<String>,
    /// The one engine that is compared; otherwise the two that write.
    engine: Option<String>,
}

/// Writes or checks.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let request = read(arguments)?;
    let engine = request.engine.as_ref().map_or_else(String::new, |engine| format!(" {engine}"));
    request.scales.iter().try_for_each(|scale| ask(&format!("{} {scale}{engine}", request.task)))
}

/// Writes the official table files of a scale factor into a folder, which is named by an absolute path.
pub(crate) fn tables(scale: &str, folder: &Path) -> Result<(), String> {
    ask(&format!("tables {scale} {}", folder.display()))
}

/// Has a test program of the workloads that is already built write the same files.
pub(crate) fn tables_by(program: &Path, scale: &str, folder: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(["--exact", TEST]).env(ASKED, format!("tables {scale} {}", folder.display()));
    output(&mut command).map(drop)
}

fn read(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request { task: "write", scales: Vec::new(), engine: None };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match (word.as_str(), words.as_slice().first()) {
            ("--check", _) => request.task = "check",
            ("--scale", Some(scale)) if scale.parse::<f64>().is_ok_and(|scale| scale >= 0.01) => {
                request.scales.push(scale.clone());
                words.next();
            }
            ("--scale", given) => return Err(format!("--scale wants a number of 0.01 or more, not {given:?}")),
            (word, _) => match word.strip_prefix("engine=").filter(|engine| !engine.is_empty()) {
                Some(engine) => request.engine = Some(engine.to_owned()),
                None => return Err(format!("{word:?} is not known; say --scale SCALE, --check, or engine=NAME")),
            },
        }
    }
    if request.task == "write" && request.engine.is_some() {
        return Err("one engine is compared with the stored answers and writes none: say --check as well".to_owned());
    }
    match (request.task, request.scales.is_empty()) {
        ("write", true) => Err("say which answers are to be written: --scale SCALE; --check compares all".to_owned()),
        (_, true) => Ok(Request { scales: SCALES.iter().map(|scale| (*scale).to_owned()).collect(), ..request }),
        _ => Ok(request),
    }
}

fn ask(request: &str) -> Result<(), String> {
    succeeds(
        cargo()
            .args(["test", "--package", "proofload-load", "--lib", "--", "--nocapture", "--exact", TEST])
            .env(ASKED, request),
        &format!("answers: {request}: not done; the output above says why"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, expected: Result<(&'static str, &[&str]), &str>) {
        let arguments: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        match (read(&arguments), expected) {
            (Ok(request), Ok((task, scales))) => {
                assert_eq!((request.task, request.scales), (task, scales.iter().map(|s| (*s).to_owned()).collect()))
            }
            (Err(error), Err(words)) => assert!(error.contains(words), "{error}"),
            (found, expected) => panic!("{found:?} where {expected:?} was expected"),
        }
    }

    #[test]
    fn writing_names_its_scale_and_checking_takes_all() {
        check("--scale 1", Ok(("write", &["1"])));
        check("--check", Ok(("check", SCALES)));
        check("--check --scale 0.1", Ok(("check", &["0.1"])));
        check("", Err("say which answers"));
        check("--scale", Err("wants a number"));
        check("--scale 0.001", Err("wants a number"));
        check("--bless 1", Err("\"--bless\" is not known"));
    }

    #[test]
    fn one_engine_is_compared_and_writes_nothing() {
        let words = ["--check", "--scale", "0.1", "engine=mariadb"].map(str::to_owned);
        let expected = Request { task: "check", scales: vec!["0.1".to_owned()], engine: Some("mariadb".to_owned()) };
        assert_eq!(read(&words), Ok(expected));
        check("--scale 1 engine=mariadb", Err("say --check as well"));
        check("--check engine=", Err("\"engine=\" is not known"));
    }

    #[test]
    fn the_test_that_does_the_work_is_there() {
        let text = include_str!("../../crates/load/src/workloads/warehouse/tests/golden.rs");
        let name = TEST.rsplit("::").next().unwrap_or_default();
        assert!(text.contains(&format!("fn {name}()")));
    }
}
