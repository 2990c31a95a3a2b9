//! The median of a few values with an interval that needs no distribution. Source: David and Nagaraja, "Order Statistics", 3rd edition,
//! 2003, section 7.1: the ranks of a binomial with a half.

use crate::quantity::{Interval, Quantity, Unit};

/// Largest chance that the median lies below the interval; as large a one that it lies above.
const TAIL: f64 = 0.025;

/// Name of the method: its interval ends at values that were seen.
pub const METHOD: &str = "order statistics";

/// Most values whose ranks are computed exactly, so that no power underflows.
const MOST_EXACT: usize = 1000;

/// The median of values with its 95 % interval, which ends at values of their own; `None` without values.
pub fn median(values: &[f64], unit: Unit) -> Option<Quantity> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let (low, high) = (*sorted.get(count.checked_sub(1)? / 2)?, *sorted.get(count / 2)?);
    let interval = match rank(count) {
        Some(rank) => Interval::known(sorted[rank - 1], sorted[count - rank], METHOD),
        None => Interval::none("a median of fewer than six"),
    };
    Some(Quantity::new(f64::midpoint(low, high), unit, count as u64, interval))
}

/// Rank, from 1, of the value that begins the interval of a median of so many; the same rank from above ends it.
fn rank(count: usize) -> Option<usize> {
    let exact = count.min(MOST_EXACT);
    let (mut chance, mut below) = (0.5f64.powi(exact as i32), 0.0);
    let mut rank = 0;
    while below + chance <= TAIL {
        below += chance;
        chance *= (exact - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    // Beyond that the middle ranks of so many are more than good enough.
    (rank > 0).then(|| rank + (count - exact) / 2)
}

/// Fewest values whose largest bounds the 95th percentile from above with 95 % confidence: 0.95^59 is below 5 %.
pub const FEWEST_FOR_P95: usize = 59;

/// The 95th percentile of values; `None` with fewer than [`FEWEST_FOR_P95`], which may all lie below it.
pub fn p95(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted.len() >= FEWEST_FOR_P95).then(|| sorted[(sorted.len() * 95).div_ceil(100) - 1])
}

/// Fewest values of each of two groups, and how much larger the gap between them is than either group's own spread.
const FEWEST_OF_A_GROUP: usize = 2;
const GAP_OVER_SPREAD: f64 = 3.0;

/// Two groups into which positive values fall: the smallest and largest of each, with their counts. `None` where they are one group.
///
/// Values are a mixture where a gap on the logarithmic scale is three times as wide as the spread within either group, and at least a factor
/// of two: a rule for the eye, which says that a median of all says little.
pub fn mixture(values: &[f64]) -> Option<[(f64, f64, usize); 2]> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let gap = |place: usize| (sorted[place] / sorted[place - 1]).ln();
    let places = FEWEST_OF_A_GROUP..(sorted.len() + 1).checked_sub(FEWEST_OF_A_GROUP)?;
    let place = places.max_by(|one, other| gap(*one).total_cmp(&gap(*other)))?;
    let (low, high) = sorted.split_at(place);
    let spread = |group: &[f64]| (group[group.len() - 1] / group[0]).ln();
    let wide = gap(place) >= std::f64::consts::LN_2 && gap(place) >= GAP_OVER_SPREAD * spread(low).max(spread(high));
    let ends = |group: &[f64]| (group[0], group[group.len() - 1], group.len());
    wide.then(|| [ends(low), ends(high)])
}

/// The largest chance of an event that has not happened in so many independent trials, 95 %. Source: the same binomial, exactly.
pub fn none_of(trials: usize) -> f64 {
    1.0 - 0.05f64.powf(1.0 / trials.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_ends_at_a_value_that_was_seen_has_an_upper_bound() {
        let outages = median(&[0.012, 0.014, 0.016, 0.02, 0.03, 30.0], Unit::named("s")).expect("six values");
        assert!(!outages.is_unbounded_above(), "{outages}");
        assert_eq!(outages.to_json()["ci95"], serde_json::json!([0.012, 30.0]));
    }

    #[test]
    fn ranks_are_those_of_the_tables() {
        let expected =
            [(5, None), (6, Some(1)), (8, Some(1)), (9, Some(2)), (20, Some(6)), (50, Some(18)), (100, Some(40))];
        for (count, rank) in expected {
            assert_eq!(super::rank(count), rank, "{count}");
        }
    }

    #[test]
    fn a_median_has_an_interval_of_its_own_values() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        let found = median(&values, Unit::PERCENT).unwrap();
        assert_eq!((found.value(), found.interval().bounds()), (10.5, Some((6.0, 15.0))));
        assert_eq!(median(&[3.0], Unit::PERCENT).unwrap().interval().bounds(), None);
        assert!(median(&[], Unit::PERCENT).is_none());
    }

    #[test]
    fn what_never_happened_may_still_happen() {
        for (trials, percent) in [(20, 13.9), (59, 5.0), (300, 1.0)] {
            assert!((100.0 * none_of(trials) - percent).abs() < 0.1, "{trials}");
        }
    }

    #[test]
    fn a_percentile_needs_enough_values() {
        let values: Vec<f64> = (1..=59).map(f64::from).collect();
        assert_eq!((p95(&values), p95(&values[1..])), (Some(57.0), None));
    }

    #[test]
    fn two_groups_are_seen_and_one_is_not_split() {
        let promotions = [0.11, 0.12, 0.13, 0.12, 5.1, 0.14, 5.2, 0.12];
        assert_eq!(mixture(&promotions), Some([(0.11, 0.14, 6), (5.1, 5.2, 2)]));
        assert_eq!(mixture(&[0.11, 0.12, 0.13, 5.1]), None, "one value is no group");
        assert_eq!(mixture(&[]), None);
        let mut state: u64 = 3;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let split = |values: Vec<f64>| usize::from(mixture(&values).is_some());
        // Uniform over a factor of four, and exponential.
        let uniform: usize = (0..500).map(|_| split((0..10).map(|_| 1.0 + 3.0 * draw()).collect())).sum();
        let exponential: usize = (0..500).map(|_| split((0..10).map(|_| 0.1 - draw().ln()).collect())).sum();
        assert!(uniform + exponential <= 5, "{uniform} and {exponential} of 500 each");
    }
}
