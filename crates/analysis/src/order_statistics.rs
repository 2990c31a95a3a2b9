//! The median of a few values with an interval that needs no distribution. Source: David and Nagaraja, "Order Statistics", 3rd edition,
//! 2003, section 7.1: the ranks of a binomial with a half.

use crate::quantity::{Interval, Quantity, Unit};

/// Largest chance that the median lies below the interval; as large a one that it lies above.
const TAIL: f64 = 0.025;

/// Most values whose ranks are computed exactly, so that no power underflows.
const MOST_EXACT: usize = 1000;

/// The median of values with its 95 % interval, which ends at values of their own; `None` without values.
pub fn median(values: &[f64], unit: Unit) -> Option<Quantity> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let (low, high) = (*sorted.get(count.checked_sub(1)? / 2)?, *sorted.get(count / 2)?);
    let interval = match rank(count) {
        Some(rank) => Interval::known(sorted[rank - 1], sorted[count - rank], "order statistics"),
        None => Interval::none("the median of fewer than six values has no 95 % interval"),
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

/// The largest chance of an event that has not happened in so many independent trials, 95 %. Source: the same binomial, exactly.
pub fn none_of(trials: usize) -> f64 {
    1.0 - 0.05f64.powf(1.0 / trials.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
