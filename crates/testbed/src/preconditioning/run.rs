//! Runs one fio job and waits for it. fio never outlives us: it is killed when we stop waiting, by the kernel when we die.

use super::job::Job;
use super::output::{self, Transfer};
use super::program::Fio;
use super::scratch::{LOG, OUTPUT, sweep};
use crate::sys::{self, Spawn};
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::fs::File;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// Interval at which fio is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Looks between two words about progress: one second.
const LOOKS_PER_WORD: u32 = 20;

/// SIGKILL: fio has nothing to save.
const KILL: i32 = 9;

/// Characters of fio's own text that an error repeats.
const TEXT_IN_ERROR: usize = 600;

/// What a run leaves for the record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobOutput {
    /// Name of the document.
    pub(super) name: String,
    /// fio's output, whole.
    pub(super) document: String,
    /// What it moved.
    pub(super) moved: Transfer,
}

/// Limits to run under: lists of processes to enter, cores. By default none.
#[derive(Debug, Default)]
pub(crate) struct Within {
    /// Control groups, open for entering.
    pub(crate) groups: Vec<File>,
    /// Cores to run on.
    pub(crate) cores: Option<Vec<usize>>,
}

/// Runs a job in the target's folder; `progress` hears of the bytes written so far, once a second.
pub(super) fn run(fio: &Fio, job: &Job<'_>, progress: &dyn Fn(Bytes)) -> Result<JobOutput, Error> {
    run_within(fio, job, Within::default(), progress)
}

/// The same under limits.
pub(super) fn run_within(
    fio: &Fio,
    job: &Job<'_>,
    within: Within,
    progress: &dyn Fn(Bytes),
) -> Result<JobOutput, Error> {
    let folder = job.target.folder();
    let (output, log) = (folder.join(OUTPUT), folder.join(LOG));
    let stale = |error: std::io::Error| Error::new(format!("failed to prepare {}: {error}", output.display()));
    File::create(&output).map_err(stale)?;
    let heard =
        File::create(&log).map_err(|error| Error::new(format!("failed to create {}: {error}", log.display())))?;
    let arguments = job.arguments(Path::new(OUTPUT));
    let child = sys::spawn(Spawn {
        program: &fio.path,
        arguments: &arguments,
        environment: &[],
        folder,
        log: &heard,
        groups: within.groups,
        cores: within.cores,
        user: None,
        at_our_death: KILL,
    })?;
    let status = FioProcess(child).wait(progress)?;
    // Not there when the files were swept because nobody waits any more; then it says nothing either.
    let document = text_of(&output);
    let failed = |error: Error| error.context(said(&text_of(&log), &document));
    if !status.success() {
        let cause = output::read(&document, job.pattern.direction()).err().filter(|_| document.contains('{'));
        let ended = Error::new(format!("fio exited with {status}"));
        return Err(failed(cause.map_or(ended.clone(), |cause| ended.context(cause.to_string()))));
    }
    let moved = output::read(&document, job.pattern.direction()).map_err(failed)?;
    Ok(JobOutput { name: job.document(), document, moved })
}

/// A started fio. Dropping it kills fio and all that it started.
struct FioProcess(Child);

impl FioProcess {
    fn wait(mut self, progress: &dyn Fn(Bytes)) -> Result<ExitStatus, Error> {
        let mut looks = 0u32;
        loop {
            let ended = self.0.try_wait().map_err(|error| Error::new(format!("failed to wait for fio: {error}")))?;
            if let Some(status) = ended {
                return Ok(status);
            }
            std::thread::sleep(LOOK);
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS_PER_WORD)
                && let Some(bytes) = written_by(self.0.id())
            {
                progress(bytes);
            }
        }
    }
}

impl Drop for FioProcess {
    fn drop(&mut self) {
        // Only one that was not waited for: its number may belong to another process by now.
        if matches!(self.0.try_wait(), Ok(None)) {
            for process in sys::descendants(self.0.id()) {
                sys::signal(process, KILL);
            }
            let _ended = self.0.wait();
        }
    }
}

/// Kills the fio that works in a folder for this agent and removes its files: for when the one who waits for it is not heard.
pub(crate) fn abandon(folder: &Path) {
    let Ok(folder) = std::fs::canonicalize(folder) else { return };
    let ours = std::process::id();
    for process in sys::descendants(ours).into_iter().filter(|process| *process != ours) {
        if sys::folder_of(process).as_ref() == Some(&folder) {
            sys::signal(process, KILL);
        }
    }
    // What cannot be removed now is found by the next sweep.
    let _left = sweep(&folder);
}

/// Bytes that a process has sent to storage. Source: proc(5), `/proc/pid/io`.
fn written_by(process: u32) -> Option<Bytes> {
    let text = std::fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("write_bytes: "))?;
    value.trim().parse().ok().map(Bytes)
}

fn text_of(path: &Path) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// fio's words on one line, each of its lines once, the last ones when there are many.
fn said(log: &str, document: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in log.lines().chain(output::notes(document).lines()).map(str::trim).filter(|line| !line.is_empty()) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let words = lines.join(" ");
    let from = words.char_indices().rev().nth(TEXT_IN_ERROR).map_or(0, |(at, _)| at);
    if words.is_empty() { "fio printed nothing".to_owned() } else { words[from..].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fio_is_quoted_without_repetition_and_not_at_length() {
        assert_eq!(said("a\nb\na\n\n", "b\n c\n{\n}"), "a b c");
        assert_eq!(said("", "{}"), "fio printed nothing");
        let long: String = (0..500).map(|line| format!("line {line}\n")).collect();
        let quoted = said(&long, "");
        assert!(quoted.len() < 700 && quoted.ends_with("line 499"), "{quoted}");
    }
}
