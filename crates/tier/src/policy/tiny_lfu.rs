//! W-TinyLFU: a small window, then only what is seen more often than what it would displace. A use counts the key and sets bits; lines move
//! only when one is given up.

use super::contract::{Incoming, Policy};
use super::sketch::FrequencySketch;
use crate::lists::{LineNumber, ListId, Lists, Standing};

/// Uses since it was written that bring a line, once it is clean, back to the protected ones.
const USES_TO_STAY: u8 = 2;
/// Used lines of a queue that get another turn before one is taken as it is, so that giving up a line is bounded.
const TURNS: usize = 16;

/// Source: Einziger, Friedman, Manes, "`TinyLFU`", ACM Transactions on Storage 13(4), 2017, section 4: a window of 1 % of the lines, and a
/// segmented list behind it. Queues with a bit of use instead of lists by recency, the share of protected lines and the turn of a line that
/// wins are ours: docs/adr/0089-the-usual-policy-counts-uses.md.
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

    /// The one of two lines that is given up: the newcomer unless it was seen more often. The other has a turn on probation, so that no line
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
    fn admit(&mut self, lists: &mut Lists, line: LineNumber, key: u64) {
        self.sketch.count(key);
        self.enter(lists, line);
    }

    fn inherit(&mut self, lists: &mut Lists, line: LineNumber, from: Standing) {
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
    fn touch(&mut self, lists: &mut Lists, line: LineNumber, key: u64) {
        self.sketch.count(key);
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
