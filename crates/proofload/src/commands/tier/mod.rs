//! Commands on pools of a cache tier, one file each. Lists them.

mod check;
mod devices;
mod drain;
mod dump;
mod ending;
mod format;
mod guarding;
mod mounts;
mod serve;
mod slow;
mod stats;
mod stats_json;
mod stats_text;
mod stop;
mod units;
mod words;

use crate::cli_tier::TierCommand;
use crate::exit::Exit;

/// Runs one of them.
pub(super) fn run(command: &TierCommand) -> Exit {
    match command {
        TierCommand::Format(arguments) => format::run(arguments),
        TierCommand::Serve(arguments) => serve::run(arguments),
        TierCommand::Stats(arguments) => stats::run(arguments),
        TierCommand::Drain(arguments) => drain::run(arguments),
        TierCommand::Stop(arguments) => stop::run(arguments),
        TierCommand::Check(arguments) => check::run(arguments),
        TierCommand::Dump(arguments) => dump::run(arguments),
    }
}
