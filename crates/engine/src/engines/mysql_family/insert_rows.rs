//! Bulk loading by statements of many rows, for servers that take no local files. The values stand in the text as
//! literals that the server reads exactly as they are; the number of rows and of warnings is checked all the same.

use super::database::identifier;
use super::load_data::first_warning;
use super::wire::{Answer, ServerConnection, broken, write_text_field};
use crate::contract::{ColumnKind, Error, ErrorClass, RowSource, Table, Value};

/// A statement is sent when its text has so many bytes: the share of a round trip in a row is small, and the text is far below 1 MiB, the
/// smallest default that `max_allowed_packet` has had. Source: MySQL 5.5 reference manual, "Packet Too Large".
const STATEMENT_BYTES: usize = 256 << 10;
/// Rows of a statement at most.
const STATEMENT_ROWS: u64 = 1_000;
/// Room for the row that ends a statement.
const SPARE_BYTES: usize = 8 << 10;
/// Digits of a byte.
const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Inserts all rows; an error unless the server has taken each as it is. No row is drawn before the server is ready for a statement.
pub(super) async fn insert(
    connection: &mut ServerConnection,
    table: &Table<'_>,
    rows: &mut dyn RowSource,
) -> Result<u64, Error> {
    // A file that was offered before and refused is offered no more.
    connection.settle().await?;
    let mut statement = InsertText::new(table);
    let mut count = 0;
    loop {
        let mut written = Ok(());
        let has_come = rows.next(&mut |row| written = statement.add(row));
        written?;
        if statement.rows > 0 && (!has_come || statement.is_full()) {
            send(connection, &statement).await?;
            count += statement.rows;
            statement.clear();
        }
        if !has_come {
            return Ok(count);
        }
    }
}

/// Sends a statement; an error unless the server has taken each of its rows as it is.
async fn send(connection: &mut ServerConnection, statement: &InsertText<'_>) -> Result<(), Error> {
    connection.queue_text(statement.sql()?)?;
    connection.flush().await?;
    let packet = connection.receive().await?;
    match packet.kind {
        Answer::Done { affected, warnings: 0, is_last: true, .. } if affected == statement.rows => Ok(()),
        Answer::Done { affected, warnings, is_last: true, .. } => {
            Err(first_warning(connection, statement.rows, affected, warnings).await)
        }
        Answer::Failed => Err(connection.error(&packet)),
        _ => Err(broken("no answer to a statement of many rows")),
    }
}

/// Text of a statement that grows by rows.
struct InsertText<'t> {
    table: &'t Table<'t>,
    text: Vec<u8>,
    /// Bytes before the first row.
    head: usize,
    rows: u64,
}

impl<'t> InsertText<'t> {
    /// The text without a row.
    fn new(table: &'t Table<'t>) -> Self {
        let names: Vec<String> = table.columns.iter().map(|column| identifier(column.name)).collect();
        let head = format!("INSERT INTO {} ({}) VALUES ", identifier(table.name), names.join(", "));
        let mut text = Vec::with_capacity(STATEMENT_BYTES + SPARE_BYTES);
        text.extend_from_slice(head.as_bytes());
        Self { table, text, head: head.len(), rows: 0 }
    }

    /// Adds a row; after an error the text is of no use.
    fn add(&mut self, row: &[Value<'_>]) -> Result<(), Error> {
        let columns = self.table.columns;
        if row.len() != columns.len() {
            let text = format!("{} values for {} columns", row.len(), columns.len());
            return Err(Error::new(ErrorClass::Data, "", text));
        }
        let mut before: &[u8] = if self.rows == 0 { b"(" } else { b",(" };
        for (column, value) in columns.iter().zip(row) {
            self.text.extend_from_slice(before);
            before = b",";
            if write_literal(column.kind, *value, &mut self.text).is_none() {
                let text = format!("{value:?} does not fit column {}", column.name);
                return Err(Error::new(ErrorClass::Data, "", text));
            }
        }
        self.text.push(b')');
        self.rows += 1;
        Ok(())
    }

    /// Tells whether it is to be sent before another row comes.
    fn is_full(&self) -> bool {
        self.rows >= STATEMENT_ROWS || self.text.len() >= STATEMENT_BYTES
    }

    /// The statement.
    fn sql(&self) -> Result<&str, Error> {
        std::str::from_utf8(&self.text)
            .map_err(|error| Error::new(ErrorClass::Data, "", format!("a value is no text in UTF-8: {error}")))
    }

    /// Takes all rows away.
    fn clear(&mut self) {
        self.text.truncate(self.head);
        self.rows = 0;
    }
}

/// Writes a value as a literal. `None` when the value does not fit the column.
fn write_literal(kind: ColumnKind, value: Value<'_>, out: &mut Vec<u8>) -> Option<()> {
    match (kind, value) {
        (_, Value::Null) => out.extend_from_slice(b"NULL"),
        (ColumnKind::Text | ColumnKind::Json, value) => put_text(value.text_bytes()?, out),
        (ColumnKind::Time | ColumnKind::Date, value) => {
            out.push(b'\'');
            write_text_field(kind, value, out)?;
            out.push(b'\'');
        }
        (ColumnKind::Integer { .. } | ColumnKind::Decimal { .. }, value) => write_text_field(kind, value, out)?,
    }
    Some(())
}

/// Writes a text. What a backslash in quotes means depends on the session's `sql_mode`, which a study may set: a text that has one is
/// written by its bytes.
fn put_text(text: &[u8], out: &mut Vec<u8>) {
    if text.contains(&b'\\') {
        out.extend_from_slice(b"_utf8mb4 x'");
        for byte in text {
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    } else {
        out.push(b'\'');
        for byte in text {
            if *byte == b'\'' {
                out.push(b'\'');
            }
            out.push(*byte);
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::super::load_data::append;
    use super::*;
    use crate::contract::{AsciiText, Column, Decimal};
    use crate::engines::mysql_family::flavour::Flavour;
    use crate::engines::wire::Socket;
    use std::time::Duration;
    use tokio::net::UnixStream;

    const NUMBER: Column<'static> = Column { name: "a", kind: ColumnKind::Integer { bits: 64 } };
    const TEXT: Column<'static> = Column { name: "b`c", kind: ColumnKind::Text };

    fn check(kind: ColumnKind, value: Value<'_>, expected: Option<&str>) {
        let mut out = Vec::new();
        let fits = write_literal(kind, value, &mut out).is_some();
        let found = fits.then(|| String::from_utf8(out).expect("a text"));
        assert_eq!(found.as_deref(), expected, "{value:?} as {kind:?}");
    }

    #[test]
    fn literals_are_exact_and_end_where_their_text_ends() {
        check(ColumnKind::Text, Value::Text("it's, ''ä\n\t\0"), Some("'it''s, ''''ä\n\t\0'"));
        check(ColumnKind::Text, Value::Text(""), Some("''"));
        check(ColumnKind::Text, Value::Text("\\'"), Some("_utf8mb4 x'5C27'"));
        check(ColumnKind::Text, Value::Text("ä\\"), Some("_utf8mb4 x'C3A45C'"));
        check(ColumnKind::Text, Value::Ascii(AsciiText(b"'); DROP TABLE t; --")), Some("'''); DROP TABLE t; --'"));
        check(ColumnKind::Text, Value::Integer(1), None);
        check(ColumnKind::Json, Value::Text("{\"a\":\"'\"}"), Some("'{\"a\":\"''\"}'"));
        for kind in [ColumnKind::Text, ColumnKind::Date, ColumnKind::Integer { bits: 16 }] {
            check(kind, Value::Null, Some("NULL"));
        }
        check(ColumnKind::Integer { bits: 16 }, Value::Integer(40_000), None);
        check(ColumnKind::Integer { bits: 64 }, Value::Integer(i64::MIN), Some("-9223372036854775808"));
        check(ColumnKind::Decimal { scale: 4 }, Value::Decimal(Decimal { units: -5, scale: 2 }), Some("-0.0500"));
        check(ColumnKind::Decimal { scale: 1 }, Value::Decimal(Decimal { units: 5, scale: 2 }), None);
        check(ColumnKind::Date, Value::Time(86_400_000_000), Some("'1970-01-02'"));
        check(ColumnKind::Date, Value::Time(1), None);
        check(ColumnKind::Time, Value::Time(1), Some("'1970-01-01 00:00:00.000001'"));
        check(ColumnKind::Time, Value::Time(i64::MAX), None);
    }

    #[test]
    fn rows_of_a_statement_are_cut_by_number_and_by_bytes() {
        let columns = [NUMBER, TEXT];
        let table = Table { name: "t", columns: &columns };
        let mut statement = InsertText::new(&table);
        statement.add(&[Value::Integer(1), Value::Text("x")]).expect("it fits");
        statement.add(&[Value::Null, Value::Null]).expect("it fits");
        assert_eq!(statement.sql().expect("a text"), "INSERT INTO `t` (`a`, `b``c`) VALUES (1,'x'),(NULL,NULL)");
        statement.clear();
        assert_eq!((statement.sql().expect("a text"), statement.rows), ("INSERT INTO `t` (`a`, `b``c`) VALUES ", 0));
        let mut rows_until_full = |text: &str| {
            statement.clear();
            while !statement.is_full() {
                statement.add(&[Value::Integer(1), Value::Text(text)]).expect("it fits");
            }
            statement.rows
        };
        assert_eq!(rows_until_full("x"), STATEMENT_ROWS);
        assert_eq!(rows_until_full(&"x".repeat(100 << 10)), 3);
        assert_eq!(rows_until_full(&"x".repeat(300 << 10)), 1, "a row that is too long for others goes alone");
        let error = statement.add(&[Value::Null]).expect_err("a value is missing").to_string();
        assert!(error.contains("1 values for 2 columns"), "{error}");
        let no_text = Value::Ascii(AsciiText(&[0xFF]));
        statement.add(&[Value::Null, no_text]).expect("nobody has looked");
        assert_eq!(statement.sql().expect_err("it is no text").class(), ErrorClass::Data);
    }

    /// Rows of one whole number each.
    struct WholeNumbers(std::ops::Range<i64>);

    impl RowSource for WholeNumbers {
        fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
            let next = self.0.next();
            if let Some(number) = next {
                sink(&[Value::Integer(number)]);
            }
            next.is_some()
        }
    }

    fn packet(body: &[u8]) -> Vec<u8> {
        let length = u8::try_from(body.len()).expect("it is short");
        [&[length, 0, 0, 1], body].concat()
    }

    /// Answer that so many rows are taken, with so many warnings, in a transaction.
    fn done(rows: u16, warnings: u8) -> Vec<u8> {
        let [low, high] = rows.to_le_bytes();
        packet(&[0, 0xFC, low, high, 0, 3, 0, warnings, 0])
    }

    /// How rows are given to a server.
    #[derive(Clone, Copy)]
    enum RowsWay {
        /// Loading by this module alone.
        Insert,
        /// Loading as a session does it.
        Append,
    }

    /// What it comes to to give so many rows to a server that has said all its answers before, and the texts that the server has got.
    fn outcome(way: RowsWay, rows: i64, answers: &[Vec<u8>]) -> (Result<u64, Error>, Vec<String>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let work = async {
            let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
            let said = answers.concat();
            theirs.writable().await.expect("it is open");
            assert_eq!(theirs.try_write(&said).expect("there is room"), said.len());
            let socket = Socket::unix(ours).expect("a socket");
            let mut connection = ServerConnection::on(socket, true, Flavour::of_version(""));
            let columns = [NUMBER];
            let (table, mut rows) = (Table { name: "t", columns: &columns }, WholeNumbers(0..rows));
            let outcome = match way {
                RowsWay::Insert => insert(&mut connection, &table, &mut rows).await,
                RowsWay::Append => append(&mut connection, &table, &mut rows).await,
            };
            theirs.readable().await.expect("something has come");
            let mut bytes = vec![0; 64 << 10];
            let count = theirs.try_read(&mut bytes).expect("something has come");
            let (mut left, mut texts) = (&bytes[..count], Vec::new());
            while let [first, second, 0, _, rest @ ..] = left {
                let (body, after) = rest.split_at(usize::from(u16::from_le_bytes([*first, *second])));
                texts.push(String::from_utf8(body[1..].to_vec()).expect("a text"));
                left = after;
            }
            (outcome, texts)
        };
        let in_time = async { tokio::time::timeout(Duration::from_secs(60), work).await };
        runtime.block_on(in_time).expect("nobody waits for ever")
    }

    #[test]
    fn all_rows_are_sent_in_statements_of_a_thousand() {
        let (count, texts) = outcome(RowsWay::Insert, 2_001, &[done(1_000, 0), done(1_000, 0), done(1, 0)]);
        assert_eq!(count.expect("all are taken"), 2_001);
        assert_eq!(texts.len(), 3);
        assert!(texts[0].starts_with("INSERT INTO `t` (`a`) VALUES (0),(1),(2)"), "{}", texts[0]);
        assert!(texts[1].ends_with(",(1999)"), "{}", texts[1]);
        assert_eq!(texts[2], "INSERT INTO `t` (`a`) VALUES (2000)");
        let (count, texts) = outcome(RowsWay::Insert, 1_000, &[done(1_000, 0)]);
        assert_eq!((count.expect("all are taken"), texts.len()), (1_000, 1), "and none without a row");
    }

    #[test]
    fn rows_that_are_taken_otherwise_than_they_are_fail() {
        let refused = packet(b"\xff\x26\x04#23000Duplicate entry");
        let (error, texts) = outcome(RowsWay::Insert, 1_500, &[done(1_000, 0), refused.clone()]);
        assert_eq!((error.expect_err("it is refused").code(), texts.len()), ("1062", 2));
        let column = packet(b"\x03def");
        let row = packet(b"\x07Warning\x041265\x0eData truncated");
        let end = packet(&[0xFE, 0, 0, 2, 0, 0, 0]);
        let warned = [done(2, 1), packet(&[3, 1]), column.clone(), column.clone(), column, row, end];
        let (error, texts) = outcome(RowsWay::Insert, 2, &warned);
        let error = error.expect_err("there is a warning");
        assert_eq!((error.class(), error.code(), texts.len()), (ErrorClass::Data, "1265", 2));
        assert!(error.to_string().contains("2 rows were sent and 2 taken, with 1 warnings"), "{error}");
        let (error, _) = outcome(RowsWay::Insert, 2, &[done(1, 0), refused]);
        let error = error.expect_err("one is missing");
        assert_eq!(error.class(), ErrorClass::Data);
        assert!(error.to_string().contains("2 rows were sent and 1 taken"), "{error}");
    }

    /// A server that asks for a file in answer to a statement gets none.
    #[test]
    fn a_file_that_is_asked_for_is_not_sent() {
        let (error, _) = outcome(RowsWay::Insert, 1, &[packet(b"\xfb/etc/passwd")]);
        assert!(error.expect_err("nobody offered it").to_string().contains("nobody offered"));
    }

    /// A server without local files is given every row all the same, in the same transaction; any other error ends the rows.
    #[test]
    fn rows_are_inserted_where_a_server_takes_no_local_files() {
        // ProxySQL, old versions of both, MySQL, MariaDB.
        let refusals =
            [&b"\xff\x17\x04#08S01no"[..], b"\xff\x7c\x04#42000no", b"\xff\x6c\x0f#42000no", b"\xff\x46\x10#HY000no"];
        for refusal in refusals {
            let answers = [done(0, 0), packet(refusal), done(1_000, 0), done(500, 0), done(0, 0)];
            let (count, texts) = outcome(RowsWay::Append, 1_500, &answers);
            assert_eq!(count.expect("all are taken"), 1_500);
            let begins = ["START TRANSACTION", "LOAD DATA LOCAL", "INSERT INTO", "INSERT INTO", "COMMIT"];
            let begin = texts.iter().zip(begins).all(|(text, begin)| text.starts_with(begin));
            assert!(begin && texts.len() == begins.len(), "{texts:?}");
            assert!(texts[2].contains("VALUES (0),") && texts[3].ends_with(",(1499)"), "{texts:?}");
        }
        let missing = packet(b"\xff\x7a\x04#42S02no such table");
        let (error, texts) = outcome(RowsWay::Append, 1_500, &[done(0, 0), missing, done(0, 0)]);
        assert_eq!(error.expect_err("there is no table").code(), "1146");
        assert_eq!(texts.last().map(String::as_str), Some("ROLLBACK"), "{texts:?}");
    }
}
