//! Keys that were given up not long ago: a table of fingerprints, and an exact queue for policies that need its order.

use std::collections::{HashMap, VecDeque};

use crate::block::mix;

/// Places for fingerprints that share one hash.
const BUCKET: usize = 8;
/// Parts of the capacity in which age is counted.
const AGES: u64 = 256;

/// Fingerprints of the last keys, 4 bytes each: 16 bits of hash and 16 of age.
///
/// A key that was not put is found by chance in about 1 of 8,000 cases; one that was put is missed when its bucket
/// ran over.
#[derive(Debug)]
pub(super) struct GhostTable {
    places: Vec<(u16, u16)>,
    /// Keys until the age moves on.
    step: u64,
    puts: u64,
}

impl GhostTable {
    /// A table that remembers the last `capacity` keys; `capacity` is positive.
    pub(super) fn new(capacity: u32) -> Self {
        let buckets = (capacity as usize * 5 / 4).div_ceil(BUCKET).max(1);
        let step = u64::from(capacity).div_ceil(AGES).max(1);
        // Age 0 is far in the past of the first key.
        Self { places: vec![(0, 0); buckets * BUCKET], step, puts: (AGES * 2 + 1) * step }
    }

    fn now(&self) -> u16 {
        u16::try_from((self.puts / self.step) & 0xffff).expect("16 bits")
    }

    fn age(&self, born: u16) -> u16 {
        self.now().wrapping_sub(born)
    }

    fn bucket(&self, key: u64) -> (usize, u16) {
        let hash = mix(key ^ 0x5bd1_e995);
        let buckets = self.places.len() / BUCKET;
        let bucket = usize::try_from((u128::from(hash) * buckets as u128) >> 64).expect("below the number of buckets");
        (bucket * BUCKET, u16::try_from(hash & 0xffff).expect("16 bits"))
    }

    /// Remembers a key.
    pub(super) fn put(&mut self, key: u64) {
        self.puts += 1;
        let (from, mark) = self.bucket(key);
        let oldest = (from..from + BUCKET).max_by_key(|place| self.age(self.places[*place].1)).expect("eight places");
        self.places[oldest] = (mark, self.now());
    }

    /// Whether a key is remembered; forgets it.
    pub(super) fn take(&mut self, key: u64) -> bool {
        let (from, mark) = self.bucket(key);
        let most = u16::try_from(AGES).expect("fits");
        let found = (from..from + BUCKET).find(|place| {
            let (other, born) = self.places[*place];
            other == mark && self.age(born) <= most
        });
        if let Some(place) = found {
            self.places[place].1 = self.now().wrapping_sub(most * 2);
        }
        found.is_some()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.places.capacity() * size_of::<(u16, u16)>()
    }
}

/// The last keys, exactly, oldest first.
#[derive(Debug, Default)]
pub(super) struct GhostQueue {
    stamps: HashMap<u64, u64>,
    /// Keys with their stamps; one whose stamp is not the map's was taken out.
    order: VecDeque<(u64, u64)>,
    next: u64,
}

impl GhostQueue {
    pub(super) fn length(&self) -> usize {
        self.stamps.len()
    }

    pub(super) fn put(&mut self, key: u64) {
        self.next += 1;
        self.stamps.insert(key, self.next);
        self.order.push_back((key, self.next));
        if self.order.len() > 2 * self.stamps.len() + 16 {
            let stamps = &self.stamps;
            self.order.retain(|(key, stamp)| stamps.get(key) == Some(stamp));
        }
    }

    pub(super) fn has(&self, key: u64) -> bool {
        self.stamps.contains_key(&key)
    }

    pub(super) fn take(&mut self, key: u64) -> bool {
        self.stamps.remove(&key).is_some()
    }

    pub(super) fn drop_oldest(&mut self) {
        while let Some((key, stamp)) = self.order.pop_front() {
            if self.stamps.get(&key) == Some(&stamp) {
                self.stamps.remove(&key);
                return;
            }
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.stamps.capacity() * 17 + self.order.capacity() * 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_keys_are_known_and_old_ones_are_not() {
        let mut table = GhostTable::new(10_000);
        (0..100_000).for_each(|key| table.put(key));
        let recent = (90_100..100_000).filter(|key| table.take(*key)).count();
        assert!(recent > 9_200, "{recent} of 9,900 are known");
        assert!((0..80_000).filter(|key| table.take(*key)).count() < 100);
        assert!((90_100..100_000).filter(|key| table.take(*key)).count() < 20, "a key is taken once");
    }

    #[test]
    fn the_queue_drops_the_oldest_that_is_left() {
        let mut queue = GhostQueue::default();
        (0..4).for_each(|key| queue.put(key));
        assert!(queue.take(0));
        queue.put(1);
        queue.drop_oldest();
        assert_eq!([0, 1, 2, 3].map(|key| queue.has(key)), [false, true, false, true]);
    }
}
