//! The crate's one error: what was done, on what, what came back, and of which kind it is. May not know exit codes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a caller may conclude from an error without reading its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// Somebody asked us to stop.
    Interrupted,
    /// Something is not ours, not allowed or not offered: trying again changes nothing.
    Refused,
    /// An agent, a server or the connection to it is gone.
    Lost,
    /// Another transaction stood in the way, and ours was undone: the same one may be tried again.
    Conflict,
    /// Something is not as it must be: data, a count, a limit.
    Verification,
    /// A machine could not do what it was asked: no room, a failed program, a failed system call.
    Host,
    /// Anything else.
    #[default]
    Other,
}

/// An error of this crate, or of any crate that needs no more than text and kind: a chain of lower-case fragments, outermost first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    kind: ErrorKind,
    chain: Vec<String>,
}

impl Error {
    /// An error of no particular kind that says one thing.
    pub fn new(text: impl Into<String>) -> Self {
        Self::of(ErrorKind::Other, text)
    }

    /// An error of a kind.
    pub fn of(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, chain: vec![text.into()] }
    }

    /// The error of work that somebody asked to stop.
    pub fn interrupted() -> Self {
        Self::of(ErrorKind::Interrupted, "interrupted")
    }

    /// An error about something that is not ours, not allowed or not offered.
    pub fn refused(text: impl Into<String>) -> Self {
        Self::of(ErrorKind::Refused, text)
    }

    /// An error about an agent, a server or a connection that is gone.
    pub fn lost(text: impl Into<String>) -> Self {
        Self::of(ErrorKind::Lost, text)
    }

    /// An error about something that is not as it must be.
    pub fn verification(text: impl Into<String>) -> Self {
        Self::of(ErrorKind::Verification, text)
    }

    /// The same error, with what we were doing put in front.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.chain.insert(0, text.into());
        self
    }

    /// The same error, of this kind where it has no particular one: for borders that know where it comes from.
    #[must_use]
    pub fn or_kind(mut self, kind: ErrorKind) -> Self {
        if self.kind == ErrorKind::Other {
            self.kind = kind;
        }
        self
    }

    /// What came back in the first place, without what we were doing.
    pub fn cause(&self) -> &str {
        self.chain.last().map_or("", String::as_str)
    }

    /// Its kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether somebody asked us to stop.
    pub fn is_interrupted(&self) -> bool {
        self.kind == ErrorKind::Interrupted
    }

    /// Whether an agent, a server or a connection is gone.
    pub fn is_lost(&self) -> bool {
        self.kind == ErrorKind::Lost
    }

    /// Whether another transaction stood in the way.
    pub fn is_conflict(&self) -> bool {
        self.kind == ErrorKind::Conflict
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.chain.join(": "))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_outlives_its_context_and_a_border_names_only_what_has_none() {
        let lost = Error::lost("the host agent was lost").context("run 3");
        assert_eq!((lost.kind(), lost.to_string().as_str()), (ErrorKind::Lost, "run 3: the host agent was lost"));
        assert!(lost.clone().or_kind(ErrorKind::Host).is_lost());
        assert_eq!(Error::new("no room").or_kind(ErrorKind::Host).kind(), ErrorKind::Host);
        assert!(Error::interrupted().context("run 3").is_interrupted());
    }
}
