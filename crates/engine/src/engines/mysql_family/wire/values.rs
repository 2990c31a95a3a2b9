//! Values of the contract to and from the protocol's binary forms. Exact: floating-point columns are refused with advice. Source:
//! knowledge base, "COM_STMT_EXECUTE" and "Resultset Row".

use super::calendar::{self, Fields};
use super::decimal::{self, DecimalText};
use super::packet::{PacketReader, broken, put_bytes, put_length};
use crate::contract::{ColumnKind, Decimal, Error, ErrorClass, Value};
use bytes::{BufMut as _, BytesMut};

/// Types as the protocol numbers them.
mod kind {
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const NULL: u8 = 6;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONG_LONG: u8 = 8;
    pub(super) const INT_24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
    pub(super) const VARCHAR: u8 = 15;
    pub(super) const JSON: u8 = 245;
    pub(super) const NEW_DECIMAL: u8 = 246;
    pub(super) const VAR_STRING: u8 = 253;
    pub(super) const STRING: u8 = 254;
}

/// The type of a parameter that has only been null so far.
pub(super) const NO_TYPE: u8 = kind::NULL;

/// Flag of a column that has no sign.
const UNSIGNED: u16 = 0x0020;

/// The type by which a value is sent; `None` for null, which has none.
#[inline]
pub(super) fn type_of(value: Value<'_>) -> Option<u8> {
    match value {
        Value::Null => None,
        Value::Integer(_) => Some(kind::LONG_LONG),
        Value::Decimal(_) => Some(kind::NEW_DECIMAL),
        Value::Text(_) | Value::Ascii(_) | Value::Integers(_) => Some(kind::VAR_STRING),
        Value::Time(_) => Some(kind::DATETIME),
    }
}

/// Writes a value that is not null; `None` when it cannot be sent.
#[inline]
pub(super) fn write(value: Value<'_>, out: &mut BytesMut) -> Option<()> {
    match value {
        Value::Null => {}
        Value::Integer(number) => out.put_i64_le(number),
        Value::Decimal(decimal) if decimal.scale <= 18 => put_bytes(out, DecimalText::of(decimal).as_bytes()),
        Value::Decimal(_) => return None,
        Value::Text(text) => put_bytes(out, text.as_bytes()),
        Value::Ascii(text) => put_bytes(out, text.0),
        Value::Time(time) => out.put_slice(Fields::of(time)?.as_bytes()),
        Value::Integers(list) => put_list(list, out),
    }
    Some(())
}

/// Bytes that a length needs which is written before what it counts.
const LENGTH_BYTES: usize = 4;

/// Writes a list as a JSON array: `[1,-2]`. The length goes into four bytes once it is known.
fn put_list(list: &[i32], out: &mut BytesMut) {
    let start = out.len();
    put_length(out, 0x1_0000);
    out.put_u8(b'[');
    for (place, element) in list.iter().enumerate() {
        if place > 0 {
            out.put_u8(b',');
        }
        out.put_slice(itoa::Buffer::new().format(*element).as_bytes());
    }
    out.put_u8(b']');
    let length = out.len() - start - LENGTH_BYTES;
    let [first, second, third, ..] = (length as u32).to_le_bytes();
    out[start + 1..start + LENGTH_BYTES].copy_from_slice(&[first, second, third]);
}

/// How a column is read, decided when it is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines::mysql_family) enum ColumnReader {
    Tiny,
    UnsignedTiny,
    Short,
    UnsignedShort,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Decimal,
    Text,
    Time,
    Null,
}

impl ColumnReader {
    /// The reader of a described column; the error says what to write instead.
    pub(super) fn of(description: &[u8]) -> Result<Self, Error> {
        let mut reading = PacketReader(description);
        let mut read = || {
            // Catalogue, schema, table and original table.
            for _ in 0..4 {
                reading.sized()?;
            }
            let (name, _original) = (reading.sized()?, reading.sized()?);
            let (_length, _set, _width) = (reading.length()?, reading.short()?, reading.long()?);
            Some((name, reading.byte()?, reading.short()?))
        };
        let (name, number, flags) = read().ok_or_else(|| broken("a description of a column"))?;
        let signed = flags & UNSIGNED == 0;
        let either = |with: Self, without: Self| if signed { with } else { without };
        Ok(match number {
            kind::TINY => either(Self::Tiny, Self::UnsignedTiny),
            kind::SHORT | kind::YEAR => either(Self::Short, Self::UnsignedShort),
            kind::LONG | kind::INT_24 => either(Self::Long, Self::UnsignedLong),
            kind::LONG_LONG => either(Self::LongLong, Self::UnsignedLongLong),
            kind::NEW_DECIMAL => Self::Decimal,
            kind::VARCHAR | kind::JSON | kind::VAR_STRING | kind::STRING | 247..=252 => Self::Text,
            kind::DATETIME | kind::TIMESTAMP | kind::DATE => Self::Time,
            kind::NULL => Self::Null,
            _ => {
                let name = String::from_utf8_lossy(name);
                let advice = "cast it to an integer, decimal, text or datetime type, values here are exact";
                return Err(Error::other(format!("column {name} is of type number {number}: {advice}")));
            }
        })
    }

    /// Reads the next value of a row that is not null.
    #[inline]
    pub(super) fn read<'a>(self, row: &mut PacketReader<'a>) -> Result<Value<'a>, Error> {
        let start = *row;
        self.value(row).ok_or_else(|| {
            let bytes = start.0.len().min(40);
            let text =
                format!("a {self:?} value cannot be kept exactly in 64 bits, or the row ends early ({bytes} bytes)");
            Error::new(ErrorClass::Data, "", text)
        })
    }

    #[inline]
    fn value<'a>(self, row: &mut PacketReader<'a>) -> Option<Value<'a>> {
        Some(match self {
            Self::Tiny => Value::Integer(i64::from(row.byte()?.cast_signed())),
            Self::UnsignedTiny => Value::Integer(i64::from(row.byte()?)),
            Self::Short => Value::Integer(i64::from(row.short()?.cast_signed())),
            Self::UnsignedShort => Value::Integer(i64::from(row.short()?)),
            Self::Long => Value::Integer(i64::from(row.long()?.cast_signed())),
            Self::UnsignedLong => Value::Integer(i64::from(row.long()?)),
            Self::LongLong => Value::Integer(i64::from_le_bytes(row.array()?)),
            Self::UnsignedLongLong => Value::Integer(i64::try_from(u64::from_le_bytes(row.array()?)).ok()?),
            Self::Decimal => Value::Decimal(decimal::read(row.sized()?)?),
            Self::Text => Value::Text(std::str::from_utf8(row.sized()?).ok()?),
            Self::Time => Value::Time(calendar::time_us(row.sized()?)?),
            Self::Null => Value::Null,
        })
    }
}

/// Writes a value as a field of a text file: a tab, a line feed, a zero and a backslash are escaped, null is `\N`. `None` when the value does not
/// fit the column.
pub(in crate::engines::mysql_family) fn write_text_field(
    kind: ColumnKind,
    value: Value<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let digits =
        |units, scale, out: &mut Vec<u8>| out.extend_from_slice(DecimalText::of(Decimal { units, scale }).as_bytes());
    match (kind, value) {
        (_, Value::Null) => out.extend_from_slice(b"\\N"),
        (ColumnKind::Integer { bits }, value) => {
            let number = value.integer()?;
            let fits = match bits {
                16 => i16::try_from(number).is_ok(),
                32 => i32::try_from(number).is_ok(),
                _ => true,
            };
            fits.then(|| out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()))?;
        }
        (ColumnKind::Decimal { scale }, Value::Decimal(decimal)) => digits(decimal.rescale(scale)?.units, scale, out),
        (ColumnKind::Decimal { .. }, Value::Integer(number)) => digits(number, 0, out),
        (ColumnKind::Text | ColumnKind::Json, value) => put_escaped(value.text_bytes()?, out),
        (ColumnKind::Time, Value::Time(time) | Value::Integer(time)) => calendar::write_text(time, out)?,
        (ColumnKind::Date, Value::Time(time) | Value::Integer(time)) => {
            let start = out.len();
            calendar::write_text(time, out)?;
            (out.get(start + 10..)? == b" 00:00:00").then(|| out.truncate(start + 10))?;
        }
        _ => return None,
    }
    Some(())
}

fn put_escaped(mut text: &[u8], out: &mut Vec<u8>) {
    if is_plain(text) {
        return out.extend_from_slice(text);
    }
    while let Some(place) = text.iter().position(|byte| matches!(byte, b'\t' | b'\n' | b'\\' | 0)) {
        out.extend_from_slice(&text[..place]);
        out.push(b'\\');
        out.push(match text[place] {
            b'\t' => b't',
            b'\n' => b'n',
            0 => b'0',
            other => other,
        });
        text = &text[place + 1..];
    }
    out.extend_from_slice(text);
}

/// Whether nothing has to be escaped. It looks at all bytes, many at a time, and never stops early.
fn is_plain(text: &[u8]) -> bool {
    !text.iter().fold(false, |found, byte| found | (*byte < b' ') | (*byte == b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(kind: ColumnKind, value: Value<'_>, expected: Option<&str>) {
        let mut out = Vec::new();
        let fits = write_text_field(kind, value, &mut out).is_some();
        let found = fits.then(|| String::from_utf8(out).expect("a text"));
        assert_eq!(found.as_deref(), expected, "{value:?} as {kind:?}");
    }

    #[test]
    fn fields_of_a_text_file_are_escaped_and_exact() {
        check(ColumnKind::Text, Value::Text("a\tb\\c\nd\0e ä"), Some("a\\tb\\\\c\\nd\\0e ä"));
        check(ColumnKind::Text, Value::Null, Some("\\N"));
        check(ColumnKind::Text, Value::Text("\\N"), Some("\\\\N"));
        check(ColumnKind::Integer { bits: 16 }, Value::Integer(40_000), None);
        check(ColumnKind::Integer { bits: 32 }, Value::Integer(-40_000), Some("-40000"));
        check(ColumnKind::Decimal { scale: 4 }, Value::Decimal(Decimal { units: 5, scale: 2 }), Some("0.0500"));
        check(ColumnKind::Decimal { scale: 1 }, Value::Decimal(Decimal { units: 5, scale: 2 }), None);
        check(ColumnKind::Date, Value::Time(86_400_000_000), Some("1970-01-02"));
        check(ColumnKind::Date, Value::Time(1), None);
        check(ColumnKind::Time, Value::Time(1), Some("1970-01-01 00:00:00.000001"));
    }

    #[test]
    fn a_list_is_a_json_array_with_its_length() {
        for (list, text) in [(&[][..], "[]"), (&[7], "[7]"), (&[1, -2, i32::MAX], "[1,-2,2147483647]")] {
            let mut out = BytesMut::new();
            put_list(list, &mut out);
            let mut reading = PacketReader(&out);
            assert_eq!((reading.sized(), reading.0.len()), (Some(text.as_bytes()), 0));
        }
    }

    proptest! {
        #[test]
        fn broken_descriptions_and_rows_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(reader) = ColumnReader::of(&bytes) {
                let _ = reader.read(&mut PacketReader(&bytes));
            }
            for reader in [ColumnReader::Decimal, ColumnReader::Text, ColumnReader::Time, ColumnReader::UnsignedLongLong] {
                let _ = reader.read(&mut PacketReader(&bytes));
            }
        }
    }
}
