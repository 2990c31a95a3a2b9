//! The `proofload` command: reads the command line, hands over to one command, ends with its exit code.
//!
//! This crate joins the others. It may not hold logic that is worth testing alone.

mod agent;
mod catalogue;
mod cli;
mod cli_agents;
mod cli_exchange;
mod cli_first;
mod cli_gate;
mod cli_record;
mod cli_release;
mod cli_report;
mod cli_run;
mod cli_selftest;
mod cli_tier;
mod cli_tier_kernel;
mod clock;
mod command_words;
mod commands;
mod conductor;
mod examples;
mod exit;
mod interrupt;
mod live;
mod local_time;
mod output;
mod page;
mod run_times;
mod selftest;
mod studies;

use clap::FromArgMatches;

fn main() -> std::process::ExitCode {
    let words = command_words::with_help(std::env::args_os());
    let parsed = examples::program().try_get_matches_from(&words);
    let parsed = parsed.and_then(|found| cli::Arguments::from_arg_matches(&found));
    match parsed {
        Ok(arguments) => commands::dispatch(arguments.command).code(),
        Err(error) => output::usage(&command_words::with_form(error, &words)).code(),
    }
}
