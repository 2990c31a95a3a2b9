//! How often keys were seen, roughly: a count-min sketch of 4-bit counters that ages.

use crate::block::mix;

/// Counters of one key.
const ROWS: u64 = 4;

/// Source: Einziger, Friedman, Manes, "`TinyLFU`: a highly efficient cache admission policy", section 3: counters of
/// 4 bits, all halved after ten times as many keys as lines.
#[derive(Debug)]
pub(super) struct FrequencySketch {
    /// Two counters in each byte.
    counters: Vec<u8>,
    seen: u64,
    period: u64,
}

impl FrequencySketch {
    pub(super) fn new(lines: u32) -> Self {
        let counters = u64::from(lines).max(64).next_power_of_two() * 4;
        let bytes = usize::try_from(counters / 2).expect("a sketch fits memory");
        Self { counters: vec![0; bytes], seen: 0, period: u64::from(lines.max(1)) * 10 }
    }

    fn places(&self, key: u64) -> impl Iterator<Item = (usize, u8)> + use<> {
        let mask = self.counters.len() as u64 * 2 - 1;
        (0..ROWS).map(move |row| {
            let place = mix(key.wrapping_add((row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))) & mask;
            (usize::try_from(place / 2).expect("inside the sketch"), if place.is_multiple_of(2) { 0 } else { 4 })
        })
    }

    pub(super) fn estimate(&self, key: u64) -> u8 {
        self.places(key).map(|(byte, shift)| (self.counters[byte] >> shift) & 15).min().unwrap_or(0)
    }

    /// Counts a key: the least of its counters, so that others grow less.
    pub(super) fn count(&mut self, key: u64) {
        let least = self.estimate(key);
        if least < 15 {
            for (byte, shift) in self.places(key) {
                if (self.counters[byte] >> shift) & 15 == least {
                    self.counters[byte] += 1 << shift;
                }
            }
        }
        self.seen += 1;
        if self.seen >= self.period {
            self.seen /= 2;
            self.counters.iter_mut().for_each(|pair| *pair = (*pair >> 1) & 0x77);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.counters.capacity()
    }
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
}
