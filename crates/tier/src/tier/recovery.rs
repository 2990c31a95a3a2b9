//! Finds out what a cache held when it was left. It changes nothing, so that it can be done again.

use std::io;

use crate::device::Device;
use crate::error::Error;
use crate::layout::{
    ENTRIES_PER_BLOCK, Geometry, JournalBlock, JournalRecord, SUPERBLOCK_BYTES, Superblock, decode_block,
    decode_entries,
};
use crate::lines::LineEntry;

/// Blocks that are read at once.
const PIECE: u32 = 256;

/// What a cache held.
pub(super) struct Recovery {
    /// The content of all lines.
    pub(super) entries: Vec<LineEntry>,
    /// Block of the journal behind the last commit.
    pub(super) journal_next: u64,
    /// Records of the journal whose checksums may be missing in the array.
    pub(super) records: Vec<JournalRecord>,
}

/// The superblock in force, if there is one.
pub(super) fn read_superblock(cache: &dyn Device) -> Result<Option<Superblock>, Error> {
    let mut newest: Option<Superblock> = None;
    for slot in 0..2 {
        let mut bytes = vec![0; SUPERBLOCK_BYTES];
        let at = Geometry::byte_of_superblock(slot);
        if cache.bytes() < at + SUPERBLOCK_BYTES as u64 {
            return Ok(None);
        }
        cache.read_at(at, &mut bytes).map_err(|error| failed("read a superblock of", at, error))?;
        let found = Superblock::decode(&bytes);
        if found.as_ref().map(|found| found.sequence) > newest.as_ref().map(|newest| newest.sequence) {
            newest = found;
        }
    }
    Ok(newest)
}

/// Reads checkpoint and journal.
pub(super) fn recover(cache: &dyn Device, superblock: &Superblock) -> Result<Recovery, Error> {
    let mut entries = read_checkpoint(cache, superblock)?;
    let (records, journal_next) = read_journal(cache, superblock)?;
    for record in &records {
        let place = entries.get_mut(record.line as usize);
        *place.ok_or_else(|| Error::damaged("the journal of the cache"))? = record.entry;
    }
    check(&entries, superblock)?;
    Ok(Recovery { entries, journal_next, records })
}

fn read_checkpoint(cache: &dyn Device, superblock: &Superblock) -> Result<Vec<LineEntry>, Error> {
    let geometry = &superblock.geometry;
    let blocks = geometry.checkpoint_blocks();
    let mut entries = Vec::with_capacity(blocks as usize * ENTRIES_PER_BLOCK as usize);
    for first in (0..blocks).step_by(PIECE as usize) {
        let last = (first + PIECE).min(blocks);
        let at = geometry.byte_of_checkpoint(superblock.checkpoint_slot, first);
        let mut bytes = vec![0; (last - first) as usize * SUPERBLOCK_BYTES];
        cache.read_at(at, &mut bytes).map_err(|error| failed("read the checkpoint of", at, error))?;
        for (number, block) in (first..last).zip(bytes.chunks(SUPERBLOCK_BYTES)) {
            let found = decode_entries(block, superblock.checkpoint_sequence, number);
            entries.extend(found.ok_or_else(|| Error::damaged(format!("block {number} of the cache's checkpoint")))?);
        }
    }
    entries.truncate(geometry.most_lines as usize);
    Ok(entries)
}

/// The records of all commits that are whole, in order, and the block behind them.
fn read_journal(cache: &dyn Device, superblock: &Superblock) -> Result<(Vec<JournalRecord>, u64), Error> {
    let mut done = (Vec::new(), superblock.journal_start);
    let mut commit = Vec::new();
    let mut mount = 0;
    let end = superblock.journal_start + u64::from(superblock.geometry.journal_blocks);
    for sequence in superblock.journal_start..end {
        let Some(block) = read_block(cache, superblock, sequence)? else { break };
        // A block of an earlier opening behind one of a later opening is a rest of a commit that never happened.
        if block.sequence != sequence || block.mount < mount || block.mount > superblock.mounts + 1 {
            break;
        }
        mount = block.mount;
        commit.extend(block.records);
        if block.ends_commit {
            done.0.append(&mut commit);
            done.1 = sequence + 1;
        }
    }
    Ok(done)
}

fn read_block(cache: &dyn Device, superblock: &Superblock, sequence: u64) -> Result<Option<JournalBlock>, Error> {
    let at = superblock.geometry.byte_of_journal(sequence);
    let mut bytes = vec![0; SUPERBLOCK_BYTES];
    cache.read_at(at, &mut bytes).map_err(|error| failed("read the journal of", at, error))?;
    Ok(decode_block(&bytes))
}

/// Refuses contents that no run of this program can have left.
fn check(entries: &[LineEntry], superblock: &Superblock) -> Result<(), Error> {
    let line_bytes = u64::from(superblock.geometry.line_bytes);
    let sectors = crate::block::SectorSet::first(superblock.geometry.sectors());
    let mut blocks = Vec::new();
    for (line, entry) in entries.iter().enumerate() {
        let Some(block) = entry.block() else { continue };
        let volume = superblock.volumes.get(usize::from(block.volume()));
        let inside = volume.is_some_and(|volume| block.index() * line_bytes < volume.bytes);
        let sound = sectors.has(entry.valid) && entry.valid.has(entry.dirty);
        if !inside || !sound || line >= superblock.active_lines as usize {
            return Err(Error::damaged(format!("what the cache says of its line {line}")));
        }
        blocks.push(block);
    }
    blocks.sort_unstable();
    match blocks.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(Error::damaged("what the cache says of two lines with one block")),
        false => Ok(()),
    }
}

fn failed(action: &'static str, at: u64, error: io::Error) -> Error {
    Error::device(action, "the cache", at, error)
}
