//! Errors of engines: classified, so that callers retry, count or stop without reading text.

use proofload_model::error::ErrorKind;
use std::fmt;

/// What a caller may do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// Deadlock, serialization failure, busy: the same transaction may be tried again.
    Retryable,
    /// The connection is gone; the transaction in flight has an unknown outcome if its commit was sent.
    ConnectionLost,
    /// The engine has no room: disk or memory.
    OutOfSpace,
    /// The data breaks a rule: constraint, overflow, missing row. Stop at once.
    Data,
    /// Everything else.
    Other,
}

/// An error met by an engine.
#[derive(Debug, Clone)]
pub struct Error {
    class: ErrorClass,
    code: String,
    text: String,
}

impl Error {
    /// An error with the engine's own code (SQLSTATE, `SQLITE_FULL`, or empty) and a lower-case text.
    pub fn new(class: ErrorClass, code: impl Into<String>, text: impl Into<String>) -> Self {
        Self { class, code: code.into(), text: text.into() }
    }

    /// An error without a code that cannot be retried.
    pub fn other(text: impl Into<String>) -> Self {
        Self::new(ErrorClass::Other, "", text)
    }

    /// Puts what we were doing in front.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.text = format!("{what}: {}", self.text);
        self
    }

    /// Puts words behind the text, such as what to try.
    #[must_use]
    pub(crate) fn followed_by(mut self, words: &str) -> Self {
        self.text.push_str(words);
        self
    }

    /// Leaves words out of the text, which are told beside it.
    #[must_use]
    pub(crate) fn without(mut self, words: &str) -> Self {
        self.text = self.text.replace(words, "");
        self
    }

    /// What a caller may do about it.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// The engine's own code; empty when it has none.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Whether the same transaction may be tried again.
    pub fn is_retryable(&self) -> bool {
        self.class == ErrorClass::Retryable
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if self.code.is_empty() { Ok(()) } else { write!(f, " ({})", self.code) }
    }
}

impl std::error::Error for Error {}

impl From<Error> for proofload_model::error::Error {
    fn from(error: Error) -> Self {
        let kind = match error.class {
            ErrorClass::ConnectionLost => ErrorKind::Lost,
            ErrorClass::OutOfSpace => ErrorKind::Host,
            ErrorClass::Data => ErrorKind::Verification,
            ErrorClass::Retryable => ErrorKind::Conflict,
            ErrorClass::Other => ErrorKind::Other,
        };
        Self::of(kind, error.to_string())
    }
}
