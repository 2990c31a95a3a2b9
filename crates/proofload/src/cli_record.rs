//! The command line of views and proofs of a record: `status`, `watch`, `verify`, `sign`. Words only: `commands` does the work.

use clap::Args;
use std::path::PathBuf;

/// What `status` takes.
#[derive(Debug, Args)]
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
#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// The record
    pub(crate) record: PathBuf,
    /// Where to serve the page; other than on loopback its address has a random token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7070")]
    pub(crate) listen: String,
}

/// What `verify` takes.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The record, or the result of a self-test
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
#[derive(Debug, Args)]
pub(crate) struct SignArguments {
    /// The record, or the result of a self-test
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
