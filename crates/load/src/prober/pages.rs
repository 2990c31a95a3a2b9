//! Outcomes of writes that are handed over while the prober works: in the order of their numbers, without a gap, so that what the record
//! holds of them when the loader dies is complete up to a number. Pure.

use super::operation::{ProbeOperation, ProbeOutcome};
use proofload_model::ledger::{LedgerPage, WriteOutcome};
use std::collections::BTreeMap;

/// Outcomes that were not handed over yet.
#[derive(Debug, Default)]
pub(super) struct LedgerPages {
    next: u64,
    waiting: BTreeMap<u64, (WriteOutcome, u32, u64)>,
}

impl LedgerPages {
    /// Adds what became of a write; writes end in any order.
    pub(super) fn add(&mut self, write: &ProbeOperation) {
        let outcome = match write.outcome {
            ProbeOutcome::Acknowledged if write.warned => WriteOutcome::Warned,
            ProbeOutcome::Acknowledged => WriteOutcome::Acknowledged,
            ProbeOutcome::Failed => WriteOutcome::Failed,
            ProbeOutcome::Unknown => WriteOutcome::Unknown,
        };
        let node = u32::try_from(write.node).unwrap_or(u32::MAX);
        self.waiting.insert(write.number, (outcome, node, write.took_us()));
    }

    /// The outcomes since the last page up to the first write that is still under way; `None` where there are none.
    pub(super) fn take(&mut self) -> Option<LedgerPage> {
        let mut page = LedgerPage::from(self.next);
        while let Some((outcome, node, took_us)) = self.waiting.remove(&self.next) {
            page.add(outcome, node, took_us);
            self.next += 1;
        }
        (page.end() > page.first).then_some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ledger::tests::write;
    use super::*;

    #[test]
    fn pages_hold_every_write_once_and_stop_at_one_that_is_under_way() {
        let mut pages = LedgerPages::default();
        for number in [2, 0, 1, 4, 5] {
            pages.add(&write(number, ProbeOutcome::Acknowledged, 0));
        }
        assert_eq!(pages.take().map(|page| (page.first, page.end())), Some((0, 3)));
        assert_eq!(pages.take(), None, "the write 3 is still under way");
        pages.add(&write(3, ProbeOutcome::Unknown, 1));
        let page = pages.take().unwrap();
        assert_eq!((page.first, page.end(), page.acknowledged(), page.ranges.len()), (3, 6, 2, 2));
        assert_eq!(pages.take(), None);
    }
}
