//! The command line of what is exchanged with other programs: `export`, `import`. Words only: `commands` does the work.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What `export` takes.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// Format
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// Table to write, with csv, parquet and json; may be repeated [default: all]
    #[arg(long = "table", value_name = "TABLE", value_parser = tables())]
    pub(crate) tables: Vec<String>,
    /// Write only this run, counted from 1 as `plan` counts them (with `compare --run`, progress counts on from A's runs to B's; the tables
    /// count from 0); may be repeated
    #[arg(long = "run", value_name = "NUMBER")]
    pub(crate) runs: Vec<u32>,
    /// File to write, `-` for standard output; with csv or parquet and more than one table, the folder for their files [default:
    /// standard output]
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// Names of the tables.
fn tables() -> clap::builder::PossibleValuesParser {
    proofload_report::export::TABLES.iter().map(|table| table.name).collect::<Vec<_>>().into()
}

/// Formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Interval log of HdrHistogram, one line per kind of operation and second
    Hdr,
    /// Tables as text, one file each
    Csv,
    /// Tables as files of Apache Parquet, one each
    Parquet,
    /// Tables in one document
    Json,
    /// Final figures and per-second values, for a time series database
    Openmetrics,
    /// Writes of one drill as a JSON array, for checkers of histories
    History,
}

/// What `import` takes.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Result texts of YCSB or go-ycsb, and HDR interval logs of one run
    #[arg(required = true, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
    /// File to write, `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Title of the results [default: the program that wrote them]
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// What to create from the files: results to show, or a study from one YCSB property file
    #[arg(long = "as", value_enum, default_value_t = ImportForm::Results)]
    pub(crate) form: ImportForm,
    /// Engine of the study, with `--as study`
    #[arg(long, default_value = "sqlite")]
    pub(crate) engine: String,
    /// Describe the result as JSON on standard output; not with `-o -`
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `import` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportForm {
    /// Results for `report --beside`
    Results,
    /// A study from YCSB's property file
    Study,
}
