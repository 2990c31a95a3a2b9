//! Closed lines: dirty lines whose sectors are as their checksums say, also after a crash, and those of them that turn out not to be.
//!
//! An overwrite in place may be torn by a crash, or be kept without its record, so that the checksums of a dirty line prove nothing then. A line
//! that has not been written for a while is closed: its record says so once its data are durable. From then on it is not overwritten in place: a
//! write takes a fresh line, whose record and that which gives up the closed one are of one commit. Only where no line can be had, a closed one is
//! opened by a commit of its own and then overwritten.

use std::time::Duration;

use super::commits::SectorCrcs;
use super::machine_core::{CacheMachine, QuickMap, QuickSet};
use crate::block::{OriginBlock, SectorSet};
use crate::lines::LineEntry;
use crate::lists::LineNumber;

/// Lines that are looked at in one step of a pass, at most: requests wait meanwhile.
const STEP_LINES: u32 = 1 << 16;
/// Lines that are closed in one step of a pass, at most.
const STEP_CLOSED: u32 = 1 << 10;

/// What is closed, and what was found damaged.
#[derive(Debug, Default)]
pub(super) struct ClosingState {
    /// Dirty lines that are closed.
    pub(super) closed: u32,
    /// Line that the pass at work looks at next; 0 between two passes.
    next: LineNumber,
    /// Begin of the last pass.
    pass_from: Duration,
    /// Whether the pass at work has closed a line.
    has_closed: bool,
    /// Lines that were opened although their record may say that they are closed.
    opening: QuickSet<LineNumber>,
    /// Dirty sectors that differ from their checksums.
    pub(super) damaged: QuickMap<LineNumber, SectorSet>,
    /// Sectors, after a crash, of open lines that are not trusted whole and whose checksums are certain all the same.
    sound: QuickMap<LineNumber, SectorSet>,
    /// Checksums that were taken from sectors that a crash may have torn. A comparison that was begun before has the older ones.
    accepted: QuickMap<LineNumber, SectorCrcs>,
}

impl ClosingState {
    pub(super) fn note(&mut self, now: &LineEntry, before: &LineEntry) {
        let counts = |entry: &LineEntry| u32::from(entry.is_dirty() && entry.is_closed());
        self.closed = self.closed + counts(now) - counts(before);
    }
}

impl CacheMachine {
    /// Closes dirty lines that were not written since the pass before, some at each call. Says whether a pass has ended that closed lines, so that
    /// a commit makes them durable.
    pub fn close_idle(&mut self, now: Duration) -> bool {
        if self.closing.next == 0 {
            let is_early = now.saturating_sub(self.closing.pass_from) < self.settings.cleaner.close_after;
            if is_early || self.closing.closed >= self.dirty_lines() {
                return false;
            }
            (self.closing.pass_from, self.closing.has_closed) = (now, false);
        }
        let first = self.closing.next;
        let (last, closed) = (self.table.count().min(first.saturating_add(STEP_LINES)), self.closing.closed);
        let mut next = first;
        while next < last && self.closing.closed - closed < STEP_CLOSED {
            if self.table.entry(next).is_open() && !self.lists.take_recent(next) {
                self.close_line(next);
            }
            next += 1;
        }
        self.closing.has_closed |= self.closing.closed > closed;
        let is_done = next == self.table.count();
        self.closing.next = if is_done { 0 } else { next };
        is_done && self.closing.has_closed
    }

    /// Closes all lines that can be, for a stop that leaves others in doubt.
    pub(crate) fn close_all(&mut self) {
        (0..self.table.count()).for_each(|line| self.close_line(line));
    }

    /// Closes a line that is open, unless it is at work, or its checksums may be those of another content.
    fn close_line(&mut self, line: LineNumber) {
        let entry = *self.table.entry(line);
        let Some(block) = entry.block().filter(|_| entry.is_open()) else { return };
        if self.is_certain(line) && !self.is_held_alone(block) && !self.volume(block).failed {
            self.change(line, entry.closed(), &SectorCrcs::default(), None);
        }
    }

    /// Dirty lines that are closed.
    pub fn closed_lines(&self) -> u32 {
        self.closing.closed
    }

    /// Whether a dirty line must not be overwritten in place: a crash could bring it back as closed.
    pub(super) fn is_fixed(&mut self, line: LineNumber) -> bool {
        if self.table.entry(line).is_closed() {
            return true;
        }
        if self.closing.opening.is_empty() || !self.closing.opening.contains(&line) {
            return false;
        }
        let is_known = self.records.is_known_closed(line);
        if !is_known {
            self.closing.opening.remove(&line);
        }
        is_known
    }

    /// Whether a write of a line's block goes into that line, where it is.
    pub(super) fn is_overwritten_in_place(&self, line: LineNumber) -> bool {
        self.table.entry(line).is_open() && !self.closing.opening.contains(&line)
    }

    /// Opens a closed line. It may be overwritten once that is durable.
    pub(super) fn open_again(&mut self, line: LineNumber) {
        let entry = *self.table.entry(line);
        if entry.is_closed() {
            self.closing.opening.insert(line);
            self.note_sound(line, entry.valid);
            self.lists.set_recent(line);
            self.change(line, entry.opened(), &SectorCrcs::default(), None);
        }
    }

    // ---- what a crash may have torn

    /// Whether no sector of a line can differ from its checksum because of a crash.
    pub(super) fn is_certain(&self, line: LineNumber) -> bool {
        !self.after_crash || self.lists.is_trusted(line) || self.sound(line).has(self.table.entry(line).valid)
    }

    fn sound(&self, line: LineNumber) -> SectorSet {
        self.closing.sound.get(&line).copied().unwrap_or_default()
    }

    /// Notes that sectors of a dirty line cannot differ from their checksums because of a crash: they were written or compared since, or the
    /// line was closed.
    pub(super) fn note_sound(&mut self, line: LineNumber, sectors: SectorSet) {
        if self.after_crash && self.table.entry(line).is_dirty() && !self.lists.is_trusted(line) {
            let sound = self.closing.sound.entry(line).or_default();
            *sound = sound.or(sectors);
        }
    }

    /// Takes what an open line has after a crash for its content, as far as a crash can be the cause; returns the sectors that differ for another
    /// reason, of which nothing is changed.
    pub(super) fn accept_torn(&mut self, line: LineNumber, actual: &SectorCrcs) -> SectorSet {
        let known = self.closing.accepted.get(&line).copied().unwrap_or_default();
        let is_new = |sector: &u32| known.get(*sector) != actual.get(*sector);
        let differing = actual.sectors().sectors().filter(is_new);
        let differing = differing.fold(SectorSet(0), |set, sector| set.or(SectorSet(1 << sector)));
        let entry = *self.table.entry(line);
        let may_be_torn = self.after_crash && entry.is_open() && !self.lists.is_trusted(line);
        let Some(block) = entry.block().filter(|_| may_be_torn) else { return differing };
        let torn = differing.without(self.sound(line));
        if !torn.is_empty() {
            let crcs = actual.only(torn);
            self.volume(block).counters.torn_sectors += u64::from(torn.count());
            self.closing.accepted.insert(line, known.updated(&crcs));
            self.change(line, entry, &crcs, None);
        }
        differing.without(torn)
    }

    /// Forgets what was taken from torn sectors of a line that is overwritten: nobody compares it with what it had before.
    pub(super) fn forget_accepted(&mut self, line: LineNumber) {
        if !self.closing.accepted.is_empty() {
            self.closing.accepted.remove(&line);
        }
    }

    /// Notes that sectors of a line were compared and cleaned. A line that is dirty in damaged sectors alone is closed as soon as it can be.
    pub(super) fn note_cleaned(&mut self, line: LineNumber, sectors: SectorSet) {
        if !self.table.entry(line).is_dirty() {
            self.forget_sound(line);
        } else if !self.damaged(line).is_empty() {
            self.note_sound(line, sectors);
            self.close_line(line);
        }
    }

    /// Forgets which sectors of a line are certain, since all of them are, or it no longer matters.
    pub(super) fn forget_sound(&mut self, line: LineNumber) {
        if !self.closing.sound.is_empty() {
            self.closing.sound.remove(&line);
        }
    }

    // ---- damage

    /// Notes that dirty sectors of a line differ from their checksums for no reason that a crash gives: they are neither read nor cleaned. The line
    /// is closed, so that a crash does not hide it, unless a crash may have torn others of its sectors.
    pub(super) fn damage(&mut self, line: LineNumber, sectors: SectorSet) {
        let entry = *self.table.entry(line);
        let Some(block) = entry.block() else { return };
        let known = self.closing.damaged.entry(line).or_default();
        let new = sectors.without(*known);
        *known = known.or(sectors);
        self.volume(block).counters.damaged_sectors += u64::from(new.count());
        let is_certain = self.is_certain(line);
        self.lists.set_trusted(line, false);
        if entry.is_open() && is_certain {
            self.change(line, entry.closed(), &SectorCrcs::default(), None);
        }
    }

    /// Dirty sectors of a line that are known to differ from their checksums.
    pub(super) fn damaged(&self, line: LineNumber) -> SectorSet {
        if self.closing.damaged.is_empty() {
            return SectorSet(0);
        }
        self.closing.damaged.get(&line).copied().unwrap_or_default()
    }

    /// Notes that sectors of a line are as their checksums say now.
    pub(super) fn heal(&mut self, line: LineNumber, sectors: SectorSet) {
        if self.closing.damaged.is_empty() {
            return;
        }
        if let Some(damaged) = self.closing.damaged.get_mut(&line) {
            *damaged = damaged.without(sectors);
            if damaged.is_empty() {
                self.closing.damaged.remove(&line);
            }
        }
    }

    /// Forgets all that is known of the sectors of a line that holds nothing more.
    pub(super) fn forget_sectors(&mut self, line: LineNumber) {
        self.heal(line, SectorSet(u16::MAX));
        self.forget_sound(line);
        self.forget_accepted(line);
    }

    /// Sectors that are damaged, as blocks with their sectors, in order.
    pub fn damaged_blocks(&self) -> Vec<(OriginBlock, SectorSet)> {
        let damaged = self.closing.damaged.iter();
        let mut blocks: Vec<_> =
            damaged.filter_map(|(line, sectors)| Some((self.table.entry(*line).block()?, *sectors))).collect();
        blocks.sort_unstable_by_key(|(block, _)| *block);
        blocks
    }

    /// Lines of which nothing is dirty but sectors that are damaged.
    pub fn damaged_lines(&self) -> u32 {
        let only = self.closing.damaged.keys().filter(|line| self.is_only_damaged(**line));
        u32::try_from(only.count()).expect("lines are counted with 32 bits")
    }

    fn is_only_damaged(&self, line: LineNumber) -> bool {
        let entry = self.table.entry(line);
        entry.is_dirty() && self.damaged(line).has(entry.dirty)
    }

    /// The first block whose line is not one of so many and is dirty in damaged sectors alone: that line is never clean.
    pub fn damaged_beyond(&self, lines: u32) -> Option<(OriginBlock, SectorSet)> {
        let beyond = self.closing.damaged.iter().filter(|(line, _)| **line >= lines && self.is_only_damaged(**line));
        let blocks = beyond.filter_map(|(line, sectors)| Some((self.table.entry(*line).block()?, *sectors)));
        blocks.min_by_key(|(block, _)| *block)
    }

    /// Tells whether nothing is dirty but sectors that are damaged.
    pub fn is_drained(&self) -> bool {
        self.damaged_lines() >= self.dirty_lines()
    }

    /// Tells whether cleaning does no more for the origins, now and after the works that were begun.
    pub fn has_nothing_to_clean(&self) -> bool {
        self.is_drained() && self.placing == 0
    }

    /// Takes clean sectors out of a line that is dirty in others, since they differ from their checksums: the origin has them.
    pub(super) fn drop_clean(&mut self, line: LineNumber, sectors: SectorSet) {
        let entry = *self.table.entry(line);
        let kept = LineEntry { valid: entry.valid.without(sectors.without(entry.dirty)), ..entry };
        self.change(line, kept, &SectorCrcs::default(), None);
    }
}
