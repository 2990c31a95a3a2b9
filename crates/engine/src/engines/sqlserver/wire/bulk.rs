//! Rows in bulk: the columns as the table has them, then each row, then the end: one message, which
//! leaves packet by packet. Source: [MS-TDS] 2.2.6.1.

use super::connection::ServerConnection;
use super::parameters::{day_bytes, decimal_bytes};
use super::reading::encode;
use super::types::{ColumnType, Content, Extent, is_utf8};
use super::values::DAY_US;
use crate::contract::{Error, ErrorClass, Table, Value};

/// Bytes of rows that are sent at once: large enough that the cost is lost in the rows', small enough to stay in cache.
const PIECE: usize = 64 << 10;

/// What ends the rows.
pub(super) const END: [u8; 13] = [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The columns of a table, as it has them.
#[derive(Debug)]
pub(in crate::engines::sqlserver) struct BulkTable {
    pub(super) columns: Vec<(ColumnType, u16)>,
}

impl BulkTable {
    /// Asks for the columns.
    pub(in crate::engines::sqlserver) async fn of(
        connection: &mut ServerConnection,
        table: &Table<'_>,
        names: &str,
    ) -> Result<Self, Error> {
        connection.text(&format!("SELECT TOP 0 {names} FROM {}", quoted(table.name))).await?;
        if connection.columns.len() != table.columns.len() {
            return Err(Error::other(format!("the server describes {} columns", connection.columns.len())));
        }
        let columns = connection.columns.iter().copied().zip(connection.flags.iter().copied()).collect();
        Ok(Self { columns })
    }

    /// The columns with their types, as the statement lists them that announces rows.
    pub(in crate::engines::sqlserver) fn declared(&self, table: &Table<'_>) -> Result<String, Error> {
        let mut all = Vec::new();
        for (column, (kind, _)) in table.columns.iter().zip(&self.columns) {
            let declared = kind.declared().ok_or_else(|| {
                Error::other(format!(
                    "column {} has a type 0x{:02X}, which rows cannot be sent for",
                    column.name, kind.id
                ))
            })?;
            all.push(format!("{} {declared}", quoted(column.name)));
        }
        Ok(all.join(", "))
    }

    /// Begins the message.
    pub(in crate::engines::sqlserver) fn begin(&self, table: &Table<'_>, connection: &mut ServerConnection) {
        connection.message.clear();
        self.describe(table, &mut connection.message);
    }

    /// Adds the description of the columns.
    pub(super) fn describe(&self, table: &Table<'_>, message: &mut Vec<u8>) {
        message.push(0x81);
        message.extend_from_slice(&(self.columns.len() as u16).to_le_bytes());
        for (column, (kind, flags)) in table.columns.iter().zip(&self.columns) {
            message.extend_from_slice(&[0; 4]);
            // Whether it may be null, and that it may be written.
            message.extend_from_slice(&(flags & 1 | 4).to_le_bytes());
            kind.write(message);
            message.push(column.name.encode_utf16().count() as u8);
            encode(column.name, message);
        }
    }

    /// Adds a row.
    #[inline]
    pub(in crate::engines::sqlserver) fn row(
        &self,
        table: &Table<'_>,
        row: &[Value<'_>],
        connection: &mut ServerConnection,
    ) -> Result<(), Error> {
        if row.len() != self.columns.len() {
            let text = format!("{} values for {} columns", row.len(), self.columns.len());
            return Err(Error::new(ErrorClass::Data, "", text));
        }
        self.put_row(table, row, &mut connection.message)
    }

    /// Adds a row of as many values as there are columns.
    #[inline]
    pub(super) fn put_row(&self, table: &Table<'_>, row: &[Value<'_>], message: &mut Vec<u8>) -> Result<(), Error> {
        let start = message.len();
        message.push(0xD1);
        for (place, (value, (kind, _))) in row.iter().zip(&self.columns).enumerate() {
            if put(kind, *value, message).is_none() {
                // What is left of the message is whole rows.
                message.truncate(start);
                let name = table.columns.get(place).map_or("", |column| column.name);
                return Err(Error::new(ErrorClass::Data, "", format!("{value:?} does not fit column {name}")));
            }
        }
        Ok(())
    }

    /// Sends what is full of the message when there is much of it.
    #[inline]
    pub(in crate::engines::sqlserver) async fn send_full(
        &self,
        connection: &mut ServerConnection,
    ) -> Result<(), Error> {
        if connection.message.len() < PIECE { Ok(()) } else { connection.send_rows(false).await }
    }

    /// Ends the message and sends it; the number of rows that the server took.
    pub(in crate::engines::sqlserver) async fn end(&self, connection: &mut ServerConnection) -> Result<u64, Error> {
        connection.message.extend_from_slice(&END);
        connection.send_rows(true).await?;
        connection.finish().await
    }
}

/// A name in brackets.
pub(in crate::engines::sqlserver) fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// Adds a value in the form of its column; `None` where it does not fit.
#[inline]
fn put(kind: &ColumnType, value: Value<'_>, out: &mut Vec<u8>) -> Option<()> {
    match (value, kind.extent) {
        (Value::Null, Extent::Short) => out.push(0),
        (Value::Null, Extent::Long) => out.extend_from_slice(&[0xFF; 2]),
        (Value::Null, Extent::Parts) => out.extend_from_slice(&[0xFF; 8]),
        (Value::Null, Extent::Fixed(_)) => return None,
        _ => match (kind.content, value) {
            (Content::Integer | Content::Bit, _) => {
                let number = value.integer()?;
                let fits = match (kind.content, kind.size) {
                    (Content::Bit, _) => (0..=1).contains(&number),
                    (_, 1) => u8::try_from(number).is_ok(),
                    (_, 2) => i16::try_from(number).is_ok(),
                    (_, 4) => i32::try_from(number).is_ok(),
                    _ => true,
                };
                sized(kind, number.to_le_bytes().get(..kind.size as usize).filter(|_| fits)?, out);
            }
            (Content::Decimal, Value::Decimal(_) | Value::Integer(_)) => put_decimal(kind, value, out)?,
            (Content::Date, Value::Time(time)) => {
                sized(kind, &day_bytes(time).filter(|_| time.rem_euclid(DAY_US) == 0)?, out)
            }
            (Content::Moment, Value::Time(time)) => put_moment(kind, time, out)?,
            (Content::Bytes | Content::Wide, value) => put_text(kind, value.text()?, out)?,
            _ => return None,
        },
    }
    Some(())
}

/// Bytes behind their length, where the column has one.
#[inline]
fn sized(kind: &ColumnType, bytes: &[u8], out: &mut Vec<u8>) {
    if kind.extent == Extent::Short {
        out.push(bytes.len() as u8);
    }
    out.extend_from_slice(bytes);
}

/// A decimal in as many bytes as the column has digits for.
fn put_decimal(kind: &ColumnType, value: Value<'_>, out: &mut Vec<u8>) -> Option<()> {
    let units = match value {
        Value::Integer(number) => number.checked_mul(10i64.checked_pow(kind.scale.into())?)?,
        value => value.units(kind.scale)?,
    };
    let fits = kind.precision > 18 || units.unsigned_abs() < 10u64.pow(kind.precision.into());
    let bytes = decimal_bytes(units);
    let size = kind.size as usize;
    out.push(size as u8);
    out.extend_from_slice(bytes.get(..size.min(bytes.len())).filter(|_| fits)?);
    out.extend(std::iter::repeat_n(0, size.saturating_sub(bytes.len())));
    Some(())
}

/// A date and time with the column's digits of seconds; no digit may be lost.
fn put_moment(kind: &ColumnType, time: i64, out: &mut Vec<u8>) -> Option<()> {
    let micros = time.rem_euclid(DAY_US);
    let parts = match kind.scale {
        scale @ 0..=6 => {
            let factor = 10i64.pow(6 - u32::from(scale));
            (micros % factor == 0).then_some(micros / factor)?
        }
        _ => micros * 10,
    };
    let width = match kind.scale {
        0..=2 => 3,
        3 | 4 => 4,
        _ => 5,
    };
    out.push(width as u8 + 3);
    out.extend_from_slice(&parts.to_le_bytes()[..width]);
    out.extend_from_slice(&day_bytes(time)?);
    Some(())
}

/// A text in the encoding of its column.
fn put_text(kind: &ColumnType, text: &str, out: &mut Vec<u8>) -> Option<()> {
    let wide = kind.content == Content::Wide;
    if !wide && !is_utf8(kind.collation) && !text.is_ascii() {
        return None;
    }
    let length = if wide { 2 * text.encode_utf16().count() } else { text.len() };
    match kind.extent {
        Extent::Parts => {
            out.extend_from_slice(&(length as u64).to_le_bytes());
            if length > 0 {
                out.extend_from_slice(&(length as u32).to_le_bytes());
            }
        }
        _ if length > kind.size as usize => return None,
        _ => out.extend_from_slice(&(length as u16).to_le_bytes()),
    }
    match wide {
        true => encode(text, out),
        false => out.extend_from_slice(text.as_bytes()),
    }
    if kind.extent == Extent::Parts {
        out.extend_from_slice(&[0; 4]);
    }
    Some(())
}
