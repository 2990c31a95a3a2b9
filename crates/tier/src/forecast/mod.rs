//! What a cache of another size would do: a sample of the references to a pool, and small caches that serve it. No devices.

mod miniature;
mod sample;
mod spatial_filter;

pub use miniature::{LEAST_LINES, MiniatureCache, MiniatureCounts, MiniatureSettings};
pub use sample::{RING_REFERENCES, Reference, SAMPLED_BLOCKS, SamplePiece, SampleRing, SampleSettings};
