//! Comparisons of what came back with what must.

use crate::contract::{Error, ErrorClass};
use std::fmt::Debug;

/// Fails, with these words, unless it holds.
pub(super) fn holds(holds: bool, words: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::other(words())) }
}

/// Fails unless both are equal.
pub(super) fn equal<A: Debug + PartialEq<B>, B: Debug>(what: &str, found: A, expected: B) -> Result<(), Error> {
    holds(found == expected, || format!("{what}: {found:?} came back instead of {expected:?}"))
}

/// The error that must have come.
pub(super) fn refused<T>(what: &str, outcome: Result<T, Error>) -> Result<Error, Error> {
    match outcome {
        Err(error) => Ok(error),
        Ok(_) => Err(Error::other(format!("{what} was not refused"))),
    }
}

/// The error that must have come, of this class.
pub(super) fn refused_as<T>(what: &str, outcome: Result<T, Error>, class: ErrorClass) -> Result<Error, Error> {
    let error = refused(what, outcome)?;
    holds(error.class() == class, || format!("{what} is an error of the class {:?}: {error}", error.class()))?;
    Ok(error)
}

/// What must be there.
pub(super) fn some<T>(what: &str, found: Option<T>) -> Result<T, Error> {
    found.ok_or_else(|| Error::other(format!("{what} did not come back")))
}
