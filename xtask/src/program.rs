//! Cargo as chores call it, and the program as they run it: a release build.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// Cargo without what a `cargo run` has told this program of its own package. Build scripts of dependencies (of ring) ask for these variables, so
/// that everything above them would be built anew by each call from here, and again by the next one from a shell.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let is_ours = |name: &std::ffi::OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    std::env::vars_os().map(|(name, _)| name).filter(is_ours).for_each(|name| {
        cargo.env_remove(name);
    });
    cargo
}

/// Builds the program; its absolute path.
pub(crate) fn release_program() -> Result<PathBuf, String> {
    let built = cargo().args(["build", "--release", "--package", "proofload"]).status();
    match built {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("building the program: cargo ended with {status}")),
        Err(error) => return Err(format!("building the program: {error}")),
    }
    std::path::absolute(target_folder().join("release/proofload"))
        .map_err(|error| format!("finding the program: {error}"))
}

/// Folder in which cargo builds.
pub(crate) fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// Lets cargo do its work, whose output goes where ours does. Errors: `fault`, where it fails.
pub(crate) fn succeeds(cargo: &mut Command, fault: &str) -> Result<(), String> {
    let status = cargo.status().map_err(|error| format!("starting cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(fault.to_owned()) }
}

/// Prints a line for whoever waits.
pub(crate) fn tell(text: &str) {
    let mut out = std::io::stdout();
    let _nobody_reads = writeln!(out, "{text}").and_then(|()| out.flush());
}
