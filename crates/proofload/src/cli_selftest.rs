//! The command line of `selftest`. Words only: `commands::selftest` does the work.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Leave to change a server, in the words of `engine.changes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeaveWord {
    /// Change nothing of it but the database of the self-test
    Refused,
    /// Back that database up and restore it, and change memory and cores of the server for a moment
    Allowed,
}

/// What `selftest` takes.
#[derive(Debug, Args)]
pub(crate) struct SelftestArguments {
    /// The engine, as in `engine.kind`
    #[arg(long, value_name = "ENGINE", required_unless_present = "check")]
    pub(crate) engine: Option<String>,
    /// A server of yours, as in `engine.url` [default: a local instance in a temporary folder]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Name of the database that is created there and dropped at the end
    #[arg(long, value_name = "NAME", default_value = "proofload_selftest")]
    pub(crate) database: String,
    /// Allow it without a question, by repeating the name of the database
    #[arg(long, value_name = "NAME")]
    pub(crate) confirm: Option<String>,
    /// Whether the server may be changed, as by `engine.changes`: what backs up, restores and limits is tested then
    #[arg(long, value_enum, default_value_t = LeaveWord::Refused, value_name = "LEAVE")]
    pub(crate) changes: LeaveWord,
    /// Where the result goes
    #[arg(short, long, value_name = "FILE", default_value = "selftest.json")]
    pub(crate) output: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Sign the result with this SSH key, into FILE.sig
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    /// Check a result instead: that it is unchanged, and who signed it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "url"])]
    pub(crate) check: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Build the data of one step, as a process of its own that may be killed
    #[arg(long, hide = true)]
    pub(crate) build_only: bool,
    /// Folder of such a build
    #[arg(long, hide = true, value_name = "FOLDER")]
    pub(crate) build_in: Option<PathBuf>,
}
