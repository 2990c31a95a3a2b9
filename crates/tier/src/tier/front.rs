//! What servers call: read, write, flush and discard bytes of a volume, from any thread.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::driver::{CallerBytes, WorkOutcome};
use super::flush_delay::FlushTimes;
use super::latency::{LatencyClass, LatencyHistogram};
use crate::block::{OriginBlock, SectorSet};
use crate::device::{Clock, Device};
use crate::error::Error;
use crate::forecast::SampleRing;
use crate::layout::{Geometry, Superblock};
use crate::machine::{AccessKind, Begin, BlockRequest, BlockWork, CacheMachine, CleanerMarks, End, WaitFor};
use crate::policy::PolicyChoice;
use crate::stats::VolumeCounters;

/// State that threads share.
pub(super) struct TierState {
    pub(super) machine: CacheMachine,
    /// Threads that wait for a change.
    pub(super) waiting: u32,
    /// Times of hits, misses and flushes, for each volume.
    pub(super) latencies: Vec<[LatencyHistogram; 3]>,
    /// What flushes are delayed by, and how long they took.
    pub(super) flush_times: FlushTimes,
    /// Why the cache failed, the first time.
    pub(super) first_error: Option<String>,
    /// The last references to a sample of all blocks, once somebody wants them.
    pub(super) sample: Option<SampleRing>,
}

/// A pool of cache lines before its volumes.
pub struct Tier {
    pub(super) state: Mutex<TierState>,
    pub(super) changed: Condvar,
    /// Taken before `state` and held while a superblock is written.
    pub(super) superblock: Mutex<Superblock>,
    /// Held while the number of lines in use is changed; taken before all others.
    pub(super) sizes: Mutex<()>,
    pub(super) cache: Arc<dyn Device>,
    pub(super) origins: Vec<Arc<dyn Device>>,
    /// Held while the origin of a volume is synced; taken before `state`.
    pub(super) origin_turns: Vec<Mutex<()>>,
    pub(super) clock: Arc<dyn Clock>,
    /// Time of the clock at which the pool was open.
    pub(super) opened: Duration,
    pub(super) geometry: Geometry,
    /// Bytes of each volume.
    pub(super) bytes: Vec<u64>,
    /// Order in which clean lines are given up.
    pub(super) policy: PolicyChoice,
}

/// Size and state of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStatus {
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Lines in use.
    pub active_lines: u32,
    /// Lines that are dirty.
    pub dirty_lines: u32,
    /// Order in which clean lines are given up.
    pub policy: PolicyChoice,
    /// Writes of the cleaner to an origin under way at once, as they are now.
    pub clean_depth: u32,
    /// Whether the cleaner changes them by what the origins gain.
    pub tunes_depth: bool,
    /// Shares of dirty lines at which cleaning changes.
    pub marks: CleanerMarks,
    /// Time without requests after which all lines are cleaned.
    pub idle_after: Duration,
    /// Time that a line may be dirty.
    pub age_limit: Duration,
    /// Bytes of memory that grow with the number of lines.
    pub memory_bytes: u64,
    /// Whether the last stop was no clean one.
    pub after_crash: bool,
}

impl Tier {
    pub(super) fn lock(&self) -> MutexGuard<'_, TierState> {
        // A panic of another thread is a mistake of this crate; the state is changed in whole steps.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until another thread has changed something.
    pub(super) fn wait<'a>(&self, mut state: MutexGuard<'a, TierState>) -> MutexGuard<'a, TierState> {
        state.waiting += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    pub(super) fn notify(&self, state: &TierState) {
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Bytes of a volume; 0 of one that does not exist.
    pub fn volume_bytes(&self, volume: u8) -> u64 {
        self.bytes.get(usize::from(volume)).copied().unwrap_or(0)
    }

    /// Order in which clean lines are given up.
    pub fn policy(&self) -> PolicyChoice {
        self.policy
    }

    /// Number of volumes.
    pub fn volumes(&self) -> u8 {
        u8::try_from(self.bytes.len()).expect("four at most")
    }

    /// Reads bytes of a volume.
    ///
    /// # Errors
    ///
    /// When the range is not in the volume, the origin fails, or the volume has failed.
    pub fn read(&self, volume: u8, at: u64, into: &mut [u8]) -> Result<(), Error> {
        self.check_range(volume, at, into.len() as u64)?;
        let (mut from, end) = (at, at + into.len() as u64);
        while from < end {
            let left = &mut into[(from - at) as usize..];
            let Some((block, range)) = self.pieces(volume, from, end - from).next() else { break };
            let length = range.end - range.start;
            if u64::from(length) < end - from {
                let done = self.read_run(volume, from, left)?;
                if done > 0 {
                    from += done as u64;
                    continue;
                }
            }
            let request = BlockRequest { kind: AccessKind::Read, block, range };
            self.one(&request, &mut CallerBytes::Into(&mut left[..length as usize]))?;
            from += u64::from(length);
        }
        Ok(())
    }

    /// Writes bytes of a volume. They are durable after the next [`Tier::flush`] that begins afterwards.
    ///
    /// # Errors
    ///
    /// When the range is not in the volume, a device fails, or the volume has failed. Some of the bytes may be written.
    pub fn write(&self, volume: u8, at: u64, from: &[u8]) -> Result<(), Error> {
        self.check_range(volume, at, from.len() as u64)?;
        let mut done = 0;
        for (block, range) in self.pieces(volume, at, from.len() as u64) {
            let length = (range.end - range.start) as usize;
            let piece = &from[done..done + length];
            self.one(&BlockRequest { kind: AccessKind::Write, block, range }, &mut CallerBytes::From(piece))?;
            done += length;
        }
        Ok(())
    }

    /// Makes bytes of a volume read as zeros, as durable as a write.
    ///
    /// # Errors
    ///
    /// As [`Tier::write`].
    pub fn discard(&self, volume: u8, at: u64, length: u64) -> Result<(), Error> {
        self.check_range(volume, at, length)?;
        let (mut from, end) = (at, at + length);
        while from < end {
            let done = self.discard_run(volume, from, end - from)?;
            if done > 0 {
                from += done;
                continue;
            }
            let Some((block, range)) = self.pieces(volume, from, end - from).next() else { break };
            from += u64::from(range.end - range.start);
            self.one(&BlockRequest { kind: AccessKind::Discard, block, range }, &mut CallerBytes::Zeros)?;
        }
        Ok(())
    }

    /// Returns when all writes and discards of a volume that were acknowledged before are durable, and the delay of flushes has passed.
    ///
    /// The origin is synced only if some of them went there. The cache is synced at most twice beside a commit at work, unless its journal is
    /// full, and it is not synced if no change of a line of the volume is waited for. Waited for are the lines that writes and discards have
    /// changed, those that write-through has filled, and dirty lines of which a read has filled more. Not waited for are clean lines that reads
    /// have brought in or filled, clean lines that were given up, and what is pending of other volumes; some of it may go with the same commit.
    ///
    /// # Errors
    ///
    /// When a device fails, or the volume has failed.
    pub fn flush(&self, volume: u8) -> Result<(), Error> {
        self.check_range(volume, 0, 0)?;
        let begin = self.clock.now();
        let (wanted_sync, wanted_commit) = {
            let state = self.lock();
            (state.machine.wanted_origin_sync(volume), state.machine.commit_wanted_of(volume))
        };
        self.sync_origin_until(volume, wanted_sync)?;
        self.commit_until(volume, wanted_commit)?;
        let mut state = self.lock();
        if state.machine.has_failed(volume) {
            drop(state);
            return Err(self.failure(volume));
        }
        let delay = state.flush_times.delay;
        let durable = self.clock.now();
        if !delay.is_zero() {
            drop(state);
            self.clock.sleep_until(durable + delay);
            state = self.lock();
        }
        let end = self.clock.now();
        state.flush_times.count(delay, [begin, durable, end]);
        state.machine.counters_mut(volume).flushes += 1;
        self.record(&mut state, volume, LatencyClass::Flush, begin);
        Ok(())
    }

    /// Whether all of a range is in the cache now. It counts nothing; another thread may change it at once.
    pub fn is_resident(&self, volume: u8, at: u64, length: u64) -> bool {
        if self.check_range(volume, at, length).is_err() {
            return false;
        }
        let state = self.lock();
        self.pieces(volume, at, length).all(|(block, range)| state.machine.is_resident(block, &range))
    }

    /// Whether a write would complete on the cache now, without waiting for a line, another request or the origin, as far as that can be told
    /// without doing it. It counts nothing.
    pub fn would_absorb(&self, volume: u8, at: u64, length: u64) -> bool {
        let is_inside = self.check_range(volume, at, length).is_ok();
        is_inside && self.lock().machine.would_absorb(volume, self.pieces(volume, at, length))
    }

    fn check_range(&self, volume: u8, at: u64, length: u64) -> Result<(), Error> {
        let bytes = self.volume_bytes(volume);
        let known = usize::from(volume) < self.bytes.len();
        match at.checked_add(length) {
            Some(end) if known && end <= bytes => Ok(()),
            _ => Err(Error::range(volume, at, length, bytes)),
        }
    }

    /// The blocks that a range touches, with the bytes of each.
    pub(super) fn pieces(
        &self,
        volume: u8,
        at: u64,
        length: u64,
    ) -> impl Iterator<Item = (OriginBlock, Range<u32>)> + use<> {
        let line = u64::from(self.geometry.line_bytes);
        let end = at + length;
        let mut next = at;
        std::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            let (index, from) = (next / line, next % line);
            let to = (end - index * line).min(line);
            next = index * line + to;
            let small = |bytes: u64| u32::try_from(bytes).expect("within a line");
            Some((OriginBlock::new(volume, index), small(from)..small(to)))
        })
    }

    /// Serves a request for one block, as often as the machine asks to try again.
    pub(super) fn one(&self, request: &BlockRequest, bytes: &mut CallerBytes<'_>) -> Result<(), Error> {
        let begin = self.clock.now();
        let mut state = self.lock();
        if let Some(sample) = &mut state.sample {
            sample.note(request);
        }
        loop {
            let work = match state.machine.begin(request) {
                Begin::Work(work) => work,
                Begin::Wait(WaitFor::Block) => {
                    state = self.wait(state);
                    continue;
                }
                Begin::Wait(WaitFor::Commit) => {
                    let wanted = state.machine.commit_wanted();
                    drop(state);
                    self.commit_until(request.block.volume(), wanted)?;
                    state = self.lock();
                    continue;
                }
                Begin::Refused => {
                    drop(state);
                    return Err(self.failure(request.block.volume()));
                }
                Begin::Damaged(sectors) => {
                    drop(state);
                    return Err(self.lost(request.block, sectors));
                }
            };
            drop(state);
            let guard = self.guard_panics();
            let outcome = self.run(&work, bytes);
            guard.disarm();
            if self.ended(work, outcome, begin)? {
                return Ok(());
            }
            state = self.lock();
        }
    }

    /// Ends a work; false when its request must be asked again.
    pub(super) fn ended(&self, work: BlockWork, outcome: WorkOutcome, begin: Duration) -> Result<bool, Error> {
        let (volume, class) = (work.request.block.volume(), super::driver::class_of(&work));
        let (outcome, error) = outcome;
        let mut state = self.lock();
        let end = state.machine.end(work, outcome);
        self.notify(&state);
        match end {
            End::Done => self.record(&mut state, volume, class, begin),
            End::Retry => {}
            End::Failed => {
                // What is lost of a block is no reason for which a volume fails later.
                let text = error.as_ref().filter(|error| !error.is_lost()).map(ToString::to_string);
                state.first_error = state.first_error.take().or(text);
                drop(state);
                return Err(error.unwrap_or_else(|| self.failure(volume)));
            }
        }
        Ok(end == End::Done)
    }

    pub(super) fn record(&self, state: &mut TierState, volume: u8, class: LatencyClass, begin: Duration) {
        let time = self.clock.now().saturating_sub(begin);
        state.latencies[usize::from(volume)][class as usize].record(time);
    }

    /// The error of a volume that has failed, with the ranges that only the cache has.
    pub(super) fn failure(&self, volume: u8) -> Error {
        const NAMED: usize = 8;
        let state = self.lock();
        let blocks = state.machine.dirty_blocks();
        let ours: Vec<_> = blocks.iter().filter(|(block, _)| block.volume() == volume).collect();
        let line = u64::from(self.geometry.line_bytes);
        let mut texts: Vec<String> = Vec::new();
        for (block, sectors) in ours.iter().take(NAMED) {
            let span = sectors.span();
            let from = block.index() * line;
            texts.push(format!("bytes {} to {}", from + u64::from(span.start), from + u64::from(span.end)));
        }
        match ours.len() {
            0 => texts.push("nothing".to_owned()),
            count if count > NAMED => texts.push(format!("and {} more blocks", count - NAMED)),
            _ => {}
        }
        let first = state.first_error.as_ref().map_or(String::new(), |text| format!(" (first error: {text})"));
        Error::failed(volume, texts.join(", ") + &first)
    }

    /// Ranges of bytes of a volume that only the cache has, in order.
    pub fn dirty_ranges(&self, volume: u8) -> Vec<Range<u64>> {
        let blocks = self.lock().machine.dirty_blocks();
        self.ranges_of(volume, blocks)
    }

    /// Ranges of bytes of a volume that only the cache has and that were found damaged since it was opened, in order.
    pub fn damaged_ranges(&self, volume: u8) -> Vec<Range<u64>> {
        let blocks = self.lock().machine.damaged_blocks();
        self.ranges_of(volume, blocks)
    }

    fn ranges_of(&self, volume: u8, blocks: Vec<(OriginBlock, SectorSet)>) -> Vec<Range<u64>> {
        let line = u64::from(self.geometry.line_bytes);
        let ours = blocks.into_iter().filter(|(block, _)| block.volume() == volume);
        ours.flat_map(|(block, sectors)| {
            let from = block.index() * line;
            sectors.runs().map(move |run| from + u64::from(run.start)..from + u64::from(run.end)).collect::<Vec<_>>()
        })
        .collect()
    }

    /// Counts of a volume since it was opened.
    pub fn counters(&self, volume: u8) -> VolumeCounters {
        self.lock().machine.counters(volume)
    }

    /// Times of a volume since it was opened.
    pub fn latencies(&self, volume: u8, class: LatencyClass) -> LatencyHistogram {
        self.lock().latencies[usize::from(volume)][class as usize].clone()
    }

    /// Lines of a volume, and those of them that are dirty.
    pub fn lines_of(&self, volume: u8) -> (u32, u32) {
        self.lock().machine.lines_of(volume)
    }

    /// Dirty lines of all volumes that are closed: what differs from its checksum in one is damage, also after a crash.
    pub fn closed_lines(&self) -> u32 {
        self.lock().machine.closed_lines()
    }

    /// Whether a volume does without its cache, which failed while nothing of the volume was dirty; false of one that does not exist.
    pub fn is_degraded(&self, volume: u8) -> bool {
        volume < self.volumes() && self.lock().machine.is_degraded(volume)
    }

    /// Size and state of the pool.
    pub fn status(&self) -> PoolStatus {
        self.status_of(&self.lock())
    }

    pub(super) fn status_of(&self, state: &TierState) -> PoolStatus {
        let machine = &state.machine;
        let cleaner = machine.cleaner_settings();
        PoolStatus {
            line_bytes: self.geometry.line_bytes,
            active_lines: machine.active_lines(),
            dirty_lines: machine.dirty_lines(),
            policy: self.policy,
            clean_depth: machine.clean_depth(),
            tunes_depth: cleaner.tunes_depth,
            marks: cleaner.marks(),
            idle_after: cleaner.idle_after,
            age_limit: cleaner.age_limit,
            memory_bytes: machine.memory_bytes() as u64,
            after_crash: machine.is_after_crash(),
        }
    }
}
