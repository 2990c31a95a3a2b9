//! The mix that ran must be the mix that was asked for, within what chance allows.

use proofload_gen::ycsb::{Kind, Mix};
use proofload_model::samples::{Check, CheckOutcome, OperationCounts};

/// Standard deviations of a share that chance is allowed: one run in 16,000 goes beyond by chance.
const DEVIATIONS: f64 = 4.0;

/// Least number of operations for which a share says anything.
const LEAST_OPERATIONS: u64 = 1_000;

/// Compares the share of each kind that became due.
pub(super) fn mix(mix: &Mix, counts: &[OperationCounts]) -> Vec<Check> {
    let total: u64 = counts.iter().map(|counts| counts.due).sum();
    let due = |kind: Kind| counts.iter().filter(|counts| counts.kind == kind.name()).map(|counts| counts.due).sum();
    Kind::ALL.into_iter().filter_map(|kind| share(kind, mix.share(kind), due(kind), total)).collect()
}

/// Check of one kind's share; `None` when it is neither asked for nor seen.
fn share(kind: Kind, asked: f64, due: u64, total: u64) -> Option<Check> {
    if asked == 0.0 && due == 0 {
        return None;
    }
    let found = due as f64 / total.max(1) as f64;
    // One operation more than chance: counts are whole.
    let allowed = DEVIATIONS * (asked * (1.0 - asked) / total.max(1) as f64).sqrt() + 1.0 / total.max(1) as f64;
    let outcome = match (found - asked).abs() <= allowed {
        true => CheckOutcome::Met,
        false if total < LEAST_OPERATIONS => CheckOutcome::TooSmall,
        false => CheckOutcome::Failed,
    };
    Some(Check {
        group: "inputs".to_owned(),
        name: format!("share of {}", kind.name()),
        rule: format!("{:.3} % ± {:.3} %", asked * 100.0, allowed * 100.0),
        found: format!("{:.3} % of {total} operations", found * 100.0),
        outcome,
        offenders: Vec::new(),
        sample: None,
        lost: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_outcome(asked: f64, due: u64, total: u64, outcome: CheckOutcome) {
        assert_eq!(share(Kind::Read, asked, due, total).map(|check| check.outcome), Some(outcome));
    }

    #[test]
    fn a_share_beyond_chance_is_found() {
        check_outcome(0.5, 5_100, 10_000, CheckOutcome::Met);
        check_outcome(0.5, 5_300, 10_000, CheckOutcome::Failed);
        check_outcome(0.5, 0, 10, CheckOutcome::Met);
        check_outcome(0.0, 1, 1_000_000, CheckOutcome::Met);
        check_outcome(0.0, 5, 1_000_000, CheckOutcome::Failed);
        check_outcome(0.95, 70, 100, CheckOutcome::TooSmall);
        assert!(share(Kind::Scan, 0.0, 0, 10).is_none());
    }
}
