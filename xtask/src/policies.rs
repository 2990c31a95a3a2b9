//! Compares the policies of the cache tier on the references of a real TPROC-C load.
//!
//! The work is done by the test `policies` of the program, which also judges; this chore only asks for more of it.

use crate::program::{cargo, number_or, succeeds};

/// Runs it with two warehouses and 120 s of load, unless the arguments name others.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let warehouses: u32 = number_or(arguments.first(), 2, "warehouses")?;
    let seconds: u32 = number_or(arguments.get(1), 120, "seconds")?;
    succeeds(
        cargo()
            .args(["test", "--package", "proofload", "--test", "policies", "--", "--nocapture"])
            .env("PROOFLOAD_POLICIES", format!("{warehouses}x{seconds}")),
        "the load or a policy failed, or the usual policy is not where it should be; the output above says which",
    )
}
