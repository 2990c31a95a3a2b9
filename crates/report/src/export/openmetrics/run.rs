//! A run as its series are told apart and dated.

use super::super::time::time_zero_us;
use super::family::Labels;
use proofload_record::Attempt;

/// A finished run with its time zero.
pub(super) struct Run<'r> {
    pub(super) attempt: &'r Attempt,
    pub(super) zero_us: i64,
}

impl<'r> Run<'r> {
    pub(super) fn of(attempt: &'r Attempt) -> Self {
        Self { attempt, zero_us: time_zero_us(attempt) }
    }

    /// The end of a second of the run, microseconds since 1970.
    pub(super) fn end_of(&self, second: u64) -> i64 {
        self.zero_us + (i64::try_from(second).unwrap_or(0) + 1) * 1_000_000
    }

    /// What every series of it is told apart by.
    pub(super) fn labels(&self) -> Labels {
        let run = self.attempt.run;
        Labels::of(&[("run", &run.index.to_string()), ("point", &run.point.to_string())])
    }
}
