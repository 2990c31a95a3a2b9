//! Latency from histograms per interval: merged bucket for bucket, percentiles with intervals that come
//! from resampling intervals, never requests. Percentiles are never averaged.

mod decode;
mod sparse;

pub use sparse::{Sparse, histograms_read};

use super::autocorrelation::long_run;
use super::bootstrap::FEWEST_SAMPLES;
use super::distribution::student_quantile;
use super::quantity::{Interval, Quantity, Unit};

/// Width of a bucket of a histogram with three digits, as a share of its values.
const BUCKET_WIDTH: f64 = 1e-3;

/// A percentile with the error of the share of values above it: a confidence interval at any level is read back
/// through the merged distribution.
#[derive(Clone, Debug)]
pub struct Quantile {
    p: f64,
    value: u64,
    /// Standard error on the logit scale of the share.
    error: f64,
    freedom: f64,
    total: Sparse,
}

impl Quantile {
    /// The percentile, ns.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Degrees of freedom of its error.
    pub fn freedom(&self) -> f64 {
        self.freedom
    }

    /// Shares of values between which the percentile lies with confidence 1 − `level`.
    fn shares(&self, level: f64) -> (f64, f64) {
        let half = student_quantile(1.0 - level / 2.0, self.freedom) * self.error;
        let logit = (self.p / (1.0 - self.p)).ln();
        let share_at = |logit: f64| 1.0 / (1.0 + (-logit).exp());
        (share_at(logit - half), share_at(logit + half))
    }

    /// Bounds with confidence 1 − `level`, ns, never closer than the width of a bucket; 0 or infinite where less than one
    /// value lies beyond a share.
    pub fn bounds(&self, level: f64) -> (f64, f64) {
        let (low, high) = self.shares(level);
        let count = self.total.count() as f64;
        let end = |p: f64| self.total.percentile(p).map_or(f64::NAN, |value| value as f64);
        let below = if low * count < 1.0 { 0.0 } else { end(low) * (1.0 - BUCKET_WIDTH) };
        let above = if (1.0 - high) * count < 1.0 { f64::INFINITY } else { end(high) };
        (below, above)
    }
}

/// The histograms of one operation kind over the intervals of a measured window, merged once.
#[derive(Clone, Debug)]
pub struct Latencies<'a> {
    intervals: Vec<&'a Sparse>,
    total: Sparse,
}

impl<'a> Latencies<'a> {
    /// The latencies of one histogram per interval, in order, an empty one where nothing was completed.
    pub fn new(intervals: impl IntoIterator<Item = &'a Sparse>) -> Self {
        let intervals: Vec<&Sparse> = intervals.into_iter().collect();
        Self { total: Sparse::merged(intervals.iter().copied()), intervals }
    }

    /// The merged histogram.
    pub fn total(&self) -> &Sparse {
        &self.total
    }

    /// The percentile `p` in (0, 1) in nanoseconds, n = recorded values.
    ///
    /// The share of values above the percentile is a ratio of two sums over intervals; its error follows
    /// from the block bootstrap over intervals, and its interval on the logit scale is read back through
    /// the merged distribution. Source: Woodruff, Journal of the American Statistical Association 47 (1952).
    pub fn percentile(&self, p: f64) -> Quantity {
        let Some(value) = self.total.percentile(p) else {
            return Quantity::new(f64::NAN, Unit::NANOSECONDS, 0, Interval::none("nothing was recorded"));
        };
        Quantity::new(value as f64, Unit::NANOSECONDS, self.total.count(), self.percentile_interval(p, value))
    }

    fn percentile_interval(&self, p: f64, value: u64) -> Interval {
        let quantile = match self.quantile(p) {
            Ok(quantile) => quantile,
            Err(why) => return Interval::none(why),
        };
        let (low, high) = quantile.shares(0.05);
        let beyond = (1.0 - high) * self.total.count() as f64;
        if beyond < 1.0 {
            let above = self.total.count_above(value);
            return Interval::none(format!("the {above} values above it are too few for an upper bound"));
        }
        let end = |p: f64| self.total.percentile(p).map_or(f64::NAN, |v| v as f64);
        Interval::known(end(low), end(high), "block bootstrap over intervals, Woodruff's inversion")
    }

    /// The percentile `p` in (0, 1) with its error, for comparing it with another one.
    ///
    /// # Errors
    /// Why it has no error, as a lower-case fragment.
    pub fn quantile(&self, p: f64) -> Result<Quantile, String> {
        if let Some(why) = self.why_no_interval() {
            return Err(why);
        }
        let value = self.total.percentile(p).filter(|_| p > 0.0 && p < 1.0);
        let value = value.ok_or("minimum and maximum have no interval")?;
        let share = self.total.count_above(value) as f64 / self.total.count() as f64;
        let excess: Vec<f64> = self
            .intervals
            .iter()
            .map(|interval| interval.count_above(value) as f64 - share * interval.count() as f64)
            .collect();
        let noise = long_run(&excess, 1);
        let error = (noise.variance * excess.len() as f64).sqrt() / self.total.count() as f64;
        Ok(Quantile { p, value, error: error / (p * (1.0 - p)), freedom: noise.freedom, total: self.total.clone() })
    }

    /// The mean in nanoseconds, n = recorded values, as a ratio of two sums over intervals.
    pub fn mean(&self) -> Quantity {
        let value = self.total.mean();
        let interval = match self.mean_error() {
            Err(why) => Interval::none(why),
            Ok((error, freedom)) => {
                let half = student_quantile(0.975, freedom) * error;
                Interval::known(value - half, value + half, "block bootstrap over intervals, ratio of sums")
            }
        };
        Quantity::new(value, Unit::NANOSECONDS, self.total.count(), interval)
    }

    /// Standard error of the mean, ns, and its degrees of freedom.
    ///
    /// # Errors
    /// Why there is none, as a lower-case fragment.
    pub fn mean_error(&self) -> Result<(f64, f64), String> {
        if let Some(why) = self.why_no_interval() {
            return Err(why);
        }
        let value = self.total.mean();
        let of_interval = |part: &Sparse| part.sum() - value * part.count() as f64;
        let excess: Vec<f64> = self.intervals.iter().copied().map(of_interval).collect();
        let noise = long_run(&excess, 1);
        Ok(((noise.variance * excess.len() as f64).sqrt() / self.total.count() as f64, noise.freedom))
    }

    fn why_no_interval(&self) -> Option<String> {
        if self.total.count() == 0 {
            return Some("nothing was recorded".to_owned());
        }
        let n = self.intervals.len();
        (n < FEWEST_SAMPLES).then(|| format!("only {n} intervals; at least {FEWEST_SAMPLES} are needed"))
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    use super::super::random::Random;
    use super::*;
    use crate::noise::autoregressive;

    fn histogram(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("valid bounds");
        for value in values {
            histogram.record(*value).expect("in range");
        }
        histogram
    }

    fn payload(histogram: &Histogram<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("serialises");
        bytes
    }

    /// Log-normal latencies around 1 ms whose level wanders from interval to interval.
    fn drawn(seed: u64, intervals: usize, each: usize) -> Vec<Vec<u64>> {
        let level = autoregressive(seed, intervals, 0.5);
        let mut random = Random::stream(seed, 5);
        level
            .iter()
            .map(|l| (0..each).map(|_| (1e6 * (0.1 * l + 0.5 * random.normal()).exp()) as u64).collect())
            .collect()
    }

    #[test]
    fn merged_payloads_equal_direct_recording_bucket_for_bucket() {
        let parts = drawn(3, 16, 500);
        let direct = histogram(&parts.concat());
        let read: Vec<Sparse> = parts
            .iter()
            .map(|values| Sparse::from_v2_deflate(&payload(&histogram(values))).expect("decodes"))
            .collect();
        let merged = Sparse::merged(&read);
        assert_eq!(merged, Sparse::from_histogram(&direct));
        for p in [0.5, 0.9, 0.99, 0.999, 1.0] {
            assert_eq!(merged.percentile(p), Some(direct.value_at_quantile(p)), "p {p}");
        }
        assert_eq!(merged.count(), 8_000);
        assert!((merged.mean() / direct.mean() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn damaged_payloads_are_refused_with_a_remedy() {
        let error = Sparse::from_v2_deflate(b"not a histogram").expect_err("must refuse");
        assert!(error.to_string().contains("`proofload status` says whether its seal holds"), "{error}");
    }

    #[test]
    fn percentiles_and_means_cover() {
        let (spread, trials) = (0.26f64.sqrt(), 250);
        let truth = |z: f64| 1e6 * (z * spread).exp();
        let (mut p50, mut p99, mut mean) = (0, 0, 0);
        for seed in 0..trials {
            let intervals: Vec<Sparse> =
                drawn(seed, 40, 100).iter().map(|v| Sparse::from_histogram(&histogram_small(v))).collect();
            let latencies = Latencies::new(&intervals);
            let covers = |quantity: Quantity, truth: f64| {
                let (low, high) = quantity.interval().bounds().expect("an interval");
                usize::from(low <= truth && truth <= high)
            };
            p50 += covers(latencies.percentile(0.5), truth(0.0));
            p99 += covers(latencies.percentile(0.99), truth(2.326_347_9));
            mean += covers(latencies.mean(), 1e6 * 0.13f64.exp());
        }
        for (name, covered) in [("p50", p50), ("p99", p99), ("mean", mean)] {
            let share = 100.0 * covered as f64 / trials as f64;
            println!("latency {name}, 40 intervals of 100: nominal 95 % covers {share:.1} %");
            assert!((91.0..=98.8).contains(&share), "{name}: {share}");
        }
    }

    /// Same buckets over a smaller range: quick to make.
    fn histogram_small(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 100_000_000, 3).expect("valid bounds");
        for value in values {
            histogram.record(*value).expect("in range");
        }
        histogram
    }

    #[test]
    fn too_few_values_have_no_interval_and_say_why() {
        let few = vec![Sparse::from_histogram(&histogram(&[5, 7])); 3];
        let why = Interval::none("only 3 intervals; at least 10 are needed");
        assert_eq!(*Latencies::new(&few).percentile(0.5).interval(), why);
        let many = vec![Sparse::from_histogram(&histogram(&[5, 7])); 30];
        let tail = Latencies::new(&many).percentile(0.999_9);
        assert!(tail.interval().bounds().is_none_or(|(_, high)| high <= 7.0), "{tail}");
        let empty = Latencies::new(&[]).percentile(0.99);
        assert_eq!(*empty.interval(), Interval::none("nothing was recorded"));
    }
}
