//! The format of the cache device: where its areas are and what their bytes mean. It reads and writes no device.

mod codec;
mod geometry;
mod journal;
mod superblock;
mod tables;

pub use geometry::Geometry;
pub(crate) use journal::{JournalBlock, JournalRecord, decode_block, encode_commit};
pub use superblock::{Identity, OriginLabel, Superblock, VolumeLabel};
pub(crate) use superblock::{LABEL_BYTES, SUPERBLOCK_BYTES};
pub(crate) use tables::{ENTRIES_PER_BLOCK, decode_entries, encode_entries};
