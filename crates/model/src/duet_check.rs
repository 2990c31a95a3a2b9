//! Duets whose true ratio is known beforehand, and what they read: whether contention biases a duet. Pure.

use serde::{Deserialize, Serialize};

/// True ratio of a duet with a known difference: the share of its CPU time that is left to the copy. Ours: small enough to ask for a narrow
/// interval, large enough to be told from none.
pub const KNOWN_RATIO: f64 = 0.9;

/// A duet whose true ratio is known, with what it read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DuetCheck {
    /// True ratio of throughput, candidate over baseline.
    pub expected: f64,
    /// Records of both sides, baseline first.
    pub records: [CheckRecord; 2],
    /// Ratio at each point that could be compared.
    pub ratios: Vec<CheckRatio>,
    /// Number of points that could not be compared over the same seconds.
    pub missing: u64,
}

/// A record of a side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRecord {
    /// Name of its file.
    pub file: String,
    /// SHA-256 of its file, when the ratio was formed.
    pub sha256: String,
}

/// Ratio of throughput that a point read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckRatio {
    /// Levels of the point, in words; empty where the study has one point.
    pub point: String,
    /// The ratio.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// Outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuetCheckOutcome {
    /// Every point reads the true ratio.
    Met,
    /// A point reads another ratio than the true one.
    Missed,
    /// A point is missing, or reads so wide an interval that the known difference and none are not told apart.
    Undecided,
}

impl CheckRatio {
    fn holds(&self, ratio: f64) -> bool {
        (self.low..=self.high).contains(&ratio)
    }
}

impl DuetCheck {
    /// Tells what came of it.
    pub fn outcome(&self) -> DuetCheckOutcome {
        let other = if self.expected == 1.0 { KNOWN_RATIO } else { 1.0 };
        if self.ratios.iter().any(|ratio| !ratio.holds(self.expected)) {
            DuetCheckOutcome::Missed
        } else if self.ratios.is_empty() || self.missing > 0 || self.ratios.iter().any(|ratio| ratio.holds(other)) {
            DuetCheckOutcome::Undecided
        } else {
            DuetCheckOutcome::Met
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: f64, ratios: &[(f64, f64)], missing: u64, outcome: DuetCheckOutcome) {
        let record = CheckRecord { file: "a.proof".to_owned(), sha256: String::new() };
        let ratio = |(low, high): &(f64, f64)| CheckRatio {
            point: String::new(),
            value: f64::midpoint(*low, *high),
            low: *low,
            high: *high,
        };
        let records = [record.clone(), record];
        let check = DuetCheck { expected, records, ratios: ratios.iter().map(ratio).collect(), missing };
        assert_eq!(check.outcome(), outcome, "{check:?}");
    }

    #[test]
    fn a_check_is_met_where_every_point_reads_the_true_ratio() {
        check(1.0, &[(0.97, 1.06)], 0, DuetCheckOutcome::Met);
        check(1.0, &[(0.97, 1.06), (1.01, 1.03)], 0, DuetCheckOutcome::Missed);
        check(0.9, &[(0.89, 0.94)], 0, DuetCheckOutcome::Met);
        check(0.9, &[(0.92, 0.95)], 0, DuetCheckOutcome::Missed);
    }

    #[test]
    fn what_is_missing_or_too_wide_decides_nothing() {
        check(1.0, &[], 1, DuetCheckOutcome::Undecided);
        check(1.0, &[(0.97, 1.06)], 1, DuetCheckOutcome::Undecided);
        check(0.9, &[(0.85, 1.05)], 0, DuetCheckOutcome::Undecided);
        check(1.0, &[(0.85, 1.2)], 0, DuetCheckOutcome::Undecided);
        check(0.9, &[(0.97, 1.05)], 0, DuetCheckOutcome::Missed);
    }
}
