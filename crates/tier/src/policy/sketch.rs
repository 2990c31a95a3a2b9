//! How often keys were seen, roughly: a count-min sketch of 4-bit counters that ages.

use crate::block::mix;

/// Counters of one key, in as many rows.
const ROWS: usize = 4;
/// Counters of a block in one row.
const ROW_COUNTERS: u64 = 32;
/// Lines for which a block is made: 8 counters and 4 bytes for each.
const BLOCK_LINES: u32 = 16;

/// A line of the processor's cache, so that counting a key costs one access to memory.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct CounterBlock([u8; 64]);

/// Source: Einziger, Friedman, Manes, "`TinyLFU`: a highly efficient cache admission policy", section 3: counters of
/// 4 bits, all halved after ten times as many keys as lines. That all counters of a key share a block is ours.
#[derive(Debug)]
pub(super) struct FrequencySketch {
    blocks: Vec<CounterBlock>,
    seen: u64,
    period: u64,
}

impl FrequencySketch {
    pub(super) fn new(lines: u32) -> Self {
        let blocks = lines.div_ceil(BLOCK_LINES).max(1) as usize;
        Self { blocks: vec![CounterBlock([0; 64]); blocks], seen: 0, period: u64::from(lines.max(1)) * 10 }
    }

    /// The block of a key, and byte and shift of its counter in each row.
    fn places(&self, key: u64) -> (usize, [(usize, u8); ROWS]) {
        let hash = mix(key ^ 0x1234_5678_9abc);
        // The block is chosen by the upper bits of the hash, the counters by 5 of the lower ones each.
        let block = (u128::from(hash) * self.blocks.len() as u128) >> 64;
        let place = |row: usize| {
            let counter = (hash >> (row * 5)) & (ROW_COUNTERS - 1);
            (row * 16 + (counter / 2) as usize, if counter.is_multiple_of(2) { 0 } else { 4 })
        };
        (usize::try_from(block).expect("below the number of blocks"), std::array::from_fn(place))
    }

    pub(super) fn estimate(&self, key: u64) -> u8 {
        let (block, places) = self.places(key);
        least(&self.blocks[block], &places)
    }

    /// Counts a key: the least of its counters, so that others grow less.
    #[inline]
    pub(super) fn count(&mut self, key: u64) {
        let (block, places) = self.places(key);
        let block = &mut self.blocks[block];
        let least = least(block, &places);
        if least < 15 {
            for (byte, shift) in places {
                if (block.0[byte] >> shift) & 15 == least {
                    block.0[byte] += 1 << shift;
                }
            }
        }
        self.seen += 1;
        if self.seen >= self.period {
            self.age();
        }
    }

    #[cold]
    fn age(&mut self) {
        self.seen /= 2;
        self.blocks.iter_mut().flat_map(|block| &mut block.0).for_each(|pair| *pair = (*pair >> 1) & 0x77);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<CounterBlock>()
    }
}

fn least(block: &CounterBlock, places: &[(usize, u8); ROWS]) -> u8 {
    places.iter().map(|(byte, shift)| (block.0[*byte] >> shift) & 15).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_keys_are_told_from_rare_ones_and_old_fame_fades() {
        let mut sketch = FrequencySketch::new(1000);
        (0..9).for_each(|_| sketch.count(7));
        (100..600).for_each(|key| sketch.count(key));
        assert_eq!(sketch.estimate(7), 9);
        assert!((100..600).all(|key| (1..3).contains(&sketch.estimate(key))));
        (0..30_000).for_each(|key| sketch.count(1_000_000 + key % 5_000));
        assert!(sketch.estimate(7) < 9, "{}", sketch.estimate(7));
    }

    #[test]
    fn few_of_many_keys_are_taken_for_frequent() {
        let mut sketch = FrequencySketch::new(10_000);
        (0..10_000).for_each(|key| sketch.count(key));
        let wrong = (0..10_000).filter(|key| sketch.estimate(*key) > 1).count();
        assert!(wrong < 500, "{wrong} of 10,000 that were seen once");
        let unseen = (20_000..30_000).filter(|key| sketch.estimate(*key) > 0).count();
        assert!(unseen < 2_500, "{unseen} of 10,000 that were never seen");
        assert_eq!(sketch.memory_bytes(), 4 * 10_000);
    }

    #[test]
    fn a_counter_stays_within_its_four_bits() {
        let mut sketch = FrequencySketch::new(1000);
        (0..40).for_each(|_| sketch.count(7));
        assert_eq!(sketch.estimate(7), 15);
        let sum: u32 = sketch
            .blocks
            .iter()
            .flat_map(|block| block.0)
            .map(|pair| u32::from(pair >> 4) + u32::from(pair & 15))
            .sum();
        assert_eq!(sum, 60, "no neighbour has grown");
    }
}
