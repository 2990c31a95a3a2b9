//! W-TinyLFU: a small window by recency, then only what is seen more often than what it would displace.

use super::contract::{Incoming, Policy};
use super::sketch::FrequencySketch;
use crate::lists::{LineNumber, ListId, Lists};

/// Source: Einziger, Friedman, Manes, "`TinyLFU`", ACM Transactions on Storage 13(4), 2017, section 4: a window of 1 % of
/// the lines, and a segmented list of which 80 % are protected.
#[derive(Debug)]
pub(super) struct TinyLfuPolicy {
    window: ListId,
    probation: ListId,
    protected: ListId,
    window_lines: u32,
    protected_lines: u32,
    /// The line that left the window last.
    candidate: Option<LineNumber>,
    sketch: FrequencySketch,
}

impl TinyLfuPolicy {
    pub(super) fn new(place: usize, lines: u32) -> Self {
        let window_lines = (lines / 100).max(1);
        Self {
            window: ListId::of_policy(place, 0),
            probation: ListId::of_policy(place, 1),
            protected: ListId::of_policy(place, 2),
            window_lines,
            protected_lines: lines.saturating_sub(window_lines) / 5 * 4,
            candidate: None,
            sketch: FrequencySketch::new(lines),
        }
    }

    /// Puts a line into the window, and what the window is too small for on probation.
    fn enter(&mut self, lists: &mut Lists, line: LineNumber) {
        lists.move_to(line, self.window);
        while lists.length(self.window) > self.window_lines
            && let Some(oldest) = lists.tail(self.window)
        {
            lists.move_to(oldest, self.probation);
            self.candidate = Some(oldest);
        }
    }

    fn protect(&self, lists: &mut Lists, line: LineNumber) {
        lists.move_to(line, self.protected);
        if lists.length(self.protected) > self.protected_lines
            && let Some(oldest) = lists.tail(self.protected)
        {
            lists.move_to(oldest, self.probation);
        }
    }
}

impl Policy for TinyLfuPolicy {
    fn admit(&mut self, lists: &mut Lists, line: LineNumber, key: u64) {
        self.sketch.count(key);
        self.enter(lists, line);
    }

    fn touch(&mut self, lists: &mut Lists, line: LineNumber, key: u64) {
        self.sketch.count(key);
        let list = lists.list_of(line);
        if list == self.window {
            lists.move_to(line, self.window);
        } else if list == self.probation || list == self.protected {
            self.protect(lists, line);
        }
    }

    fn restore(&mut self, lists: &mut Lists, line: LineNumber) {
        self.enter(lists, line);
    }

    fn victim(
        &mut self,
        lists: &mut Lists,
        _incoming: Incoming,
        key_of: &dyn Fn(LineNumber) -> u64,
    ) -> Option<LineNumber> {
        let oldest = lists.tail(self.probation).or_else(|| lists.tail(self.protected));
        let candidate = self.candidate.take().filter(|line| lists.list_of(*line) == self.probation);
        let line = match (candidate, oldest) {
            (Some(candidate), Some(oldest)) => {
                let newcomer = self.sketch.estimate(key_of(candidate));
                if newcomer > self.sketch.estimate(key_of(oldest)) { oldest } else { candidate }
            }
            (_, oldest) => oldest.or_else(|| lists.tail(self.window))?,
        };
        lists.move_to(line, ListId::ASIDE);
        Some(line)
    }

    fn memory_bytes(&self) -> usize {
        self.sketch.memory_bytes()
    }
}
