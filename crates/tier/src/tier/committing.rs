//! Makes records durable: commits, syncs of origins, checkpoints and superblocks.

use std::io;

use super::front::Tier;
use crate::error::Error;
use crate::layout::{ENTRIES_PER_BLOCK, Geometry, Superblock, encode_entries};
use crate::machine::{CacheMachine, Commit};

/// Blocks of a checkpoint that are written at once.
const CHECKPOINT_PIECE: u32 = 256;

impl Tier {
    /// Returns when a commit of this number or a later one has succeeded that left nothing out but warmth; makes commits or waits for those of other
    /// threads. An error is that of the volume for which it is waited.
    pub(super) fn commit_until(&self, volume: u8, wanted: u64) -> Result<(), Error> {
        self.commit_till(volume, CacheMachine::lacks_room, &|machine| machine.commits_complete() >= wanted)
    }

    /// Returns when all that is pending now is durable, warmth too, but for what waits for a sync of an origin. An error is that of the first volume
    /// that has lost anything.
    pub(super) fn commit_all(&self) -> Result<(), Error> {
        let (wanted, volume) = {
            let mut state = self.lock();
            let losing = (0..self.volumes()).find(|volume| state.machine.lines_of(*volume).1 > 0);
            (state.machine.want_full_commit(), losing.unwrap_or(0))
        };
        self.commit_till(volume, CacheMachine::lacks_room_for_all, &|machine| machine.commits_full() >= wanted)
    }

    fn commit_till(
        &self,
        volume: u8,
        lacks_room: fn(&CacheMachine) -> bool,
        is_done: &dyn Fn(&CacheMachine) -> bool,
    ) -> Result<(), Error> {
        loop {
            let mut state = self.lock();
            if state.machine.has_pool_failed() {
                drop(state);
                return Err(self.failure(volume));
            }
            if is_done(&state.machine) {
                return Ok(());
            }
            if state.machine.is_committing() || state.machine.is_abandoning() {
                drop(self.wait(state));
                continue;
            }
            if lacks_room(&state.machine) {
                drop(state);
                // Whether the volumes go on without a cache that failed is looked at above.
                drop(self.checkpoint());
                continue;
            }
            let Some(commit) = state.machine.commit_begin() else { continue };
            drop(state);
            let guard = self.guard_panics();
            let done = self.carry_out(&commit);
            guard.disarm();
            let mut state = self.lock();
            if let Err(error) = &done {
                state.first_error.get_or_insert_with(|| error.to_string());
            }
            let abandons = state.machine.commit_end(done.is_ok());
            drop(state);
            self.changed.notify_all();
            if abandons {
                self.abandon(&self.lock_superblock());
            }
        }
    }

    fn carry_out(&self, commit: &Commit) -> Result<(), Error> {
        let failed = |action| move |error: io::Error| Error::device(action, "the cache", 0, error);
        if commit.sync_first {
            self.cache.sync().map_err(failed("synced data of"))?;
        }
        for (at, bytes) in &commit.appends {
            self.cache.write_at(*at, bytes).map_err(failed("wrote the journal of"))?;
        }
        if commit.sync_after {
            self.cache.sync().map_err(failed("synced"))?;
        }
        for (at, bytes) in &commit.checksums {
            self.cache.write_at(*at, bytes).map_err(failed("wrote checksums of"))?;
        }
        Ok(())
    }

    /// Returns when all is durable on an origin that was written there before.
    pub(super) fn sync_origin(&self, volume: u8) -> Result<(), Error> {
        let wanted = self.lock().machine.next_origin_sync(volume);
        self.sync_origin_until(volume, wanted)
    }

    /// Returns when a sync of an origin with this number or a later one has succeeded.
    pub(super) fn sync_origin_until(&self, volume: u8, wanted: u64) -> Result<(), Error> {
        if self.lock().machine.done_origin_sync(volume) >= wanted {
            return Ok(());
        }
        // One at a time: an operating system tells an error of a file once, and what a sync beside that one says proves nothing.
        let place = usize::from(volume);
        let _turn = self.origin_turns[place].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let number = {
            let mut state = self.lock();
            if state.machine.done_origin_sync(volume) >= wanted {
                return Ok(());
            }
            state.machine.origin_sync_begin(volume)
        };
        let guard = self.guard_panics();
        let done = self.origins[place].sync();
        guard.disarm();
        let mut state = self.lock();
        match done {
            Ok(()) => {
                state.machine.origin_sync_end(volume, number);
                Ok(())
            }
            Err(error) => {
                state.machine.origin_sync_failed(volume);
                let error = Error::device("synced", format!("the origin of volume {volume}"), 0, error);
                state.first_error.get_or_insert_with(|| error.to_string());
                Err(error)
            }
        }
    }

    /// Writes all durable mappings anew, so that the journal before can be overwritten.
    ///
    /// # Errors
    ///
    /// When the cache fails; then all volumes have failed, or do without it if nothing was dirty.
    pub fn checkpoint(&self) -> Result<(), Error> {
        let mut superblock = self.lock_superblock();
        self.checkpoint_with(&mut superblock, false)
    }

    pub(super) fn lock_superblock(&self) -> std::sync::MutexGuard<'_, Superblock> {
        self.superblock.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn checkpoint_with(&self, superblock: &mut Superblock, clean: bool) -> Result<(), Error> {
        let start = {
            let state = self.lock();
            if state.machine.has_abandoned() {
                return Ok(());
            }
            state.machine.checkpoint_begin()
        };
        let mut next = superblock.clone();
        next.checkpoint_slot = 1 - superblock.checkpoint_slot;
        next.checkpoint_sequence += 1;
        next.journal_start = start;
        next.checkpoint_mount = next.mounts;
        next.clean = clean;
        let written = self.write_entries(&next).and_then(|()| self.write_superblock(superblock, next));
        let mut state = self.lock();
        let abandons = match &written {
            Ok(()) => {
                state.machine.checkpoint_end(start);
                false
            }
            Err(error) => {
                state.first_error.get_or_insert_with(|| error.to_string());
                state.machine.cache_failed()
            }
        };
        drop(state);
        self.changed.notify_all();
        if abandons {
            self.abandon(superblock);
        }
        written
    }

    fn write_entries(&self, next: &Superblock) -> Result<(), Error> {
        let failed = |error| Error::device("wrote a checkpoint of", "the cache", 0, error);
        let blocks = self.geometry.checkpoint_blocks();
        for first in (0..blocks).step_by(CHECKPOINT_PIECE as usize) {
            let last = (first + CHECKPOINT_PIECE).min(blocks);
            let mut piece = Vec::new();
            for number in first..last {
                let from = number * ENTRIES_PER_BLOCK;
                let to = (from + ENTRIES_PER_BLOCK).min(self.geometry.most_lines);
                let entries = self.lock().machine.durable_entries(from..to);
                piece.extend(encode_entries(next.checkpoint_sequence, number, &entries));
            }
            self.cache
                .write_at(self.geometry.byte_of_checkpoint(next.checkpoint_slot, first), &piece)
                .map_err(failed)?;
        }
        self.cache.sync().map_err(failed)
    }

    /// Puts a superblock in force.
    pub(super) fn write_superblock(&self, current: &mut Superblock, mut next: Superblock) -> Result<(), Error> {
        next.sequence = current.sequence + 1;
        write_superblock(&*self.cache, &next)?;
        *current = next;
        Ok(())
    }
}

/// Writes a superblock to the slot of its number, durably.
pub(super) fn write_superblock(cache: &dyn crate::device::Device, superblock: &Superblock) -> Result<(), Error> {
    let slot = u8::from(superblock.sequence % 2 == 1);
    let at = Geometry::byte_of_superblock(slot);
    let failed = |error| Error::device("wrote a superblock of", "the cache", at, error);
    cache.write_at(at, &superblock.encode()).map_err(failed)?;
    cache.sync().map_err(failed)
}
