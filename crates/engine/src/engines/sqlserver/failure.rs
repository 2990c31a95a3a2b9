//! SQL Server's errors by number as classes. May not retry. Source: Microsoft's documentation, "Database engine events and errors".

use super::address::Authentication;
use crate::contract::{Error, ErrorClass};
use proofload_model::units::duration_text;
use std::time::Duration;

/// The code under which a statement is told that took longer than it may, or was stopped.
const STATEMENT_TIMEOUT: &str = "statement_timeout";
/// Severity from which on the server ends the session.
const FATAL: u8 = 20;

/// An error as the server tells it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerMessage<'a> {
    pub(super) number: u32,
    pub(super) state: u8,
    pub(super) severity: u8,
    pub(super) message: &'a str,
    /// The procedure that it arose in; empty outside of any.
    pub(super) procedure: &'a str,
    pub(super) line: u32,
}

/// An error that the server tells, with its state and where it arose.
pub(super) fn of_server(said: &ServerMessage<'_>) -> Error {
    let place = match said.procedure {
        "" => format!("line {}", said.line),
        procedure => format!("{procedure} line {}", said.line),
    };
    let text = format!("{}; state {}, severity {}, {place}", said.message.trim(), said.state, said.severity);
    let code = match said.number {
        // Stopped by the resource governor, or by the operator.
        10_961 | 3617 => STATEMENT_TIMEOUT.to_owned(),
        number => number.to_string(),
    };
    Error::new(class(said), code, text)
}

fn class(said: &ServerMessage<'_>) -> ErrorClass {
    match said.number {
        // Deadlock, lock time-out, conflicts of snapshots and of tables in memory, too busy.
        1205 | 1222 | 3960 | 3961 | 41_301 | 41_302 | 41_305 | 41_325 | 41_839 | 49_918..=49_920 => {
            ErrorClass::Retryable
        }
        // The network, the shut-down, a database that moves.
        64 | 233 | 596 | 6005 | 10_053 | 10_054 | 10_060 | 10_928 | 35_250 | 40_197 | 40_501 | 40_613 => {
            ErrorClass::ConnectionLost
        }
        // Not the primary any more, or not yet: its database recovers, lets nobody in, or takes no writes.
        921 | 922 | 976 | 978 | 979 | 982 | 983 | 988 | 3906 => ErrorClass::ConnectionLost,
        // Disk, log, memory, grants of memory.
        701 | 802 | 1101 | 1105 | 3257 | 8645 | 8651 | 9002 | 40_544 => ErrorClass::OutOfSpace,
        220 | 241 | 245 | 515 | 547 | 2601 | 2627 | 2628 | 8115 | 8134 | 8152 | 50_001 => ErrorClass::Data,
        _ if said.severity >= FATAL => ErrorClass::ConnectionLost,
        _ => ErrorClass::Other,
    }
}

/// A statement that took longer than it may, and has been stopped.
pub(super) fn timed_out(limit: Duration) -> Error {
    let text = format!("the statement was stopped after {}", duration_text(limit));
    Error::new(ErrorClass::Other, STATEMENT_TIMEOUT, text)
}

/// A server that goes on with a statement although it was asked to stop.
pub(super) fn not_stopped(limit: Duration, waited: Duration) -> Error {
    let (limit, waited) = (duration_text(limit), duration_text(waited));
    let text = format!(
        "the statement took longer than {limit}, and the server did not stop it within {waited}; look for what it rolls back"
    );
    Error::new(ErrorClass::ConnectionLost, "", text)
}

/// What helps where the server does not let us in.
pub(super) fn advice(code: &str, authentication: Authentication) -> &'static str {
    match code {
        "18456" if authentication == Authentication::Token => {
            "; fetch a new access token for https://database.windows.net/, as the old one may have expired, and see that the database has \
             a user for the account (CREATE USER … FROM EXTERNAL PROVIDER)"
        }
        "18456" => "; set SQLCMDPASSWORD for the load agent, and see that the server takes SQL logins",
        "4060" => "; make an empty database of this name, which the first run fills, or give the account rights on it",
        "18470" => "; the account is disabled",
        "18487" | "18488" => "; the password has expired: change it",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_classes_and_texts_say_where() {
        let said =
            |number, severity| ServerMessage { number, state: 3, severity, message: "Oh.", procedure: "pay", line: 7 };
        let cases = [
            (1205, 13, ErrorClass::Retryable),
            (3960, 16, ErrorClass::Retryable),
            (41_302, 16, ErrorClass::Retryable),
            (40_613, 17, ErrorClass::ConnectionLost),
            (3906, 16, ErrorClass::ConnectionLost),
            (978, 14, ErrorClass::ConnectionLost),
            (982, 14, ErrorClass::ConnectionLost),
            (988, 14, ErrorClass::ConnectionLost),
            (922, 14, ErrorClass::ConnectionLost),
            (9002, 17, ErrorClass::OutOfSpace),
            (8645, 17, ErrorClass::OutOfSpace),
            (2627, 14, ErrorClass::Data),
            (50_001, 16, ErrorClass::Data),
            (8152, 16, ErrorClass::Data),
            (266, 16, ErrorClass::Other),
            (102, 15, ErrorClass::Other),
            (823, 24, ErrorClass::ConnectionLost),
        ];
        for (number, severity, expected) in cases {
            assert_eq!(of_server(&said(number, severity)).class(), expected, "{number}");
        }
        assert!(advice("18456", Authentication::Password).contains("SQLCMDPASSWORD"));
        assert!(advice("18456", Authentication::Token).contains("a new access token"));
        let told = of_server(&said(2627, 14));
        assert_eq!((told.to_string().as_str(), told.code()), ("Oh.; state 3, severity 14, pay line 7 (2627)", "2627"));
    }
}
