//! Blocks of the journal. A commit is several blocks, of which the last says so; without that one it never happened.

use super::codec::{BlockReader, BlockWriter};
use crate::block::{SECTOR_BYTES, SectorSet};
use crate::lines::LineEntry;
use crate::lists::LineNumber;
use crate::machine::SectorCrcs;

/// Mark of a block whose records say which lines are closed, and of one of version 1, which knew of no closed lines.
const MARKS: [[u8; 4]; 2] = [*b"PTj2", *b"PTjl"];
/// Checksum, mark, sequence, mount, count, flag.
pub(super) const HEADER_BYTES: usize = 4 + 4 + 8 + 8 + 2 + 2;
const COUNT_AT: usize = 24;
const LAST_AT: usize = 26;

/// State of one line, whole, with the checksums that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JournalRecord {
    pub(crate) line: LineNumber,
    pub(crate) entry: LineEntry,
    pub(crate) crcs: SectorCrcs,
}

/// Bytes of a record with so many checksums.
pub(crate) fn record_bytes(sectors: u32) -> usize {
    4 + 16 + 2 + 4 * sectors as usize
}

/// One block of the journal, read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JournalBlock {
    pub(crate) sequence: u64,
    pub(crate) mount: u64,
    pub(crate) ends_commit: bool,
    pub(crate) records: Vec<JournalRecord>,
}

/// The blocks of a commit, from this sequence number on.
pub(crate) fn encode_commit(records: &[JournalRecord], mut sequence: u64, mount: u64) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    let mut rest = records;
    while !rest.is_empty() {
        let mut block = BlockWriter::new(MARKS[0]);
        block.put_u64(sequence);
        block.put_u64(mount);
        block.put_u16(0);
        block.put_u16(0);
        let fitting = fitting(rest, block.room());
        rest[..fitting].iter().for_each(|record| put_record(&mut block, record));
        rest = &rest[fitting..];
        block.patch_u16(COUNT_AT, u16::try_from(fitting).expect("a block has a few hundred records"));
        block.patch_u16(LAST_AT, u16::from(rest.is_empty()));
        blocks.push(block.seal());
        sequence += 1;
    }
    blocks
}

fn fitting(records: &[JournalRecord], mut room: usize) -> usize {
    let fits = |record: &&JournalRecord| {
        let bytes = record_bytes(record.crcs.sectors().count());
        let fits = bytes <= room;
        room = room.saturating_sub(bytes);
        fits
    };
    records.iter().take_while(fits).count()
}

fn put_record(block: &mut BlockWriter, record: &JournalRecord) {
    block.put_u32(record.line);
    block.put(&record.entry.to_bytes());
    block.put_u16(record.crcs.sectors().0);
    record.crcs.sectors().sectors().for_each(|sector| block.put_u32(record.crcs.get(sector).unwrap_or(0)));
}

/// Reads a block of the journal; `None` when its bytes are none.
pub(crate) fn decode_block(bytes: &[u8]) -> Option<JournalBlock> {
    let (mut reader, version) = BlockReader::open_marked(bytes, &MARKS)?;
    let (sequence, mount) = (reader.u64(), reader.u64());
    let (count, last) = (reader.u16(), reader.u16());
    let records = (0..count).map(|_| take_record(&mut reader, version > 0)).collect();
    Some(JournalBlock { sequence, mount, ends_commit: last == 1, records })
}

fn take_record(reader: &mut BlockReader<'_>, is_old: bool) -> JournalRecord {
    let line = reader.u32();
    let entry = LineEntry::from_bytes(&reader.take());
    let entry = if is_old { entry.opened() } else { entry };
    let sectors = SectorSet(reader.u16());
    let mut crcs = SectorCrcs::default();
    sectors.runs().for_each(|run| {
        (run.start / SECTOR_BYTES..run.end / SECTOR_BYTES).for_each(|sector| crcs.set(sector, reader.u32()));
    });
    JournalRecord { line, entry, crcs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::OriginBlock;

    fn record(line: u32) -> JournalRecord {
        let mut crcs = SectorCrcs::default();
        (0..line % 3).for_each(|sector| crcs.set(sector * 2, line + sector));
        let entry = LineEntry::new(OriginBlock::new(1, u64::from(line) * 7), SectorSet(0b10101), SectorSet(1));
        JournalRecord { line, entry, crcs }
    }

    #[test]
    fn a_commit_survives_its_blocks_and_the_last_says_so() {
        let records: Vec<_> = (0..500).map(record).collect();
        let blocks = encode_commit(&records, 40, 3);
        assert!(blocks.len() > 3);
        let read: Vec<_> = blocks.iter().map(|block| decode_block(block).unwrap()).collect();
        assert_eq!(read.iter().flat_map(|block| block.records.clone()).collect::<Vec<_>>(), records);
        let ends: Vec<_> = read.iter().map(|block| block.ends_commit).collect();
        assert!(ends[ends.len() - 1] && ends[..ends.len() - 1].iter().all(|end| !end));
        assert!(read.iter().zip(40..).all(|(block, sequence)| block.sequence == sequence && block.mount == 3));
    }

    #[test]
    fn a_block_of_version_1_knows_no_closed_line() {
        let closed = JournalRecord { entry: record(4).entry.closed(), ..record(4) };
        let mut block = encode_commit(std::slice::from_ref(&closed), 1, 2).remove(0);
        assert_eq!(decode_block(&block).unwrap().records, [closed]);
        block[4..8].copy_from_slice(&MARKS[1]);
        let crc = crc32c::crc32c(&block[4..]);
        block[..4].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(decode_block(&block).unwrap().records, [record(4)]);
    }

    #[test]
    fn one_changed_bit_makes_it_no_block() {
        let block = encode_commit(&[record(5)], 0, 0).remove(0);
        for bit in (0..4096 * 8).step_by(101) {
            let mut changed = block.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode_block(&changed), None, "bit {bit}");
        }
    }
}
