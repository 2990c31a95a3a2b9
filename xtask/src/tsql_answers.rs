//! Executes what T-SQL texts mean, in DuckDB: the warehouse's queries, translated by sqlglot, answer from the files of our generator, and are compared
//! with the golden answers; TPROC-C's statements and procedures are carried out and compared with the standard texts. Where the two packages
//! cannot be installed, as without a network, the chore says SKIPPED and why.

use crate::python::{self, PythonScript};
use crate::{answers, parse_tsql};
use std::path::Path;

/// What translates the warehouse's queries, asks and compares.
const QUERIES: PythonScript = ("tsql_answers.py", include_str!("tsql_answers.py"));
/// What carries out statements and procedures of TPROC-C.
const PROCEDURES: PythonScript = ("tsql_procedures.py", include_str!("tsql_procedures.py"));
/// Translator and engine.
const PACKAGES: &[&str] = &["sqlglot==30.30.0", "duckdb==2.0.1"];
/// The smallest scale factor that has golden answers.
const SCALE: &str = "0.01";

/// Installs what is missing, has the tables written, then asks.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let folder = python::folder("tsql-answers")?;
    if !is_installed(&folder)
        && let Err(reason) = python::install(&folder, PACKAGES)
    {
        return python::skipped(&PACKAGES.join(" and "), &reason);
    }
    let tables = folder.join("tables");
    std::fs::create_dir_all(&tables).map_err(|error| format!("making {}: {error}", tables.display()))?;
    answers::tables(SCALE, &tables)?;
    let answered = python::script(&folder, &[QUERIES], &[&tables, Path::new(SCALE)])?;
    let carried_out = python::script(&folder, &[parse_tsql::TEXTS, PROCEDURES], &[])?;
    if answered && carried_out { Ok(()) } else { Err("texts do not do what they must, or wrong ones do".to_owned()) }
}

/// Whether the environment has the packages, in these versions.
fn is_installed(folder: &Path) -> bool {
    let known = |package: &&str| format!("{}.dist-info", package.replace("==", "-"));
    python::packages(folder).is_some_and(|there| PACKAGES.iter().all(|package| there.join(known(package)).is_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_another_version_are_not_installed() {
        let folder = std::env::temp_dir().join(format!("proofload-tsql-answers-{}", std::process::id()));
        let packages = folder.join("lib/python3/site-packages");
        for (name, expected) in [("sqlglot-30.30.0", false), ("duckdb-2.0.0", false), ("duckdb-2.0.1", true)] {
            std::fs::create_dir_all(packages.join(format!("{name}.dist-info"))).unwrap();
            assert_eq!(is_installed(&folder), expected, "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
