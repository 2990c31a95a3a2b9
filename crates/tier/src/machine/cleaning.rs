//! Which dirty lines are written to the origin, when, and how fast. Only the order and the pace; no writing.

use std::collections::VecDeque;
use std::time::Duration;

use super::commits::SectorCrcs;
use super::depth::DepthTuner;
use super::machine_core::{CacheMachine, QuickSet, VolumeState};
use super::salvaging::LeftOut;
use super::settings::CleanerSettings;
use super::work::Verification;
use crate::block::{OriginBlock, SECTOR_BYTES, SectorSet};
use crate::lines::LineEntry;
use crate::lists::{LineNumber, ListId};

/// Share of its target below which a volume that was over it has no longer its lines cleaned before those of others.
const NO_LONGER_OVER: f64 = 0.9;
/// Lines of one pass of the elevator, at most.
const SWEEP_LINES: usize = 1 << 16;
/// Weights of the controller: at 20 points above the target the proportional part alone gives the full rate.
const PROPORTIONAL: f64 = 5.0;
/// Weight of the integral, per second.
const INTEGRAL_PER_SECOND: f64 = 0.5;
/// First and longest pause after an error of the origin.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// A line to clean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanPiece {
    /// The line.
    pub line: LineNumber,
    /// Its block.
    pub block: OriginBlock,
    /// Its dirty sectors.
    pub sectors: SectorSet,
    /// Position of the line on the cache.
    pub cache_byte: u64,
    /// Checksums of the sectors.
    pub verification: Verification,
    generation: u32,
}

/// Lines of one volume in the order of their blocks, to be read, written to the origin, and synced there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanBatch {
    /// The volume.
    pub volume: u8,
    /// Its lines, in the order of blocks.
    pub pieces: Vec<CleanPiece>,
    /// Whether a commit must be done before the origin is written: a crash could bring back a clean line with what one
    /// of the blocks held before.
    pub needs_commit: bool,
    /// Writes to the origin under way at once, at least 1; its sync begins when all of them are done.
    pub depth: u32,
    /// Syncs of the origin that had failed when the batch was begun.
    sync_failures: u64,
}

impl CleanBatch {
    fn new(volume: u8, depth: u32, sync_failures: u64) -> Self {
        Self { volume, pieces: Vec::new(), needs_commit: false, depth, sync_failures }
    }

    fn push(&mut self, piece: CleanPiece, known: bool) {
        self.pieces.push(piece);
        self.needs_commit |= known;
    }
}

/// What the cleaner does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CleanerTick {
    /// Clean these lines, then call [`CacheMachine::clean_end`].
    Batch(CleanBatch),
    /// Nothing is to be done before this time has passed or requests have come.
    Rest(Duration),
}

/// State of the cleaner.
#[derive(Debug)]
pub(super) struct CleanerState {
    settings: CleanerSettings,
    /// Dirty lines of all volumes.
    dirty: u32,
    depth: DepthTuner,
    /// Lines of this pass that are left, in the order of their blocks.
    sweep: VecDeque<LineNumber>,
    /// Volumes, one bit each, of which more is dirty than wanted: the lines of the pass are theirs alone. Zero: those of all volumes.
    over: u8,
    /// Block behind the last one that was cleaned.
    position: OriginBlock,
    at_work: QuickSet<OriginBlock>,
    batches: u32,
    urgent: bool,
    pub(super) draining: bool,
    integral: f64,
    /// Lines that may be cleaned now.
    budget: f64,
    last_tick: Option<Duration>,
    /// Requests seen at the last tick, and when they last grew.
    activity: (u64, Duration),
    /// Every dirty line became dirty after this.
    dirty_since: Duration,
    /// Begin of a pass over all lines that were dirty then, and how many of them are left.
    pass: (Duration, u32),
    pause: Duration,
    paused_until: Duration,
    /// What a salvage does without; empty at all other times.
    pub(super) left_out: LeftOut,
}

impl CleanerState {
    pub(super) fn new(settings: &CleanerSettings) -> Self {
        Self {
            settings: settings.clone(),
            dirty: 0,
            depth: DepthTuner::new(settings),
            sweep: VecDeque::new(),
            over: 0,
            position: OriginBlock::new(0, 0),
            at_work: QuickSet::default(),
            batches: 0,
            urgent: false,
            draining: false,
            integral: 0.0,
            budget: 0.0,
            last_tick: None,
            activity: (0, Duration::ZERO),
            dirty_since: Duration::ZERO,
            pass: (Duration::ZERO, 0),
            pause: Duration::ZERO,
            paused_until: Duration::ZERO,
            left_out: LeftOut::default(),
        }
    }

    pub(super) fn note(&mut self, dirty: bool, before: bool) {
        self.dirty = self.dirty + u32::from(dirty) - u32::from(before);
        if self.dirty == 1 && dirty && !before {
            self.dirty_since = self.last_tick.unwrap_or_default();
        }
    }

    /// Whether a block is being written to the origin by the cleaner.
    pub(super) fn is_at_work_on(&self, block: OriginBlock) -> bool {
        self.at_work.contains(&block)
    }

    /// Proportional and integral control towards the wanted share of dirty lines.
    fn regulate(&mut self, now: Duration, share: f64, requests: u64) {
        let passed = self.last_tick.map_or(Duration::ZERO, |last| now.saturating_sub(last)).as_secs_f64().min(1.0);
        self.last_tick = Some(now);
        if requests != self.activity.0 {
            self.activity = (requests, now);
        }
        let error = share - self.settings.target;
        self.integral = (self.integral + INTEGRAL_PER_SECOND * error * passed).clamp(0.0, 1.0);
        let pace = (PROPORTIONAL * error + self.integral).clamp(0.0, 1.0);
        let most = f64::from(self.settings.batch_lines);
        self.budget = (self.budget + pace * self.settings.most_lines_per_second * passed).min(most);
        self.urgent = share >= self.settings.urgent_from || (self.urgent && share > self.settings.urgent_to);
    }

    /// Whether the cleaner works without pause.
    fn is_unbridled(&self, now: Duration) -> bool {
        self.urgent || self.must_clean_all(now)
    }

    /// Whether the lines of all volumes are to be cleaned, and not only those of volumes of which too much is dirty.
    fn must_clean_all(&self, now: Duration) -> bool {
        let idle = now.saturating_sub(self.activity.1) >= self.settings.idle_after;
        let old = now.saturating_sub(self.dirty_since) >= self.settings.age_limit;
        self.draining || idle || old
    }

    fn note_taken(&mut self, now: Duration) {
        // Lines of other volumes stay dirty, and grow old.
        if self.over != 0 {
            return;
        }
        if self.pass.1 == 0 {
            self.dirty_since = self.pass.0.max(self.dirty_since);
            self.pass = (now, self.dirty);
        }
        self.pass.1 = self.pass.1.saturating_sub(1);
    }
}

impl CacheMachine {
    /// Asks the cleaner what to do at a time of a clock that never goes back.
    pub fn clean_begin(&mut self, now: Duration) -> CleanerTick {
        self.cleaner.regulate(now, self.dirty_share(), self.requests);
        self.choose_volumes(now);
        let rest = CleanerTick::Rest(Duration::from_millis(10));
        if now < self.cleaner.paused_until {
            return CleanerTick::Rest(self.cleaner.paused_until - now);
        }
        if self.cleaner.dirty == 0 || self.cleaner.batches >= self.cleaner.settings.batches {
            return rest;
        }
        let most = self.cleaner.settings.batch_lines;
        let unbridled = self.cleaner.is_unbridled(now);
        let wanted =
            if unbridled { most } else { (0..=most).rev().find(|n| f64::from(*n) <= self.cleaner.budget).unwrap_or(0) };
        let Some(batch) = self.collect(wanted, now) else { return rest };
        self.cleaner.budget = (self.cleaner.budget - batch.pieces.len() as f64).max(0.0);
        self.cleaner.batches += 1;
        CleanerTick::Batch(batch)
    }

    /// The largest share of dirty lines: that of the pool in its lines, or that of a volume in those that it may hold. A volume whose quota
    /// is all dirty takes no more writes in, however few lines of the pool that is.
    fn dirty_share(&self) -> f64 {
        let of_pool = f64::from(self.cleaner.dirty) / f64::from(self.active_lines());
        self.volumes.iter().filter_map(|volume| self.dirty_share_of(volume)).fold(of_pool, f64::max)
    }

    /// The share of a volume that is dirty, but for one that has failed: its lines stay dirty whatever the cleaner does.
    fn dirty_share_of(&self, volume: &VolumeState) -> Option<f64> {
        let lines = self.active_lines();
        let most = volume.settings.quota_lines.map_or(lines, |quota| quota.min(lines).max(1));
        (!volume.failed).then(|| f64::from(volume.dirty) / f64::from(most))
    }

    /// Chooses the volumes to clean: where there are quotas, those over their share; all of them where none is, or all that is dirty must
    /// be cleaned.
    fn choose_volumes(&mut self, now: Duration) {
        let target = self.cleaner.settings.target;
        let is_over = |number: usize, volume: &VolumeState| {
            let was_over = self.cleaner.over & (1 << number) != 0;
            let from = if was_over { target * NO_LONGER_OVER } else { target };
            self.dirty_share_of(volume).is_some_and(|share| share > from)
        };
        let all = self.volumes.iter().enumerate();
        let over = all
            .filter(|(number, volume)| is_over(*number, volume))
            .fold(0_u8, |bits, (number, _)| bits | (1 << number));
        let has_quotas = self.volumes.iter().any(|volume| volume.settings.quota_lines.is_some());
        let over = if has_quotas && !self.cleaner.must_clean_all(now) { over } else { 0 };
        if over != self.cleaner.over {
            self.cleaner.over = over;
            self.cleaner.sweep.clear();
        }
    }

    fn collect(&mut self, wanted: u32, now: Duration) -> Option<CleanBatch> {
        let depth = self.cleaner.depth.depth();
        let mut batch: Option<CleanBatch> = None;
        let mut refilled = false;
        while batch.as_ref().map_or(0, |batch| batch.pieces.len()) < wanted as usize {
            let Some(line) = self.cleaner.sweep.front().copied() else {
                if refilled || batch.is_some() {
                    break;
                }
                self.fill_sweep();
                refilled = true;
                continue;
            };
            let volume = self.table.entry(line).block().map(OriginBlock::volume);
            if batch.as_ref().is_some_and(|batch| volume.is_some_and(|volume| volume != batch.volume)) {
                break;
            }
            self.cleaner.sweep.pop_front();
            self.cleaner.note_taken(now);
            if let Some(piece) = self.piece(line) {
                self.cleaner.position = piece.block;
                let known = self.records.is_known(piece.block);
                let volume = piece.block.volume();
                let failures = self.volumes[usize::from(volume)].sync_failures;
                batch.get_or_insert_with(|| CleanBatch::new(volume, depth, failures)).push(piece, known);
            }
        }
        batch
    }

    /// Takes the lines that have been dirty longest into the next pass, from the last position upwards.
    fn fill_sweep(&mut self) {
        let mut lines = self.oldest_dirty(self.cleaner.over);
        if lines.is_empty() && self.cleaner.over != 0 {
            // What is left of the volumes that are over cannot be cleaned: it is damaged.
            lines = self.oldest_dirty(0);
        }
        let block_of = |line: &LineNumber| self.table.entry(*line).block();
        lines.sort_unstable_by_key(block_of);
        let position = Some(self.cleaner.position);
        let behind = lines.partition_point(|line| block_of(line) <= position);
        lines.rotate_left(behind);
        self.cleaner.sweep = lines.into();
    }

    /// Lines of some volumes, one bit each, or of all, that have been dirty longest and are to be cleaned.
    fn oldest_dirty(&self, volumes: u8) -> Vec<LineNumber> {
        let oldest = std::iter::successors(self.lists.tail(ListId::DIRTY), |line| self.lists.newer(*line));
        let is_wanted = |line: &LineNumber| {
            let entry = self.table.entry(*line);
            let is_chosen = volumes == 0 || entry.block().is_some_and(|block| volumes & (1 << block.volume()) != 0);
            is_chosen && !self.wanted(*line, entry).is_empty()
        };
        oldest.filter(is_wanted).take(SWEEP_LINES).collect()
    }

    fn piece(&mut self, line: LineNumber) -> Option<CleanPiece> {
        let entry = *self.table.entry(line);
        let sectors = self.wanted(line, &entry);
        let block = entry.block().filter(|_| !sectors.is_empty())?;
        if self.cleaner.at_work.contains(&block) || self.volume(block).failed {
            return None;
        }
        self.hold(block, false)?;
        self.cleaner.at_work.insert(block);
        let known = self.records.crcs_of(line).only(sectors);
        let verification = Verification { line, sectors, known };
        let cache_byte = self.geometry.byte_of_line(line);
        Some(CleanPiece { line, block, sectors, cache_byte, verification, generation: entry.generation() })
    }

    /// Takes sectors that differ from their checksums, and have these, out of a piece, unless a crash may be the cause: they stay dirty.
    pub fn clean_mismatch(&mut self, piece: &mut CleanPiece, actual: &SectorCrcs) {
        let damaged = self.accept_torn(piece.line, actual);
        if !damaged.is_empty() {
            self.damage(piece.line, damaged);
            piece.sectors = piece.sectors.without(damaged);
        }
    }

    /// Lets the volume of a line fail that cannot be read.
    pub fn clean_lost(&mut self, piece: &CleanPiece) {
        self.volume(piece.block).counters.cache_errors += 1;
        self.fail_volume(piece.block);
    }

    /// Lets writes to the blocks of a batch go on: all its lines have been read.
    pub fn clean_was_read(&mut self, batch: &CleanBatch) {
        batch.pieces.iter().for_each(|piece| self.let_go(piece.block));
    }

    /// Tells how long so many writes of a batch and the sync behind them took, all of which were done.
    pub fn clean_took(&mut self, batch: &CleanBatch, writes: u64, took: Duration) {
        self.cleaner.depth.note(batch.depth, writes, took);
    }

    /// Writes to an origin that the next batch has under way at once.
    pub fn clean_depth(&self) -> u32 {
        self.cleaner.depth.depth()
    }

    /// Ends a batch: `Some` has the number of writes when all of it is durable on the origin, `None` when it is not. It is not if any sync failed
    /// meanwhile, which may have been told of the writes of this batch.
    pub fn clean_end(&mut self, batch: &CleanBatch, runs: Option<u64>) {
        let failures = self.volumes[usize::from(batch.volume)].sync_failures;
        let runs = runs.filter(|_| failures == batch.sync_failures);
        self.cleaner.batches -= 1;
        for piece in &batch.pieces {
            self.cleaner.at_work.remove(&piece.block);
            if runs.is_some() {
                self.clean_piece(piece);
            }
        }
        match runs {
            Some(runs) => {
                self.counters_mut(batch.volume).clean_runs += runs;
                self.cleaner.pause = Duration::ZERO;
            }
            None => {
                self.cleaner.sweep.clear();
                self.cleaner.pause = (self.cleaner.pause * 2).clamp(PAUSES.0, PAUSES.1);
                self.cleaner.paused_until = self.cleaner.last_tick.unwrap_or_default() + self.cleaner.pause;
            }
        }
    }

    fn clean_piece(&mut self, piece: &CleanPiece) {
        // Nothing of it could be had.
        if piece.sectors.is_empty() {
            return;
        }
        let entry = *self.table.entry(piece.line);
        let bytes = u64::from(piece.sectors.count() * SECTOR_BYTES);
        self.counters_mut(piece.block.volume()).cleaned_bytes += bytes;
        if entry.block() != Some(piece.block) || entry.generation() != piece.generation {
            self.counters_mut(piece.block.volume()).cleaned_in_vain += 1;
            return;
        }
        let cleaned = LineEntry { dirty: entry.dirty.without(piece.sectors), ..entry };
        self.change(piece.line, cleaned, &SectorCrcs::default(), None);
        self.counters_mut(piece.block.volume()).cleaned_lines += u64::from(!cleaned.is_dirty());
        self.note_cleaned(piece.line, piece.sectors);
    }

    /// Lets the cleaner work without pause until nothing is dirty, or no longer.
    pub fn set_draining(&mut self, draining: bool) {
        self.cleaner.draining = draining;
        if draining {
            self.cleaner.paused_until = Duration::ZERO;
        }
    }

    /// Whether so many lines are dirty that new writes go to the origin.
    pub fn is_too_dirty(&self) -> bool {
        f64::from(self.cleaner.dirty) >= self.settings.cleaner.bypass_from * f64::from(self.active_lines())
    }
}
