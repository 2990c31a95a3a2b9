//! The command line of `agents`. Words only: `commands::agents` does the work.

use clap::Args;
use std::path::PathBuf;

/// What `agents` takes.
#[derive(Debug, Args)]
pub(crate) struct AgentsArguments {
    /// The study whose agents are started, asked and ended; nothing else of it is run
    #[arg(long, value_name = "STUDY")]
    pub(crate) check: PathBuf,
    /// Replace a setting of the study
    #[arg(long = "set", value_name = "SETTING=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
