//! The program as a user runs it, and what is asked of its record.

use super::folder::WorkFolder;
use super::processes::{said, text};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Exit codes of a study that came to its end: valid, or void in the judgement of this host, which other work disturbs.
const ENDED: [i32; 3] = [0, 5, 6];

/// The program in a folder.
pub(super) struct Program<'f> {
    pub(super) path: &'f Path,
    pub(super) folder: &'f WorkFolder,
    /// Variables that its children need.
    pub(super) environment: Vec<(String, String)>,
}

impl Program<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path);
        command.args(arguments).current_dir(self.folder.here()).envs(self.environment.iter().cloned());
        command
    }

    /// Runs it.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Output, String> {
        self.command(arguments).output().map_err(|error| format!("starting the program: {error}"))
    }

    /// Runs it; it must come to the end of a study.
    pub(super) fn ended(&self, arguments: &[&str]) -> Result<Output, String> {
        let output = self.run(arguments)?;
        match output.status.code() {
            Some(code) if ENDED.contains(&code) => Ok(output),
            _ => Err(format!("{}: {}", arguments.join(" "), said(&output))),
        }
    }

    /// Runs it; it must refuse or fail with these words.
    pub(super) fn fails(&self, arguments: &[&str], words: &[&str]) -> Result<Output, String> {
        let output = self.run(arguments)?;
        let told = said(&output);
        if output.status.success() {
            return Err(format!("{} succeeded: {told}", arguments.join(" ")));
        }
        match words.iter().find(|word| !told.contains(**word)) {
            Some(word) => Err(format!("{}: {word:?} is not in {told:?}", arguments.join(" "))),
            None => Ok(output),
        }
    }

    /// Starts a run and waits until it measures.
    pub(super) fn until_it_measures(&self, arguments: &[&str], log: &str) -> Result<Child, String> {
        let path = self.folder.path(log);
        let file = std::fs::File::create(&path).map_err(|error| format!("making {}: {error}", path.display()))?;
        let both = file.try_clone().map_err(|error| format!("making {}: {error}", path.display()))?;
        let started = self.command(arguments).stdin(Stdio::null()).stdout(file).stderr(both).spawn();
        let mut child = started.map_err(|error| format!("starting the program: {error}"))?;
        let begun = Instant::now();
        loop {
            let said = std::fs::read_to_string(&path).unwrap_or_default();
            if said.contains("measuring for") {
                return Ok(child);
            }
            if begun.elapsed() > Duration::from_secs(120) || child.try_wait().is_ok_and(|ended| ended.is_some()) {
                let _gone = child.kill();
                let _ended = child.wait();
                return Err(format!("the run does not measure: {said}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Exports a table of a record; its rows as JSON objects.
    pub(super) fn table(&self, record: &str, table: &str) -> Result<Vec<Value>, String> {
        let output = self.run(&["export", record, "--format", "json", "--table", table])?;
        if !output.status.success() {
            return Err(said(&output));
        }
        let told = text(&output.stdout);
        let mut document: Value = serde_json::from_str(&told).map_err(|error| format!("{table}: {error}: {told}"))?;
        match document["tables"][table].take() {
            Value::Array(rows) => Ok(rows),
            other => Err(format!("{table} is no list of rows: {other}")),
        }
    }
}
