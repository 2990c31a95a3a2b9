//! Requests for neighbours that are begun together, so that the origin serves all of them at once. What is done for them is the caller's.

use super::front::Tier;
use crate::machine::{AccessKind, Begin, BlockRequest, BlockWork};

/// What is begun: requests of one kind for the blocks of a range, so many at most.
pub(super) struct RunAsked {
    pub(super) kind: AccessKind,
    pub(super) volume: u8,
    pub(super) at: u64,
    pub(super) length: u64,
    pub(super) most: usize,
}

impl Tier {
    /// Begins requests for neighbours as long as their works are alike; the first other one is begun too. None waits, since a block would be
    /// held meanwhile.
    pub(super) fn begin_run(&self, asked: &RunAsked, is_alike: fn(&BlockWork) -> bool) -> Vec<BlockWork> {
        let mut works = Vec::new();
        let mut state = self.lock();
        for (block, range) in self.pieces(asked.volume, asked.at, asked.length).take(asked.most) {
            let request = BlockRequest { kind: asked.kind, block, range };
            let Begin::Work(work) = state.machine.begin(&request) else { break };
            if let Some(sample) = &mut state.sample {
                sample.note(&request);
            }
            let goes_on = is_alike(&work);
            works.push(work);
            if !goes_on {
                break;
            }
        }
        works
    }
}
