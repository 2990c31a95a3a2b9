//! One row in memory that is used again: values without their text form, so that one row goes to every engine and into
//! every sum.

use super::date::Date;
use super::tables::{Kind, Table};
use std::fmt::{Display, Write as _};

/// The most columns that a table has.
pub(crate) const MOST_COLUMNS: usize = 16;

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    /// A whole number.
    Integer(i64),
    /// Hundredths.
    Decimal(i64),
    /// A date.
    Date(Date),
    /// Text.
    Text(&'a str),
}

/// A value whose text lies in the row.
#[derive(Debug, Clone, Copy)]
enum StoredCell {
    Integer(i64),
    Decimal(i64),
    Date(Date),
    Text { start: usize, end: usize },
}

/// One row, in the order of the table's columns.
#[derive(Debug)]
pub(crate) struct Row {
    cells: [StoredCell; MOST_COLUMNS],
    width: usize,
    text: String,
}

impl Row {
    /// A row without values.
    pub(crate) fn new() -> Self {
        Self { cells: [StoredCell::Integer(0); MOST_COLUMNS], width: 0, text: String::new() }
    }

    /// Forgets the values; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.width = 0;
        self.text.clear();
    }

    /// Adds a whole number.
    pub(crate) fn integer(&mut self, value: i64) {
        self.keep(StoredCell::Integer(value));
    }

    /// Adds hundredths.
    pub(crate) fn decimal(&mut self, hundredths: i64) {
        self.keep(StoredCell::Decimal(hundredths));
    }

    /// Adds a date.
    pub(crate) fn date(&mut self, value: Date) {
        self.keep(StoredCell::Date(value));
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.keep(StoredCell::Text { start, end: self.text.len() });
    }

    /// Adds the text of something.
    pub(crate) fn shown(&mut self, value: &impl Display) {
        let start = self.text.len();
        write!(self.text, "{value}").expect("a text in memory takes everything");
        self.keep(StoredCell::Text { start, end: self.text.len() });
    }

    fn keep(&mut self, cells: StoredCell) {
        self.cells[self.width] = cells;
        self.width += 1;
    }

    /// Number of values.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The value of a column.
    pub(crate) fn cell(&self, column: usize) -> Cell<'_> {
        match self.cells[column] {
            StoredCell::Integer(value) => Cell::Integer(value),
            StoredCell::Decimal(value) => Cell::Decimal(value),
            StoredCell::Date(value) => Cell::Date(value),
            StoredCell::Text { start, end } => Cell::Text(&self.text[start..end]),
        }
    }

    /// Writes the row as the official table files have it: values, each followed by a bar, and the end of the line.
    #[cfg(test)]
    pub(crate) fn write_line(&self, table: Table, into: &mut String) {
        for (column, (_, kind)) in table.columns().iter().enumerate() {
            let written = match self.cell(column) {
                Cell::Integer(value) => write!(into, "{value}|"),
                Cell::Decimal(units) if *kind == Kind::Quantity => write!(into, "{}|", units / 100),
                Cell::Decimal(units) => {
                    let sign = if units < 0 { "-" } else { "" };
                    write!(into, "{sign}{}.{:02}|", units.unsigned_abs() / 100, units.unsigned_abs() % 100)
                }
                Cell::Date(date) => write!(into, "{date}|"),
                Cell::Text(text) => write!(into, "{text}|"),
            };
            written.expect("a text in memory takes everything");
        }
        into.push('\n');
    }

    /// Bytes of that line.
    pub(crate) fn line_bytes(&self, table: Table) -> u64 {
        let of = |(column, (_, kind)): (usize, &(&str, Kind))| match self.cell(column) {
            Cell::Integer(value) => digits(value.unsigned_abs()) + u64::from(value < 0),
            Cell::Decimal(units) if *kind == Kind::Quantity => digits(units.unsigned_abs() / 100),
            Cell::Decimal(units) => digits(units.unsigned_abs() / 100) + 3 + u64::from(units < 0),
            Cell::Date(_) => 10,
            Cell::Text(text) => text.len() as u64,
        };
        let values: u64 = table.columns().iter().enumerate().map(of).sum();
        values + table.columns().len() as u64 + 1
    }
}

/// Decimal digits of a number.
fn digits(number: u64) -> u64 {
    u64::from(number.checked_ilog10().unwrap_or(0)) + 1
}
