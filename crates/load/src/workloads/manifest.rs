//! What the manifests of all workloads share: how a build begins, how they are compared with a study, and what a step is worth that
//! failed because it was noted already. May not know how a manifest is stored.

use super::blocking_session::BlockingSession;
use proofload_model::error::Error;

/// Entry of a build that has come to its end.
pub(in crate::workloads) const COMPLETE: &str = "complete";

/// Begins a build: the manifest that `fitting` reads, or an empty one of tables that `make` makes. `fitting` refuses a manifest of
/// other data.
pub(in crate::workloads) fn begun<M: Default>(
    session: &mut BlockingSession,
    fitting: impl Fn(&mut BlockingSession) -> Result<Option<M>, Error>,
    make: impl FnOnce(&mut BlockingSession) -> Result<(), Error>,
) -> Result<M, Error> {
    if let Some(manifest) = fitting(session)? {
        return Ok(manifest);
    }
    match make(session) {
        Ok(()) => Ok(M::default()),
        // A client killed with its COMMIT under way may have made them since.
        Err(error) => {
            session.roll_back();
            fitting(session)?.ok_or(error)
        }
    }
}

/// Refuses a database that holds something but no manifest.
pub(in crate::workloads) fn not_empty(what: &str) -> Error {
    Error::new(format!("the database is not empty: it has {what} but no Proofload manifest; use an empty database"))
}

/// An error unless every entry that is wanted is noted as it is wanted; it names each difference, then `remedy`.
pub(in crate::workloads) fn fits<'m, N: AsRef<str>>(
    noted: impl Fn(&str) -> Option<&'m str>,
    wanted: &[(N, String)],
    remedy: &str,
) -> Result<(), Error> {
    let difference = |(name, value): &(N, String)| {
        let name = name.as_ref();
        match noted(name) {
            Some(found) if found == value => None,
            Some(found) => Some(format!("{name} is {found}, but the study needs {value}")),
            None => Some(format!("{name} is missing, but the study needs {value}")),
        }
    };
    let differences: Vec<String> = wanted.iter().filter_map(difference).collect();
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::verification(format!(
        "the data in the database do not match the study: {}; {remedy}",
        differences.join(", ")
    )))
}

/// Judges a step of a build that `failed`. A client killed with its COMMIT under way may have the step committed after this build read
/// the manifest; doing it again then meets the rows or the note of the first time. `noted` reads the manifest again: `Ok(true)` when it
/// holds what this step would have noted, so that the step is done. Everything else leaves the error as it was.
pub(in crate::workloads) fn unless_noted(failed: Error, noted: Result<bool, Error>) -> Result<(), Error> {
    match noted {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_step_that_is_noted_is_done() {
        let failed = || Error::new("duplicate key");
        assert!(unless_noted(failed(), Ok(true)).is_ok());
        for noted in [Ok(false), Err(Error::new("connection lost"))] {
            assert_eq!(unless_noted(failed(), noted).unwrap_err().to_string(), "duplicate key");
        }
    }

    #[test]
    fn every_difference_is_named() {
        let noted = |name: &str| [("seed", "1"), ("scale", "toy")].iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
        let wanted = [("seed", "1".to_owned()), ("scale", "full".to_owned()), ("rows", "7".to_owned())];
        assert_eq!(fits(noted, &wanted[..1], "build anew").map_err(|error| error.to_string()), Ok(()));
        assert_eq!(
            fits(noted, &wanted, "build anew").unwrap_err().to_string(),
            "the data in the database do not match the study: scale is toy, but the study needs full, rows is \
             missing, but the study needs 7; build anew"
        );
    }
}
