//! The command line of `selftest`. Words only: `commands::selftest` does the work.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Leave to change a server, in the words of `engine.changes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeaveWord {
    /// Change only the database of the self-test
    Refused,
    /// Back up and restore that database, and change the server's memory and cores for a moment
    Allowed,
}

/// What `selftest` takes.
#[derive(Debug, Args)]
pub(crate) struct SelftestArguments {
    /// The engine, as in `engine.kind`
    #[arg(long, value_name = "ENGINE", required_unless_present = "check")]
    pub(crate) engine: Option<String>,
    /// Your own server, as in `engine.url` [default: a local instance in a temporary folder]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Name of the database that is created and dropped there
    #[arg(long, value_name = "NAME", default_value = "proofload_selftest")]
    pub(crate) database: String,
    /// Confirm without a question by repeating the name of the database
    #[arg(long, value_name = "NAME")]
    pub(crate) confirm: Option<String>,
    /// Whether to test backup, restore and limits as well, which change the server as `engine.changes` does
    #[arg(long, value_enum, default_value_t = LeaveWord::Refused, value_name = "POLICY")]
    pub(crate) changes: LeaveWord,
    /// File to write
    #[arg(short, long, value_name = "FILE", default_value = "selftest.json")]
    pub(crate) output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Write what sessions say to the server and hear from it, without logins and values, to this file
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(crate) record: Option<PathBuf>,
    /// Sign the result with this SSH key; writes the result's name with .sig
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    /// Check a result instead: whether it is unchanged, and who signed it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "url"])]
    pub(crate) check: Option<PathBuf>,
    /// File of allowed signers in the format of `ssh-keygen`, for --check; makes a missing signature a fault
    #[arg(long, value_name = "FILE", requires = "check")]
    pub(crate) allowed_signers: Option<PathBuf>,
    /// Required signer, as named in the file of allowed signers [default: anyone in it]
    #[arg(long, value_name = "NAME", requires = "allowed_signers")]
    pub(crate) identity: Option<String>,
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
