//! Counts of a long step while it goes on, with what is counted. Pure; may not know how fast a step is.

use crate::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;

words! {
    /// What a long step counts.
    StepUnit {
        /// Rows of a table.
        Rows = "rows",
        /// Records of a key-value store.
        Records = "records",
        /// Tables.
        Tables = "tables",
        /// Parts of tables that are loaded by one transaction each.
        Chunks = "chunks",
        /// Indexes.
        Indexes = "indexes",
        /// Warehouses of TPROC-C.
        Warehouses = "warehouses",
        /// Queries.
        Queries = "queries",
        /// Passes over the data.
        Passes = "passes",
        /// Rounds of writes to a drive.
        Rounds = "rounds",
        /// Blocks of an experiment.
        Blocks = "blocks",
        /// Bytes.
        Bytes = "bytes",
        /// Seconds.
        Seconds = "seconds",
        /// Parts of a hundred, where a server tells no more.
        Percent = "percent",
    }
}

impl fmt::Display for StepUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How far a long step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepCount {
    /// Done.
    pub done: u64,
    /// All there are to do.
    pub total: u64,
    /// What is counted.
    pub unit: StepUnit,
}

impl StepCount {
    /// A count of a step whose total is known.
    pub const fn of(done: u64, total: u64, unit: StepUnit) -> Self {
        Self { done, total, unit }
    }

    /// Whole per cent that are done; `None` where there is nothing to do.
    pub fn percent(self) -> Option<u128> {
        (u128::from(self.done) * 100).checked_div(u128::from(self.total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_cent_are_whole_and_nothing_to_do_has_none() {
        assert_eq!(StepCount::of(u64::MAX - 1, u64::MAX, StepUnit::Bytes).percent(), Some(99));
        assert_eq!(StepCount::of(3, 3, StepUnit::Rows).percent(), Some(100));
        assert_eq!(StepCount::of(0, 0, StepUnit::Indexes).percent(), None);
    }
}
