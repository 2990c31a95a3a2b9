//! Types and values in the server's own encoding.

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum {
    Null,
    Integer(i64),
    /// Units and digits after the point.
    Decimal(i128, u8),
    Text(String),
    Bytes(Vec<u8>),
    /// Days since 0001-01-01.
    Date(u32),
    /// Days since 0001-01-01 and parts of a second since midnight.
    Moment(u32, u64),
    /// Name of the type, with its schema where that is told, and rows.
    Table(String, Vec<Vec<Datum>>),
}

impl Datum {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnForm {
    /// An integer of so many bytes that may not be null.
    Fixed(u8),
    /// One that may.
    Integer(u8),
    Bit,
    Decimal(u8, u8),
    /// Text of so many bytes, in UTF-8 or Latin-1.
    Text(u16, bool),
    Char(u16),
    Wide(u16),
    LongText,
    Date,
    Moment(u8),
    Float,
}

/// A collation that is Latin1_General_100_BIN2_UTF8 in what the client looks at.
pub(crate) const UTF8: [u8; 5] = [0x09, 0x04, 0x00, 0x26, 0x00];
pub(crate) const LATIN: [u8; 5] = [0x09, 0x04, 0xD0, 0x00, 0x34];

impl ColumnForm {
    pub(crate) fn describe(self, out: &mut Vec<u8>) {
        let sized = |id: u8, size: u16, collation: [u8; 5], out: &mut Vec<u8>| {
            out.push(id);
            out.extend(size.to_le_bytes());
            out.extend(collation);
        };
        match self {
            Self::Fixed(size) => out.push(match size {
                1 => 0x30,
                2 => 0x34,
                4 => 0x38,
                _ => 0x7F,
            }),
            Self::Integer(size) => out.extend([0x26, size]),
            Self::Bit => out.extend([0x68, 1]),
            Self::Decimal(digits, scale) => out.extend([0x6A, decimal_size(digits), digits, scale]),
            Self::Text(size, utf8) => sized(0xA7, size, if utf8 { UTF8 } else { LATIN }, out),
            Self::Char(size) => sized(0xAF, size, UTF8, out),
            Self::Wide(size) => sized(0xE7, size, LATIN, out),
            Self::LongText => sized(0xA7, 0xFFFF, UTF8, out),
            Self::Date => out.push(0x28),
            Self::Moment(scale) => out.extend([0x2A, scale]),
            Self::Float => out.extend([0x6D, 8]),
        }
    }

    pub(crate) fn write(self, value: &Datum, out: &mut Vec<u8>) {
        let short = |bytes: &[u8], out: &mut Vec<u8>| {
            out.push(bytes.len() as u8);
            out.extend(bytes);
        };
        match (self, value) {
            (Self::Fixed(size), Datum::Integer(number)) => out.extend(&number.to_le_bytes()[..usize::from(size)]),
            (Self::Text(..) | Self::Char(_) | Self::Wide(_), Datum::Null) => out.extend([0xFF; 2]),
            (Self::LongText, Datum::Null) => out.extend([0xFF; 8]),
            (_, Datum::Null) => out.push(0),
            (Self::Integer(size), Datum::Integer(number)) => short(&number.to_le_bytes()[..usize::from(size)], out),
            (Self::Bit, Datum::Integer(number)) => short(&[*number as u8], out),
            (Self::Decimal(digits, _), Datum::Decimal(units, _)) => {
                let mut bytes = vec![u8::from(*units >= 0)];
                bytes.extend(&units.unsigned_abs().to_le_bytes()[..usize::from(decimal_size(digits)) - 1]);
                short(&bytes, out);
            }
            (Self::Text(_, utf8), Datum::Text(text)) => {
                let bytes: Vec<u8> =
                    if utf8 { text.bytes().collect() } else { text.chars().map(|letter| letter as u8).collect() };
                out.extend((bytes.len() as u16).to_le_bytes());
                out.extend(bytes);
            }
            (Self::Char(_), Datum::Text(text)) => {
                out.extend((text.len() as u16).to_le_bytes());
                out.extend(text.bytes());
            }
            (Self::Wide(_), Datum::Text(text)) => {
                let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                out.extend((bytes.len() as u16).to_le_bytes());
                out.extend(bytes);
            }
            (Self::LongText, Datum::Text(text)) => {
                // Of a length that is not told, in parts of seven bytes.
                out.extend(0xFFFF_FFFF_FFFF_FFFEu64.to_le_bytes());
                for part in text.as_bytes().chunks(7) {
                    out.extend((part.len() as u32).to_le_bytes());
                    out.extend(part);
                }
                out.extend([0; 4]);
            }
            (Self::Date, Datum::Date(days)) => short(&days.to_le_bytes()[..3], out),
            (Self::Moment(scale), Datum::Moment(days, parts)) => {
                let mut bytes = parts.to_le_bytes()[..moment_width(scale)].to_vec();
                bytes.extend(&days.to_le_bytes()[..3]);
                short(&bytes, out);
            }
            (Self::Float, _) => short(&1.5f64.to_le_bytes(), out),
            other => panic!("a test gives {other:?}"),
        }
    }
}

fn decimal_size(digits: u8) -> u8 {
    match digits {
        0..=9 => 5,
        10..=19 => 9,
        20..=28 => 13,
        _ => 17,
    }
}

pub(crate) fn moment_width(scale: u8) -> usize {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}
