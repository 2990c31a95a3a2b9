//! Finds out what a cache held when it was left. It changes nothing, so that it can be done again.

use std::io;
use std::ops::RangeInclusive;

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

/// The superblock in force.
pub(super) struct FoundSuperblock {
    pub(super) superblock: Superblock,
    /// Whether its other copy could not be read.
    pub(super) is_alone: bool,
}

/// The superblock in force, if there is one; see [`find_superblock`].
pub(super) fn read_superblock(cache: &dyn Device) -> Result<Option<Superblock>, Error> {
    Ok(find_superblock(cache)?.map(|found| found.superblock))
}

/// Finds the superblock in force. A copy that cannot be read is done without where nothing speaks for its being newer than the other in a way that
/// matters; then the cache is as after a crash, since what the copy said of the last stop is unknown.
pub(super) fn find_superblock(cache: &dyn Device) -> Result<Option<FoundSuperblock>, Error> {
    let mut newest: Option<Superblock> = None;
    let (mut unreadable, mut is_undecodable) = (None, false);
    for slot in 0..2 {
        let mut bytes = vec![0; SUPERBLOCK_BYTES];
        let at = Geometry::byte_of_superblock(slot);
        if cache.bytes() < at + SUPERBLOCK_BYTES as u64 {
            return Ok(None);
        }
        if let Err(error) = cache.read_at(at, &mut bytes) {
            unreadable.get_or_insert_with(|| failed("read a superblock of", at, error));
            continue;
        }
        if let Some((found, newest)) = Superblock::other_version(&bytes) {
            return Err(Error::version(super::opening::name_of_cache(cache), found, newest));
        }
        let found = Superblock::decode(&bytes);
        is_undecodable |= found.is_none();
        if found.as_ref().map(|found| found.sequence) > newest.as_ref().map(|newest| newest.sequence) {
            newest = found;
        }
    }
    match (newest, unreadable) {
        // An opening writes both copies, and this one says how the cache was left before it: the other may have been in force until a crash.
        (Some(superblock), None) if is_undecodable && superblock.opening => {
            let superblock = Superblock { clean: false, ..superblock };
            Ok(Some(FoundSuperblock { superblock, is_alone: true }))
        }
        (newest, None) => Ok(newest.map(|superblock| FoundSuperblock { superblock, is_alone: false })),
        (Some(superblock), Some(_)) if is_newest(cache, &superblock)? => {
            let superblock = Superblock { clean: false, ..superblock };
            Ok(Some(FoundSuperblock { superblock, is_alone: true }))
        }
        (_, Some(error)) => Err(error),
    }
}

/// Whether a superblock leads to all that is durable, although there may be a newer one that cannot be read.
///
/// A newer one differs by an opening, which changes no line, by a size, which [`check`] looks at, or by a checkpoint. Behind a checkpoint the older
/// journal may be overwritten, so that both ways must lead to the same lines and the journal must not go on.
fn is_newest(cache: &dyn Device, superblock: &Superblock) -> Result<bool, Error> {
    let next = Superblock {
        checkpoint_slot: 1 - superblock.checkpoint_slot,
        checkpoint_sequence: superblock.checkpoint_sequence + 1,
        ..superblock.clone()
    };
    let mut first = vec![0; SUPERBLOCK_BYTES];
    let at = next.geometry.byte_of_checkpoint(next.checkpoint_slot, 0);
    cache.read_at(at, &mut first).map_err(|error| failed("read the checkpoint of", at, error))?;
    if decode_entries(&first, next.checkpoint_sequence, 0).is_none() {
        return Ok(true);
    }
    let Ok(recovery) = recover(cache, superblock) else { return Ok(false) };
    if !read_checkpoint(cache, &next).is_ok_and(|newer| newer == recovery.entries) {
        return Ok(false);
    }
    for place in 0..u64::from(superblock.geometry.journal_blocks) {
        if read_block(cache, superblock, place)?.is_some_and(|block| block.sequence >= recovery.journal_next) {
            return Ok(false);
        }
    }
    Ok(true)
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
        if cache.read_at(at, &mut bytes).is_err() {
            read_one_by_one(cache, at, first, &mut bytes)?;
        }
        for (number, block) in (first..last).zip(bytes.chunks(SUPERBLOCK_BYTES)) {
            let found = decode_entries(block, superblock.checkpoint_sequence, number);
            let place = geometry.byte_of_checkpoint(superblock.checkpoint_slot, number);
            let what = || format!("block {number} of the cache's checkpoint, at byte {place}");
            entries.extend(found.ok_or_else(|| Error::damaged(what()))?);
        }
    }
    entries.truncate(geometry.most_lines as usize);
    Ok(entries)
}

/// Reads blocks of the checkpoint, which could not be read together, so that an error names the one that cannot be read.
fn read_one_by_one(cache: &dyn Device, at: u64, first: u32, into: &mut [u8]) -> Result<(), Error> {
    for (place, block) in (0_u32..).zip(into.chunks_mut(SUPERBLOCK_BYTES)) {
        let byte = at + u64::from(place) * SUPERBLOCK_BYTES as u64;
        let what = || format!("block {} of the cache's checkpoint", first + place);
        cache.read_at(byte, block).map_err(|error| Error::unreadable(what(), byte, error))?;
    }
    Ok(())
}

/// The records of all commits that are whole, in order, and the block behind them.
fn read_journal(cache: &dyn Device, superblock: &Superblock) -> Result<(Vec<JournalRecord>, u64), Error> {
    let mut done = (Vec::new(), superblock.journal_start);
    if superblock.clean {
        // The checkpoint has everything: what lies behind it is a rest of a commit that never happened.
        return Ok(done);
    }
    let (mut commit, mut is_unfinished) = (Vec::new(), false);
    // A block of an earlier opening behind one of a later opening, or behind its checkpoint, is a rest of a commit that never happened.
    let mut mount = superblock.checkpoint_mount;
    let end = superblock.journal_start + u64::from(superblock.geometry.journal_blocks);
    for sequence in superblock.journal_start..end {
        let mounts = mount..=superblock.mounts + 1;
        let found = read_block(cache, superblock, sequence)?;
        let Some(block) = found.filter(|block| block.sequence == sequence && mounts.contains(&block.mount)) else {
            refuse_hole(cache, superblock, sequence, &mounts)?;
            break;
        };
        if is_unfinished && block.mount != mount {
            // The blocks before are a rest of an earlier opening, and those of this one that replaced them are missing.
            refuse_hole(cache, superblock, done.1, &mounts)?;
            break;
        }
        (mount, is_unfinished) = (block.mount, !block.ends_commit);
        commit.extend(block.records);
        if block.ends_commit {
            done.0.append(&mut commit);
            done.1 = sequence + 1;
        }
    }
    Ok(done)
}

/// Refuses a journal that goes on behind the block at which reading it ended, where no loss of power can be the cause.
///
/// The blocks of one commit are written in any order, so that whole ones behind a missing one may be the rest of a commit that never
/// happened. The next commit of an opening is written only once all of this one is durable. Hence a block behind the end of a commit,
/// both of one opening, proves that everything before that end was durable: what is missing there was damaged. Blocks of earlier laps
/// have other numbers, and what an opening left behind its last durable commit is the rest of one commit, with one end at most. Damage of
/// the last two commits looks like such a rest and is taken for one.
fn refuse_hole(
    cache: &dyn Device,
    superblock: &Superblock,
    hole: u64,
    mounts: &RangeInclusive<u64>,
) -> Result<(), Error> {
    let blocks = u64::from(superblock.geometry.journal_blocks);
    let end = superblock.journal_start + blocks;
    let mut ended: Vec<u64> = Vec::new();
    let mut next = hole + 1;
    while next < end {
        let until = end.min(next + u64::from(PIECE)).min((next / blocks + 1) * blocks);
        let mut bytes = vec![0; (until - next) as usize * SUPERBLOCK_BYTES];
        read_what_can_be(cache, superblock.geometry.byte_of_journal(next), &mut bytes);
        for (sequence, block) in (next..until).zip(bytes.chunks(SUPERBLOCK_BYTES)) {
            let found = decode_block(block);
            let Some(block) = found.filter(|block| block.sequence == sequence && mounts.contains(&block.mount)) else {
                continue;
            };
            if ended.contains(&block.mount) {
                let at = superblock.geometry.byte_of_journal(hole);
                let what =
                    format!("block {hole} of the cache's journal, at byte {at}, behind which later commits are whole");
                return Err(Error::damaged(what));
            }
            if block.ends_commit {
                ended.push(block.mount);
            }
        }
        next = until;
    }
    Ok(())
}

/// Reads blocks; zeros stand for those that cannot be read.
fn read_what_can_be(cache: &dyn Device, at: u64, into: &mut [u8]) {
    if cache.read_at(at, into).is_ok() {
        return;
    }
    for (place, block) in (0_u64..).zip(into.chunks_mut(SUPERBLOCK_BYTES)) {
        if cache.read_at(at + place * SUPERBLOCK_BYTES as u64, block).is_err() {
            block.fill(0);
        }
    }
}

fn read_block(cache: &dyn Device, superblock: &Superblock, sequence: u64) -> Result<Option<JournalBlock>, Error> {
    let at = superblock.geometry.byte_of_journal(sequence);
    let mut bytes = vec![0; SUPERBLOCK_BYTES];
    let what = || format!("block {sequence} of the cache's journal");
    cache.read_at(at, &mut bytes).map_err(|error| Error::unreadable(what(), at, error))?;
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
