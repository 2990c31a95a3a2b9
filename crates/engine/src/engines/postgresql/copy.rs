//! Bulk loading by binary COPY, encoded straight into the buffer that is sent.
//! Source of the format: PostgreSQL manual, COPY, "Binary Format".

use super::database::identifier;
use super::numeric::Digits;
use super::values::{days, decimal, text, timestamp};
use super::wire::{Connection, Tag, affected};
use crate::contract::{Column, ColumnKind, Error, ErrorClass, RowSource, Table, Value};
use bytes::{BufMut as _, Bytes, BytesMut};
use postgres_protocol::message::frontend;

/// Signature, flags and the length of an empty extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What comes before a message's rows: its tag, and its length, which is written when it is known.
const HEAD: &[u8; 5] = b"d\0\0\0\0";
/// A message is sent when its rows have so many bytes: large enough that its cost is lost in the rows', small enough to stay in cache.
const MESSAGE_BYTES: usize = 64 << 10;
/// Room for the row that ends a message.
const SPARE_BYTES: usize = 8 << 10;
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
    let mut message = open_message(connection.queue());
    message.extend_from_slice(HEADER);
    let mut misfit = None;
    while rows.next(&mut |row| misfit = write_row(table, row, &mut message).err()) {
        if misfit.is_some() {
            break;
        }
        if message.len() >= HEAD.len() + MESSAGE_BYTES {
            queue_message(connection.queue(), &mut message);
            connection.flush().await.map_err(context)?;
            if let Some(error) = connection.refusal().map_err(context)? {
                misfit = Some(context(error));
                break;
            }
            message = open_message(connection.queue());
        }
    }
    if misfit.is_none() {
        message.extend_from_slice(&END);
        queue_message(connection.queue(), &mut message);
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

/// Begins a message in the memory of the queue, from which all is sent. It is a vector meanwhile: to add to one costs less.
fn open_message(queue: &mut BytesMut) -> Vec<u8> {
    debug_assert!(queue.is_empty(), "what is queued comes before the rows");
    let mut message: Vec<u8> = std::mem::take(queue).into();
    message.reserve(MESSAGE_BYTES + SPARE_BYTES);
    message.extend_from_slice(HEAD);
    message
}

/// Makes the message the queue, without copying it.
fn queue_message(queue: &mut BytesMut, message: &mut Vec<u8>) {
    let length = u32::try_from(message.len() - 1).expect("a message ends soon after 64 KiB");
    message[1..HEAD.len()].copy_from_slice(&length.to_be_bytes());
    *queue = BytesMut::from(Bytes::from(std::mem::take(message)));
}

fn copy_sql(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| identifier(column.name)).collect();
    format!("COPY {} ({}) FROM STDIN (FORMAT binary)", identifier(table.name), names.join(", "))
}

/// One row: the number of fields, then each with its length.
fn write_row(table: &Table, row: &[Value<'_>], out: &mut Vec<u8>) -> Result<(), Error> {
    if row.len() != table.columns.len() {
        let text = format!(
            "failed to append to {}: the row has {} values for {} columns",
            table.name,
            row.len(),
            table.columns.len()
        );
        return Err(Error::new(ErrorClass::Data, "", text));
    }
    let whole = out.len();
    out.extend_from_slice(&(row.len() as i16).to_be_bytes());
    for (column, value) in table.columns.iter().zip(row) {
        if *value == Value::Null {
            out.extend_from_slice(&NULL);
        } else if write_field(column, *value, out).is_none() {
            out.truncate(whole);
            let text = format!("failed to append to {}: {value:?} does not fit column {}", table.name, column.name);
            return Err(Error::new(ErrorClass::Data, "", text));
        }
    }
    Ok(())
}

/// Writes one field that is not null; `None` when the value does not fit the column.
#[inline]
fn write_field(column: &Column, value: Value<'_>, out: &mut Vec<u8>) -> Option<()> {
    match column.kind {
        ColumnKind::Integer { bits: 16 } => put(out, i16::try_from(value.integer()?).ok()?.to_be_bytes()),
        ColumnKind::Integer { bits: 32 } => {
            let number = i32::try_from(value.integer()?).ok()?.cast_unsigned();
            // Most fields are of this kind: length and number are written as one.
            out.extend_from_slice(&(4 << 32 | u64::from(number)).to_be_bytes());
        }
        ColumnKind::Integer { .. } => put(out, value.integer()?.to_be_bytes()),
        ColumnKind::Decimal { scale } => {
            let digits = Digits::of(decimal(value)?.rescale(scale)?);
            out.put_i32(digits.length() as i32);
            digits.write(out);
        }
        ColumnKind::Text => {
            let text = text(value)?;
            out.extend_from_slice(&i32::try_from(text.len()).ok()?.to_be_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        ColumnKind::Json => {
            // The binary form of jsonb: its version, 1, then the text. Source: PostgreSQL manual, jsonb_recv.
            let text = text(value)?;
            out.put_i32((text.len() + 1).try_into().ok()?);
            out.put_u8(1);
            out.put_slice(text.as_bytes());
        }
        ColumnKind::Time => put(out, timestamp(value)?.to_be_bytes()),
        ColumnKind::Date => put(out, days(value)?.to_be_bytes()),
    }
    Some(())
}

/// A field of fixed length.
#[inline]
fn put<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.extend_from_slice(&(N as i32).to_be_bytes());
    out.extend_from_slice(&bytes);
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
        let mut message = open_message(&mut queue);
        message.extend_from_slice(b"rows");
        let place = message.as_ptr();
        queue_message(&mut queue, &mut message);
        assert_eq!((queue.as_ptr(), &queue[..]), (place, &b"d\0\0\0\x08rows"[..]));
        queue.clear();
        let next = open_message(&mut queue);
        assert_eq!(next.as_ptr(), place);
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
