//! The ledger: each write of the prober beside what the database holds afterwards. Pure.

use super::operation::{ProbeOperation, ProbeOutcome};
use proofload_model::drill::Ledger;
use proofload_model::ledger::{Leader, LedgerRange, WriteClass};
use proofload_model::time::Moment;
use std::collections::{HashMap, HashSet};

/// Most numbers of lost writes that are listed beside the ranges.
const MOST_TOLD: usize = 1000;

/// Numbers that are there, and the number of the instance that said so.
pub(super) struct Present {
    pub(super) node: usize,
    pub(super) numbers: Vec<i64>,
}

/// Compares writes, in the order of their numbers, with the numbers that are present; `seen`: numbers that readers have seen.
pub(super) fn ledger(
    writes: &[ProbeOperation],
    present: &Result<Present, String>,
    seen: &[i64],
    origin: Moment,
) -> Ledger {
    let sent = writes.iter().filter(|write| write.sent.is_some()).count() as u64;
    let leaders = leaders(writes, origin);
    let two_primaries_seconds = two_primaries(writes);
    let ledger = Ledger { sent, leaders, two_primaries_seconds, ..Ledger::default() };
    match present {
        Ok(present) => compared(ledger, writes, present, (seen, origin)),
        Err(why) => Ledger { unread: Some(why.clone()), ..ledger },
    }
}

fn compared(
    mut ledger: Ledger,
    writes: &[ProbeOperation],
    present: &Present,
    (seen, origin): (&[i64], Moment),
) -> Ledger {
    ledger.read_from = Some(small(present.node));
    let numbers: HashSet<i64> = present.numbers.iter().copied().collect();
    let seen: HashSet<i64> = seen.iter().copied().collect();
    let is_present = |write: &ProbeOperation| numbers.contains(&number(write));
    let last_present = last_sent_and_present(writes, &is_present);
    for write in writes {
        let class = match (write.outcome, is_present(write)) {
            (ProbeOutcome::Acknowledged, true) => {
                ledger.kept += 1;
                continue;
            }
            (ProbeOutcome::Failed, false) => continue,
            (ProbeOutcome::Acknowledged, false) if write.warned => WriteClass::LostAsWarned,
            // Of one node only the end of its log is lost.
            (ProbeOutcome::Acknowledged, false)
                if last_present.get(&write.node).is_some_and(|sent| *sent > write.ended) =>
            {
                WriteClass::Hole
            }
            (ProbeOutcome::Acknowledged, false) => WriteClass::Lost,
            (ProbeOutcome::Unknown, true) => WriteClass::UnknownPresent,
            (ProbeOutcome::Unknown, false) if seen.contains(&number(write)) => WriteClass::SeenAndLost,
            (ProbeOutcome::Unknown, false) => WriteClass::UnknownAbsent,
            (ProbeOutcome::Failed, true) => WriteClass::Phantom,
        };
        count(&mut ledger, class);
        if class.is_plainly_lost() {
            lose(&mut ledger, write, origin);
        }
        LedgerRange::add(&mut ledger.ranges, (class, small(write.node)), write.number, write.took_us());
    }
    ledger
}

fn count(ledger: &mut Ledger, class: WriteClass) {
    let mut one = |count: fn(&mut Ledger) -> &mut u64| *count(ledger) += 1;
    match class {
        WriteClass::Lost => one(|ledger| &mut ledger.lost),
        WriteClass::Hole => {
            one(|ledger| &mut ledger.lost);
            one(|ledger| &mut ledger.holes);
        }
        WriteClass::LostAsWarned => one(|ledger| &mut ledger.lost_as_warned),
        WriteClass::UnknownPresent => one(|ledger| &mut ledger.unknown_present),
        WriteClass::UnknownAbsent => one(|ledger| &mut ledger.unknown_absent),
        WriteClass::SeenAndLost => {
            one(|ledger| &mut ledger.unknown_absent);
            one(|ledger| &mut ledger.seen_and_lost);
        }
        WriteClass::Phantom => one(|ledger| &mut ledger.phantoms),
    }
}

fn lose(ledger: &mut Ledger, write: &ProbeOperation, origin: Moment) {
    if ledger.lost_numbers.len() < MOST_TOLD {
        ledger.lost_numbers.push(write.number);
    }
    let ended = write.ended.offset_from(origin);
    ledger.oldest_lost = Some(ledger.oldest_lost.map_or(ended, |oldest| oldest.min(ended)));
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

/// Instances by the order in which they acknowledged.
fn leaders(writes: &[ProbeOperation], origin: Moment) -> Vec<Leader> {
    let mut acknowledged: Vec<(Moment, usize)> =
        writes.iter().filter(|write| write.is_acknowledged()).map(|write| (write.ended, write.node)).collect();
    acknowledged.sort_unstable();
    let mut leaders: Vec<Leader> = Vec::new();
    for (at, node) in acknowledged {
        let (at, node) = (at.offset_from(origin), small(node));
        match leaders.last_mut() {
            Some(last) if last.node == node => last.to = at,
            _ => leaders.push(Leader { node, from: at, to: at }),
        }
    }
    leaders
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

fn small(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}

fn number(write: &ProbeOperation) -> i64 {
    i64::try_from(write.number).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
pub(super) mod tests;
