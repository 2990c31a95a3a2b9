//! The command line. Words only: `commands` does the work.

use crate::cli_agents::AgentsArguments;
use crate::cli_first::{InitArguments, StudiesArguments};
use crate::cli_gate::GateArguments;
use crate::cli_selftest::SelftestArguments;
use crate::cli_tier::TierCommand;
use clap::{Parser, Subcommand, ValueEnum};
use proofload_model::units::parse_duration;
use std::path::PathBuf;
use std::time::Duration;

/// What it is for.
const ABOUT: &str = "Puts a proof load on a database and its storage, and records what held, what broke first and why.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "proofload", version, about = ABOUT, long_about = None, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Commands, in the order of their use.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a study from three answers: what, where, and what varies
    Init(InitArguments),
    /// List the built-in studies, print one or copy it
    Studies(StudiesArguments),
    /// Check a study file and list all faults
    Validate(CheckArguments),
    /// Show what a study would do: points in order, time, space, limits, destructive steps
    Plan(PlanArguments),
    /// Run a study and write its record
    Run(RunArguments),
    /// Run the missing runs of a record
    Resume(ResumeArguments),
    /// Find out what bound points of a record: lower each limit in turn while the load runs
    Confirm(ConfirmArguments),
    /// Show the progress of a record, even while it is being written
    Status(StatusArguments),
    /// Serve a live page of a record, also while it is being written
    Watch(WatchArguments),
    /// Check that a record is unchanged, and who signed it
    Verify(VerifyArguments),
    /// Sign a closed record with an SSH key
    Sign(SignArguments),
    /// Write the report of a record
    Report(ReportArguments),
    /// Compare two records of a workload: ratios with confidence intervals, and other differences
    Compare(CompareArguments),
    /// Pass or fail a candidate's record against a baseline's, for continuous integration
    Gate(GateArguments),
    /// Show the records of a study by date, and where a figure changed its level
    History(HistoryArguments),
    /// Export a record for other tools: HDR log, tables as CSV, JSON and Parquet, OpenMetrics
    Export(ExportArguments),
    /// Import results of YCSB, go-ycsb and HDR logs, to show with `report --beside`
    Import(ImportArguments),
    /// Serve, watch and check an SSD cache in front of slow volumes
    #[command(subcommand)]
    Tier(TierCommand),
    /// Show what this machine allows, with a remedy for each problem
    Doctor(DoctorArguments),
    /// Check that every agent of a study answers, and what its machine is and allows
    Agents(AgentsArguments),
    /// List the built-in engines, and which are installed here
    Engines(EnginesArguments),
    /// Test an engine on your own server, in a database that is created and dropped; writes a sealed result
    Selftest(SelftestArguments),
    /// Put back what a killed run has left changed of a server (`engine.changes`)
    Release(crate::cli_release::ReleaseArguments),
    /// List the built-in workloads
    Workloads(ListArguments),
    /// Print the JSON Schema of study files, or the reference of all settings
    Schema(SchemaArguments),
    /// Print completions for a shell
    Completions(CompletionsArguments),
    /// Write the manual pages
    Man(ManArguments),
    /// Serve a conductor on standard input and output (started by `run`)
    Agent,
}

/// A study file, with changes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StudyArguments {
    /// The study file
    pub(crate) study: PathBuf,
    /// Replace a setting (`limits.cores=1`) or a factor's levels (`factor.limits.memory=["64MiB"]`)
    #[arg(long = "set", value_name = "SETTING=VALUE")]
    pub(crate) set: Vec<String>,
}

/// What `validate` and `plan` take.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) study: StudyArguments,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `plan` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) check: CheckArguments,
    /// Record of a short run of this study, to estimate the repetitions and seconds that wanted intervals take
    #[arg(long, value_name = "RECORD")]
    pub(crate) pilot: Option<PathBuf>,
}

/// What `engines` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct EnginesArguments {
    #[command(flatten)]
    pub(crate) list: ListArguments,
    /// Print the page of engines, capabilities and how each is tested, as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) page: bool,
}

/// What `workloads` takes, and `engines` among others.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `run` and `resume` show and write besides the record.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArguments {
    /// Show progress in this form [default: live on a terminal, else plain]
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) progress: Option<ProgressForm>,
    /// Do not write the report beside the record
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Serve a live page for browsers, such as 127.0.0.1:7070; other than on loopback its address has a random token
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
}

/// Forms of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressForm {
    /// One line per run, updated every second
    Live,
    /// A line at each change of phase and every 30 s
    Plain,
    /// The same lines, each a JSON object
    Json,
    /// Nothing
    None,
}

/// What `run` does with a study that ends without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VoidPolicy {
    /// Exit with 0; a failed verification keeps its code
    Ok,
    /// Exit with the code for no result
    Fail,
}

/// What `resume` does about void points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResumeVoid {
    /// Repeat points that are void because of the host; earlier attempts stay in the record
    Again,
    /// Exit with 0 even if points are void; a failed verification keeps its code
    Ok,
}

/// What `run` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) study: StudyArguments,
    /// The record to write [default: <study name>.proof]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the plan, as `proofload plan` does, and start nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Confirm destructive steps and changes of a server by repeating devices and HOST/DATABASE, separated by commas
    #[arg(long, value_name = "DEVICE")]
    pub(crate) yes: Option<String>,
    /// Skip limits that this machine does not allow; the title of the result says which
    #[arg(long)]
    pub(crate) without_limits: bool,
    /// What to do when points are void or a search has no answer
    #[arg(long, value_enum, default_value_t = VoidPolicy::Fail, value_name = "POLICY")]
    pub(crate) void: VoidPolicy,
    #[command(flatten)]
    pub(crate) show: ShowArguments,
}

/// Longest time that `procedure.wait_for_quiet` may be as well.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Reads how long a run may wait for a quiet host.
fn waiting_time(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time > LONGEST_WAIT { Err("more than 24 h; give at most 24h".to_owned()) } else { Ok(time) }
}

/// What `resume` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArguments {
    /// The record
    pub(crate) record: PathBuf,
    #[command(flatten)]
    pub(crate) show: ShowArguments,
    /// Repeat points that are void because of the host (`--void`), or exit with 0 even if points are void
    /// (`--void=ok`); may be given twice
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "again")]
    pub(crate) void: Vec<ResumeVoid>,
    /// Let each run of this session wait up to this long for a quiet host, in place of `procedure.wait_for_quiet`
    #[arg(long, value_name = "TIME", value_parser = waiting_time)]
    pub(crate) wait: Option<Duration>,
    /// Confirm destructive steps and changes of a server by repeating devices and HOST/DATABASE, separated by commas
    #[arg(long, value_name = "DEVICE")]
    pub(crate) yes: Option<String>,
}

/// What `confirm` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfirmArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// Points: `largest`, `knee`, `all`, or their numbers, separated by commas
    #[arg(long, default_value = "largest", value_name = "POINTS")]
    pub(crate) points: String,
    /// Share by which a resource is lowered, 0.05 to 0.5 [default: that of the study, or 0.2]
    #[arg(long, value_name = "SHARE")]
    pub(crate) step: Option<f64>,
    /// Blocks of each point at most [default: that of the study, or 12]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) blocks: Option<u32>,
    /// Show what would be done and how long it takes at most; start nothing
    #[arg(long)]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) show: ShowArguments,
    /// Confirm destructive steps and changes of a server by repeating devices and HOST/DATABASE, separated by commas
    #[arg(long, value_name = "DEVICE")]
    pub(crate) yes: Option<String>,
}

/// What `status` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// Update every second until the study ends or Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `watch` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// Where to serve the page; other than on loopback its address has a random token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7070")]
    pub(crate) listen: String,
}

/// What `verify` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// The signature [default: the record's name with .sig, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) signature: Option<PathBuf>,
    /// File of allowed signers in the format of `ssh-keygen`; makes a missing signature a fault
    #[arg(long, value_name = "FILE")]
    pub(crate) allowed_signers: Option<PathBuf>,
    /// Required signer, as named in the file of allowed signers [default: anyone in it]
    #[arg(long, value_name = "NAME", requires = "allowed_signers")]
    pub(crate) identity: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `sign` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SignArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// The private key, or the public key of one in an SSH agent
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// File to write [default: the record's name with .sig]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// What `report` takes.
#[derive(Debug, clap::Args)]
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
    /// Also show the results of this file: from `import`, or a record of a warehouse study; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) beside: Vec<PathBuf>,
    /// Also write each figure as SVG and its data as CSV into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) figures: Option<PathBuf>,
    /// Rule for judging windows of a record that is older than the current rule
    #[arg(long, value_enum, default_value_t = Judge::Record, value_name = "RULE")]
    pub(crate) judge: Judge,
    /// How much of the appendix (checks, facts, events, method) a page shows and prints, and a PDF has
    #[arg(long, value_enum, default_value_t = AppendixShown::Folded)]
    pub(crate) appendix: AppendixShown,
}

/// How much of the appendix a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AppendixShown {
    /// Folded on screen, omitted in print
    Folded,
    /// All of it, also in print
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
#[derive(Debug, clap::Args)]
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
    /// Replace a setting of both studies, such as study.repetitions=12; may be repeated
    #[arg(long, value_name = "SETTING=VALUE", requires = "run")]
    pub(crate) set: Vec<String>,
    /// Confirm changes of servers by repeating HOST/DATABASE, separated by commas
    #[arg(long, value_name = "SERVER", requires = "run")]
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
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) pair: PairArguments,
    /// Metric to compare, such as `tpm` or `response_ns_p99.new_order`; may be repeated [default: throughput and
    /// percentiles of response times]
    #[arg(long = "metric", value_name = "METRIC")]
    pub(crate) metrics: Vec<String>,
}

/// What `history` takes.
#[derive(Debug, clap::Args)]
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

/// What `export` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// Format
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// Table to write, with csv, parquet and json; may be repeated [default: all]
    #[arg(long = "table", value_name = "TABLE", value_parser = tables())]
    pub(crate) tables: Vec<String>,
    /// Write only this run of the plan, by its index; may be repeated
    #[arg(long = "run", value_name = "INDEX")]
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
#[derive(Debug, clap::Args)]
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

/// What `doctor` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArguments {
    /// A study whose folder and engine to check
    pub(crate) study: Option<PathBuf>,
    /// Replace a setting of the study
    #[arg(long = "set", value_name = "SETTING=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `schema` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArguments {
    /// Print the reference of all settings as Markdown instead
    #[arg(long)]
    pub(crate) reference: bool,
}

/// What `completions` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// What `man` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArguments {
    /// Folder to write to; created if missing
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Replace existing pages
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_time_has_a_unit_and_an_end() {
        let hours = |count: u64| Duration::from_secs(3_600 * count);
        assert_eq!((waiting_time("2h"), waiting_time("24h")), (Ok(hours(2)), Ok(hours(24))));
        assert!(waiting_time("25h").is_err() && waiting_time("2").is_err());
    }
}
