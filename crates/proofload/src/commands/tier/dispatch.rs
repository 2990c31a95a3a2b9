//! Hands a command on a pool to the module that carries it out. Decides nothing else.

use super::{check, drain, dump, format, kernel, predict, resize, serve, stats, stop};
use crate::cli_tier::TierCommand;
use crate::exit::Exit;

/// Runs one of them.
pub(in super::super) fn run(command: &TierCommand) -> Exit {
    let ended = match command {
        TierCommand::Format(arguments) => format::run(arguments),
        TierCommand::Serve(arguments) => serve::run(arguments),
        TierCommand::Stats(arguments) => stats::run(arguments),
        TierCommand::Predict(arguments) => predict::run(arguments),
        TierCommand::Drain(arguments) => drain::run(arguments),
        TierCommand::Resize(arguments) => resize::run(arguments),
        TierCommand::Stop(arguments) => stop::run(arguments),
        TierCommand::Check(arguments) => check::run(arguments),
        TierCommand::Dump(arguments) => dump::run(arguments),
        TierCommand::Kernel(command) => kernel::run(command),
    };
    match ended {
        Ok(exit) | Err(exit) => exit,
    }
}
