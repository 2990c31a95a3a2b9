//! Values of the contract to and from PostgreSQL's binary forms. Exact: floating-point columns are refused with advice.

use super::numeric::{self, Digits};
use crate::contract::{Decimal, Error, ErrorClass, Value};
use bytes::{BufMut, BytesMut};
use tokio_postgres::types::Type;

/// Microseconds from the Unix epoch to PostgreSQL's, 2000-01-01.
const EPOCH_SHIFT_US: i64 = 946_684_800_000_000;
/// Number of the type `int4`. Source: PostgreSQL src/include/catalog/pg_type.dat.
const INT4_NUMBER: u32 = 23;
/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

/// How a parameter is written, decided once when its statement is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    Bool,
    Int2,
    Int4,
    Int8,
    Numeric,
    Text,
    Timestamp,
    Integers,
}

impl Writer {
    /// The writer of a type; the error says what to write instead.
    pub(super) fn of(kind: &Type) -> Result<Self, Error> {
        Ok(match *kind {
            Type::BOOL => Self::Bool,
            Type::INT2 => Self::Int2,
            Type::INT4 => Self::Int4,
            Type::INT8 => Self::Int8,
            Type::NUMERIC => Self::Numeric,
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => Self::Text,
            Type::TIMESTAMPTZ | Type::TIMESTAMP => Self::Timestamp,
            Type::INT4_ARRAY => Self::Integers,
            _ => {
                let advice = "cast it to boolean, an integer, numeric, text, timestamp or integer[]";
                return Err(Error::other(format!("a parameter has the unsupported type {kind}: {advice}")));
            }
        })
    }

    /// The type's name, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int2 => "int2",
            Self::Int4 => "int4",
            Self::Int8 => "int8",
            Self::Numeric => "numeric",
            Self::Text => "text",
            Self::Timestamp => "timestamp",
            Self::Integers => "int4[]",
        }
    }

    /// Writes a value that is not null, its length first; `None` when it does not fit, with arbitrary bytes after what
    /// was there before.
    #[inline]
    pub(super) fn write(self, value: Value<'_>, out: &mut BytesMut) -> Option<()> {
        match self {
            Self::Bool => sized(out, &[u8::try_from(value.integer()?).ok().filter(|bit| *bit <= 1)?]),
            Self::Int2 => sized(out, &i16::try_from(value.integer()?).ok()?.to_be_bytes()),
            Self::Int4 => out.put_u64(sized_int4(i32::try_from(value.integer()?).ok()?)),
            Self::Int8 => sized(out, &value.integer()?.to_be_bytes()),
            Self::Numeric => {
                let digits = Digits::of(decimal(value)?);
                out.put_u32(digits.length() as u32);
                digits.write(out);
            }
            Self::Text => {
                let text = value.text_bytes()?;
                out.put_i32(text.len().try_into().ok()?);
                out.put_slice(text);
            }
            Self::Timestamp => sized(out, &timestamp(value)?.to_be_bytes()),
            Self::Integers => integers(value, out)?,
        }
        Some(())
    }
}

/// Bytes of a fixed length, their length first.
#[inline]
fn sized<const N: usize>(out: &mut BytesMut, bytes: &[u8; N]) {
    out.put_u32(N as u32);
    out.put_slice(bytes);
}

/// A number of 32 bits behind its length, as one: to add to the queue is a call each time, and most parameters are of this kind.
#[inline]
fn sized_int4(number: i32) -> u64 {
    4 << 32 | u64::from(number.cast_unsigned())
}

/// Writes an array of one dimension. Source: `array_recv`, PostgreSQL src/backend/utils/adt/arrayfuncs.c: dimensions, a flag for
/// nulls, the elements' type, then length and first index of each dimension, then each element with its length.
fn integers(value: Value<'_>, out: &mut BytesMut) -> Option<()> {
    let Value::Integers(list) = value else { return None };
    let head = if list.is_empty() { 12 } else { 20 };
    out.put_i32(i32::try_from(list.len()).ok()?.checked_mul(8)?.checked_add(head)?);
    out.put_i32((!list.is_empty()).into());
    out.put_i32(0);
    out.put_u32(INT4_NUMBER);
    if !list.is_empty() {
        out.put_i32(list.len().try_into().ok()?);
        out.put_i32(1);
    }
    for element in list {
        out.put_u64(sized_int4(*element));
    }
    Some(())
}

/// The number as an exact decimal.
pub(super) fn decimal(value: Value<'_>) -> Option<Decimal> {
    match value {
        Value::Integer(units) => Some(Decimal { units, scale: 0 }),
        Value::Decimal(decimal) if decimal.scale <= 18 => Some(decimal),
        _ => None,
    }
}

/// Microseconds since PostgreSQL's epoch.
pub(super) fn timestamp(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Time(time) | Value::Integer(time) => time.checked_sub(EPOCH_SHIFT_US),
        _ => None,
    }
}

/// Days since PostgreSQL's epoch; `None` for a time that is not midnight.
pub(super) fn days(value: Value<'_>) -> Option<i32> {
    let time = timestamp(value)?;
    (time % DAY_US == 0).then_some(time / DAY_US)?.try_into().ok()
}

/// The bytes of a field as they came; `None` for null.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a>(pub(super) Option<&'a [u8]>);

/// How a column is read, decided once when its statement is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Bool,
    Int2,
    Int4,
    Int8,
    Oid,
    Numeric,
    Text,
    Timestamp,
    Date,
    Void,
}

impl Reader {
    /// The reader of a type; the error says what to write instead.
    pub(super) fn of(column: &str, kind: &Type) -> Result<Self, Error> {
        Ok(match *kind {
            Type::BOOL => Self::Bool,
            Type::INT2 => Self::Int2,
            Type::INT4 => Self::Int4,
            Type::INT8 => Self::Int8,
            Type::OID => Self::Oid,
            Type::NUMERIC => Self::Numeric,
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN | Type::CHAR => Self::Text,
            Type::TIMESTAMPTZ | Type::TIMESTAMP => Self::Timestamp,
            Type::DATE => Self::Date,
            Type::VOID => Self::Void,
            _ => {
                let advice =
                    "cast it to an integer, numeric, text or timestamp type, because values are compared exactly";
                return Err(Error::other(format!("column {column} has the unsupported type {kind}: {advice}")));
            }
        })
    }

    /// Reads a field.
    pub(super) fn read<'a>(self, field: Field<'a>) -> Result<Value<'a>, Error> {
        let Some(bytes) = field.0 else { return Ok(Value::Null) };
        self.value(bytes).ok_or_else(|| {
            let text = format!("a {self:?} value of {} bytes does not fit 64 bits; round it in the query", bytes.len());
            Error::new(ErrorClass::Data, "", text)
        })
    }

    fn value(self, bytes: &[u8]) -> Option<Value<'_>> {
        Some(match self {
            Self::Bool => Value::Integer(i64::from(*bytes.first()?)),
            Self::Int2 => Value::Integer(i64::from(i16::from_be_bytes(bytes.try_into().ok()?))),
            Self::Int4 => Value::Integer(i64::from(i32::from_be_bytes(bytes.try_into().ok()?))),
            Self::Int8 => Value::Integer(i64::from_be_bytes(bytes.try_into().ok()?)),
            Self::Oid => Value::Integer(i64::from(u32::from_be_bytes(bytes.try_into().ok()?))),
            Self::Numeric => Value::Decimal(numeric::read(bytes)?),
            Self::Text => Value::Text(std::str::from_utf8(bytes).ok()?),
            Self::Timestamp => Value::Time(i64::from_be_bytes(bytes.try_into().ok()?).checked_add(EPOCH_SHIFT_US)?),
            Self::Date => {
                let days = i64::from(i32::from_be_bytes(bytes.try_into().ok()?));
                Value::Time(days.checked_mul(DAY_US)?.checked_add(EPOCH_SHIFT_US)?)
            }
            Self::Void => Value::Null,
        })
    }
}
