//! Types of columns: how they are described, and where the bytes of a value end. Source: [MS-TDS] 2.2.5.4 to 2.2.5.6.

use super::reading::MessageReader;

/// How the bytes of a value are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// A fixed number of bytes, never null.
    Fixed(u8),
    /// A length of one byte; zero is null.
    Short,
    /// A length of two bytes; 0xFFFF is null.
    Long,
    /// Parts, each with a length of four bytes, as of `varchar(max)`.
    Parts,
}

/// What values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Null,
    Integer,
    Bit,
    Decimal,
    Money,
    Date,
    /// `datetime2`.
    Moment,
    /// `datetime` and `smalldatetime`.
    OldMoment,
    /// Text in the bytes of a collation.
    Bytes,
    /// Text in UTF-16.
    Wide,
    /// What is described and skipped, and not read: floating-point numbers, binaries, times of day.
    Unread,
}

/// Language, order and encoding of texts.
pub(super) type Collation = [u8; 5];

/// The bit of a collation that says UTF-8.
const UTF8: u32 = 1 << 26;

/// Whether texts of this collation are UTF-8.
pub(super) fn is_utf8(collation: Collation) -> bool {
    let [first, second, third, fourth, _] = collation;
    u32::from_le_bytes([first, second, third, fourth]) & UTF8 != 0
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnType {
    /// Its number.
    pub(super) id: u8,
    pub(super) extent: Extent,
    pub(super) content: Content,
    /// The most bytes of a value.
    pub(super) size: u32,
    /// Digits of a decimal.
    pub(super) precision: u8,
    /// Digits after the point, also of seconds.
    pub(super) scale: u8,
    pub(super) collation: Collation,
}

/// Numbers of types.
pub(super) const INTN: u8 = 0x26;
pub(super) const BITN: u8 = 0x68;
pub(super) const BIT: u8 = 0x32;
pub(super) const DECIMALN: u8 = 0x6A;
pub(super) const NUMERICN: u8 = 0x6C;
pub(super) const DATEN: u8 = 0x28;
pub(super) const DATETIME2N: u8 = 0x2A;
pub(super) const VARBINARY: u8 = 0xA5;
pub(super) const VARCHAR: u8 = 0xA7;
pub(super) const CHAR: u8 = 0xAF;
pub(super) const NVARCHAR: u8 = 0xE7;
pub(super) const NCHAR: u8 = 0xEF;
/// The size that says parts.
const IN_PARTS: u16 = 0xFFFF;

impl ColumnType {
    /// Reads a description; the outer `None` where it has not all arrived, the inner where the type is not known.
    pub(super) fn read(reading: &mut MessageReader<'_>) -> Option<Option<Self>> {
        let id = reading.byte()?;
        let mut found = Self {
            id,
            extent: Extent::Short,
            content: Content::Unread,
            size: 0,
            precision: 0,
            scale: 0,
            collation: Collation::default(),
        };
        let fixed = |size: u8, content| Self { extent: Extent::Fixed(size), content, size: size.into(), ..found };
        match id {
            0x1F => return Some(Some(fixed(0, Content::Null))),
            0x30 => return Some(Some(fixed(1, Content::Integer))),
            BIT => return Some(Some(fixed(1, Content::Bit))),
            0x34 => return Some(Some(fixed(2, Content::Integer))),
            0x38 => return Some(Some(fixed(4, Content::Integer))),
            0x7F => return Some(Some(fixed(8, Content::Integer))),
            0x3A => return Some(Some(fixed(4, Content::OldMoment))),
            0x3D => return Some(Some(fixed(8, Content::OldMoment))),
            0x3B => return Some(Some(fixed(4, Content::Unread))),
            0x3E => return Some(Some(fixed(8, Content::Unread))),
            0x7A => return Some(Some(fixed(4, Content::Money))),
            0x3C => return Some(Some(fixed(8, Content::Money))),
            INTN | BITN | 0x6D | 0x6E | 0x6F | 0x24 => {
                found.size = reading.byte()?.into();
                found.content = match id {
                    INTN => Content::Integer,
                    BITN => Content::Bit,
                    0x6E => Content::Money,
                    0x6F => Content::OldMoment,
                    _ => Content::Unread,
                };
            }
            DECIMALN | NUMERICN => {
                found.size = reading.byte()?.into();
                (found.precision, found.scale) = (reading.byte()?, reading.byte()?);
                found.content = Content::Decimal;
            }
            DATEN => (found.size, found.content) = (3, Content::Date),
            0x29 | DATETIME2N | 0x2B => {
                found.scale = reading.byte()?;
                found.content = if id == DATETIME2N { Content::Moment } else { Content::Unread };
            }
            VARBINARY | 0xAD | VARCHAR | CHAR | NVARCHAR | NCHAR => {
                let size = reading.short()?;
                found.size = size.into();
                found.extent = if size == IN_PARTS { Extent::Parts } else { Extent::Long };
                if !matches!(id, VARBINARY | 0xAD) {
                    found.collation = reading.array()?;
                    found.content = if matches!(id, NVARCHAR | NCHAR) { Content::Wide } else { Content::Bytes };
                }
            }
            _ => return Some(None),
        }
        Some(Some(found))
    }

    /// Writes the description.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.id);
        match (self.extent, self.content) {
            (Extent::Fixed(_), _) | (_, Content::Date) => {}
            (_, Content::Moment) => out.push(self.scale),
            (_, Content::Decimal) => out.extend_from_slice(&[self.size as u8, self.precision, self.scale]),
            (Extent::Short, _) => out.push(self.size as u8),
            (Extent::Long | Extent::Parts, content) => {
                out.extend_from_slice(&u16::try_from(self.size).unwrap_or(IN_PARTS).to_le_bytes());
                if matches!(content, Content::Bytes | Content::Wide) {
                    out.extend_from_slice(&self.collation);
                }
            }
        }
    }

    /// The type as a statement declares it; `None` where no rows of it can be sent.
    pub(super) fn declared(&self) -> Option<String> {
        let length = |name: &str, letters: u32| match self.extent {
            Extent::Parts => format!("{name}(max)"),
            _ => format!("{name}({letters})"),
        };
        Some(match (self.content, self.id) {
            (Content::Integer, _) => match self.size {
                1 => "tinyint".to_owned(),
                2 => "smallint".to_owned(),
                4 => "int".to_owned(),
                _ => "bigint".to_owned(),
            },
            (Content::Bit, _) => "bit".to_owned(),
            (Content::Decimal, _) => format!("decimal({}, {})", self.precision, self.scale),
            (Content::Date, _) => "date".to_owned(),
            (Content::Moment, _) => format!("datetime2({})", self.scale),
            (_, VARCHAR) => length("varchar", self.size),
            (_, CHAR) => length("char", self.size),
            (_, NVARCHAR) => length("nvarchar", self.size / 2),
            (_, NCHAR) => length("nchar", self.size / 2),
            _ => return None,
        })
    }
}

/// The bytes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bytes<'a> {
    Null,
    Whole(&'a [u8]),
    /// Parts, each behind its length, with the empty one that ends them.
    Parts(&'a [u8]),
}

/// Takes the bytes of a value; `None` where they have not all arrived.
#[inline]
pub(super) fn take<'a>(extent: Extent, reading: &mut MessageReader<'a>) -> Option<Bytes<'a>> {
    match extent {
        Extent::Fixed(0) => Some(Bytes::Null),
        Extent::Fixed(size) => reading.bytes(size.into()).map(Bytes::Whole),
        Extent::Short => match reading.byte()? {
            0 => Some(Bytes::Null),
            size => reading.bytes(size.into()).map(Bytes::Whole),
        },
        Extent::Long => match reading.short()? {
            0xFFFF => Some(Bytes::Null),
            size => reading.bytes(size.into()).map(Bytes::Whole),
        },
        Extent::Parts => {
            if reading.long()? == u64::MAX {
                return Some(Bytes::Null);
            }
            let parts = reading.rest;
            loop {
                let size = reading.int()?;
                if size == 0 {
                    let length = parts.len() - reading.rest.len();
                    return Some(one_part(&parts[..length]));
                }
                reading.bytes(usize::try_from(size).ok()?)?;
            }
        }
    }
}

/// Parts as a whole, where there is at most one.
fn one_part(parts: &[u8]) -> Bytes<'_> {
    let mut reading = MessageReader { rest: parts };
    let size = reading.int().unwrap_or_default() as usize;
    match reading.bytes(size) {
        Some(only) if size == 0 || reading.rest == [0; 4] => Bytes::Whole(only),
        _ => Bytes::Parts(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_read_and_written_alike() {
        let cases: [(&[u8], Option<&str>); 12] = [
            (&[0x38], Some("int")),
            (&[INTN, 2], Some("smallint")),
            (&[0x7F], Some("bigint")),
            (&[BITN, 1], Some("bit")),
            (&[DECIMALN, 9, 16, 2], Some("decimal(16, 2)")),
            (&[DATEN], Some("date")),
            (&[DATETIME2N, 6], Some("datetime2(6)")),
            (&[VARCHAR, 16, 0, 9, 4, 0xD0, 0, 0x34], Some("varchar(16)")),
            (&[CHAR, 2, 0, 9, 4, 0xD0, 0, 0x34], Some("char(2)")),
            (&[NVARCHAR, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34], Some("nvarchar(max)")),
            (&[NVARCHAR, 8, 0, 9, 4, 0xD0, 0, 0x34], Some("nvarchar(4)")),
            (&[0x6D, 8], None),
        ];
        for (bytes, declared) in cases {
            let mut reading = MessageReader { rest: bytes };
            let found = ColumnType::read(&mut reading).flatten().expect("a type that is known");
            let mut written = Vec::new();
            found.write(&mut written);
            assert_eq!((&written[..], found.declared().as_deref(), reading.rest), (bytes, declared, &[][..]));
            for end in 0..bytes.len() {
                assert_eq!(ColumnType::read(&mut MessageReader { rest: &bytes[..end] }), None, "cut at {end}");
            }
        }
        assert_eq!(ColumnType::read(&mut MessageReader { rest: &[0xF1] }), Some(None), "XML is not read");
        assert!(is_utf8([0x09, 0x04, 0x00, 0x04, 0x00]) && !is_utf8([0x09, 0x04, 0xD0, 0x00, 0x34]));
    }
}
