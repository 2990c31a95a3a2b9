//! Has Microsoft's own parser read every T-SQL text: ScriptDom, which lies in the wheel `mssql-cli`, on the .NET of the wheel `dotnetcore2`, in a
//! virtual environment of Python in the target folder. Nothing of it is shipped or kept in the repository. Where it cannot be installed, as
//! without a network, the chore says SKIPPED and why.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What reads the texts.
const SCRIPT: &str = include_str!("parse_tsql.py");
/// The wheel with the parser, of which only the library is wanted.
const PARSER: &str = "mssql-cli==1.0.0";
/// The runtime, and what joins it to Python.
const RUNTIME: &[&str] = &["dotnetcore2==3.1.23", "pythonnet==3.2.1"];
/// The library in its wheel, and the runtime in its package.
const LIBRARY: &str = "parser/mssqlcli/mssqltoolsservice/bin";
const DOTNET: &str = "dotnetcore2/bin";

/// Installs what is missing, then reads all texts.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let folder = std::path::absolute(Path::new(&target).join("parse-tsql"))
        .map_err(|error| format!("finding the target folder: {error}"))?;
    let packages = match installed(&folder) {
        Ok(packages) => packages,
        Err(reason) => return say(&format!("SKIPPED: ScriptDom cannot be installed: {reason}\n")),
    };
    let script = folder.join("parse_tsql.py");
    std::fs::write(&script, SCRIPT).map_err(|error| format!("writing {}: {error}", script.display()))?;
    let status = Command::new(folder.join("bin/python"))
        .arg(&script)
        .arg(".")
        .arg(folder.join(LIBRARY))
        .arg(packages.join(DOTNET))
        .status()
        .map_err(|error| format!("starting Python: {error}"))?;
    if status.success() { Ok(()) } else { Err("texts are refused, or wrong ones taken".to_owned()) }
}

/// The folder of the environment's packages, made where it is missing.
fn installed(folder: &Path) -> Result<PathBuf, String> {
    if packages(folder).is_none_or(|packages| !packages.join(DOTNET).is_dir()) || !folder.join(LIBRARY).is_dir() {
        command("python3", &["-m", "venv", &folder.display().to_string()])?;
        let python = folder.join("bin/python").display().to_string();
        let install = [&["-m", "pip", "install", "--quiet"][..], RUNTIME].concat();
        command(&python, &install)?;
        let wheels = folder.join("wheels").display().to_string();
        command(&python, &["-m", "pip", "download", "--quiet", "--no-deps", "--dest", &wheels, PARSER])?;
        let wheel = std::fs::read_dir(&wheels).map_err(|error| format!("reading {wheels}: {error}"))?;
        let wheel = wheel.flatten().map(|entry| entry.path()).next().ok_or("no wheel came")?;
        let parser = folder.join("parser").display().to_string();
        command(&python, &["-m", "zipfile", "-e", &wheel.display().to_string(), &parser])?;
    }
    packages(folder).ok_or_else(|| "the environment has no packages".to_owned())
}

/// The folder of packages, whose name has Python's version.
fn packages(folder: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(folder.join("lib")).ok()?;
    versions.flatten().map(|entry| entry.path().join("site-packages")).find(|path| path.is_dir())
}

fn command(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| format!("starting {program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned();
    Err(format!("{program} {}: {said}", arguments.join(" ")))
}

fn say(text: &str) -> Result<(), String> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| format!("printing: {error}"))
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
