//! What is done beside requests: cleaning, commits ahead of need, checkpoints. One step at a time, or on two threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::driver::{differing, sums};
use super::front::Tier;
use crate::device::{DeviceWrite, WriteFailure};
use crate::error::Error;
use crate::machine::{CleanBatch, CleanPiece, CleanerTick};

/// Bytes of one write of the cleaner, at most.
const RUN_BYTES: usize = 1 << 20;
/// Blocks of a volume that wait for a sync of the origin, at most.
const UNSYNCED_BLOCKS: usize = 4096;
/// Pause of a thread that has nothing to do.
const REST: Duration = Duration::from_millis(10);

/// Neighbouring dirty bytes of a volume.
pub(super) struct CleanRun {
    at: u64,
    bytes: Vec<u8>,
}

impl Tier {
    /// Lets the cleaner work once. Returns the time until it has something to do again; zero when it was at work.
    ///
    /// # Errors
    ///
    /// When a device fails: after an error of the origin the lines stay dirty and the cleaner pauses.
    pub fn clean(&self) -> Result<Duration, Error> {
        let tick = self.lock().machine.clean_begin(self.clock.now());
        match tick {
            CleanerTick::Rest(time) => Ok(time),
            CleanerTick::Batch(mut batch) => self.clean_batch(&mut batch).map(|()| Duration::ZERO),
        }
    }

    fn clean_batch(&self, batch: &mut CleanBatch) -> Result<(), Error> {
        let guard = self.guard_panics();
        let read = self.read_batch(batch);
        let batch = &*batch;
        {
            let mut state = self.lock();
            state.machine.clean_was_read(batch);
            self.notify(&state);
        }
        let written = read.and_then(|runs| {
            let count = runs.len() as u64;
            if batch.needs_commit {
                let wanted = self.lock().machine.commit_wanted();
                self.commit_until(batch.volume, wanted)?;
            }
            let begun = self.clock.now();
            self.write_runs(batch, &runs)?;
            let took = self.clock.now().saturating_sub(begun);
            self.lock().machine.clean_took(batch, count, took);
            Ok(count)
        });
        guard.disarm();
        let mut state = self.lock();
        state.machine.clean_end(batch, written.as_ref().ok().copied());
        self.notify(&state);
        written.map(|_| ())
    }

    /// Reads a batch from the cache, compares it with its checksums, and joins neighbours. What is damaged is taken out of it.
    fn read_batch(&self, batch: &mut CleanBatch) -> Result<Vec<CleanRun>, Error> {
        let mut runs: Vec<CleanRun> = Vec::new();
        for piece in &mut batch.pieces {
            let bytes = self.read_piece(piece)?;
            self.join(&mut runs, piece, &bytes);
        }
        Ok(runs)
    }

    /// Adds the sectors of a piece, whose line has these bytes, to what is written.
    pub(super) fn join(&self, runs: &mut Vec<CleanRun>, piece: &CleanPiece, line: &[u8]) {
        let block = piece.block.index() * u64::from(self.geometry.line_bytes);
        for run in piece.sectors.runs() {
            let at = block + u64::from(run.start);
            let bytes = &line[run.start as usize..self.inside(piece.block, &run).end as usize];
            match runs.last_mut() {
                Some(last) if last.at + last.bytes.len() as u64 == at && last.bytes.len() < RUN_BYTES => {
                    last.bytes.extend_from_slice(bytes);
                }
                _ => runs.push(CleanRun { at, bytes: bytes.to_vec() }),
            }
        }
    }

    fn read_piece(&self, piece: &mut CleanPiece) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.geometry.line_bytes as usize];
        let failed = |error| Error::device("read", "the cache", piece.cache_byte, error);
        for run in piece.sectors.runs() {
            let part = &mut bytes[run.start as usize..run.end as usize];
            if let Err(error) = self.cache.read_at(piece.cache_byte + u64::from(run.start), part) {
                return Err(self.lose(piece, failed(error)));
            }
        }
        let actual = sums(piece.sectors, 0, &bytes);
        let wanted = match self.wanted_crcs(&piece.verification) {
            Ok(wanted) => wanted,
            Err(error) => return Err(self.lose(piece, failed(error))),
        };
        if wanted != actual {
            self.lock().machine.clean_mismatch(piece, &differing(&wanted, &actual));
        }
        Ok(bytes)
    }

    /// Lets the volume fail whose content on the cache cannot be read.
    fn lose(&self, piece: &CleanPiece, error: Error) -> Error {
        let mut state = self.lock();
        state.machine.clean_lost(piece);
        state.first_error.get_or_insert_with(|| error.to_string());
        error
    }

    /// Writes runs of a batch to its origin, several at once, and syncs it behind all of them.
    pub(super) fn write_runs(&self, batch: &CleanBatch, runs: &[CleanRun]) -> Result<(), Error> {
        let volume = batch.volume;
        let writes: Vec<_> = runs.iter().map(|run| DeviceWrite { at: run.at, bytes: &run.bytes }).collect();
        let written = self.origins[usize::from(volume)].write_several(&writes, batch.depth as usize);
        if let Err(WriteFailure { index, error }) = written {
            // Those that were done are done again: all of the batch stays dirty.
            self.lock().machine.counters_mut(volume).origin_errors += 1;
            let at = runs.get(index).map_or(0, |run| run.at);
            return Err(Error::device("cleaned to", format!("the origin of volume {volume}"), at, error));
        }
        self.sync_origin(volume)
    }

    /// Makes commits, syncs and checkpoints that should be made although no request waits for them; says whether there
    /// were any.
    ///
    /// # Errors
    ///
    /// When a device fails.
    pub fn tend(&self) -> Result<bool, Error> {
        let mut worked = false;
        for volume in 0..self.volumes() {
            let are_many = {
                let machine = &self.lock().machine;
                // What a volume that has failed wrote is never known to be durable.
                !machine.has_failed(volume) && machine.unsynced_blocks(volume) > UNSYNCED_BLOCKS
            };
            if are_many {
                self.sync_origin(volume)?;
                worked = true;
            }
        }
        let wants_commit = {
            let (mut state, now) = (self.lock(), self.clock.now());
            state.machine.reclaim();
            let has_closed = state.machine.close_idle(now);
            let keeps_warmth = state.machine.wants_warmth_kept(now);
            has_closed || keeps_warmth || state.machine.wants_commit()
        };
        if wants_commit {
            self.commit_all()?;
            worked = true;
        }
        if self.lock().machine.wants_checkpoint() {
            self.checkpoint()?;
            worked = true;
        }
        Ok(worked)
    }
}

/// Two threads that clean and tend a pool until they are dropped. Several writes of a batch may have more of them.
pub struct Maintenance {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Maintenance {
    /// Starts the threads. Errors of devices are counted by the pool and told by the next request.
    pub fn start(tier: &Arc<Tier>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let clean = Self::spawn(tier, &stop, |tier| tier.clean().unwrap_or(REST));
        let tend = Self::spawn(tier, &stop, |tier| if tier.tend().unwrap_or(false) { Duration::ZERO } else { REST });
        Self { stop, threads: vec![clean, tend] }
    }

    fn spawn(tier: &Arc<Tier>, stop: &Arc<AtomicBool>, work: fn(&Tier) -> Duration) -> JoinHandle<()> {
        let (tier, stop) = (Arc::clone(tier), Arc::clone(stop));
        std::thread::spawn(move || {
            while !stop.load(Ordering::Acquire) {
                let rest = work(&tier).min(REST);
                if !rest.is_zero() {
                    tier.clock.sleep_until(tier.clock.now() + rest);
                }
            }
        })
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            // A panic of the thread was told by the panic hook already.
            drop(thread.join());
        }
    }
}
