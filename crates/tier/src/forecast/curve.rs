//! Miss-ratio curves: from reuse distances of a sample for LRU, by small simulations of a sample for any policy.

use std::collections::HashMap;

use crate::block::mix;
use crate::policy::PolicyChoice;
use crate::sim::CacheSimulation;

/// Hashes are compared modulo this. Source: Waldspurger and others, FAST 2015, section 3.1.
const MODULUS: u64 = 1 << 24;

/// How a curve is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveSettings {
    /// Share of all keys that is followed, above 0 and up to 1. At least 8,000 keys should be in the sample.
    pub rate: f64,
    /// Chooses the sample.
    pub seed: u64,
}

impl CurveSettings {
    fn filter(&self) -> SpatialFilter {
        SpatialFilter::new(self.rate, self.seed)
    }
}

/// Takes a share of all keys, always the same ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpatialFilter {
    salt: u64,
    threshold: u64,
}

impl SpatialFilter {
    pub(super) fn new(rate: f64, seed: u64) -> Self {
        let threshold = ((rate.clamp(0.0, 1.0) * MODULUS as f64).round() as u64).clamp(1, MODULUS);
        Self { salt: mix(seed), threshold }
    }

    /// The share of keys that is really taken.
    pub(super) fn rate(&self) -> f64 {
        self.threshold as f64 / MODULUS as f64
    }

    #[inline]
    pub(super) fn takes(&self, key: u64) -> bool {
        mix(key ^ self.salt) % MODULUS < self.threshold
    }
}

/// Miss ratio of LRU by the number of lines.
///
/// Source: Waldspurger, Park, Garthwaite, Ahmad, "Efficient MRC construction with SHARDS", FAST 2015: a key is followed if
/// its hash is below a threshold, distances are divided by the rate, and (SHARDS-adj) the difference between the expected
/// and the real number of sampled references is added to the first bucket.
#[derive(Clone, Debug)]
pub struct MissRatioCurve {
    /// Reuse distances in the sample, by number of keys between.
    distances: Vec<f64>,
    /// Sampled references without an earlier one.
    cold: f64,
    /// References that the sample should have had.
    expected: f64,
    rate: f64,
    sampled_keys: usize,
}

impl MissRatioCurve {
    /// Follows a trace of keys.
    pub fn of_trace(trace: &[u64], settings: CurveSettings) -> Self {
        let filter = settings.filter();
        let sample: Vec<u64> = trace.iter().copied().filter(|key| filter.takes(*key)).collect();
        let mut marks = MarkTree::new(sample.len());
        let mut last: HashMap<u64, usize> = HashMap::new();
        let mut distances: Vec<f64> = Vec::new();
        let mut cold = 0.0;
        for (time, key) in sample.iter().enumerate() {
            match last.insert(*key, time) {
                None => cold += 1.0,
                Some(before) => {
                    let distance = marks.between(before + 1, time);
                    if distances.len() <= distance {
                        distances.resize(distance + 1, 0.0);
                    }
                    distances[distance] += 1.0;
                    marks.add(before, -1);
                }
            }
            marks.add(time, 1);
        }
        let rate = filter.rate();
        let expected = trace.len() as f64 * rate;
        if distances.is_empty() {
            distances.push(0.0);
        }
        distances[0] += expected - sample.len() as f64;
        Self { distances, cold, expected, rate, sampled_keys: last.len() }
    }

    /// Keys in the sample.
    pub fn sampled_keys(&self) -> usize {
        self.sampled_keys
    }

    /// Expected share of misses with so many lines, 0 to 1; 1 of an empty trace.
    pub fn miss_ratio(&self, lines: u64) -> f64 {
        let reach = (lines as f64 * self.rate).ceil() as usize;
        let hits: f64 = self.distances.iter().take(reach).sum();
        if self.expected > 0.0 { (1.0 - hits / self.expected).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Share of references to keys that were never seen before, 0 to 1.
    pub fn cold_ratio(&self) -> f64 {
        if self.expected > 0.0 { (self.cold / self.expected).min(1.0) } else { 0.0 }
    }
}

/// Sums over marks at times: a binary indexed tree. Source: Fenwick, Software: Practice and Experience 24(3), 1994.
struct MarkTree {
    sums: Vec<i64>,
}

impl MarkTree {
    fn new(times: usize) -> Self {
        Self { sums: vec![0; times + 1] }
    }

    fn add(&mut self, time: usize, change: i64) {
        let mut at = time + 1;
        while at < self.sums.len() {
            self.sums[at] += change;
            at += at & at.wrapping_neg();
        }
    }

    fn before(&self, time: usize) -> i64 {
        let (mut at, mut sum) = (time, 0);
        while at > 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }

    /// Marks from one time up to another, which is not counted.
    fn between(&self, from: usize, to: usize) -> usize {
        usize::try_from(self.before(to) - self.before(from)).expect("marks are not negative")
    }
}

/// Miss ratios of any policy with so many lines each, by simulations of caches as small as the sample.
///
/// Source: Waldspurger, Saemundsson, Ahmad, Park, "Cache modeling and optimization using miniature simulations", USENIX
/// ATC 2017. The same correction as for SHARDS-adj is made.
pub fn simulated_curve(trace: &[u64], choice: PolicyChoice, lines: &[u32], settings: CurveSettings) -> Vec<f64> {
    let filter = settings.filter();
    let rate = filter.rate();
    let sample: Vec<u64> = trace.iter().copied().filter(|key| filter.takes(*key)).collect();
    let expected = trace.len() as f64 * rate;
    let one = |lines: &u32| {
        let small = ((f64::from(*lines) * rate).round() as u32).max(1);
        let mut cache = CacheSimulation::new(choice, small);
        let misses = sample.iter().filter(|key| !cache.access(**key)).count() as f64;
        if expected > 0.0 { (misses / expected).clamp(0.0, 1.0) } else { 1.0 }
    };
    lines.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys whose frequency falls as 1 / rank, mixed with runs of neighbours.
    fn trace(count: u64, keys: f64) -> Vec<u64> {
        let uniform = |index: u64| (mix(index) >> 11) as f64 / (1_u64 << 53) as f64;
        (0..count)
            .map(|index| match index % 10 {
                0 => 1_000_000 + index / 10 % 30_000,
                _ => mix(keys.powf(uniform(index)) as u64) >> 20,
            })
            .collect()
    }

    const SIZES: [u32; 6] = [500, 2_000, 8_000, 20_000, 40_000, 80_000];

    fn full(trace: &[u64], choice: PolicyChoice) -> Vec<f64> {
        SIZES.iter().map(|lines| 1.0 - CacheSimulation::hit_ratio(choice, *lines, trace)).collect()
    }

    fn mean_error(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / a.len() as f64
    }

    #[test]
    fn a_whole_sample_gives_the_curve_of_lru_exactly() {
        let trace = trace(60_000, 40_000.0);
        let curve = MissRatioCurve::of_trace(&trace, CurveSettings { rate: 1.0, seed: 1 });
        for (lines, full) in SIZES.iter().zip(full(&trace, PolicyChoice::Lru)) {
            assert!((curve.miss_ratio(u64::from(*lines)) - full).abs() < 1e-9, "{lines}");
        }
    }

    #[test]
    fn a_sample_errs_by_less_than_two_points_in_the_mean() {
        let trace = trace(400_000, 200_000.0);
        let exact = full(&trace, PolicyChoice::Lru);
        for seed in 1..4 {
            let curve = MissRatioCurve::of_trace(&trace, CurveSettings { rate: 0.2, seed });
            assert!(curve.sampled_keys() >= 8_000, "{}", curve.sampled_keys());
            let sampled: Vec<_> = SIZES.iter().map(|lines| curve.miss_ratio(u64::from(*lines))).collect();
            let error = mean_error(&sampled, &exact);
            assert!(error <= 0.02, "seed {seed}: {error:.4}, {sampled:?} {exact:?}");
        }
    }

    #[test]
    fn small_simulations_err_by_less_than_two_points_in_the_mean() {
        let trace = trace(400_000, 200_000.0);
        for choice in [PolicyChoice::S3Fifo1, PolicyChoice::Arc] {
            let settings = CurveSettings { rate: 0.2, seed: 5 };
            let error = mean_error(&simulated_curve(&trace, choice, &SIZES, settings), &full(&trace, choice));
            assert!(error <= 0.02, "{}: {error:.4}", choice.name());
        }
    }

    #[test]
    fn an_empty_trace_misses_always() {
        let curve = MissRatioCurve::of_trace(&[], CurveSettings { rate: 0.5, seed: 1 });
        assert!((curve.miss_ratio(100) - 1.0).abs() < 1e-12 && curve.cold_ratio() == 0.0);
    }
}
