//! The ledger: each write of the prober beside what the database holds afterwards. Pure.

use super::operation::{ProbeOperation, ProbeOutcome};
use proofload_model::drill::Ledger;
use proofload_model::time::Moment;
use std::collections::HashMap;

/// Most numbers of lost writes that are told.
const MOST_TOLD: usize = 1000;

/// Compares writes with the numbers that are present, in any order; `seen`: numbers that readers have seen.
pub(super) fn ledger(writes: &[ProbeOperation], mut present: Vec<i64>, seen: &[i64], origin: Moment) -> Ledger {
    present.sort_unstable();
    let is_present = |write: &ProbeOperation| present.binary_search(&number(write)).is_ok();
    let last_present = last_sent_and_present(writes, &is_present);
    let mut ledger = Ledger { two_primaries_seconds: two_primaries(writes), ..Ledger::default() };
    for write in writes {
        ledger.sent += u64::from(write.sent.is_some());
        match (write.outcome, is_present(write)) {
            (ProbeOutcome::Acknowledged, true) => ledger.kept += 1,
            (ProbeOutcome::Acknowledged, false) if write.warned => ledger.lost_as_warned += 1,
            (ProbeOutcome::Acknowledged, false) => lose(&mut ledger, write, &last_present, origin),
            (ProbeOutcome::Unknown, true) => ledger.unknown_present += 1,
            (ProbeOutcome::Unknown, false) => {
                ledger.unknown_absent += 1;
                ledger.seen_and_lost += u64::from(seen.contains(&number(write)));
            }
            (ProbeOutcome::Failed, true) => ledger.phantoms += 1,
            (ProbeOutcome::Failed, false) => {}
        }
    }
    ledger
}

fn lose(ledger: &mut Ledger, write: &ProbeOperation, last_present: &HashMap<usize, Moment>, origin: Moment) {
    ledger.lost += 1;
    if ledger.lost_numbers.len() < MOST_TOLD {
        ledger.lost_numbers.push(write.number);
    }
    let ended = write.ended.offset_from(origin);
    ledger.oldest_lost = Some(ledger.oldest_lost.map_or(ended, |oldest| oldest.min(ended)));
    // Of one node only the end of its log is lost.
    ledger.holes += u64::from(last_present.get(&write.node).is_some_and(|sent| *sent > write.ended));
}

/// When each node was sent the last write that is present.
fn last_sent_and_present(
    writes: &[ProbeOperation],
    is_present: &impl Fn(&ProbeOperation) -> bool,
) -> HashMap<usize, Moment> {
    let mut last: HashMap<usize, Moment> = HashMap::new();
    for write in writes.iter().filter(|write| write.outcome != ProbeOutcome::Failed && is_present(write)) {
        let Some(sent) = write.sent else { continue };
        let latest = last.entry(write.node).or_insert(sent);
        *latest = sent.max(*latest);
    }
    last
}

/// Seconds from the first acknowledgement of a node to the last one of the node before it.
fn two_primaries(writes: &[ProbeOperation]) -> f64 {
    let acknowledged = || writes.iter().filter(|write| write.is_acknowledged());
    let Some(first) = acknowledged().min_by_key(|write| write.ended).map(|write| write.node) else { return 0.0 };
    let taken_over = acknowledged().filter(|write| write.node != first).map(|write| write.ended).min();
    let last_of_first = acknowledged().filter(|write| write.node == first).map(|write| write.ended).max();
    match (taken_over, last_of_first) {
        (Some(from), Some(to)) => to.since(from).as_secs_f64(),
        _ => 0.0,
    }
}

fn number(write: &ProbeOperation) -> i64 {
    i64::try_from(write.number).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
