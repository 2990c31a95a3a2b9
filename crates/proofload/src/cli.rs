//! The command line: its commands, and the arguments of those that ask and print. Words only: `commands` does the work.

use crate::cli_agents::AgentsArguments;
use crate::cli_first::{InitArguments, StudiesArguments};
use crate::cli_gate::GateArguments;
use crate::cli_selftest::SelftestArguments;
use crate::cli_tier::TierCommand;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

pub(crate) use crate::cli_exchange::{ExportArguments, ExportFormat, ImportArguments, ImportForm};
pub(crate) use crate::cli_record::{SignArguments, StatusArguments, VerifyArguments, WatchArguments};
pub(crate) use crate::cli_report::{
    AppendixShown, CompareArguments, HistoryArguments, Judge, PairArguments, PairFormat, ReportArguments, ReportFormat,
};
pub(crate) use crate::cli_run::{
    CheckArguments, ConfirmArguments, PlanArguments, ProgressForm, ResumeArguments, ResumeVoid, RunArguments,
    ShowArguments, VoidPolicy,
};

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
    /// Check that every agent of a study answers, and show its machine and the limits that can be set there
    Agents(AgentsArguments),
    /// List the built-in engines, and which are installed here
    Engines(EnginesArguments),
    /// Test an engine on your own server, in a database that is created and dropped; writes a sealed result
    Selftest(SelftestArguments),
    /// Put back the settings that a killed run left changed at a server (`engine.changes`)
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
