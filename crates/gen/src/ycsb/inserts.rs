//! Places of the inserts among the operations, and the record that each of them adds.
//!
//! Inserts are stratified: with k of a million operations, stratum s covers the operations from floor(s·10^6/k) to
//! below floor((s+1)·10^6/k), and exactly one of them, at a hashed place, is the insert of record N0 + s. So record
//! numbers are dense and grow with the index, and both "which record" and "how many before" take constant time.

use super::mix::{Kind, Mix, WHOLE};
use super::stream::Stream;
use crate::Seed;

/// The places of the inserts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inserts {
    seed: Seed,
    millionths: u64,
}

impl Inserts {
    pub(super) fn new(seed: Seed, mix: &Mix) -> Self {
        Self { seed, millionths: mix.millionths(Kind::Insert).into() }
    }

    /// The number of the insert, from 0, if operation `index` is one.
    #[inline]
    pub(super) fn at(&self, index: u64) -> Option<u64> {
        if self.millionths == 0 {
            return None;
        }
        let stratum = self.stratum_of(index);
        (self.place_in(stratum) == u128::from(index)).then_some(stratum)
    }

    /// Number of inserts among the operations below `index`.
    #[inline]
    pub(super) fn before(&self, index: u64) -> u64 {
        if self.millionths == 0 {
            return 0;
        }
        let stratum = self.stratum_of(index);
        stratum + u64::from(self.place_in(stratum) < u128::from(index))
    }

    /// The only s with start(s) <= index < start(s + 1); as start(s) <= index just when s·10^6 < (index + 1)·k.
    #[inline]
    fn stratum_of(&self, index: u64) -> u64 {
        match index.checked_add(1).and_then(|next| next.checked_mul(self.millionths)) {
            Some(product) => (product - 1) / u64::from(WHOLE),
            None => {
                let product = (u128::from(index) + 1) * u128::from(self.millionths);
                ((product - 1) / u128::from(WHOLE)) as u64
            }
        }
    }

    /// The operation of stratum `stratum` that is the insert.
    #[inline]
    fn place_in(&self, stratum: u64) -> u128 {
        let (start, end) = (self.start(stratum.into()), self.start(u128::from(stratum) + 1));
        start + u128::from(Stream::new(self.seed, stratum).below((end - start) as u64))
    }

    /// floor(stratum · 10^6 / k)
    #[inline]
    fn start(&self, stratum: u128) -> u128 {
        let product = stratum * u128::from(WHOLE);
        match u64::try_from(product) {
            Ok(product) => (product / self.millionths).into(),
            Err(_) => product / u128::from(self.millionths),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mix::Shares;
    use super::*;

    fn check(share: f64, operations: u64) {
        let mix = Mix::new(&Shares { insert: share, read: 1.0 - share, ..Shares::NONE }).unwrap();
        let inserts = Inserts::new(Seed(7), &mix);
        let mut count = 0;
        for index in 0..operations {
            assert_eq!(inserts.before(index), count, "before {index} at share {share}");
            if let Some(number) = inserts.at(index) {
                assert_eq!(number, count, "operation {index} at share {share}");
                count += 1;
            }
        }
        let expected = operations as f64 * share;
        assert!((count as f64 - expected).abs() <= 2.0, "{count} of {operations} at share {share}");
    }

    #[test]
    fn inserts_are_dense_and_counted_as_by_hand() {
        for share in [0.0, 0.000_001, 0.000_003, 0.05, 0.1, 1.0 / 3.0, 0.4999, 0.5, 0.7, 0.95, 0.999_999, 1.0] {
            check(share, 30_000);
        }
        check(0.000_001, 3_000_000);
    }

    #[test]
    fn the_end_of_all_indexes_is_reached_without_overflow() {
        for share in [0.000_001, 0.05, 1.0] {
            let mix = Mix::new(&Shares { insert: share, read: 1.0 - share, ..Shares::NONE }).unwrap();
            let inserts = Inserts::new(Seed(7), &mix);
            for start in [1 << 40, 10_000_000_000_000, 1 << 60, u64::MAX - 1_000] {
                for index in start..start + 1_000 {
                    let step = inserts.before(index + 1) - inserts.before(index);
                    assert_eq!(step, u64::from(inserts.at(index).is_some()), "operation {index}");
                    assert_eq!(inserts.at(index).unwrap_or(inserts.before(index)), inserts.before(index));
                }
            }
        }
    }
}
