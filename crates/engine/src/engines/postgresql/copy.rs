//! Bulk loading by binary COPY, encoded straight into the buffer that is sent.
//! Source of the format: PostgreSQL manual, COPY, "Binary Format".

use super::database::identifier;
use super::numeric::Digits;
use super::values::{days, decimal, text, timestamp};
use super::wire::{Connection, Tag, affected};
use crate::contract::{Column, ColumnKind, Error, ErrorClass, RowSource, Table, Value};
use bytes::{BufMut, BytesMut};
use postgres_protocol::message::frontend;

/// Signature, flags and the length of an empty extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// A message is sent when it has so many bytes: large enough that its cost is lost in the rows', small enough to stay in cache.
const MESSAGE_BYTES: usize = 64 << 10;

/// Appends all rows; returns how many the server took.
pub(super) async fn append(
    connection: &mut Connection,
    table: &Table<'_>,
    rows: &mut dyn RowSource,
) -> Result<u64, Error> {
    let context = |error: Error| error.context(format!("append to {}", table.name));
    begin(connection, &copy_sql(table)).await.map_err(context)?;
    let mut place = open_message(connection.queue());
    connection.queue().put_slice(HEADER);
    let mut misfit = None;
    while rows.next(&mut |row| misfit = write_row(table, row, connection.queue()).err()) {
        if misfit.is_some() {
            break;
        }
        if connection.queue().len() - place >= MESSAGE_BYTES {
            close_message(connection.queue(), place);
            connection.flush().await.map_err(context)?;
            if let Some(error) = connection.refusal().map_err(context)? {
                misfit = Some(context(error));
                break;
            }
            place = open_message(connection.queue());
        }
    }
    if misfit.is_none() {
        connection.queue().put_i16(-1);
        close_message(connection.queue(), place);
    } else {
        connection.queue().truncate(place);
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
        _ => Err(Error::other("the server does not take rows for COPY")),
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

/// Begins a message of rows; returns where.
fn open_message(out: &mut BytesMut) -> usize {
    let place = out.len();
    out.put_slice(b"d\0\0\0\0");
    place
}

/// Ends the message of rows that began there.
fn close_message(out: &mut BytesMut, place: usize) {
    let length = u32::try_from(out.len() - place - 1).expect("a message ends soon after 64 KiB");
    out[place + 1..place + 5].copy_from_slice(&length.to_be_bytes());
}

fn copy_sql(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| identifier(column.name)).collect();
    format!("COPY {} ({}) FROM STDIN (FORMAT binary)", identifier(table.name), names.join(", "))
}

/// One row: the number of fields, then each with its length.
fn write_row(table: &Table, row: &[Value<'_>], out: &mut BytesMut) -> Result<(), Error> {
    out.put_i16(table.columns.len() as i16);
    if row.len() != table.columns.len() {
        let text = format!("append to {}: {} values for {} columns", table.name, row.len(), table.columns.len());
        return Err(Error::new(ErrorClass::Data, "", text));
    }
    for (column, value) in table.columns.iter().zip(row) {
        if *value == Value::Null {
            out.put_i32(-1);
        } else {
            write_field(column, *value, out).ok_or_else(|| {
                let text = format!("append to {}: {value:?} does not fit column {}", table.name, column.name);
                Error::new(ErrorClass::Data, "", text)
            })?;
        }
    }
    Ok(())
}

/// One field that is not null; none when the value does not fit the column.
fn write_field(column: &Column, value: Value<'_>, out: &mut BytesMut) -> Option<()> {
    match column.kind {
        ColumnKind::Integer { bits: 16 } => {
            out.put_i32(2);
            out.put_i16(value.integer()?.try_into().ok()?);
        }
        ColumnKind::Integer { bits: 32 } => {
            out.put_i32(4);
            out.put_i32(value.integer()?.try_into().ok()?);
        }
        ColumnKind::Integer { .. } => {
            out.put_i32(8);
            out.put_i64(value.integer()?);
        }
        ColumnKind::Decimal { scale } => {
            let digits = Digits::of(decimal(value)?.rescale(scale)?);
            out.put_i32(digits.length() as i32);
            digits.write(out);
        }
        ColumnKind::Text => {
            let text = text(value)?;
            out.put_i32(text.len().try_into().ok()?);
            out.put_slice(text.as_bytes());
        }
        ColumnKind::Json => {
            // The binary form of jsonb: its version, 1, then the text. Source: PostgreSQL manual, jsonb_recv.
            let text = text(value)?;
            out.put_i32((text.len() + 1).try_into().ok()?);
            out.put_u8(1);
            out.put_slice(text.as_bytes());
        }
        ColumnKind::Time => {
            out.put_i32(8);
            out.put_i64(timestamp(value)?);
        }
        ColumnKind::Date => {
            out.put_i32(4);
            out.put_i32(days(value)?);
        }
    }
    Some(())
}
