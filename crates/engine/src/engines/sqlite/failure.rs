//! SQLite's result codes as classes of errors. May not retry.

use crate::contract::{Error, ErrorClass};
use rusqlite::ErrorCode;

/// Extended code of a shared-memory file that could not grow.
const IOERR_SHMSIZE: i32 = 10 | (19 << 8);
/// Extended code of a deferred transaction whose snapshot is too old to write.
const BUSY_SNAPSHOT: i32 = 5 | (2 << 8);

/// An error of SQLite with its class. A full disk comes as `SQLITE_FULL`: SQLite itself turns `ENOSPC` into it.
pub(super) fn failed(error: rusqlite::Error) -> Error {
    match &error {
        rusqlite::Error::SqliteFailure(code, text) => {
            let (class, name) = class(code.code, code.extended_code);
            let text = text.clone().unwrap_or_else(|| code.to_string());
            Error::new(class, name, text)
        }
        rusqlite::Error::SqlInputError { error: code, .. } => {
            let (class, name) = class(code.code, code.extended_code);
            Error::new(class, name, error.to_string())
        }
        other => Error::other(other.to_string()),
    }
}

fn class(code: ErrorCode, extended: i32) -> (ErrorClass, String) {
    let (class, name) = match code {
        ErrorCode::DatabaseBusy if extended == BUSY_SNAPSHOT => (ErrorClass::Retryable, "SQLITE_BUSY_SNAPSHOT"),
        ErrorCode::DatabaseBusy => (ErrorClass::Retryable, "SQLITE_BUSY"),
        ErrorCode::DatabaseLocked => (ErrorClass::Retryable, "SQLITE_LOCKED"),
        ErrorCode::DiskFull => (ErrorClass::OutOfSpace, "SQLITE_FULL"),
        ErrorCode::OutOfMemory => (ErrorClass::OutOfSpace, "SQLITE_NOMEM"),
        ErrorCode::SystemIoFailure if extended == IOERR_SHMSIZE => (ErrorClass::OutOfSpace, "SQLITE_IOERR_SHMSIZE"),
        ErrorCode::ConstraintViolation => (ErrorClass::Data, "SQLITE_CONSTRAINT"),
        ErrorCode::TypeMismatch => (ErrorClass::Data, "SQLITE_MISMATCH"),
        ErrorCode::TooBig => (ErrorClass::Data, "SQLITE_TOOBIG"),
        ErrorCode::DatabaseCorrupt => (ErrorClass::Data, "SQLITE_CORRUPT"),
        ErrorCode::NotADatabase => (ErrorClass::Data, "SQLITE_NOTADB"),
        ErrorCode::SystemIoFailure => (ErrorClass::Other, "SQLITE_IOERR"),
        _ => return (ErrorClass::Other, format!("SQLite {extended}")),
    };
    (class, name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn check(script: &str, class: ErrorClass, code: &str) {
        let connection = Connection::open_in_memory().expect("opens");
        let error = failed(connection.execute_batch(script).expect_err(script));
        assert_eq!((error.class(), error.code()), (class, code), "{error}");
    }

    #[test]
    fn results_have_classes() {
        let full = "PRAGMA max_page_count = 3; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))";
        check(full, ErrorClass::OutOfSpace, "SQLITE_FULL");
        check("CREATE TABLE t (a NOT NULL); INSERT INTO t VALUES (NULL)", ErrorClass::Data, "SQLITE_CONSTRAINT");
        check("CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES ('x')", ErrorClass::Data, "SQLITE_CONSTRAINT");
        check("nonsense", ErrorClass::Other, "SQLite 1");
    }
}
