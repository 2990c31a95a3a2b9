//! The random numbers of one operation or one value: cheap to begin, as long as needed.
//!
//! SplitMix64 from a state that is hashed from (seed, index). Beginning one costs two hashes, so that every
//! operation can have a stream of its own and draw as often as a rejection asks for.

use super::compatible::Draws;
use crate::Seed;
use crate::seed::{GOLDEN_GAMMA, mix};

/// The distance of two neighbouring doubles in 0.5..1: 2^-53.
const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;

/// A counted stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of `index` below `seed`.
    #[inline]
    pub(super) fn new(seed: Seed, index: u64) -> Self {
        Self { state: seed.of(index).0 }
    }

    /// The next 64 random bits.
    #[inline]
    pub(super) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix(self.state)
    }

    /// A uniform number in `0..bound`; `bound` must be positive. Lemire's method, as in [`Rng`](crate::Rng).
    #[inline]
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "an empty range has no number");
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }
}

impl Draws for Stream {
    #[inline]
    fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * UNIT
    }

    #[inline]
    fn word(&mut self) -> u64 {
        self.next_u64()
    }
}
