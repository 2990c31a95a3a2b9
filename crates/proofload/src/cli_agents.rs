//! The command line of `agents`. Words only: `commands::agents` does the work.

use clap::Args;
use std::path::PathBuf;

/// What `agents` takes.
#[derive(Debug, Args)]
pub(crate) struct AgentsArguments {
    /// The study whose agents are started, asked and ended; nothing else of it is run
    pub(crate) study: PathBuf,
    /// Makes no difference; scripts of earlier versions write it before the study
    #[arg(long = "check", hide = true)]
    _check: bool,
    /// Replace a setting of the study
    #[arg(long = "set", value_name = "SETTING=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use crate::cli::{Arguments, Command};
    use clap::Parser;
    use std::path::Path;

    #[test]
    fn the_study_stands_alone_or_after_the_word_of_earlier_versions() {
        for line in ["proofload agents x.toml --json", "proofload agents --check x.toml --json"] {
            let Ok(Arguments { command: Command::Agents(agents) }) = Arguments::try_parse_from(line.split(' ')) else {
                panic!("{line} is not taken")
            };
            assert_eq!((agents.study.as_path(), agents.json), (Path::new("x.toml"), true), "{line}");
        }
    }
}
