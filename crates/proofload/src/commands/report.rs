//! `report`: the paper from a record.

use super::selftest_result::{self, ResultFault};
use super::{pdf, target};
use crate::cli::{AppendixShown, Judge, ReportArguments, ReportFormat};
use crate::exit::Exit;
use crate::output;
use proofload_import::{REFERENCE_FILE_MOST, Reference, read_reference};
use proofload_record::Record;
use proofload_record::{file_sha256, is_record};
use proofload_report::findings::judge_again;
use proofload_report::findings::warehouse::recorded_reference;
use proofload_report::{Appendix, Format, ReportOptions, render_figures, render_with};
use std::io::Write;
use std::path::{Path, PathBuf};

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
    let file = target_file(arguments);
    if file.as_ref().is_some_and(|file| *file == arguments.record) {
        return Err(format!("{} is the record itself; choose another file with -o", arguments.record.display()));
    }
    expect_known_ending(arguments)?;
    if matches!(selftest_result::found(&arguments.record), Some(Ok(_) | Err(ResultFault::Form(_)))) {
        return Err(format!(
            "{0} is the result of a self-test, which has no measurement to report; proofload selftest --check {0} tells what it says",
            arguments.record.display()
        ));
    }
    let beside = beside(&arguments.beside)?;
    let mut record = proofload_record::read(&arguments.record).map_err(|error| error.to_string())?;
    if arguments.judge == Judge::New {
        judge_again(&mut record);
    }
    let asked = asked_format(arguments);
    let sha256 = sha256(&arguments.record, asked)?;
    let named = named(&arguments.record, asked);
    let options = ReportOptions {
        beside: &beside,
        appendix: appendix(arguments.appendix),
        file: &named,
        columns: file.is_none().then(terminal_columns).flatten(),
        sha256: &sha256,
    };
    let overwrite = arguments.overwrite || is_replaceable(arguments, file.as_deref());
    let text = render_with(&record, format(asked), options).map_err(|error| error.to_string())?;
    if asked == ReportFormat::Pdf {
        file.as_deref().map_or(Ok(()), |file| target::expect_free(file, overwrite))?;
        target::write_bytes(file.as_deref(), overwrite, &pdf::make(&text)?)?;
    } else {
        target::write(file.as_deref(), overwrite, &text)?;
    }
    match &arguments.figures {
        Some(folder) => write_figures(&record, options, folder, arguments.overwrite),
        None => Ok(()),
    }
}

/// Columns of the terminal on stdout; `None` where it is none.
pub(super) fn terminal_columns() -> Option<usize> {
    // Not of `console`, which has no size for a terminal that says its columns and no lines.
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// The record in the commands that a report tells: a page, which others read, has no folders of this machine in it.
fn named(record: &Path, asked: ReportFormat) -> String {
    let name = record.file_name().map(Path::new).filter(|_| asked != ReportFormat::Text);
    let shown = name.unwrap_or(record).display().to_string();
    let is_plain = shown.chars().all(|letter| letter.is_alphanumeric() || "-_./+,:@".contains(letter));
    if is_plain { shown } else { format!("'{}'", shown.replace('\'', r"'\''")) }
}

/// The hash of the record's file, for formats that name it.
fn sha256(record: &Path, asked: ReportFormat) -> Result<String, String> {
    match asked {
        ReportFormat::Pdf | ReportFormat::Typst => file_sha256(record).map_err(|error| error.to_string()),
        _ => Ok(String::new()),
    }
}

/// Writes each figure and its data; a file that is there already stops it before anything is written.
fn write_figures(record: &Record, options: ReportOptions<'_>, folder: &Path, overwrite: bool) -> Result<(), String> {
    let figures = render_figures(record, options).map_err(|error| error.to_string())?;
    let files: Vec<(PathBuf, &String)> = figures
        .iter()
        .flat_map(|one| [("svg", &one.svg), ("csv", &one.csv)].map(|(ending, text)| (ending, one, text)))
        .map(|(ending, one, text)| (folder.join(format!("{}.{ending}", one.name)), text))
        .collect();
    files.iter().try_for_each(|(path, _)| target::expect_unused(path, overwrite))?;
    std::fs::create_dir_all(folder).map_err(|error| format!("failed to make {}: {error}", folder.display()))?;
    for (path, text) in &files {
        target::make(path, overwrite)?
            .write_all(text.as_bytes())
            .map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    }
    output::note(&format!("written: {} figures in {}", figures.len(), folder.display()));
    Ok(())
}

/// Whether a file is there that this command made: a page, which can be made again from its record.
fn is_replaceable(arguments: &ReportArguments, file: Option<&Path>) -> bool {
    asked_format(arguments) == ReportFormat::Html && file.is_some_and(super::ending::is_ours)
}

/// Results from files; the error lists the faults of all of them.
fn beside(files: &[PathBuf]) -> Result<Vec<Reference>, String> {
    let read = |file: &PathBuf| {
        if is_record(file).map_err(|error| error.to_string())? {
            return recorded(file);
        }
        let text = super::bounded_file::named_bytes_of(file, REFERENCE_FILE_MOST)?;
        let text = String::from_utf8(text).map_err(|_| format!("{}: not a text file", file.display()))?;
        read_reference(&file.display().to_string(), &text)
    };
    let (good, bad): (Vec<_>, Vec<_>) = files.iter().map(read).partition(Result::is_ok);
    if bad.is_empty() {
        return Ok(good.into_iter().flatten().collect());
    }
    let faults: Vec<String> = bad.into_iter().filter_map(Result::err).collect();
    Err(format!("failed to read the results to show beside the study:\n{}", faults.join("\n")))
}

/// Results of a record, named by its file and the file's hash.
fn recorded(file: &Path) -> Result<Reference, String> {
    let name = file.file_stem().map_or_else(|| file.display().to_string(), |stem| stem.to_string_lossy().into_owned());
    let hash = file_sha256(file).map_err(|error| error.to_string())?;
    let record = proofload_record::read(file).map_err(|error| error.to_string())?;
    recorded_reference(&record, &name, &hash)
}

/// Where the report goes: the named file; a page or a PDF beside the record; else standard output.
fn target_file(arguments: &ReportArguments) -> Option<PathBuf> {
    match (&arguments.output, asked_format(arguments)) {
        (Some(file), _) if file.as_os_str() == "-" => None,
        (Some(file), _) => Some(file.clone()),
        (None, ReportFormat::Html) => Some(arguments.record.with_extension("html")),
        (None, ReportFormat::Pdf) => Some(arguments.record.with_extension("pdf")),
        (None, _) => None,
    }
}

const fn appendix(shown: AppendixShown) -> Appendix {
    match shown {
        AppendixShown::Folded => Appendix::Folded,
        AppendixShown::Full => Appendix::Full,
    }
}

/// The format that was asked for, by its name or by the file's ending; else a page.
fn asked_format(arguments: &ReportArguments) -> ReportFormat {
    let by_ending = || format_of_ending(&target::ending(arguments.output.as_deref())?);
    arguments.format.or_else(by_ending).unwrap_or(ReportFormat::Html)
}

/// The format that an ending in small letters stands for.
fn format_of_ending(ending: &str) -> Option<ReportFormat> {
    match ending {
        "html" | "htm" => Some(ReportFormat::Html),
        "md" => Some(ReportFormat::Markdown),
        "pdf" => Some(ReportFormat::Pdf),
        "typ" => Some(ReportFormat::Typst),
        "csv" => Some(ReportFormat::Csv),
        "json" => Some(ReportFormat::Json),
        "txt" => Some(ReportFormat::Text),
        _ => None,
    }
}

/// Refuses a file whose ending stands for no format, where none is named.
fn expect_known_ending(arguments: &ReportArguments) -> Result<(), String> {
    let ending = target::ending(arguments.output.as_deref()).filter(|_| arguments.format.is_none());
    match ending.filter(|ending| format_of_ending(ending).is_none()) {
        None => Ok(()),
        Some(ending) => Err(format!(
            "nothing was written: the ending .{ending} stands for no format; use .html, .md, .pdf, .typ, .csv, .json or \
             .txt, or name the format with --format"
        )),
    }
}

const fn format(format: ReportFormat) -> Format {
    match format {
        ReportFormat::Html => Format::Html,
        ReportFormat::Markdown => Format::Markdown,
        ReportFormat::Pdf | ReportFormat::Typst => Format::Typst,
        ReportFormat::Csv => Format::Csv,
        ReportFormat::Points => Format::Points,
        ReportFormat::Json => Format::Json,
        ReportFormat::Text => Format::Text,
    }
}
