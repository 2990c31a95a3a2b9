//! What became of each write of a prober, in ranges of numbers: handed over second by second while it works, and compared with the database
//! afterwards. Pure. May not know how anything is written or read.

use crate::time::Offset;
use crate::words::words;
use serde::{Deserialize, Serialize};

words! {
    /// What became of a write that is not plainly kept: the outcome its client was told, and whether it is there.
    #[derive(PartialOrd, Ord, Hash)]
    WriteClass {
        /// Acknowledged and absent.
        Lost = "lost",
        /// Lost, though a write is there that was sent to the same life of the node after the acknowledgement.
        Hole = "hole",
        /// Acknowledged with a warning of the server, and absent.
        LostAsWarned = "lost_as_warned",
        /// Outcome unknown, and there.
        UnknownPresent = "unknown_present",
        /// Outcome unknown, and absent.
        UnknownAbsent = "unknown_absent",
        /// Outcome unknown, absent, and seen by a reader before.
        SeenAndLost = "seen_and_lost",
        /// Failed for certain, and there.
        Phantom = "phantom",
        /// Sent once, and there twice, or refused since it is there already.
        Double = "double",
    }
}

impl WriteClass {
    /// Tells whether a client was told that the write is there, and no warning came with it.
    pub fn is_plainly_lost(self) -> bool {
        matches!(self, Self::Lost | Self::Hole)
    }
}

/// Consecutive writes of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRange {
    /// What became of them.
    pub class: WriteClass,
    /// Number of the instance that they were sent to, or would have been.
    pub node: u32,
    /// Number of the first.
    pub first: u64,
    /// Time of each from when it was due until it was acknowledged or given up, microseconds.
    pub took_us: Vec<u64>,
}

/// Write of a range with its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerWrite {
    /// What became of it.
    pub class: WriteClass,
    /// Number of the instance that it was sent to.
    pub node: u32,
    /// Its number.
    pub number: u64,
    /// When it was due, from time zero.
    pub due: Offset,
    /// When it was acknowledged or given up.
    pub ended: Offset,
}

impl LedgerRange {
    /// Each of its writes, of a prober that makes one in so many nanoseconds.
    pub fn writes(&self, period_ns: u64) -> impl Iterator<Item = LedgerWrite> + '_ {
        (self.first..).zip(&self.took_us).map(move |(number, took)| {
            let (due, ended) = times(number, *took, period_ns);
            LedgerWrite { class: self.class, node: self.node, number, due, ended }
        })
    }

    /// Adds a write to the last range that it continues, else to a new one.
    pub fn add(ranges: &mut Vec<Self>, (class, node): (WriteClass, u32), number: u64, took_us: u64) {
        match ranges.last_mut() {
            Some(last)
                if (last.class, last.node) == (class, node) && last.first + last.took_us.len() as u64 == number =>
            {
                last.took_us.push(took_us);
            }
            _ => ranges.push(Self { class, node, first: number, took_us: vec![took_us] }),
        }
    }
}

/// When a write was due and ended, from time zero.
fn times(number: u64, took_us: u64, period_ns: u64) -> (Offset, Offset) {
    let due = i64::try_from(number.saturating_mul(period_ns)).unwrap_or(i64::MAX);
    (Offset(due), Offset(due.saturating_add_unsigned(took_us.saturating_mul(1000))))
}

/// Instance that acknowledged writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leader {
    /// Its number.
    pub node: u32,
    /// Its first acknowledgement since another's, from time zero.
    pub from: Offset,
    /// Its last one before another's.
    pub to: Offset,
}

/// What the client of a write was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteOutcome {
    /// Acknowledged.
    Acknowledged,
    /// Acknowledged with a warning.
    Warned,
    /// Never sent, refused or rolled back.
    Failed,
    /// Nothing within the deadline, or the connection was lost.
    Unknown,
}

/// Consecutive writes of one outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRange {
    /// Outcome.
    pub outcome: WriteOutcome,
    /// Number of the instance that they were sent to.
    pub node: u32,
    /// How many.
    pub count: u64,
}

/// Outcomes that a prober hands over in one second: of all writes from a number on, which are as far apart as those of one pace. Agents send it
/// in a form without names, so no field may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerPage {
    /// Number of the first write.
    pub first: u64,
    /// Numbers from one write to the next: 1 unless the prober was at its calm pace. There is no write between them.
    #[serde(default = "each_number")]
    pub step: u64,
    /// Outcomes in the order of the numbers.
    pub ranges: Vec<OutcomeRange>,
    /// Time of each write from when it was due until it was acknowledged or given up, microseconds; empty in records from before it was kept.
    #[serde(default)]
    pub took_us: Vec<u64>,
}

/// Step of a page at the full pace, and of pages in records from before there was another.
fn each_number() -> u64 {
    1
}

/// Write of a page with its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToldWrite {
    /// Its number.
    pub number: u64,
    /// What its client was told.
    pub outcome: WriteOutcome,
    /// When it was due, from time zero.
    pub due: Offset,
    /// When it was acknowledged or given up.
    pub ended: Offset,
}

impl LedgerPage {
    /// A page that begins with a number, for writes of the full pace.
    pub fn from(first: u64) -> Self {
        Self { first, step: each_number(), ranges: Vec::new(), took_us: Vec::new() }
    }

    /// Tells whether the next write may have a number: two writes say how far apart all are.
    #[must_use]
    pub fn goes_on_with(&self, number: u64) -> bool {
        match self.count() {
            0 => number == self.first,
            1 => number > self.first,
            _ => number == self.end() - 1 + self.step,
        }
    }

    /// Adds the outcome of the write of a number with which the page goes on, and its time in microseconds.
    pub fn add_number(&mut self, number: u64, outcome: WriteOutcome, (node, took_us): (u32, u64)) {
        if self.count() == 1 {
            self.step = number - self.first;
        }
        self.add(outcome, node, took_us);
    }

    /// Adds the outcome of the next write, and its time in microseconds.
    pub fn add(&mut self, outcome: WriteOutcome, node: u32, took_us: u64) {
        self.took_us.push(took_us);
        match self.ranges.last_mut() {
            Some(last) if (last.outcome, last.node) == (outcome, node) => last.count += 1,
            _ => self.ranges.push(OutcomeRange { outcome, node, count: 1 }),
        }
    }

    /// Writes in it.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(|range| range.count).sum()
    }

    /// Number after that of its last write.
    pub fn end(&self) -> u64 {
        match self.count().checked_sub(1) {
            Some(more) => self.first + more * self.step + 1,
            None => self.first,
        }
    }

    /// Each of its writes, of a prober that makes one in so many nanoseconds; nothing where their times were not kept.
    pub fn writes(&self, period_ns: u64) -> impl Iterator<Item = ToldWrite> + '_ {
        let outcomes = self.ranges.iter().flat_map(|range| (0..range.count).map(|_| range.outcome));
        let numbers = (0..).map(move |place: u64| self.first + place * self.step);
        numbers.zip(&self.took_us).zip(outcomes).map(move |((number, took), outcome)| {
            let (due, ended) = times(number, *took, period_ns);
            ToldWrite { number, outcome, due, ended }
        })
    }

    /// Writes that were acknowledged.
    pub fn acknowledged(&self) -> u64 {
        let told = |range: &&OutcomeRange| matches!(range.outcome, WriteOutcome::Acknowledged | WriteOutcome::Warned);
        self.ranges.iter().filter(told).map(|range| range.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_of_a_range_have_their_numbers_and_times() {
        let mut ranges = Vec::new();
        let key = (WriteClass::Lost, 0);
        for (number, took) in [(3, 10), (4, 20), (6, 30)] {
            LedgerRange::add(&mut ranges, key, number, took);
        }
        LedgerRange::add(&mut ranges, (WriteClass::Lost, 1), 7, 40);
        let told: Vec<_> = ranges.iter().map(|range| (range.first, range.took_us.len(), range.node)).collect();
        assert_eq!(told, [(3, 2, 0), (6, 1, 0), (7, 1, 1)]);
        let writes: Vec<_> = ranges[0].writes(5_000_000).map(|one| (one.number, one.due.0, one.ended.0)).collect();
        assert_eq!(writes, [(3, 15_000_000, 15_010_000), (4, 20_000_000, 20_020_000)]);
    }

    #[test]
    fn a_page_counts_what_was_acknowledged_and_where_it_ends() {
        let mut page = LedgerPage::from(10);
        for outcome in [WriteOutcome::Acknowledged, WriteOutcome::Acknowledged, WriteOutcome::Unknown] {
            page.add(outcome, 0, 10);
        }
        page.add(WriteOutcome::Warned, 1, 20);
        assert_eq!((page.ranges.len(), page.end(), page.acknowledged()), (3, 14, 3));
        let told: Vec<_> = page.writes(1_000).map(|one| (one.number, one.outcome, one.due.0, one.ended.0)).collect();
        assert_eq!(told.len(), 4);
        assert_eq!(told[3], (13, WriteOutcome::Warned, 13_000, 33_000));
        page.took_us.clear();
        assert_eq!(page.writes(1_000).count(), 0, "a record from before times were kept");
    }

    #[test]
    fn a_page_of_the_calm_pace_passes_numbers_over() {
        let mut page = LedgerPage::from(20);
        assert_eq!((page.count(), page.end(), page.goes_on_with(20), page.goes_on_with(21)), (0, 20, true, false));
        for number in [20, 30, 40] {
            assert!(page.goes_on_with(number), "{number}");
            page.add_number(number, WriteOutcome::Acknowledged, (0, 7));
        }
        assert_eq!([41, 45, 50].map(|number| page.goes_on_with(number)), [false, false, true]);
        assert_eq!((page.count(), page.end(), page.acknowledged()), (3, 41, 3));
        let told: Vec<_> = page.writes(1_000).map(|one| (one.number, one.due.0, one.ended.0)).collect();
        assert_eq!(told, [(20, 20_000, 27_000), (30, 30_000, 37_000), (40, 40_000, 47_000)]);
        let written = serde_json::to_string(&page).unwrap();
        assert!(written.contains("\"step\":10"), "{written}");
        let before = r#"{"first":3,"ranges":[{"outcome":"unknown","node":0,"count":2}]}"#;
        let read: LedgerPage = serde_json::from_str(before).unwrap();
        assert_eq!((read.step, read.end()), (1, 5), "a record from before there was a calm pace");
    }
}
