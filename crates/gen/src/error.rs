//! The crate's only error: settings that no data or inputs can be drawn from.
//!
//! It carries no source, because nothing below this crate can fail.

use std::fmt;

/// Settings from which nothing can be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: GenErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GenErrorKind {
    NotPositive { what: &'static str, found: i64 },
    EmptyMix,
    OutOfRange { what: &'static str, found: u64, least: u64, most: u64 },
    Unfit { what: &'static str, found: String, allowed: &'static str },
    UnknownName { what: &'static str, found: String, known: String },
}

impl Error {
    pub(crate) fn not_positive(what: &'static str, found: i64) -> Self {
        Self { kind: GenErrorKind::NotPositive { what, found } }
    }

    pub(crate) fn empty_mix() -> Self {
        Self { kind: GenErrorKind::EmptyMix }
    }

    pub(crate) fn out_of_range(what: &'static str, found: u64, least: u64, most: u64) -> Self {
        Self { kind: GenErrorKind::OutOfRange { what, found, least, most } }
    }

    pub(crate) fn unfit(what: &'static str, found: f64, allowed: &'static str) -> Self {
        Self { kind: GenErrorKind::Unfit { what, found: found.to_string(), allowed } }
    }

    pub(crate) fn unknown_name(what: &'static str, found: &str, known: &[&str]) -> Self {
        let (found, known) = (found.to_owned(), known.join(", "));
        Self { kind: GenErrorKind::UnknownName { what, found, known } }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            GenErrorKind::NotPositive { what, found } => {
                write!(f, "drawing inputs needs at least one {what}, but {found} were requested")
            }
            GenErrorKind::EmptyMix => f.write_str("every transaction has the weight 0; set a positive weight"),
            GenErrorKind::OutOfRange { what, found, least, most } => {
                write!(f, "{what} is {found}, but must be {least} to {most}")
            }
            GenErrorKind::Unfit { what, found, allowed } => write!(f, "{what} is {found}, but must be {allowed}"),
            GenErrorKind::UnknownName { what, found, known } => {
                write!(f, "unknown {what} \"{found}\"; known: {known}")
            }
        }
    }
}

impl std::error::Error for Error {}
