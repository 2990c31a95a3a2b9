//! Carries out a work of the machine on the devices. It knows no policy and no state.

use std::io;
use std::ops::Range;

use super::front::Tier;
use super::latency::LatencyClass;
use crate::block::{OriginBlock, SECTOR_BYTES, SectorSet};
use crate::error::Error;
use crate::machine::{Action, BlockWork, SectorCrcs, Verification, WorkFailure};
use crc32c::crc32c;

/// The caller's side of a request.
pub(super) enum CallerBytes<'a> {
    /// Where a read puts its bytes.
    Into(&'a mut [u8]),
    /// What a write writes.
    From(&'a [u8]),
    /// What a discard writes.
    Zeros,
}

/// Bytes of a block's window while a work is at work.
enum BlockBuffer<'a> {
    /// The caller's own bytes, which are all that is written: nothing is read or merged.
    Given(&'a [u8]),
    /// Room for what is read and merged.
    Room(&'a mut [u8]),
}

impl BlockBuffer<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Given(bytes) => bytes,
            Self::Room(bytes) => bytes,
        }
    }

    fn part(&self, work: &BlockWork, range: &Range<u32>) -> &[u8] {
        &self.bytes()[(range.start - work.window.start) as usize..(range.end - work.window.start) as usize]
    }

    fn part_mut(&mut self, work: &BlockWork, range: &Range<u32>) -> &mut [u8] {
        match self {
            Self::Given(_) => unreachable!("a request for whole sectors reads nothing"),
            Self::Room(bytes) => {
                &mut bytes[(range.start - work.window.start) as usize..(range.end - work.window.start) as usize]
            }
        }
    }
}

/// How a work went: for the machine, and the error for the caller.
pub(super) type WorkOutcome = (Result<SectorCrcs, WorkFailure>, Option<Error>);

fn outcome_of(done: Result<SectorCrcs, DeviceFailure>) -> WorkOutcome {
    match done {
        Ok(crcs) => (Ok(crcs), None),
        Err(DeviceFailure(failure, error)) => (Err(failure), Some(*error)),
    }
}

/// Whether a work begins with reading all that it wants from the origin, and reads nothing else.
pub(super) fn is_whole_miss(work: &BlockWork) -> bool {
    let reads =
        work.actions.iter().filter(|step| matches!(step, Action::CacheRead(..) | Action::OriginRead(_))).count();
    let whole = matches!(work.actions.first(), Some(Action::OriginRead(range)) if *range == work.request.range);
    whole && reads == 1 && work.window == work.request.range && work.verification.is_none()
}

/// A failure for the machine, and for the caller.
struct DeviceFailure(WorkFailure, Box<Error>);

/// Whether a work waits for the origin.
pub(super) fn class_of(work: &BlockWork) -> LatencyClass {
    let slow = work
        .actions
        .iter()
        .any(|action| matches!(action, Action::OriginRead(_) | Action::OriginWrite(_) | Action::OriginDiscard(_)));
    if slow { LatencyClass::Miss } else { LatencyClass::Hit }
}

impl Tier {
    /// Does a work; beside the outcome for the machine there is the error for the caller.
    pub(super) fn run(&self, work: &BlockWork, bytes: &mut CallerBytes<'_>) -> WorkOutcome {
        let done = match bytes {
            // The caller's own buffer serves where it holds all that is read.
            CallerBytes::Into(into) if work.window == work.request.range => {
                self.steps(work, &mut BlockBuffer::Room(into), &CallerBytes::Zeros)
            }
            CallerBytes::From(from) if work.window == work.request.range => {
                self.steps(work, &mut BlockBuffer::Given(from), bytes)
            }
            _ => self.run_with_buffer(work, bytes),
        };
        outcome_of(done)
    }

    /// Does the rest of a work for whole misses whose bytes were read from the origin.
    pub(super) fn run_fetched(&self, work: &BlockWork, fetched: &mut [u8]) -> WorkOutcome {
        let mut buffer = BlockBuffer::Room(fetched);
        let mut rest = work.actions.iter().skip(1);
        let done = rest.try_for_each(|step| self.step(work, step, &mut buffer, &CallerBytes::Zeros));
        outcome_of(done.map(|()| sums(work.cache_written(), work.window.start, buffer.bytes())))
    }

    fn run_with_buffer(&self, work: &BlockWork, bytes: &mut CallerBytes<'_>) -> Result<SectorCrcs, DeviceFailure> {
        let mut buffer = vec![0; (work.window.end - work.window.start) as usize];
        let done = self.steps(work, &mut BlockBuffer::Room(&mut buffer), bytes);
        // A read that could not be brought into the cache has its bytes all the same.
        let has_read = matches!(done, Ok(_) | Err(DeviceFailure(WorkFailure::CacheWrite, _)));
        if let CallerBytes::Into(into) = bytes
            && has_read
        {
            into.copy_from_slice(BlockBuffer::Room(&mut buffer).part(work, &work.request.range));
        }
        done
    }

    fn steps(
        &self,
        work: &BlockWork,
        buffer: &mut BlockBuffer<'_>,
        bytes: &CallerBytes<'_>,
    ) -> Result<SectorCrcs, DeviceFailure> {
        let reads =
            work.actions.iter().take_while(|step| matches!(step, Action::CacheRead(..) | Action::OriginRead(_)));
        let reads = reads.count();
        for step in &work.actions[..reads] {
            self.step(work, step, buffer, bytes)?;
        }
        if let Some(verification) = &work.verification {
            self.verify(verification, work, buffer.bytes())?;
        }
        for step in &work.actions[reads..] {
            self.step(work, step, buffer, bytes)?;
        }
        Ok(sums(work.cache_written(), work.window.start, buffer.bytes()))
    }

    fn step(
        &self,
        work: &BlockWork,
        step: &Action,
        buffer: &mut BlockBuffer<'_>,
        bytes: &CallerBytes<'_>,
    ) -> Result<(), DeviceFailure> {
        let block = work.request.block;
        let origin = &self.origins[usize::from(block.volume())];
        let at = |range: &Range<u32>| block.index() * u64::from(self.geometry.line_bytes) + u64::from(range.start);
        match step {
            Action::CacheRead(from, range) => {
                let done = self.cache.read_at(*from, buffer.part_mut(work, range));
                done.map_err(|error| cache_failure(WorkFailure::CacheRead, "read", *from, error))
            }
            Action::CacheWrite(to, range) => {
                let done = self.cache.write_at(*to, buffer.part(work, range));
                done.map_err(|error| cache_failure(WorkFailure::CacheWrite, "wrote", *to, error))
            }
            Action::OriginRead(range) => {
                let done = self.read_origin(block, range, buffer.part_mut(work, range));
                done.map_err(|error| origin_failure("read", block, at(range), error))
            }
            Action::OriginWrite(range) => {
                let kept = self.inside(block, range);
                let done = origin.write_at(at(range), buffer.part(work, &kept));
                done.map_err(|error| origin_failure("wrote", block, at(range), error))
            }
            Action::OriginDiscard(range) => {
                let done = origin.discard(at(range), u64::from(range.end - range.start));
                done.map_err(|error| origin_failure("discarded", block, at(range), error))
            }
            Action::Merge => {
                match (buffer, bytes) {
                    (BlockBuffer::Given(_), _) => {}
                    (room, CallerBytes::From(from)) => {
                        room.part_mut(work, &work.request.range).copy_from_slice(from);
                    }
                    (room, _) => room.part_mut(work, &work.request.range).fill(0),
                }
                Ok(())
            }
            Action::Barrier => {
                self.barrier(block).map_err(|error| DeviceFailure(WorkFailure::Barrier, Box::new(error)))
            }
        }
    }

    /// Reads the origin; beyond the end of the volume there are zeros.
    fn read_origin(&self, block: OriginBlock, range: &Range<u32>, into: &mut [u8]) -> io::Result<()> {
        let kept = self.inside(block, range);
        let length = (kept.end - kept.start) as usize;
        into[length..].fill(0);
        let at = block.index() * u64::from(self.geometry.line_bytes) + u64::from(range.start);
        self.origins[usize::from(block.volume())].read_at(at, &mut into[..length])
    }

    /// The part of a range of a block that lies in the volume.
    pub(super) fn inside(&self, block: OriginBlock, range: &Range<u32>) -> Range<u32> {
        let from = block.index() * u64::from(self.geometry.line_bytes);
        let left = self.volume_bytes(block.volume()).saturating_sub(from);
        let end = u64::from(range.end).min(left);
        range.start..u32::try_from(end).expect("within a line").max(range.start)
    }

    /// Waits until it is durable that no line holds a block.
    pub(super) fn barrier(&self, block: OriginBlock) -> Result<(), Error> {
        loop {
            let wanted = {
                let state = self.lock();
                if !state.machine.is_barrier_up(block) {
                    return Ok(());
                }
                state.machine.commit_wanted()
            };
            self.commit_until(block.volume(), wanted)?;
        }
    }

    /// Compares sectors in the buffer of a work with their checksums.
    fn verify(&self, verification: &Verification, work: &BlockWork, buffer: &[u8]) -> Result<(), DeviceFailure> {
        let failed = |error| cache_failure(WorkFailure::CacheRead, "read the checksums of", 0, error);
        let actual = sums(verification.sectors, work.window.start, buffer);
        let wanted = self.wanted_crcs(verification).map_err(failed)?;
        if wanted == actual {
            return Ok(());
        }
        let differing = differing(&wanted, &actual);
        let error = self.lost(work.request.block, differing.sectors());
        Err(DeviceFailure(WorkFailure::Mismatch(Box::new(differing)), Box::new(error)))
    }

    /// The error of sectors of a block whose only content is damaged.
    pub(super) fn lost(&self, block: OriginBlock, sectors: SectorSet) -> Error {
        let (from, span) = (block.index() * u64::from(self.geometry.line_bytes), sectors.span());
        Error::lost(block.volume(), from + u64::from(span.start)..from + u64::from(span.end))
    }

    /// The checksums that sectors should have, from memory and from the array on the cache.
    pub(super) fn wanted_crcs(&self, verification: &Verification) -> io::Result<SectorCrcs> {
        let unknown = verification.sectors.without(verification.known.sectors());
        let mut wanted = verification.known.only(verification.sectors);
        for run in unknown.runs() {
            let (from, to) = (run.start / SECTOR_BYTES, run.end / SECTOR_BYTES);
            let mut bytes = [0; 64];
            let bytes = &mut bytes[..((to - from) * 4) as usize];
            self.cache.read_at(self.geometry.byte_of_crc(verification.line, from), bytes)?;
            for (sector, crc) in (from..to).zip(bytes.as_chunks::<4>().0) {
                wanted.set(sector, u32::from_le_bytes(*crc));
            }
        }
        Ok(wanted)
    }
}

/// Actual checksums that differ from the wanted ones of the same sectors.
pub(super) fn differing(wanted: &SectorCrcs, actual: &SectorCrcs) -> SectorCrcs {
    let both = actual.sectors().and(wanted.sectors());
    let differ = both.sectors().filter(|sector| wanted.get(*sector) != actual.get(*sector));
    actual.only(differ.fold(SectorSet(0), |set, sector| set.or(SectorSet(1 << sector))))
}

/// Checksums of sectors in a buffer that begins with byte `start` of the block.
pub(super) fn sums(sectors: SectorSet, start: u32, buffer: &[u8]) -> SectorCrcs {
    let mut crcs = SectorCrcs::default();
    for sector in sectors.sectors() {
        let from = (sector * SECTOR_BYTES - start) as usize;
        crcs.set(sector, crc32c(&buffer[from..from + SECTOR_BYTES as usize]));
    }
    crcs
}

fn cache_failure(failure: WorkFailure, action: &'static str, at: u64, error: io::Error) -> DeviceFailure {
    DeviceFailure(failure, Box::new(Error::device(action, "the cache", at, error)))
}

fn origin_failure(action: &'static str, block: OriginBlock, at: u64, error: io::Error) -> DeviceFailure {
    DeviceFailure(WorkFailure::Origin, Box::new(origin_error(action, block, at, error)))
}

pub(super) fn origin_error(action: &'static str, block: OriginBlock, at: u64, error: io::Error) -> Error {
    Error::device(action, format!("the origin of volume {}", block.volume()), at, error)
}
