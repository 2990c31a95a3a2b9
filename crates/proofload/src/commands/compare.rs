//! `compare`: two records side by side. What is compared and how is decided by `report::findings::comparison`.

use super::pair_files::{PairQuestion, expect_answerable};
use super::target;
use super::turns::{RecordFiles, record_files};
use crate::cli::{CompareArguments, PairArguments, PairFormat};
use crate::exit::Exit;
use crate::output;
use proofload_record::Record;
use proofload_report::findings::comparison::{Comparison, ComparisonFilter, Level, NamedRecord, compare};
use proofload_report::{ComparisonFormat, comparison_for_terminal, render_comparison};
use std::path::Path;

/// Compares. Ends with 1 when nothing could be compared.
pub(crate) fn run(arguments: &CompareArguments) -> Exit {
    let pair = &arguments.pair;
    match carry_out(pair, &arguments.metrics) {
        Ok(exit) => exit,
        Err((exit, text)) => output::failure(is_json(pair), exit, &text),
    }
}

/// An exit code and why.
pub(super) type Failure = (Exit, String);

fn carry_out(pair: &PairArguments, metrics: &[String]) -> Result<Exit, Failure> {
    expect_known_ending(pair)?;
    let levels = levels(pair)?;
    expect_answerable(pair, &PairQuestion { metrics, levels: &levels, is_judged: false })?;
    let records = Records::read(pair)?;
    let comparison = records.compare(&ComparisonFilter { metrics: metrics.to_vec(), levels })?;
    let text = match terminal_columns(pair) {
        Some(columns) => comparison_for_terminal(&comparison, columns),
        None => render_comparison(&comparison, format(pair)),
    };
    target::write(pair.output.as_deref(), pair.overwrite, &text).map_err(failed)?;
    Ok(if comparison.rows.is_empty() { Exit::Failure } else { Exit::Good })
}

/// The two records in memory.
pub(super) struct Records {
    files: RecordFiles,
    baseline: (Record, String),
    candidate: (Record, String),
}

impl Records {
    pub(super) fn read(pair: &PairArguments) -> Result<Self, Failure> {
        Self::of_files(record_files(pair)?)
    }

    pub(super) fn of_files(files: RecordFiles) -> Result<Self, Failure> {
        Ok(Self { baseline: read(&files.baseline)?, candidate: read(&files.candidate)?, files })
    }

    pub(super) fn baseline(&self) -> &Record {
        &self.baseline.0
    }

    pub(super) fn compare(&self, chosen: &ComparisonFilter) -> Result<Comparison<'_>, Failure> {
        let baseline = name(&self.files.baseline, &self.baseline);
        let candidate = name(&self.files.candidate, &self.candidate);
        compare(baseline, candidate, chosen).map_err(|error| (Exit::Failure, error.to_string()))
    }
}

fn name<'r>(path: &Path, (record, sha256): &'r (Record, String)) -> NamedRecord<'r> {
    NamedRecord { file: path.display().to_string(), sha256: sha256.clone(), record }
}

fn read(path: &Path) -> Result<(Record, String), Failure> {
    let read =
        || Ok::<_, proofload_record::Error>((proofload_record::read(path)?, proofload_record::file_sha256(path)?));
    read().map_err(|error| failed(format!("{error}{}", hint(path))))
}

/// What to try with a path that is no record; empty where nothing suggests itself.
fn hint(path: &Path) -> &'static str {
    if path.is_dir() {
        "; it is a folder, and only the baseline may be one: give the file of a record"
    } else if path.extension().is_some_and(|ending| ending == "toml") {
        "; to measure two studies and compare their records, add --run"
    } else {
        ""
    }
}

fn failed(text: String) -> Failure {
    (Exit::Failure, text)
}

/// The levels that were asked for.
pub(super) fn levels(pair: &PairArguments) -> Result<Vec<Level>, Failure> {
    let level = |text: &String| {
        let wrong = || (Exit::Usage, format!("--point {text}: use a setting and a level, such as limits.memory=64MiB"));
        Level::parse(text).ok_or_else(wrong)
    };
    pair.points.iter().map(level).collect()
}

/// Columns of the terminal that gets the text; `None` for another format, a file and what is no terminal.
pub(super) fn terminal_columns(pair: &PairArguments) -> Option<usize> {
    let is_shown = pair.output.is_none() && matches!(format(pair), ComparisonFormat::Text);
    is_shown.then(super::report::terminal_columns).flatten()
}

/// Whether the output is for programs.
pub(super) fn is_json(pair: &PairArguments) -> bool {
    matches!(format(pair), ComparisonFormat::Json)
}

/// The format that an ending in small letters stands for.
fn format_of_ending(ending: &str) -> Option<PairFormat> {
    match ending {
        "md" => Some(PairFormat::Markdown),
        "html" | "htm" => Some(PairFormat::Html),
        "json" => Some(PairFormat::Json),
        "txt" => Some(PairFormat::Text),
        _ => None,
    }
}

/// Refuses a file whose ending stands for no format, where none is named, before anything is measured or read.
pub(super) fn expect_known_ending(pair: &PairArguments) -> Result<(), Failure> {
    let is_named = pair.json || pair.format.is_some();
    let ending = target::ending(pair.output.as_deref()).filter(|ending| !is_named && !ending.is_empty());
    match ending.filter(|ending| format_of_ending(ending).is_none()) {
        None => Ok(()),
        Some(ending) => Err(failed(format!(
            "nothing was written: the ending .{ending} stands for no format; use .html, .md, .json or .txt, or name the \
             format with --format"
        ))),
    }
}

/// The format that was asked for, by its name or by the file's ending; else text.
pub(super) fn format(pair: &PairArguments) -> ComparisonFormat {
    let by_ending = || format_of_ending(&target::ending(pair.output.as_deref())?);
    match pair.format.or_else(by_ending) {
        _ if pair.json => ComparisonFormat::Json,
        Some(PairFormat::Markdown) => ComparisonFormat::Markdown,
        Some(PairFormat::Html) => ComparisonFormat::Html,
        Some(PairFormat::Json) => ComparisonFormat::Json,
        Some(PairFormat::Text) | None => ComparisonFormat::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Command};
    use clap::Parser;

    #[test]
    fn a_file_whose_ending_stands_for_no_format_is_refused() {
        let told = |more: &str| {
            let line = format!("proofload compare a.proof b.proof {more}");
            let Ok(Arguments { command: Command::Compare(asked) }) = Arguments::try_parse_from(line.split(' ')) else {
                panic!("{line} is not taken")
            };
            expect_known_ending(&asked.pair).err().map(|(_, text)| text)
        };
        for good in ["-o x", "-o -", "-o x.txt", "-o x.HTML", "-o x.md", "-o x.json", "-o x.xyz --format text"] {
            assert_eq!(told(good), None, "{good}");
        }
        for wrong in ["-o x.pdf", "-o x.xyz"] {
            let text = told(wrong).expect("it is refused");
            assert!(text.contains("stands for no format; use .html, .md, .json or .txt"), "{text}");
        }
    }
}
