//! The filled buckets of a histogram, eight bytes each: a long load has some hundred million of them.

use super::decode::{claimed, decode};
use crate::error::Error;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Bits of a bucket's count.
const COUNT_BITS: u32 = 40;

/// Largest count of one bucket: 35 years of one operation each millisecond.
const MOST: u64 = (1 << COUNT_BITS) - 1;

/// Bits behind the leading one by which the end of a bucket is told: histograms have five significant digits at most, so that no bucket needs more.
const FRACTION_BITS: u32 = 17;

/// Bits of a code that are zero for every bucket of a histogram with up to three digits.
const SPARE_BITS: u32 = 7;

/// Parts from which on they are added in a table of all buckets instead of pairwise.
const MANY: usize = 8;

/// Most bytes of counts that are read: a histogram with five digits over all values has 113 MB, nine bytes for each of its buckets.
const MOST_CLAIMED: u32 = 128 << 20;

thread_local! {
    static READ: Cell<u64> = const { Cell::new(0) };
}

/// Counts the stored histograms that this thread has decoded so far: reading one is most of the work of a long record, and none needs it twice.
pub fn histograms_read() -> u64 {
    READ.get()
}

/// A filled bucket: the code of its end above its count. Codes rise with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket(u64);

impl Bucket {
    /// The bucket whose values lie below `end`, the first value beyond it; 0 stands for 2^64.
    pub(super) fn below(end: u64, count: u64) -> Self {
        Self(code(end) << COUNT_BITS | count.min(MOST))
    }

    /// The code of its end.
    fn code(self) -> u64 {
        self.0 >> COUNT_BITS
    }

    /// The highest value equivalent to it.
    fn value(self) -> u64 {
        value(self.code())
    }

    fn count(self) -> u64 {
        self.0 & MOST
    }

    /// The same bucket with more in it.
    fn with(self, more: u64) -> Self {
        Self(self.code() << COUNT_BITS | (self.count() + more).min(MOST))
    }
}

/// The end of a bucket as a number that rises with it: place of the leading one, then the bits behind it; 0 stands for 2^64.
fn code(end: u64) -> u64 {
    if end == 0 {
        return u64::from(u64::BITS) << FRACTION_BITS;
    }
    let zeros = end.leading_zeros();
    // What is behind the bits that are kept belongs to histograms up to the end of numbers, whose last bucket is cut.
    let fraction = (end << zeros << 1) >> (u64::BITS - FRACTION_BITS);
    u64::from(u64::BITS - 1 - zeros) << FRACTION_BITS | fraction
}

/// The last value before the end that a code stands for.
fn value(code: u64) -> u64 {
    let (place, fraction) = (code >> FRACTION_BITS, code & ((1 << FRACTION_BITS) - 1));
    let end = (u128::from(fraction | 1 << FRACTION_BITS) << place) >> FRACTION_BITS;
    u64::try_from(end - 1).unwrap_or(u64::MAX)
}

/// The filled buckets of a histogram, values upwards.
///
/// Histograms of one study share one configuration, so equal buckets have equal highest values and
/// merging is exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sparse {
    buckets: Vec<Bucket>,
    count: u64,
}

impl Sparse {
    /// Decodes a stored histogram (HdrHistogram V2 with deflate).
    ///
    /// # Errors
    /// When the bytes are not such a histogram.
    pub fn from_v2_deflate(payload: &[u8]) -> Result<Self, Error> {
        READ.set(READ.get() + 1);
        if let Some((buckets, count)) = decode(payload) {
            return Ok(Self { buckets, count });
        }
        if let Some(bytes) = claimed(payload).filter(|bytes| *bytes > MOST_CLAIMED) {
            return Err(Error::new(format!(
                "failed to read a histogram of {} bytes: it claims {bytes} bytes of counts, more than any has",
                payload.len()
            )));
        }
        Deserializer::new()
            .deserialize::<u64, _>(&mut std::io::Cursor::new(payload))
            .map(|histogram| Self::from_histogram(&histogram))
            .map_err(|cause| {
                Error::new(format!(
                    "failed to read a histogram of {} bytes: {cause:?}; is the record damaged? `proofload status` says whether its seal holds",
                    payload.len()
                ))
            })
    }

    /// The filled buckets of `histogram`.
    pub fn from_histogram(histogram: &Histogram<u64>) -> Self {
        let buckets = histogram.iter_recorded().map(|step| {
            let highest = histogram.highest_equivalent(step.value_iterated_to());
            Bucket::below(highest.wrapping_add(1), step.count_since_last_iteration())
        });
        Self { buckets: buckets.collect(), count: histogram.len() }
    }

    /// A histogram of counts by the highest value of each bucket, in any order.
    pub fn from_buckets(buckets: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut counts = BTreeMap::<u64, u64>::new();
        for (highest, count) in buckets.into_iter().filter(|(_, count)| *count > 0) {
            let sum = counts.entry(highest).or_default();
            *sum = sum.saturating_add(count);
        }
        let count = counts.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let bucket = |(highest, count): (u64, u64)| Bucket::below(highest.wrapping_add(1), count);
        Self { buckets: counts.into_iter().map(bucket).collect(), count }
    }

    /// The sum of histograms, bucket for bucket.
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let parts: Vec<&Self> = parts.into_iter().filter(|part| part.count > 0).collect();
        match parts.as_slice() {
            [] => Self::default(),
            [only] => (*only).clone(),
            [one, other] => one.plus(other),
            many if many.len() >= MANY && many.iter().all(|part| part.is_coarse()) => Self::summed(many),
            many => Self::paired(many),
        }
    }

    /// The sum in a table of all buckets, of histograms with up to three digits.
    fn summed(parts: &[&Self]) -> Self {
        let mut table = vec![0_u64; (u64::from(u64::BITS + 1) << (FRACTION_BITS - SPARE_BITS)) as usize];
        for bucket in parts.iter().flat_map(|part| &part.buckets) {
            table[(bucket.code() >> SPARE_BITS) as usize] += bucket.count();
        }
        let filled = table.into_iter().enumerate().filter(|(_, count)| *count > 0);
        let bucket =
            |(place, count): (usize, u64)| Bucket(((place as u64) << SPARE_BITS) << COUNT_BITS | count.min(MOST));
        Self { buckets: filled.map(bucket).collect(), count: parts.iter().map(|part| part.count).sum() }
    }

    /// The sum of pairs, then of theirs, so that a part is touched about log2(parts) times whatever the number of buckets.
    fn paired(parts: &[&Self]) -> Self {
        // Sums of 1, 2, 4, … parts, the largest first.
        let mut sums: Vec<(u32, Self)> = Vec::new();
        for part in parts {
            let (mut rank, mut sum) = (0, (*part).clone());
            while let Some((_, before)) = sums.pop_if(|(of, _)| *of == rank) {
                (rank, sum) = (rank + 1, before.plus(&sum));
            }
            sums.push((rank, sum));
        }
        sums.into_iter().rev().map(|(_, sum)| sum).reduce(|sum, before| before.plus(&sum)).unwrap_or_default()
    }

    /// The sum of two histograms.
    fn plus(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.buckets.as_slice(), other.buckets.as_slice());
        let mut buckets = Vec::with_capacity(left.len().max(right.len()));
        while let (Some(a), Some(b)) = (left.first(), right.first()) {
            let (from_left, from_right) = (a.code() <= b.code(), b.code() <= a.code());
            buckets.push(match (from_left, from_right) {
                (true, true) => a.with(b.count()),
                (true, false) => *a,
                _ => *b,
            });
            left = &left[usize::from(from_left)..];
            right = &right[usize::from(from_right)..];
        }
        buckets.extend_from_slice(left);
        buckets.extend_from_slice(right);
        buckets.shrink_to_fit();
        Self { buckets, count: self.count + other.count }
    }

    /// Tells whether no bucket is finer than those of three digits.
    fn is_coarse(&self) -> bool {
        self.buckets.iter().fold(0, |codes, bucket| codes | bucket.code()) & ((1 << SPARE_BITS) - 1) == 0
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Highest value of the last filled bucket.
    pub fn max(&self) -> Option<u64> {
        self.buckets.last().map(|bucket| bucket.value())
    }

    /// (highest value, count) of the filled buckets, values upwards.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets.iter().map(|bucket| (bucket.value(), bucket.count()))
    }

    /// The value at quantile `p` in [0, 1] as HdrHistogram defines it: the highest value of the first bucket
    /// at which the cumulated count reaches p × count, and at least 1.
    pub fn percentile(&self, p: f64) -> Option<u64> {
        let wanted = ((p * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let found = self.buckets.iter().find(|bucket| {
            seen += bucket.count();
            seen >= wanted
        });
        found.map(|bucket| bucket.value())
    }

    /// Mean of the recorded values, each taken as its bucket's highest value (0.1 % too high at most with
    /// three digits); NaN when empty.
    pub fn mean(&self) -> f64 {
        self.sum() / self.count as f64
    }

    pub(super) fn sum(&self) -> f64 {
        self.buckets().map(|(value, count)| value as f64 * count as f64).sum()
    }

    /// Number of values in buckets whose highest value lies above `limit`.
    pub(super) fn count_above(&self, limit: u64) -> u64 {
        // A bucket ends at or below a number if its code is that of the number or a lower one, since the end of a bucket has no bits that a code drops.
        let last = code(limit.wrapping_add(1));
        let first = self.buckets.partition_point(|bucket| bucket.code() <= last);
        self.buckets[first..].iter().map(|bucket| bucket.count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    #[test]
    fn counts_by_highest_value_are_a_histogram_in_any_order() {
        let found = Sparse::from_buckets([(4095, 2), (127, 1), (4095, 3), (255, 0), (u64::MAX, 1)]);
        assert_eq!(found.buckets().collect::<Vec<_>>(), [(127, 1), (4095, 5), (u64::MAX, 1)]);
        assert_eq!((found.count(), found.percentile(0.5)), (7, Some(4095)));
        let doubled = Sparse::merged([&found, &found]);
        assert_eq!((doubled.count(), doubled.count_above(4095)), (14, 2));
    }

    /// A histogram as its buckets were read before they were packed.
    fn plain(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
        let steps = histogram.iter_recorded();
        steps
            .map(|step| (histogram.highest_equivalent(step.value_iterated_to()), step.count_since_last_iteration()))
            .collect()
    }

    #[track_caller]
    fn check(low: u64, high: u64, digits: u8, is_decoded_here: bool) {
        let mut histogram = Histogram::<u64>::new_with_bounds(low, high, digits).expect("valid bounds");
        let (mut value, mut count) = (low, 1);
        while value <= high {
            histogram.record_n(value, count * count).expect("in range");
            (value, count) = (value + value / 97 + count % 3, count + 1);
        }
        histogram.record(high).expect("in range");
        let mut payload = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut payload).expect("serialises");
        assert_eq!(decode(&payload).is_some(), is_decoded_here);
        let read = Sparse::from_v2_deflate(&payload).expect("decodes");
        assert_eq!(read, Sparse::from_histogram(&histogram));
        assert_eq!(read.buckets().collect::<Vec<_>>(), plain(&histogram));
        assert_eq!(read.count(), histogram.len());
        let buckets = plain(&histogram);
        let some = buckets.iter().step_by(buckets.len().div_ceil(50));
        for limit in some.flat_map(|(highest, _)| [highest - 1, *highest, highest + 1]) {
            let above = buckets.iter().filter(|(highest, _)| *highest > limit).map(|(_, count)| count);
            assert_eq!(read.count_above(limit), above.sum::<u64>(), "above {limit}");
        }
        assert_eq!((read.count_above(0), read.count_above(u64::MAX)), (read.count(), 0));
    }

    #[test]
    fn buckets_are_those_of_the_library_for_every_precision() {
        for digits in 0..=5 {
            check(1, 3_600_000_000_000, digits, true);
        }
        check(1, 2, 3, true);
        check(1, 1 << 62, 3, true);
        check(1_000, 3_600_000_000_000, 3, false);
    }

    #[test]
    fn sums_are_equal_whichever_way_they_are_formed() {
        let of = |digits: u8| -> Vec<Sparse> {
            let part = |number: u64| {
                let mut histogram = Histogram::<u64>::new_with_bounds(1, 1 << 40, digits).expect("valid bounds");
                (0..50).for_each(|step| histogram.record_n(1 + step * number * 977, number).expect("in range"));
                Sparse::from_histogram(&histogram)
            };
            (0..40).map(part).collect()
        };
        let coarse = of(3);
        let parts: Vec<&Sparse> = coarse.iter().collect();
        assert_eq!(Sparse::summed(&parts), Sparse::paired(&parts));
        assert!(coarse.iter().all(Sparse::is_coarse) && !of(5).iter().all(Sparse::is_coarse));
        let fine = of(5);
        assert_eq!(Sparse::merged(&fine), fine.iter().fold(Sparse::default(), |sum, part| sum.plus(part)));
    }

    #[test]
    fn a_histogram_that_claims_gigabytes_is_refused_before_there_is_room_for_them() {
        let mut plain = vec![0; 8];
        plain[..4].copy_from_slice(&0x1c84_9313_u32.to_be_bytes());
        plain[4..].copy_from_slice(&u32::MAX.to_be_bytes());
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut zlib, &plain).expect("compresses");
        let packed = zlib.finish().expect("compresses");
        let mut payload = 0x1c84_9314_u32.to_be_bytes().to_vec();
        payload.extend_from_slice(&u32::try_from(packed.len()).expect("a few bytes").to_be_bytes());
        payload.extend_from_slice(&packed);
        for payload in [plain, payload] {
            assert_eq!(claimed(&payload), Some(u32::MAX));
            let error = Sparse::from_v2_deflate(&payload).expect_err("it is refused").to_string();
            assert!(error.contains("claims 4294967295 bytes of counts"), "{error}");
        }
    }

    #[test]
    fn what_is_cut_or_changed_is_left_to_the_library() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 1 << 40, 3).expect("valid bounds");
        (1..200).for_each(|value| histogram.record(value * value).expect("in range"));
        let mut payload = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut payload).expect("serialises");
        for length in 0..payload.len() {
            assert_eq!(decode(&payload[..length]), None, "{length} bytes");
        }
        for place in 0..payload.len() {
            let mut changed = payload.clone();
            changed[place] ^= 1;
            if let Some((buckets, count)) = decode(&changed) {
                let library = Deserializer::new().deserialize::<u64, _>(&mut std::io::Cursor::new(&changed));
                assert_eq!(Sparse { buckets, count }, Sparse::from_histogram(&library.expect("it decodes")), "{place}");
            }
        }
    }
}
