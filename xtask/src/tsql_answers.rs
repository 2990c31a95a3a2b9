//! Executes what T-SQL texts mean, in DuckDB: the warehouse's queries, translated by sqlglot, answer from the files of our generator, and are compared
//! with the golden answers; TPROC-C's statements and procedures are carried out and compared with the standard texts. Where the two packages
//! cannot be installed, as without a network, the check says SKIPPED and why. A chore of its own, and part of every run of all tests.

use crate::python::{self, PythonNeeds, PythonScript, ScriptEnd};
use crate::{answers, parse_tsql};
use std::path::{Path, PathBuf};

/// What translates the warehouse's queries, asks and compares.
const QUERIES: PythonScript = ("tsql_answers.py", include_str!("tsql_answers.py"));
/// What carries out statements and procedures of TPROC-C.
const PROCEDURES: PythonScript = ("tsql_procedures.py", include_str!("tsql_procedures.py"));
/// The smallest scale factor that has golden answers.
const SCALE: &str = "0.01";

/// Translator and engine.
const NEEDS: PythonNeeds = PythonNeeds {
    chore: "tsql-answers",
    packages: &["sqlglot==30.30.0", "duckdb==2.0.1"],
    probe: "import duckdb, sqlglot",
    other: "",
    fetch: |_, _| Ok(()),
};

/// Folder of the official table files for one check, removed when it ends.
struct TableFolder(PathBuf);

impl TableFolder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("proofload-tables-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("making {}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for TableFolder {
    fn drop(&mut self) {
        // Files that cannot be removed are left to the system.
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}

/// Installs what is missing, has the tables written, then asks.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    check(&answers::tables).print("texts do not do what they must, or wrong ones do")
}

/// Executes all texts, on tables of a scale factor that `write` puts into a folder; skipped where the packages cannot be installed.
pub(crate) fn check(write: &dyn Fn(&str, &Path) -> Result<(), String>) -> ScriptEnd {
    let folder = match python::environment(&NEEDS) {
        Ok(folder) => folder,
        Err(reason) => return ScriptEnd::without(&NEEDS.packages.join(" and "), &reason),
    };
    let tables = TableFolder::new().and_then(|tables| write(SCALE, &tables.0).map(|()| tables));
    let tables = match tables {
        Ok(tables) => tables,
        Err(error) => return ScriptEnd::Failed(format!("{error}\n")),
    };
    let answered = python::script(&folder, &[QUERIES], &[&tables.0, Path::new(SCALE)]);
    answered.and(python::script(&folder, &[parse_tsql::TEXTS, PROCEDURES], &[]))
}
