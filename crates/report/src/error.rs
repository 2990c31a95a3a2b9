//! The crate's one error: what we did, on what, what came back.

use std::fmt;

/// A report that could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    text: String,
}

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
