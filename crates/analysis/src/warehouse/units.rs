//! Units of the warehouse figures as types, so that a terabyte of raw data is not taken for one on disk. Decimal throughout:
//! 1 MB is 10^6 bytes, 1 TB is 10^12. May not compute.

/// Millions of bytes.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Megabytes(pub f64);

/// Millions of bytes per second of wall time.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct MbPerSecond(pub f64);

/// Millions of bytes per second of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct MbPerCpuSecond(pub f64);

/// Seconds of wall time.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

/// Seconds of CPU time, all cores together.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct CpuSeconds(pub f64);

/// Valid queries per hour.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct QueriesPerHour(pub f64);

/// 10^12 bytes of user data in their text form, before compression and without indexes.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct RawTerabytes(pub f64);

impl RawTerabytes {
    /// Terabytes of this many bytes.
    pub fn of_bytes(bytes: u64) -> Self {
        Self(bytes as f64 / 1e12)
    }
}
