//! Comparing points of a sweep: each as a share of the largest, and differences that stay significant
//! once their number is counted. No difference is printed without this correction.

use super::bootstrap::Estimate;
use super::distribution::student_quantile;

/// Whether two means differ, as the two-sided p value of Welch's test; `None` where a standard error is
/// missing. For correcting several at once with [`holm`]; an interval says more than a p value.
pub fn difference(a: &Estimate, b: &Estimate) -> Option<f64> {
    if a.missing.is_some() || b.missing.is_some() {
        return None;
    }
    let (va, vb) = (a.standard_error.powi(2), b.standard_error.powi(2));
    let error = (va + vb).sqrt();
    if error <= 0.0 {
        return Some(if a.value == b.value { 1.0 } else { 0.0 });
    }
    let freedom = (va + vb).powi(2) / (va * va / a.freedom + vb * vb / b.freedom);
    Some(two_sided_p((a.value - b.value).abs() / error, freedom))
}

/// The p at which Student's quantile reaches `t`, by bisection on its logarithm.
fn two_sided_p(t: f64, freedom: f64) -> f64 {
    let reaches = |p: f64| student_quantile(1.0 - p / 2.0, freedom) <= t;
    let (mut low, mut high) = (1e-12f64.ln(), 0.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if reaches(middle.exp()) { high = middle } else { low = middle }
    }
    high.exp()
}

/// p values corrected for their number, in the order given: a difference stands at 5 % when its corrected
/// p is at most 0.05. Source: Holm, Scandinavian Journal of Statistics 6 (1979).
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut corrected = vec![1.0; p.len()];
    let mut largest = 0.0f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - rank) as f64).min(1.0);
        corrected[index] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::super::bootstrap::mean_of;
    use super::*;
    use crate::noise::autoregressive;

    fn point(seed: u64, level: f64) -> Estimate {
        mean_of(&autoregressive(seed, 120, 0.5).iter().map(|x| level + x).collect::<Vec<_>>())
    }

    #[test]
    fn holm_matches_the_worked_example() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        let rounded: Vec<String> = corrected.iter().map(|p| format!("{p:.3}")).collect();
        assert_eq!(rounded, ["0.030", "0.060", "0.060", "0.020"]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn equal_systems_rarely_differ_and_different_ones_do() {
        let false_alarms = (0..600)
            .filter(|&seed| difference(&point(seed, 50.0), &point(seed + 10_000, 50.0)).is_some_and(|p| p <= 0.05));
        let share = 100.0 * false_alarms.count() as f64 / 600.0;
        println!("differences between equal systems at 5 %: {share:.1} %");
        assert!((2.0..=8.0).contains(&share), "{share}");
        assert!(difference(&point(1, 50.0), &point(2, 53.0)).expect("a p value") < 0.001);
        assert_eq!(difference(&mean_of(&[1.0]), &point(1, 1.0)), None);
    }

    #[test]
    fn the_p_value_inverts_the_quantile() {
        for (t, freedom, expected) in [(2.228, 10.0, 0.05), (1.96, 1e6, 0.05), (0.0, 5.0, 1.0)] {
            let found = two_sided_p(t, freedom);
            assert!((found - expected).abs() < 2e-3, "t {t}: {found}");
        }
    }
}
