//! What was measured, by rising load. May not choose.

use super::types::{MeasuredLoad, Outcome};

/// A load with a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LoadResult {
    pub(super) load: f64,
    pub(super) times: usize,
    /// Infinite where the load was more than could be done.
    pub(super) value: f64,
    pub(super) bounds: Option<(f64, f64)>,
}

impl LoadResult {
    /// Lower end of the interval; without one, nothing is known.
    pub(super) fn low(&self) -> f64 {
        self.bounds.map_or(f64::NEG_INFINITY, |(low, _)| low)
    }

    /// Upper end of the interval.
    pub(super) fn high(&self) -> f64 {
        self.bounds.map_or(f64::INFINITY, |(_, high)| high)
    }

    /// Whether a value within the interval is on the other side of `bound` than ours.
    pub(super) fn straddles(&self, bound: f64) -> bool {
        self.value.is_finite() && self.low() <= bound && bound <= self.high()
    }
}

/// Loads with a result, ascending; of several results of one load the last.
pub(super) fn seen(tried: &[MeasuredLoad]) -> Vec<LoadResult> {
    let mut all: Vec<LoadResult> = Vec::new();
    for MeasuredLoad { load, times, outcome } in tried {
        let (value, bounds) = match outcome {
            Outcome::Measured { value, bounds } => (*value, *bounds),
            Outcome::Behind => (f64::INFINITY, Some((f64::INFINITY, f64::INFINITY))),
            Outcome::Void { .. } => continue,
        };
        all.retain(|one| one.load != *load);
        all.push(LoadResult { load: *load, times: *times, value, bounds });
    }
    all.sort_by(|a, b| a.load.total_cmp(&b.load));
    all
}
