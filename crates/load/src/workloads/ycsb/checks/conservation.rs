//! The number of records must be what was loaded and what was inserted since.

use proofload_model::samples::{Check, CheckOutcome};

/// Counts of the inserts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inserts {
    /// Records before the run.
    pub(super) before: u64,
    /// Acknowledged inserts.
    pub(super) acknowledged: u64,
    /// Inserts that may or may not have happened.
    pub(super) unknown: u64,
}

/// Compares the count after the run.
pub(super) fn check(inserts: Inserts, found: u64) -> Check {
    let Inserts { before, acknowledged, unknown } = inserts;
    let least = before + acknowledged;
    let most = least + unknown;
    let expected = if unknown == 0 { least.to_string() } else { format!("{least} to {most}") };
    Check {
        group: "conservation".to_owned(),
        name: "records".to_owned(),
        rule: "records after the run = records before + acknowledged inserts (+ inserts of unknown outcome)".to_owned(),
        found: format!("{found} records, {expected} expected: {before} before, {acknowledged} inserted"),
        outcome: if (least..=most).contains(&found) { CheckOutcome::Met } else { CheckOutcome::Failed },
        offenders: Vec::new(),
        sample: None,
        lost: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_outcome(unknown: u64, found: u64, outcome: CheckOutcome) {
        assert_eq!(check(Inserts { before: 100, acknowledged: 7, unknown }, found).outcome, outcome);
    }

    #[test]
    fn a_record_too_few_or_too_many_is_found() {
        check_outcome(0, 107, CheckOutcome::Met);
        check_outcome(0, 106, CheckOutcome::Failed);
        check_outcome(0, 108, CheckOutcome::Failed);
        check_outcome(1, 108, CheckOutcome::Met);
        check_outcome(1, 109, CheckOutcome::Failed);
    }
}
