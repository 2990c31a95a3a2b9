//! Corrects p values for their number. No difference is printed without this correction.

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
    use super::*;

    #[test]
    fn holm_matches_the_worked_example() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        let rounded: Vec<String> = corrected.iter().map(|p| format!("{p:.3}")).collect();
        assert_eq!(rounded, ["0.030", "0.060", "0.060", "0.020"]);
        assert!(holm(&[]).is_empty());
    }
}
