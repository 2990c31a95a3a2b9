//! What a salvage leaves out: sectors that cannot be had, and volumes whose origin fails. It reads and writes nothing.

use super::cleaning::CleanPiece;
use super::commits::SectorCrcs;
use super::machine_core::{CacheMachine, QuickMap};
use crate::block::SectorSet;
use crate::lines::LineEntry;
use crate::lists::LineNumber;

/// Dirty content that the cleaner passes over.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    sectors: QuickMap<LineNumber, SectorSet>,
    volumes: Vec<u8>,
}

impl LeftOut {
    /// Dirty sectors of a line that are to be cleaned.
    fn wanted(&self, line: LineNumber, entry: &LineEntry) -> SectorSet {
        if entry.block().is_none_or(|block| self.volumes.contains(&block.volume())) {
            return SectorSet(0);
        }
        entry.dirty.without(self.sectors.get(&line).copied().unwrap_or_default())
    }
}

impl CacheMachine {
    /// Dirty sectors of a line that are to be cleaned.
    pub(super) fn wanted(&self, line: LineNumber, entry: &LineEntry) -> SectorSet {
        self.cleaner.left_out.wanted(line, entry).without(self.damaged(line))
    }

    /// Tries again what was found damaged.
    pub fn forget_damaged(&mut self) {
        self.closing.damaged.clear();
    }

    /// Notes sectors of a piece that are damaged: they stay dirty, also after a crash.
    pub fn clean_damaged(&mut self, piece: &CleanPiece, sectors: SectorSet) {
        self.damage(piece.line, sectors);
    }

    /// Leaves nothing out any more.
    pub fn forget_left_out(&mut self) {
        self.cleaner.left_out = LeftOut::default();
    }

    /// Leaves out sectors of a line: they stay dirty, and the others are cleaned.
    pub fn leave_out(&mut self, piece: &CleanPiece, sectors: SectorSet) {
        self.volume(piece.block).counters.cache_errors += 1;
        let left_out = self.cleaner.left_out.sectors.entry(piece.line).or_default();
        *left_out = left_out.or(sectors);
    }

    /// Leaves out a volume: its lines stay dirty.
    pub fn leave_volume_out(&mut self, volume: u8) {
        self.cleaner.left_out.volumes.push(volume);
    }

    /// Takes what sectors of a dirty line have after a crash for their content; returns those of which no crash can be the cause.
    pub fn salvage_torn(&mut self, piece: &CleanPiece, differing: &SectorCrcs) -> SectorSet {
        self.accept_torn(piece.line, differing)
    }

    /// Whether nothing is dirty but what is left out.
    pub fn is_salvaged(&self) -> bool {
        let left_out = &self.cleaner.left_out;
        let in_reach = |volume: u8| !self.has_failed(volume) && !left_out.volumes.contains(&volume);
        let dirty: u32 = (0..).zip(&self.volumes).filter(|(number, _)| in_reach(*number)).map(|(_, it)| it.dirty).sum();
        let passed_over = left_out.sectors.keys().filter(|line| {
            let entry = self.table.entry(**line);
            let counts = entry.is_dirty() && entry.block().is_some_and(|block| in_reach(block.volume()));
            counts && self.wanted(**line, entry).is_empty()
        });
        passed_over.count() >= dirty as usize
    }
}
