//! Values that cross the contract. Exact: no floats, so money survives every engine.

use std::fmt;

/// An exact decimal: `units` × 10^−`scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The digits, as an integer.
    pub units: i64,
    /// Digits after the point, 0..=18.
    pub scale: u8,
}

impl Decimal {
    /// The same amount with another scale; `None` when digits would be lost or it does not fit.
    #[inline]
    pub fn rescale(self, scale: u8) -> Option<Self> {
        if scale == self.scale {
            return Some(self);
        }
        let factor = |digits: u8| 10i64.checked_pow(u32::from(digits));
        let units = if scale >= self.scale {
            self.units.checked_mul(factor(scale - self.scale)?)?
        } else {
            let divisor = factor(self.scale - scale)?;
            (self.units % divisor == 0).then_some(self.units / divisor)?
        };
        Some(Self { units, scale })
    }
}

/// Text that its maker says is ASCII: nobody checks it but who needs it as a `str`. Rows of bulk loads are of such texts, and to check each is
/// much of what a row costs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AsciiText<'a>(pub &'a [u8]);

impl<'a> AsciiText<'a> {
    /// The text, checked; `None` when it is none.
    pub fn checked(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }
}

impl fmt::Debug for AsciiText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(self.0), f)
    }
}

/// One value of a parameter, column or row. Borrowed text, so that nothing is copied on the way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// SQL null.
    Null,
    /// An integer.
    Integer(i64),
    /// An exact decimal. Engines without exact decimals store `units` as an integer of the column's fixed scale.
    Decimal(Decimal),
    /// Text.
    Text(&'a str),
    /// Text of ASCII alone.
    Ascii(AsciiText<'a>),
    /// A date and time, microseconds since the Unix epoch, UTC. Engines without a date type store the integer.
    Time(i64),
    /// Integers in their order, for a parameter that is an array. Engines without arrays refuse it.
    Integers(&'a [i32]),
}

impl<'a> Value<'a> {
    /// The integer, if it is one.
    pub fn integer(self) -> Option<i64> {
        match self {
            Self::Integer(value) | Self::Time(value) => Some(value),
            Self::Decimal(decimal) => decimal.rescale(0).map(|whole| whole.units),
            Self::Null | Self::Text(_) | Self::Ascii(_) | Self::Integers(_) => None,
        }
    }

    /// The units of a decimal of this scale. An integer counts as units: that is how engines without decimals store them.
    pub fn units(self, scale: u8) -> Option<i64> {
        match self {
            Self::Integer(units) => Some(units),
            Self::Decimal(decimal) => decimal.rescale(scale).map(|same| same.units),
            Self::Null | Self::Text(_) | Self::Ascii(_) | Self::Time(_) | Self::Integers(_) => None,
        }
    }

    /// The text, if it is one.
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Ascii(text) => text.checked(),
            Self::Null | Self::Integer(_) | Self::Decimal(_) | Self::Time(_) | Self::Integers(_) => None,
        }
    }

    /// The bytes of the text, if it is one; those of ASCII text are not checked.
    #[inline]
    pub fn text_bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Text(text) => Some(text.as_bytes()),
            Self::Ascii(text) => Some(text.0),
            Self::Null | Self::Integer(_) | Self::Decimal(_) | Self::Time(_) | Self::Integers(_) => None,
        }
    }
}
