//! Kills conductor, agents and servers at random instants, many times, and lets `resume` prove that nothing was lost.
//!
//! The work is done by the test `kill` of the program; this chore only asks for more of it. It may not judge.

use std::process::Command;

/// Tests among which the kills are shared.
const TESTS: u32 = 5;

/// Runs the kill tests with so many kills in all; 1,000 unless the first argument says otherwise.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let kills = match arguments.first() {
        None => 1000,
        Some(text) => text.parse::<u32>().map_err(|_| format!("{text:?} is not a number of kills"))?,
    };
    let each = kills.div_ceil(TESTS).to_string();
    let status = Command::new("cargo")
        .args(["test", "--package", "proofload", "--test", "kill", "--", "--nocapture"])
        .env("PROOFLOAD_KILLS", each)
        .status()
        .map_err(|error| format!("starting cargo: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err("a kill lost or doubled something; the output above says what".to_owned())
    }
}
