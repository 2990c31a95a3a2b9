//! Exact values of columns: what a row holds, whatever an engine calls the type.
//!
//! No floating-point numbers: money and rates are scaled integers.

use std::fmt;

use crate::Text;

/// Money in hundredths: 1,000 is 10.00.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hundredths(pub i64);

/// A rate (tax, discount) in ten-thousandths: 2,000 is 0.2000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenThousandths(pub i64);

/// A date and time in microseconds since 1970-01-01 00:00:00 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// The value of one column of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// No value: o_carrier_id and ol_delivery_d of undelivered orders.
    Null,
    /// A count or a key.
    Integer(i64),
    /// Money.
    Hundredths(Hundredths),
    /// A rate.
    TenThousandths(TenThousandths),
    /// A date and time.
    Timestamp(Timestamp),
    /// Bytes of an ASCII text, not padded.
    ///
    /// No `str`, because to check each text of a row for itself costs much of what a row costs.
    Text(&'a [u8]),
}

/// The type of a column's values other than null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A count or a key within 32 bits, signed.
    Integer,
    /// Money, see [`Hundredths`].
    Hundredths,
    /// A rate, see [`TenThousandths`].
    TenThousandths,
    /// A date and time, see [`Timestamp`].
    Timestamp,
    /// Text of at most so many characters.
    Text {
        /// The largest number of characters.
        limit: usize,
    },
}

/// A field of a row, seen as a value.
pub(super) trait Field {
    const KIND: Kind;
    const NULLABLE: bool = false;
    fn value(&self) -> Value<'_>;
}

impl Field for i32 {
    const KIND: Kind = Kind::Integer;
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Integer(i64::from(*self))
    }
}

impl Field for Hundredths {
    const KIND: Kind = Kind::Hundredths;
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Hundredths(*self)
    }
}

impl Field for TenThousandths {
    const KIND: Kind = Kind::TenThousandths;
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::TenThousandths(*self)
    }
}

impl Field for Timestamp {
    const KIND: Kind = Kind::Timestamp;
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Timestamp(*self)
    }
}

impl<const N: usize> Field for Text<N> {
    const KIND: Kind = Kind::Text { limit: N };
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Text(self.as_bytes())
    }
}

impl<T: Field> Field for Option<T> {
    const KIND: Kind = T::KIND;
    const NULLABLE: bool = true;
    #[inline]
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::value)
    }
}

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, 100, 2)
    }
}

impl fmt::Display for TenThousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, 10_000, 4)
    }
}

/// `null`, an integer, an exact decimal, microseconds, or the text itself.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Hundredths(money) => write!(f, "{money}"),
            Self::TenThousandths(rate) => write!(f, "{rate}"),
            Self::Timestamp(Timestamp(microseconds)) => write!(f, "{microseconds}"),
            Self::Text(text) => f.write_str(&String::from_utf8_lossy(text)),
        }
    }
}

fn write_scaled(f: &mut fmt::Formatter<'_>, value: i64, scale: u64, digits: usize) -> fmt::Result {
    let sign = if value < 0 { "-" } else { "" };
    let value = value.unsigned_abs();
    write!(f, "{sign}{}.{:0digits$}", value / scale, value % scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: impl fmt::Display, text: &str) {
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn decimals_are_exact_and_signed() {
        check(Hundredths(1_000), "10.00");
        check(Hundredths(-1_000), "-10.00");
        check(Hundredths(-5), "-0.05");
        check(TenThousandths(2_000), "0.2000");
        check(Hundredths(i64::MIN), "-92233720368547758.08");
        check(Value::Null, "null");
        check(Value::Text(b"OE"), "OE");
    }
}
