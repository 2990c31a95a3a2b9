//! Values of the contract to and from PostgreSQL's binary forms. Exact: floating-point columns are refused with advice.

use super::numeric::{self, Digits};
use crate::contract::{Decimal, Error, ErrorClass, OwnedValue, Value};
use bytes::{BufMut, BytesMut};
use std::fmt;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// Microseconds from the Unix epoch to PostgreSQL's, 2000-01-01.
const EPOCH_SHIFT_US: i64 = 946_684_800_000_000;
/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

/// A value that does not fit its parameter.
#[derive(Debug)]
pub(super) struct Misfit(String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misfit {}

/// A parameter of a call.
#[derive(Debug)]
pub(super) struct Parameter<'a>(pub(super) Value<'a>);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        if self.0 == Value::Null {
            return Ok(IsNull::Yes);
        }
        write(self.0, kind, out).ok_or_else(|| Misfit(format!("{:?} does not fit a parameter of type {kind}", self.0)))?;
        Ok(IsNull::No)
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Writes the binary form; none when the value does not fit the type.
fn write(value: Value<'_>, kind: &Type, out: &mut BytesMut) -> Option<()> {
    match *kind {
        Type::INT2 => out.put_i16(value.integer()?.try_into().ok()?),
        Type::INT4 => out.put_i32(value.integer()?.try_into().ok()?),
        Type::INT8 => out.put_i64(value.integer()?),
        Type::NUMERIC => Digits::of(decimal(value)?).write(out),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => out.put_slice(text(value)?.as_bytes()),
        Type::TIMESTAMPTZ | Type::TIMESTAMP => out.put_i64(timestamp(value)?),
        Type::INT4_ARRAY => integers(value, out)?,
        Type::BOOL => out.put_u8(value.integer()?.try_into().ok().filter(|bit| *bit <= 1)?),
        _ => return None,
    }
    Some(())
}

/// Writes an array of one dimension. Source: `array_recv`, PostgreSQL src/backend/utils/adt/arrayfuncs.c: dimensions, a flag for
/// nulls, the elements' type, then length and first index of each dimension, then each element with its length.
fn integers(value: Value<'_>, out: &mut BytesMut) -> Option<()> {
    let Value::Integers(list) = value else { return None };
    out.put_i32((!list.is_empty()).into());
    out.put_i32(0);
    out.put_u32(Type::INT4.oid());
    if !list.is_empty() {
        out.put_i32(list.len().try_into().ok()?);
        out.put_i32(1);
    }
    for element in list {
        out.put_i32(4);
        out.put_i32(*element);
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

/// The text.
pub(super) fn text(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
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

/// Days since PostgreSQL's epoch; none for a time that is not midnight.
pub(super) fn days(value: Value<'_>) -> Option<i32> {
    let time = timestamp(value)?;
    (time % DAY_US == 0).then_some(time / DAY_US)?.try_into().ok()
}

/// The bytes of a field as they came; none for null.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a>(pub(super) Option<&'a [u8]>);

impl<'a> FromSql<'a> for Field<'a> {
    fn from_sql(_kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }
}

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
                let advice = "cast it to an integer, numeric, text or timestamp type, values here are exact";
                return Err(Error::other(format!("column {column} is of type {kind}: {advice}")));
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

    /// Reads a field into an owned value.
    pub(super) fn read_owned(self, field: Field<'_>) -> Result<OwnedValue, Error> {
        self.read(field).map(OwnedValue::from)
    }
}
