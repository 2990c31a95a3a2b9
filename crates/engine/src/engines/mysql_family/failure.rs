//! MariaDB's and MySQL's errors by number as classes. May not retry. Source: knowledge base, "MariaDB Error Codes", and the MySQL manual,
//! "Server Error Message Reference". Numbers of the C library (2006, 2013) do not occur: over our own wire they are an end of stream.

use crate::contract::{Error, ErrorClass};

/// The code under which a statement is told that took longer than it may.
const STATEMENT_TIMEOUT: &str = "statement_timeout";

/// An error that the server tells: its number, its SQLSTATE and its message.
pub(super) fn of_server(number: u16, state: &str, message: &str) -> Error {
    let class = class(number, state, message);
    let code = match number {
        // MariaDB's cap of a statement, and MySQL's.
        1969 | 3024 => STATEMENT_TIMEOUT.to_owned(),
        number => number.to_string(),
    };
    Error::new(class, code, message)
}

/// The code of a statement that was interrupted. Its session goes on after a `KILL QUERY`, and ends after a `KILL` or at a shutdown: the
/// answer is the same, and what comes after it on the wire is not.
pub(super) const INTERRUPTED: &str = "1317";

/// An interrupted statement whose session the server has ended.
pub(super) fn interrupted_for_good() -> Error {
    let text = "the statement was interrupted, and the server has ended the session";
    Error::new(ErrorClass::ConnectionLost, INTERRUPTED, text)
}

fn class(number: u16, state: &str, message: &str) -> ErrorClass {
    match number {
        // Deadlock, lock wait timeout, record changed since the snapshot, definition changed, no wait; Galera's refusal before it is
        // ready; TiDB's conflicts.
        1213 | 1205 | 1020 | 1412 | 3572 | 1047 | 9007 | 8002 | 8022 | 8028 => ErrorClass::Retryable,
        // Too many connections, shut down, aborted, killed, read or write of the network failed, idle for too long.
        1040 | 1053 | 1077 | 1079 | 1152 | 1158..=1161 | 1184 | 1927 | 4031 => ErrorClass::ConnectionLost,
        // Read only: the server is not the one that takes writes any more.
        1290 if message.contains("read-only") || message.contains("read_only") => ErrorClass::ConnectionLost,
        1836 => ErrorClass::ConnectionLost,
        // Disk full, out of memory, table full, out of threads, too many locks, too many statements.
        1021 | 1037 | 1038 | 1041 | 1114 | 1135 | 1206 | 1461 => ErrorClass::OutOfSpace,
        3 | 11 | 14 | 20 if message.contains("28") => ErrorClass::OutOfSpace,
        1048 | 1062 | 1264 | 1265 | 1292 | 1364 | 1366 | 1406 | 1451 | 1452 | 1690 | 3819 | 4025 => ErrorClass::Data,
        _ => match state.get(..2) {
            // No data: a row that must be there is not.
            Some("02" | "22" | "23") => ErrorClass::Data,
            Some("08") => ErrorClass::ConnectionLost,
            _ => ErrorClass::Other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::mysql_family::flavour::Flavour;
    use crate::engines::mysql_family::wire::ServerConnection;
    use crate::engines::wire::Socket;
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::UnixStream;

    /// The class of an interrupted statement whose session ends behind the answer, or does not.
    fn interrupted(ends: bool) -> (ErrorClass, bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (ours, mut theirs) = UnixStream::pair().expect("a pair of sockets");
            theirs.write_all(b"\x0d\0\0\x01\xff\x25\x05#70100stop").await.expect("there is room");
            if ends {
                theirs.shutdown().await.expect("it is open");
            }
            let socket = Socket::unix(ours).expect("a socket");
            let mut connection = ServerConnection::on(socket, true, Flavour::of_version(""));
            let error = connection.text("SELECT 1", |_| {}).await.expect_err("it was interrupted");
            assert_eq!(error.code(), INTERRUPTED);
            (error.class(), connection.has_ended())
        })
    }

    #[test]
    fn an_interrupted_statement_has_lost_its_session_where_the_wire_ends_behind_it() {
        assert_eq!(interrupted(true), (ErrorClass::ConnectionLost, true));
        assert_eq!(interrupted(false), (ErrorClass::Other, false));
    }

    #[test]
    fn numbers_have_classes() {
        let cases = [
            (1213, "40001", "Deadlock found", ErrorClass::Retryable),
            (1205, "HY000", "Lock wait timeout exceeded", ErrorClass::Retryable),
            (1053, "08S01", "Server shutdown in progress", ErrorClass::ConnectionLost),
            (1040, "08004", "Too many connections", ErrorClass::ConnectionLost),
            (1290, "HY000", "The MariaDB server is running with the --read-only option", ErrorClass::ConnectionLost),
            (1290, "HY000", "The MariaDB server is running with the --secure-file-priv option", ErrorClass::Other),
            (1114, "HY000", "The table is full", ErrorClass::OutOfSpace),
            (3, "HY000", "Error writing file (Errcode: 28)", ErrorClass::OutOfSpace),
            (1062, "23000", "Duplicate entry", ErrorClass::Data),
            (1329, "02000", "No data", ErrorClass::Data),
            (1644, "45000", "raised by a routine", ErrorClass::Other),
            (1064, "42000", "You have an error in your SQL syntax", ErrorClass::Other),
        ];
        for (number, state, message, expected) in cases {
            assert_eq!(class(number, state, message), expected, "{number} {message}");
        }
        assert_eq!(of_server(1969, "70100", "Query execution was interrupted").code(), "statement_timeout");
    }
}
