//! The command line of `release`. Words only: `commands::release` does the work.

use clap::Args;

/// What `release` takes.
#[derive(Debug, Args)]
pub(crate) struct ReleaseArguments {
    /// The engine, as in `engine.kind`
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: String,
    /// The server and the database of the study, as in `engine.url`
    pub(crate) url: String,
    /// Confirm the changes by repeating HOST/DATABASE of the URL
    #[arg(long, value_name = "NAME")]
    pub(crate) yes: Option<String>,
}
