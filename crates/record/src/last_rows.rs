//! Numbers of the last rows of a record's tables at one moment. A record is append-only: what comes later has larger numbers.

use crate::chain::{chained_tables, last_row};
use crate::compat::Format;
use rusqlite::Connection;

/// Tables whose rows are numbered: those of the chain, and the chain itself.
const TABLES: [&str; 18] = [
    "document",
    "session",
    "attempt",
    "event",
    "fact",
    "interval",
    "operation",
    "histogram",
    "agent_interval",
    "agent_histogram",
    "failure",
    "series",
    "series_set",
    "sample",
    "mark",
    "verification",
    "log",
    "link",
];

/// The last row of each table; 0 for a table without rows, and for one that the format does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LastRows([i64; TABLES.len()]);

impl LastRows {
    /// Reads them, each by one look at the end of its table.
    pub(crate) fn of(connection: &Connection, format: Format) -> rusqlite::Result<Self> {
        let is_there = |table: &str| format.has_agent_tables() || !table.starts_with("agent_");
        let tables = chained_tables(format).map(|chained| chained.table).filter(|table| is_there(table));
        let mut found = Self::default();
        for table in tables.chain(format.has_chain().then_some("link")) {
            found = found.with(table, last_row(connection, table)?);
        }
        Ok(found)
    }

    /// The last row of a table.
    pub(crate) fn get(&self, table: &str) -> i64 {
        place(table).map_or(0, |place| self.0[place])
    }

    /// Replaces the last row of a table.
    pub(crate) fn with(mut self, table: &str, row: i64) -> Self {
        if let Some(place) = place(table) {
            self.0[place] = row;
        }
        self
    }

    /// The earlier of two moments, table by table.
    pub(crate) fn least(self, other: Self) -> Self {
        Self(std::array::from_fn(|place| self.0[place].min(other.0[place])))
    }
}

fn place(table: &str) -> Option<usize> {
    TABLES.iter().position(|known| *known == table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::FORMAT;

    #[test]
    fn every_table_has_its_number() {
        for format in 1..=FORMAT {
            let missing: Vec<&str> = chained_tables(Format(format))
                .map(|chained| chained.table)
                .filter(|table| place(table).is_none())
                .collect();
            assert!(missing.is_empty(), "format {format}: {missing:?}");
        }
        let earlier = LastRows::default().with("event", 3).with("link", 9);
        let later = LastRows::default().with("event", 5).with("link", 1);
        let least = earlier.least(later);
        assert_eq!((least.get("event"), least.get("link"), least.get("fact")), (3, 1, 0));
    }
}
