//! `history`: the records of studies by date. What is a change of level is decided by `report::findings::history`.

use super::history_files::read_all;
use super::target;
use crate::cli::{HistoryArguments, PairFormat};
use crate::exit::Exit;
use crate::output;
use proofload_report::findings::history::history;
use proofload_report::{ComparisonFormat, render_history};

/// Shows it. Ends with 1 when no record could be read.
pub(crate) fn run(arguments: &HistoryArguments) -> Exit {
    match carry_out(arguments) {
        Ok(()) => Exit::Good,
        Err(text) => output::failure(format(arguments) == ComparisonFormat::Json, Exit::Failure, &text),
    }
}

fn carry_out(arguments: &HistoryArguments) -> Result<(), String> {
    if let Some(file) = &arguments.output {
        target::expect_free(file, arguments.overwrite)?;
    }
    let mut found = read_all(&arguments.folders, !arguments.no_cache)?;
    if found.records.is_empty() {
        let why = found.skipped.first().map_or_else(String::new, |(file, why)| format!(": {file}: {why}"));
        return Err(format!("found no readable record (*.proof), and {} that are not{why}", found.skipped.len()));
    }
    if let Some(study) = &arguments.study {
        let mut names: Vec<String> = found.records.iter().map(|record| record.study.clone()).collect();
        found.records.retain(|record| record.study == *study);
        if found.records.is_empty() {
            names.sort();
            names.dedup();
            return Err(format!("no record is of the study {study:?}; there are {}", names.join(", ")));
        }
    }
    let text = render_history(&history(found.records), &found.skipped, format(arguments))
        .map_err(|error| error.to_string())?;
    target::write(arguments.output.as_deref(), arguments.overwrite, &text)
}

/// The format that was asked for, by its name or by the file's ending; else text.
fn format(arguments: &HistoryArguments) -> ComparisonFormat {
    let by_ending = || match target::ending(arguments.output.as_deref())?.as_str() {
        "md" => Some(PairFormat::Markdown),
        "html" | "htm" => Some(PairFormat::Html),
        "json" => Some(PairFormat::Json),
        _ => None,
    };
    match arguments.format.or_else(by_ending) {
        _ if arguments.json => ComparisonFormat::Json,
        Some(PairFormat::Markdown) => ComparisonFormat::Markdown,
        Some(PairFormat::Html) => ComparisonFormat::Html,
        Some(PairFormat::Json) => ComparisonFormat::Json,
        Some(PairFormat::Text) | None => ComparisonFormat::Text,
    }
}
