//! Seeds and their derivation: the only place where one seed becomes many.
//!
//! A seed never depends on the order in which threads ask for it; a stream is named by the
//! labels on its path, as in `seed.of(table).of(warehouse).of(row)`.

use crate::rng::Rng;

/// The increment of SplitMix64: 2^64 divided by the golden ratio, made odd.
pub(crate) const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A 64-bit seed from which further seeds and generators are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed of the part called `label`.
    ///
    /// For a fixed seed, different labels give different seeds (both steps are bijections), and
    /// the order of labels matters: `of(1).of(2)` is not `of(2).of(1)`.
    #[must_use]
    pub fn of(self, label: u64) -> Self {
        Self(mix(self.0.wrapping_add(mix(label.wrapping_add(GOLDEN_GAMMA)))))
    }

    /// The generator of this seed. Its state is filled by SplitMix64, as the authors of
    /// xoshiro advise.
    #[must_use]
    pub fn rng(self) -> Rng {
        let word = |n: u64| mix(self.0.wrapping_add(GOLDEN_GAMMA.wrapping_mul(n)));
        Rng::from_state([word(1), word(2), word(3), word(4)])
    }
}

/// The output function of SplitMix64, a bijection of 64-bit words in which every input bit
/// moves every output bit.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
/// with the constants of Stafford's variant 13 as in Vigna's `splitmix64.c` (public domain).
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn mix_is_the_published_splitmix64() {
        // The first three outputs of SplitMix64 from state 1234567, as listed in its test
        // vectors (prng.di.unimi.it, Rosetta Code "Pseudo-random numbers/Splitmix64").
        let output = |n: u64| mix(GOLDEN_GAMMA.wrapping_mul(n).wrapping_add(1_234_567));
        assert_eq!(
            [output(1), output(2), output(3)],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn derived_seeds_differ_by_label_and_by_order() {
        let seeds: HashSet<Seed> = (0..10_000).map(|label| Seed(7).of(label)).collect();
        assert_eq!(seeds.len(), 10_000);
        assert_ne!(Seed(7).of(1).of(2), Seed(7).of(2).of(1));
        assert_ne!(Seed(7).of(0), Seed(7));
    }
}
