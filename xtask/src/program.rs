//! The program as chores run it: a release build.

use std::path::PathBuf;
use std::process::Command;

/// Builds it; its absolute path.
pub(crate) fn release_program() -> Result<PathBuf, String> {
    let built = Command::new(env!("CARGO")).args(["build", "--release", "--package", "proofload"]).status();
    match built {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("building the program: cargo ended with {status}")),
        Err(error) => return Err(format!("building the program: {error}")),
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    std::path::absolute(target.join("release/proofload")).map_err(|error| format!("finding the program: {error}"))
}
