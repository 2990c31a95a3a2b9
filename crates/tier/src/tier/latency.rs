//! Histograms of times: 64 parts of each power of two, so that a value is known within 1.6 %.

use std::time::Duration;

/// Parts of a power of two, as a number of bits.
const PART_BITS: u32 = 6;
/// Low bits of a bucket that lies last in an eighth of a power of two.
const EIGHTH: usize = (1 << (PART_BITS - 3)) - 1;
const BUCKETS: usize = (64 - PART_BITS as usize + 1) << PART_BITS;

/// What took the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyClass {
    /// A request that only the cache served.
    Hit,
    /// A request that waited for the origin.
    Miss,
    /// A flush.
    Flush,
}

/// Counts of times by nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyHistogram {
    counts: Vec<u64>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS] }
    }
}

impl LatencyHistogram {
    /// Counts a time.
    pub fn record(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanoseconds)] += 1;
    }

    /// Number of times.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The least time that at least a share (0 to 1) of all do not exceed; `None` when it is empty.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let count = self.count();
        let wanted = ((count as f64 * share).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        let found = self.counts.iter().position(|bucket| {
            seen += bucket;
            seen >= wanted
        });
        found.map(|bucket| Duration::from_nanos(upper(bucket)))
    }

    /// Counts by the highest time of each eighth of a power of two, ns, in rising order and without empty ones.
    pub fn eighths(&self) -> Vec<(u64, u64)> {
        let mut eighths: Vec<(u64, u64)> = Vec::new();
        for (bucket, count) in self.buckets() {
            let highest = upper(usize::from(bucket) | EIGHTH);
            match eighths.last_mut() {
                Some((known, sum)) if *known == highest => *sum += count,
                _ => eighths.push((highest, count)),
            }
        }
        eighths
    }

    /// Numbers and counts of the buckets that are not empty, in rising order.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u16, u64)> {
        let numbered = (0..=u16::MAX).zip(self.counts.iter().copied());
        numbered.filter(|(_, count)| *count > 0)
    }

    /// A histogram of such buckets; `None` when there is no such bucket, or the sum of all counts has no 64 bits.
    pub(crate) fn from_buckets(buckets: impl Iterator<Item = (u16, u64)>) -> Option<Self> {
        let (mut histogram, mut sum) = (Self::default(), 0_u64);
        for (bucket, count) in buckets {
            sum = sum.checked_add(count)?;
            *histogram.counts.get_mut(usize::from(bucket))? += count;
        }
        Some(histogram)
    }

    /// What was counted since an earlier state.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = self.counts.iter().zip(&earlier.counts).map(|(now, then)| now.saturating_sub(*then));
        Self { counts: counts.collect() }
    }
}

fn bucket(nanoseconds: u64) -> usize {
    let bits = 64 - nanoseconds.leading_zeros();
    let shift = bits.saturating_sub(PART_BITS + 1);
    let parts = usize::try_from(nanoseconds >> shift).expect("seven bits");
    ((shift as usize) << PART_BITS) + parts
}

/// The largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    let row = bucket >> PART_BITS;
    let shift = row.saturating_sub(1);
    let parts = (bucket - (shift << PART_BITS)) as u64;
    (parts + 1).checked_shl(u32::try_from(shift).expect("below 64")).unwrap_or(0).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_known_within_one_part_in_sixty_four() {
        for value in (0..63).flat_map(|bit| [1_u64 << bit, (1 << bit) + (1 << bit) / 3, (2 << bit) - 1]) {
            let upper = upper(bucket(value));
            assert!(upper >= value && upper - value <= value / 64, "{value} became {upper}");
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn an_eighth_holds_every_time_within_an_eighth_of_its_end() {
        let mut histogram = LatencyHistogram::default();
        let times: Vec<u64> =
            (6..63).flat_map(|bit| [1_u64 << bit, (1 << bit) + (1 << bit) / 3, (2 << bit) - 1]).collect();
        for time in &times {
            histogram.record(Duration::from_nanos(*time));
        }
        let eighths = histogram.eighths();
        assert!(eighths.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!(eighths.iter().map(|(_, count)| count).sum::<u64>(), histogram.count());
        for time in times {
            let (highest, _) = eighths.iter().find(|(highest, _)| *highest >= time).expect("it is counted");
            assert!(highest - time <= time / 8, "{time} became {highest}");
        }
        histogram.record(Duration::MAX);
        assert_eq!(histogram.eighths().last(), Some(&(u64::MAX, 1)));
    }

    #[test]
    fn quantiles_count_from_below() {
        let mut histogram = LatencyHistogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (1..=100).for_each(|n| histogram.record(Duration::from_nanos(n)));
        let early = histogram.clone();
        histogram.record(Duration::from_secs(1));
        assert_eq!(early.quantile(0.5), Some(Duration::from_nanos(50)));
        assert_eq!(histogram.since(&early).count(), 1);
        assert!(histogram.quantile(1.0).unwrap() >= Duration::from_secs(1));
    }
}
