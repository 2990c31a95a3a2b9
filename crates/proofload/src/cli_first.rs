//! The command line of the first hour: `init` and `studies`. Words only: `commands` does the work.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What `studies` takes.
#[derive(Debug, Args)]
pub(crate) struct StudiesArguments {
    /// Print this study, as --show does
    #[arg(value_name = "NAME", conflicts_with_all = ["show", "copy", "output", "overwrite"])]
    pub(crate) name: Option<String>,
    /// Print this study
    #[arg(long, value_name = "NAME", conflicts_with_all = ["copy", "output", "overwrite"])]
    pub(crate) show: Option<String>,
    /// Write this study to a file, to run or edit it
    #[arg(long, value_name = "NAME")]
    pub(crate) copy: Option<String>,
    /// File to write with --copy, `-` for standard output [default: the study's name with .toml]
    #[arg(short, long, value_name = "FILE", requires = "copy")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "copy")]
    pub(crate) overwrite: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "copy")]
    pub(crate) json: bool,
}

/// What `init` takes. What is left out is asked on a terminal; elsewhere the first of its choices is taken.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// What is measured
    #[arg(long, value_enum, value_name = "WORKLOAD")]
    pub(crate) workload: Option<InitWorkload>,
    /// Where: an embedded engine or one that Proofload starts, such as sqlite or postgresql; `proofload engines` lists them
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    /// Where: URL of an existing server without a password, such as postgresql://bench@db1/bench
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// What varies: memory, users, cache, nothing, or a setting with its levels as SETTING=[LEVEL, ...]
    #[arg(long, value_name = "WHAT")]
    pub(crate) vary: Option<String>,
    /// File to write, `-` for standard output [default: the workload and what varies, such as oltp-memory.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// Workloads of a first study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitWorkload {
    /// Orders and payments, derived from TPC-C
    Oltp,
    /// Reads and updates of single records, as in YCSB
    KeyValue,
    /// Analytic queries, derived from TPC-H
    Warehouse,
    /// Orders and payments on slow drives with an SSD cache
    CacheTier,
}
