//! Writes back what can be had of a cache that is damaged, and lists the rest: for a pool that nobody serves.

use std::ops::Range;
use std::time::Duration;

use super::driver::{differing, sums};
use super::front::Tier;
use super::inspection::FaultKind;
use super::sizing::DrainStatus;
use crate::block::{SECTOR_BYTES, SectorSet};
use crate::error::Error;
use crate::machine::{CleanBatch, CleanPiece, CleanerTick, SectorCrcs, Verification};

/// Bytes of a volume that were left in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRange {
    /// The volume.
    pub volume: u8,
    /// Bytes of the volume.
    pub bytes: Range<u64>,
    /// Why: [`FaultKind::Unreadable`], also when only their checksums cannot be read, or [`FaultKind::Lost`].
    pub kind: FaultKind,
}

/// How far a salvage came.
#[derive(Clone, Debug, PartialEq)]
pub struct SalvageStatus {
    /// State as of a drain: lines of which something is left are dirty.
    pub drain: DrainStatus,
    /// Bytes that are durable on the origins.
    pub written_bytes: u64,
    /// Bytes that only the cache has.
    pub left_bytes: u64,
    /// Whether everything was tried, and not only what the time was enough for.
    pub finished: bool,
    /// What was left out, in order, neighbours joined.
    pub skipped: Vec<SkippedRange>,
    /// Volumes that were given up at an error of their origin, and the error.
    pub failed_origins: Vec<(u8, String)>,
    /// Sectors that differed from their checksums after a crash, as an overwrite may leave them, and were written as they are.
    pub torn_sectors: u64,
}

/// What is found on the way.
#[derive(Default)]
struct SalvageNotes {
    skipped: Vec<SkippedRange>,
    failed_origins: Vec<(u8, String)>,
}

impl Tier {
    /// Cleans until nothing is dirty or a time has passed, as [`Tier::drain`], but goes on behind what cannot be had: a dirty sector that cannot be
    /// read or is damaged stays dirty and lets no volume fail, and an origin that fails is given up for the others. Nobody may serve the pool.
    ///
    /// # Errors
    ///
    /// When the cache cannot be written.
    pub fn salvage(&self, limit: Duration) -> Result<SalvageStatus, Error> {
        let (begin, before) = (self.clock.now(), self.cleaned_bytes());
        let mut notes = SalvageNotes::default();
        self.begin_salvage();
        let mut outcome = Ok(());
        while outcome.is_ok() && !self.is_salvaged() && self.clock.now().saturating_sub(begin) < limit {
            outcome = self.salvage_once(&mut notes);
        }
        let finished = self.is_salvaged();
        self.end_salvage();
        outcome?;
        let mut drain = self.drained_since(begin, before);
        if finished {
            drain.left = None;
        }
        let left = (0..self.volumes()).flat_map(|volume| self.dirty_ranges(volume));
        Ok(SalvageStatus {
            drain,
            written_bytes: self.cleaned_bytes() - before,
            left_bytes: left.map(|range| range.end - range.start).sum(),
            finished,
            skipped: joined(notes.skipped),
            failed_origins: notes.failed_origins,
            torn_sectors: (0..self.volumes()).map(|volume| self.counters(volume).torn_sectors).sum(),
        })
    }

    fn begin_salvage(&self) {
        let mut state = self.lock();
        state.machine.forget_left_out();
        state.machine.forget_damaged();
        state.machine.set_draining(true);
    }

    fn end_salvage(&self) {
        let mut state = self.lock();
        state.machine.set_draining(false);
        state.machine.forget_left_out();
    }

    fn is_salvaged(&self) -> bool {
        self.lock().machine.is_salvaged()
    }

    fn salvage_once(&self, notes: &mut SalvageNotes) -> Result<(), Error> {
        let tick = self.lock().machine.clean_begin(self.clock.now());
        match tick {
            CleanerTick::Rest(time) => {
                self.clock.sleep_until(self.clock.now() + time.min(Duration::from_millis(1)));
            }
            CleanerTick::Batch(batch) => self.salvage_batch(batch, notes)?,
        }
        self.commit_all()
    }

    fn salvage_batch(&self, mut batch: CleanBatch, notes: &mut SalvageNotes) -> Result<(), Error> {
        let mut runs = Vec::new();
        for piece in &mut batch.pieces {
            let bytes = self.salvage_piece(piece, notes);
            self.join(&mut runs, piece, &bytes);
        }
        {
            let mut state = self.lock();
            state.machine.clean_was_read(&batch);
            self.notify(&state);
        }
        let committed = match batch.needs_commit {
            true => {
                let wanted = self.lock().machine.commit_wanted();
                self.commit_until(batch.volume, wanted)
            }
            false => Ok(()),
        };
        let written = committed.map(|()| self.write_runs(&batch, &runs));
        let mut state = self.lock();
        state.machine.clean_end(&batch, matches!(written, Ok(Ok(()))).then_some(runs.len() as u64));
        self.notify(&state);
        if let Err(error) = written? {
            // Most of what follows would fail as well, each after a long time.
            state.machine.leave_volume_out(batch.volume);
            notes.failed_origins.push((batch.volume, error.to_string()));
        }
        Ok(())
    }

    /// Reads what can be had of a piece, and takes the rest out of it.
    fn salvage_piece(&self, piece: &mut CleanPiece, notes: &mut SalvageNotes) -> Vec<u8> {
        let mut bytes = vec![0; self.geometry.line_bytes as usize];
        let readable = self.read_sectors(piece, &mut bytes);
        let (wanted, actual) = (self.known_crcs(piece, readable), sums(readable, 0, &bytes));
        let compared = readable.and(wanted.sectors());
        let other = differing(&wanted, &actual);
        let damaged = match other.sectors().is_empty() {
            true => SectorSet(0),
            false => self.lock().machine.salvage_torn(piece, &other),
        };
        let unreadable = piece.sectors.without(compared);
        if !unreadable.is_empty() || !damaged.is_empty() {
            let mut state = self.lock();
            state.machine.leave_out(piece, unreadable.or(damaged));
            if !damaged.is_empty() {
                state.machine.clean_damaged(piece, damaged);
            }
        }
        let block = piece.block.index() * u64::from(self.geometry.line_bytes);
        for (sectors, kind) in [(unreadable, FaultKind::Unreadable), (damaged, FaultKind::Lost)] {
            notes.skipped.extend(sectors.runs().map(|run| {
                let inside = self.inside(piece.block, &run);
                let bytes = block + u64::from(inside.start)..block + u64::from(inside.end);
                SkippedRange { volume: piece.block.volume(), bytes, kind }
            }));
        }
        piece.sectors = compared.without(damaged);
        bytes
    }

    /// Reads the sectors of a piece, one by one where they cannot be read together; returns those that could be read.
    fn read_sectors(&self, piece: &CleanPiece, line: &mut [u8]) -> SectorSet {
        let mut readable = SectorSet(0);
        for run in piece.sectors.runs() {
            let whole = &mut line[run.start as usize..run.end as usize];
            if self.cache.read_at(piece.cache_byte + u64::from(run.start), whole).is_ok() {
                readable = readable.or(SectorSet::covered(&run));
                continue;
            }
            for sector in SectorSet::covered(&run).sectors() {
                let from = sector * SECTOR_BYTES;
                let part = &mut line[from as usize..(from + SECTOR_BYTES) as usize];
                if self.cache.read_at(piece.cache_byte + u64::from(from), part).is_ok() {
                    readable = readable.or(SectorSet(1 << sector));
                }
            }
        }
        readable
    }

    /// Checksums of sectors of a piece: all of them, or those in memory where the array, whose part of a line lies in one sector, cannot be read.
    fn known_crcs(&self, piece: &CleanPiece, sectors: SectorSet) -> SectorCrcs {
        let asked = Verification { sectors, ..piece.verification.clone() };
        self.wanted_crcs(&asked).unwrap_or_else(|_| piece.verification.known.only(sectors))
    }
}

/// Ranges in the order of volumes and bytes; neighbours with one reason are one.
fn joined(mut ranges: Vec<SkippedRange>) -> Vec<SkippedRange> {
    ranges.sort_unstable_by_key(|range| (range.volume, range.bytes.start));
    ranges.dedup_by(|next, before| {
        let joins = (before.volume, before.kind, before.bytes.end) == (next.volume, next.kind, next.bytes.start);
        if joins {
            before.bytes.end = next.bytes.end;
        }
        joins
    });
    ranges
}
