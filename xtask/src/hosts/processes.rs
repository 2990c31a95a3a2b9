//! Programs and processes of a way: run, waited for, found, ended.

use crate::program::output;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

/// Pause between two looks.
const GLANCE: Duration = Duration::from_millis(100);

/// Runs a program that must succeed; what it wrote.
pub(super) fn output_of(words: &[&str]) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("no program")?;
    output(Command::new(program).args(arguments)).map(|written| text(&written))
}

/// Runs a line of words with blanks between them, which must succeed.
pub(super) fn line(words: &str) -> Result<String, String> {
    output_of(&words.split_ascii_whitespace().collect::<Vec<_>>())
}

/// Text of bytes.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How a program ended, and what it said.
pub(super) fn said(output: &Output) -> String {
    format!("{}: {}{}", output.status, text(&output.stdout).trim(), text(&output.stderr).trim())
}

/// Waits until something holds; the error says what did not.
pub(super) fn until(what: &str, patience: Duration, mut holds: impl FnMut() -> bool) -> Result<Duration, String> {
    let begun = Instant::now();
    loop {
        if holds() {
            return Ok(begun.elapsed());
        }
        if begun.elapsed() > patience {
            return Err(format!("{what}: not within {patience:?}"));
        }
        std::thread::sleep(GLANCE);
    }
}

/// Numbers and command lines of processes whose command line has these words.
pub(super) fn found(words: &str) -> Vec<(u32, String)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let titled = numbers.filter_map(|number| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).ok()?;
        Some((number, text(&line).replace('\0', " ")))
    });
    titled.filter(|(number, line)| *number != std::process::id() && line.contains(words)).collect()
}

/// Programs that run until this is dropped.
#[derive(Default)]
pub(super) struct Daemons(Vec<Child>);

impl Daemons {
    /// Starts a program whose output goes to a file.
    pub(super) fn start(&mut self, command: &mut Command, log: &std::path::Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("starting {:?}: {error}", command.get_program());
        let file = std::fs::File::create(log).map_err(failed)?;
        let both = file.try_clone().map_err(failed)?;
        let child = command.stdin(std::process::Stdio::null()).stdout(file).stderr(both).spawn();
        self.0.push(child.map_err(|error| format!("starting {:?}: {error}", command.get_program()))?);
        Ok(())
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for child in self.0.iter_mut().rev() {
            let _gone = child.kill();
            let _ended = child.wait();
        }
    }
}
