//! How much user data fits, and why nobody can compute how much was rated.

use super::units::RawTerabytes;
use std::fmt;

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

/// A figure whose formula the publication does not determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotIdentifiable {
    /// The figure.
    pub figure: &'static str,
    /// What would have to be known.
    pub missing: &'static [&'static str],
}

impl fmt::Display for NotIdentifiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be derived; missing: {}", self.figure, self.missing.join("; "))
    }
}

impl std::error::Error for NotIdentifiable {}

/// The rated user data capacity of a Fast Track certificate. Not identifiable: P5 prints one value (36 TB) of a function of at
/// least four inputs, and published ratios of rated to maximum run from 0.33 to 0.88. Error: always, with what is missing.
pub fn rated_user_data() -> Result<RawTerabytes, NotIdentifiable> {
    Err(NotIdentifiable {
        figure: "the rated user data capacity",
        missing: &[
            "how the relative throughputs of row and column store are combined",
            "how storage and memory enter",
            "the reference configuration's own figures",
            "a second published point to test a formula against",
        ],
    })
}
