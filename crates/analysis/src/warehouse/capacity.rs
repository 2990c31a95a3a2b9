//! How much user data fits, and why nobody can compute how much was rated.

use super::units::RawTerabytes;

/// Storage that user data may not take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reserve {
    /// Share of the storage that stays free, 0 to 1.
    pub free_share: f64,
    /// Share of the rest that temporary files may take, 0 to 1.
    pub temporary_share: f64,
}

impl Reserve {
    /// P5's: 10 % free, a quarter of the rest for tempdb.
    pub const PUBLISHED: Self = Self { free_share: 0.10, temporary_share: 0.25 };
}

/// Raw user data that storage of so many bytes takes. `compression` is the measured one, raw to stored bytes; there is no
/// default, as published ratios are planning numbers of column stores. Reconstructed: with P5's 12 TB, reserves and 5 it gives
/// its 41 TB.
pub fn maximum_user_data(storage_bytes: f64, reserve: Reserve, compression: f64) -> RawTerabytes {
    RawTerabytes(storage_bytes / 1e12 * (1.0 - reserve.free_share) * (1.0 - reserve.temporary_share) * compression)
}
