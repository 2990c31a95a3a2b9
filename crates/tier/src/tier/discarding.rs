//! Discards of several blocks: neighbours that no dirty line holds are discarded on the origin at once, behind one commit that gives their lines up.
//! A file system that is made discards all of its device, and block by block that would take as long as writing it, or a commit for each.

use super::driver::{CallerBytes, WorkOutcome, origin_error};
use super::front::Tier;
use super::run::RunAsked;
use crate::error::Error;
use crate::machine::{AccessKind, Action, BlockWork, SectorCrcs, WorkFailure};

/// Blocks of one discard of the origin at most, for which others wait meanwhile: 8 MiB of 8 KiB lines.
const MOST_BLOCKS: usize = 1024;

/// Whether a work is a discard on the origin, if need be after a commit, and nothing else.
fn is_plain(work: &BlockWork) -> bool {
    let is_discard = |steps: &[Action]| matches!(steps, [Action::Merge, Action::OriginDiscard(_)]);
    is_discard(&work.actions) || (waits(work) && is_discard(&work.actions[1..]))
}

/// Whether a work begins with waiting for a commit.
fn waits(work: &BlockWork) -> bool {
    matches!(work.actions.first(), Some(Action::Barrier))
}

fn length(work: &BlockWork) -> u64 {
    u64::from(work.request.range.end - work.request.range.start)
}

impl Tier {
    /// Discards the blocks that a range begins with, as far as they are neighbours that no dirty line holds, and the one behind them; returns how
    /// many bytes: 0 where it begins with a block that is in use.
    ///
    /// # Errors
    ///
    /// As [`Tier::discard`].
    pub(super) fn discard_run(&self, volume: u8, at: u64, asked: u64) -> Result<u64, Error> {
        let begin = self.clock.now();
        let asked = RunAsked { kind: AccessKind::Discard, volume, at, length: asked, most: MOST_BLOCKS };
        let works = self.begin_run(&asked, is_plain);
        let guard = self.guard_panics();
        let plain = works.iter().filter(|work| is_plain(work)).count();
        let (mut trouble, failure) = match self.discard_at_once(volume, at, &works[..plain]) {
            Ok(()) => (None, None),
            Err((failure, error)) => (Some(error), Some(failure)),
        };
        let (mut done, mut outcome) = (0, Ok(()));
        // Every work ends, whatever became of the one before.
        for (place, work) in works.into_iter().enumerate() {
            let ran: WorkOutcome = match &failure {
                _ if place >= plain => self.run(&work, &mut CallerBytes::Zeros),
                Some(failure) => (Err(failure.clone()), trouble.take()),
                None => (Ok(SectorCrcs::default()), None),
            };
            done += length(&work);
            let request = work.request.clone();
            let ended = match self.ended(work, ran, begin) {
                Ok(false) if outcome.is_ok() => self.one(&request, &mut CallerBytes::Zeros),
                ended => ended.map(drop),
            };
            outcome = outcome.and(ended);
        }
        guard.disarm();
        outcome.map(|()| done)
    }

    /// Discards neighbours on the origin, after it is durable that no line holds them.
    fn discard_at_once(&self, volume: u8, at: u64, works: &[BlockWork]) -> Result<(), (WorkFailure, Error)> {
        let Some(first) = works.first() else { return Ok(()) };
        // The first commit takes up the lines of all: they were given up when the works began.
        let mut waiting = works.iter().filter(|work| waits(work));
        waiting.try_for_each(|work| self.barrier(work.request.block)).map_err(|error| (WorkFailure::Barrier, error))?;
        let done = self.origins[usize::from(volume)].discard(at, works.iter().map(length).sum());
        done.map_err(|error| (WorkFailure::Origin, origin_error("discarded", first.request.block, at, error)))
    }
}
