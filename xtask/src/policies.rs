//! Compares the policies of the cache tier on the references of a real TPROC-C load.
//!
//! The work is done by the test `policies` of the program, which also judges; this chore only asks for more of it.

use crate::program::{cargo, succeeds};

/// Runs it with two warehouses and 120 s of load, unless the arguments name others.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let number = |place: usize, usual: u32| match arguments.get(place) {
        None => Ok(usual),
        Some(text) => text.parse::<u32>().map_err(|_| format!("{text:?} is not a number")),
    };
    let asked = format!("{}x{}", number(0, 2)?, number(1, 120)?);
    succeeds(
        cargo()
            .args(["test", "--package", "proofload", "--test", "policies", "--", "--nocapture"])
            .env("PROOFLOAD_POLICIES", asked),
        "the load or a policy failed, or the usual policy is not where it should be; the output above says which",
    )
}
