//! S3-FIFO: a small queue that sorts out what is used once, a main queue, and ghosts of the small one.

use super::contract::{Incoming, Policy};
use super::ghosts::GhostTable;
use crate::lists::{LineNumber, ListId, Lists};

/// Source: Yang, Zhang, Qiu, Yue, Vinayak, "FIFO queues are all you need for cache eviction", SOSP 2023, algorithm 1:
/// 10 % of the lines in the small queue, as many ghosts as lines in the main one.
#[derive(Debug)]
pub(super) struct FifoPolicy {
    small: ListId,
    main: ListId,
    small_lines: u32,
    /// Counted uses of a line, at most.
    most_uses: u8,
    /// Uses from which a line of the small queue moves on to the main one.
    uses_to_stay: u8,
    ghosts: GhostTable,
}

impl FifoPolicy {
    pub(super) fn one_bit(place: usize, lines: u32) -> Self {
        Self::new(place, lines, 1, 1)
    }

    pub(super) fn two_bits(place: usize, lines: u32) -> Self {
        Self::new(place, lines, 3, 2)
    }

    fn new(place: usize, lines: u32, most_uses: u8, uses_to_stay: u8) -> Self {
        let small_lines = (lines / 10).max(1);
        let ghosts = GhostTable::new((lines - small_lines.min(lines)).max(1));
        let (small, main) = (ListId::of_policy(place, 0), ListId::of_policy(place, 1));
        Self { small, main, small_lines, most_uses, uses_to_stay, ghosts }
    }

    /// Moves used lines of the small queue on until one is found that was not used enough.
    fn victim_of_small(&mut self, lists: &mut Lists, key_of: &dyn Fn(LineNumber) -> u64) -> Option<LineNumber> {
        while let Some(line) = lists.tail(self.small) {
            if lists.uses(line) < self.uses_to_stay {
                self.ghosts.put(key_of(line));
                lists.move_to(line, ListId::ASIDE);
                return Some(line);
            }
            lists.set_uses(line, 0);
            lists.move_to(line, self.main);
        }
        None
    }

    /// Gives used lines of the main queue another round until one is found that was not used.
    fn victim_of_main(&self, lists: &mut Lists) -> Option<LineNumber> {
        while let Some(line) = lists.tail(self.main) {
            let uses = lists.uses(line);
            if uses == 0 {
                lists.move_to(line, ListId::ASIDE);
                return Some(line);
            }
            lists.set_uses(line, uses - 1);
            lists.move_to(line, self.main);
        }
        None
    }
}

impl Policy for FifoPolicy {
    fn admit(&mut self, lists: &mut Lists, line: LineNumber, key: u64) {
        let list = if self.ghosts.take(key) { self.main } else { self.small };
        lists.set_uses(line, 0);
        lists.move_to(line, list);
    }

    #[inline]
    fn touch(&mut self, lists: &mut Lists, line: LineNumber, _key: u64) {
        let uses = lists.uses(line);
        if uses < self.most_uses {
            lists.set_uses(line, uses + 1);
        }
    }

    fn restore(&mut self, lists: &mut Lists, line: LineNumber) {
        let used = lists.uses(line) >= self.uses_to_stay;
        lists.set_uses(line, 0);
        lists.move_to(line, if used { self.main } else { self.small });
    }

    fn victim(
        &mut self,
        lists: &mut Lists,
        _incoming: Incoming,
        key_of: &dyn Fn(LineNumber) -> u64,
    ) -> Option<LineNumber> {
        if lists.length(self.small) >= self.small_lines
            && let Some(line) = self.victim_of_small(lists, key_of)
        {
            return Some(line);
        }
        self.victim_of_main(lists)
            .or_else(|| self.victim_of_small(lists, key_of))
            .or_else(|| self.victim_of_main(lists))
    }

    fn memory_bytes(&self) -> usize {
        self.ghosts.memory_bytes()
    }
}
