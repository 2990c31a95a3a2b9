//! The error of the record: what we did to which file, what came back, what to try.

use std::fmt;

/// An error of reading or writing a record.
#[derive(Debug, Clone)]
pub struct Error {
    kind: RecordErrorKind,
    text: String,
}

/// What callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordErrorKind {
    InUse,
    NewerFormat,
    NotARecord,
    NoSpace,
    Damaged,
    Other,
}

impl Error {
    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self { kind: RecordErrorKind::Other, text: text.into() }
    }

    pub(crate) fn in_use(text: impl Into<String>) -> Self {
        Self { kind: RecordErrorKind::InUse, text: text.into() }
    }

    pub(crate) fn newer_format(text: impl Into<String>) -> Self {
        Self { kind: RecordErrorKind::NewerFormat, text: text.into() }
    }

    pub(crate) fn not_a_record(text: impl Into<String>) -> Self {
        Self { kind: RecordErrorKind::NotARecord, text: text.into() }
    }

    pub(crate) fn damaged(text: impl Into<String>) -> Self {
        Self { kind: RecordErrorKind::Damaged, text: text.into() }
    }

    /// The same error, with the file put in front.
    pub(crate) fn of_file(self, path: &std::path::Path) -> Self {
        Self { text: format!("{}: {}", path.display(), self.text), ..self }
    }

    /// Wraps an error of SQLite.
    pub(crate) fn sqlite(what: &str, error: &rusqlite::Error) -> Self {
        let kind = match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => RecordErrorKind::NoSpace,
            Some(rusqlite::ErrorCode::NotADatabase) => RecordErrorKind::NotARecord,
            Some(rusqlite::ErrorCode::DatabaseCorrupt) => RecordErrorKind::Damaged,
            _ => RecordErrorKind::Other,
        };
        Self { kind, text: format!("{what}: {error}") }
    }

    /// Whether another process writes this record.
    pub fn is_in_use(&self) -> bool {
        self.kind == RecordErrorKind::InUse
    }

    /// Whether the record was written by a newer Proofload.
    pub fn is_newer_format(&self) -> bool {
        self.kind == RecordErrorKind::NewerFormat
    }

    /// Whether the file is no record.
    pub fn is_not_a_record(&self) -> bool {
        self.kind == RecordErrorKind::NotARecord
    }

    /// Whether the file was damaged or changed by something else than Proofload.
    pub fn is_damaged(&self) -> bool {
        self.kind == RecordErrorKind::Damaged
    }

    /// Whether the disk is full.
    pub fn is_out_of_space(&self) -> bool {
        self.kind == RecordErrorKind::NoSpace
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<Error> for proofload_model::error::Error {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}
