//! Writing to the terminal: results on stdout, everything else on stderr. The only module of the program that prints. A result that stdout
//! does not take is a failure; a message that stderr does not take is lost, and nothing else is.

use crate::exit::Exit;
use proofload_model::letters::is_steering;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};

/// Text without control characters other than ends of lines and tabs, so that nothing of a study or a record steers a terminal.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let steers = |letter: char| is_steering(letter) && !matches!(letter, '\n' | '\t');
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    // Lines of CSV end with both; alone, a return would write over its line.
    Cow::Owned(text.split("\r\n").map(|line| line.replace(steers, "\u{fffd}")).collect::<Vec<_>>().join("\r\n"))
}

/// A result, on stdout. A closed pipe is the reader's choice, not an error; a full disk is one.
pub(crate) fn result(text: &str) -> Result<(), String> {
    let written = stream(|out| {
        out.write_all(harmless(text).as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") }
    });
    written.map_err(|error| not_written(&error))
}

/// The end of a command that has a result: its exit code when stdout has taken the result, else a failure.
pub(crate) fn conclude(json: bool, text: &str, exit: Exit) -> Exit {
    result(text).map_or_else(|error| failure(json, Exit::Failure, &error), |()| exit)
}

/// The end of a command that has acted: where stdout does not take the result, the failure says that what it did is done.
pub(crate) fn conclude_acted(json: bool, text: &str, exit: Exit) -> Exit {
    result(text).map_or_else(|error| failure(json, Exit::Failure, &format!("done, but {error}")), |()| exit)
}

/// Words for a result that is not or not wholly written.
pub(crate) fn not_written(error: &std::io::Error) -> String {
    format!("failed to write to standard output: {error}; what was written is incomplete: write it to another place")
}

/// A long result on stdout, written piece by piece. A closed pipe is the reader's choice, not an error.
pub(crate) fn stream(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes a message to stderr, whole. Where it is not taken, as by a terminal that has gone or a full disk, it is lost, and no study ends.
fn say(message: &str) {
    let _lost = std::io::stderr().lock().write_all(harmless(message).as_bytes());
}

/// A note for the operator, on stderr.
pub(crate) fn note(text: &str) {
    say(&format!("{text}\n"));
}

/// An error, on stderr.
pub(crate) fn error(text: &str) {
    say(&format!("proofload: {text}\n"));
}

/// An error of a command that can speak to programs: a line of text, or with `--json` one JSON object on a line. Both on
/// stderr; the exit code is the same.
pub(crate) fn failure(json: bool, exit: Exit, text: &str) -> Exit {
    if json {
        json_error(exit, text, None);
    } else {
        error(text);
    }
    exit
}

/// An error as one JSON object on a line, on stderr; with faults where several things are wrong.
pub(crate) fn json_error(exit: Exit, text: &str, faults: Option<serde_json::Value>) {
    let mut object = serde_json::json!({
        "form": 1, "error": { "exit": exit.number(), "meaning": exit.meaning(), "text": text }
    });
    if let Some(faults) = faults {
        object["error"]["faults"] = faults;
    }
    note(&object.to_string());
}

/// What the command line parser has to say: help and version are results, the rest are errors of usage.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed {
        // What stderr does not take is lost, like any other message.
        _ if error.use_stderr() => Exit::Usage,
        Err(failed) if failed.kind() != std::io::ErrorKind::BrokenPipe => {
            failure(false, Exit::Failure, &not_written(&failed))
        }
        _ => Exit::Good,
    }
}

/// A question to somebody at a terminal, on stderr; the line stays open for the answer.
pub(crate) fn prompt(text: &str) {
    say(text);
}

/// Whether somebody may be asked: answers come from a terminal, and questions are seen on one.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether a live view may be drawn on stderr.
pub(crate) fn is_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(harmless("x \u{1b}]0;title\u{7}\ty\n"), "x \u{fffd}]0;title\u{fffd}\ty\n");
        assert_eq!(harmless("a,b\r\nc\rd\r\n"), "a,b\r\nc\u{fffd}d\r\n");
    }
}
