//! Places in a short series of independent values where its distribution changes, with the probability of seeing as much by chance.
//! For results of one study by date; seconds of one run are not independent and belong to [`crate::change`].
//!
//! Source: Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate data", JASA 109 (2014): hierarchical
//! division by energy statistics, each step tested by permutations. Used for performance of a database over time by Daly et al., ICPE 2020.

use crate::random::Random;

/// Fewest values on each side of a change.
pub const LEAST_SEGMENT: usize = 3;

/// Values that are looked at, the newest; the work grows with their square.
pub const MOST_VALUES: usize = 400;

/// Permutations of each test.
const PERMUTATIONS: usize = 399;

/// Chance at which a series without a change shows one.
pub const FALSE_ALARMS: f64 = 0.01;

/// Fewest values at which a change can be shown: of fewer, chance divides as well too often.
pub const LEAST_VALUES: usize = 10;

/// A change in a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Place of the first value after it.
    pub at: usize,
    /// Mean of the values since the change before.
    pub before: f64,
    /// Mean of the values up to the next change.
    pub after: f64,
    /// Share of permutations that divide as well.
    pub p: f64,
}

/// Changes in order of time; the seed decides the permutations. Places count from the first of all values.
pub fn change_points(values: &[f64], seed: u64) -> Vec<ChangePoint> {
    let skipped = values.len().saturating_sub(MOST_VALUES);
    let values = &values[skipped..];
    let mut random = Random::new(seed);
    let mut cuts: Vec<(usize, f64)> = Vec::new();
    // Of all segments the one that divides best is tested; the first that does not divide ends the search.
    while let Some((at, p)) = next_cut(values, &cuts, &mut random) {
        cuts.push((at, p));
        cuts.sort_by_key(|(at, _)| *at);
    }
    let ends: Vec<usize> = [0].into_iter().chain(cuts.iter().map(|(at, _)| *at)).chain([values.len()]).collect();
    let mean = |from: usize, to: usize| values[from..to].iter().sum::<f64>() / (to - from) as f64;
    let change = |(number, (at, p)): (usize, &(usize, f64))| ChangePoint {
        at: at + skipped,
        before: mean(ends[number], *at),
        after: mean(*at, ends[number + 2]),
        p: *p,
    };
    cuts.iter().enumerate().map(change).collect()
}

/// The next place to divide at, where chance divides as well in at most [`FALSE_ALARMS`] of the permutations.
fn next_cut(values: &[f64], cuts: &[(usize, f64)], random: &mut Random) -> Option<(usize, f64)> {
    let ends: Vec<usize> = [0].into_iter().chain(cuts.iter().map(|(at, _)| *at)).chain([values.len()]).collect();
    let segments: Vec<&[f64]> = ends.windows(2).map(|ends| &values[ends[0]..ends[1]]).collect();
    let best = |segments: &[Vec<f64>]| {
        let found = segments.iter().map(|segment| best_division(segment));
        found.enumerate().filter_map(|(number, found)| Some((number, found?))).max_by(|a, b| a.1.1.total_cmp(&b.1.1))
    };
    let mut shuffled: Vec<Vec<f64>> = segments.iter().map(|segment| segment.to_vec()).collect();
    let (segment, (at, statistic)) = best(&shuffled)?;
    let mut as_good = 0;
    for _ in 0..PERMUTATIONS {
        shuffled.iter_mut().for_each(|segment| shuffle(segment, random));
        as_good += usize::from(best(&shuffled).is_some_and(|(_, (_, by_chance))| by_chance >= statistic));
    }
    let p = (as_good + 1) as f64 / (PERMUTATIONS + 1) as f64;
    (p <= FALSE_ALARMS).then_some((ends[segment] + at, p))
}

fn shuffle(values: &mut [f64], random: &mut Random) {
    for last in (1..values.len()).rev() {
        values.swap(last, random.below(last + 1));
    }
}

/// The division of a segment with the largest energy statistic, and the statistic: nm/(n+m) times twice the mean distance between the sides
/// less the mean distances within each. `None` where it is too short.
fn best_division(values: &[f64]) -> Option<(usize, f64)> {
    let all = values.len();
    if all < 2 * LEAST_SEGMENT {
        return None;
    }
    let distance = |a: usize, b: usize| (values[a] - values[b]).abs();
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = (0..all).map(|b| (0..b).map(|a| distance(a, b)).sum::<f64>()).sum();
    let mut best: Option<(usize, f64)> = None;
    for moved in 0..all - LEAST_SEGMENT {
        let to_left: f64 = (0..moved).map(|other| distance(moved, other)).sum();
        let to_right: f64 = (moved + 1..all).map(|other| distance(moved, other)).sum();
        (left, right, between) = (left + to_left, right - to_right, between - to_left + to_right);
        let at = moved + 1;
        let (n, m) = (at as f64, (all - at) as f64);
        if at < LEAST_SEGMENT {
            continue;
        }
        let within = left / (n * (n - 1.0) / 2.0) + right / (m * (m - 1.0) / 2.0);
        let statistic = n * m / (n + m) * (2.0 * between / (n * m) - within);
        if best.is_none_or(|(_, known)| statistic > known) {
            best = Some((at, statistic));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize, random: &mut Random) -> Vec<f64> {
        (0..count).map(|_| 100.0 + 2.0 * random.normal()).collect()
    }

    #[test]
    fn a_series_without_a_change_seldom_shows_one() {
        let mut random = Random::new(7);
        for count in [10, 30] {
            let alarms = (0..200).filter(|seed| !change_points(&noise(count, &mut random), *seed).is_empty()).count();
            assert!(alarms <= 6, "{alarms} of 200 series of {count} values; {FALSE_ALARMS} were allowed");
        }
    }

    #[test]
    fn levels_are_found_where_they_change() {
        let mut random = Random::new(3);
        let found = (0..50).filter(|seed| {
            let mut values = noise(30, &mut random);
            values[12..].iter_mut().for_each(|value| *value -= 6.0);
            values[22..].iter_mut().for_each(|value| *value += 12.0);
            let at: Vec<usize> = change_points(&values, *seed).iter().map(|change| change.at).collect();
            at.len() >= 2 && at.iter().any(|at| at.abs_diff(12) <= 1) && at.iter().any(|at| at.abs_diff(22) <= 1)
        });
        let found = found.count();
        assert!(found >= 47, "{found} of 50");
    }

    #[test]
    fn means_stand_beside_a_change_and_short_or_equal_series_have_none() {
        let values = [10.0, 10.1, 9.9, 10.0, 10.05, 5.0, 5.1, 4.9, 5.0, 5.05];
        let found = change_points(&values, 1);
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [5]);
        assert!((found[0].after / found[0].before - 0.5).abs() < 0.01 && found[0].p < 0.02, "{found:?}");
        assert!(change_points(&values[..LEAST_VALUES - 1], 1).is_empty());
        assert!(change_points(&[3.0; 40], 1).is_empty() && change_points(&[], 1).is_empty());
    }
}
