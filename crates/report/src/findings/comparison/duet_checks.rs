//! Duets with known ratios that were measured before a duet: what they say of contention, in words. May not judge the duet itself.

use super::compare::{Comparison, NamedRecord, Row};
use crate::numbers::short;
use proofload_analysis::contrast::Spread;
use proofload_analysis::quantity::{NO_UPPER_BOUND, is_unbounded_above};
use proofload_model::duet_check::{CheckRatio, CheckRecord, DuetCheck, DuetCheckOutcome};
use proofload_model::events::RunEvent;
use proofload_record::Record;

/// Level of the intervals of one check, over all of its points together: half of 0.05, as there are two checks (Bonferroni).
const LEVEL: f64 = 0.05 / 2.0;

/// Checks that two records name, if both name the same.
pub(super) fn checks_of(records: [&Record; 2]) -> Vec<DuetCheck> {
    let [baseline, candidate] = records.map(checks);
    if baseline == candidate { baseline.to_vec() } else { Vec::new() }
}

fn checks(record: &Record) -> &[DuetCheck] {
    let found = record.events.iter().rev().find_map(|event| match &event.event {
        RunEvent::DuetChecked(checks) => Some(checks.as_slice()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Ratios that a duet with a known ratio read, by the comparison of its records. The intervals are widened, so that all of them, at every point
/// of both checks, hold the true ratios together as often as one of 95 % alone would (Bonferroni).
pub fn duet_check(expected: f64, comparison: &Comparison<'_>) -> DuetCheck {
    let at_once: Vec<&Row> = comparison.rows.iter().filter(|row| row.contrast.spread == Spread::AtOnce).collect();
    let level = LEVEL / at_once.len().max(1) as f64;
    let ratio = |row: &&Row| {
        let (low, high) = row.contrast.bounds(level);
        let point = if comparison.pairs.len() < 2 { "" } else { comparison.described(row.pair) };
        let is_bounded = low > 0.0 && high.is_finite();
        is_bounded.then(|| CheckRatio { point: point.to_owned(), value: row.contrast.ratio(), low, high })
    };
    let ratios: Vec<CheckRatio> = at_once.iter().filter_map(ratio).collect();
    let record = |named: &NamedRecord<'_>| CheckRecord { file: named.file.clone(), sha256: named.sha256.clone() };
    let missing = comparison.pairs.len().saturating_sub(ratios.len()) as u64;
    DuetCheck { expected, records: [record(&comparison.baseline), record(&comparison.candidate)], ratios, missing }
}

/// Sentences on what the checks say together; `None` without any.
pub fn contention_words(checks: &[DuetCheck]) -> Option<String> {
    if checks.is_empty() {
        return None;
    }
    let outcomes: Vec<DuetCheckOutcome> = checks.iter().map(DuetCheck::outcome).collect();
    let lead = if outcomes.contains(&DuetCheckOutcome::Missed) {
        "This duet is biased: a duet whose true ratio is known read another one, because of contention, or because \
         limits.cpu does not bind the load."
    } else if outcomes.contains(&DuetCheckOutcome::Undecided) {
        "Whether contention biases this duet is not known: a duet whose true ratio is known decided nothing."
    } else {
        "Contention was not seen to bias this duet: duets whose true ratios are known read them."
    };
    let each: Vec<String> = checks.iter().map(read_words).collect();
    Some(format!("{lead} {}", each.join(" ")))
}

/// What one check read, as a sentence.
fn read_words(check: &DuetCheck) -> String {
    let what = if check.expected == 1.0 {
        "The baseline against a copy of itself".to_owned()
    } else {
        format!("The baseline against itself with {} of its CPU time", short(check.expected))
    };
    let read = |ratio: &CheckRatio| {
        let at = if ratio.point.is_empty() { String::new() } else { format!(" at {}", ratio.point) };
        let high = if is_unbounded_above(ratio.value, (ratio.low, ratio.high)) {
            NO_UPPER_BOUND.to_owned()
        } else {
            format!("{:.3}", ratio.high)
        };
        format!("{:.3} [{:.3}, {high}]{at}", ratio.value, ratio.low)
    };
    let mut told: Vec<String> = check.ratios.iter().map(read).collect();
    if check.missing > 0 {
        told.push(format!("nothing at {} of {} points", check.missing, check.missing + check.ratios.len() as u64));
    }
    if told.is_empty() {
        told.push("nothing".to_owned());
    }
    let [baseline, candidate] = &check.records;
    format!("{what} read {} ({}, {}).", told.join("; "), baseline.file, candidate.file)
}
