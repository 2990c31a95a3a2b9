//! Rates and ratios of a finished run. A divisor that is not above 0 gives a number that is not finite; reports print none.

use super::units::MbPerSecond;

/// The mean of both scan rates. Certain for P5 (it prints this as its I/O throughput); a mean of two things that overlap
/// says nothing by itself, so it is for comparison with such papers only.
pub fn io_average(physical: MbPerSecond, logical: MbPerSecond) -> MbPerSecond {
    MbPerSecond(f64::midpoint(physical.0, logical.0))
}

/// Share of requested bytes that no device moved, at most 1; below 0 when the device moved more than was asked for, as with
/// read-ahead. Certain: a definition.
pub fn hit_share(physical: MbPerSecond, logical: MbPerSecond) -> f64 {
    1.0 - physical.0 / logical.0
}

/// Raw bytes over stored bytes; below 1 where storing adds more than it saves. Certain: a definition.
pub fn compression(raw_bytes: u64, stored_bytes: u64) -> f64 {
    raw_bytes as f64 / stored_bytes as f64
}
