//! T-SQL texts as entries of the list: Microsoft's own parser reads them, and DuckDB does what they mean. Nobody here has a SQL Server, so this is
//! what there is of proof; where the packages cannot be had within a limit of time, the entries say SKIPPED.

use super::build::TestProgram;
use super::run::{ProgramEnd, line, tell};
use crate::python::ScriptEnd;
use crate::{answers, parse_tsql, tsql_answers};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The test program that writes the official table files.
const WRITES_TABLES: (&str, &str) = ("proofload-load", "proofload_load");

/// The program that writes tables. Errors: it is none of those that were built.
pub(super) fn table_program(programs: &[TestProgram]) -> Result<PathBuf, String> {
    let (package, target) = WRITES_TABLES;
    let found = programs.iter().find(|program| program.is(package, target));
    found.map(|program| program.executable.clone()).ok_or_else(|| format!("cargo built no {package} {target}"))
}

/// Checks all texts, one check after another: they wait for a network or take seconds of one core.
pub(super) fn check(table_program: &Path) -> Vec<ProgramEnd> {
    let write = |scale: &str, folder: &Path| answers::tables_by(table_program, scale, folder);
    vec![
        ended("T-SQL by Microsoft's parser", &parse_tsql::check),
        ended("T-SQL translated for DuckDB", &|| tsql_answers::check(&write)),
    ]
}

fn ended(name: &str, check: &dyn Fn() -> ScriptEnd) -> ProgramEnd {
    let begun = Instant::now();
    let end = check();
    let one = end_of(name, end, begun.elapsed());
    tell(&line(&one));
    one
}

/// A check that is skipped fails nothing.
fn end_of(name: &str, end: ScriptEnd, took: Duration) -> ProgramEnd {
    let (success, output) = match end {
        ScriptEnd::Passed(said) | ScriptEnd::Skipped(said) => (true, said),
        ScriptEnd::Failed(said) => (false, said),
    };
    ProgramEnd { name: name.to_owned(), success, took, output }
}

#[cfg(test)]
mod tests {
    use super::super::build::example;
    use super::*;

    #[test]
    fn a_host_of_packages_fails_no_run_and_a_refused_text_does() {
        let skipped = end_of("texts", ScriptEnd::without("the parser", "no network"), Duration::ZERO);
        let told = line(&skipped);
        assert!(
            skipped.success && told.contains("\n       SKIPPED: the parser cannot be installed: no network"),
            "{told}"
        );
        let refused = end_of("texts", ScriptEnd::Failed("REFUSED q01: line 3".to_owned()), Duration::ZERO);
        assert!(!refused.success && line(&refused).contains("REFUSED q01"), "{}", line(&refused));
        assert!(end_of("texts", ScriptEnd::Passed(String::new()), Duration::ZERO).success);
    }

    #[test]
    fn the_program_that_writes_tables_must_be_built() {
        assert_eq!(table_program(&example()).unwrap_err(), "cargo built no proofload-load proofload_load");
        let (package, target) = WRITES_TABLES;
        let program = TestProgram { package: package.to_owned(), target: target.to_owned(), ..example().remove(0) };
        assert_eq!(table_program(&[program]), Ok(PathBuf::from("/p/target/debug/deps/ycsb-1")));
    }
}
