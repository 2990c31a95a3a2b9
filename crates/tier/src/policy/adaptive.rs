//! ARC: two lists whose shares follow the ghosts that come back.

use super::contract::{Incoming, Policy};
use super::ghosts::GhostQueue;
use crate::lists::{LineNumber, ListId, Lists};

/// Source: Megiddo, Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003, figure 4.
#[derive(Debug)]
pub(super) struct AdaptivePolicy {
    once: ListId,
    again: ListId,
    lines: usize,
    /// Wanted length of `once`, lines.
    target: usize,
    once_ghosts: GhostQueue,
    again_ghosts: GhostQueue,
}

impl AdaptivePolicy {
    pub(super) fn new(place: usize, lines: u32) -> Self {
        Self {
            once: ListId::of_policy(place, 0),
            again: ListId::of_policy(place, 1),
            lines: lines as usize,
            target: 0,
            once_ghosts: GhostQueue::default(),
            again_ghosts: GhostQueue::default(),
        }
    }

    /// Moves the target towards the list whose ghost came back.
    fn adapt(&mut self, key: u64) {
        let (once, again) = (self.once_ghosts.length(), self.again_ghosts.length());
        if self.once_ghosts.has(key) {
            self.target = (self.target + (again / once.max(1)).max(1)).min(self.lines);
        } else if self.again_ghosts.has(key) {
            self.target = self.target.saturating_sub((once / again.max(1)).max(1));
        }
    }

    fn trim(&mut self, lists: &Lists) {
        while self.once_ghosts.length() > 0 && self.once_ghosts.length() + lists.length(self.once) as usize > self.lines
        {
            self.once_ghosts.drop_oldest();
        }
        while self.again_ghosts.length() > self.lines {
            self.again_ghosts.drop_oldest();
        }
    }
}

impl Policy for AdaptivePolicy {
    fn admit(&mut self, lists: &mut Lists, line: LineNumber, key: u64) {
        let known = self.once_ghosts.take(key) | self.again_ghosts.take(key);
        lists.set_uses(line, u8::from(known));
        self.restore(lists, line);
        self.trim(lists);
    }

    fn touch(&mut self, lists: &mut Lists, line: LineNumber, _key: u64) {
        lists.set_uses(line, 1);
        if [self.once, self.again].contains(&lists.list_of(line)) {
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
        incoming: Incoming,
        key_of: &dyn Fn(LineNumber) -> u64,
    ) -> Option<LineNumber> {
        self.adapt(incoming.0);
        let once = lists.length(self.once) as usize;
        let over = once > self.target || (once == self.target && self.again_ghosts.has(incoming.0));
        let from_once = (once > 0 && over) || lists.length(self.again) == 0;
        let line = lists.tail(if from_once { self.once } else { self.again })?;
        let ghosts = if from_once { &mut self.once_ghosts } else { &mut self.again_ghosts };
        ghosts.put(key_of(line));
        lists.move_to(line, ListId::ASIDE);
        self.trim(lists);
        Some(line)
    }

    fn memory_bytes(&self) -> usize {
        self.once_ghosts.memory_bytes() + self.again_ghosts.memory_bytes()
    }
}
