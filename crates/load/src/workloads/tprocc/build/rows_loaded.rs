//! Counts rows while several sessions load them, and says how many there are every thousandth of the whole. May not
//! read a clock: rate and remaining time are the business of whoever shows the numbers.

use super::manifest::Manifest;
use crate::workload::ProgressSink;
use crate::workloads::tprocc::settings::TproccSettings;
use proofload_gen::tprocc::population::Table;
use proofload_model::error::Error;
use proofload_model::step_count::{StepCount, StepUnit};
use std::sync::atomic::{AtomicU64, Ordering};

/// Lines of an order, on average: 5 to 15, uniform (clause 4.3.3.1).
const LINES_PER_ORDER: i64 = 10;

/// Most reports of a build's progress.
const TOLD: u64 = 1_000;

/// Rows in the database, those of unfinished chunks included.
pub(super) struct RowsLoaded<'p> {
    progress: &'p ProgressSink,
    expected: u64,
    step: u64,
    loaded: AtomicU64,
}

impl<'p> RowsLoaded<'p> {
    /// Begins with what an earlier build has left.
    pub(super) fn new(
        settings: &TproccSettings,
        manifest: &Manifest,
        progress: &'p ProgressSink,
    ) -> Result<Self, Error> {
        let expected = expected(settings);
        let mut there = 0;
        for table in Table::ALL {
            there += manifest.table(table)?.rows;
        }
        progress("loading rows", Some(StepCount::of(there, expected, StepUnit::Rows)));
        Ok(Self { progress, expected, step: (expected / TOLD).max(1), loaded: AtomicU64::new(there) })
    }

    /// Takes back rows of a transaction that was undone.
    pub(super) fn take_back(&self, rows: u64) {
        self.loaded.fetch_sub(rows, Ordering::Relaxed);
    }

    /// Some rows more.
    pub(super) fn add(&self, rows: u64) {
        let before = self.loaded.fetch_add(rows, Ordering::Relaxed);
        let now = before + rows;
        if before / self.step != now / self.step {
            // How many lines the orders have depends on the seed.
            let count = StepCount::of(now.min(self.expected), self.expected, StepUnit::Rows);
            (self.progress)("loading rows", Some(count));
        }
    }
}

/// Rows of the whole population; of order lines the expected number.
fn expected(settings: &TproccSettings) -> u64 {
    let rows = |table| settings.scale.rows(table, settings.warehouses);
    let lines = rows(Table::Orders).unwrap_or_default() * LINES_PER_ORDER;
    Table::ALL.into_iter().map(|table| rows(table).unwrap_or(lines).unsigned_abs()).sum()
}
