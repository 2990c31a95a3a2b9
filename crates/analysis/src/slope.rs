//! Elasticity of throughput to a resource over all of its levels: the slope of ln X over ln R by least squares. Says how much the result
//! follows the resource: 1 or −1 is in proportion, 0 not at all.

use super::blocks::Blocks;
use super::distribution::{mean, student_quantile, variance};
use super::elasticity::{Level, half_width};
use super::quantity::{Interval, Quantity, Unit};

/// How the interval comes about where there are blocks.
const METHOD_BLOCKS: &str = "slope in each block on logarithms, Student's quantile over blocks";

/// The same from the errors of the levels.
const METHOD_LEVELS: &str = "least squares on logarithms, errors of the levels, Student's quantile by Satterthwaite";

/// The slope over levels that were visited in blocks: number of the level in them, and its resource. `None` with fewer than two levels, or
/// where all resources are the same or one is not positive.
pub fn slope_in_blocks(blocks: &Blocks, levels: &[(usize, f64)]) -> Option<Quantity> {
    let weights = weights(&levels.iter().map(|(_, resource)| *resource).collect::<Vec<_>>())?;
    let weighted = || levels.iter().map(|(level, _)| *level).zip(&weights);
    let of_block = |block: usize| weighted().map(|(level, weight)| weight * blocks.log(level, block)).sum::<f64>();
    let slopes: Vec<f64> = (0..blocks.count()).map(of_block).collect();
    let effect: f64 = weighted().map(|(level, weight)| weight * blocks.log_left_of(level)).sum();
    let effect = blocks.effect().map_or(0.0, |found| (found.standard_error * effect).powi(2));
    let error = (variance(&slopes) / slopes.len() as f64 + effect).sqrt();
    let half = student_quantile(0.975, slopes.len() as f64 - 1.0) * error;
    let value = mean(&slopes);
    let interval = Interval::known(value - half, value + half, METHOD_BLOCKS);
    Some(Quantity::new(value, Unit::ELASTICITY, slopes.len() as u64, interval))
}

/// The slope over levels by their means; `None` likewise.
pub fn slope_of_levels(levels: &[Level]) -> Option<Quantity> {
    let weights = weights(&levels.iter().map(|level| level.resource).collect::<Vec<_>>())?;
    if levels.iter().any(|level| level.value <= 0.0 || !level.value.is_finite()) {
        return None;
    }
    let weighted = || levels.iter().zip(&weights);
    let value: f64 = weighted().map(|(level, weight)| weight * level.value.ln()).sum();
    let part =
        |(level, weight): (&Level, &f64)| Some(((weight * level.standard_error? / level.value).powi(2), level.freedom));
    let interval = match weighted().map(part).collect::<Option<Vec<(f64, f64)>>>() {
        Some(parts) => {
            let half = half_width(&parts);
            Interval::known(value - half, value + half, METHOD_LEVELS)
        }
        None => Interval::none("the errors of the levels are unknown"),
    };
    Some(Quantity::new(value, Unit::ELASTICITY, levels.len() as u64, interval))
}

/// Weight of the logarithm of each result in the slope.
fn weights(resources: &[f64]) -> Option<Vec<f64>> {
    if resources.len() < 2 || resources.iter().any(|resource| *resource <= 0.0 || !resource.is_finite()) {
        return None;
    }
    let logs: Vec<f64> = resources.iter().map(|resource| resource.ln()).collect();
    let centre = mean(&logs);
    let squares: f64 = logs.iter().map(|log| (log - centre).powi(2)).sum();
    (squares > 0.0).then(|| logs.iter().map(|log| (log - centre) / squares).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Visit;
    use crate::random::Random;

    const RESOURCES: [f64; 4] = [0.2, 1.0, 5.0, 20.0];

    fn blocks(elasticity: f64, noise: f64, seed: u64) -> Blocks {
        let mut random = Random::stream(seed, 5);
        let mut levels = vec![Vec::new(); RESOURCES.len()];
        for _ in 0..4 {
            let block = 0.4 * random.normal();
            for (level, resource) in RESOURCES.iter().enumerate() {
                let throughput = 500.0 * resource.powf(elasticity) * (block + noise * random.normal()).exp();
                levels[level].push(Visit { throughput, taken: None, ahead: 0.0 });
            }
        }
        Blocks::of(&levels).unwrap()
    }

    fn numbered() -> Vec<(usize, f64)> {
        RESOURCES.into_iter().enumerate().collect()
    }

    #[test]
    fn what_is_common_to_a_block_leaves_no_trace_in_its_slope() {
        for elasticity in [-0.8, 0.0, 1.0] {
            let found = slope_in_blocks(&blocks(elasticity, 1e-9, 1), &numbered()).unwrap();
            assert!((found.value() - elasticity).abs() < 1e-6, "{found}");
        }
    }

    #[test]
    fn its_interval_covers() {
        let covers = |seed: &u64| {
            let found = slope_in_blocks(&blocks(-0.5, 0.1, *seed), &numbered()).unwrap();
            found.interval().bounds().is_some_and(|(low, high)| (low..=high).contains(&-0.5))
        };
        let covered = (0..1000).filter(covers).count();
        assert!((925..=980).contains(&covered), "{covered} of 1,000");
    }

    #[test]
    fn levels_without_blocks_have_a_slope_by_their_errors() {
        let level_of = |resource: f64, freedom: f64| Level {
            resource,
            value: 100.0 / resource,
            standard_error: Some(1.0 / resource),
            freedom,
        };
        // Two equal errors of two degrees of freedom have four together.
        for (freedom, quantile) in [(1e6, 1.96), (2.0, 2.776), (1.0, 4.303)] {
            let found = slope_of_levels(&[level_of(1.0, freedom), level_of(10.0, freedom)]).unwrap();
            assert!((found.value() + 1.0).abs() < 1e-9);
            let (low, high) = found.interval().bounds().unwrap();
            let quantiles = (high - low) / 2.0 / (0.01 * 2f64.sqrt() / 10f64.ln());
            assert!((quantiles / quantile - 1.0).abs() < 0.005, "{freedom}: [{low}, {high}]");
        }
        let level = |resource: f64| level_of(resource, 1e6);
        assert_eq!(slope_of_levels(&[level(1.0)]), None);
        assert_eq!(slope_of_levels(&[level(1.0), level(1.0)]), None, "one level twice");
        assert_eq!(slope_of_levels(&[level(1.0), Level::without_error(0.0, 1.0)]), None, "nothing is no level");
    }
}
