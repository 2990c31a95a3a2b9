//! Blocks of a checkpoint: the contents of 254 lines each.

use super::codec::{BlockReader, BlockWriter};
use crate::lines::LineEntry;

/// Mark of a block that says which lines are closed, and of one of version 1, which knew of no closed lines.
const MARKS: [[u8; 4]; 2] = [*b"PTc2", *b"PTcp"];

/// Lines in one block of a checkpoint: what is left of 4 KiB beside checksum, mark, sequence and number, 16 bytes each.
pub(crate) const ENTRIES_PER_BLOCK: u32 = 254;

/// Block `number` of the checkpoint with this sequence number.
pub(crate) fn encode_entries(sequence: u64, number: u32, entries: &[LineEntry]) -> Vec<u8> {
    let mut block = BlockWriter::new(MARKS[0]);
    block.put_u64(sequence);
    block.put_u32(number);
    block.put_u32(0);
    entries.iter().for_each(|entry| block.put(&entry.to_bytes()));
    block.seal()
}

/// The lines of a block; `None` when it is not block `number` of this checkpoint.
pub(crate) fn decode_entries(bytes: &[u8], sequence: u64, number: u32) -> Option<Vec<LineEntry>> {
    let (mut reader, version) = BlockReader::open_marked(bytes, &MARKS)?;
    let found = (reader.u64(), reader.u32());
    reader.u32();
    let mut next = || {
        let entry = LineEntry::from_bytes(&reader.take());
        if version > 0 { entry.opened() } else { entry }
    };
    (found == (sequence, number)).then(|| (0..ENTRIES_PER_BLOCK).map(|_| next()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{OriginBlock, SectorSet};

    #[test]
    fn a_block_is_read_as_itself_and_as_no_other() {
        let entries: Vec<_> =
            (0..254).map(|n| LineEntry::new(OriginBlock::new(0, n), SectorSet(3), SectorSet(1))).collect();
        let block = encode_entries(9, 4, &entries);
        assert_eq!(decode_entries(&block, 9, 4), Some(entries));
        assert_eq!((decode_entries(&block, 8, 4), decode_entries(&block, 9, 5)), (None, None));
    }

    #[test]
    fn a_block_of_version_1_knows_no_closed_line() {
        let open: Vec<_> =
            (0..254).map(|n| LineEntry::new(OriginBlock::new(0, n), SectorSet(3), SectorSet(1))).collect();
        let closed: Vec<_> = open.iter().map(|entry| entry.closed()).collect();
        let mut block = encode_entries(9, 4, &closed);
        assert_eq!(decode_entries(&block, 9, 4), Some(closed));
        block[4..8].copy_from_slice(&MARKS[1]);
        let crc = crc32c::crc32c(&block[4..]);
        block[..4].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(decode_entries(&block, 9, 4), Some(open));
    }
}
