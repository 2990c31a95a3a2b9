//! The median of rounds, and the ratio of pairs with its confidence interval.

/// A ratio: the geometric mean over pairs, and its 95 % confidence interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CostRatio {
    value: f64,
    interval: (f64, f64),
}

/// 97.5 % points of Student's distribution with 11, 12, 13 … degrees of freedom. Source: any table; beyond it the last one, which is wider.
const STUDENT: [f64; 10] = [2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086];
/// Pairs of the first of them.
const FEWEST: usize = 12;

/// The ratio of at least twelve pairs, by Student's interval of the mean logarithm.
pub(crate) fn of_pairs(pairs: impl Iterator<Item = (f64, f64)>) -> CostRatio {
    let logs: Vec<f64> = pairs.map(|(one, other)| (one / other).ln()).collect();
    assert!(logs.len() >= FEWEST, "{} pairs are too few", logs.len());
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = STUDENT[(logs.len() - FEWEST).min(STUDENT.len() - 1)] * (variance / n).sqrt();
    CostRatio { value: mean.exp(), interval: ((mean - half).exp(), (mean + half).exp()) }
}

/// The median, between the two in the middle of an even number.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

impl std::fmt::Display for CostRatio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} [{:.2}, {:.2}]", self.value, self.interval.0, self.interval.1)
    }
}
