//! Least recently used.

use super::contract::{Incoming, Policy};
use crate::lists::{LineNumber, ListId, Lists};

/// One list in the order of last use.
#[derive(Debug)]
pub(super) struct RecencyPolicy {
    list: ListId,
}

impl RecencyPolicy {
    pub(super) fn new(place: usize) -> Self {
        Self { list: ListId::of_policy(place, 0) }
    }
}

impl Policy for RecencyPolicy {
    fn admit(&mut self, lists: &mut Lists, line: LineNumber, _key: u64) {
        lists.move_to(line, self.list);
    }

    fn touch(&mut self, lists: &mut Lists, line: LineNumber, _key: u64) {
        if lists.list_of(line) == self.list {
            lists.move_to(line, self.list);
        }
    }

    fn restore(&mut self, lists: &mut Lists, line: LineNumber) {
        lists.move_to(line, self.list);
    }

    fn victim(
        &mut self,
        lists: &mut Lists,
        _incoming: Incoming,
        _key_of: &dyn Fn(LineNumber) -> u64,
    ) -> Option<LineNumber> {
        let line = lists.tail(self.list)?;
        lists.move_to(line, ListId::ASIDE);
        Some(line)
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}
