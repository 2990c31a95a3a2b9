//! Checks after a run: answers against golden ones, and streams against each other. Asks no database.

use super::stream::{Plan, Tally};
use proofload_model::samples::{Check, CheckOutcome};
use std::collections::BTreeMap;

/// Offenders that are named.
const MOST_OFFENDERS: usize = 10;

/// Answers that were compared with golden ones. Each wrong one is a failed query already.
pub(super) fn golden(tallies: &[Tally]) -> Check {
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let (right, wrong, other) = (sum(|of| of.right), sum(|of| of.wrong), sum(|of| of.not_validated));
    Check {
        group: "answers".to_owned(),
        name: "golden answers".to_owned(),
        rule: "answers match the golden answers, if there are any; a wrong answer counts as a failed query".to_owned(),
        found: format!("{right} right, {wrong} wrong, {other} not validated"),
        outcome: match (right, wrong) {
            (_, 1..) => CheckOutcome::Failed,
            (0, 0) => CheckOutcome::NotApplicable,
            _ => CheckOutcome::Met,
        },
        offenders: tallies.iter().flat_map(|tally| &tally.differences).take(MOST_OFFENDERS).cloned().collect(),
        sample: None,
        lost: None,
    }
}

/// The same question has the same answer in every stream and round. A digest over all of them lets runs of other
/// engines with the same seed be compared, also where there is no golden answer.
pub(super) fn agreement(tallies: &[Tally], plan: &Plan) -> Check {
    let mut first: BTreeMap<u64, u64> = BTreeMap::new();
    let mut offenders = Vec::new();
    let (mut asked, mut digest) = (0u64, 0u64);
    for answer in tallies.iter().flat_map(|tally| &tally.answers) {
        asked += 1;
        if *first.entry(answer.question).or_insert(answer.answer) != answer.answer && offenders.len() < MOST_OFFENDERS {
            let query = plan.dialect.queries.get(answer.place).map_or("an unknown query", |query| query.name);
            offenders.push(format!("{query} has two answers"));
        }
    }
    first.values().for_each(|each| digest = digest.wrapping_add(*each));
    Check {
        group: "answers".to_owned(),
        name: "agreement of streams".to_owned(),
        rule: "equal queries with equal values have equal answers".to_owned(),
        found: format!("{asked} answers to {} questions, digest {digest:016x}", first.len()),
        outcome: match (offenders.is_empty(), asked) {
            (false, _) => CheckOutcome::Failed,
            (true, 0) => CheckOutcome::NotApplicable,
            (true, _) => CheckOutcome::Met,
        },
        offenders,
        sample: None,
        lost: None,
    }
}
