//! Which visits a block makes, and when blocks are enough. Dropping looks at the elasticity alone, so intervals of what is kept are nominal.

use super::estimate::KnobElasticity;
use crate::random::Random;

/// Blocks in which everything is visited before anything is dropped.
pub const PILOT_BLOCKS: usize = 3;
/// Blocks at most, unless more are asked for.
pub const MOST_BLOCKS: usize = 12;
/// Blocks before an early end.
pub const LEAST_BLOCKS: usize = 6;
/// Share that the interval leaves out by which a resource is dropped, and its upper bound.
const DROPPED_BY: (f64, f64) = (0.025, 0.3);
/// Lower bound above which a resource needs no further block.
const SURE_ABOVE: f64 = 0.5;

/// Whether a resource is visited in further blocks.
pub fn kept(found: &KnobElasticity) -> bool {
    found.blocks < PILOT_BLOCKS || found.bounds(DROPPED_BY.0).1 > DROPPED_BY.1
}

/// Whether further blocks would change nothing that can be said of the resources that are kept.
pub fn suffices(blocks: usize, kept: &[KnobElasticity]) -> bool {
    let is_sure = |found: &KnobElasticity| found.bounds(0.05).0 > SURE_ABOVE;
    (blocks >= PILOT_BLOCKS && kept.is_empty()) || (blocks >= LEAST_BLOCKS && kept.iter().all(is_sure))
}

/// The visits of a block in an order that is drawn from the seed and the block's number alone.
pub fn order<T: Clone>(visits: &[T], seed: u64, block: u32) -> Vec<T> {
    let mut order = visits.to_vec();
    let mut random = Random::stream(seed, u64::from(block));
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(value: f64, error: f64, blocks: usize) -> KnobElasticity {
        KnobElasticity { value, error, freedom: blocks as f64 - 1.0, blocks }
    }

    #[test]
    fn a_resource_is_dropped_only_once_it_is_shown_to_be_small() {
        assert!(kept(&found(0.0, 0.01, 2)), "before the third block");
        assert!(!kept(&found(0.0, 0.01, 3)));
        assert!(kept(&found(0.0, 0.1, 3)), "t(2) at 98.75 % is 6.2");
        assert!(kept(&found(0.9, 0.01, 3)));
    }

    #[test]
    fn blocks_end_when_nothing_is_left_or_all_is_sure() {
        assert!(!suffices(2, &[]));
        assert!(suffices(3, &[]));
        assert!(!suffices(5, &[found(1.0, 0.01, 5)]));
        assert!(suffices(6, &[found(1.0, 0.01, 6)]));
        assert!(!suffices(6, &[found(1.0, 0.01, 6), found(0.4, 0.1, 6)]));
    }

    #[test]
    fn orders_follow_from_seed_and_block() {
        let visits: Vec<u32> = (0..8).collect();
        assert_eq!(order(&visits, 4, 1), order(&visits, 4, 1));
        assert_ne!(order(&visits, 4, 1), order(&visits, 4, 2));
        assert_ne!(order(&visits, 4, 1), order(&visits, 5, 1));
        // Each place is reached by each visit about equally often: 1000 ± 4.7 · 29.6 of 8000 for the rarest.
        let mut first = [0; 8];
        (0..8000).for_each(|block| first[order(&visits, 9, block)[0] as usize] += 1);
        assert!(first.iter().all(|count| (860..1140).contains(count)), "{first:?}");
    }
}
