//! Bounds that a right generator misses about once in a million runs.
//!
//! The seeds are fixed, so a test either always passes or always fails.

/// Fails unless `hits` of `trials` fit the probability `share`: within five standard deviations
/// of the binomial distribution.
#[track_caller]
pub(crate) fn check_share(what: &str, hits: usize, trials: usize, share: f64) {
    let expected = trials as f64 * share;
    let deviation = (expected * (1.0 - share)).sqrt();
    let distance = (hits as f64 - expected).abs();
    assert!(distance <= 5.0 * deviation, "{what}: {hits} of {trials}, expected {expected:.0} ± {deviation:.0}");
}

/// Fails unless the counts fit a uniform distribution: the chi-square statistic is below its
/// mean plus five standard deviations (and a margin for few cells).
#[track_caller]
pub(crate) fn check_uniform(what: &str, counts: &[usize]) {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    assert!(expected >= 20.0, "{what}: too few draws for a chi-square test");
    let chi_square: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let freedom = (counts.len() - 1) as f64;
    let limit = freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0;
    assert!(chi_square < limit, "{what}: chi-square {chi_square:.1} of {freedom} in {counts:?}");
}

/// Frequency of each number of `low..=high` among `numbers`; fails on any other number.
#[track_caller]
pub(crate) fn histogram(numbers: impl IntoIterator<Item = i64>, range: std::ops::RangeInclusive<i64>) -> Vec<usize> {
    let mut counts = vec![0; range.clone().count()];
    for number in numbers {
        assert!(range.contains(&number), "{number} is outside {range:?}");
        counts[usize::try_from(number - range.start()).expect("it is within the range")] += 1;
    }
    counts
}
