//! Kills conductor, agents and servers at random instants, many times, and lets `resume` prove that nothing was lost.
//!
//! The work is done by the test `kill` of the program, and by the test `crash` of the cache tier, which looks at what a
//! loss of power leaves; this chore only asks for more of it. It may not judge.

use crate::program::{cargo, number_or, succeeds};

/// Tests among which the kills are shared.
const TESTS: u32 = 5;

/// Runs the kill tests with so many kills in all, 1,000 unless the first argument says otherwise; with `tier` as the
/// first argument, the crash tests of the cache tier with so many states, 1,000,000 unless the second says otherwise.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some((first, rest)) = arguments.split_first()
        && first == "tier"
    {
        return run_tier(rest);
    }
    let kills: u32 = number_or(arguments.first(), 1000, "kills")?;
    let each = kills.div_ceil(TESTS).to_string();
    succeeds(
        cargo()
            .args(["test", "--package", "proofload", "--test", "kill", "--", "--nocapture"])
            .env("PROOFLOAD_KILLS", each),
        "a kill lost or doubled something; the output above says what",
    )
}

fn run_tier(arguments: &[String]) -> Result<(), String> {
    let states: u64 = number_or(arguments.first(), 1_000_000, "states")?;
    succeeds(
        cargo()
            .args(["test", "--release", "--package", "proofload-tier", "--test", "crash", "--", "--nocapture"])
            .env("PROOFLOAD_TIER_CRASH_STATES", states.to_string()),
        "a crash left something that may not be; the output above says the seed",
    )
}
