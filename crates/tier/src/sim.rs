//! A cache without devices, for tests of policies: their hit ratios on a trace. It keeps no data and knows no dirty line.

use crate::block::{OriginBlock, SectorSet};
use crate::lines::{LineEntry, LineTable};
use crate::lists::{LineNumber, Lists};
use crate::policy::{Incoming, Policy, PolicyChoice};

/// A policy at work on keys.
pub(crate) struct CacheSimulation {
    policy: Box<dyn Policy>,
    lists: Lists,
    table: LineTable,
    used: u32,
}

impl CacheSimulation {
    /// An empty cache of so many lines, at least one.
    pub(crate) fn new(choice: PolicyChoice, lines: u32) -> Self {
        let lines = lines.max(1);
        Self { policy: choice.make(0, lines), lists: Lists::new(lines), table: LineTable::new(lines), used: 0 }
    }

    /// Looks a key (below 2^48) up and takes it in when it is missing; says whether it was there.
    pub(crate) fn access(&mut self, key: u64) -> bool {
        let block = OriginBlock::new(0, key);
        self.policy.seen(key);
        if let Some(line) = self.table.find(block) {
            self.policy.touch(&mut self.lists, line, key);
            return true;
        }
        let line = self.room(key);
        self.table.set(line, LineEntry::new(block, SectorSet(1), SectorSet(0)));
        self.policy.admit(&mut self.lists, line, key);
        false
    }

    fn room(&mut self, key: u64) -> LineNumber {
        if self.used < self.table.count() {
            self.used += 1;
            return self.used - 1;
        }
        let table = &self.table;
        let key_of = |line: LineNumber| table.entry(line).block().map_or(0, OriginBlock::index);
        self.policy.victim(&mut self.lists, Incoming(key), &key_of).expect("a full cache has a victim")
    }

    /// The share of a trace that hits, 0 to 1; 0 of an empty trace.
    pub(crate) fn hit_ratio(choice: PolicyChoice, lines: u32, trace: &[u64]) -> f64 {
        let mut cache = Self::new(choice, lines);
        let hits = trace.iter().filter(|key| cache.access(**key)).count();
        if trace.is_empty() { 0.0 } else { hits as f64 / trace.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::mix;

    /// Keys whose frequency falls as 1 / rank, by inversion of the continuous law.
    fn skewed(count: usize, keys: f64, seed: u64) -> Vec<u64> {
        (0..count as u64)
            .map(|index| {
                let uniform = (mix(seed ^ mix(index)) >> 11) as f64 / (1_u64 << 53) as f64;
                mix(keys.powf(uniform) as u64) >> 20
            })
            .collect()
    }

    /// Least recently used, as a plain list.
    fn reference_hits(lines: usize, trace: &[u64]) -> usize {
        let mut recent: Vec<u64> = Vec::new();
        let mut hits = 0;
        for key in trace {
            if let Some(at) = recent.iter().position(|other| other == key) {
                recent.remove(at);
                hits += 1;
            } else if recent.len() == lines {
                recent.remove(0);
            }
            recent.push(*key);
        }
        hits
    }

    #[test]
    fn lru_is_a_list_in_order_of_use() {
        let trace = skewed(5_000, 500.0, 3);
        for lines in [1, 7, 60] {
            let ratio = CacheSimulation::hit_ratio(PolicyChoice::Lru, lines, &trace);
            assert_eq!((ratio * 5_000.0).round() as usize, reference_hits(lines as usize, &trace));
        }
    }

    #[test]
    fn every_policy_holds_what_fits_and_no_more() {
        for choice in PolicyChoice::ALL {
            let mut cache = CacheSimulation::new(choice, 50);
            let first = (0..50).filter(|key| cache.access(*key)).count();
            let second = (0..50).filter(|key| cache.access(*key)).count();
            assert_eq!((first, second), (0, 50), "{}", choice.name());
            (100..1_000).for_each(|key| _ = cache.access(key));
            let mut held = 0;
            for line in 0..50 {
                held += usize::from(cache.table.entry(line).is_mapped());
            }
            assert_eq!(held, 50, "{}", choice.name());
        }
    }

    /// Hot keys used often, then a scan that is ten times as long as the cache, then the hot keys again.
    fn hits_after_scan(choice: PolicyChoice) -> usize {
        let mut cache = CacheSimulation::new(choice, 100);
        for round in 0..20 {
            (0..60).for_each(|key| _ = cache.access(key));
            (0..40).for_each(|key| _ = cache.access(10_000 + round * 40 + key));
        }
        (50_000..51_000).for_each(|key| _ = cache.access(key));
        (0..60).filter(|key| cache.access(*key)).count()
    }

    #[test]
    fn a_scan_empties_lru_and_spares_the_others() {
        assert_eq!(hits_after_scan(PolicyChoice::Lru), 0);
        for choice in PolicyChoice::ALL.into_iter().filter(|choice| *choice != PolicyChoice::Lru) {
            let hits = hits_after_scan(choice);
            assert!(hits >= 40, "{} kept {hits} of 60", choice.name());
        }
    }

    #[test]
    fn no_policy_is_a_point_and_a_half_worse_than_lru_on_a_skewed_trace() {
        let trace = skewed(60_000, 20_000.0, 11);
        for lines in [200, 1_000, 4_000] {
            let lru = CacheSimulation::hit_ratio(PolicyChoice::Lru, lines, &trace);
            for choice in PolicyChoice::ALL {
                let ratio = CacheSimulation::hit_ratio(choice, lines, &trace);
                assert!(ratio >= lru - 0.015, "{} {ratio:.4} against {lru:.4} with {lines} lines", choice.name());
            }
        }
    }

    #[test]
    fn a_loop_that_fits_is_kept_though_other_keys_were_there_first() {
        for choice in PolicyChoice::ALL {
            let mut cache = CacheSimulation::new(choice, 1_000);
            (0..2_000).for_each(|key| _ = cache.access(key));
            for _ in 0..40 {
                (0..800).for_each(|key| _ = cache.access(key));
            }
            let hits = (0..800).filter(|key| cache.access(*key)).count();
            assert_eq!(hits, 800, "{}", choice.name());
        }
    }

    #[test]
    fn the_policy_that_counts_hits_more_than_the_others_where_frequency_decides() {
        let skewed = skewed(200_000, 20_000.0, 5);
        let mixed: Vec<u64> = (0..200_000_u64)
            .zip(&skewed)
            .map(|(at, key)| if at % 3 == 0 { at / 3 % 6_000 } else { key + 6_000 })
            .collect();
        let looping: Vec<u64> = (0..60_000).map(|at| at % 6_000).collect();
        for (name, trace, lines) in [("skewed", &skewed, 1_000), ("mixed", &mixed, 1_000), ("looping", &looping, 3_000)]
        {
            let own = CacheSimulation::hit_ratio(PolicyChoice::TinyLfu, lines, trace);
            for choice in PolicyChoice::ALL {
                let ratio = CacheSimulation::hit_ratio(choice, lines, trace);
                assert!(own >= ratio - 0.005, "{name}: {own:.4}, {} {ratio:.4}", choice.name());
            }
        }
    }
}
