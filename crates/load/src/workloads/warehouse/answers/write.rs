//! An answer as text: each value in the one form that its column has, so that engines with and without decimals or
//! dates agree.

use crate::workloads::warehouse::data::Date;
use crate::workloads::warehouse::suite::{Exactness, Query, ResultColumn};
use proofload_engine::{Decimal, OwnedRow, OwnedValue};

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

/// Text of null.
const NULL: &str = "NULL";

/// Rows of written values.
pub(crate) type Answer = Vec<Vec<String>>;

/// Writes the rows of a query; the error says which value does not fit its column.
pub(crate) fn written(query: &Query, rows: &[OwnedRow]) -> Result<Answer, String> {
    rows.iter().map(|row| write_row(query, row)).collect()
}

fn write_row(query: &Query, row: &OwnedRow) -> Result<Vec<String>, String> {
    if row.len() != query.columns.len() {
        return Err(format!("a row has {} columns, but {} are declared", row.len(), query.columns.len()));
    }
    let pairs = row.iter().zip(&query.columns);
    pairs.map(|(value, column)| write(value, column).ok_or_else(|| format!("{} is {value:?}", column.name))).collect()
}

/// Writes one value; `None` when it does not fit the column.
fn write(value: &OwnedValue, column: &ResultColumn) -> Option<String> {
    if *value == OwnedValue::Null {
        return Some(NULL.to_owned());
    }
    Some(match column.exactness {
        Exactness::Text => match value {
            OwnedValue::Text(text) => text.trim_end_matches(' ').to_owned(),
            _ => return None,
        },
        Exactness::Integer => value.as_value().integer()?.to_string(),
        Exactness::Date => match value {
            OwnedValue::Text(text) => text.clone(),
            OwnedValue::Time(micros) if micros % DAY_US == 0 => Date(i32::try_from(micros / DAY_US).ok()?).to_string(),
            _ => return None,
        },
        Exactness::Decimal => rounded(decimal(value, column.scale)?, column.scale),
        Exactness::Sum | Exactness::Average => rounded(decimal(value, column.scale)?, 2),
        Exactness::Ratio => rounded(decimal(value, column.scale)?, 4),
    })
}

/// A decimal; an integer counts units of the column's scale.
fn decimal(value: &OwnedValue, scale: u8) -> Option<Decimal> {
    match value {
        OwnedValue::Integer(units) => Some(Decimal { units: *units, scale }),
        OwnedValue::Decimal(decimal) => Some(*decimal),
        _ => None,
    }
}

/// Rounds to this many digits after the point, halves away from zero.
fn rounded(decimal: Decimal, digits: u8) -> String {
    let units = i128::from(decimal.units);
    let power = 10i128.pow(u32::from(digits.abs_diff(decimal.scale)));
    let units = if decimal.scale <= digits { units * power } else { (units + units.signum() * (power / 2)) / power };
    let one = 10u128.pow(u32::from(digits));
    let (sign, units) = (if units < 0 { "-" } else { "" }, units.unsigned_abs());
    match digits {
        0 => format!("{sign}{units}"),
        _ => format!("{sign}{}.{:0width$}", units / one, units % one, width = usize::from(digits)),
    }
}

/// FNV-1a, 64 bits, over texts, each followed by a separator. Source: Fowler, Noll, Vo, IETF draft-eastlake-fnv.
pub(crate) fn hash(texts: impl IntoIterator<Item = impl AsRef<str>>) -> u64 {
    texts.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, text| {
        let bytes = text.as_ref().bytes().chain([0x1f]);
        bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: OwnedValue, exactness: Exactness, scale: u8, expected: Option<&str>) {
        let column = ResultColumn { name: "x".to_owned(), exactness, scale };
        assert_eq!(write(&value, &column).as_deref(), expected);
    }

    #[test]
    fn engines_with_and_without_decimals_and_dates_write_alike() {
        check(OwnedValue::Integer(-12_345_678), Exactness::Sum, 4, Some("-1234.57"));
        check(OwnedValue::Decimal(Decimal { units: 12_345, scale: 3 }), Exactness::Sum, 4, Some("12.35"));
        check(OwnedValue::Decimal(Decimal { units: 5, scale: 0 }), Exactness::Average, 2, Some("5.00"));
        check(OwnedValue::Integer(344), Exactness::Ratio, 4, Some("0.0344"));
        check(OwnedValue::Decimal(Decimal { units: 1995, scale: 0 }), Exactness::Integer, 0, Some("1995"));
        check(OwnedValue::Time(9_204 * DAY_US), Exactness::Date, 0, Some("1995-03-15"));
        check(OwnedValue::Text("1995-03-15".to_owned()), Exactness::Date, 0, Some("1995-03-15"));
        check(OwnedValue::Text(" leading, trailing  ".to_owned()), Exactness::Text, 0, Some(" leading, trailing"));
        check(OwnedValue::Null, Exactness::Sum, 4, Some("NULL"));
        check(OwnedValue::Text("5".to_owned()), Exactness::Integer, 0, None);
    }
}
