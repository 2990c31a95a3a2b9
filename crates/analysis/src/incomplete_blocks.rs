//! Levels compared inside incomplete blocks: each block visits some of the levels one after another, so that what is slower than a block
//! (the neighbours of a host, the time of day) is common to its visits and falls out. Source: intra-block analysis of incomplete block
//! designs, Montgomery, Design and Analysis of Experiments, chapter 4. May not choose which levels a block visits.

use super::blocks::{BlockDifference, LEAST_FREEDOM, LEAST_SPREAD, MOST_EFFECT, log_left};
use super::distribution::mean;
use super::equations::solve;

/// Degrees of freedom of the error that a window states of itself: of twenty parts whose dependence is estimated.
const FREEDOM_OF_WINDOW: f64 = 6.0;

/// One run of one level in one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockVisit {
    /// Number of the block.
    pub block: usize,
    /// Number of the level.
    pub level: usize,
    /// Mean throughput, positive.
    pub throughput: f64,
    /// Standard error that the window states of it, as a share; NaN when it states none.
    pub error: f64,
    /// Share of the processor that others took, 0 to 1; `None` where not observed.
    pub taken: Option<f64>,
}

/// Levels that are compared through the blocks that they share with each other.
#[derive(Clone, Debug)]
pub struct IncompleteBlocks {
    /// Number of each level.
    levels: Vec<usize>,
    /// ln of throughput by level, freed of blocks; their mean is that of the throughputs as they were.
    logs: Vec<f64>,
    /// Visits by level and by level met in a block.
    information: Vec<Vec<f64>>,
    /// Variance of the logarithm of one visit.
    variance: f64,
    /// Degrees of freedom of the variance.
    freedom: f64,
    /// Visits of each level.
    visits: Vec<usize>,
}

impl IncompleteBlocks {
    /// Compares the levels that are connected by blocks: the largest such set, of equal ones that with the smallest level. Visits without a
    /// positive throughput do not count; `None` when none is left.
    pub fn of(visits: &[BlockVisit]) -> Option<Self> {
        let usable: Vec<BlockVisit> =
            visits.iter().filter(|visit| visit.throughput > 0.0 && visit.throughput.is_finite()).copied().collect();
        let levels = largest(&usable)?;
        let design = Design::of(&levels, &usable);
        let observed = design.visits.iter().all(|visit| visit.taken.is_some());
        let mut logs: Vec<f64> = design.visits.iter().map(|visit| visit.throughput.ln()).collect();
        let left: Vec<f64> = design.visits.iter().map(|visit| log_left(visit.taken)).collect();
        let (mut freedom, mut squares) = (design.freedom(), design.squares(&logs)?);
        if let Some(power) = observed.then(|| design.power(&logs, &left)).flatten() {
            let centre = mean(&left);
            logs.iter_mut().zip(&left).for_each(|(log, left)| *log -= power * (left - centre));
            (freedom, squares) = (freedom - 1, design.squares(&logs)?);
        }
        let stated: Vec<f64> =
            design.visits.iter().map(|visit| visit.error.powi(2)).filter(|square| square.is_finite()).collect();
        let stated = if stated.is_empty() { f64::NAN } else { mean(&stated) };
        let seen = if freedom >= LEAST_FREEDOM { squares / freedom as f64 } else { f64::NAN };
        // `max` ignores what is not known.
        let variance = stated.max(seen);
        let own = if variance == seen { freedom as f64 } else { FREEDOM_OF_WINDOW };
        let count = |place: usize| design.visits.iter().filter(|visit| visit.level == levels[place]).count();
        Some(Self {
            logs: design.effects(&logs)?,
            information: design.information(),
            variance,
            freedom: own,
            visits: (0..levels.len()).map(count).collect(),
            levels,
        })
    }

    /// Throughput of a level under the conditions that all levels had on average; `None` for one that no block connects with the others.
    pub fn mean(&self, level: usize) -> Option<f64> {
        Some(self.logs[self.place(level)?].exp())
    }

    /// How often a level was visited.
    pub fn visits(&self, level: usize) -> usize {
        self.place(level).map_or(0, |place| self.visits[place])
    }

    /// Logarithm of a level's throughput over another's; `None` where no block connects them.
    pub fn difference(&self, level: usize, to: usize) -> Option<BlockDifference> {
        let (own, other) = (self.place(level)?, self.place(to)?);
        let log = self.logs[own] - self.logs[other];
        if own == other {
            return Some(BlockDifference { log, error: 0.0, freedom: self.freedom });
        }
        let sides = (0..self.levels.len()).map(|place| f64::from(place == own) - f64::from(place == other));
        let solved = solve(with_sides(&self.information, sides))?;
        Some(BlockDifference {
            log,
            error: (self.variance * (solved[own] - solved[other])).sqrt(),
            freedom: self.freedom,
        })
    }

    fn place(&self, level: usize) -> Option<usize> {
        self.levels.iter().position(|known| *known == level)
    }
}

/// Visits of connected levels.
struct Design<'a> {
    levels: &'a [usize],
    visits: Vec<BlockVisit>,
    blocks: Vec<usize>,
}

impl<'a> Design<'a> {
    fn of(levels: &'a [usize], visits: &[BlockVisit]) -> Self {
        let visits: Vec<BlockVisit> = visits.iter().filter(|visit| levels.contains(&visit.level)).copied().collect();
        let mut blocks: Vec<usize> = visits.iter().map(|visit| visit.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        Self { levels, visits, blocks }
    }

    /// Degrees of freedom that levels and blocks leave.
    fn freedom(&self) -> usize {
        (self.visits.len() + 1).saturating_sub(self.levels.len() + self.blocks.len())
    }

    fn of_block(&self, block: usize) -> impl Iterator<Item = (usize, &BlockVisit)> {
        self.visits.iter().enumerate().filter(move |(_, visit)| visit.block == block)
    }

    fn place(&self, visit: &BlockVisit) -> usize {
        self.levels.iter().position(|level| *level == visit.level).unwrap_or(0)
    }

    /// What the visits tell of differences between levels. The ones that are added make it regular and touch no difference.
    fn information(&self) -> Vec<Vec<f64>> {
        let mut information = vec![vec![1.0; self.levels.len()]; self.levels.len()];
        for block in &self.blocks {
            let places: Vec<usize> = self.of_block(*block).map(|(_, visit)| self.place(visit)).collect();
            for own in &places {
                information[*own][*own] += 1.0;
                places.iter().for_each(|other| information[*own][*other] -= 1.0 / places.len() as f64);
            }
        }
        information
    }

    /// Values less the mean of their block.
    fn inside(&self, values: &[f64]) -> Vec<f64> {
        let mut inside = values.to_vec();
        for block in &self.blocks {
            let places: Vec<usize> = self.of_block(*block).map(|(place, _)| place).collect();
            let centre = mean(&places.iter().map(|place| values[*place]).collect::<Vec<_>>());
            places.iter().for_each(|place| inside[*place] -= centre);
        }
        inside
    }

    /// Least-squares value of each level; their mean is that of the values.
    fn effects(&self, values: &[f64]) -> Option<Vec<f64>> {
        let mut sides = vec![0.0; self.levels.len()];
        for (visit, value) in self.visits.iter().zip(self.inside(values)) {
            sides[self.place(visit)] += value;
        }
        let solved = solve(with_sides(&self.information(), sides.into_iter()))?;
        Some(solved.iter().map(|effect| effect - mean(&solved) + mean(values)).collect())
    }

    /// What levels and blocks leave of values.
    fn residuals(&self, values: &[f64]) -> Option<Vec<f64>> {
        let effects = self.effects(values)?;
        let of_levels: Vec<f64> = self.visits.iter().map(|visit| effects[self.place(visit)]).collect();
        let pairs = self.inside(values).into_iter().zip(self.inside(&of_levels));
        Some(pairs.map(|(value, of_level)| value - of_level).collect())
    }

    fn squares(&self, values: &[f64]) -> Option<f64> {
        Some(self.residuals(values)?.iter().map(|residual| residual * residual).sum())
    }

    /// How throughput follows what others leave of the processor, as that share to this power; `None` where that hardly varied or the
    /// visits are too few.
    fn power(&self, logs: &[f64], left: &[f64]) -> Option<f64> {
        let (y, x) = (self.residuals(logs)?, self.residuals(left)?);
        let squares: f64 = x.iter().map(|x| x * x).sum();
        let varied = (squares / x.len() as f64).sqrt() >= LEAST_SPREAD;
        (varied && self.freedom() > LEAST_FREEDOM)
            .then(|| (x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / squares).clamp(0.0, MOST_EFFECT))
    }
}

fn with_sides(rows: &[Vec<f64>], sides: impl Iterator<Item = f64>) -> Vec<Vec<f64>> {
    rows.iter().zip(sides).map(|(row, side)| [row.as_slice(), &[side]].concat()).collect()
}

/// The largest set of levels that share blocks with each other, ascending.
fn largest(visits: &[BlockVisit]) -> Option<Vec<usize>> {
    let mut levels: Vec<usize> = visits.iter().map(|visit| visit.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for first in levels {
        if sets.iter().any(|set| set.contains(&first)) {
            continue;
        }
        let mut set = vec![first];
        while let Some(next) = visits.iter().find(|visit| !set.contains(&visit.level) && meets(visits, visit, &set)) {
            set.push(next.level);
        }
        set.sort_unstable();
        sets.push(set);
    }
    sets.into_iter().rev().max_by_key(Vec::len)
}

fn meets(visits: &[BlockVisit], one: &BlockVisit, set: &[usize]) -> bool {
    visits.iter().any(|other| other.block == one.block && set.contains(&other.level))
}

#[cfg(test)]
mod tests {
    use super::super::distribution::student_quantile;
    use super::super::random::Random;
    use super::*;

    fn visit(block: usize, level: usize, throughput: f64) -> BlockVisit {
        BlockVisit { block, level, throughput, error: 0.01, taken: None }
    }

    #[test]
    fn what_is_common_to_a_block_falls_out() {
        let visits = [
            visit(0, 0, 100.0),
            visit(1, 0, 50.0),
            visit(1, 1, 100.0),
            visit(2, 1, 600.0),
            visit(2, 2, 900.0),
            visit(3, 7, 1.0),
            visit(4, 2, 0.0),
        ];
        let blocks = IncompleteBlocks::of(&visits).unwrap();
        let ratio = |level, to| blocks.difference(level, to).map(|difference| difference.log.exp());
        assert!((ratio(1, 0).unwrap() - 2.0).abs() < 1e-9);
        assert!((ratio(2, 0).unwrap() - 3.0).abs() < 1e-9);
        assert_eq!((ratio(7, 0), blocks.mean(7), blocks.visits(2), blocks.visits(7)), (None, None, 1, 0));
        assert_eq!(blocks.difference(0, 0).unwrap().error, 0.0);
        // Two visits of one per cent each; one more block between the two adds as much again.
        assert!((blocks.difference(1, 0).unwrap().error - 0.01 * 2f64.sqrt()).abs() < 1e-9);
        assert!((blocks.difference(2, 0).unwrap().error - 0.02).abs() < 1e-9);
        assert!(IncompleteBlocks::of(&[visit(0, 0, 0.0)]).is_none());
    }

    /// Intervals of ratios where blocks differ by tens of percent, and where others take part of the processor.
    #[test]
    fn intervals_cover_the_ratio() {
        for (between, power) in [(0.3, 0.0), (0.1, 1.2)] {
            let (mut covered, mut all) = (0, 0);
            for seed in 0..1_000 {
                let mut random = Random::new(seed);
                let mut visits = Vec::new();
                for block in 0..14 {
                    let common = between * random.normal();
                    for level in [block % 4, (block + 1 + block / 4) % 4 + 4 * usize::from(block % 5 == 4)] {
                        let taken = if power > 0.0 { 0.5 * random.uniform() } else { 0.0 };
                        let log = 0.2 * level as f64 + common + power * f64::ln(1.0 - taken) + 0.04 * random.normal();
                        visits.push(BlockVisit {
                            block,
                            level,
                            throughput: log.exp(),
                            error: 0.01,
                            taken: Some(taken),
                        });
                    }
                }
                let blocks = IncompleteBlocks::of(&visits).unwrap();
                for (level, to) in [(1, 0), (2, 0), (3, 1)] {
                    let found = blocks.difference(level, to).unwrap();
                    let half = student_quantile(0.975, found.freedom) * found.error;
                    covered += usize::from((found.log - 0.2 * (level as f64 - to as f64)).abs() <= half);
                    all += 1;
                }
            }
            let share = f64::from(covered as u32) / f64::from(all);
            assert!((0.93..0.975).contains(&share), "{share} where blocks differ by {between}");
        }
    }
}
