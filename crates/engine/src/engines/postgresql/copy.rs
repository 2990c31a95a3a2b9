//! Bulk loading by binary COPY, encoded straight into the buffer that is sent.
//! Source of the format: PostgreSQL manual, COPY, "Binary Format".

use super::database::identifier;
use super::failure::failed;
use super::numeric::Digits;
use super::values::{days, decimal, text, timestamp};
use crate::contract::{Column, ColumnKind, Error, ErrorClass, RowSource, Table, Value};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt as _;
use std::pin::pin;
use tokio_postgres::{Client, CopyInSink};

/// Signature, flags and the length of an empty extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// A message is sent when it has so many bytes: large enough that its cost is lost in the rows', small enough to stay in cache.
const MESSAGE_BYTES: usize = 64 << 10;

/// Appends all rows; returns how many the server took.
pub(super) async fn append(client: &Client, table: &Table<'_>, rows: &mut dyn RowSource) -> Result<u64, Error> {
    let context = |error| failed(error).context(format!("append to {}", table.name));
    let sink: CopyInSink<Bytes> = client.copy_in(&copy_sql(table)).await.map_err(context)?;
    let mut sink = pin!(sink);
    let mut buffer = BytesMut::with_capacity(2 * MESSAGE_BYTES);
    buffer.put_slice(HEADER);
    let mut misfit = None;
    while rows.next(&mut |row| misfit = write_row(table, row, &mut buffer).err()) {
        if let Some(error) = misfit {
            // The sink is dropped unfinished: the server discards the rows.
            return Err(error);
        }
        if buffer.len() >= MESSAGE_BYTES {
            sink.feed(buffer.split().freeze()).await.map_err(context)?;
            buffer.reserve(2 * MESSAGE_BYTES);
        }
    }
    buffer.put_i16(-1);
    sink.feed(buffer.freeze()).await.map_err(context)?;
    sink.finish().await.map_err(context)
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
