//! Blocks of 4 KiB with a checksum in front, and a cursor over their bytes. Source of the checksum, CRC-32C: RFC 3720, appendix B.4.

use crc32c::crc32c;

/// Bytes of a block of metadata.
pub(super) const BLOCK_BYTES: usize = 4096;

/// Writes little-endian numbers one after the other.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    bytes: Vec<u8>,
}

impl BlockWriter {
    /// A block that begins with room for its checksum and this mark.
    pub(super) fn new(mark: [u8; 4]) -> Self {
        let mut bytes = Vec::with_capacity(BLOCK_BYTES);
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&mark);
        Self { bytes }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn put_u16(&mut self, number: u16) {
        self.put(&number.to_le_bytes());
    }

    pub(super) fn put_u32(&mut self, number: u32) {
        self.put(&number.to_le_bytes());
    }

    pub(super) fn put_u64(&mut self, number: u64) {
        self.put(&number.to_le_bytes());
    }

    pub(super) fn room(&self) -> usize {
        BLOCK_BYTES - self.bytes.len()
    }

    pub(super) fn patch_u16(&mut self, at: usize, number: u16) {
        self.bytes[at..at + 2].copy_from_slice(&number.to_le_bytes());
    }

    /// The whole block with its checksum.
    pub(super) fn seal(mut self) -> Vec<u8> {
        debug_assert!(self.bytes.len() <= BLOCK_BYTES, "a block of metadata ran over");
        self.bytes.resize(BLOCK_BYTES, 0);
        let crc = crc32c(&self.bytes[4..]);
        self.bytes[..4].copy_from_slice(&crc.to_le_bytes());
        self.bytes
    }
}

/// Reads what [`BlockWriter`] wrote. Reading beyond the end yields zeros: the checksum has vouched for the length.
#[derive(Debug)]
pub(super) struct BlockReader<'a> {
    bytes: &'a [u8],
}

impl<'a> BlockReader<'a> {
    /// A reader behind checksum and mark; `None` when one of them is wrong.
    pub(super) fn open(block: &'a [u8], mark: [u8; 4]) -> Option<Self> {
        Self::open_marked(block, &[mark]).map(|(reader, _)| reader)
    }

    /// A reader behind checksum and one of several marks, with the place of that mark.
    pub(super) fn open_marked(block: &'a [u8], marks: &[[u8; 4]]) -> Option<(Self, usize)> {
        if block.len() != BLOCK_BYTES {
            return None;
        }
        let place = marks.iter().position(|mark| block[4..8] == *mark)?;
        let crc = u32::from_le_bytes(block[..4].try_into().expect("four bytes"));
        (crc32c(&block[4..]) == crc).then_some((Self { bytes: &block[8..] }, place))
    }

    pub(super) fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        let length = N.min(self.bytes.len());
        out[..length].copy_from_slice(&self.bytes[..length]);
        self.bytes = &self.bytes[length..];
        out
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Caches on disks outlive the library that sums them.
    #[test]
    fn sums_are_those_of_rfc_3720() {
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!([crc32c(&[0; 32]), crc32c(&[0xff; 32]), crc32c(&rising)], [0x8a91_36aa, 0x62a8_ab43, 0x46dd_794e]);
        assert_eq!((crc32c(b"123456789"), crc32c(&[])), (0xe306_9283, 0));
    }
}
