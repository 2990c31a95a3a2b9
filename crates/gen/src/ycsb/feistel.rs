//! A permutation of the loaded records: which record has which rank.
//!
//! A keyed Feistel network over the smallest number of bits that holds all records, walked until the result is a
//! record again (Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). Its halves differ by a bit
//! where the number of bits is odd, so that it covers fewer than two numbers for each record. Every record has exactly
//! one rank, and no two popular ranks meet in one record as they do under a hash modulo the number of records. It
//! hides nothing and is no cipher.

use crate::Seed;

/// Rounds, half of them on each half.
const ROUNDS: usize = 4;

/// A permutation of `0..size`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    size: u64,
    low_bits: u32,
    high_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of `0..size` that belongs to `seed`; `size` at least 1 and at most 2^62.
    pub(super) fn new(seed: Seed, size: u64) -> Self {
        let bits = (u64::BITS - size.saturating_sub(1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        let mut rng = seed.rng();
        Self { size, low_bits, high_bits: bits - low_bits, keys: std::array::from_fn(|_| rng.next_u64() | 1) }
    }

    /// The place of `index`; numbers from `size` on stay where they are.
    ///
    /// Walks fewer than two steps on average, from three records on.
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
        let (mut high, mut low) = (word >> self.low_bits, word & ((1 << self.low_bits) - 1));
        for [first, second] in self.keys.as_chunks::<2>().0 {
            high ^= hash(low, *first) >> (u64::BITS - self.high_bits);
            low ^= hash(high, *second) >> (u64::BITS - self.low_bits);
        }
        high << self.low_bits | low
    }
}

/// A word whose upper bits depend on every bit of the half; `key` is odd.
#[inline]
fn hash(half: u64, key: u64) -> u64 {
    (half ^ (key >> 32)).wrapping_add(key).wrapping_mul(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_bijection(size: u64) {
        let permutation = Permutation::new(Seed(size), size);
        let mut seen = vec![false; size as usize];
        for index in 0..size {
            let place = permutation.place(index) as usize;
            assert!(!std::mem::replace(&mut seen[place], true), "{place} of {size} is taken twice");
        }
    }

    #[test]
    fn every_size_up_to_ten_thousand_is_permuted() {
        (1..=10_000).for_each(check_bijection);
    }

    #[test]
    fn larger_sizes_are_permuted() {
        [65_535, 65_536, 65_537, 99_991, 262_144, 300_000].into_iter().for_each(check_bijection);
    }

    #[test]
    fn numbers_beyond_stay_and_huge_sizes_are_walked() {
        let permutation = Permutation::new(Seed(1), 1_000_000_000_000_001);
        assert_eq!(permutation.place(1_000_000_000_000_001), 1_000_000_000_000_001);
        assert!((0..1_000).all(|index| permutation.place(index) < 1_000_000_000_000_001));
    }

    #[test]
    fn neighbours_are_scattered_evenly() {
        let size = 300_000_000;
        let permutation = Permutation::new(Seed(42), size);
        let mut counts = [0_u32; 100];
        for index in 0..10_000 {
            counts[(permutation.place(index) * 100 / size) as usize] += 1;
        }
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - 100.0).powi(2) / 100.0).sum();
        assert!(chi_square < 99.0 + 5.0 * (2.0 * 99.0_f64).sqrt(), "chi-square {chi_square:.1} of 99");
    }
}
