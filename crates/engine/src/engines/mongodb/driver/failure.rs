//! The driver's errors as those of the contract, with the classes that the lean path gives. May not retry.

use super::super::failure::{AUTHENTICATION_FAILED, lost, with_code};
use crate::contract::{Error, ErrorClass};
use mongodb::error::{ErrorKind, IndexedWriteError, InsertManyError, WriteConcernError, WriteFailure};

/// An error of the driver with its class, code and text.
pub(super) fn failed(error: mongodb::error::Error) -> Error {
    match error.kind.as_ref() {
        ErrorKind::Command(command) => told(command.code, &command.code_name, &command.message),
        ErrorKind::Write(WriteFailure::WriteError(write)) => {
            told(write.code, write.code_name.as_deref().unwrap_or_default(), &write.message)
        }
        ErrorKind::Write(WriteFailure::WriteConcernError(concern)) => unconfirmed(concern),
        // A connection on which something unreadable came is closed by the driver; what was on its way has an unknown outcome.
        kind @ (ErrorKind::Io(_)
        | ErrorKind::ConnectionPoolCleared { .. }
        | ErrorKind::InvalidResponse { .. }
        | ErrorKind::ServerSelection { .. }) => lost(kind.to_string()),
        // The driver keeps the server's words, and not their code.
        kind @ ErrorKind::Authentication { .. } => {
            let text = format!("{kind}; check MONGODB_USER and MONGODB_PASSWORD on the load host");
            with_code(AUTHENTICATION_FAILED, text)
        }
        kind => Error::other(kind.to_string()),
    }
}

/// What the server said of a command or a write.
fn told(code: i32, name: &str, message: &str) -> Error {
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    with_code(code.into(), format!("{name}{message}"))
}

/// The write was done, but not as safely as was asked: its outcome is unknown. Error 100 says that it never can be.
fn unconfirmed(concern: &WriteConcernError) -> Error {
    let text = "the write concern was not fulfilled";
    match concern.code {
        100 => told(concern.code, &concern.code_name, &concern.message).context(text),
        code => Error::new(ErrorClass::ConnectionLost, code.to_string(), format!("{text}: {}", concern.message)),
    }
}

/// The documents that an insertion left out, by their places in the batch; an error when more is wrong than that.
pub(super) fn left_out(error: mongodb::error::Error, places: &[u32]) -> Result<Vec<(u32, Error)>, Error> {
    match error.kind.as_ref() {
        ErrorKind::InsertMany(InsertManyError { write_concern_error: Some(concern), .. }) => Err(unconfirmed(concern)),
        ErrorKind::InsertMany(InsertManyError { write_errors: Some(errors), .. }) => {
            errors.iter().map(|error| one(error, places)).collect()
        }
        _ => Err(failed(error)),
    }
}

fn one(error: &IndexedWriteError, places: &[u32]) -> Result<(u32, Error), Error> {
    let beyond = || Error::other(format!("the server rejected document {}, which was not sent", error.index));
    let place = *places.get(error.index).ok_or_else(beyond)?;
    Ok((place, told(error.code, error.code_name.as_deref().unwrap_or_default(), &error.message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: ErrorKind, expected: ErrorClass) {
        let text = kind.to_string();
        assert_eq!(failed(kind.into()).class(), expected, "{text}");
    }

    #[test]
    fn what_breaks_a_connection_leaves_the_outcome_unknown_and_what_the_server_says_has_its_code() {
        check(std::io::ErrorKind::ConnectionReset.into(), ErrorClass::ConnectionLost);
        check(ErrorKind::SessionsNotSupported, ErrorClass::Other);
        assert_eq!(told(11000, "", "E11000").class(), ErrorClass::Data);
        let retry = told(112, "WriteConflict", "try again");
        assert_eq!(
            (retry.class(), retry.to_string().as_str()),
            (ErrorClass::Retryable, "WriteConflict: try again (112)")
        );
    }
}
