//! The share of all blocks whose references are followed.

use crate::block::mix;

/// Hashes are compared modulo this. Source: Waldspurger and others, FAST 2015, section 3.1.
const MODULUS: u64 = 1 << 24;

/// Takes a share of all keys, always the same ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpatialFilter {
    salt: u64,
    threshold: u64,
}

impl SpatialFilter {
    pub(super) fn new(rate: f64, seed: u64) -> Self {
        let threshold = ((rate.clamp(0.0, 1.0) * MODULUS as f64).round() as u64).clamp(1, MODULUS);
        Self { salt: mix(seed), threshold }
    }

    /// The share of keys that is really taken.
    pub(super) fn rate(&self) -> f64 {
        self.threshold as f64 / MODULUS as f64
    }

    #[inline]
    pub(super) fn takes(&self, key: u64) -> bool {
        mix(key ^ self.salt) % MODULUS < self.threshold
    }
}
