//! How late bytes left a direction of a link: a histogram of fixed size, counted without a lock and without an allocation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Buckets of each doubling, as a power of two: each is at most a sixteenth of its values wide.
const PER_DOUBLING: u32 = 4;

/// Doublings beside the first buckets of 1 µs each: the last bucket takes all from 32 s on.
const DOUBLINGS: usize = 21;

const BUCKETS: usize = (1 << PER_DOUBLING) * (DOUBLINGS + 1);

/// The histogram.
#[derive(Debug)]
pub(super) struct Lateness([AtomicU64; BUCKETS]);

impl Lateness {
    /// Counts nothing yet.
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// Counts bytes that were so late.
    pub(super) fn count(&self, late: Duration) {
        let micros = u64::try_from(late.as_micros()).unwrap_or(u64::MAX);
        self.0[bucket(micros)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts until now.
    pub(super) fn counts(&self) -> LatenessCounts {
        LatenessCounts(self.0.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect())
    }
}

/// Counts of a histogram at a moment, or between two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LatenessCounts(Vec<u64>);

impl LatenessCounts {
    /// How often bytes left.
    pub(crate) fn releases(&self) -> u64 {
        self.0.iter().sum()
    }

    /// What was counted after an earlier moment.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self(self.0.iter().zip(&before.0).map(|(now, before)| now.saturating_sub(*before)).collect())
    }

    /// Lateness that a share of all releases did not exceed, ms: the middle of its bucket. `None` where nothing left.
    pub(crate) fn percentile(&self, share: f64) -> Option<f64> {
        let all = self.releases();
        let rank = ((share * all as f64).ceil() as u64).max(1);
        let mut counted = 0;
        let found = self.0.iter().position(|count| {
            counted += count;
            counted >= rank
        });
        found.map(|place| middle(place) / 1e3)
    }
}

fn bucket(micros: u64) -> usize {
    let Some(doubling) = micros.checked_ilog2().and_then(|log| log.checked_sub(PER_DOUBLING)) else {
        return micros as usize;
    };
    let inside = (micros >> doubling) as usize - (1 << PER_DOUBLING);
    (((doubling as usize + 1) << PER_DOUBLING) + inside).min(BUCKETS - 1)
}

/// The middle of a bucket, µs.
fn middle(bucket: usize) -> f64 {
    let first = 1 << PER_DOUBLING;
    if bucket < first {
        return bucket as f64 + 0.5;
    }
    let doubling = (bucket >> PER_DOUBLING) - 1;
    let low = (first + bucket % first) << doubling;
    low as f64 + (1_u64 << doubling) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_near_the_middle_of_its_bucket() {
        let mut last = 0;
        for micros in (0..5_000).chain((13..25).map(|power| (1 << power) - 1)).chain((13..25).map(|power| 1 << power)) {
            let off = (middle(bucket(micros)) - micros as f64).abs();
            assert!(off <= 0.5_f64.max(micros as f64 / 32.0), "{micros} µs: off by {off}");
            if micros < 5_000 {
                assert!((last..=last + 1).contains(&bucket(micros)), "{micros} µs: no bucket is left out");
                last = bucket(micros);
            }
        }
        assert_eq!([bucket(u64::MAX), bucket(40_000_000)], [BUCKETS - 1; 2]);
    }

    #[test]
    fn percentiles_are_those_of_what_was_counted_between_two_moments() {
        let lateness = Lateness::new();
        (0..1000).for_each(|_| lateness.count(Duration::from_secs(7)));
        let before = lateness.counts();
        assert_eq!(before.since(&before).percentile(0.5), None, "nothing left");
        (0..98).for_each(|_| lateness.count(Duration::from_micros(60)));
        (0..2).for_each(|_| lateness.count(Duration::from_millis(20)));
        let found = lateness.counts().since(&before);
        assert_eq!(found.releases(), 100);
        let near = |share: f64, expected: f64| {
            let found = found.percentile(share).unwrap();
            assert!((found / expected - 1.0).abs() < 0.04, "{found} ms, not {expected}");
        };
        near(0.5, 0.06);
        near(0.98, 0.06);
        near(0.99, 20.0);
    }
}
