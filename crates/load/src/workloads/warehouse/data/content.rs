//! The content of a table in a few numbers that do not depend on the order of the rows: rows, bytes of the text form,
//! and a hash of each column. Finds faults, not forgers.

use super::row::{Cell, MOST_COLUMNS, Row};
use super::tables::Table;
use std::fmt::Write as _;

/// Count, size and sums of the rows of a table, or of a part of it. Parts merge into the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// Number of rows.
    pub(crate) rows: u64,
    /// Bytes of their lines in the official text form.
    pub(crate) bytes: u64,
    /// Sum for each column, modulo 2^64, of the hashes of its values, each mixed with its row's key: a value in the
    /// wrong row counts.
    columns: [u64; MOST_COLUMNS],
}

/// An odd number without pattern: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Content {
    /// Adds a row.
    pub(crate) fn add(&mut self, table: Table, row: &Row) {
        let key = table.key().iter().fold(MULTIPLIER, |hash, column| hash_cell(hash, row.cell(*column)));
        for column in 0..row.width() {
            let hash = hash_cell(key.rotate_left(7) ^ column as u64, row.cell(column));
            self.columns[column] = self.columns[column].wrapping_add(spread(hash));
        }
        self.rows += 1;
        self.bytes += row.line_bytes(table);
    }

    /// Adds all rows of another part.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
        for (sum, part) in self.columns.iter_mut().zip(other.columns) {
            *sum = sum.wrapping_add(part);
        }
    }

    /// Columns whose hashes differ.
    pub(crate) fn differing(&self, other: &Self, table: Table) -> Vec<&'static str> {
        let columns = table.columns().iter().enumerate();
        columns.filter(|(place, _)| self.columns[*place] != other.columns[*place]).map(|(_, (name, _))| *name).collect()
    }

    /// Rows, bytes and hashes as the manifest notes them.
    pub(crate) fn text(&self, table: Table) -> String {
        let mut text = format!("{} {}", self.rows, self.bytes);
        for hash in &self.columns[..table.columns().len()] {
            write!(text, " {hash:016x}").expect("a text in memory takes everything");
        }
        text
    }

    /// Reads that text; `None` for anything else.
    pub(crate) fn read(text: &str, table: Table) -> Option<Self> {
        let mut words = text.split(' ');
        let mut content =
            Self { rows: words.next()?.parse().ok()?, bytes: words.next()?.parse().ok()?, ..Self::default() };
        for place in 0..table.columns().len() {
            content.columns[place] = u64::from_str_radix(words.next()?, 16).ok()?;
        }
        words.next().is_none().then_some(content)
    }
}

/// Adds a value to a hash: its kind and, for texts, its length, then the value in words of 64 bits.
fn hash_cell(hash: u64, cell: Cell<'_>) -> u64 {
    match cell {
        Cell::Integer(value) => word(word(hash, 1), value.cast_unsigned()),
        Cell::Decimal(value) => word(word(hash, 2), value.cast_unsigned()),
        Cell::Date(date) => word(word(hash, 3), i64::from(date.0).cast_unsigned()),
        Cell::Text(text) => {
            let (words, tail) = text.as_bytes().as_chunks::<8>();
            let mut hash = word(hash, (text.len() as u64) << 8 | 4);
            for bytes in words {
                hash = word(hash, u64::from_le_bytes(*bytes));
            }
            let mut last = [0; 8];
            last[..tail.len()].copy_from_slice(tail);
            word(hash, u64::from_le_bytes(last))
        }
    }
}

/// A bijection of the word for a given hash, and of the hash for a given word.
fn word(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(MULTIPLIER).rotate_left(29)
}

/// Makes every bit of a hash count before it is summed.
fn spread(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 29)
}
