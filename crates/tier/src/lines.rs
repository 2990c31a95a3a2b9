//! What each line holds, and which line holds a block. It decides nothing.

use crate::block::{OriginBlock, SectorSet, mix};
use crate::lists::LineNumber;

/// Bit of a mark that says that a line is closed.
const CLOSED: u32 = 1 << 31;

/// The content of one line: 16 bytes, also in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEntry {
    /// Its block; [`LineEntry::EMPTY`] has none.
    pub(crate) block: OriginBlock,
    /// Whether the line is closed, in the highest bit, and the number of its writes below it.
    pub(crate) mark: u32,
    /// Sectors whose content is here.
    pub valid: SectorSet,
    /// Sectors whose content is here alone.
    pub dirty: SectorSet,
}

impl LineEntry {
    /// A line that holds nothing.
    pub const EMPTY: LineEntry =
        LineEntry { block: OriginBlock::NOWHERE, mark: 0, valid: SectorSet(0), dirty: SectorSet(0) };

    /// A line that begins to hold a block.
    pub fn new(block: OriginBlock, valid: SectorSet, dirty: SectorSet) -> Self {
        Self { block, mark: 0, valid, dirty }
    }

    /// The block that it holds.
    pub fn block(&self) -> Option<OriginBlock> {
        self.is_mapped().then_some(self.block)
    }

    /// Whether it holds a block.
    pub fn is_mapped(&self) -> bool {
        self.block != OriginBlock::NOWHERE
    }

    /// Whether it holds what the origin has not.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Number of its writes, modulo 2^31.
    pub fn generation(&self) -> u32 {
        self.mark & !CLOSED
    }

    /// Tells whether its sectors are as their checksums say, also after a crash: no sector is overwritten where it is before that is undone durably.
    pub fn is_closed(&self) -> bool {
        self.mark & CLOSED != 0
    }

    /// Whether it is dirty, and a crash may leave sectors that differ from their checksums.
    pub(crate) fn is_open(&self) -> bool {
        self.is_dirty() && !self.is_closed()
    }

    /// The line with one write more than another had. It is open.
    pub(crate) fn written_after(self, before: &Self) -> Self {
        Self { mark: before.mark.wrapping_add(1) & !CLOSED, ..self }
    }

    pub(crate) fn closed(self) -> Self {
        Self { mark: self.mark | CLOSED, ..self }
    }

    pub(crate) fn opened(self) -> Self {
        Self { mark: self.mark & !CLOSED, ..self }
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.block.bits().to_le_bytes());
        bytes[8..12].copy_from_slice(&self.mark.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.valid.0.to_le_bytes());
        bytes[14..].copy_from_slice(&self.dirty.0.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; 16]) -> Self {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self {
            block: OriginBlock::from_bits(u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))),
            mark: u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes")),
            valid: SectorSet(half(12)),
            dirty: SectorSet(half(14)),
        }
    }
}

/// No line in a slot of the index.
const VACANT: u32 = u32::MAX;

/// All lines, with an index from blocks to lines: linear probing, three slots for two lines, a byte of hash in each.
#[derive(Debug)]
pub struct LineTable {
    entries: Vec<LineEntry>,
    slots: Vec<u32>,
    tags: Vec<u8>,
}

impl LineTable {
    /// A table of so many empty lines.
    pub fn new(lines: u32) -> Self {
        let slots = lines as usize + lines as usize / 2 + 8;
        Self { entries: vec![LineEntry::EMPTY; lines as usize], slots: vec![VACANT; slots], tags: vec![0; slots] }
    }

    /// Number of lines.
    pub fn count(&self) -> u32 {
        u32::try_from(self.entries.len()).expect("made from 32 bits")
    }

    /// Content of a line.
    #[inline]
    pub fn entry(&self, line: LineNumber) -> &LineEntry {
        &self.entries[line as usize]
    }

    /// The line that holds a block.
    #[inline]
    pub fn find(&self, block: OriginBlock) -> Option<LineNumber> {
        let (mut slot, tag) = self.home(block);
        loop {
            let line = self.slots[slot];
            if line == VACANT {
                return None;
            }
            if self.tags[slot] == tag && self.entries[line as usize].block == block {
                return Some(line);
            }
            slot = self.after(slot);
        }
    }

    /// Changes sectors and generation of a line, or the block that it holds.
    ///
    /// # Panics
    ///
    /// When two lines would hold one block, which is a mistake of this crate.
    pub fn set(&mut self, line: LineNumber, entry: LineEntry) {
        let before = self.entries[line as usize];
        if before.block != entry.block {
            if before.is_mapped() {
                self.remove(before.block);
            }
            if entry.is_mapped() {
                assert!(self.find(entry.block).is_none(), "two lines would hold {:?}", entry.block);
                self.insert(line, entry.block);
            }
        }
        self.entries[line as usize] = entry;
    }

    fn insert(&mut self, line: LineNumber, block: OriginBlock) {
        let (mut slot, tag) = self.home(block);
        while self.slots[slot] != VACANT {
            slot = self.after(slot);
        }
        (self.slots[slot], self.tags[slot]) = (line, tag);
    }

    /// Empties the slot of a block and moves back what would no longer be found behind the gap.
    fn remove(&mut self, block: OriginBlock) {
        let (mut gap, _) = self.home(block);
        while self.entries[self.slots[gap] as usize].block != block {
            gap = self.after(gap);
        }
        let mut slot = self.after(gap);
        while self.slots[slot] != VACANT {
            let (home, _) = self.home(self.entries[self.slots[slot] as usize].block);
            if self.distance(home, gap) <= self.distance(home, slot) {
                (self.slots[gap], self.tags[gap]) = (self.slots[slot], self.tags[slot]);
                gap = slot;
            }
            slot = self.after(slot);
        }
        self.slots[gap] = VACANT;
    }

    fn home(&self, block: OriginBlock) -> (usize, u8) {
        let hash = mix(block.bits());
        let slot = (u128::from(hash) * self.slots.len() as u128) >> 64;
        (usize::try_from(slot).expect("below the number of slots"), hash.to_le_bytes()[0])
    }

    fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.slots.len() { 0 } else { slot + 1 }
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.slots.len() - from }
    }

    /// Bytes of memory in use.
    pub fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<LineEntry>()
            + self.slots.capacity() * size_of::<u32>()
            + self.tags.capacity()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn an_entry_survives_its_bytes() {
        let entry = LineEntry { mark: 77, ..LineEntry::new(OriginBlock::new(1, 9), SectorSet(3), SectorSet(2)) };
        for entry in [entry, entry.closed()] {
            assert_eq!(LineEntry::from_bytes(&entry.to_bytes()), entry);
            assert_eq!((entry.generation(), entry.is_open()), (77, !entry.is_closed()));
        }
        let last = LineEntry { mark: CLOSED - 1, ..entry };
        assert_eq!((last.closed().opened(), entry.written_after(&last.closed()).mark), (last, 0));
        assert_eq!(LineEntry::from_bytes(&LineEntry::EMPTY.to_bytes()), LineEntry::EMPTY);
        assert_eq!(size_of::<LineEntry>(), 16);
    }

    #[test]
    fn the_index_finds_what_a_map_finds() {
        let mut table = LineTable::new(100);
        let mut map = HashMap::new();
        let mut random = 1_u64;
        for _ in 0..50_000 {
            random = mix(random.wrapping_add(0x9e37_79b9_7f4a_7c15));
            let (line, block) = ((random % 100) as u32, OriginBlock::new(0, (random >> 32) % 300));
            if map.contains_key(&block) || random.is_multiple_of(3) {
                if let Some(old) = table.entry(line).block() {
                    map.remove(&old);
                }
                table.set(line, LineEntry::EMPTY);
            } else {
                if let Some(old) = table.entry(line).block() {
                    map.remove(&old);
                }
                table.set(line, LineEntry::new(block, SectorSet(1), SectorSet(0)));
                map.insert(block, line);
            }
            let probe = OriginBlock::new(0, (random >> 16) % 300);
            assert_eq!(table.find(probe), map.get(&probe).copied());
        }
        assert!((0..300).all(|n| table.find(OriginBlock::new(0, n)) == map.get(&OriginBlock::new(0, n)).copied()));
    }
}
