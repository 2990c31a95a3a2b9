//! Values of the contract to and from DuckDB's. Everything but floating point crosses exactly, or not at all.

use super::floating;
use super::library::{BindValue, VectorCell, VectorKind};
use crate::contract::{Column, Decimal, Error, ErrorClass, OwnedValue, Value};

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;
/// Microseconds of a day.
const DAY_US: i64 = 86_400 * SECOND_US;

/// The value to bind to a parameter.
#[inline]
pub(super) fn bound(value: Value<'_>) -> Result<BindValue<'_>, Error> {
    Ok(match value {
        Value::Null => BindValue::Null,
        Value::Integer(value) => BindValue::Integer(value),
        Value::Decimal(value) => BindValue::Decimal(value.units, value.scale),
        Value::Text(value) => BindValue::Text(value),
        Value::Ascii(value) => {
            let broken = || Error::new(ErrorClass::Data, "", format!("{value:?} is no text"));
            BindValue::Text(value.checked().ok_or_else(broken)?)
        }
        Value::Time(value) => BindValue::Time(value),
        Value::Integers(_) => {
            return Err(Error::new(ErrorClass::Data, "", "DuckDB parameters cannot be lists of integers"));
        }
    })
}

/// The cell to write into a column of a bulk load; the error names the column.
#[inline]
pub(super) fn cell<'a>(column: &Column<'_>, kind: VectorKind, value: Value<'a>) -> Result<VectorCell<'a>, Error> {
    fitting(kind, value).ok_or_else(|| misfit(column, kind, value))
}

/// A value that a column cannot hold.
#[cold]
pub(super) fn misfit(column: &Column<'_>, kind: VectorKind, value: Value<'_>) -> Error {
    Error::new(ErrorClass::Data, "", format!("column {} of kind {kind:?} cannot hold {value:?} exactly", column.name))
}

#[inline]
fn fitting(kind: VectorKind, value: Value<'_>) -> Option<VectorCell<'_>> {
    Some(match (kind, value) {
        (_, Value::Null) => VectorCell::Null,
        (VectorKind::Decimal { scale, .. }, Value::Decimal(given)) => units(given, scale)?,
        (VectorKind::Decimal { scale, .. }, Value::Integer(units_of_one)) => {
            units(Decimal { units: units_of_one, scale: 0 }, scale)?
        }
        (VectorKind::Integer(_), Value::Decimal(given)) => units(given, 0)?,
        (VectorKind::Integer(_) | VectorKind::Boolean, Value::Integer(value)) => VectorCell::Integer(i128::from(value)),
        (VectorKind::Integer(_), Value::Time(micros)) => VectorCell::Integer(i128::from(micros)),
        (VectorKind::Double, Value::Decimal(given)) => {
            VectorCell::Double(given.units as f64 / 10f64.powi(i32::from(given.scale)))
        }
        (VectorKind::Double, Value::Integer(value)) => VectorCell::Double(value as f64),
        (VectorKind::Text, value) => VectorCell::Text(value.text()?),
        (VectorKind::Date, Value::Time(micros)) => VectorCell::Count(whole(micros, DAY_US)?),
        (VectorKind::Timestamp(per_second), Value::Time(micros)) => VectorCell::Count(ticks(micros, per_second)?),
        _ => return None,
    })
}

/// The units of a decimal with another scale, which may be up to 38.
#[inline]
fn units(given: Decimal, scale: u8) -> Option<VectorCell<'static>> {
    if given.scale == scale {
        return Some(VectorCell::Integer(i128::from(given.units)));
    }
    if given.scale > scale {
        return given.rescale(scale).map(|same| VectorCell::Integer(i128::from(same.units)));
    }
    let factor = 10i128.checked_pow(u32::from(scale - given.scale))?;
    i128::from(given.units).checked_mul(factor).map(VectorCell::Integer)
}

/// How often `part` goes into a count, if it does without rest.
#[inline]
fn whole(count: i64, part: i64) -> Option<i64> {
    (count % part == 0).then_some(count / part)
}

/// Ticks of so many per second.
#[inline]
fn ticks(micros: i64, per_second: u32) -> Option<i64> {
    let per_second = i64::from(per_second);
    if per_second >= SECOND_US {
        return micros.checked_mul(per_second / SECOND_US);
    }
    whole(micros, SECOND_US / per_second)
}

/// Microseconds of so many ticks.
#[inline]
fn micros(ticks: i64, per_second: u32) -> Option<i64> {
    let per_second = i64::from(per_second);
    if per_second > SECOND_US {
        return whole(ticks, per_second / SECOND_US);
    }
    ticks.checked_mul(SECOND_US / per_second)
}

/// A value of a row.
#[inline]
pub(super) fn read<'a>((kind, cell): (VectorKind, VectorCell<'a>)) -> Result<Value<'a>, Error> {
    valued(kind, cell).ok_or_else(|| unreadable(kind, cell))
}

#[inline]
fn valued(kind: VectorKind, cell: VectorCell<'_>) -> Option<Value<'_>> {
    Some(match (kind, cell) {
        (_, VectorCell::Null) => Value::Null,
        (_, VectorCell::Text(text)) => Value::Text(text),
        (VectorKind::Decimal { scale, .. }, VectorCell::Integer(units)) => Value::Decimal(exact(units, scale)?),
        (_, VectorCell::Integer(value)) => Value::Integer(i64::try_from(value).ok()?),
        (_, VectorCell::Double(value)) => Value::Decimal(floating::decimal(value)?),
        (VectorKind::Date, VectorCell::Count(days)) => Value::Time(days.checked_mul(DAY_US)?),
        (VectorKind::Timestamp(per_second), VectorCell::Count(ticks)) => Value::Time(micros(ticks, per_second)?),
        _ => return None,
    })
}

/// A decimal of the contract: zeros at the end are dropped when the number does not fit with them.
#[inline]
fn exact(mut units: i128, mut scale: u8) -> Option<Decimal> {
    while scale > 0 && units % 10 == 0 && (scale > 18 || i64::try_from(units).is_err()) {
        (units, scale) = (units / 10, scale - 1);
    }
    (scale <= 18).then_some(Decimal { units: i64::try_from(units).ok()?, scale })
}

#[cold]
fn unreadable(kind: VectorKind, cell: VectorCell<'_>) -> Error {
    let text = match cell {
        VectorCell::NotText => "a text column contains bytes that are not UTF-8".to_owned(),
        VectorCell::Other => {
            format!(
                "columns of type {kind:?} are not supported; cast to an integer, DECIMAL, VARCHAR, DATE or TIMESTAMP"
            )
        }
        _ => {
            format!("the value {cell:?} of type {kind:?} does not fit 64 bits with 18 decimal places; cast or round it")
        }
    };
    Error::new(ErrorClass::Data, "", text)
}

/// An owned value of a row.
pub(super) fn read_owned(cell: (VectorKind, VectorCell<'_>)) -> Result<OwnedValue, Error> {
    read(cell).map(OwnedValue::from)
}

#[cfg(test)]
mod tests {
    use super::super::library::Width;
    use super::*;

    fn decimal(units: i64, scale: u8) -> Value<'static> {
        Value::Decimal(Decimal { units, scale })
    }

    #[test]
    fn decimals_of_128_bits_lose_nothing_or_are_refused() {
        let kind = |scale| VectorKind::Decimal { width: Width::I128, scale };
        assert_eq!(valued(kind(6), VectorCell::Integer(5_000_000)), Some(decimal(5_000_000, 6)));
        let large = i128::from(i64::MAX) * 1_000;
        assert_eq!(valued(kind(6), VectorCell::Integer(large)), Some(decimal(i64::MAX, 3)));
        assert_eq!(valued(kind(6), VectorCell::Integer(large + 1)), None);
        assert_eq!(valued(kind(20), VectorCell::Integer(1_200)), Some(decimal(12, 18)));
        assert_eq!(valued(kind(0), VectorCell::Integer(i128::from(i64::MIN))), Some(decimal(i64::MIN, 0)));
    }

    #[test]
    fn times_fit_what_counts_them_or_are_refused() {
        assert_eq!(fitting(VectorKind::Date, Value::Time(-DAY_US)), Some(VectorCell::Count(-1)));
        assert_eq!(fitting(VectorKind::Date, Value::Time(1)), None);
        assert_eq!(fitting(VectorKind::Timestamp(1_000), Value::Time(5_000)), Some(VectorCell::Count(5)));
        assert_eq!(fitting(VectorKind::Timestamp(1_000), Value::Time(5_001)), None);
        assert_eq!(fitting(VectorKind::Timestamp(1_000_000_000), Value::Time(i64::MAX)), None);
        assert_eq!(valued(VectorKind::Timestamp(1), VectorCell::Count(-3)), Some(Value::Time(-3_000_000)));
        assert_eq!(valued(VectorKind::Timestamp(1_000_000_000), VectorCell::Count(-2_000)), Some(Value::Time(-2)));
        assert_eq!(valued(VectorKind::Timestamp(1_000_000_000), VectorCell::Count(-1)), None);
        assert_eq!(valued(VectorKind::Date, VectorCell::Count(i64::from(i32::MAX))), None, "infinity has no time");
    }

    #[test]
    fn a_column_takes_only_what_it_can_hold() {
        let money = VectorKind::Decimal { width: Width::I64, scale: 2 };
        assert_eq!(fitting(money, decimal(1_500, 3)), Some(VectorCell::Integer(150)));
        assert_eq!(fitting(money, decimal(1_501, 3)), None);
        assert_eq!(fitting(money, Value::Integer(7)), Some(VectorCell::Integer(700)));
        assert_eq!(fitting(VectorKind::Text, Value::Integer(7)), None);
        assert_eq!(fitting(VectorKind::Other(27), Value::Null), Some(VectorCell::Null));
    }
}
