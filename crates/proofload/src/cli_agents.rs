//! The command line of `agents`. Words only: `commands::agents` does the work.

use clap::Args;
use std::path::{Path, PathBuf};

/// What `agents` takes.
#[derive(Debug, Args)]
pub(crate) struct AgentsArguments {
    /// The study whose agents are started, asked and ended; nothing else of it is run
    // Unless the other is given, which it conflicts with.
    #[arg(required = true)]
    study: Option<PathBuf>,
    /// The study, as scripts of earlier versions name it
    #[arg(long, hide = true, value_name = "STUDY", conflicts_with = "study")]
    check: Option<PathBuf>,
    /// Replace a setting of the study
    #[arg(long = "set", value_name = "SETTING=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl AgentsArguments {
    /// The study, by whichever way it is named.
    pub(crate) fn study(&self) -> &Path {
        self.study.as_deref().or(self.check.as_deref()).expect("the command line takes no call without one of both")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Command};
    use clap::Parser;

    #[test]
    fn the_study_stands_alone_or_after_the_word_of_earlier_versions() {
        for line in ["x.toml --json", "--check x.toml --json", "--check=x.toml --json", "--json --check x.toml"] {
            let line = format!("proofload agents {line}");
            let Ok(Arguments { command: Command::Agents(agents) }) = Arguments::try_parse_from(line.split(' ')) else {
                panic!("{line} is not taken")
            };
            assert_eq!((agents.study(), agents.json), (Path::new("x.toml"), true), "{line}");
        }
        for line in ["proofload agents", "proofload agents --check x.toml y.toml"] {
            assert!(Arguments::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
