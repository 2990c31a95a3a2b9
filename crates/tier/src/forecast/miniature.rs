//! A small cache that serves the sample of a trace as a whole one would serve all of it: hits of reads and writes, and what its cleaner would
//! write. It keeps no data and knows no time: the cleaner holds the wanted share of dirty lines at every moment, and no write goes past.
//!
//! Source: Waldspurger, Saemundsson, Ahmad, Park, "Cache modeling and optimization using miniature simulations", USENIX ATC 2017.

use super::sample::Reference;
use crate::block::{OriginBlock, SectorSet};
use crate::lines::{LineEntry, LineTable};
use crate::lists::{LineNumber, ListId, Lists};
use crate::machine::{AccessKind, CacheMode};
use crate::policy::{Incoming, Policy, PolicyChoice};

/// The fewest lines of a small cache that says something about a whole one. Source: with 32 lines the steps between sizes are 3 %.
pub const LEAST_LINES: u32 = 32;

/// What a whole cache is, and the share of it that is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct MiniatureSettings {
    /// Order in which clean lines are given up.
    pub policy: PolicyChoice,
    /// Lines of the whole cache.
    pub lines: u32,
    /// Share of all blocks whose references are served.
    pub rate: f64,
    /// Mode of each volume, by its number; others are not cached.
    pub modes: Vec<CacheMode>,
    /// Wanted share of dirty lines, 0 to 1.
    pub dirty_target: f64,
}

/// What a volume's references met since the beginning, in the sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiniatureCounts {
    /// Reads.
    pub reads: u64,
    /// Reads of which not all was in the cache.
    pub read_misses: u64,
    /// Writes.
    pub writes: u64,
    /// Writes to a block of which nothing was in the cache.
    pub write_misses: u64,
    /// Sectors that the cleaner wrote.
    pub cleaned_sectors: u64,
}

/// A small cache at work.
pub struct MiniatureCache {
    settings: MiniatureSettings,
    policy: Box<dyn Policy>,
    lists: Lists,
    table: LineTable,
    /// Lines that hold nothing.
    free: Vec<LineNumber>,
    most_dirty: u32,
    counts: Vec<MiniatureCounts>,
}

impl MiniatureCache {
    /// An empty cache; `None` where the sample of it would have fewer than [`LEAST_LINES`] lines.
    pub fn new(settings: MiniatureSettings) -> Option<Self> {
        let part = |lines: u32| (f64::from(lines) * settings.rate).round() as u32;
        // A pool keeps some lines free, so that no request waits for one.
        let used = part(settings.lines - crate::machine::low_water(settings.lines).min(settings.lines));
        if used < LEAST_LINES {
            return None;
        }
        Some(Self {
            policy: settings.policy.make(0, part(settings.lines)),
            lists: Lists::new(used),
            table: LineTable::new(used),
            free: (0..used).rev().collect(),
            most_dirty: ((f64::from(used) * settings.dirty_target) as u32).max(1),
            counts: vec![MiniatureCounts::default(); settings.modes.len()],
            settings,
        })
    }

    /// Lines of the whole cache.
    pub fn lines(&self) -> u32 {
        self.settings.lines
    }

    /// Counts of a volume; of one that is not cached all reads and writes miss.
    pub fn counts(&self, volume: u8) -> MiniatureCounts {
        self.counts.get(usize::from(volume)).copied().unwrap_or_default()
    }

    /// Serves a reference whose block is in the sample.
    pub fn serve(&mut self, reference: &Reference) {
        let Some(mode) = self.settings.modes.get(usize::from(reference.block.volume())).copied() else { return };
        let line = self.table.find(reference.block);
        let counts = &mut self.counts[usize::from(reference.block.volume())];
        match reference.kind {
            AccessKind::Read => {
                let has_all = line.is_some_and(|line| self.table.entry(line).valid.has(reference.sectors));
                counts.reads += 1;
                counts.read_misses += u64::from(!has_all);
                if mode != CacheMode::Pass {
                    self.read(line, reference);
                }
            }
            AccessKind::Write => {
                counts.writes += 1;
                counts.write_misses += u64::from(line.is_none());
                self.write(mode, line, reference);
            }
            AccessKind::Discard => match line {
                Some(line) if self.table.entry(line).is_dirty() => self.overwrite(line, reference),
                Some(line) => self.unmap(line),
                None => {}
            },
        }
    }

    fn read(&mut self, line: Option<LineNumber>, reference: &Reference) {
        self.policy.seen(reference.block.bits());
        let Some(line) = line else {
            self.take_in(reference, false);
            return;
        };
        self.policy.touch(&mut self.lists, line, reference.block.bits());
        let entry = *self.table.entry(line);
        self.table.set(line, LineEntry { valid: entry.valid.or(reference.sectors), ..entry });
    }

    fn write(&mut self, mode: CacheMode, line: Option<LineNumber>, reference: &Reference) {
        let kept = line.map_or(SectorSet(0), |line| self.table.entry(line).valid);
        match (mode, line) {
            (CacheMode::WriteBack, Some(line)) if self.table.entry(line).is_dirty() => self.overwrite(line, reference),
            (CacheMode::WriteBack | CacheMode::WriteThrough, _) => {
                // A clean line is never overwritten: its block gets a fresh one.
                let from = line.map(|line| self.lists.policy_place(line));
                line.into_iter().for_each(|line| self.unmap(line));
                let whole = Reference { sectors: reference.sectors.or(kept), ..*reference };
                let taken = self.take_in(&whole, mode == CacheMode::WriteBack);
                if let (Some(line), Some(from)) = (taken, from) {
                    self.policy.inherit(&mut self.lists, line, from);
                }
                if let Some(line) = taken.filter(|_| mode == CacheMode::WriteBack) {
                    let entry = LineEntry { dirty: reference.sectors, ..*self.table.entry(line) };
                    self.table.set(line, entry);
                    self.clean();
                }
            }
            (CacheMode::WriteAround, Some(line)) => self.unmap(line),
            (CacheMode::WriteAround | CacheMode::Pass, _) => {}
        }
    }

    fn overwrite(&mut self, line: LineNumber, reference: &Reference) {
        self.policy.touch(&mut self.lists, line, reference.block.bits());
        let entry = *self.table.entry(line);
        let (valid, dirty) = (entry.valid.or(reference.sectors), entry.dirty.or(reference.sectors));
        self.table.set(line, LineEntry { valid, dirty, ..entry });
    }

    /// Gives a block a line; `None` when no line can be had, since all are dirty.
    fn take_in(&mut self, reference: &Reference, is_dirty: bool) -> Option<LineNumber> {
        let key = reference.block.bits();
        let line = self.free.pop().or_else(|| self.victim(key))?;
        self.table.set(line, LineEntry::new(reference.block, reference.sectors, SectorSet(0)));
        self.policy.admit(&mut self.lists, line, key);
        if is_dirty {
            self.lists.move_to(line, ListId::DIRTY);
        }
        Some(line)
    }

    fn victim(&mut self, incoming: u64) -> Option<LineNumber> {
        let table = &self.table;
        let key_of = |line: LineNumber| table.entry(line).block().map_or(0, OriginBlock::bits);
        self.policy.victim(&mut self.lists, Incoming(incoming), &key_of)
    }

    fn unmap(&mut self, line: LineNumber) {
        self.table.set(line, LineEntry::EMPTY);
        self.lists.move_to(line, ListId::ASIDE);
        self.free.push(line);
    }

    /// Cleans what has been dirty longest until no more lines are dirty than wanted.
    fn clean(&mut self) {
        while self.lists.length(ListId::DIRTY) > self.most_dirty
            && let Some(line) = self.lists.tail(ListId::DIRTY)
        {
            let entry = *self.table.entry(line);
            let volume = entry.block().map_or(0, OriginBlock::volume);
            self.counts[usize::from(volume)].cleaned_sectors += u64::from(entry.dirty.count());
            self.table.set(line, LineEntry { dirty: SectorSet(0), ..entry });
            self.policy.restore(&mut self.lists, line);
        }
    }
}
