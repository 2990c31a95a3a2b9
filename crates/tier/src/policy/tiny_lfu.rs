//! W-TinyLFU: a small window, then only what is read more often than what it would displace. A use counts the key and sets bits; lines move
//! only when one is given up. Writes are not counted: what they would gain is gained by lines that are dirty, and a log is never read.

use super::contract::{Incoming, Policy};
use super::sketch::FrequencySketch;
use crate::lists::{LineNumber, ListId, Lists, PolicyPlace};

/// Uses since it was written that bring a line, once it is clean, back to the protected ones.
const USES_TO_STAY: u8 = 2;
/// Used lines of a queue that get another turn before one is taken as it is, so that giving up a line is bounded.
const TURNS: usize = 16;

/// Source: Einziger, Friedman, Manes, "`TinyLFU`", ACM Transactions on Storage 13(4), 2017, section 4: a window of 1 % of the lines, and a
/// segmented list behind it. Queues with a bit of use instead of lists by recency, the share of protected lines and the turn of a line that
/// wins are ours: docs/adr/0089-the-usual-policy-counts-reads.md.
#[derive(Debug)]
pub(super) struct TinyLfuPolicy {
    window: ListId,
    probation: ListId,
    protected: ListId,
    window_lines: u32,
    sketch: FrequencySketch,
}

impl TinyLfuPolicy {
    pub(super) fn new(place: usize, lines: u32) -> Self {
        Self {
            window: ListId::of_policy(place, 0),
            probation: ListId::of_policy(place, 1),
            protected: ListId::of_policy(place, 2),
            window_lines: (lines / 100).max(1),
            sketch: FrequencySketch::new(lines),
        }
    }

    /// Puts a line into the window, and what the window is too small for on probation.
    fn enter(&self, lists: &mut Lists, line: LineNumber) {
        lists.set_uses(line, 0);
        lists.move_to(line, self.window);
        while lists.length(self.window) > self.window_lines
            && let Some(oldest) = self.end_of_window(lists)
        {
            lists.move_to(oldest, self.probation);
        }
    }

    /// Protects a line: nine tenths of those behind the window, dirty ones apart. What was not used since its last turn goes on probation.
    fn protect(&self, lists: &mut Lists, line: LineNumber) {
        lists.set_uses(line, 0);
        lists.move_to(line, self.protected);
        let most = (lists.length(self.probation) + lists.length(self.protected)) / 10 * 9;
        let mut turns = TURNS;
        while lists.length(self.protected) > most
            && let Some(oldest) = lists.tail(self.protected)
        {
            let stays = lists.uses(oldest) > 0 && turns > 0;
            turns = turns.saturating_sub(1);
            lists.set_uses(oldest, 0);
            lists.move_to(oldest, if stays { self.protected } else { self.probation });
        }
    }

    /// The oldest line of the window after those that were used had another turn.
    fn end_of_window(&self, lists: &mut Lists) -> Option<LineNumber> {
        for _ in 0..TURNS {
            let Some(line) = lists.tail(self.window).filter(|line| lists.uses(*line) > 0) else { break };
            lists.set_uses(line, 0);
            lists.move_to(line, self.window);
        }
        lists.tail(self.window)
    }

    /// The oldest line on probation after those that were used are protected.
    fn end_of_main(&self, lists: &mut Lists) -> Option<LineNumber> {
        for _ in 0..TURNS {
            let Some(line) = lists.tail(self.probation).filter(|line| lists.uses(*line) > 0) else { break };
            self.protect(lists, line);
        }
        lists.tail(self.probation).or_else(|| lists.tail(self.protected))
    }

    /// The one of two lines that is given up: the newcomer unless it was read more often. The other has a turn on probation, so that no line
    /// of which too much is thought stays at the end for good.
    fn loser(
        &self,
        lists: &mut Lists,
        newcomer: LineNumber,
        oldest: LineNumber,
        key_of: &dyn Fn(LineNumber) -> u64,
    ) -> LineNumber {
        let wins = self.sketch.estimate(key_of(newcomer)) > self.sketch.estimate(key_of(oldest));
        let (kept, loser) = if wins { (newcomer, oldest) } else { (oldest, newcomer) };
        lists.move_to(kept, self.probation);
        loser
    }
}

impl Policy for TinyLfuPolicy {
    #[inline]
    fn seen(&mut self, key: u64) {
        self.sketch.count(key);
    }

    fn admit(&mut self, lists: &mut Lists, line: LineNumber, _key: u64) {
        self.enter(lists, line);
    }

    fn inherit(&mut self, lists: &mut Lists, line: LineNumber, from: PolicyPlace) {
        if from.list == self.probation || from.list == self.protected {
            lists.set_uses(line, from.uses.max(USES_TO_STAY));
            if lists.list_of(line) != ListId::DIRTY {
                lists.move_to(line, from.list);
            }
        } else {
            lists.set_uses(line, from.uses + 1);
        }
    }

    #[inline]
    fn touch(&mut self, lists: &mut Lists, line: LineNumber, _key: u64) {
        let uses = lists.uses(line);
        if uses < 3 {
            lists.set_uses(line, uses + 1);
        }
    }

    fn restore(&mut self, lists: &mut Lists, line: LineNumber) {
        if lists.uses(line) >= USES_TO_STAY { self.protect(lists, line) } else { self.enter(lists, line) }
    }

    fn victim(
        &mut self,
        lists: &mut Lists,
        _incoming: Incoming,
        key_of: &dyn Fn(LineNumber) -> u64,
    ) -> Option<LineNumber> {
        let oldest = self.end_of_main(lists);
        let full = lists.length(self.window) >= self.window_lines || oldest.is_none();
        let newcomer = if full { self.end_of_window(lists) } else { None };
        let line = match (newcomer, oldest) {
            (Some(newcomer), Some(oldest)) => self.loser(lists, newcomer, oldest, key_of),
            (newcomer, oldest) => newcomer.or(oldest)?,
        };
        lists.move_to(line, ListId::ASIDE);
        Some(line)
    }

    fn memory_bytes(&self) -> usize {
        self.sketch.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY_OF: &dyn Fn(LineNumber) -> u64 = &|line| u64::from(line);

    /// A policy of so many lines that all hold a key of their number, read once each.
    fn full(lines: u32) -> (TinyLfuPolicy, Lists) {
        let (mut policy, mut lists) = (TinyLfuPolicy::new(0, lines), Lists::new(lines));
        for line in 0..lines {
            policy.seen(u64::from(line));
            policy.admit(&mut lists, line, u64::from(line));
        }
        (policy, lists)
    }

    /// Reads a key that a line holds.
    fn read(policy: &mut TinyLfuPolicy, lists: &mut Lists, line: LineNumber) {
        policy.seen(u64::from(line));
        policy.touch(lists, line, u64::from(line));
    }

    /// Gives a line up and takes it in for a key that is read for the first time.
    fn miss(policy: &mut TinyLfuPolicy, lists: &mut Lists, key: u64) -> LineNumber {
        policy.seen(key);
        let line = policy.victim(lists, Incoming(key), &|line| if line < 900 { u64::from(line) } else { key }).unwrap();
        policy.admit(lists, line, key);
        line
    }

    #[test]
    fn a_tenth_of_the_clean_lines_stays_on_probation_however_many_are_dirty() {
        let (mut policy, mut lists) = full(1000);
        (0..400).for_each(|line| lists.move_to(line, ListId::DIRTY));
        for _ in 0..3 {
            (0..1000).for_each(|line| read(&mut policy, &mut lists, line));
            (0..200).for_each(|key| _ = miss(&mut policy, &mut lists, 10_000 + key));
        }
        let [probation, protected] = [policy.probation, policy.protected].map(|list| lists.length(list));
        assert!(probation >= 55 && protected > 400, "{probation} of {}", probation + protected);
    }

    #[test]
    fn a_written_line_keeps_what_the_clean_one_had_earned() {
        let (mut policy, mut lists) = full(1000);
        let written = |policy: &mut TinyLfuPolicy, lists: &mut Lists, line| {
            let from = lists.policy_place(line);
            policy.admit(lists, line, u64::from(line));
            lists.move_to(line, ListId::DIRTY);
            policy.inherit(lists, line, from);
            policy.restore(lists, line);
            lists.list_of(line)
        };
        assert_eq!(lists.policy_place(5).list, policy.probation);
        assert_eq!(written(&mut policy, &mut lists, 5), policy.protected);
        assert_eq!(lists.policy_place(999).list, policy.window);
        assert_eq!(written(&mut policy, &mut lists, 999), policy.window, "what was new is new still");
        assert_eq!(written(&mut policy, &mut lists, 5), policy.protected);
    }

    #[test]
    fn a_line_written_through_stays_where_the_one_before_it_was() {
        let (mut policy, mut lists) = full(1000);
        let from = lists.policy_place(7);
        policy.admit(&mut lists, 7, 7);
        policy.inherit(&mut lists, 7, from);
        assert_eq!(lists.list_of(7), policy.probation);
    }

    #[test]
    fn writes_displace_no_line_that_is_read() {
        let (mut policy, mut lists) = full(1000);
        (0..900).for_each(|line| read(&mut policy, &mut lists, line));
        let mut kept: Vec<u64> = (0..1000).collect();
        for key in 0..20_000 {
            // Four writes of each block of a log: they are uses of its line, but no reads of its key.
            let line = policy.victim(&mut lists, Incoming(key), &|line| kept[line as usize]).unwrap();
            kept[line as usize] = 10_000 + key / 4 % 3_000;
            policy.admit(&mut lists, line, kept[line as usize]);
        }
        let left = kept.iter().filter(|key| **key < 900).count();
        assert!(left >= 880, "{left} of 900");
    }

    #[test]
    fn giving_up_a_line_is_bounded_though_all_were_used() {
        let (mut policy, mut lists) = full(1000);
        for _ in 0..2 {
            (0..1000).for_each(|line| read(&mut policy, &mut lists, line));
            policy.victim(&mut lists, Incoming(10_000), KEY_OF).unwrap();
        }
        let used = (0..1000).filter(|line| lists.uses(*line) > 0).count();
        assert!(used >= 1000 - 20 * TURNS, "{used} of 1000 were left alone");
    }
}
