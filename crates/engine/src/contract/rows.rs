//! Rows for bulk loading: the shape of a table and a source that fills one reused row after another.

use super::value::Value;

/// How a column's values are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Integer of 16, 32 or 64 bits.
    Integer {
        /// Width in the engine's binary form: 16, 32 or 64.
        bits: u8,
    },
    /// Exact decimal with so many digits after the point.
    Decimal {
        /// Digits after the point.
        scale: u8,
    },
    /// Text.
    Text,
    /// Text that is JSON, in a column of the engine's own type for it.
    Json,
    /// Date and time.
    Time,
    /// Date: a time at midnight, UTC. Engines without a date type store the same integer as for times.
    Date,
}

/// One column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column<'a> {
    /// Name.
    pub name: &'a str,
    /// Kind.
    pub kind: ColumnKind,
}

/// The shape of a table as rows are loaded into it.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// Name.
    pub name: &'a str,
    /// Columns in order.
    pub columns: &'a [Column<'a>],
}

/// Gives rows one after another.
pub trait RowSource {
    /// Calls `sink` with the next row's values, in the order of the table's columns; false when there is none left.
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool;

    /// Columns by whose values, each larger than the one before, the rows come; empty where that is not known.
    fn order(&self) -> &[&str] {
        &[]
    }

    /// Number of rows that are left, about; `None` where that is not known.
    fn expected(&self) -> Option<u64> {
        None
    }
}
