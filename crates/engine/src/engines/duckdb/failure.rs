//! DuckDB's errors as classes. DuckDB begins every text with the kind of its exception, as in `Constraint Error: …`; that is
//! read, since only results, not statements, appenders and opening, give it as a number. May not retry.

use super::library::LoadFailure;
use crate::contract::{Error, ErrorClass};
use std::path::Path;
use std::time::Duration;

/// How to get a library that works.
pub(super) const REMEDY: &str = "run `make duckdb` to fetch it, or set engine.library or PROOFLOAD_DUCKDB";

/// The code of an error of a statement that was interrupted by `engine.statement_timeout`.
pub(super) const TIMEOUT: &str = "statement_timeout";

/// An error of DuckDB with its class and, as its code, the kind of its exception.
pub(super) fn failed(text: impl Into<String>) -> Error {
    let text = text.into();
    let Some((kind, rest)) = text.split_once(" Error: ") else { return Error::other(one_line(&text)) };
    if kind.len() > 40 || kind.contains(['\n', ':']) {
        return Error::other(one_line(&text));
    }
    Error::new(class(kind, rest), kind, one_line(rest))
}

/// The class of an exception's kind. Source: `ExceptionTypeToString` of DuckDB.
fn class(kind: &str, text: &str) -> ErrorClass {
    match kind {
        // "Conflict on update!", "write-write conflict"; others of this kind say that a transaction was misused.
        "TransactionContext" if text.to_ascii_lowercase().contains("conflict") => ErrorClass::Retryable,
        "Out of Memory" => ErrorClass::OutOfSpace,
        "IO" if text.contains("No space left") => ErrorClass::OutOfSpace,
        "Constraint" | "Conversion" | "Out of Range" | "Decimal" | "Divide by Zero" => ErrorClass::Data,
        // After these two DuckDB answers nothing more until the file is opened anew.
        "FATAL" | "INTERNAL" => ErrorClass::ConnectionLost,
        _ => ErrorClass::Other,
    }
}

/// A statement that took too long.
pub(super) fn timed_out(limit: Duration) -> Error {
    let limit = proofload_model::units::duration_text(limit);
    Error::new(ErrorClass::Other, TIMEOUT, format!("the statement was interrupted after {limit}"))
}

/// A library that cannot be used.
pub(super) fn unusable(path: &Path, failure: LoadFailure) -> Error {
    let why = match failure {
        // The loader begins with the path, which is said already.
        LoadFailure::Refused(words) => words.trim_start_matches(&format!("{}: ", path.display())).to_owned(),
        LoadFailure::Lacks { function, version: Some(version) } => {
            format!("DuckDB {version} lacks the function {function}; use 1.5 or later")
        }
        LoadFailure::Lacks { function, .. } => {
            format!("it lacks the function {function}, so it is not the DuckDB library")
        }
    };
    Error::other(format!("failed to load DuckDB's library {}: {why}; {REMEDY}", path.display()))
}

/// The first line of a text; later ones repeat the SQL and give advice on interactive use.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("DuckDB gave no reason").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, class: ErrorClass, code: &str) {
        let error = failed(text);
        assert_eq!((error.class(), error.code()), (class, code), "{error}");
    }

    #[test]
    fn kinds_have_classes() {
        check("Constraint Error: Duplicate key \"id: 1\"", ErrorClass::Data, "Constraint");
        check("TransactionContext Error: Conflict on update!", ErrorClass::Retryable, "TransactionContext");
        check("TransactionContext Error: Current transaction is aborted", ErrorClass::Other, "TransactionContext");
        check("Out of Memory Error: failed to allocate data", ErrorClass::OutOfSpace, "Out of Memory");
        check("IO Error: Could not write file: No space left on device", ErrorClass::OutOfSpace, "IO");
        check("the path contains a NUL byte", ErrorClass::Other, "");
        check("a very long text that is no kind of exception at all Error: x", ErrorClass::Other, "");
    }

    #[test]
    fn an_error_is_one_line() {
        assert_eq!(
            failed("Binder Error: no such column\n\nLINE 1: SELECT x\n  ^").to_string(),
            "no such column (Binder)"
        );
    }
}
