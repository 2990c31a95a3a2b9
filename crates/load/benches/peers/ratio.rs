//! Ratios of pairs with their confidence intervals.

/// A ratio: the geometric mean over pairs, and its 95 % confidence interval where there are at least three pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

/// 97.5 % points of Student's distribution with 1, 2, 3 … degrees of freedom. Source: any table; beyond it the last
/// one, which is wider.
const STUDENT: [f64; 20] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086,
];

/// The ratio of pairs, by Student's interval of the mean logarithm.
pub(crate) fn of_pairs(pairs: impl Iterator<Item = (f64, f64)>) -> Ratio {
    let logs: Vec<f64> = pairs.map(|(one, other)| (one / other).ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let student = STUDENT[(logs.len().max(2) - 2).min(STUDENT.len() - 1)];
    let half = student * (variance / n).sqrt();
    let interval = (logs.len() >= 3).then(|| ((mean - half).exp(), (mean + half).exp()));
    Ratio { value: mean.exp(), interval }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.interval {
            Some((low, high)) => write!(f, "{:.2} [{low:.2}, {high:.2}]", self.value),
            None => write!(f, "{:.2}", self.value),
        }
    }
}
