//! 2Q, full version: a queue for what was seen once, a list for what came back, ghosts between them.

use super::contract::{Incoming, Policy};
use super::ghosts::GhostTable;
use crate::lists::{LineNumber, ListId, Lists};

/// Source of both shares, 25 % and 50 % of the lines: Johnson, Shasha, VLDB 1994, section 2.3.
#[derive(Debug)]
pub(super) struct TwoQueuePolicy {
    once: ListId,
    again: ListId,
    once_lines: u32,
    ghosts: GhostTable,
}

impl TwoQueuePolicy {
    pub(super) fn new(place: usize, lines: u32) -> Self {
        let (once, again) = (ListId::of_policy(place, 0), ListId::of_policy(place, 1));
        Self { once, again, once_lines: (lines / 4).max(1), ghosts: GhostTable::new((lines / 2).max(1)) }
    }
}

impl Policy for TwoQueuePolicy {
    fn admit(&mut self, lists: &mut Lists, line: LineNumber, key: u64) {
        let known = self.ghosts.take(key);
        lists.set_uses(line, u8::from(known));
        self.restore(lists, line);
    }

    fn touch(&mut self, lists: &mut Lists, line: LineNumber, _key: u64) {
        if lists.list_of(line) == self.again {
            lists.move_to(line, self.again);
        }
    }

    fn restore(&mut self, lists: &mut Lists, line: LineNumber) {
        let list = if lists.uses(line) > 0 { self.again } else { self.once };
        lists.move_to(line, list);
    }

    fn victim(
        &mut self,
        lists: &mut Lists,
        _incoming: Incoming,
        key_of: &dyn Fn(LineNumber) -> u64,
    ) -> Option<LineNumber> {
        let from_once = lists.length(self.once) > self.once_lines || lists.length(self.again) == 0;
        let line = lists.tail(if from_once { self.once } else { self.again })?;
        if from_once {
            self.ghosts.put(key_of(line));
        }
        lists.move_to(line, ListId::ASIDE);
        Some(line)
    }

    fn memory_bytes(&self) -> usize {
        self.ghosts.memory_bytes()
    }
}
