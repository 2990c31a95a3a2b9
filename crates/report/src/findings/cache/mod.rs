//! The cache tier: what it served, how long requests took, the curve of its hits, and forecasts for other sizes.

pub(super) mod curve;
pub mod forecast;
pub mod latency;
pub mod tier;
