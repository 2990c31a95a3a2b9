//! `papers`: repeats the five published studies and writes `docs/papers.md` from their records, or checks that page, records and
//! signatures belong together.

use super::description::{Paper, Papers};
use super::repeat::SIGNER;
use super::{page, repeat};
use crate::program::{release_program, tell};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// Where description, records, signatures and signers lie.
pub(super) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/papers");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/papers.md");

/// What to do, and with what.
#[derive(Debug, Default, PartialEq)]
struct Task {
    /// Leaves the records as they are.
    only: Option<Only>,
    /// Papers to repeat; all when empty.
    papers: Vec<String>,
    program: Option<PathBuf>,
    key: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Only {
    /// Writes the page.
    Page,
    /// Writes nothing.
    Check,
}

/// Does what was asked.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let task = task(arguments)?;
    let described = read(&Path::new(FOLDER).join("papers.json"))?;
    let papers = Papers::read(&described)?.papers;
    let program = task.program.clone().map_or_else(release_program, Ok)?;
    let program = std::path::absolute(&program).map_err(|error| format!("finding {}: {error}", program.display()))?;
    if task.only.is_none() {
        let wanted = |paper: &&Paper| task.papers.is_empty() || task.papers.contains(&paper.id);
        let wanted: Vec<&Paper> = papers.iter().filter(wanted).collect();
        repeat::repeat(&program, &wanted, task.key)?;
    }
    let text = page::page(&papers, |paper| evidence(&program, paper))?;
    if task.only != Some(Only::Check) {
        return std::fs::write(PAGE, text).map_err(|error| format!("wrote {PAGE}: {error}"));
    }
    if read(Path::new(PAGE))? != text {
        return Err("docs/papers.md is not what its records give; cargo xtask papers page writes it anew".to_owned());
    }
    papers.iter().try_for_each(|paper| render(&program, paper))
}

fn task(arguments: &[String]) -> Result<Task, String> {
    let mut task = Task::default();
    for argument in arguments {
        match (argument.as_str(), argument.split_once('=')) {
            ("page", _) => task.only = Some(Only::Page),
            ("check", _) => task.only = Some(Only::Check),
            (_, Some(("program", path))) => task.program = Some(PathBuf::from(path)),
            (_, Some(("key", path))) => task.key = Some(PathBuf::from(path)),
            (id, None) if id.starts_with('P') => task.papers.push(id.to_owned()),
            (other, _) => return Err(format!("{other:?} is none of page, check, program=PATH, key=PATH, P1 to P5")),
        }
    }
    Ok(task)
}

/// What a record says: its report, and its facts.
pub(super) struct PaperEvidence {
    pub(super) report: Value,
    pub(super) facts: Value,
}

/// Proves a record and reads it.
fn evidence(program: &Path, paper: &Paper) -> Result<PaperEvidence, String> {
    let record = record(paper);
    let signers = format!("{FOLDER}/allowed_signers");
    program_says(program, &["verify", &record, "--allowed-signers", &signers, "--identity", SIGNER], &[0])?;
    let json = |arguments: &[&str]| -> Result<Value, String> {
        let text = program_says(program, arguments, &[0])?;
        serde_json::from_str(&text).map_err(|error| format!("reading {} of {record}: {error}", arguments[0]))
    };
    Ok(PaperEvidence {
        report: json(&["report", &record, "--format", "json"])?,
        facts: json(&["export", &record, "--format", "json", "--table", "facts"])?,
    })
}

/// Renders the report of a record as a page, which is thrown away.
fn render(program: &Path, paper: &Paper) -> Result<(), String> {
    let html = program_says(program, &["report", &record(paper), "--format", "html", "-o", "-"], &[0])?;
    if html.contains("</html>") { Ok(()) } else { Err(format!("the report of {} is no page", paper.study)) }
}

fn record(paper: &Paper) -> String {
    format!("{FOLDER}/{}.proof", paper.study)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("reading {}: {error}", path.display()))
}

/// Runs the program in the project's folder; its standard output. Other exit codes than these are errors.
pub(super) fn program_says(program: &Path, arguments: &[&str], allowed: &[i32]) -> Result<String, String> {
    program_ends(program, arguments, allowed).map(|(text, _)| text)
}

/// The same with the exit code.
pub(super) fn program_ends(program: &Path, arguments: &[&str], allowed: &[i32]) -> Result<(String, i32), String> {
    tell(&format!("proofload {}", arguments.join(" ")));
    // Its progress and its faults are the reader's to see.
    let output = Command::new(program).args(arguments).current_dir(ROOT).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("starting {}: {error}", program.display()))?;
    match output.status.code().filter(|code| allowed.contains(code)) {
        Some(code) => Ok((String::from_utf8_lossy(&output.stdout).into_owned(), code)),
        None => Err(format!("proofload {} ended with {}", arguments.join(" "), output.status)),
    }
}

/// Removes a folder of ours, if it is there.
pub(super) fn quiet_remove(folder: &Path) {
    // What cannot be removed lies in the folder for temporary files, where it does no harm.
    let _left = std::fs::remove_dir_all(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_and_others_refused() {
        let read = |words: &[&str]| task(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(read(&[]), Ok(Task::default()));
        let both = read(&["P2", "key=/k", "P5"]).unwrap();
        assert_eq!((both.papers, both.key), (vec!["P2".to_owned(), "P5".to_owned()], Some(PathBuf::from("/k"))));
        assert_eq!(read(&["check"]).unwrap().only, Some(Only::Check));
        assert!(read(&["all"]).is_err() && read(&["speed=1"]).is_err());
    }
}
