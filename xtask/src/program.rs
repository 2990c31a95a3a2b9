//! Cargo as chores call it, and the program as they run it: a release build.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

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

/// The number that an argument gives, `usual` where there is none. Errors: it is no number, of `what`.
pub(crate) fn number_or<T: FromStr>(argument: Option<&String>, usual: T, what: &str) -> Result<T, String> {
    argument.map_or(Ok(usual), |text| text.parse().map_err(|_| format!("{text:?} is not a number of {what}")))
}

/// Lets cargo do its work, whose output goes where ours does. Errors: `fault`, where it fails.
pub(crate) fn succeeds(cargo: &mut Command, fault: &str) -> Result<(), String> {
    let status = cargo.status().map_err(|error| format!("starting cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(fault.to_owned()) }
}

/// Runs a program that must succeed; what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name: String = format!("{command:?}").chars().take(300).collect();
    let output = command.output().map_err(|error| format!("started {name}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    Err(format!("{name}: {}: {}", output.status, said.join(" ").trim()))
}

/// Runs a program whose output is one text.
pub(crate) fn text(command: &mut Command) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&output(command)?).trim().to_owned())
}

/// Runs the program in a folder; its standard output. A void point (6), as one that drifts may be, has its verdict all the same.
pub(crate) fn proofload(program: &Path, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("starting {}: {error}", program.display()))?;
    match output.status.code() {
        Some(0 | 6) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        code => {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.lines().find(|line| line.starts_with("proofload: ")).unwrap_or("nothing");
            Err(format!("{} ended with {code:?} and said: {why}", arguments[0]))
        }
    }
}

/// Prints a line for whoever waits.
pub(crate) fn tell(text: &str) {
    let mut out = std::io::stdout();
    let _nobody_reads = writeln!(out, "{text}").and_then(|()| out.flush());
}
