//! A permutation of the loaded records: which record has which rank.
//!
//! A keyed Feistel network over the smallest even number of bits that holds all records, walked until the result is
//! a record again (Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). Every record has exactly
//! one rank, so no two popular ranks meet in one record as they do under a hash modulo the number of records. It
//! hides nothing and is no cipher.

use crate::Seed;

const ROUNDS: usize = 4;

/// A permutation of `0..size`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    size: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..size` that belongs to `seed`; `size` at least 1 and at most 2^62.
    pub(super) fn new(seed: Seed, size: u64) -> Self {
        let bits = u64::BITS - size.saturating_sub(1).leading_zeros();
        let half_bits = bits.div_ceil(2).max(1);
        let mut rng = seed.rng();
        Self { size, half_bits, keys: std::array::from_fn(|_| rng.next_u64() | 1) }
    }

    /// The place of `index`; numbers from `size` on stay where they are.
    ///
    /// The network covers fewer than four times `size` numbers, hence fewer than four walks on average.
    #[inline]
    pub(super) fn place(&self, index: u64) -> u64 {
        if index >= self.size {
            return index;
        }
        let mut place = self.network(index);
        while place >= self.size {
            place = self.network(place);
        }
        place
    }

    #[inline]
    fn network(&self, word: u64) -> u64 {
        let (mut left, mut right) = (word >> self.half_bits, word & ((1 << self.half_bits) - 1));
        for key in self.keys {
            // The upper bits of the product depend on every bit of the half.
            let hash = (right ^ (key >> 32)).wrapping_add(key).wrapping_mul(key) >> (u64::BITS - self.half_bits);
            (left, right) = (right, left ^ hash);
        }
        left << self.half_bits | right
    }
}
