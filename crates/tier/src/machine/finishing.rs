//! The end of a work: what becomes visible when it succeeded, and what is given up when a device failed.

use super::abandoning::CacheHold;
use super::commits::SectorCrcs;
use super::machine_core::CacheMachine;
use super::work::{AccessKind, BlockRequest, BlockWork, Change, End, WorkFailure};
use crate::block::{OriginBlock, SectorSet};
use crate::lines::LineEntry;
use crate::lists::{LineNumber, ListId};

impl CacheMachine {
    /// Ends a work. `Ok` has the checksums of the sectors in [`BlockWork::cache_written`].
    pub fn end(&mut self, work: BlockWork, outcome: Result<SectorCrcs, WorkFailure>) -> End {
        self.let_go(work.request.block);
        match work.change {
            Change::Through { pinned: Some(line), .. } => self.unpin(line),
            Change::Place { .. } => self.placing -= 1,
            _ => {}
        }
        if self.may_be_lost(&work, outcome.as_ref().err()) {
            self.release_fresh(&work.change);
            return self.fail_volume(work.request.block);
        }
        match outcome {
            Ok(_) if self.cache_hold != CacheHold::Held => self.end_without_cache(work),
            Ok(crcs) => {
                self.records.cache_was_written |= !work.cache_written().is_empty();
                self.count_success(&work);
                self.apply(&work, &crcs);
                End::Done
            }
            Err(failure) => self.give_up(work, failure),
        }
    }

    /// Whether a sync of the origin failed since a work began that may have written there: no later sync tells of what it wrote.
    fn may_be_lost(&mut self, work: &BlockWork, failure: Option<&WorkFailure>) -> bool {
        let Change::Through { sync_failures, .. } = work.change else { return false };
        let may_be_written = matches!(failure, None | Some(WorkFailure::Origin | WorkFailure::CacheWrite));
        may_be_written && self.volume(work.request.block).sync_failures != sync_failures
    }

    pub(super) fn apply(&mut self, work: &BlockWork, crcs: &SectorCrcs) {
        let block = work.request.block;
        if let Some(verification) = &work.verification {
            self.note_compared(verification.line, verification.sectors);
        }
        match work.change {
            Change::Hit { .. } | Change::Fetch { line: None, .. } => {}
            Change::Fetch { line: Some(line), fresh, gained, .. } => self.gain(block, line, (fresh, gained), crcs),
            Change::Overwrite { line, written } => {
                let entry = *self.table.entry(line);
                let (valid, dirty) = (entry.valid.or(written), entry.dirty.or(written));
                self.change(line, LineEntry { valid, dirty, ..entry }, crcs, None);
                self.lists.set_recent(line);
                self.forget_accepted(line);
                self.note_compared(line, written);
            }
            Change::Place { line, old, kept, written } => {
                self.place(block, (line, old), (kept, written), crcs);
            }
            Change::Through { line, valid, from, .. } => {
                let number = block.volume();
                let volume = self.volume(block);
                let after = volume.sync_next;
                volume.sync_wanted = after;
                volume.unsynced.insert(block, after);
                if let Some(line) = line {
                    let entry = LineEntry::new(block, valid, SectorSet(0));
                    self.seat_fresh(line, entry, crcs, Some((number, after)));
                    self.inherit(line, block, from);
                }
            }
        }
    }

    /// Notes that sectors of a line are as their checksums say: they were compared, or written.
    fn note_compared(&mut self, line: LineNumber, sectors: SectorSet) {
        self.heal(line, sectors);
        if sectors.has(self.table.entry(line).valid) {
            self.lists.set_trusted(line, true);
            self.forget_sound(line);
        } else {
            self.note_sound(line, sectors);
        }
    }

    /// Lets a fresh line hold a block in the place of an old one, which the cleaner may have cleaned meanwhile.
    fn place(
        &mut self,
        block: OriginBlock,
        (line, old): (LineNumber, Option<LineNumber>),
        (kept, written): (SectorSet, SectorSet),
        crcs: &SectorCrcs,
    ) {
        let from = old.map(|old| self.lists.policy_place(old));
        let before = old.map_or(LineEntry::EMPTY, |old| *self.table.entry(old));
        let mut entry = LineEntry::new(block, kept.or(written), written.or(kept.and(before.dirty)));
        if let Some(old) = old {
            self.unmap(old);
            // The cleaner must not take the line for the one that it has read, if that was this one once more.
            entry = entry.written_after(&before);
        }
        self.seat_fresh(line, entry, crcs, None);
        self.lists.set_recent(line);
        match from.filter(|_| before.is_dirty()) {
            // It stood in no list of the policy.
            Some(from) => {
                self.lists.set_uses(line, from.uses);
                self.touch(line, block);
            }
            None => self.inherit(line, block, from),
        }
    }

    fn gain(&mut self, block: OriginBlock, line: LineNumber, what: (bool, SectorSet), crcs: &SectorCrcs) {
        let (fresh, gained) = what;
        let after = self.volume(block).unsynced.get(&block).map(|sync| (block.volume(), *sync));
        if fresh {
            self.reserved.remove(&line);
            self.lists.set_trusted(line, true);
            self.gain_warmth(line, LineEntry::new(block, gained, SectorSet(0)), crcs, after);
        } else {
            let entry = *self.table.entry(line);
            let gaining = LineEntry { valid: entry.valid.or(gained), ..entry };
            // After a crash any sector of a dirty line may pass for torn: its record never waits for anything.
            if entry.is_dirty() {
                self.change(line, gaining, crcs, after);
            } else {
                self.gain_warmth(line, gaining, crcs, after);
            }
            self.forget_accepted(line);
            self.note_sound(line, gained);
        }
    }

    fn seat_fresh(&mut self, line: LineNumber, entry: LineEntry, crcs: &SectorCrcs, after: Option<(u8, u64)>) {
        self.reserved.remove(&line);
        self.lists.set_trusted(line, true);
        self.change(line, entry, crcs, after);
    }

    pub(super) fn count_success(&mut self, work: &BlockWork) {
        let counters = &mut self.volume(work.request.block).counters;
        let bytes = u64::from(work.request.range.end - work.request.range.start);
        match work.request.kind {
            AccessKind::Read => {
                counters.reads += 1;
                counters.read_bytes += bytes;
            }
            AccessKind::Write => {
                counters.writes += 1;
                counters.write_bytes += bytes;
            }
            AccessKind::Discard => {
                counters.discards += 1;
                return;
            }
        }
        match work.change {
            Change::Hit { .. } => counters.read_hits += 1,
            Change::Fetch { line, gained, partial, .. } => {
                counters.read_partial_hits += u64::from(partial);
                counters.read_misses += u64::from(!partial);
                counters.promotions_skipped += u64::from(line.is_none());
                counters.promoted_sectors += line.map_or(0, |_| u64::from(gained.count()));
            }
            Change::Overwrite { .. } => {
                counters.write_hits += 1;
                counters.writes_absorbed += 1;
            }
            Change::Place { old, .. } => {
                counters.write_hits += u64::from(old.is_some());
                counters.writes_absorbed += 1;
            }
            Change::Through { from, bypass, .. } => {
                counters.write_hits += u64::from(from.is_some());
                counters.writes_to_origin += 1;
                counters.writes_bypassed += u64::from(bypass);
            }
        }
    }

    fn give_up(&mut self, work: BlockWork, failure: WorkFailure) -> End {
        let block = work.request.block;
        match failure {
            WorkFailure::Origin => {
                self.volume(block).counters.origin_errors += 1;
                self.release_fresh(&work.change);
                self.note_doubtful_origin(&work);
                End::Failed
            }
            WorkFailure::Barrier => {
                self.release_fresh(&work.change);
                End::Failed
            }
            WorkFailure::Mismatch(actual) => self.give_up_mismatch(&work, &actual),
            WorkFailure::CacheRead => {
                self.volume(block).counters.cache_errors += 1;
                self.release_fresh(&work.change);
                match self.table.find(block) {
                    Some(line) if self.table.entry(line).is_dirty() => self.fail_volume(block),
                    Some(line) => self.give_up_line(block, line),
                    None => End::Retry,
                }
            }
            WorkFailure::CacheWrite => {
                self.volume(block).counters.cache_errors += 1;
                self.give_up_cache_write(&work)
            }
        }
    }

    /// A write that failed may have reached the origin: what is read from there is durable only after a sync.
    fn note_doubtful_origin(&mut self, work: &BlockWork) {
        if matches!(work.change, Change::Through { .. }) {
            let block = work.request.block;
            let volume = self.volume(block);
            volume.unsynced.insert(block, volume.sync_next);
        }
    }

    /// Gives up a work that read sectors that differ from their checksums: these.
    fn give_up_mismatch(&mut self, work: &BlockWork, actual: &SectorCrcs) -> End {
        self.release_fresh(&work.change);
        let block = work.request.block;
        let line = work.verification.as_ref().map(|verification| verification.line);
        // The line may have been given up by this very work.
        let Some(line) = line.filter(|line| self.table.entry(*line).block() == Some(block)) else {
            self.volume(block).counters.clean_mismatches += 1;
            return End::Retry;
        };
        let entry = *self.table.entry(line);
        if !entry.is_dirty() {
            self.volume(block).counters.clean_mismatches += 1;
            return self.give_up_line(block, line);
        }
        let differing = self.accept_torn(line, actual);
        let clean = differing.without(entry.dirty);
        if !clean.is_empty() {
            self.volume(block).counters.clean_mismatches += 1;
            self.drop_clean(line, clean);
        }
        let damaged = differing.and(entry.dirty);
        if damaged.is_empty() {
            return End::Retry;
        }
        self.damage(line, damaged);
        End::Failed
    }

    /// Gives up a clean line that could not be read as it should be, once nobody else reads it: another would read what a third one puts there.
    fn give_up_line(&mut self, block: OriginBlock, line: LineNumber) -> End {
        if !self.close_hold(block) {
            self.unmap(line);
        }
        End::Retry
    }

    fn give_up_cache_write(&mut self, work: &BlockWork) -> End {
        let block = work.request.block;
        match work.change {
            Change::Hit { .. } => End::Retry,
            // The caller has what the origin gave; only the line is lost.
            Change::Fetch { line, fresh, partial, gained } => {
                if let Some(line) = line.filter(|_| fresh) {
                    self.retire(line);
                }
                let change = Change::Fetch { line: None, fresh, gained, partial };
                self.count_success(&BlockWork { change, ..work.clone() });
                End::Done
            }
            Change::Overwrite { .. } => self.fail_volume(block),
            Change::Place { line, .. } => {
                self.retire(line);
                if self.volume(block).dirty > 0 {
                    return self.fail_volume(block);
                }
                self.volume(block).degraded = true;
                End::Retry
            }
            Change::Through { line, valid, from, bypass, pinned, sync_failures } => {
                if let Some(line) = line {
                    self.retire(line);
                }
                let change = Change::Through { line: None, valid, from, bypass, pinned, sync_failures };
                let work = BlockWork { change, ..work.clone() };
                self.count_success(&work);
                self.apply(&work, &SectorCrcs::default());
                End::Done
            }
        }
    }

    /// Takes a line out of use for good: it is in no list and never free.
    fn retire(&mut self, line: LineNumber) {
        self.reserved.remove(&line);
        self.lists.move_to(line, ListId::ASIDE);
        self.retired.insert(line);
    }

    pub(super) fn release_fresh(&mut self, change: &Change) {
        match *change {
            // The one that held the block is free as soon as no crash can find it, and nobody pins it.
            Change::Through { line, pinned, .. } if line == pinned => {}
            Change::Fetch { line: Some(line), fresh: true, .. }
            | Change::Place { line, .. }
            | Change::Through { line: Some(line), .. } => self.free(line),
            _ => {}
        }
    }

    pub(super) fn fail_volume(&mut self, block: OriginBlock) -> End {
        self.volume(block).failed = true;
        End::Failed
    }

    /// Lets all volumes fail: the cache can no longer say what it holds.
    pub fn fail_pool(&mut self) {
        self.pool_failed = true;
        self.volumes.iter_mut().for_each(|volume| volume.failed = true);
    }

    /// Begins a sync of a volume's origin, and returns its number for [`CacheMachine::origin_sync_end`].
    pub fn origin_sync_begin(&mut self, volume: u8) -> u64 {
        let volume = &mut self.volumes[usize::from(volume)];
        volume.sync_next += 1;
        volume.sync_next - 1
    }

    /// Notes that a sync failed. A later one that succeeds proves nothing for what an operating system gave up, so
    /// that a volume fails whose writes it should have covered, and a batch of the cleaner at work cleans nothing.
    pub fn origin_sync_failed(&mut self, volume: u8) {
        let volume = &mut self.volumes[usize::from(volume)];
        volume.counters.origin_errors += 1;
        volume.sync_failures += 1;
        volume.failed |= volume.sync_wanted > volume.sync_done || !volume.unsynced.is_empty();
    }

    /// Notes that a sync succeeded, which says nothing of a volume that has failed.
    pub fn origin_sync_end(&mut self, volume: u8, number: u64) {
        let volume = &mut self.volumes[usize::from(volume)];
        if volume.failed {
            return;
        }
        volume.sync_done = volume.sync_done.max(number);
        volume.unsynced.retain(|_, sync| *sync > number);
    }

    /// Number of the sync that is begun next, which covers what was written so far.
    pub fn next_origin_sync(&self, volume: u8) -> u64 {
        self.volumes[usize::from(volume)].sync_next
    }

    /// The least number of the sync that covers what was acknowledged so far.
    pub fn wanted_origin_sync(&self, volume: u8) -> u64 {
        self.volumes[usize::from(volume)].sync_wanted
    }

    /// Syncs that failed. One that fails beside a write may have lost what was written.
    pub fn origin_sync_failures(&self, volume: u8) -> u64 {
        self.volumes[usize::from(volume)].sync_failures
    }

    /// Number of the last sync that has succeeded.
    pub fn done_origin_sync(&self, volume: u8) -> u64 {
        self.volumes[usize::from(volume)].sync_done
    }

    /// Refuses or accepts a request by its size: whether its range lies in one block and is not empty.
    pub fn is_sound(&self, request: &BlockRequest) -> bool {
        request.range.start < request.range.end
            && request.range.end <= self.geometry.line_bytes
            && usize::from(request.block.volume()) < self.volumes.len()
    }
}
