//! The crate's one error: what was done, on what, what came back. May not know exit codes.

use std::fmt;

/// An error of this crate, or of any crate that only needs text: a chain of lower-case fragments, outermost first.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Error {
    chain: Vec<String>,
}

impl Error {
    /// An error that says one thing.
    pub fn new(text: impl Into<String>) -> Self {
        Self { chain: vec![text.into()] }
    }

    /// The same error, with what we were doing put in front.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.chain.insert(0, text.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.chain.join(": "))
    }
}

impl std::error::Error for Error {}
