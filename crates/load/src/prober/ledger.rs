//! The ledger: each write of the prober beside what the database holds afterwards. Pure.

use super::operation::{ProbeOperation, ProbeOutcome};
use proofload_model::drill::Ledger;
use proofload_model::ledger::{Leader, LedgerRange, WriteClass};
use proofload_model::time::{Moment, Offset};
use std::collections::{HashMap, HashSet};

/// Shortest time from the last acknowledgement of one instance to the first of the next, nanoseconds, that may be a failover back: a promotion
/// alone takes as long. An instance that acknowledges again sooner had never stopped.
const SHORTEST_FAILOVER_NS: i64 = 50_000_000;

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
    let two_primaries_seconds = two_primaries(&leaders);
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
    let mut numbers: HashSet<i64> = HashSet::with_capacity(present.numbers.len());
    let twice: HashSet<i64> = present.numbers.iter().copied().filter(|number| !numbers.insert(*number)).collect();
    let seen: HashSet<i64> = seen.iter().copied().collect();
    let is_present = |write: &ProbeOperation| numbers.contains(&number(write));
    let last_present = last_sent_and_present(writes, &is_present);
    for write in writes {
        let is_twice = twice.contains(&number(write));
        let class = match (write.outcome, is_present(write)) {
            (ProbeOutcome::Acknowledged, true) => {
                ledger.kept += 1;
                if !is_twice {
                    continue;
                }
                WriteClass::Double
            }
            (ProbeOutcome::Failed, false) => {
                ledger.doubles += u64::from(write.is_duplicate);
                continue;
            }
            (ProbeOutcome::Acknowledged, false) if write.warned => WriteClass::LostAsWarned,
            // Of one node only the end of its log is lost.
            (ProbeOutcome::Acknowledged, false)
                if last_present.get(&write.node).is_some_and(|sent| *sent > write.ended) =>
            {
                WriteClass::Hole
            }
            (ProbeOutcome::Acknowledged, false) => WriteClass::Lost,
            (ProbeOutcome::Unknown, true) if is_twice => {
                ledger.unknown_present += 1;
                WriteClass::Double
            }
            (ProbeOutcome::Unknown, true) => WriteClass::UnknownPresent,
            (ProbeOutcome::Unknown, false) if seen.contains(&number(write)) => WriteClass::SeenAndLost,
            (ProbeOutcome::Unknown, false) => WriteClass::UnknownAbsent,
            (ProbeOutcome::Failed, true) if is_twice || write.is_duplicate => WriteClass::Double,
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
        WriteClass::Double => one(|ledger| &mut ledger.doubles),
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

/// Seconds in which several instances took writes by turns. An instance takes writes from an acknowledgement to a later one of its own, unless
/// it was away for so long before that it may have been made the primary again.
fn two_primaries(leaders: &[Leader]) -> f64 {
    let mut spans: Vec<Leader> = Vec::new();
    let mut last: Option<Leader> = None;
    for leader in leaders {
        let is_at_once = last.is_some_and(|last| leader.from.0 - last.to.0 < SHORTEST_FAILOVER_NS);
        match spans.iter_mut().rev().find(|span| span.node == leader.node) {
            Some(span) if is_at_once => span.to = leader.to,
            _ => spans.push(*leader),
        }
        last = Some(*leader);
    }
    let pairs =
        spans.iter().enumerate().flat_map(|(place, one)| spans.iter().skip(place + 1).map(move |other| (one, other)));
    let mut together: Vec<(i64, i64)> =
        pairs.map(|(one, other)| (one.from.max(other.from).0, one.to.min(other.to).0)).collect();
    together.retain(|(from, to)| from < to);
    together.sort_unstable();
    let (mut sum, mut until) = (0, i64::MIN);
    for (from, to) in together {
        sum += (to - from.max(until)).max(0);
        until = until.max(to);
    }
    Offset(sum).as_seconds()
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
