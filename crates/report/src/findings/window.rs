//! The measured window of a run, and the operations that failed in it.

pub(super) mod reach;
pub(super) mod warm_up;
pub(super) mod whole_run;

use proofload_model::samples::{IntervalSample, OperationCounts, PAST_DEADLINE};

/// Measured seconds of a run, counted from time zero: `from` is the first, `to` the first after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First second.
    pub from: u64,
    /// First second that no longer belongs to it.
    pub to: u64,
}

impl Window {
    /// Number of its seconds.
    pub(crate) fn seconds(self) -> usize {
        self.to.saturating_sub(self.from) as usize
    }

    /// Its ends in seconds, for telemetry and charts.
    pub fn span(self) -> (f64, f64) {
        (self.from as f64, self.to as f64)
    }

    /// Whether a second belongs to it.
    pub(super) fn contains(self, second: u64) -> bool {
        (self.from..self.to).contains(&second)
    }

    /// The intervals that belong to it.
    pub(super) fn inside(self, intervals: &[IntervalSample]) -> Vec<&IntervalSample> {
        intervals.iter().filter(|interval| self.contains(interval.index)).collect()
    }

    /// A value for each of its seconds, NaN where the interval is missing.
    pub(super) fn by_second(self, inside: &[&IntervalSample], value: impl Fn(&IntervalSample) -> f64) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.seconds()];
        for interval in inside {
            values[(interval.index - self.from) as usize] = value(interval);
        }
        values
    }

    /// Picks its seconds out of values by second.
    pub(super) fn of(self, per_second: &[f64]) -> &[f64] {
        let (from, to) = (self.from as usize, (self.to as usize).min(per_second.len()));
        per_second.get(from.min(to)..to).unwrap_or_default()
    }
}

/// Operations that failed among those that became due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailureCount {
    /// Failed.
    pub failed: u64,
    /// Became due.
    pub due: u64,
    /// Failed since their users gave them up at `workload.deadline`; part of those that failed. None in records from before that was told apart.
    pub given_up: u64,
}

impl FailureCount {
    /// Counted over some intervals.
    pub(super) fn over(intervals: &[&IntervalSample]) -> Self {
        let sum = |count: fn(&OperationCounts) -> u64| intervals.iter().flat_map(|of| &of.counts).map(count).sum();
        let errors = intervals.iter().flat_map(|of| &of.errors).filter(|error| error.code == PAST_DEADLINE);
        Self {
            failed: sum(|counts| counts.failed),
            due: sum(|counts| counts.due),
            given_up: errors.map(|error| error.count).sum(),
        }
    }

    /// The same without those that were given up.
    pub(super) fn answered(self) -> Self {
        Self { failed: self.failed.saturating_sub(self.given_up), given_up: 0, ..self }
    }

    /// Share that failed, 0 when nothing became due.
    pub(super) fn share(self) -> f64 {
        self.failed as f64 / self.due.max(1) as f64
    }
}
