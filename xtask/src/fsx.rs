//! Exercises file systems on a cache tier by fsx for longer than the tests do.
//!
//! The work is done by the test `tier_file_systems` of the program, which says that it was skipped where fsx is missing; this chore installs fsx
//! and asks for more rounds. It may not judge.

use crate::program::{cargo, number_or, succeeds};
use std::process::Command;

/// fsx as it was tried: a rewrite in Rust of the exerciser of file systems, by its present maintainer. It costs some 210 s of CPU to build,
/// so that no test needs it. Its licence, APSL-2.0, is that of a program that is run, as fio is.
const VERSION: &str = "0.3.2";

/// Word in the names of the tests that are exercises.
const EXERCISES: &str = "exercised";

/// Rounds of each exercise unless the first argument says otherwise.
const ROUNDS: u32 = 20;

/// Installs fsx where cargo installs programs, and runs the exercises of so many rounds each.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let rounds = number_or(arguments.first(), ROUNDS, "rounds")?;
    if Command::new("fsx").arg("--version").output().is_err() {
        let mut install = cargo();
        succeeds(
            install.args(["install", "fsx", "--locked", "--version", VERSION]),
            "installing fsx failed; see above",
        )?;
    }
    let mut command = cargo();
    command.args(["test", "--package", "proofload", "--features", "mongodb-driver,fixtures"]);
    command.args(["--test", "tier_file_systems", "--", "--nocapture", "--test-threads=1", EXERCISES]);
    succeeds(
        command.env("PROOFLOAD_TIER_FSX", rounds.to_string()),
        "an exercise failed; the output above says of which seed",
    )
}
