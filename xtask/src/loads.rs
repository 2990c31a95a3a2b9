//! Loads the key-value data many times, each load killed at random instants, and lets the tests prove that every record
//! is there.
//!
//! The work is done by the tests of the workload; this chore only asks for more of it. It may not judge.

use crate::program::{cargo, number_or, succeeds};

/// Loads unless the first argument says otherwise.
const LOADS: u32 = 10_000;

/// Runs the tests with so many loads.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let loads = number_or(arguments.first(), LOADS, "loads")?;
    succeeds(
        cargo()
            .args(["test", "--release", "--package", "proofload-load", "--test", "ycsb"])
            .args(["--", "--nocapture", "kills", "wire::loads"])
            .env("PROOFLOAD_LOADS", loads.to_string()),
        "a load lost a record and did not say so; see above",
    )
}
