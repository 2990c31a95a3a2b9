//! The non-uniform distribution of clause 2.1.6.

use std::cmp::Reverse;

use crate::Rng;

/// `NURand(A, x, y)` with its constant `C`: numbers in `low..=high`, some of them far more
/// often than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NuRand {
    /// `A`, a power of two minus 1: how strong the skew is.
    pub a: i32,
    /// `C`, 0 or more: which numbers are the frequent ones.
    pub c: i32,
    /// `x`, the smallest number drawn.
    pub low: i32,
    /// `y`, the largest number drawn.
    pub high: i32,
}

impl NuRand {
    /// `(((random(0, A) | random(x, y)) + C) mod (y − x + 1)) + x`, clause 2.1.6, with two
    /// unbiased uniform draws.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> i32 {
        let either = rng.between(0, self.a) | rng.between(self.low, self.high);
        (either + self.c) % (self.high - self.low + 1) + self.low
    }

    /// Uniform over the same numbers.
    #[must_use]
    pub const fn uniform(&self) -> Self {
        Self { a: 0, c: 0, ..*self }
    }

    /// Every number's place, from `low` on, with its [`pairs`](Self::pairs): the hottest numbers first, of
    /// equal ones the smaller first.
    #[must_use]
    pub fn hottest_first(&self) -> Vec<(usize, u64)> {
        let mut numbers: Vec<(usize, u64)> = self.pairs().into_iter().enumerate().collect();
        numbers.sort_by_key(|(_, pairs)| Reverse(*pairs));
        numbers
    }

    /// Number of the (A + 1) × (y − x + 1) equally likely pairs of draws that lead to each number, from `low` on: the
    /// exact distribution.
    ///
    /// By the definition of bitwise or: the pairs whose union is within `v` are the product of the
    /// single counts, and inclusion and exclusion over the bits of `v` yields those whose union is
    /// `v`.
    #[must_use]
    pub fn pairs(&self) -> Vec<u64> {
        let bits = 32 - self.high.leading_zeros();
        let size = 1_usize << bits;
        let range = self.low as usize..=self.high as usize;
        let mut first: Vec<u64> = (0..size).map(|v| u64::from(v <= self.a as usize)).collect();
        let mut second: Vec<u64> = (0..size).map(|v| u64::from(range.contains(&v))).collect();
        for_each_bit(bits, &mut first, |with, without| with + without);
        for_each_bit(bits, &mut second, |with, without| with + without);
        let mut union: Vec<u64> = first.iter().zip(&second).map(|(a, b)| a * b).collect();
        for_each_bit(bits, &mut union, |with, without| with - without);

        let span = range.count();
        let mut counts = vec![0; span];
        for (value, pairs) in union.into_iter().enumerate() {
            counts[(value + self.c as usize) % span] += pairs;
        }
        counts
    }
}

/// Combines, for each bit, the value at every number that has it with the value at the number without it.
fn for_each_bit(bits: u32, values: &mut [u64], combine: impl Fn(u64, u64) -> u64) {
    for bit in 0..bits {
        for v in (0..values.len()).filter(|v| v >> bit & 1 == 1) {
            values[v] = combine(values[v], values[v & !(1 << bit)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Seed;
    use crate::tprocc::Scale;

    use super::*;

    fn by_hand(nurand: &NuRand) -> Vec<u64> {
        let span = nurand.high - nurand.low + 1;
        let mut counts = vec![0; span as usize];
        for first in 0..=nurand.a {
            for second in nurand.low..=nurand.high {
                counts[(((first | second) + nurand.c) % span) as usize] += 1;
            }
        }
        counts
    }

    #[test]
    fn exact_counts_agree_with_counting_by_hand() {
        for c in [0, 77, 255] {
            let names = NuRand { a: 255, c, low: 0, high: 999 };
            assert_eq!(names.pairs(), by_hand(&names));
            let toy = NuRand { a: 15, c, low: 1, high: 30 };
            assert_eq!(toy.pairs(), by_hand(&toy));
        }
    }

    /// `peak` is the hottest number's frequency over the uniform one, in tenths; `share` what
    /// the hottest tenth of the numbers gets, in tenths of a percent.
    fn check_skew(nurand: &NuRand, peak: f64, share: f64) {
        let mut counts = nurand.pairs();
        let total: u64 = counts.iter().sum();
        assert_eq!(total, u64::from(nurand.a.unsigned_abs() + 1) * counts.len() as u64);
        counts.sort_unstable_by_key(|count| Reverse(*count));
        let hottest = counts[0] as f64 * counts.len() as f64 / total as f64;
        let tenth: u64 = counts[..counts.len() / 10].iter().sum();
        let percent = 100.0 * tenth as f64 / total as f64;
        assert_eq!((format!("{hottest:.1}"), format!("{percent:.1}")), (format!("{peak:.1}"), format!("{share:.1}")));
    }

    #[test]
    fn peaks_and_shares_are_exact_and_independent_of_c() {
        let scale = Scale::FULL;
        for c in [0, 1, 123, 255] {
            let high = scale.last_names - 1;
            check_skew(&NuRand { a: scale.last_name_a, c, low: 0, high }, 25.6, 54.2);
        }
        for c in [0, 1, 259, 1_023] {
            let high = scale.customers_per_district;
            check_skew(&NuRand { a: scale.c_id_a, c, low: 1, high }, 57.7, 61.3);
        }
        for c in [0, 1, 7_911, 8_191] {
            let high = scale.items;
            check_skew(&NuRand { a: scale.ol_i_id_a, c, low: 1, high }, 194.6, 71.0);
        }
    }

    #[test]
    fn draws_follow_the_exact_counts() {
        let nurand = NuRand { a: 255, c: 91, low: 0, high: 999 };
        let exact = nurand.pairs();
        let total: u64 = exact.iter().sum();
        let draws = 1_000_000;
        let mut found = vec![0_i64; 1_000];
        let mut rng = Seed(1).rng();
        for _ in 0..draws {
            found[nurand.draw(&mut rng) as usize] += 1;
        }
        // Numbers that are never drawn are none; of the rest the chi-square has a mean of the
        // number of cells and a standard deviation of its double's root.
        let mut chi_square = 0.0;
        for (&exact, &found) in exact.iter().zip(&found) {
            let expected = exact as f64 * f64::from(draws) / total as f64;
            assert!(exact > 0 || found == 0);
            if exact > 0 {
                chi_square += (found as f64 - expected).powi(2) / expected;
            }
        }
        assert!((750.0..1_250.0).contains(&chi_square), "{chi_square}");
    }
}
