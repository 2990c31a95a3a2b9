//! The program as a user runs it, and what is asked of its record.

use super::processes::{said, text, until};
use crate::work_folder::WorkFolder;
use serde_json::Value;
use std::path::{Path, PathBuf};
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

/// A run that goes on, and what it says.
pub(super) struct OpenRun {
    child: Child,
    log: PathBuf,
}

impl OpenRun {
    /// Waits until it fails with these words, and says how long that took. It is gone afterwards in any case.
    pub(super) fn until_it_fails(mut self, patience: Duration, words: &str) -> Result<Duration, String> {
        let ended = until("the run ends", patience, || self.child.try_wait().is_ok_and(|ended| ended.is_some()));
        let _gone = self.child.kill();
        let status = self.child.wait().map_err(|error| error.to_string())?;
        let told = std::fs::read_to_string(&self.log).unwrap_or_default();
        let took = ended.map_err(|error| format!("{error}: {told}"))?;
        if status.success() || !told.contains(words) {
            return Err(format!("{status}: {told}"));
        }
        Ok(took)
    }
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

    /// Starts the run of a study and waits until it measures.
    pub(super) fn until_it_measures(&self, study: &str) -> Result<OpenRun, String> {
        let log = self.folder.path(&format!("{study}.log"));
        let file = std::fs::File::create(&log).map_err(|error| format!("making {}: {error}", log.display()))?;
        let both = file.try_clone().map_err(|error| format!("making {}: {error}", log.display()))?;
        let study = format!("{study}.toml");
        let mut command = self.command(&["run", &study, "--no-report", "--progress", "plain"]);
        let started = command.stdin(Stdio::null()).stdout(file).stderr(both).spawn();
        let mut child = started.map_err(|error| format!("starting the program: {error}"))?;
        let begun = Instant::now();
        loop {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            if said.contains("measuring for") {
                return Ok(OpenRun { child, log });
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
