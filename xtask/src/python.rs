//! Python with packages of its own for chores: a virtual environment in the target folder, made where it is missing. Nothing of it is shipped or kept
//! in the repository.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name and text of a script.
pub(crate) type PythonScript = (&'static str, &'static str);

/// The folder of a chore in the target folder, as an absolute path; it need not exist.
pub(crate) fn folder(chore: &str) -> Result<PathBuf, String> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    std::path::absolute(Path::new(&target).join(chore)).map_err(|error| format!("finding the target folder: {error}"))
}

/// Makes the environment and installs packages into it.
pub(crate) fn install(folder: &Path, packages: &[&str]) -> Result<(), String> {
    command("python3", &["-m", "venv", &folder.display().to_string()])?;
    let install = [&["-m", "pip", "install", "--quiet"][..], packages].concat();
    command(&python(folder), &install)
}

/// The environment's Python.
pub(crate) fn python(folder: &Path) -> String {
    folder.join("bin/python").display().to_string()
}

/// The folder of packages, whose name has Python's version.
pub(crate) fn packages(folder: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(folder.join("lib")).ok()?;
    versions.flatten().map(|entry| entry.path().join("site-packages")).find(|path| path.is_dir())
}

/// Runs the last of the scripts, which imports the others, in the root of the repository; false where it says that something is wrong.
pub(crate) fn script(folder: &Path, scripts: &[PythonScript], arguments: &[&Path]) -> Result<bool, String> {
    for (name, text) in scripts {
        let script = folder.join(name);
        std::fs::write(&script, text).map_err(|error| format!("writing {}: {error}", script.display()))?;
    }
    let (name, _) = scripts.last().ok_or("there is no script to run")?;
    let status = Command::new(python(folder)).arg(folder.join(name)).arg(".").args(arguments).status();
    Ok(status.map_err(|error| format!("starting Python: {error}"))?.success())
}

/// Runs a program; the error has the last line that it wrote to its error stream.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| format!("starting {program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned();
    Err(format!("{program} {}: {said}", arguments.join(" ")))
}

/// Prints that a chore does nothing here, and why.
pub(crate) fn skipped(what: &str, reason: &str) -> Result<(), String> {
    let line = format!("SKIPPED: {what} cannot be installed: {reason}\n");
    std::io::stdout().write_all(line.as_bytes()).map_err(|error| format!("printing: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_installed_is_told_with_its_reason() {
        let error = command("python3", &["-c", "import sys; sys.exit('no network')"]).unwrap_err();
        assert!(error.ends_with("no network"), "{error}");
        assert!(command("no-such-program", &[]).unwrap_err().contains("no-such-program"));
    }
}
