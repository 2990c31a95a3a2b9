//! Content hashes: equal for equal sets of rows, whatever engine gives them back in whatever
//! order.
//!
//! The hash finds faults, not forgers: it is no cryptographic hash. Its definition is part of
//! the manifest's format and never changes for a given [`VERSION`](ContentHash::VERSION).

use std::fmt;

use super::catalogue::Table;
use super::rows::{Row, ValueVisitor};
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
    /// Number of rows added.
    pub rows: u64,
}

impl ContentHash {
    /// The version of the canonical encoding and of the hash.
    pub const VERSION: u32 = 1;

    /// Adds a drawn row.
    #[inline]
    pub fn add_row<R: Row>(&mut self, row: &R) {
        let mut hash = RowHash::new(R::TABLE);
        row.visit_values(&mut hash);
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

impl ValueVisitor<'_> for RowHash {
    #[inline(always)]
    fn visit(&mut self, value: Value<'_>) {
        self.value(value);
    }
}

/// Odd multipliers: from SplitMix64's finaliser, see [`mix`].
const MULTIPLIERS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

impl RowHash {
    /// The hash of a row of `table` before its first value.
    #[must_use]
    #[inline]
    pub fn new(table: Table) -> Self {
        let label = table.label();
        Self { lanes: [mix(label), mix(!label)] }
    }

    /// Adds the next column's value. In line always: where the column is known, so is the kind.
    #[inline(always)]
    pub fn value(&mut self, value: Value<'_>) {
        match value {
            Value::Null => self.null(),
            Value::Integer(number) => self.integer(number),
            Value::Hundredths(money) => self.hundredths(money),
            Value::TenThousandths(rate) => self.ten_thousandths(rate),
            Value::Timestamp(time) => self.timestamp(time),
            Value::Text(text) => self.text(text),
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
            self.word(match text.last_chunk::<8>() {
                // The last eight bytes, without those that the word before had.
                Some(last) => u64::from_le_bytes(*last) >> (8 * (8 - tail.len())),
                None => tail.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
            });
        }
    }

    /// Each lane is a bijection of the word for a given state and of the state for a given
    /// word, so that rows which differ in one word never meet in a lane.
    #[inline]
    fn word(&mut self, word: u64) {
        let [first, second] = &mut self.lanes;
        *first = (*first ^ word).wrapping_mul(MULTIPLIERS[0]).rotate_left(29);
        *second = (second.wrapping_add(word)).wrapping_mul(MULTIPLIERS[1]).rotate_left(37);
    }

    #[inline]
    fn finish(&self) -> u128 {
        let [first, second] = self.lanes;
        u128::from(mix(first)) << 64 | u128::from(mix(second))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::{History, NewOrder, Order, Warehouse};
    use super::*;

    fn hash_of<R: Row>(rows: &[R]) -> ContentHash {
        let mut hash = ContentHash::default();
        rows.iter().for_each(|row| hash.add_row(row));
        hash
    }

    fn order(o_id: i32) -> Order {
        Order { o_id, o_carrier_id: Some(3), ..Order::default() }
    }

    #[test]
    fn order_and_parts_of_rows_do_not_matter() {
        let rows = [order(1), order(2), order(3)];
        let [first, second, third] = rows.clone();
        assert_eq!(hash_of(&rows), hash_of(&[third.clone(), first.clone(), second.clone()]));
        let mut merged = hash_of(&[second]);
        merged.merge(hash_of(&[third, first]));
        assert_eq!(merged, hash_of(&rows));
    }

    #[test]
    fn equal_rows_count_each_time() {
        let row = History::default();
        let [once, twice, none] =
            [hash_of(std::slice::from_ref(&row)), hash_of(&[row.clone(), row.clone()]), ContentHash::default()];
        assert_ne!(once.sum, twice.sum);
        assert_ne!(twice.sum, none.sum);
        assert_eq!([none.rows, once.rows, twice.rows], [0, 1, 2]);
    }

    #[track_caller]
    fn check_differ<A: Row, B: Row>(one: &A, other: &B) {
        let (mut first, mut second) = (ContentHash::default(), ContentHash::default());
        first.add_row(one);
        second.add_row(other);
        assert_ne!(first.sum, second.sum);
    }

    #[test]
    fn every_difference_changes_the_hash() {
        check_differ(&order(1), &order(2));
        check_differ(&order(0), &Order { o_carrier_id: None, ..order(0) });
        check_differ(&order(0), &Order { o_carrier_id: Some(0), ..order(0) });
        // The same numbers in other columns, or in another table.
        check_differ(&Order { o_id: 1, ..order(0) }, &Order { o_d_id: 1, ..order(0) });
        let mut as_orders = RowHash::new(Table::Orders);
        let mut as_queue = RowHash::new(Table::NewOrder);
        NewOrder::default().for_each_value(|value| {
            as_orders.value(value);
            as_queue.value(value);
        });
        assert_ne!(as_orders.finish(), as_queue.finish());
    }

    #[test]
    fn texts_differ_by_boundary_length_and_zeros() {
        let with_texts = |street: &str, city: &str| {
            let mut row = Warehouse::default();
            row.w_street_2.set(&[street]);
            row.w_city.set(&[city]);
            row
        };
        check_differ(&with_texts("AB", "C"), &with_texts("A", "BC"));
        check_differ(&with_texts("ABCDEFGH", ""), &with_texts("", "ABCDEFGH"));
        check_differ(&with_texts("A", ""), &with_texts("A\0", ""));
        check_differ(&with_texts("a", ""), &with_texts("A", ""));
    }

    #[test]
    fn a_text_of_any_length_is_words_padded_with_zeros() {
        let text = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        for length in 0..=text.len() {
            let (mut found, mut expected) = (RowHash::new(Table::Item), RowHash::new(Table::Item));
            found.text(&text[..length]);
            expected.word((length as u64) << 8 | 5);
            for part in text[..length].chunks(8) {
                let mut padded = [0; 8];
                padded[..part.len()].copy_from_slice(part);
                expected.word(u64::from_le_bytes(padded));
            }
            assert_eq!(found.finish(), expected.finish(), "{length}");
        }
    }

    #[test]
    fn values_given_one_by_one_hash_like_the_row() {
        let row = order(7);
        let mut read_back = RowHash::new(Table::Orders);
        for number in [7, 0, 0, 0] {
            read_back.integer(number);
        }
        read_back.timestamp(Timestamp(0));
        for number in [3, 0, 0] {
            read_back.integer(number);
        }
        let mut hash = ContentHash::default();
        hash.add(read_back);
        assert_eq!(hash, hash_of(&[row]));
    }

    #[test]
    fn both_halves_move_with_every_bit() {
        // One flipped bit of the value flips each of the 128 bits of the hash in about half of
        // the cases: 64 trials, so 10 to 54 flips are within 5.5 standard deviations.
        let hash = |number: i64| {
            let mut row = RowHash::new(Table::NewOrder);
            row.integer(number);
            row.integer(1);
            row.finish()
        };
        let mut flips = [0; 128];
        for bit in 0..64 {
            let difference = hash(5) ^ hash(5 ^ 1 << bit);
            for (place, flips) in flips.iter_mut().enumerate() {
                *flips += difference >> place & 1;
            }
        }
        assert!(flips.iter().all(|flips| (10..=54).contains(flips)), "{flips:?}");
    }
}
