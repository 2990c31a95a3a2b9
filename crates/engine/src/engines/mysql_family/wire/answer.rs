//! What the packets of an answer are, and how far an answer has come. Kept in the connection, so that whoever goes away in between leaves
//! it where the next one can go on. May not know what a row means.

use super::packet::{MOST_BYTES, PacketReader, broken};
use crate::contract::Error;
use crate::engines::mysql_family::failure;
use std::ops::Range;

/// The server's transaction state and more, as it was said last. Source: knowledge base, "OK_Packet", server status flags.
const IN_TRANSACTION: u16 = 0x0001;
const AUTOCOMMIT: u16 = 0x0002;
const MORE_RESULTS: u16 = 0x0008;

/// Kind of request that an answer is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// A statement to prepare.
    Prepare,
    /// Anything else.
    Command,
}

/// A packet, valid until the next one is received.
#[derive(Debug, Clone)]
pub(in crate::engines::mysql_family) struct Packet {
    /// What it is.
    pub(in crate::engines::mysql_family) kind: Answer,
    /// Where its body lies.
    pub(super) body: Range<usize>,
}

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines::mysql_family) enum Answer {
    /// A statement has come to its end, or one of several, or the rows of a result have.
    Done {
        /// Rows touched.
        affected: u64,
        /// Warnings of the statement.
        warnings: u16,
        /// Whether it ends rows.
        of_rows: bool,
        /// Whether nothing more follows of this answer.
        is_last: bool,
    },
    /// An error, which ends the answer.
    Failed,
    /// A result begins: its number of columns, and whether they are described.
    Result {
        /// Columns of each row.
        columns: u16,
        /// Whether their descriptions follow; otherwise they are as the last time.
        described: bool,
    },
    /// Description of a column, or of a parameter.
    Column,
    /// A row.
    Row,
    /// A statement is prepared.
    Prepared {
        /// Its number.
        id: u32,
        /// Columns of each row; 0 where it is known only when it has run.
        columns: u16,
        /// Parameters.
        parameters: u16,
    },
    /// The last description of a prepared statement: nothing more follows.
    Described,
    /// The server asks for a file of this host.
    File,
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Start,
    /// Descriptions of columns, so many, then rows.
    Columns(u16),
    Rows,
    /// Descriptions of a prepared statement.
    Descriptions(u32),
}

/// How far the answer has come that is being received, and what the server said last of the session.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Course {
    phase: Phase,
    status: u16,
    /// Whether a result's head says if descriptions follow.
    caches_columns: bool,
}

impl Course {
    /// Begins where a session stands.
    pub(super) fn new(caches_columns: bool) -> Self {
        Self { caches_columns, ..Self::default() }
    }

    /// Whether a transaction is open, as the server said last.
    pub(super) fn in_transaction(&self) -> bool {
        self.status & IN_TRANSACTION != 0
    }

    /// Whether each statement commits itself, as the server said last.
    pub(super) fn autocommit(&self) -> bool {
        self.status & AUTOCOMMIT != 0
    }

    /// What the next packet is; the second part tells whether it ends the answer.
    pub(super) fn take(&mut self, asked: RequestKind, body: &[u8]) -> Result<(Answer, bool), Error> {
        let answer = match (self.phase, body.first()) {
            (_, None) => return Err(broken("an empty packet")),
            (Phase::Columns(left), _) => {
                self.phase = if left > 1 { Phase::Columns(left - 1) } else { Phase::Rows };
                return Ok((Answer::Column, false));
            }
            (Phase::Descriptions(left), _) => {
                self.phase = if left > 1 { Phase::Descriptions(left - 1) } else { Phase::Start };
                return Ok(if left > 1 { (Answer::Column, false) } else { (Answer::Described, true) });
            }
            (_, Some(0xFF)) => {
                self.phase = Phase::Start;
                return Ok((Answer::Failed, true));
            }
            // A row of such a length may begin so too.
            (Phase::Rows, Some(0xFE)) if body.len() < MOST_BYTES => self.done(body, true),
            (Phase::Rows, Some(_)) => Some(Answer::Row),
            (Phase::Start, Some(0)) if asked == RequestKind::Prepare => self.prepared(body),
            (Phase::Start, Some(0 | 0xFE)) => self.done(body, false),
            (Phase::Start, Some(0xFB)) => Some(Answer::File),
            (Phase::Start, Some(_)) => self.result(body),
        };
        let answer = answer.ok_or_else(|| broken("a packet that ends early"))?;
        let ends = match answer {
            Answer::Done { is_last, .. } => is_last,
            Answer::Prepared { .. } => self.phase == Phase::Start,
            _ => false,
        };
        Ok((answer, ends))
    }

    /// Goes on behind the descriptions of a result's columns; tells whether they came next.
    pub(super) fn pass_columns(&mut self) -> bool {
        let came = matches!(self.phase, Phase::Columns(_));
        if came {
            self.phase = Phase::Rows;
        }
        came
    }

    fn done(&mut self, body: &[u8], of_rows: bool) -> Option<Answer> {
        let mut reading = PacketReader(body.get(1..)?);
        let (affected, _last_id) = (reading.length()?, reading.length()?);
        let (status, warnings) = (reading.short()?, reading.short()?);
        (self.status, self.phase) = (status, Phase::Start);
        Some(Answer::Done { affected, warnings, of_rows, is_last: status & MORE_RESULTS == 0 })
    }

    fn result(&mut self, body: &[u8]) -> Option<Answer> {
        let mut reading = PacketReader(body);
        let columns = u16::try_from(reading.length()?).ok().filter(|columns| *columns > 0)?;
        let described = !self.caches_columns || reading.byte()? != 0;
        self.phase = if described { Phase::Columns(columns) } else { Phase::Rows };
        Some(Answer::Result { columns, described })
    }

    fn prepared(&mut self, body: &[u8]) -> Option<Answer> {
        let mut reading = PacketReader(body.get(1..)?);
        let (id, columns, parameters) = (reading.long()?, reading.short()?, reading.short()?);
        let descriptions = u32::from(columns) + u32::from(parameters);
        self.phase = if descriptions > 0 { Phase::Descriptions(descriptions) } else { Phase::Start };
        Some(Answer::Prepared { id, columns, parameters })
    }
}

/// The error that a packet tells: number, then `#` and five characters of state once the session stands, then the text.
pub(super) fn error(body: &[u8]) -> Error {
    let mut reading = PacketReader(body.get(1..).unwrap_or_default());
    let code = reading.short().unwrap_or(0);
    let state = match reading.0.split_first() {
        Some((b'#', rest)) if rest.len() >= 5 => {
            reading.0 = &rest[5..];
            std::str::from_utf8(&rest[..5]).unwrap_or_default()
        }
        _ => "",
    };
    failure::of_server(code, state, &String::from_utf8_lossy(reading.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ErrorClass;

    #[test]
    fn errors_have_class_code_and_text() {
        let found = error(b"\xff\xbd\x04#40001Deadlock found");
        assert_eq!((found.class(), found.code()), (ErrorClass::Retryable, "1213"));
        assert_eq!(found.to_string(), "Deadlock found (1213)");
        assert_eq!(error(b"\xff\x10\x04Too many connections").to_string(), "Too many connections (1040)");
        assert_eq!(error(b"\xff").class(), ErrorClass::Other);
    }

    #[test]
    fn results_and_their_end_are_told_apart() {
        let mut course = Course::new(true);
        let mut take = |body: &[u8]| course.take(RequestKind::Command, body).expect("it is understood");
        assert_eq!(take(&[2, 1]), (Answer::Result { columns: 2, described: true }, false));
        assert_eq!(take(&[3, b'd', b'e', b'f']).0, Answer::Column);
        assert_eq!(take(&[3, b'd', b'e', b'f']).0, Answer::Column);
        assert_eq!(take(&[0, 0, 1]).0, Answer::Row);
        let more = Answer::Done { affected: 0, warnings: 0, of_rows: true, is_last: false };
        assert_eq!(take(&[0xFE, 0, 0, 8, 0, 0, 0]), (more, false));
        assert_eq!(take(&[1, 0]), (Answer::Result { columns: 1, described: false }, false));
        assert_eq!(take(&[0, 0, 1]).0, Answer::Row);
        assert_eq!(
            take(&[0xFE, 0, 0, 10, 0, 0, 0]).0,
            Answer::Done { affected: 0, warnings: 0, of_rows: true, is_last: false }
        );
        let last = Answer::Done { affected: 7, warnings: 1, of_rows: false, is_last: true };
        assert_eq!(take(&[0, 7, 0, 3, 0, 1, 0]), (last, true));
        assert!(course.in_transaction() && course.autocommit());
    }
}
