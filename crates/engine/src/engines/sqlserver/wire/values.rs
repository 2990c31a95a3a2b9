//! Values of columns, read from rows. Numbers stay exact: a type that is not is refused. Source: [MS-TDS] 2.2.5.5.

use super::reading::{MessageReader, decode};
use super::types::{Bytes, ColumnType, Content, is_utf8};
use crate::contract::{Decimal, Error, ErrorClass, Value};

/// Microseconds of a day.
pub(super) const DAY_US: i64 = 86_400_000_000;
/// Days from 0001-01-01 to 1970-01-01.
pub(super) const EPOCH_DAYS: i64 = 719_162;
/// Days from 1900-01-01 to 1970-01-01.
const OLD_EPOCH_DAYS: i64 = 25_567;

/// Memory for texts that are not in a row as they are wanted.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    text: String,
}

/// Reads a value.
#[inline]
pub(super) fn value<'a>(column: &ColumnType, bytes: Bytes<'a>, scratch: &'a mut Scratch) -> Result<Value<'a>, Error> {
    let bytes = match bytes {
        Bytes::Null => return Ok(Value::Null),
        Bytes::Whole(bytes) => bytes,
        Bytes::Parts(parts) => {
            join(parts, &mut scratch.bytes);
            &scratch.bytes
        }
    };
    match column.content {
        Content::Null => Ok(Value::Null),
        Content::Integer => integer(bytes).map(Value::Integer).ok_or_else(|| misfit("an integer")),
        Content::Bit => Ok(Value::Integer(bytes.iter().any(|byte| *byte != 0).into())),
        Content::Decimal => decimal(bytes, column.scale).ok_or_else(|| misfit("a decimal of more than 18 digits")),
        Content::Money => money(bytes).ok_or_else(|| misfit("an amount of money")),
        Content::Date => {
            days(bytes).map(|days| Value::Time((days - EPOCH_DAYS) * DAY_US)).ok_or_else(|| misfit("a date"))
        }
        Content::Moment => moment(bytes, column.scale).map(Value::Time).ok_or_else(|| misfit("a date and time")),
        Content::OldMoment => old_moment(bytes).map(Value::Time).ok_or_else(|| misfit("a date and time")),
        Content::Bytes => narrow(bytes, is_utf8(column.collation), &mut scratch.text).map(Value::Text),
        Content::Wide => {
            scratch.text.clear();
            decode(bytes, &mut scratch.text);
            Ok(Value::Text(&scratch.text))
        }
        Content::Unread => Err(Error::new(
            ErrorClass::Data,
            "",
            format!(
                "a column of type 0x{:02X} is not read, because it is not exact: cast it to decimal or varchar",
                column.id
            ),
        )),
    }
}

fn misfit(what: &str) -> Error {
    Error::new(ErrorClass::Data, "", format!("a value that is not {what}, or does not fit our numbers"))
}

/// Texts of parts in one piece.
fn join(parts: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let mut reading = MessageReader { rest: parts };
    while let Some(part) = reading.int().and_then(|size| reading.bytes(size as usize)) {
        into.extend_from_slice(part);
    }
}

/// Text of one byte a letter or more. Bytes that are not UTF-8 are read as Latin-1, which fits what servers name in such collations.
fn narrow<'a>(bytes: &'a [u8], utf8: bool, text: &'a mut String) -> Result<&'a str, Error> {
    if utf8 || bytes.is_ascii() {
        return std::str::from_utf8(bytes).map_err(|_| misfit("UTF-8"));
    }
    text.clear();
    text.extend(bytes.iter().map(|byte| char::from(*byte)));
    Ok(text)
}

/// A whole number; one of 8 bits has no sign.
fn integer(bytes: &[u8]) -> Option<i64> {
    match *bytes {
        [byte] => Some(byte.into()),
        [first, second] => Some(i16::from_le_bytes([first, second]).into()),
        [first, second, third, fourth] => Some(i32::from_le_bytes([first, second, third, fourth]).into()),
        _ => <[u8; 8]>::try_from(bytes).ok().map(i64::from_le_bytes),
    }
}

/// A sign, then the digits as a whole number. Zeros at the end of more digits than ours are cut.
fn decimal(bytes: &[u8], mut scale: u8) -> Option<Value<'static>> {
    let (sign, digits) = bytes.split_first()?;
    let mut all = [0; 16];
    all.get_mut(..digits.len())?.copy_from_slice(digits);
    let mut units = u128::from_le_bytes(all);
    while (scale > 18 || units > i64::MAX as u128) && scale > 0 && units % 10 == 0 {
        (units, scale) = (units / 10, scale - 1);
    }
    let units = i64::try_from(units).ok().filter(|_| scale <= 18)?;
    Some(Value::Decimal(Decimal { units: if *sign == 0 { -units } else { units }, scale }))
}

/// Ten-thousandths; of eight bytes the upper four come first.
fn money(bytes: &[u8]) -> Option<Value<'static>> {
    let units = match *bytes {
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
        [e, f, g, h, a, b, c, d] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => return None,
    };
    Some(Value::Decimal(Decimal { units, scale: 4 }))
}

/// Days since 0001-01-01.
fn days(bytes: &[u8]) -> Option<i64> {
    let [first, second, third] = *bytes else { return None };
    Some(u32::from_le_bytes([first, second, third, 0]).into())
}

/// Parts of a second since midnight, then days.
fn moment(bytes: &[u8], scale: u8) -> Option<i64> {
    let (clock, date) = bytes.split_at_checked(bytes.len().checked_sub(3)?)?;
    let mut all = [0; 8];
    all.get_mut(..clock.len())?.copy_from_slice(clock);
    let parts = i64::try_from(u64::from_le_bytes(all)).ok()?;
    let micros = match scale {
        0..=6 => parts.checked_mul(10i64.pow(6 - u32::from(scale)))?,
        7 => parts / 10,
        _ => return None,
    };
    Some((days(date)? - EPOCH_DAYS) * DAY_US + micros)
}

/// Days since 1900-01-01, then parts of 1/300 second, or minutes where it is short.
fn old_moment(bytes: &[u8]) -> Option<i64> {
    let (days, micros) = match *bytes {
        [a, b, c, d] => (i64::from(u16::from_le_bytes([a, b])), i64::from(u16::from_le_bytes([c, d])) * 60_000_000),
        [a, b, c, d, e, f, g, h] => {
            let parts = i64::from(u32::from_le_bytes([e, f, g, h]));
            (i64::from(i32::from_le_bytes([a, b, c, d])), (parts * 10_000 + 1) / 3)
        }
        _ => return None,
    };
    Some((days - OLD_EPOCH_DAYS) * DAY_US + micros)
}

#[cfg(test)]
mod tests {
    use super::super::types::{self, take};
    use super::*;

    #[track_caller]
    fn check(described: &[u8], bytes: &[u8], expected: Option<Value<'_>>) {
        let column = ColumnType::read(&mut MessageReader { rest: described }).flatten().expect("a type that is known");
        let mut reading = MessageReader { rest: bytes };
        let taken = take(column.extent, &mut reading).expect("it is whole");
        assert_eq!(reading.rest, [0; 0]);
        let mut scratch = Scratch::default();
        assert_eq!(value(&column, taken, &mut scratch).ok(), expected);
        for end in 0..bytes.len() {
            assert_eq!(take(column.extent, &mut MessageReader { rest: &bytes[..end] }), None, "cut at {end}");
        }
    }

    fn units(units: i64, scale: u8) -> Option<Value<'static>> {
        Some(Value::Decimal(Decimal { units, scale }))
    }

    #[test]
    fn numbers_are_exact_or_refused() {
        check(&[0x30], &[255], Some(Value::Integer(255)));
        check(&[types::INTN, 4], &[4, 0xFE, 0xFF, 0xFF, 0xFF], Some(Value::Integer(-2)));
        check(&[types::INTN, 8], &[0], Some(Value::Null));
        check(&[0x7F], &[0, 0, 0, 0, 0, 0, 0, 0x80], Some(Value::Integer(i64::MIN)));
        check(&[types::BIT], &[1], Some(Value::Integer(1)));
        check(&[types::DECIMALN, 5, 9, 2], &[5, 0, 0x39, 0x30, 0, 0], units(-12_345, 2));
        let large = 10u128.pow(24).to_le_bytes();
        let with_length: Vec<u8> = [17, 1].into_iter().chain(large).collect();
        check(&[types::NUMERICN, 17, 38, 6], &with_length, units(10i64.pow(18), 0));
        check(&[types::NUMERICN, 17, 38, 0], &with_length, None);
        check(&[0x3C], &[0, 0, 0, 0, 0x10, 0x27, 0, 0], units(10_000, 4));
        check(&[0x3E], &[0; 8], None);
    }

    #[test]
    fn dates_and_times_are_microseconds_of_the_epoch() {
        check(&[types::DATEN], &[3, 0x3A, 0xF9, 0x0A], Some(Value::Time(0)));
        // The second before the epoch, in millionths.
        let clock = 86_399_999_999i64.to_le_bytes();
        let moment = [8, clock[0], clock[1], clock[2], clock[3], clock[4], 0x39, 0xF9, 0x0A];
        check(&[types::DATETIME2N, 6], &moment, Some(Value::Time(-1)));
        check(&[0x3D], &[0xDF, 0x63, 0, 0, 0x2C, 1, 0, 0], Some(Value::Time(1_000_000)));
        check(&[0x3A], &[0xDF, 0x63, 1, 0], Some(Value::Time(60_000_000)));
    }

    #[test]
    fn texts_are_read_in_their_encoding() {
        let utf8 = [types::VARCHAR, 9, 0, 9, 4, 0, 4, 0];
        check(&utf8, &[3, 0, 0xC3, 0xA4, b'x'], Some(Value::Text("äx")));
        check(&utf8, &[1, 0, 0xC3], None);
        check(&utf8, &[0xFF, 0xFF], Some(Value::Null));
        check(&utf8, &[0, 0], Some(Value::Text("")));
        check(&[types::VARCHAR, 9, 0, 9, 4, 0xD0, 0, 0x34], &[1, 0, 0xE4], Some(Value::Text("ä")));
        check(&[types::NVARCHAR, 9, 0, 9, 4, 0xD0, 0, 0x34], &[4, 0, 0xE4, 0, 0x22, 0x6F], Some(Value::Text("ä漢")));
        let in_parts = [types::NVARCHAR, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34];
        check(
            &in_parts,
            &[6, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 1, 0, 0, 0, b'b', 1, 0, 0, 0, 0, 0, 0, 0, 0],
            Some(Value::Text("ab")),
        );
        check(
            &in_parts,
            &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, b'a', 0, 0, 0, 0, 0],
            Some(Value::Text("a")),
        );
        check(&in_parts, &[0xFF; 8], Some(Value::Null));
        check(&in_parts, &[0; 12], Some(Value::Text("")));
    }
}
