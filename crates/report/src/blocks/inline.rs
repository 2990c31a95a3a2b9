//! Running text. A number gets in only as a quantity or a plain count: [`Inline::Text`] takes literals alone,
//! and [`Inline::Datum`] is for words of the record, quoted as they stand.

use proofload_analysis::quantity::Quantity;
use proofload_model::settings::Value;

/// A piece of running text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Inline {
    /// Words of ours.
    Text(&'static str),
    /// Words of the record as they stand: a name, a setting, a reason.
    Datum(String),
    /// A term of the field as the text has it, its name in the list of terms, and its definition.
    Term(&'static str, &'static str, &'static str),
    /// A name of a setting, a file or a command, set as code.
    Code(String),
    /// Stressed.
    Strong(Prose),
    /// A measured number; the words replace the unit's symbol.
    Quantity(Quantity, Option<&'static str>, Detail),
    /// A plain count.
    Count(u64),
    /// A cross-reference to a section, figure or table by its id; renderers print its number.
    Reference(&'static str),
}

/// What stands behind a measured number in running text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Its interval and its sample size, or why there is no interval.
    Whole,
    /// Its interval; the sample size stands elsewhere on the same screen.
    Interval,
    /// Nothing: the interval stands elsewhere on the same screen.
    Value,
}

impl Inline {
    /// A number with its interval alone.
    pub(crate) fn ranged(quantity: &Quantity, words: &'static str) -> Self {
        Self::Quantity(quantity.clone(), Some(words), Detail::Interval)
    }

    /// A number alone, whose interval stands elsewhere on the same screen.
    pub(crate) fn brief(quantity: &Quantity, words: &'static str) -> Self {
        Self::Quantity(quantity.clone(), Some(words), Detail::Value)
    }
}

/// Running text.
pub(crate) type Prose = Vec<Inline>;

impl From<&'static str> for Inline {
    fn from(text: &'static str) -> Self {
        Self::Text(text)
    }
}

impl From<String> for Inline {
    fn from(text: String) -> Self {
        Self::Datum(text)
    }
}

impl From<&Value> for Inline {
    fn from(value: &Value) -> Self {
        Self::Datum(value.to_string())
    }
}

impl From<Quantity> for Inline {
    fn from(quantity: Quantity) -> Self {
        Self::Quantity(quantity, None, Detail::Whole)
    }
}

impl From<&Quantity> for Inline {
    fn from(quantity: &Quantity) -> Self {
        Self::Quantity(quantity.clone(), None, Detail::Whole)
    }
}

impl From<(&Quantity, &'static str)> for Inline {
    fn from((quantity, words): (&Quantity, &'static str)) -> Self {
        Self::Quantity(quantity.clone(), Some(words), Detail::Whole)
    }
}

impl From<usize> for Inline {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u64> for Inline {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Inline {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

/// Running text from pieces: literals, quantities, counts, values and words of the record.
macro_rules! prose {
    ($($piece:expr),* $(,)?) => { vec![$($crate::blocks::Inline::from($piece)),*] };
}
pub(crate) use prose;
