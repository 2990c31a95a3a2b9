//! Words that users bring from other programs: `help COMMAND`, and `--json` where a command has another word for it. May not decide what a
//! command does.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// The words of a command line, with `--help` at the end in place of `help` at the beginning.
pub(crate) fn with_help(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// The error of a command line, with what its command has in place of an unknown `--json`.
pub(crate) fn with_form(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let is_json = matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(word)) if word == "--json");
    let meant = match words.get(1).and_then(|word| word.to_str()) {
        Some("run" | "resume" | "confirm") => "--progress json",
        Some("report" | "export") => "--format json",
        _ => return error,
    };
    if is_json && error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
        error.insert(ContextKind::SuggestedArg, ContextValue::String(meant.to_owned()));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn help_of_a_command_is_asked_for_in_either_order() {
        for (given, meant) in [
            ("proofload help run", "proofload run --help"),
            ("proofload help", "proofload --help"),
            ("proofload help tier check", "proofload tier check --help"),
            ("proofload run help", "proofload run help"),
        ] {
            assert_eq!(with_help(words(given).into_iter()), words(meant));
        }
    }

    #[test]
    fn an_unknown_form_is_told_by_its_word_here() {
        for (line, meant) in
            [("proofload run x.toml --json", "--progress json"), ("proofload report x.proof --json", "--format json")]
        {
            let error = crate::examples::program().try_get_matches_from(words(line)).expect_err("it is unknown");
            let told = with_form(error, &words(line)).to_string();
            assert!(told.contains(meant) && !told.contains("-- --json"), "{told}");
        }
    }
}
