//! PostgreSQL's errors by SQLSTATE as classes. May not retry. Source: PostgreSQL manual, appendix A.

use crate::contract::{Error, ErrorClass};
use std::error::Error as _;
use std::fmt::Write as _;

/// An error of the driver with its class, code and the chain of its causes.
pub(super) fn failed(error: tokio_postgres::Error) -> Error {
    if let Some(server) = error.as_db_error() {
        let more = [server.detail(), server.hint()].into_iter().flatten();
        return of_server(server.code().code(), server.message(), more);
    }
    let source = error.source();
    let lost = error.is_closed() || source.is_some_and(|cause| cause.is::<std::io::Error>());
    let class = if lost { ErrorClass::ConnectionLost } else { ErrorClass::Other };
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let part = deeper.to_string();
        if !text.contains(&part) {
            let _ = write!(text, ": {part}");
        }
        cause = deeper.source();
    }
    Error::new(class, "", text)
}

/// An error that the server tells: its SQLSTATE, its message, and what it adds.
pub(super) fn of_server<'t>(code: &str, message: &str, more: impl Iterator<Item = &'t str>) -> Error {
    let mut text = message.to_owned();
    for part in more.chain(advice(code)) {
        let _ = write!(text, "; {part}");
    }
    Error::new(class(code), code, text)
}

/// What to try after an error that the server's own words do not explain.
fn advice(code: &str) -> Option<&'static str> {
    match code {
        // A prepared statement is not known, or known already.
        "26000" | "42P05" => Some(
            "prepared statements stay with their session: a pooler in between must keep them (PgBouncer from 1.21 on with \
             max_prepared_statements above 0) or pool by session",
        ),
        _ => None,
    }
}

/// The class of a SQLSTATE.
fn class(code: &str) -> ErrorClass {
    match code {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => ErrorClass::Retryable,
        // Disk full, out of memory, configuration limit exceeded.
        "53100" | "53200" | "53400" => ErrorClass::OutOfSpace,
        // The server shuts down, has crashed or does not accept sessions yet.
        "57P01" | "57P02" | "57P03" => ErrorClass::ConnectionLost,
        // Too many connections: none is to be had now, and one may be later.
        "53300" => ErrorClass::ConnectionLost,
        // A write is refused as read only: the server is not the primary any more.
        "25006" => ErrorClass::ConnectionLost,
        // A procedure finds no row, or several, where one must be.
        "P0002" | "P0003" => ErrorClass::Data,
        _ => match code.get(..2) {
            Some("08") => ErrorClass::ConnectionLost,
            Some("22" | "23") => ErrorClass::Data,
            _ => ErrorClass::Other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_classes() {
        let cases = [
            ("40001", ErrorClass::Retryable),
            ("40P01", ErrorClass::Retryable),
            ("08006", ErrorClass::ConnectionLost),
            ("57P01", ErrorClass::ConnectionLost),
            ("25006", ErrorClass::ConnectionLost),
            ("53100", ErrorClass::OutOfSpace),
            ("53300", ErrorClass::ConnectionLost),
            ("22003", ErrorClass::Data),
            ("23505", ErrorClass::Data),
            ("P0002", ErrorClass::Data),
            ("P0001", ErrorClass::Other),
            ("42601", ErrorClass::Other),
            ("25P02", ErrorClass::Other),
        ];
        for (code, expected) in cases {
            assert_eq!(class(code), expected, "{code}");
        }
    }
}
