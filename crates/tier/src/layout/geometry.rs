//! Where the areas of a cache are. All sizes follow from the size and the number of lines.

use super::codec::BLOCK_BYTES;
use super::journal::{HEADER_BYTES, record_bytes};
use super::tables::ENTRIES_PER_BLOCK;
use crate::block::SECTOR_BYTES;
use crate::error::Error;
use crate::lists::LineNumber;

const BLOCK: u64 = BLOCK_BYTES as u64;
/// Superblocks, one each at block 0 and 1.
const SUPERBLOCKS: u64 = 2;
/// Alignment of the data of all but small caches, so that lines do not straddle pages of flash.
const DATA_ALIGNMENT: u64 = 1 << 20;
/// Bytes of data from which a cache is not small.
const SMALL_BYTES: u64 = 64 << 20;

/// Sizes and positions of a cache: two superblocks, two checkpoints, checksums, journal, data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a line: 4, 8, 16, 32 or 64 KiB.
    pub line_bytes: u32,
    /// Lines for which there is room.
    pub most_lines: u32,
    /// Blocks of 4 KiB of the journal.
    pub journal_blocks: u32,
}

impl Geometry {
    /// A geometry with a journal of an eighth of all records, 64 blocks to 64 MiB.
    ///
    /// # Errors
    ///
    /// When the size of a line is no power of two from 4 to 64 KiB, or there are fewer than 8 or more than 2^31 lines.
    pub fn new(line_bytes: u32, most_lines: u32) -> Result<Self, Error> {
        if !line_bytes.is_power_of_two() || !(SECTOR_BYTES..=16 * SECTOR_BYTES).contains(&line_bytes) {
            return Err(Error::unfit("line size", u64::from(line_bytes), "a power of two from 4096 to 65536 bytes"));
        }
        if !(8..=1 << 31).contains(&most_lines) {
            return Err(Error::unfit("number of lines", u64::from(most_lines), "8 to 2^31"));
        }
        let all = u64::from(most_lines) * record_bytes(line_bytes / SECTOR_BYTES) as u64;
        let journal_blocks = u32::try_from((all / 8 / BLOCK).clamp(64, 16_384)).expect("clamped");
        Ok(Self { line_bytes, most_lines, journal_blocks })
    }

    /// The largest geometry whose bytes fit a device.
    ///
    /// # Errors
    ///
    /// As [`Geometry::new`], and when the device is too small for 8 lines.
    pub fn fitting(line_bytes: u32, device_bytes: u64) -> Result<Self, Error> {
        let guess = (device_bytes / u64::from(line_bytes.max(1))).min(1 << 31);
        let (mut low, mut high) = (8, u32::try_from(guess).expect("clamped").max(8));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if Self::new(line_bytes, middle)?.bytes() <= device_bytes { low = middle } else { high = middle - 1 }
        }
        let found = Self::new(line_bytes, low)?;
        if found.bytes() > device_bytes {
            return Err(Error::unfit("cache size", device_bytes, "at least 8 lines and about 300 KiB"));
        }
        Ok(found)
    }

    /// Sectors of a line, 1 to 16.
    pub fn sectors(&self) -> u32 {
        self.line_bytes / SECTOR_BYTES
    }

    /// Records that one block of the journal is sure to hold.
    pub fn records_per_block(&self) -> u32 {
        let room = BLOCK_BYTES - HEADER_BYTES;
        u32::try_from(room / record_bytes(self.sectors())).expect("a block is small")
    }

    /// Blocks of one checkpoint.
    pub fn checkpoint_blocks(&self) -> u32 {
        self.most_lines.div_ceil(ENTRIES_PER_BLOCK)
    }

    /// Position of superblock 0 or 1.
    pub fn byte_of_superblock(slot: u8) -> u64 {
        u64::from(slot & 1) * BLOCK
    }

    /// Position of a block of checkpoint 0 or 1.
    pub fn byte_of_checkpoint(&self, slot: u8, block: u32) -> u64 {
        let before = u64::from(slot & 1) * u64::from(self.checkpoint_blocks());
        (SUPERBLOCKS + before + u64::from(block)) * BLOCK
    }

    fn crc_start(&self) -> u64 {
        (SUPERBLOCKS + 2 * u64::from(self.checkpoint_blocks())) * BLOCK
    }

    /// Position of the checksum of a sector of a line.
    pub fn byte_of_crc(&self, line: LineNumber, sector: u32) -> u64 {
        self.crc_start() + (u64::from(line) * u64::from(self.sectors()) + u64::from(sector)) * 4
    }

    fn journal_start(&self) -> u64 {
        self.byte_of_crc(self.most_lines, 0).next_multiple_of(BLOCK)
    }

    /// Position of a block of the journal, which is a ring.
    pub fn byte_of_journal(&self, sequence: u64) -> u64 {
        self.journal_start() + sequence % u64::from(self.journal_blocks) * BLOCK
    }

    fn data_start(&self) -> u64 {
        let small = u64::from(self.most_lines) * u64::from(self.line_bytes) < SMALL_BYTES;
        let end = self.journal_start() + u64::from(self.journal_blocks) * BLOCK;
        end.next_multiple_of(if small { BLOCK } else { DATA_ALIGNMENT })
    }

    /// Position of the data of a line.
    pub fn byte_of_line(&self, line: LineNumber) -> u64 {
        self.data_start() + u64::from(line) * u64::from(self.line_bytes)
    }

    /// Bytes of the whole cache.
    pub fn bytes(&self) -> u64 {
        self.byte_of_line(self.most_lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_follow_each_other_and_fit() {
        for (line_bytes, bytes) in [(4096, 256 << 20), (8192, 64 << 20), (65536, 1 << 30)] {
            let geometry = Geometry::fitting(line_bytes, bytes).unwrap();
            let last = geometry.checkpoint_blocks() - 1;
            let places = [
                Geometry::byte_of_superblock(1) + BLOCK,
                geometry.byte_of_checkpoint(0, 0),
                geometry.byte_of_checkpoint(0, last),
                geometry.byte_of_checkpoint(1, 0),
                geometry.byte_of_checkpoint(1, last) + BLOCK,
                geometry.byte_of_crc(0, 0),
                geometry.byte_of_crc(geometry.most_lines - 1, geometry.sectors() - 1) + 4,
                geometry.byte_of_journal(0),
                geometry.byte_of_journal(u64::from(geometry.journal_blocks) - 1) + BLOCK,
                geometry.byte_of_line(0),
                geometry.bytes(),
            ];
            assert!(places.is_sorted(), "{places:?}");
            assert!(geometry.bytes() <= bytes && geometry.bytes() + (2 << 20) > bytes);
            assert_eq!(geometry.byte_of_journal(u64::from(geometry.journal_blocks)), geometry.byte_of_journal(0));
        }
    }

    #[test]
    fn what_cannot_be_a_cache_is_refused() {
        let text = Geometry::new(6000, 100).unwrap_err().to_string();
        assert!(text.contains("line size") && text.contains("6000"), "{text}");
        assert!(Geometry::new(8192, 7).is_err());
        assert!(Geometry::fitting(8192, 1 << 18).is_err());
    }
}
