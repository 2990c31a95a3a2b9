//! Content hashes: equal for equal sets of rows, whatever engine gives them back in whatever
//! order.
//!
//! The hash finds faults, not forgers: it is no cryptographic hash. Its definition is part of
//! the manifest's format and never changes for a given [`VERSION`](ContentHash::VERSION).

use std::fmt;

use super::catalogue::Table;
use super::rows::Row;
use super::value::{Hundredths, TenThousandths, Timestamp, Value};
use crate::seed::mix;

/// The sum, modulo 2^128, of the hashes of rows, and their number.
///
/// Addition makes it independent of the order of the rows, and hashes of parts merge into that
/// of the whole. Two equal rows (history has no key) count twice, which a bitwise exclusive-or
/// would cancel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentHash {
    /// The sum of the rows' hashes.
    pub sum: u128,
    /// How many rows were added.
    pub rows: u64,
}

impl ContentHash {
    /// The version of the canonical encoding and of the hash.
    pub const VERSION: u32 = 1;

    /// Adds a drawn row.
    #[inline]
    pub fn add_row<R: Row>(&mut self, row: &R) {
        let mut hash = RowHash::new(R::TABLE);
        row.for_each_value(|value| hash.value(value));
        self.add(hash);
    }

    /// Adds a row whose values were given one by one, for instance as read from a database.
    #[inline]
    pub fn add(&mut self, row: RowHash) {
        self.sum = self.sum.wrapping_add(row.finish());
        self.rows += 1;
    }

    /// Adds all rows of another hash, of the same table or of another one.
    pub fn merge(&mut self, other: Self) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.rows += other.rows;
    }
}

/// The sum as 32 hexadecimal digits.
impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.sum)
    }
}

/// The hash of one row, fed with its values in the table's order of columns.
///
/// Canonical encoding, in 64-bit words: the table's number; then per value a word made of its
/// kind and, for texts, its length in bytes; then the value itself: integers, scaled decimals
/// and microseconds in two's complement, texts as little-endian words of eight bytes, the last
/// one padded with zeros. Texts count without the padding that some engines add to `CHAR`.
#[derive(Clone, Debug)]
pub struct RowHash {
    lanes: [u64; 2],
}

/// Odd multipliers: from SplitMix64's finaliser, see [`mix`].
const MULTIPLIERS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

impl RowHash {
    /// The hash of a row of `table` before its first value.
    #[must_use]
    #[inline]
    pub fn new(table: Table) -> Self {
        let label = table.label();
        Self {
            lanes: [mix(label), mix(!label)],
        }
    }

    /// Adds the next column's value.
    #[inline]
    pub fn value(&mut self, value: Value<'_>) {
        match value {
            Value::Null => self.null(),
            Value::Integer(number) => self.integer(number),
            Value::Hundredths(money) => self.hundredths(money),
            Value::TenThousandths(rate) => self.ten_thousandths(rate),
            Value::Timestamp(time) => self.timestamp(time),
            Value::Text(text) => self.text(text.as_bytes()),
        }
    }

    /// Adds a null.
    #[inline]
    pub fn null(&mut self) {
        self.word(0);
    }

    /// Adds a count or a key.
    #[inline]
    pub fn integer(&mut self, number: i64) {
        self.word(1);
        self.word(number.cast_unsigned());
    }

    /// Adds an amount of money.
    #[inline]
    pub fn hundredths(&mut self, money: Hundredths) {
        self.word(2);
        self.word(money.0.cast_unsigned());
    }

    /// Adds a rate.
    #[inline]
    pub fn ten_thousandths(&mut self, rate: TenThousandths) {
        self.word(3);
        self.word(rate.0.cast_unsigned());
    }

    /// Adds a date and time.
    #[inline]
    pub fn timestamp(&mut self, time: Timestamp) {
        self.word(4);
        self.word(time.0.cast_unsigned());
    }

    /// Adds a text, given by its bytes.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        self.word((text.len() as u64) << 8 | 5);
        let (words, tail) = text.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !tail.is_empty() {
            let mut word = [0; 8];
            word[..tail.len()].copy_from_slice(tail);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// Each lane is a bijection of the word for a given state and of the state for a given
    /// word, so that rows which differ in one word never meet in a lane.
    #[inline]
    fn word(&mut self, word: u64) {
        let [first, second] = &mut self.lanes;
        *first = (*first ^ word).wrapping_mul(MULTIPLIERS[0]).rotate_left(29);
        *second = (second.wrapping_add(word))
            .wrapping_mul(MULTIPLIERS[1])
            .rotate_left(37);
    }

    #[inline]
    fn finish(&self) -> u128 {
        let [first, second] = self.lanes;
        u128::from(mix(first)) << 64 | u128::from(mix(second))
    }
}
