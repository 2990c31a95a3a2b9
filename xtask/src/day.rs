//! Writes a record of a whole day and reads it back, with what that takes of memory, time and room.
//!
//! The work is done by the test `day` of the program; this chore only asks for more of it. It may not judge.

use crate::program::{cargo, number_or, succeeds};

/// Seconds of a day.
const DAY: u32 = 86_400;

/// Runs the test on a release build of the program: with `runs=N` a plan of so many runs is shown; else with one load of 64 users, or two of few
/// with the argument `two`, of a day, or of as many seconds as an argument says.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(runs) = arguments.first().and_then(|argument| argument.strip_prefix("runs=")) {
        let runs = runs.parse::<u32>().map_err(|_| format!("{runs:?} is not a number of runs"))?;
        return plan_of(runs);
    }
    let (two, length): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|argument| *argument == "two");
    let seconds = number_or(length.first().copied(), DAY, "seconds")?;
    let program = crate::program::release_program()?;
    succeeds(
        cargo()
            .args(["test", "--package", "proofload", "--test", "day", "--", "--nocapture"])
            .env("PROOFLOAD_DAY_SECONDS", seconds.to_string())
            .env("PROOFLOAD_DAY_LOADS", if two.is_empty() { "1" } else { "2" })
            .env("PROOFLOAD_DAY_PROGRAM", program),
        "a day is too much; the output above says of what",
    )
}

/// Asks the test for a plan of many runs, with a bound on CPU seconds.
fn plan_of(runs: u32) -> Result<(), String> {
    let program = crate::program::release_program()?;
    succeeds(
        cargo()
            .args(["test", "--package", "proofload", "--test", "day", "--", "--nocapture", "a_plan_of_many_runs"])
            .env("PROOFLOAD_DAY_RUNS", runs.to_string())
            .env("PROOFLOAD_DAY_PROGRAM", program),
        "the plan takes too much; the output above says of what",
    )
}
