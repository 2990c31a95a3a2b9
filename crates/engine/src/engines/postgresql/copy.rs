//! Bulk loading by binary COPY, encoded straight into the buffer that is sent.
//! Source of the format: PostgreSQL manual, COPY, "Binary Format".

use super::database::identifier;
use super::numeric::Digits;
use super::values::{days, decimal, timestamp};
use super::wire::{Connection, Tag, affected};
use crate::contract::{Column, ColumnKind, Error, ErrorClass, RowSource, Table, Value};
use bytes::{Bytes, BytesMut};
use postgres_protocol::message::frontend;
use std::slice;

/// Signature, flags and the length of an empty extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What comes before a message's rows: its tag, and its length, which is written when it is known.
const HEAD: &[u8; 5] = b"d\0\0\0\0";
/// A message is sent when its rows have so many bytes: large enough that its cost is lost in the rows', small enough to stay in cache.
const MESSAGE_BYTES: usize = 64 << 10;
/// Room for the row that ends a message.
const SPARE_BYTES: usize = 8 << 10;
/// Bytes of the number of fields before a row's.
const NUMBER_BYTES: usize = 2;
/// More than the bytes of a field that is no text, or of what comes before a text: a decimal has 26.
const MOST_FIELD_BYTES: usize = 32;
/// Length of null.
const NULL: [u8; 4] = (-1i32).to_be_bytes();
/// Number of fields that ends the rows.
const END: [u8; 2] = (-1i16).to_be_bytes();

/// Appends all rows; returns how many the server took.
pub(super) async fn append(
    connection: &mut Connection,
    table: &Table<'_>,
    rows: &mut dyn RowSource,
) -> Result<u64, Error> {
    let context = |error: Error| error.context(format!("failed to append to {}", table.name));
    begin(connection, &copy_sql(table)).await.map_err(context)?;
    let mut message = RowsMessage::open(connection.queue());
    message.add(HEADER);
    let mut misfit = None;
    while rows.next(&mut |row| misfit = message.add_row(table, row).err()) {
        if misfit.is_some() {
            break;
        }
        if message.end >= HEAD.len() + MESSAGE_BYTES {
            message.close(connection.queue());
            connection.flush().await.map_err(context)?;
            if let Some(error) = connection.refusal().map_err(context)? {
                misfit = Some(context(error));
                break;
            }
            message = RowsMessage::open(connection.queue());
        }
    }
    if misfit.is_none() {
        message.add(&END);
        message.close(connection.queue());
    }
    connection.end_copy(misfit.is_none());
    let ended = end(connection).await.map_err(context);
    match misfit {
        Some(error) => Err(error),
        None => ended,
    }
}

/// Asks the server to take rows.
async fn begin(connection: &mut Connection, sql: &str) -> Result<(), Error> {
    connection.settle().await?;
    frontend::query(sql, connection.queue()).map_err(|error| Error::other(error.to_string()))?;
    connection.expect_ready();
    connection.flush().await?;
    let message = connection.receive().await?;
    match message.tag {
        Tag::COPY_IN => {
            connection.begin_copy();
            Ok(())
        }
        Tag::ERROR => {
            let error = connection.error(&message);
            connection.settle().await?;
            Err(error)
        }
        _ => Err(Error::other("the server does not accept rows for COPY")),
    }
}

/// Sends the rest; the number of rows that the server took.
async fn end(connection: &mut Connection) -> Result<u64, Error> {
    connection.flush().await?;
    let mut outcome = Ok(0);
    loop {
        let message = connection.receive().await?;
        match message.tag {
            Tag::READY => return outcome,
            Tag::COMPLETE if outcome.is_ok() => outcome = Ok(affected(connection.body(&message))),
            Tag::ERROR if outcome.is_ok() => outcome = Err(connection.error(&message)),
            _ => {}
        }
    }
}

/// A message of rows that is being written, in the memory of the queue, from which all is sent. Its bytes are there before they are written, so
/// that a field is written where the last ended, and asks for no room.
struct RowsMessage {
    bytes: Vec<u8>,
    /// Number of bytes that are written.
    end: usize,
}

impl RowsMessage {
    /// Begins a message.
    fn open(queue: &mut BytesMut) -> Self {
        debug_assert!(queue.is_empty(), "what is queued comes before the rows");
        let mut bytes: Vec<u8> = std::mem::take(queue).into();
        bytes.resize(MESSAGE_BYTES + SPARE_BYTES, 0);
        bytes[..HEAD.len()].copy_from_slice(HEAD);
        Self { bytes, end: HEAD.len() }
    }

    /// Makes the message the queue, without copying it.
    fn close(&mut self, queue: &mut BytesMut) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.truncate(self.end);
        let length = u32::try_from(self.end - 1).expect("a message ends soon after 64 KiB");
        bytes[1..HEAD.len()].copy_from_slice(&length.to_be_bytes());
        *queue = BytesMut::from(Bytes::from(bytes));
    }

    /// Adds bytes.
    fn add(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        self.bytes[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Adds a row, or nothing where it does not fit the table.
    #[inline]
    fn add_row(&mut self, table: &Table, row: &[Value<'_>]) -> Result<(), Error> {
        match write_row(table, row, &mut self.bytes[self.end..]) {
            Some(written) => {
                self.end += written;
                Ok(())
            }
            None => self.add_large_row(table, row),
        }
    }

    /// Adds a row for which there may have been too little room.
    #[cold]
    fn add_large_row(&mut self, table: &Table, row: &[Value<'_>]) -> Result<(), Error> {
        self.make_room(most_bytes(row));
        let written = write_row(table, row, &mut self.bytes[self.end..]).ok_or_else(|| misfit(table, row))?;
        self.end += written;
        Ok(())
    }

    /// Makes room for so many bytes more.
    fn make_room(&mut self, more: usize) {
        let wanted = self.end + more;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
    }
}

/// Bytes that a row has at most, in whatever columns.
fn most_bytes(row: &[Value<'_>]) -> usize {
    row.iter().map(|value| MOST_FIELD_BYTES + value.text_bytes().map_or(0, <[u8]>::len)).sum::<usize>() + NUMBER_BYTES
}

fn copy_sql(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| identifier(column.name)).collect();
    format!("COPY {} ({}) FROM STDIN (FORMAT binary)", identifier(table.name), names.join(", "))
}

/// What is wrong with a row that does not fit.
fn misfit(table: &Table, row: &[Value<'_>]) -> Error {
    let (values, columns) = (row.len(), table.columns.len());
    let mut room = vec![0; most_bytes(row)];
    let wrong = table.columns.iter().zip(row).find(|(column, value)| {
        let alone = Table { name: table.name, columns: slice::from_ref(column) };
        write_row(&alone, slice::from_ref(value), &mut room).is_none()
    });
    let what = match wrong {
        Some((column, value)) if values == columns => format!("{value:?} does not fit column {}", column.name),
        _ => format!("the row has {values} values for {columns} columns"),
    };
    Error::new(ErrorClass::Data, "", format!("failed to append to {}: {what}", table.name))
}

/// Writes one row, the number of fields, then each with its length; how many bytes it has. `None` when it does not fit the table or the room.
fn write_row(table: &Table, row: &[Value<'_>], room: &mut [u8]) -> Option<usize> {
    if row.len() != table.columns.len() {
        return None;
    }
    let whole = room.len();
    let mut room = room;
    put(&mut room, (row.len() as i16).to_be_bytes())?;
    for (column, value) in table.columns.iter().zip(row) {
        write_field(column, *value, &mut room)?;
    }
    Some(whole - room.len())
}

/// Writes one field; `None` when the value does not fit the column or the room. In line always, as a part of the loop over the fields.
#[inline(always)]
fn write_field(column: &Column, value: Value<'_>, room: &mut &mut [u8]) -> Option<()> {
    if matches!(value, Value::Null) {
        return put(room, NULL);
    }
    match column.kind {
        // Most fields are of this kind: length and number are written as one.
        ColumnKind::Integer { bits: 32 } => {
            let number = i32::try_from(value.integer()?).ok()?.cast_unsigned();
            put(room, (4 << 32 | u64::from(number)).to_be_bytes())
        }
        ColumnKind::Integer { bits: 16 } => sized(room, i16::try_from(value.integer()?).ok()?.to_be_bytes()),
        ColumnKind::Integer { .. } => sized(room, value.integer()?.to_be_bytes()),
        ColumnKind::Decimal { scale } => {
            let digits = Digits::of(decimal(value)?.rescale(scale)?);
            put(room, (digits.length() as u32).to_be_bytes())?;
            digits.write(&mut room.split_off_mut(..digits.length())?);
            Some(())
        }
        ColumnKind::Text => put_text(room, &[], value.text_bytes()?),
        // The binary form of jsonb: its version, 1, then the text. Source: PostgreSQL manual, jsonb_recv.
        ColumnKind::Json => put_text(room, &[1], value.text_bytes()?),
        ColumnKind::Time => sized(room, timestamp(value)?.to_be_bytes()),
        ColumnKind::Date => sized(room, days(value)?.to_be_bytes()),
    }
}

/// Bytes of a fixed number; `None` where there is no room.
#[inline]
fn put<const N: usize>(room: &mut &mut [u8], bytes: [u8; N]) -> Option<()> {
    room.split_off_mut(..N)?.copy_from_slice(&bytes);
    Some(())
}

/// A field of fixed length.
#[inline]
fn sized<const N: usize>(room: &mut &mut [u8], bytes: [u8; N]) -> Option<()> {
    put(room, (N as i32).to_be_bytes())?;
    put(room, bytes)
}

/// A text behind its head.
#[inline]
fn put_text<const N: usize>(room: &mut &mut [u8], head: &[u8; N], text: &[u8]) -> Option<()> {
    put(room, i32::try_from(N + text.len()).ok()?.to_be_bytes())?;
    put(room, *head)?;
    room.split_off_mut(..text.len())?.copy_from_slice(text);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Decimal;
    use crate::engines::wire::Socket;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    const INTEGERS: Table<'static> =
        Table { name: "t", columns: &[Column { name: "i", kind: ColumnKind::Integer { bits: 32 } }] };

    /// A message: its tag and its body.
    type TaggedBody = (u8, Vec<u8>);

    /// Rows that are there.
    struct Given<'r>(std::slice::Iter<'r, Vec<Value<'r>>>);

    impl RowSource for Given<'_> {
        fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
            let row = self.0.next();
            if let Some(row) = row {
                sink(row);
            }
            row.is_some()
        }
    }

    /// Takes rows as a server does, until the client goes; what came, message by message.
    fn serve(mut stream: UnixStream) -> Vec<TaggedBody> {
        let mut messages = Vec::new();
        let mut head = [0; 5];
        while stream.read_exact(&mut head).is_ok() {
            let [tag, length @ ..] = head;
            let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
            stream.read_exact(&mut body).expect("a message comes whole");
            let answer: &[u8] = match tag {
                b'Q' => b"G\0\0\0\x07\x01\0\0",
                b'c' => b"C\0\0\0\x0bCOPY 3\0Z\0\0\0\x05I",
                b'f' => b"E\0\0\0\x0cC57014\0\0Z\0\0\0\x05I",
                _ => b"",
            };
            stream.write_all(answer).expect("the client reads");
            messages.push((tag, body));
        }
        messages
    }

    /// Appends each of these sets of rows on one connection; the outcomes, and what came.
    fn append_each(table: Table<'_>, sets: &[Vec<Vec<Value<'_>>>]) -> (Vec<Option<u64>>, Vec<TaggedBody>) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        ours.set_nonblocking(true).expect("a socket");
        let server = std::thread::spawn(|| serve(theirs));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let outcomes = runtime.block_on(async {
            let ours = tokio::net::UnixStream::from_std(ours).expect("a socket");
            let mut connection = Connection::on(Socket::unix(ours).expect("a socket"));
            let mut outcomes = Vec::new();
            for rows in sets {
                outcomes.push(append(&mut connection, &table, &mut Given(rows.iter())).await.ok());
            }
            outcomes
        });
        (outcomes, server.join().expect("a server that ends"))
    }

    #[test]
    fn a_row_of_every_kind_has_the_servers_form() {
        let kinds = [
            ColumnKind::Integer { bits: 16 },
            ColumnKind::Integer { bits: 32 },
            ColumnKind::Integer { bits: 64 },
            ColumnKind::Decimal { scale: 2 },
            ColumnKind::Text,
            ColumnKind::Time,
            ColumnKind::Integer { bits: 32 },
        ];
        let columns = kinds.map(|kind| Column { name: "c", kind });
        let row = vec![
            Value::Integer(-2),
            Value::Integer(-2),
            Value::Integer(-2),
            Value::Decimal(Decimal { units: 30_000_000, scale: 2 }),
            Value::Text("OE"),
            Value::Time(946_684_800_000_001),
            Value::Null,
        ];
        let (outcomes, came) = append_each(Table { name: "t", columns: &columns }, &[vec![row]]);
        let expected = [
            HEADER,
            b"\0\x07",
            b"\0\0\0\x02\xff\xfe",
            b"\0\0\0\x04\xff\xff\xff\xfe",
            b"\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xfe",
            b"\0\0\0\x0a\0\x01\0\x01\0\0\0\x02\0\x1e",
            b"\0\0\0\x02OE",
            b"\0\0\0\x08\0\0\0\0\0\0\0\x01",
            b"\xff\xff\xff\xff",
            b"\xff\xff",
        ]
        .concat();
        assert_eq!(outcomes, [Some(3)]);
        assert_eq!(came[1], (b'd', expected));
        assert_eq!(came[2..], [(b'c', Vec::new()), (b'X', Vec::new())]);
    }

    #[test]
    fn rows_of_several_messages_come_whole_and_in_their_order() {
        let rows: Vec<_> = (0..20_000).map(|number| vec![Value::Integer(number)]).collect();
        let written: Vec<u8> =
            (0..20_000_i32).flat_map(|number| [&b"\0\x01\0\0\0\x04"[..], &number.to_be_bytes()].concat()).collect();
        let expected = [HEADER, &written[..], &END[..]].concat();
        let no_rows = [HEADER, &END[..]].concat();
        let (outcomes, came) = append_each(INTEGERS, &[rows.clone(), Vec::new(), rows]);
        assert_eq!(outcomes, [Some(3), Some(3), Some(3)]);
        let copies: Vec<_> = came.split(|(tag, _)| *tag == b'Q').skip(1).collect();
        for (copy, expected) in copies.iter().zip([&expected, &no_rows, &expected]) {
            let parts: Vec<&[u8]> = copy.iter().filter(|(tag, _)| *tag == b'd').map(|(_, rows)| &rows[..]).collect();
            assert_eq!(&parts.concat(), expected);
            for part in &parts[..parts.len() - 1] {
                assert!((MESSAGE_BYTES..MESSAGE_BYTES + 10).contains(&part.len()), "{}", part.len());
            }
        }
        assert_eq!(copies.len(), 3);
        assert_eq!(copies[0].len(), 5, "200 kB are four messages, and one says that they end");
    }

    #[test]
    fn a_message_is_queued_where_it_was_written() {
        let mut queue = BytesMut::with_capacity(16);
        let mut message = RowsMessage::open(&mut queue);
        message.add(b"rows");
        let place = message.bytes.as_ptr();
        message.close(&mut queue);
        assert_eq!((queue.as_ptr(), &queue[..]), (place, &b"d\0\0\0\x08rows"[..]));
        queue.clear();
        let next = RowsMessage::open(&mut queue);
        assert_eq!(next.bytes.as_ptr(), place);
    }

    #[test]
    fn a_row_that_is_larger_than_the_room_comes_whole() {
        let table = Table { name: "t", columns: &[Column { name: "c", kind: ColumnKind::Text }] };
        let large = "x".repeat(MESSAGE_BYTES + 2 * SPARE_BYTES);
        let mut message = RowsMessage::open(&mut BytesMut::new());
        message.add_row(&table, &[Value::Text("small")]).expect("it fits");
        message.add_row(&table, &[Value::Text(&large)]).expect("it fits");
        message.add_row(&table, &[Value::Text("next")]).expect("it fits");
        let fields: [&[u8]; 5] = [
            b"\0\x01\0\0\0\x05small",
            b"\0\x01",
            &(large.len() as u32).to_be_bytes(),
            large.as_bytes(),
            b"\0\x01\0\0\0\x04next",
        ];
        assert!(message.bytes[HEAD.len()..message.end] == fields.concat());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let check = |row: &[Value<'_>], what: &str| {
            let mut message = RowsMessage::open(&mut BytesMut::new());
            let error = message.add_row(&INTEGERS, row).expect_err("it does not fit").to_string();
            assert_eq!(error, format!("failed to append to t: {what}"));
            assert_eq!(message.end, HEAD.len());
        };
        check(&[Value::Text("ten")], "Text(\"ten\") does not fit column i");
        check(&[Value::Integer(1 << 40)], "Integer(1099511627776) does not fit column i");
        check(&[], "the row has 0 values for 1 columns");
    }

    #[test]
    fn rows_up_to_one_that_does_not_fit_are_given_up() {
        let mut rows: Vec<_> = (0..10_000).map(|number| vec![Value::Integer(number)]).collect();
        rows.push(vec![Value::Text("ten")]);
        let (outcomes, came) = append_each(INTEGERS, &[rows, Vec::new()]);
        assert_eq!(outcomes, [None, Some(3)]);
        let tags: Vec<u8> = came.iter().map(|(tag, _)| *tag).collect();
        assert_eq!(tags, b"QdfQdcX");
    }
}
