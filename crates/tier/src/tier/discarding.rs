//! Discards of several blocks: neighbours that no line holds are discarded on the origin at once. A file system that is made discards all of its
//! device, and block by block that would take as long as writing it.

use super::driver::{CallerBytes, WorkOutcome, origin_error};
use super::front::Tier;
use super::run::RunAsked;
use crate::error::Error;
use crate::machine::{AccessKind, Action, BlockWork, SectorCrcs, WorkFailure};

/// Blocks of one discard of the origin at most, for which others wait meanwhile: 8 MiB of 8 KiB lines.
const MOST_BLOCKS: usize = 1024;

/// Whether a work is a discard on the origin and nothing else.
fn is_plain(work: &BlockWork) -> bool {
    matches!(work.actions.as_slice(), [Action::Merge, Action::OriginDiscard(_)])
}

fn length(work: &BlockWork) -> u64 {
    u64::from(work.request.range.end - work.request.range.start)
}

impl Tier {
    /// Discards the blocks that a range begins with, as far as they are neighbours that no line holds, and the one behind them; returns how many
    /// bytes: 0 where it begins with a block that is in use.
    ///
    /// # Errors
    ///
    /// As [`Tier::discard`].
    pub(super) fn discard_run(&self, volume: u8, at: u64, asked: u64) -> Result<u64, Error> {
        let begin = self.clock.now();
        let asked = RunAsked { kind: AccessKind::Discard, volume, at, length: asked, most: MOST_BLOCKS };
        let works = self.begin_run(&asked, is_plain);
        let plain = works.iter().filter(|work| is_plain(work)).count();
        let bytes: u64 = works[..plain].iter().map(length).sum();
        let mut origin = match works.first() {
            Some(first) if plain > 0 => {
                let done = self.origins[usize::from(volume)].discard(at, bytes);
                done.map_err(|error| origin_error("discarded", first.request.block, at, error)).err()
            }
            _ => None,
        };
        let failed = origin.is_some();
        let (mut done, mut outcome) = (0, Ok(()));
        // Every work ends, whatever became of the one before.
        for (place, work) in works.into_iter().enumerate() {
            let ran: WorkOutcome = if place >= plain {
                self.run(&work, &mut CallerBytes::Zeros)
            } else if failed {
                (Err(WorkFailure::Origin), origin.take())
            } else {
                (Ok(SectorCrcs::default()), None)
            };
            done += length(&work);
            let request = work.request.clone();
            let ended = match self.ended(work, ran, begin) {
                Ok(false) if outcome.is_ok() => self.one(&request, &mut CallerBytes::Zeros),
                ended => ended.map(drop),
            };
            outcome = outcome.and(ended);
        }
        outcome.map(|()| done)
    }
}
