//! Bulk loading by binary COPY, encoded straight into the buffer that is sent.
//! Source of the format: PostgreSQL manual, COPY, "Binary Format".

use super::database::identifier;
use super::numeric::Digits;
use super::values::{days, decimal, text, timestamp};
use super::wire::{Connection, Tag, affected};
use crate::contract::{Column, ColumnKind, Error, ErrorClass, RowSource, Table, Value};
use bytes::{BufMut as _, BytesMut};
use postgres_protocol::message::frontend;

/// Signature, flags and the length of an empty extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// A message is sent when it has so many bytes: large enough that its cost is lost in the rows', small enough to stay in cache.
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
    let mut rows_to_send = Vec::with_capacity(MESSAGE_BYTES + SPARE_BYTES);
    rows_to_send.extend_from_slice(HEADER);
    let mut misfit = None;
    while rows.next(&mut |row| misfit = write_row(table, row, &mut rows_to_send).err()) {
        if misfit.is_some() {
            break;
        }
        if rows_to_send.len() >= MESSAGE_BYTES {
            queue_message(connection.queue(), &mut rows_to_send);
            connection.flush().await.map_err(context)?;
            if let Some(error) = connection.refusal().map_err(context)? {
                misfit = Some(context(error));
                break;
            }
        }
    }
    if misfit.is_none() {
        rows_to_send.extend_from_slice(&END);
        queue_message(connection.queue(), &mut rows_to_send);
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

/// Queues the rows as one message, and empties them.
fn queue_message(out: &mut BytesMut, rows: &mut Vec<u8>) {
    let length = u32::try_from(rows.len() + 4).expect("a message ends soon after 64 KiB");
    out.put_u8(b'd');
    out.put_u32(length);
    out.put_slice(rows);
    rows.clear();
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
        ColumnKind::Integer { bits: 32 } => put(out, i32::try_from(value.integer()?).ok()?.to_be_bytes()),
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
