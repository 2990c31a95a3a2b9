//! Outcomes of writes that are handed over while the prober works: in the order of their numbers, none left out, so that what the record
//! holds of them when the loader dies is complete up to a number. Pure.

use super::operation::{ProbeOperation, ProbeOutcome};
use proofload_model::ledger::{LedgerPage, WriteOutcome};
use std::collections::{BTreeMap, VecDeque};

/// Outcomes that were not handed over yet.
#[derive(Debug, Default)]
pub(super) struct LedgerPages {
    /// Numbers of the writes that were begun and not handed over, in their order.
    begun: VecDeque<u64>,
    waiting: BTreeMap<u64, (WriteOutcome, u32, u64)>,
}

impl LedgerPages {
    /// Takes note of a write that begins; writes begin in the order of their numbers.
    pub(super) fn begin(&mut self, number: u64) {
        self.begun.push_back(number);
    }

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

    /// The outcomes since the last pages up to the first write that is still under way: a page for each pace.
    pub(super) fn take(&mut self) -> Vec<LedgerPage> {
        let mut pages: Vec<LedgerPage> = Vec::new();
        while let Some(number) = self.begun.front().copied() {
            let Some((outcome, node, took_us)) = self.waiting.remove(&number) else { break };
            self.begun.pop_front();
            match pages.last_mut().filter(|page| page.goes_on_with(number)) {
                Some(page) => page.add_number(number, outcome, (node, took_us)),
                None => {
                    let mut page = LedgerPage::from(number);
                    page.add_number(number, outcome, (node, took_us));
                    pages.push(page);
                }
            }
        }
        pages
    }
}

#[cfg(test)]
mod tests {
    use super::super::ledger::tests::write;
    use super::*;

    #[test]
    fn pages_hold_every_write_once_and_stop_at_one_that_is_under_way() {
        let mut pages = LedgerPages::default();
        (0..6).for_each(|number| pages.begin(number));
        for number in [2, 0, 1, 4, 5] {
            pages.add(&write(number, ProbeOutcome::Acknowledged, 0));
        }
        let told: Vec<_> = pages.take().iter().map(|page| (page.first, page.end())).collect();
        assert_eq!(told, [(0, 3)]);
        assert!(pages.take().is_empty(), "the write 3 is still under way");
        pages.add(&write(3, ProbeOutcome::Unknown, 1));
        let told = pages.take();
        let [page] = told.as_slice() else { panic!("one pace: {told:?}") };
        assert_eq!((page.first, page.end(), page.acknowledged(), page.ranges.len()), (3, 6, 2, 2));
        assert!(pages.take().is_empty());
    }

    #[test]
    fn each_pace_has_a_page_and_every_write_is_in_one() {
        let mut pages = LedgerPages::default();
        let numbers = [0, 10, 20, 21, 22, 23, 30, 40, 50];
        for number in numbers {
            pages.begin(number);
            pages.add(&write(number, ProbeOutcome::Acknowledged, 0));
        }
        let told = pages.take();
        let steps: Vec<_> = told.iter().map(|page| (page.first, page.step, page.count())).collect();
        assert_eq!(steps, [(0, 10, 3), (21, 1, 3), (30, 10, 3)]);
        let writes: Vec<_> = told.iter().flat_map(|page| page.writes(5_000_000)).collect();
        assert_eq!(writes.iter().map(|write| write.number).collect::<Vec<_>>(), numbers);
        assert!(writes.iter().all(|write| write.due.0 == write.number as i64 * 5_000_000));
    }
}
