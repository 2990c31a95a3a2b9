//! The machine's own end: runs the cases of a boot one after the other and says of each how it ended. Whatever goes wrong is a line, and the machine ends.

use super::case::{CaseResult, Figures, MachineLine};
use super::groups;
use std::io::Write;
use std::time::Instant;

/// The keys by which the kernel's command line names group and boot. They reach us, since the first process hands the line on.
pub(super) const GROUP: &str = "proofload.group=";
pub(super) const BOOT: &str = "proofload.boot=";

/// Runs the cases that the words of the kernel's command line name.
pub(super) fn run(words: &[String]) -> Result<(), String> {
    let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
    let group = groups::named(value(GROUP).unwrap_or_default())?;
    let boot: u32 = value(BOOT).and_then(|text| text.parse().ok()).ok_or("the command line names no boot")?;
    for case in group.of_boot(boot) {
        let begun = Instant::now();
        let (fault, figures) = match (case.run)() {
            Ok(figures) => (None, figures),
            Err(fault) => (Some(fault), Figures::new()),
        };
        let case = case.name.to_owned();
        say(&MachineLine::Result(CaseResult { case, fault, seconds: begun.elapsed().as_secs_f64(), figures }))?;
    }
    if boot < group.boots() {
        say(&MachineLine::Kill)?;
        // The kill comes while this waits; the end of the machine would undo what it is to prove.
        loop {
            std::thread::park();
        }
    }
    say(&MachineLine::End)
}

/// Writes a line to the serial line.
fn say(line: &MachineLine) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", line.text())
        .and_then(|()| out.flush())
        .map_err(|error| format!("writing to the serial line: {error}"))
}
