//! Values of the contract to and from SQLite's. No floats: a REAL column is refused, so that money stays exact.

use super::failure::failed;
use crate::contract::{Column, ColumnKind, Error, ErrorClass, OwnedValue, Value};
use rusqlite::Statement;
use rusqlite::types::{Null, ToSqlOutput, ValueRef};

/// Binds one value; a decimal goes as its units.
pub(super) fn bind(statement: &mut Statement<'_>, position: usize, value: Value<'_>) -> Result<(), Error> {
    match value {
        Value::Null => statement.raw_bind_parameter(position, Null),
        Value::Integer(value) | Value::Time(value) => statement.raw_bind_parameter(position, value),
        Value::Decimal(value) => statement.raw_bind_parameter(position, value.units),
        Value::Text(value) => statement.raw_bind_parameter(position, value),
        Value::Ascii(value) => statement.raw_bind_parameter(position, ToSqlOutput::Borrowed(ValueRef::Text(value.0))),
        Value::Integers(_) => return Err(Error::new(ErrorClass::Data, "", "SQLite parameters cannot be lists")),
    }
    .map_err(failed)
}

/// The value to bind for a column of a bulk load: decimals in units of the column's scale.
pub(super) fn of_column<'a>(column: &Column, value: Value<'a>) -> Result<Value<'a>, Error> {
    match (column.kind, value) {
        (ColumnKind::Decimal { scale }, Value::Decimal(decimal)) => {
            decimal.rescale(scale).map(|same| Value::Integer(same.units)).ok_or_else(|| {
                let text = format!("column {}: {decimal:?} has more than {scale} decimal places", column.name);
                Error::new(ErrorClass::Data, "", text)
            })
        }
        _ => Ok(value),
    }
}

/// A value of a row.
pub(super) fn read(value: ValueRef<'_>) -> Result<Value<'_>, Error> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(value) => Ok(Value::Integer(value)),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes)
            .map(Value::Text)
            .map_err(|_| Error::new(ErrorClass::Data, "", "a text column contains bytes that are not UTF-8")),
        ValueRef::Real(value) => Err(Error::new(
            ErrorClass::Data,
            "",
            format!("a column has the REAL {value}, but values must be exact; store an integer"),
        )),
        ValueRef::Blob(_) => Err(Error::new(ErrorClass::Data, "", "a column has a BLOB, which is not supported")),
    }
}

/// An owned value of a row.
pub(super) fn read_owned(value: ValueRef<'_>) -> Result<OwnedValue, Error> {
    read(value).map(OwnedValue::from)
}
