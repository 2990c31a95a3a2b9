//! The command line of results: `report`, `compare`, `history`. Words only: `commands` does the work.

use crate::cli_run::ProgressForm;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What `report` takes.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// File to write [default: standard output; for html and pdf the record's name with that ending]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file; Proofload's own pages are always replaced
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Format [default: by the file's ending, else html]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Also show the results of this file, made by `import` or a record of a warehouse study; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) beside: Vec<PathBuf>,
    /// Also write each figure as SVG and its data as CSV into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) figures: Option<PathBuf>,
    /// Rule for judging windows of a record that is older than the current rule
    #[arg(long, value_enum, default_value_t = Judge::Record, value_name = "RULE")]
    pub(crate) judge: Judge,
    /// How much of the appendix (checks, facts, events, method) a page or PDF shows
    #[arg(long, value_enum, default_value_t = AppendixShown::Folded)]
    pub(crate) appendix: AppendixShown,
}

/// How much of the appendix a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AppendixShown {
    /// Folded on screen, omitted in print and in a PDF
    Folded,
    /// All of it, also in print and in a PDF
    Full,
}

/// Rules by which windows are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Judge {
    /// The rule in use when the record was written
    Record,
    /// The current rule
    New,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One self-contained page
    Html,
    /// A paper on sheets, by the program proofload-pdf
    Pdf,
    /// Markdown
    Markdown,
    /// The paper as Typst source, of which the PDF is made
    Typst,
    /// CSV with one value per line
    Csv,
    /// CSV with one point per line: the table of results
    Points,
    /// JSON, for programs
    Json,
    /// A table for the terminal
    Text,
}

/// Two records, and what of them is compared.
#[derive(Debug, Args)]
pub(crate) struct PairArguments {
    /// The baseline record (A), or a folder: its newest record of the same study that has a result
    pub(crate) baseline: PathBuf,
    /// The candidate record (B)
    pub(crate) candidate: PathBuf,
    /// A and B are study files: run both in turns, or the missing runs of their records, then use the records
    #[arg(long)]
    pub(crate) run: bool,
    /// Measure both at the same time, each on its own cores (limits.cores), instead of in turns
    #[arg(long, requires = "run")]
    pub(crate) duet: bool,
    /// Measure duets of A with itself and with a known difference (limits.cpu) first, and say whether contention biases the result
    #[arg(long, requires = "duet")]
    pub(crate) prove: bool,
    /// Replace a setting of both studies, such as study.repetitions=12; may be repeated
    #[arg(long, value_name = "SETTING=VALUE", requires = "run")]
    pub(crate) set: Vec<String>,
    /// Confirm changes of servers by repeating HOST/DATABASE, separated by commas
    #[arg(long, value_name = "NAMES", requires = "run")]
    pub(crate) yes: Option<String>,
    /// Show progress of the runs in this form [default: live on a terminal, else plain]
    #[arg(long, value_enum, value_name = "FORM", requires = "run")]
    pub(crate) progress: Option<ProgressForm>,
    /// Compare only points with this level, such as `limits.memory=64MiB`; may be repeated
    #[arg(long = "point", value_name = "SETTING=LEVEL")]
    pub(crate) points: Vec<String>,
    /// Format [default: by the file's ending, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PairFormat>,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// Formats of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairFormat {
    /// Tables for the terminal
    Text,
    /// Markdown
    Markdown,
    /// One self-contained page
    Html,
    /// JSON, for programs
    Json,
}

/// What `compare` takes.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) pair: PairArguments,
    /// Metric to compare, such as `tpm` or `response_ns_p99.new_order`; may be repeated [default: throughput and
    /// percentiles of response times]
    #[arg(long = "metric", value_name = "METRIC")]
    pub(crate) metrics: Vec<String>,
}

/// What `history` takes.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Folders with records, searched with all folders inside, or records
    #[arg(required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Show only the study of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) study: Option<String>,
    /// Format [default: by the file's ending, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PairFormat>,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Evaluate every record anew, and keep nothing for the next time
    #[arg(long)]
    pub(crate) no_cache: bool,
}
