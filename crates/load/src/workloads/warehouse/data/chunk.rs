//! Chunks: parts of tables that are loaded and noted together, and ranges of keys that are read back together.

use super::generate::{Rows, order_key};
use super::tables::Table;

/// Orders of a chunk, unless the dialect says otherwise; their line items, four times as many, are a chunk too. Part of what the manifest
/// must agree with.
pub(crate) const ORDERS_PER_CHUNK: u64 = 12_500;

/// Rows of a chunk of another table, for each order of one.
const ROWS_PER_ORDER: u64 = 4;

/// A part of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) table: Table,
    /// Number, 1..=`parts`.
    pub(crate) part: i32,
    pub(crate) parts: i32,
}

impl Chunk {
    /// Every chunk at a scale factor with so many orders in each, in the order of loading.
    pub(crate) fn all(scale: f64, orders: u64) -> Vec<Self> {
        let of_table = |table: Table| {
            let parts = match table {
                Table::LineItem | Table::Orders => Table::Orders.rows(scale).div_ceil(orders),
                _ => table.rows(scale).div_ceil(ROWS_PER_ORDER * orders),
            };
            let parts = i32::try_from(parts.max(1)).unwrap_or(i32::MAX);
            (1..=parts).map(move |part| Self { table, part, parts })
        };
        Table::ALL.into_iter().flat_map(of_table).collect()
    }

    /// Number of its rows, about: parts are equal, but for line items, whose number is known when they are made.
    pub(crate) fn expected_rows(self, scale: f64) -> u64 {
        self.table.rows(scale).div_ceil(u64::try_from(self.parts).unwrap_or(1).max(1))
    }

    /// Its rows.
    pub(crate) fn rows(self, scale: f64) -> Rows {
        Rows::new(self.table, scale, self.part, self.parts)
    }
}

/// Ranges of a table's first key column, end excluded, that cover all rows with some ten thousand each.
pub(crate) fn key_ranges(table: Table, scale: f64) -> Vec<(i64, i64)> {
    let orders = i64::try_from(Table::Orders.rows(scale)).unwrap_or(i64::MAX);
    let rows = i64::try_from(table.rows(scale)).unwrap_or(i64::MAX);
    let (last, step) = match table {
        Table::LineItem => (order_key(orders), 40_000),
        Table::Orders => (order_key(orders), 160_000),
        Table::PartSupp => (rows / 4, 10_000),
        _ => (rows, 40_000),
    };
    (0..=last / step).map(|number| (number * step, (number + 1) * step)).collect()
}
