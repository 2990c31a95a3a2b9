//! Reads of several blocks: neighbours that are not in the cache are read from the origin at once, as one request to a slow device.

use super::driver::{CallerBytes, WorkOutcome, is_whole_miss, origin_error};
use super::front::Tier;
use super::run::RunAsked;
use crate::error::Error;
use crate::machine::{AccessKind, BlockWork, WorkFailure};

/// Blocks of one request to the origin at most: 1 MiB of 8 KiB lines.
const MOST_BLOCKS: usize = 128;

impl Tier {
    /// Reads the misses that a range begins with, as far as they are neighbours; returns how many bytes: 0 where it begins with a hit or a block
    /// that is in use.
    ///
    /// # Errors
    ///
    /// As [`Tier::read`].
    pub(super) fn read_run(&self, volume: u8, at: u64, into: &mut [u8]) -> Result<usize, Error> {
        let begin = self.clock.now();
        let asked = RunAsked { kind: AccessKind::Read, volume, at, length: into.len() as u64, most: MOST_BLOCKS };
        let works = self.begin_run(&asked, is_whole_miss);
        let guard = self.guard_panics();
        let misses = works.iter().filter(|work| is_whole_miss(work)).count();
        let bytes: usize = works[..misses].iter().map(length).sum();
        let mut origin = match works.first() {
            Some(first) if misses > 0 => {
                let read = self.origins[usize::from(volume)].read_at(at, &mut into[..bytes]);
                read.map_err(|error| origin_error("read", first.request.block, at, error)).err()
            }
            _ => None,
        };
        let failed = origin.is_some();
        let (mut done, mut left, mut outcome) = (0, into, Ok(()));
        // Every work ends, whatever became of the one before.
        for (place, work) in works.into_iter().enumerate() {
            let (piece, rest) = left.split_at_mut(length(&work));
            let ran: WorkOutcome = if place >= misses {
                self.run(&work, &mut CallerBytes::Into(piece))
            } else if failed {
                (Err(WorkFailure::Origin), origin.take())
            } else {
                self.run_fetched(&work, piece)
            };
            let request = work.request.clone();
            let ended = match self.ended(work, ran, begin) {
                Ok(false) if outcome.is_ok() => self.one(&request, &mut CallerBytes::Into(piece)),
                ended => ended.map(drop),
            };
            outcome = outcome.and(ended);
            done += piece.len();
            left = rest;
        }
        guard.disarm();
        outcome.map(|()| done)
    }
}

fn length(work: &BlockWork) -> usize {
    (work.request.range.end - work.request.range.start) as usize
}
