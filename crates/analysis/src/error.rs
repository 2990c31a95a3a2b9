//! The one thing that can fail in analysis: stored bytes that do not decode.

use std::fmt;

/// Stored data that cannot be analysed; the text says what, where and what to try.
#[derive(Debug)]
pub struct Error {
    text: String,
}

impl Error {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
