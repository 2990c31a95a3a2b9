//! Identity of a cache and its origins, and in which state they were left.

use super::codec::{BLOCK_BYTES, BlockReader, BlockWriter};
use super::geometry::Geometry;

const CACHE_MARK: [u8; 4] = *b"PTsb";
const ORIGIN_MARK: [u8; 4] = *b"PTor";
/// Version of the format. Version 1, which knew of no closed lines, is read, and is version 2 once it was opened; any other is refused.
const VERSION: u32 = 2;
const OLDEST_VERSION: u32 = 1;
/// Version of the label of an origin.
const LABEL_VERSION: u32 = 1;

/// Bytes of a superblock.
pub(crate) const SUPERBLOCK_BYTES: usize = BLOCK_BYTES;
/// Bytes at the end of an origin that hold its label.
pub(crate) const LABEL_BYTES: u64 = BLOCK_BYTES as u64;

/// A number that no other cache or origin has.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity(pub [u8; 16]);

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a cache knows of one of its origins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeLabel {
    /// Its identity.
    pub origin: Identity,
    /// Bytes of the volume, without the label.
    pub bytes: u64,
}

/// State of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Grows with every superblock written; the larger of two is in force.
    pub sequence: u64,
    /// Its identity.
    pub cache: Identity,
    /// Its areas.
    pub geometry: Geometry,
    /// Lines in use.
    pub active_lines: u32,
    /// How often it was opened.
    pub mounts: u64,
    /// Whether an opening was begun whose number the origins may have already and the cache not.
    pub opening: bool,
    /// Whether it was closed after everything was made durable, and no line is left that a crash before may have torn.
    pub clean: bool,
    /// The checkpoint in force, 0 or 1.
    pub checkpoint_slot: u8,
    /// Number of the checkpoint in force.
    pub checkpoint_sequence: u64,
    /// First block of the journal after it.
    pub journal_start: u64,
    /// Its origins.
    pub volumes: Vec<VolumeLabel>,
    /// Opening that wrote the checkpoint in force, behind which no block of an earlier opening belongs to the journal; 0 in caches that did
    /// not note it.
    pub checkpoint_mount: u64,
}

impl Superblock {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut block = BlockWriter::new(CACHE_MARK);
        block.put_u32(VERSION);
        block.put_u64(self.sequence);
        block.put(&self.cache.0);
        let geometry = self.geometry;
        [geometry.line_bytes, geometry.most_lines, geometry.journal_blocks, self.active_lines]
            .into_iter()
            .for_each(|number| block.put_u32(number));
        block.put_u64(self.mounts);
        block.put(&[u8::from(self.opening), u8::from(self.clean), self.checkpoint_slot, 0]);
        block.put_u64(self.checkpoint_sequence);
        block.put_u64(self.journal_start);
        block.put_u32(u32::try_from(self.volumes.len()).expect("four at most"));
        for volume in &self.volumes {
            block.put(&volume.origin.0);
            block.put_u64(volume.bytes);
        }
        block.put_u64(self.checkpoint_mount);
        block.seal()
    }

    /// The version of a superblock that is whole and of a format that is not read, and the newest that is.
    pub(crate) fn other_version(bytes: &[u8]) -> Option<(u32, u32)> {
        let found = BlockReader::open(bytes, CACHE_MARK)?.u32();
        (!(OLDEST_VERSION..=VERSION).contains(&found)).then_some((found, VERSION))
    }

    /// Reads a superblock; `None` when the bytes are none of a version that is read.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = BlockReader::open(bytes, CACHE_MARK)?;
        if !(OLDEST_VERSION..=VERSION).contains(&reader.u32()) {
            return None;
        }
        let sequence = reader.u64();
        let cache = Identity(reader.take());
        let geometry = Geometry { line_bytes: reader.u32(), most_lines: reader.u32(), journal_blocks: reader.u32() };
        let active_lines = reader.u32();
        let mounts = reader.u64();
        let [opening, clean, checkpoint_slot, _] = reader.take();
        let (checkpoint_sequence, journal_start) = (reader.u64(), reader.u64());
        let count = reader.u32().min(4);
        let volumes =
            (0..count).map(|_| VolumeLabel { origin: Identity(reader.take()), bytes: reader.u64() }).collect();
        let checkpoint_mount = reader.u64();
        Some(Self {
            sequence,
            cache,
            geometry,
            active_lines,
            mounts,
            opening: opening == 1,
            clean: clean == 1,
            checkpoint_slot,
            checkpoint_sequence,
            journal_start,
            volumes,
            checkpoint_mount,
        })
    }
}

/// What an origin knows of itself: the last 4 KiB of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginLabel {
    /// Its identity.
    pub origin: Identity,
    /// The cache that it belongs to.
    pub cache: Identity,
    /// How often that cache was opened with it.
    pub mounts: u64,
    /// Whether it was set free: all its content is its own, and no cache is needed.
    pub detached: bool,
}

impl OriginLabel {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut block = BlockWriter::new(ORIGIN_MARK);
        block.put_u32(LABEL_VERSION);
        block.put(&self.origin.0);
        block.put(&self.cache.0);
        block.put_u64(self.mounts);
        block.put_u16(u16::from(self.detached));
        block.seal()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = BlockReader::open(bytes, ORIGIN_MARK)?;
        (reader.u32() == LABEL_VERSION).then(|| Self {
            origin: Identity(reader.take()),
            cache: Identity(reader.take()),
            mounts: reader.u64(),
            detached: reader.u16() == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superblock_and_label_survive_their_bytes() {
        let volumes = vec![VolumeLabel { origin: Identity([7; 16]), bytes: 1 << 40 }; 2];
        let superblock = Superblock {
            sequence: 3,
            cache: Identity([1; 16]),
            geometry: Geometry::new(8192, 1000).unwrap(),
            active_lines: 900,
            mounts: 12,
            opening: true,
            clean: false,
            checkpoint_slot: 1,
            checkpoint_sequence: 5,
            journal_start: 77,
            volumes,
            checkpoint_mount: 11,
        };
        assert_eq!(Superblock::decode(&superblock.encode()), Some(superblock.clone()));
        let of_version = |version: u32| {
            let mut bytes = superblock.encode();
            bytes[8..12].copy_from_slice(&version.to_le_bytes());
            let crc = crc32c::crc32c(&bytes[4..]);
            bytes[..4].copy_from_slice(&crc.to_le_bytes());
            bytes
        };
        assert_eq!(Superblock::decode(&of_version(1)), Some(superblock.clone()));
        for (version, other) in [(0, Some((0, 2))), (1, None), (2, None), (3, Some((3, 2)))] {
            assert_eq!(Superblock::other_version(&of_version(version)), other);
        }
        assert_eq!(Superblock::decode(&of_version(3)), None);
        let label = OriginLabel { origin: Identity([2; 16]), cache: Identity([3; 16]), mounts: 9, detached: true };
        assert_eq!(OriginLabel::decode(&label.encode()), Some(label));
        assert_eq!(OriginLabel::decode(&superblock.encode()), None);
        assert_eq!(label.cache.to_string(), "03".repeat(16));
    }
}
