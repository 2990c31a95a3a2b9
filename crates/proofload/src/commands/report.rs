//! `report`: the paper from a record.

use crate::cli::{ReportArguments, ReportFormat};
use crate::exit::Exit;
use crate::output;
use proofload_report::{Format, render};
use std::path::PathBuf;

/// Renders a record.
pub(crate) fn run(arguments: &ReportArguments) -> Exit {
    match write(arguments) {
        Ok(()) => Exit::Good,
        Err(text) => {
            output::error(&text);
            Exit::Failure
        }
    }
}

fn write(arguments: &ReportArguments) -> Result<(), String> {
    let record = proofload_record::read(&arguments.record).map_err(|error| error.to_string())?;
    let text = render(&record, format(arguments.format)).map_err(|error| error.to_string())?;
    match target(arguments) {
        Some(file) => {
            std::fs::write(&file, text).map_err(|error| format!("writing the report {}: {error}", file.display()))?;
            output::note(&format!("report: {}", file.display()));
        }
        None => output::result(&text),
    }
    Ok(())
}

/// Where the report goes: the named file; a page beside the record; else standard output.
fn target(arguments: &ReportArguments) -> Option<PathBuf> {
    match (&arguments.output, arguments.format) {
        (Some(file), _) if file.as_os_str() == "-" => None,
        (Some(file), _) => Some(file.clone()),
        (None, ReportFormat::Html) => Some(arguments.record.with_extension("html")),
        (None, _) => None,
    }
}

const fn format(format: ReportFormat) -> Format {
    match format {
        ReportFormat::Html => Format::Html,
        ReportFormat::Markdown => Format::Markdown,
        ReportFormat::Csv => Format::Csv,
        ReportFormat::Json => Format::Json,
        ReportFormat::Text => Format::Text,
    }
}
