//! What a cache of another size would do: a sample of the references to a pool, small caches that serve it, miss-ratio curves of a trace. No
//! devices.

mod curve;
mod miniature;
mod sample;

pub use curve::{CurveSettings, MissRatioCurve, simulated_curve};
pub use miniature::{LEAST_LINES, MiniatureCache, MiniatureCounts, MiniatureSettings};
pub use sample::{RING_REFERENCES, Reference, SAMPLED_BLOCKS, SamplePiece, SampleRing, SampleSettings};
