//! The ledger: each write of the prober beside what the database holds afterwards. Pure.

use super::claims::WriteClaim;
use super::operation::{ProbeOperation, ProbeOutcome};
use super::primaries::{ShortestFailover, leaders, small, two_claimed, two_primaries};
use super::reads::{ProbeRead, stale_reads};
use proofload_model::drill::Ledger;
use proofload_model::ledger::{LedgerRange, WriteClass};
use proofload_model::prober::ProberPaces;
use proofload_model::time::Moment;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Most numbers of lost writes that are listed beside the ranges.
const MOST_TOLD: usize = 1000;

/// Numbers that are there, and the number of the instance that said so.
pub(super) struct Present {
    pub(super) node: usize,
    pub(super) numbers: Vec<i64>,
}

/// Answers that a prober had: writes in the order of their numbers, one in a period of the full pace, answers of reads, and hosts that said that they take writes.
pub(super) struct ProberAnswers<'a> {
    pub(super) writes: &'a [ProbeOperation],
    pub(super) reads: &'a [ProbeRead],
    pub(super) claims: &'a [WriteClaim],
    pub(super) period: Duration,
    pub(super) paces: ProberPaces,
}

/// Compares writes with the numbers that are present.
pub(super) fn ledger(observed: &ProberAnswers<'_>, present: &Result<Present, String>, origin: Moment) -> Ledger {
    let ProberAnswers { writes, reads, claims, period, ref paces } = *observed;
    let (leaders, shortest) = (leaders(writes, origin), ShortestFailover::of(period, paces));
    let ledger = Ledger {
        sent: writes.iter().filter(|write| write.sent.is_some()).count() as u64,
        two_primaries_seconds: two_primaries(&leaders, &shortest),
        two_claimed_seconds: two_claimed(claims, writes, origin, &shortest),
        stale_reads: stale_reads(reads, writes),
        period_ns: u64::try_from(period.as_nanos()).unwrap_or(u64::MAX),
        paces: paces.clone(),
        leaders,
        ..Ledger::default()
    };
    match present {
        Ok(present) => compared(ledger, writes, present, (reads, origin)),
        Err(why) => Ledger { unread: Some(why.clone()), ..ledger },
    }
}

fn compared(
    mut ledger: Ledger,
    writes: &[ProbeOperation],
    present: &Present,
    (reads, origin): (&[ProbeRead], Moment),
) -> Ledger {
    ledger.read_from = Some(small(present.node));
    let mut numbers: HashSet<i64> = HashSet::with_capacity(present.numbers.len());
    let twice: HashSet<i64> = present.numbers.iter().copied().filter(|number| !numbers.insert(*number)).collect();
    let seen: HashSet<i64> = reads.iter().flat_map(|read| read.numbers.iter().copied()).collect();
    let is_present = |write: &ProbeOperation| numbers.contains(&write.key());
    let lives = ShownLives::of(writes, &is_present);
    for write in writes {
        let is_twice = twice.contains(&write.key());
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
            // Of one life of a node only the end of its log is lost.
            (ProbeOutcome::Acknowledged, false) if lives.go_on_after(write) => WriteClass::Hole,
            (ProbeOutcome::Acknowledged, false) => WriteClass::Lost,
            (ProbeOutcome::Unknown, true) if is_twice => {
                ledger.unknown_present += 1;
                WriteClass::Double
            }
            (ProbeOutcome::Unknown, true) => WriteClass::UnknownPresent,
            (ProbeOutcome::Unknown, false) if seen.contains(&write.key()) => WriteClass::SeenAndLost,
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

/// Stretches of the lives of nodes that present writes show: of each connection from when it was made until the last present write was sent over
/// it. A connection outlives no server, so that what was acknowledged within such a stretch is not of the end of a log.
struct ShownLives(HashMap<usize, Vec<(Moment, Moment)>>);

impl ShownLives {
    fn of(writes: &[ProbeOperation], is_present: &impl Fn(&ProbeOperation) -> bool) -> Self {
        let mut last: HashMap<(usize, Moment), Moment> = HashMap::new();
        for write in writes.iter().filter(|write| write.outcome != ProbeOutcome::Failed && is_present(write)) {
            let Some(sent) = write.sent else { continue };
            let latest = last.entry((write.node, write.connected)).or_insert(sent);
            *latest = sent.max(*latest);
        }
        let mut lives: HashMap<usize, Vec<(Moment, Moment)>> = HashMap::new();
        for ((node, made), sent) in last {
            lives.entry(node).or_default().push((made, sent));
        }
        Self(lives)
    }

    /// Tells whether a later write of the life that acknowledged a write is present.
    fn go_on_after(&self, write: &ProbeOperation) -> bool {
        let within = |(made, sent): &(Moment, Moment)| *made <= write.ended && write.ended < *sent;
        self.0.get(&write.node).is_some_and(|stretches| stretches.iter().any(within))
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
pub(super) mod tests;
