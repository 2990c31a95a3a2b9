//! Ratios inside randomised blocks: each block visits every level once, in an order drawn anew, so that what is slower than a block (the
//! neighbours of a host, the time of day) is common to its visits and falls out of their ratios. A visit is one draw, however many seconds
//! it holds.

use super::bootstrap::Estimate;
use super::distribution::{mean, student_quantile, variance};
use super::quantity::{Interval, Quantity, Unit};
use std::ops::RangeInclusive;

/// Largest share of the processor that others may have taken in a visit that is corrected for it.
const MOST_TAKEN: f64 = 0.95;

/// Least spread of ln(1 − share taken), once blocks and levels are removed, from which its effect is estimated.
pub(crate) const LEAST_SPREAD: f64 = 0.01;

/// Least degrees of freedom with which an effect, or the scatter of visits, is estimated.
pub(crate) const LEAST_FREEDOM: usize = 3;

/// Largest power of what is left of the processor that throughput is taken to follow: beyond it is noise.
pub(crate) const MOST_EFFECT: f64 = 2.0;

/// How the interval comes about.
const METHOD: &str = "ratios inside blocks on the logarithmic scale, Student's quantile";

/// The same, with what others took of the processor as a covariate.
const METHOD_CORRECTED: &str =
    "ratios inside blocks on the logarithmic scale, corrected for CPU time used by others, Student's quantile";

/// One run of one level in one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// Mean throughput, positive.
    pub throughput: f64,
    /// Share of the processor that others took, 0 to 1; `None` where not observed.
    pub taken: Option<f64>,
    /// Displacement by what still moved, as a share of the throughput, as in [`Estimate::ahead`].
    pub ahead: f64,
}

/// Levels that were visited in blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// ln of throughput by level and block, corrected.
    logs: Vec<Vec<f64>>,
    /// Mean of the covariate by level.
    covariate: Vec<f64>,
    /// Mean displacement by level.
    ahead: Vec<f64>,
    /// How throughput follows what others leave, if it was estimated.
    effect: Option<Effect>,
}

/// How throughput follows what others leave of the processor: as that share to this power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The power, 0 to 2.
    pub power: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Effect {
    /// Takes least squares of ln(throughput), `y`, on ln(what others leave), `x`, both without the means of their groups; the power stays
    /// within bounds. `None` where `x` hardly varies.
    pub(crate) fn of((x, y): (&[f64], &[f64]), freedom: usize, powers: &RangeInclusive<f64>) -> Option<Self> {
        let squares: f64 = x.iter().map(|x| x * x).sum();
        if (squares / x.len() as f64).sqrt() < LEAST_SPREAD {
            return None;
        }
        let power = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / squares;
        let power = power.clamp(*powers.start(), *powers.end());
        let residual: f64 = x.iter().zip(y).map(|(x, y)| (y - power * x).powi(2)).sum();
        Some(Self { power, standard_error: (residual / freedom as f64 / squares).sqrt() })
    }
}

/// Difference of two levels inside blocks, of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockDifference {
    /// Its mean.
    pub log: f64,
    /// Standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
}

impl Blocks {
    /// Takes the visits of each level, the blocks in the same order in all; `None` with fewer than two levels or blocks, an incomplete block,
    /// or a throughput that is not positive.
    pub fn of(levels: &[Vec<Visit>]) -> Option<Self> {
        let blocks = levels.first()?.len();
        let complete = levels.iter().all(|visits| visits.len() == blocks);
        let positive = levels.iter().flatten().all(|visit| visit.throughput > 0.0 && visit.throughput.is_finite());
        if levels.len() < 2 || blocks < 2 || !complete || !positive {
            return None;
        }
        let mut logs = by_visit(levels, |visit| visit.throughput.ln());
        let ahead = levels.iter().map(|visits| mean(&visits.iter().map(|visit| visit.ahead).collect::<Vec<_>>()));
        let ahead = ahead.collect();
        let observed = levels.iter().flatten().all(|visit| visit.taken.is_some());
        let left = by_visit(levels, |visit| log_left(visit.taken));
        let effect = if observed { effect(&logs, &left) } else { None };
        let power = effect.map_or(0.0, |effect| effect.power);
        let covariate: Vec<f64> = left.iter().map(|visits| mean(visits)).collect();
        let centre = mean(&covariate);
        for (log, left) in logs.iter_mut().flatten().zip(left.iter().flatten()) {
            *log -= power * (left - centre);
        }
        Some(Self { logs, covariate, ahead, effect })
    }

    /// Number of blocks.
    pub fn count(&self) -> usize {
        self.logs[0].len()
    }

    /// How throughput follows what others leave; `None` where that was not observed, hardly varied, or the blocks are too few.
    pub fn effect(&self) -> Option<Effect> {
        self.effect
    }

    /// Throughput of a level over that of another, blocks as samples.
    pub fn ratio(&self, level: usize, to: usize) -> Quantity {
        let ratio = mean(&self.differences(level, to)).exp();
        let (lower, upper) = self.widened(self.half_width(level, to), level, to);
        let method = if self.effect.is_some() { METHOD_CORRECTED } else { METHOD };
        let interval = Interval::known(ratio * (-lower).exp(), ratio * upper.exp(), method);
        Quantity::new(ratio, Unit::RATIO, self.count() as u64, interval)
    }

    /// Distances of the bounds from the logarithm of a ratio, down and up: this half-width with what still moved on either side.
    pub fn widened(&self, half: f64, level: usize, to: usize) -> (f64, f64) {
        let (own, other) = (self.ahead[level], self.ahead[to]);
        (half.hypot(own.min(0.0)).hypot(other.max(0.0)), half.hypot(own.max(0.0)).hypot(other.min(0.0)))
    }

    /// The same as its logarithm, with the standard error and its degrees of freedom.
    pub fn difference(&self, level: usize, to: usize) -> BlockDifference {
        let log = mean(&self.differences(level, to));
        BlockDifference { log, error: self.error(level, to), freedom: self.count() as f64 - 1.0 }
    }

    /// Mean throughput of a level under the conditions that all levels had on average; its error holds nothing that is common to a block.
    pub fn mean(&self, level: usize) -> Estimate {
        let (levels, blocks) = (self.logs.len() as f64, self.count() as f64);
        let of_block = |block: usize| mean(&self.logs.iter().map(|visits| visits[block]).collect::<Vec<_>>());
        let own: Vec<f64> = self.logs[level].iter().enumerate().map(|(block, log)| log - of_block(block)).collect();
        let spread = variance(&own) * levels / (levels - 1.0) / blocks;
        let value = mean(&self.logs[level]).exp();
        let error = (spread + self.error_of_effect(self.covariate[level] - mean(&self.covariate))).sqrt();
        Estimate {
            value,
            standard_error: value * error,
            freedom: blocks - 1.0,
            ahead: value * self.ahead[level],
            n: self.count() as u64,
            block: 1,
            missing: None,
            method: if self.effect.is_some() { METHOD_CORRECTED } else { METHOD },
        }
    }

    /// Blocks that a ratio known to this half-width, as a share of it, takes if its blocks spread as these do: at least two.
    pub fn needed(&self, level: usize, to: usize, half_width: f64) -> u32 {
        let spread = variance(&self.differences(level, to)).sqrt();
        let enough = |blocks: &u32| {
            let blocks = f64::from(*blocks);
            student_quantile(0.975, blocks - 1.0) * spread / blocks.sqrt() <= half_width.ln_1p()
        };
        (2..10_000).find(enough).unwrap_or(10_000)
    }

    /// ln of throughput of a level in a block, corrected.
    pub(crate) fn log(&self, level: usize, block: usize) -> f64 {
        self.logs[level][block]
    }

    /// Mean over blocks of ln of what others left of the processor at a level.
    pub(crate) fn log_left_of(&self, level: usize) -> f64 {
        self.covariate[level]
    }

    fn differences(&self, level: usize, to: usize) -> Vec<f64> {
        self.logs[level].iter().zip(&self.logs[to]).map(|(own, other)| own - other).collect()
    }

    fn half_width(&self, level: usize, to: usize) -> f64 {
        student_quantile(0.975, self.count() as f64 - 1.0) * self.error(level, to)
    }

    /// Standard error of the mean difference of two levels.
    fn error(&self, level: usize, to: usize) -> f64 {
        let spread = variance(&self.differences(level, to)) / self.count() as f64;
        (spread + self.error_of_effect(self.covariate[level] - self.covariate[to])).sqrt()
    }

    /// Squared error that the correction adds where two means differ by this much in the covariate.
    fn error_of_effect(&self, difference: f64) -> f64 {
        self.effect.map_or(0.0, |effect| (effect.standard_error * difference).powi(2))
    }
}

/// Logarithm of what others left of the processor; 0 where that was not observed.
pub(crate) fn log_left(taken: Option<f64>) -> f64 {
    (1.0 - taken.unwrap_or(0.0).clamp(0.0, MOST_TAKEN)).ln()
}

fn by_visit(levels: &[Vec<Visit>], value: impl Fn(&Visit) -> f64) -> Vec<Vec<f64>> {
    levels.iter().map(|visits| visits.iter().map(&value).collect()).collect()
}

/// Least squares of ln(throughput) on ln(what others leave), with a mean for each level and each block removed from both.
fn effect(logs: &[Vec<f64>], left: &[Vec<f64>]) -> Option<Effect> {
    let freedom =
        ((logs.len() - 1) * (logs[0].len() - 1)).checked_sub(1).filter(|freedom| *freedom >= LEAST_FREEDOM)?;
    Effect::of((&without_means(left), &without_means(logs)), freedom, &(0.0..=MOST_EFFECT))
}

/// What is left of a table when the means of its rows and columns are removed.
fn without_means(table: &[Vec<f64>]) -> Vec<f64> {
    let columns: Vec<f64> =
        (0..table[0].len()).map(|at| mean(&table.iter().map(|row| row[at]).collect::<Vec<_>>())).collect();
    let all = mean(&columns);
    let of_row = |row: &Vec<f64>| {
        let own = mean(row);
        row.iter().zip(&columns).map(|(value, column)| value - own - column + all).collect::<Vec<_>>()
    };
    table.iter().flat_map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const LEVELS: [f64; 4] = [1.0, 1.0, 0.9, 0.25];

    /// A host: how far its blocks differ, how far others' share differs between visits, and how well it is known.
    struct Host {
        between_blocks: f64,
        taken: f64,
        noise: f64,
        observed: bool,
    }

    fn visits(host: &Host, blocks: usize, seed: u64) -> Vec<Vec<Visit>> {
        let mut random = Random::stream(seed, 3);
        let mut levels = vec![Vec::new(); LEVELS.len()];
        for _ in 0..blocks {
            let block = host.between_blocks * random.normal();
            for (level, factor) in LEVELS.iter().enumerate() {
                let taken = host.taken * random.uniform();
                let throughput = 1_000.0 * factor * (1.0 - taken) * (block + host.noise * random.normal()).exp();
                let taken = host.observed.then_some(taken);
                levels[level].push(Visit { throughput, taken, ahead: 0.0 });
            }
        }
        levels
    }

    /// Share of hosts, per cent, whose interval covers the ratio of levels 2 and 0, and its median half-width in per cent.
    fn covers(host: &Host, blocks: usize) -> (f64, f64) {
        const TRIALS: u64 = 1_000;
        let ratios = (0..TRIALS).map(|seed| Blocks::of(&visits(host, blocks, seed)).unwrap().ratio(2, 0));
        let bounds: Vec<(f64, f64)> = ratios.map(|ratio| ratio.interval().bounds().unwrap()).collect();
        let covered = bounds.iter().filter(|(low, high)| (*low..=*high).contains(&0.9)).count();
        let mut widths: Vec<f64> = bounds.iter().map(|(low, high)| (high / low).sqrt() - 1.0).collect();
        widths.sort_by(f64::total_cmp);
        (100.0 * covered as f64 / TRIALS as f64, 100.0 * widths[widths.len() / 2])
    }

    #[test]
    fn ratios_cover_on_hosts_that_change() {
        for (between_blocks, taken, observed) in
            [(0.0, 0.0, true), (0.3, 0.0, true), (0.3, 0.4, false), (0.3, 0.4, true), (0.3, 0.7, true)]
        {
            for blocks in [3, 5, 12] {
                let host = Host { between_blocks, taken, noise: 0.03, observed };
                let (covered, width) = covers(&host, blocks);
                println!("{between_blocks} {taken} {observed}, {blocks} blocks: covers {covered:.1} %, ± {width:.1} %");
                assert!((92.5..=98.0).contains(&covered), "{between_blocks} {taken} {observed} {blocks}: {covered}");
            }
        }
    }

    #[test]
    fn the_covariate_narrows_what_neighbours_widen() {
        let host = |observed: bool| Host { between_blocks: 0.3, taken: 0.4, noise: 0.03, observed };
        let (blind, corrected) = (covers(&host(false), 5).1, covers(&host(true), 5).1);
        assert!(corrected < 0.5 * blind, "{corrected} against {blind}");
        assert!(corrected < 1.4 * covers(&Host { taken: 0.0, ..host(true) }, 5).1, "{corrected}");
    }

    #[test]
    fn means_of_levels_leave_out_what_is_common_to_a_block() {
        let host = Host { between_blocks: 0.5, taken: 0.0, noise: 0.01, observed: true };
        let blocks = Blocks::of(&visits(&host, 6, 1)).unwrap();
        let mean = blocks.mean(2);
        assert!(mean.relative_half_width() < 0.03, "{mean:?}");
        assert!((mean.value / blocks.mean(0).value - 0.9).abs() < 0.03);
        assert_eq!((mean.n, mean.freedom, blocks.effect()), (6, 5.0, None));
    }

    #[test]
    fn more_blocks_are_needed_for_narrower_ratios() {
        // Differences of ln 1.1 and −ln 1.1 in turn: a spread of 0.1017 with 4 blocks.
        let visit = |throughput: f64| Visit { throughput, taken: None, ahead: 0.0 };
        let other: Vec<Visit> = [1.1, 1.0, 1.1, 1.0].map(|x| visit(100.0 * x)).to_vec();
        let blocks = Blocks::of(&[[1.0, 1.1, 1.0, 1.1].map(|x| visit(100.0 * x)).to_vec(), other]).unwrap();
        // t(0.975, 6) · 0.1101 / √7 = 0.1018 > ln 1.1 = 0.0953; t(7) · 0.1101 / √8 = 0.0920.
        assert_eq!(blocks.needed(0, 1, 0.1), 8);
        assert!(blocks.needed(0, 1, 0.05) > 20);
    }

    #[test]
    fn what_is_no_block_makes_no_ratio() {
        let visit = |throughput: f64| Visit { throughput, taken: None, ahead: 0.0 };
        let two = vec![visit(1.0), visit(2.0)];
        assert_eq!(Blocks::of(&[]), None);
        assert_eq!(Blocks::of(std::slice::from_ref(&two)), None, "one level");
        assert_eq!(Blocks::of(&[vec![visit(1.0)], vec![visit(2.0)]]), None, "one block");
        assert_eq!(Blocks::of(&[two.clone(), vec![visit(1.0)]]), None, "an incomplete block");
        assert_eq!(Blocks::of(&[two.clone(), vec![visit(0.0), visit(1.0)]]), None, "nothing was done");
        assert_eq!(Blocks::of(&[two.clone(), vec![visit(f64::NAN), visit(1.0)]]), None);
        assert!(Blocks::of(&[two.clone(), two]).is_some());
    }
}
