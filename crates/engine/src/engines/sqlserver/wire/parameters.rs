//! Parameters of calls: the type under which each is declared and sent. Types follow from the values, and only widen, so that a statement is
//! prepared once. Source: [MS-TDS] 2.2.5.5 and 2.2.6.6.

use super::reading::encode;
use super::types::{Collation, DATETIME2N, DECIMALN, INTN, NVARCHAR, VARBINARY, VARCHAR, is_utf8};
use super::values::{DAY_US, EPOCH_DAYS};
use crate::contract::{Error, ErrorClass, Value};

/// The most bytes of a text that is no `max`.
const MOST_BYTES: usize = 8_000;
/// Digits of a decimal: as many as ours have.
const DIGITS: u8 = 19;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engines::sqlserver) enum ParameterKind {
    /// Nothing but null so far: declared as text, which becomes every other type.
    #[default]
    Unknown,
    Integer,
    BigInteger,
    Decimal(u8),
    Text,
    LongText,
    Time,
    /// Integers, four bytes each, the highest first.
    List,
}

impl ParameterKind {
    /// The type that takes what this one took, and this value.
    #[inline]
    pub(in crate::engines::sqlserver) fn with(self, value: Value<'_>) -> Self {
        let other = match value {
            Value::Null => return self,
            Value::Integer(number) if i32::try_from(number).is_ok() => Self::Integer,
            Value::Integer(_) => Self::BigInteger,
            Value::Decimal(decimal) => Self::Decimal(decimal.scale),
            Value::Text(text) if 2 * text.len() <= MOST_BYTES => Self::Text,
            Value::Ascii(text) if 2 * text.0.len() <= MOST_BYTES => Self::Text,
            Value::Text(_) | Value::Ascii(_) => Self::LongText,
            Value::Time(_) => Self::Time,
            Value::Integers(_) => Self::List,
        };
        match (self, other) {
            (Self::BigInteger, Self::Integer) | (Self::LongText, Self::Text) => self,
            (Self::Decimal(known), Self::Decimal(new)) => Self::Decimal(known.max(new)),
            (Self::Decimal(_), Self::Integer | Self::BigInteger) => self,
            _ => other,
        }
    }

    /// The type as a statement declares it.
    fn declared(self, collation: Collation) -> String {
        match self {
            Self::Integer => "int".to_owned(),
            Self::BigInteger => "bigint".to_owned(),
            Self::Decimal(scale) => format!("decimal({DIGITS}, {scale})"),
            Self::Unknown | Self::Text if is_utf8(collation) => "varchar(8000)".to_owned(),
            Self::Unknown | Self::Text => "nvarchar(4000)".to_owned(),
            Self::LongText if is_utf8(collation) => "varchar(max)".to_owned(),
            Self::LongText => "nvarchar(max)".to_owned(),
            Self::Time => "datetime2(6)".to_owned(),
            Self::List => "varbinary(8000)".to_owned(),
        }
    }

    /// Adds a parameter without a name: its type, then its value.
    #[inline]
    pub(super) fn write(self, value: Value<'_>, collation: Collation, out: &mut Vec<u8>) -> Result<(), Error> {
        // No name, by value.
        out.extend_from_slice(&[0, 0]);
        match self {
            Self::Integer => {
                out.extend_from_slice(&[INTN, 4]);
                let number = value.integer().map(|number| i32::try_from(number).map_err(|_| misfit(value, self)));
                put(out, value, number.transpose()?.map(i32::to_le_bytes), self)
            }
            Self::BigInteger => {
                out.extend_from_slice(&[INTN, 8]);
                put(out, value, value.integer().map(i64::to_le_bytes), self)
            }
            Self::Decimal(scale) => {
                out.extend_from_slice(&[DECIMALN, 9, DIGITS, scale]);
                let units = match value {
                    Value::Integer(number) => {
                        10i64.checked_pow(scale.into()).and_then(|factor| number.checked_mul(factor))
                    }
                    value => value.units(scale),
                };
                put(out, value, units.map(decimal_bytes), self)
            }
            Self::Time => {
                out.extend_from_slice(&[DATETIME2N, 6]);
                let moment = match value {
                    Value::Time(time) => Some(moment_bytes(time).ok_or_else(|| misfit(value, self))?),
                    _ => None,
                };
                put(out, value, moment, self)
            }
            Self::List => {
                out.push(VARBINARY);
                out.extend_from_slice(&(MOST_BYTES as u16).to_le_bytes());
                put_list(out, value, self)
            }
            Self::Unknown | Self::Text | Self::LongText => put_text(out, value, self, collation),
        }
    }
}

/// A value whose length is one byte.
#[inline]
fn put<const N: usize>(
    out: &mut Vec<u8>,
    value: Value<'_>,
    bytes: Option<[u8; N]>,
    kind: ParameterKind,
) -> Result<(), Error> {
    match (value, bytes) {
        (Value::Null, _) => out.push(0),
        (_, Some(bytes)) => {
            out.push(N as u8);
            out.extend_from_slice(&bytes);
        }
        (_, None) => return Err(misfit(value, kind)),
    }
    Ok(())
}

fn put_list(out: &mut Vec<u8>, value: Value<'_>, kind: ParameterKind) -> Result<(), Error> {
    match value {
        Value::Null => out.extend_from_slice(&[0xFF, 0xFF]),
        Value::Integers(list) if 4 * list.len() <= MOST_BYTES => {
            out.extend_from_slice(&(4 * list.len() as u16).to_le_bytes());
            out.extend(list.iter().flat_map(|number| number.to_be_bytes()));
        }
        _ => return Err(misfit(value, kind)),
    }
    Ok(())
}

/// A text in the database's own encoding, so that a key is found without converting its column, or in UTF-16 where that is not UTF-8.
#[inline]
fn put_text(out: &mut Vec<u8>, value: Value<'_>, kind: ParameterKind, collation: Collation) -> Result<(), Error> {
    let (utf8, in_parts) = (is_utf8(collation), kind == ParameterKind::LongText);
    out.push(if utf8 { VARCHAR } else { NVARCHAR });
    out.extend_from_slice(&if in_parts { [0xFF; 2] } else { (MOST_BYTES as u16).to_le_bytes() });
    out.extend_from_slice(&collation);
    let text = match value {
        Value::Null if in_parts => {
            out.extend_from_slice(&[0xFF; 8]);
            return Ok(());
        }
        Value::Null => {
            out.extend_from_slice(&[0xFF; 2]);
            return Ok(());
        }
        value => value.text().ok_or_else(|| misfit(value, kind))?,
    };
    // Where the length goes when it is known.
    let place = out.len();
    out.extend_from_slice(if in_parts { &[0; 12] } else { &[0; 2] });
    let start = out.len();
    match utf8 {
        true => out.extend_from_slice(text.as_bytes()),
        false => encode(text, out),
    }
    let length = out.len() - start;
    if in_parts {
        out[place..place + 8].copy_from_slice(&(length as u64).to_le_bytes());
        out[place + 8..place + 12].copy_from_slice(&(length as u32).to_le_bytes());
        match length {
            // The empty part that ends it stands there already.
            0 => {}
            _ => out.extend_from_slice(&[0; 4]),
        }
    } else {
        let length = u16::try_from(length).map_err(|_| misfit(value, kind))?;
        out[place..place + 2].copy_from_slice(&length.to_le_bytes());
    }
    Ok(())
}

/// Sign, then digits.
pub(super) fn decimal_bytes(units: i64) -> [u8; 9] {
    let [a, b, c, d, e, f, g, h] = units.unsigned_abs().to_le_bytes();
    [u8::from(units >= 0), a, b, c, d, e, f, g, h]
}

/// Millionths of a second since midnight, then days; `None` before the year 1 and after 9999.
pub(super) fn moment_bytes(time_us: i64) -> Option<[u8; 8]> {
    let [a, b, c, d, e, ..] = time_us.rem_euclid(DAY_US).to_le_bytes();
    let [first, second, third] = day_bytes(time_us)?;
    Some([a, b, c, d, e, first, second, third])
}

/// Days since 0001-01-01; `None` outside of the years 1 to 9999.
pub(super) fn day_bytes(time_us: i64) -> Option<[u8; 3]> {
    let days = time_us.div_euclid(DAY_US) + EPOCH_DAYS;
    let days = u32::try_from(days).ok().filter(|days| *days < 3_652_059)?;
    let [first, second, third, _] = days.to_le_bytes();
    Some([first, second, third])
}

fn misfit(value: Value<'_>, kind: ParameterKind) -> Error {
    Error::new(ErrorClass::Data, "", format!("{value:?} does not fit a parameter that is sent as {kind:?}"))
}

/// The declaration of parameters `@p1`, `@p2`, ….
pub(in crate::engines::sqlserver) fn declaration(
    kinds: impl Iterator<Item = ParameterKind>,
    connection: &super::ServerConnection,
) -> String {
    let each =
        kinds.enumerate().map(|(place, kind)| format!("@p{} {}", place + 1, kind.declared(connection.collation())));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Decimal;

    const UTF8: Collation = [9, 4, 0, 4, 0];
    const LATIN: Collation = [9, 4, 0xD0, 0, 0x34];

    #[test]
    fn types_follow_from_values_and_only_widen() {
        let after =
            |values: &[Value<'_>]| values.iter().fold(ParameterKind::default(), |kind, value| kind.with(*value));
        let decimal = |units, scale| Value::Decimal(Decimal { units, scale });
        assert_eq!(after(&[Value::Null]).declared(UTF8), "varchar(8000)");
        assert_eq!(after(&[Value::Null, Value::Integer(1)]), ParameterKind::Integer);
        assert_eq!(after(&[Value::Integer(1 << 40), Value::Integer(1), Value::Null]), ParameterKind::BigInteger);
        assert_eq!(after(&[decimal(1, 2), decimal(1, 4), decimal(1, 2), Value::Integer(3)]), ParameterKind::Decimal(4));
        assert_eq!(after(&[Value::Text("a")]).declared(LATIN), "nvarchar(4000)");
        assert_eq!(after(&[Value::Text(&"a".repeat(4_001)), Value::Text("a")]).declared(UTF8), "varchar(max)");
        assert_eq!(after(&[Value::Time(0)]).declared(UTF8), "datetime2(6)");
    }

    #[track_caller]
    fn check(kind: ParameterKind, value: Value<'_>, collation: Collation, expected: &[u8]) {
        let mut out = Vec::new();
        kind.write(value, collation, &mut out).expect("it fits");
        assert_eq!(out[2..], *expected, "{kind:?} {value:?}");
    }

    #[test]
    fn values_are_sent_in_the_form_of_their_type() {
        use ParameterKind::{BigInteger, Decimal, Integer, List, LongText, Text, Time};
        check(Integer, Value::Integer(-2), UTF8, &[INTN, 4, 4, 0xFE, 0xFF, 0xFF, 0xFF]);
        // The parameter of [MS-TDS] 4.8 is a null of two bytes; ours have four.
        check(Integer, Value::Null, UTF8, &[INTN, 4, 0]);
        check(BigInteger, Value::Integer(1), UTF8, &[INTN, 8, 8, 1, 0, 0, 0, 0, 0, 0, 0]);
        check(Decimal(2), Value::Integer(-3), UTF8, &[DECIMALN, 9, 19, 2, 9, 0, 0x2C, 1, 0, 0, 0, 0, 0, 0]);
        check(Text, Value::Text("ä"), UTF8, &[VARCHAR, 0x40, 0x1F, 9, 4, 0, 4, 0, 2, 0, 0xC3, 0xA4]);
        check(Text, Value::Text("ä"), LATIN, &[NVARCHAR, 0x40, 0x1F, 9, 4, 0xD0, 0, 0x34, 2, 0, 0xE4, 0]);
        check(Text, Value::Null, UTF8, &[VARCHAR, 0x40, 0x1F, 9, 4, 0, 4, 0, 0xFF, 0xFF]);
        let parts = [VARCHAR, 0xFF, 0xFF, 9, 4, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, b'x', 0, 0, 0, 0];
        check(LongText, Value::Text("x"), UTF8, &parts);
        check(
            LongText,
            Value::Text(""),
            UTF8,
            &[VARCHAR, 0xFF, 0xFF, 9, 4, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        );
        check(Time, Value::Time(-1), UTF8, &[DATETIME2N, 6, 8, 0xFF, 0x5F, 0xD7, 0x1D, 0x14, 0x39, 0xF9, 0x0A]);
        check(
            List,
            Value::Integers(&[1, -1]),
            UTF8,
            &[VARBINARY, 0x40, 0x1F, 8, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF],
        );
        let refused = [
            (Integer, Value::Text("1")),
            (Integer, Value::Integer(1 << 40)),
            (Time, Value::Time(i64::MAX)),
            (Decimal(18), Value::Integer(i64::MAX)),
            (List, Value::Integers(&[0; 2_001])),
        ];
        for (kind, value) in refused {
            kind.write(value, UTF8, &mut Vec::new()).expect_err("it does not fit");
        }
    }
}
