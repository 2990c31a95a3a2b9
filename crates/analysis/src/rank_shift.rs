//! The shift between two samples of any distribution, on the logarithmic scale: Hodges and Lehmann's estimate with the interval that inverts the
//! test of Mann and Whitney. Source: Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd edition, 2014, sections 4.1 to 4.3.

use super::distribution::normal_quantile;

/// Fewest values of a side: with three on both sides the smallest p value is 0.1.
const FEWEST: usize = 4;

/// Most pairs for which the distribution of the statistic is counted exactly; beyond that the normal distribution is near enough.
const MOST_EXACT: usize = 2_500;

/// Differences of the logarithms of every pair, and how likely each number of them lies on one side.
#[derive(Debug, Clone)]
pub(super) struct RankShift {
    /// Candidate less baseline, sorted.
    differences: Vec<f64>,
    /// Chance that the statistic is at most its place, of two equal distributions; empty where it is not counted.
    at_most: Vec<f64>,
    sizes: (usize, usize),
}

impl RankShift {
    /// The shift of positive values.
    pub(super) fn of(candidate: &[f64], baseline: &[f64]) -> Result<Self, String> {
        if candidate.len() < FEWEST || baseline.len() < FEWEST {
            let (ours, theirs) = (baseline.len(), candidate.len());
            return Err(format!("{ours} and {theirs} values are too few for a rank test: each side needs {FEWEST}"));
        }
        if candidate.iter().chain(baseline).any(|value| !(*value > 0.0 && value.is_finite())) {
            return Err("a value is not positive".to_owned());
        }
        let pairs = candidate.iter().flat_map(|one| baseline.iter().map(move |other| one.ln() - other.ln()));
        let mut differences: Vec<f64> = pairs.collect();
        differences.sort_by(f64::total_cmp);
        let sizes = (candidate.len(), baseline.len());
        let at_most = if differences.len() <= MOST_EXACT { at_most(sizes) } else { Vec::new() };
        Ok(Self { differences, at_most, sizes })
    }

    /// The median of the differences.
    pub(super) fn estimate(&self) -> f64 {
        let count = self.differences.len();
        f64::midpoint(self.differences[(count - 1) / 2], self.differences[count / 2])
    }

    /// The interval of the shift with confidence 1 − `level` or more; infinite where the values do not bound it.
    pub(super) fn bounds(&self, level: f64) -> (f64, f64) {
        let outside = self.outside(level / 2.0);
        match outside.checked_sub(1) {
            None => (f64::NEG_INFINITY, f64::INFINITY),
            Some(place) => {
                let place = place.min((self.differences.len() - 1) / 2);
                (self.differences[place], self.differences[self.differences.len() - 1 - place])
            }
        }
    }

    /// Rank from below, and from above, of the difference that ends the interval with so large a chance outside on one side; 0 for none.
    fn outside(&self, tail: f64) -> usize {
        if !self.at_most.is_empty() {
            return self.at_most.iter().take_while(|chance| **chance <= tail).count();
        }
        let (m, n) = (self.sizes.0 as f64, self.sizes.1 as f64);
        let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
        let place = m * n / 2.0 + 0.5 + normal_quantile(tail.max(f64::MIN_POSITIVE)) * deviation;
        place.max(0.0).floor() as usize
    }
}

/// Chances that Mann and Whitney's statistic is at most 0, 1, …: by adding one value after the other.
fn at_most((m, n): (usize, usize)) -> Vec<f64> {
    // Ways to have a sum of u with so many of the first sample among the values: a product of Gaussian binomials, as shares.
    let mut chances = vec![vec![0.0; m * n + 1]; m + 1];
    chances[0][0] = 1.0;
    for placed in 1..=m + n {
        for first in (0..=placed.min(m)).rev() {
            let second = placed - first;
            if second > n {
                chances[first].iter_mut().for_each(|chance| *chance = 0.0);
                continue;
            }
            let (share, other) = (first as f64 / placed as f64, second as f64 / placed as f64);
            for u in (0..=m * n).rev() {
                // The largest value is of the first sample and exceeds all of the second, or is of the second.
                let of_first = if first > 0 && u >= second { share * chances[first - 1][u - second] } else { 0.0 };
                let of_second = if second > 0 { other * chances[first][u] } else { 0.0 };
                chances[first][u] = of_first + of_second;
            }
        }
    }
    let mut sum = 0.0;
    chances[m]
        .iter()
        .map(|chance| {
            sum += chance;
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contrast::Contrast;

    #[test]
    fn chances_are_those_of_the_tables() {
        // Critical values of U, two-sided 5 %. Source: Mann and Whitney, 1947; every textbook's table.
        for ((m, n), largest) in [((4, 4), 0), ((5, 5), 2), ((6, 8), 8), ((10, 10), 23), ((20, 20), 127)] {
            let chances = at_most((m, n));
            assert!((chances[m * n] - 1.0).abs() < 1e-9);
            assert!(chances[largest] <= 0.025 && chances[largest + 1] > 0.025, "{m} and {n}: {}", chances[largest]);
        }
        let (m, n) = (4, 4);
        assert!((at_most((m, n))[0] - 1.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn a_planted_ratio_is_found_and_equal_samples_are_not_told_apart() {
        let baseline: Vec<f64> = (0..20).map(|place| 1.0 + 0.02 * f64::from(place)).collect();
        let twice: Vec<f64> = baseline.iter().map(|value| 2.0 * value).collect();
        let found = Contrast::of_ranks(&twice, &baseline).unwrap();
        let (low, high) = found.bounds(0.05);
        assert!((found.ratio() - 2.0).abs() < 0.05 && low > 1.8 && high < 2.2, "{} {low} {high}", found.ratio());
        assert!(found.p() < 1e-4 && found.p_above(1.5) < 1e-3 && found.p_above(2.5) > 0.5);
        let same = Contrast::of_ranks(&baseline, &baseline).unwrap();
        assert_eq!((same.ratio(), same.p()), (1.0, 1.0));
        let reverse = Contrast::of_ranks(&baseline, &twice).unwrap();
        assert!((reverse.ratio() * found.ratio() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn equal_distributions_are_shown_to_differ_in_at_most_five_of_a_hundred() {
        let mut state: u64 = 11;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let share = (state >> 11) as f64 / (1u64 << 53) as f64;
            // A mixture, as promotions are: most take a fifth of a second, one in five takes five.
            if share < 0.2 { 5.0 + share } else { 0.2 + 0.1 * share }
        };
        let mut shown = 0;
        for _ in 0..400 {
            let sides: Vec<Vec<f64>> = (0..2).map(|_| (0..10).map(|_| draw()).collect()).collect();
            shown += u32::from(Contrast::of_ranks(&sides[0], &sides[1]).unwrap().p() <= 0.05);
        }
        assert!(shown <= 28, "{shown} of 400");
    }

    #[test]
    fn many_values_use_the_normal_distribution_and_few_are_refused() {
        let many: Vec<f64> = (1..=60).map(f64::from).collect();
        let shift = RankShift::of(&many, &many).unwrap();
        assert!(shift.at_most.is_empty());
        // The exact place of 60 and 60 at 2.5 % is 1426.
        assert!(shift.outside(0.025).abs_diff(1426) <= 3, "{}", shift.outside(0.025));
        assert!(RankShift::of(&many[..3], &many).unwrap_err().contains("too few"));
        assert!(RankShift::of(&[0.0; 5], &many).unwrap_err().contains("positive"));
    }
}
