//! Has Microsoft's own parser read every T-SQL text: ScriptDom, which lies in the wheel `mssql-cli`, on the .NET of the wheel `dotnetcore2`. Where it
//! cannot be installed, as without a network, the chore says SKIPPED and why.

use crate::python::{self, PythonScript};
use std::path::{Path, PathBuf};

/// What finds the texts in the suites.
pub(crate) const TEXTS: PythonScript = ("tsql_texts.py", include_str!("tsql_texts.py"));
/// What reads the texts.
const PARSE: PythonScript = ("parse_tsql.py", include_str!("parse_tsql.py"));
/// The wheel with the parser, of which only the library is wanted.
const PARSER: &str = "mssql-cli==1.0.0";
/// The runtime, and what joins it to Python.
const RUNTIME: &[&str] = &["dotnetcore2==3.1.23", "pythonnet==3.2.1"];
/// The library in its wheel, and the runtime in its package.
const LIBRARY: &str = "parser/mssqlcli/mssqltoolsservice/bin";
const DOTNET: &str = "dotnetcore2/bin";

/// Installs what is missing, then reads all texts.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let folder = python::folder("parse-tsql")?;
    let packages = match installed(&folder) {
        Ok(packages) => packages,
        Err(reason) => return python::skipped("ScriptDom", &reason),
    };
    let taken = python::script(&folder, &[TEXTS, PARSE], &[&folder.join(LIBRARY), &packages.join(DOTNET)])?;
    if taken { Ok(()) } else { Err("texts are refused, or wrong ones taken".to_owned()) }
}

/// The folder of the environment's packages, made where it is missing.
fn installed(folder: &Path) -> Result<PathBuf, String> {
    let found = python::packages(folder);
    if found.is_none_or(|packages| !packages.join(DOTNET).is_dir()) || !folder.join(LIBRARY).is_dir() {
        python::install(folder, RUNTIME)?;
        let own = python::python(folder);
        let wheels = folder.join("wheels").display().to_string();
        python::command(&own, &["-m", "pip", "download", "--quiet", "--no-deps", "--dest", &wheels, PARSER])?;
        let wheel = std::fs::read_dir(&wheels).map_err(|error| format!("reading {wheels}: {error}"))?;
        let wheel = wheel.flatten().map(|entry| entry.path()).next().ok_or("no wheel came")?;
        let parser = folder.join("parser").display().to_string();
        python::command(&own, &["-m", "zipfile", "-e", &wheel.display().to_string(), &parser])?;
    }
    python::packages(folder).ok_or_else(|| "the environment has no packages".to_owned())
}
