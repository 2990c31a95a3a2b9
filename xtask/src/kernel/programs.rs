//! Programs inside the machine: run with a deadline, their output and exit code as values.

use serde_json::Value;
use std::process::{Command, Output};

/// Features with which our program and its tests are built for the machine.
pub(super) const FEATURES: &str = "mongodb-driver,fixtures,ublk";

/// Our program inside the machine.
pub(super) const PROOFLOAD: &str = "/proofload";

/// Longest time of one program inside the machine.
const SECONDS: &str = "240";

/// Runs a program; its output, however it ended.
pub(super) fn output(words: &[&str]) -> Result<Output, String> {
    let run = Command::new("timeout").arg(SECONDS).args(words).output();
    run.map_err(|error| format!("{}: {error}", words.join(" ")))
}

/// Runs a program that must succeed; what it wrote.
pub(super) fn run(words: &[&str]) -> Result<String, String> {
    let output = output(words)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!(
        "{}: {}: {}{}",
        words.join(" "),
        output.status,
        text.trim(),
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}

/// Runs a line of words with blanks between them.
pub(super) fn line(words: &str) -> Result<String, String> {
    run(&words.split_ascii_whitespace().collect::<Vec<_>>())
}

/// Runs our program with `--json`; its document.
pub(super) fn document(words: &str) -> Result<Value, String> {
    let text = line(&format!("{PROOFLOAD} {words} --json"))?;
    serde_json::from_str(&text).map_err(|error| format!("{words}: {error}: {text}"))
}

/// Runs our program, which must refuse with an exit code and these words.
pub(super) fn refused(words: &str, exit: i32, parts: &[&str]) -> Result<(), String> {
    let all: Vec<&str> = std::iter::once(PROOFLOAD).chain(words.split_ascii_whitespace()).collect();
    let output = output(&all)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    match parts.iter().find(|part| !text.contains(**part)) {
        _ if output.status.code() != Some(exit) => Err(format!("{words}: {}, not {exit}: {text}", output.status)),
        Some(part) => Err(format!("{words}: {part:?} is not in {text:?}")),
        None => Ok(()),
    }
}

/// An error unless it holds.
pub(super) fn expect(holds: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(fault()) }
}
