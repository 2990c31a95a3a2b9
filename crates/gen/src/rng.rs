//! The generator of random numbers and texts.
//!
//! xoshiro256++ with unbiased ranges. It is no source of secrets, and it never seeds itself:
//! an [`Rng`] comes from a [`Seed`](crate::Seed).

/// A stream of random numbers: xoshiro256++.
///
/// Source: Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47
/// (2021); reference code `xoshiro256plusplus.c` (public domain).
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator in the given state, of which at least one word must not be 0.
    pub(crate) fn from_state(state: [u64; 4]) -> Self {
        debug_assert_ne!(state, [0; 4], "the zero state of xoshiro yields zeros only");
        Self { state }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let output = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        output
    }

    /// A uniform number in `0..bound`; `bound` must be positive.
    ///
    /// Source of the unbiased multiplication method: Lemire, "Fast random integer generation in
    /// an interval", ACM TOMACS 29 (2019), algorithm 5.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "an empty range has no number");
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let low = low_word(product);
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return high_word(product);
            }
        }
    }

    /// A uniform number in `low..=high`, the `random(x, y)` of TPC-C clause 2.1.6;
    /// `low <= high`.
    #[inline]
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        debug_assert!(low <= high, "the range {low}..={high} is empty");
        let span = i64::from(high) - i64::from(low) + 1;
        let offset = self.below(span.cast_unsigned()).cast_signed();
        i32::try_from(i64::from(low) + offset).expect("low + offset is at most high")
    }

    /// True in `percent` of 100 cases.
    #[inline]
    pub fn chance_percent(&mut self, percent: i32) -> bool {
        self.between(1, 100) <= percent
    }

    /// Brings `values` into a uniformly random order (Fisher and Yates, Knuth's algorithm P).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.index_up_to(last));
        }
    }

    /// Fills `out` with random upper-case letters, lower-case letters and digits, 5.95 bits
    /// each.
    #[inline]
    pub fn alphanumerics(&mut self, out: &mut [u8]) {
        self.fill(out, &ALPHANUMERIC_PAIRS);
    }

    /// Fills `out` with random upper-case and lower-case letters.
    #[inline]
    pub fn letters(&mut self, out: &mut [u8]) {
        self.fill(out, &LETTER_PAIRS);
    }

    /// Fills `out` with random decimal digits.
    #[inline]
    pub fn digits(&mut self, out: &mut [u8]) {
        self.fill(out, &DIGIT_PAIRS);
    }

    /// Fills the first `length` places of `out`, at most `N`, as [`alphanumerics`](Self::alphanumerics) does. What stands behind them
    /// is overwritten up to seven places, so that every block is stored whole.
    #[inline]
    pub(crate) fn alphanumerics_in<const N: usize>(&mut self, out: &mut [u8; N], length: usize) {
        let (blocks, rest) = out.as_chunks_mut::<8>();
        let whole = blocks.len();
        for block in blocks.iter_mut().take(length.div_ceil(8)) {
            *block = self.block(&ALPHANUMERIC_PAIRS);
        }
        if length > 8 * whole {
            rest.copy_from_slice(&self.block(&ALPHANUMERIC_PAIRS)[..N % 8]);
        }
    }

    fn index_up_to(&mut self, last: usize) -> usize {
        let bound = last as u64 + 1;
        usize::try_from(self.below(bound)).expect("an index up to a usize is a usize")
    }

    #[inline]
    fn fill<const PAIRS: usize>(&mut self, out: &mut [u8], pairs: &[[u8; 2]; PAIRS]) {
        let (blocks, tail) = out.as_chunks_mut::<8>();
        for block in blocks {
            *block = self.block(pairs);
        }
        if !tail.is_empty() {
            tail.copy_from_slice(&self.block(pairs)[..tail.len()]);
        }
    }

    /// Eight characters from one 64-bit word: four uniform draws of a pair, unbiased.
    ///
    /// Source: Brackett-Rozinsky, Lemire, "Batched ranged random integer generation", Software:
    /// Practice and Experience (2024): the word left over by the last multiplication decides,
    /// as in Lemire's method, whether the whole batch is kept.
    #[inline]
    fn block<const PAIRS: usize>(&mut self, pairs: &[[u8; 2]; PAIRS]) -> [u8; 8] {
        let batch = (PAIRS as u64).pow(4);
        loop {
            let mut word = self.next_u64();
            // Put together in a register: eight characters are stored by one instruction.
            let mut block = 0;
            for place in 0..4 {
                let product = u128::from(word) * PAIRS as u128;
                block |= u64::from(u16::from_le_bytes(pairs[high_word(product) as usize])) << (16 * place);
                word = low_word(product);
            }
            if word >= batch || word >= batch.wrapping_neg() % batch {
                return block.to_le_bytes();
            }
        }
    }
}

const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALPHANUMERICS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static LETTER_PAIRS: [[u8; 2]; 52 * 52] = pairs(LETTERS);
static ALPHANUMERIC_PAIRS: [[u8; 2]; 62 * 62] = pairs(ALPHANUMERICS);
static DIGIT_PAIRS: [[u8; 2]; 10 * 10] = pairs(b"0123456789");

/// Every pair of characters of `alphabet`, so that one draw yields two characters.
const fn pairs<const N: usize, const PAIRS: usize>(alphabet: &[u8; N]) -> [[u8; 2]; PAIRS] {
    assert!(N * N == PAIRS, "one entry per pair");
    let mut table = [[0; 2]; PAIRS];
    let mut index = 0;
    while index < PAIRS {
        table[index] = [alphabet[index / N], alphabet[index % N]];
        index += 1;
    }
    table
}

#[expect(clippy::cast_possible_truncation, reason = "the low word is what is wanted")]
const fn low_word(product: u128) -> u64 {
    product as u64
}

const fn high_word(product: u128) -> u64 {
    low_word(product >> 64)
}

#[cfg(test)]
mod tests {
    use crate::Seed;

    use super::*;

    #[test]
    fn outputs_are_the_published_xoshiro256plusplus() {
        // Test vector of the reference implementation from state 1, 2, 3, 4 (also in rand_xoshiro).
        let mut rng = Rng::from_state([1, 2, 3, 4]);
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        assert_eq!(expected.map(|_| rng.next_u64()), expected);
    }

    #[test]
    fn ranges_are_uniform() {
        for (low, high) in [(1, 2), (0, 6), (-3, 3), (1, 100)] {
            let mut counts = vec![0_u64; usize::try_from(high - low + 1).unwrap()];
            let mut rng = Seed(3).rng();
            for _ in 0..100_000 {
                counts[usize::try_from(rng.between(low, high) - low).unwrap()] += 1;
            }
            assert!(chi_square(&counts) < limit(counts.len()), "{low}..={high}: {counts:?}");
        }
    }

    #[test]
    fn a_range_near_the_word_size_is_unbiased() {
        // Two thirds of all words: a generator without rejection would give the lower half of
        // the range twice as often.
        let bound = u64::MAX / 3 * 2;
        let mut rng = Seed(5).rng();
        let low = (0..100_000).filter(|_| rng.below(bound) < bound / 2).count();
        assert!((49_000..51_000).contains(&low), "{low}");
    }

    #[test]
    fn texts_use_their_alphabet_uniformly() {
        check_text(Rng::alphanumerics, ALPHANUMERICS);
        check_text(Rng::letters, LETTERS);
        check_text(Rng::digits, b"0123456789");
    }

    fn check_text(fill: fn(&mut Rng, &mut [u8]), alphabet: &[u8]) {
        let mut rng = Seed(9).rng();
        let mut text = [0; 13];
        let mut counts = vec![[0_u64; 13]; alphabet.len()];
        for _ in 0..100_000 {
            fill(&mut rng, &mut text);
            for (place, character) in text.iter().enumerate() {
                let found = alphabet.iter().position(|known| known == character);
                counts[found.expect("a character of the alphabet")][place] += 1;
            }
        }
        for place in 0..13 {
            let counts: Vec<u64> = counts.iter().map(|row| row[place]).collect();
            assert!(chi_square(&counts) < limit(counts.len()), "place {place}: {counts:?}");
        }
    }

    #[test]
    fn a_text_in_its_place_is_that_of_its_length() {
        for length in 0..=20 {
            let (mut expected, mut found) = ([b'-'; 20], [b'-'; 20]);
            let [mut one, mut other] = [Seed(12).rng(), Seed(12).rng()];
            one.alphanumerics(&mut expected[..length]);
            other.alphanumerics_in(&mut found, length);
            assert_eq!(found[..length], expected[..length]);
            assert_eq!(one.next_u64(), other.next_u64(), "{length}");
            let behind = length.next_multiple_of(8).min(20);
            assert_eq!(found[behind..], expected[behind..], "{length}");
        }
    }

    #[test]
    fn shuffles_reach_every_order_equally() {
        let mut rng = Seed(11).rng();
        let mut counts = [0_u64; 256];
        for _ in 0..120_000 {
            let mut values = [0_usize, 1, 2, 3];
            rng.shuffle(&mut values);
            counts[values.iter().fold(0, |code, value| code * 4 + value)] += 1;
        }
        let reached: Vec<u64> = counts.into_iter().filter(|&count| count > 0).collect();
        assert_eq!(reached.len(), 24);
        assert!(chi_square(&reached) < limit(24), "{reached:?}");
    }

    fn chi_square(counts: &[u64]) -> f64 {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
    }

    /// Mean plus five standard deviations of the chi-square distribution.
    fn limit(cells: usize) -> f64 {
        let freedom = (cells - 1) as f64;
        freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0
    }
}
