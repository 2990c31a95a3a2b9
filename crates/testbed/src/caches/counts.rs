//! What a cache counted, in the words of our own tier where the meaning is the same. What a system does not count is absent.

use proofload_model::units::Bytes;
use std::collections::BTreeMap;
use std::time::Duration;

macro_rules! counts {
    ($($(#[doc = $text:literal])+ $variant:ident = $name:literal,)+) => {
        /// Something that a cache may count. What exactly a system counts under it is told by [`KernelCache::meanings`](super::KernelCache::meanings).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum CacheCount {
            $($(#[doc = $text])+ $variant,)+
        }

        impl CacheCount {
            /// Every one, in the order in which they are told.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in documents; that of our own tier where it counts the same.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

counts! {
    /// Reads.
    Reads = "reads",
    /// Reads that the cache answered alone.
    ReadHits = "read_hits",
    /// Reads that the cache answered in part.
    ReadPartialHits = "read_partial_hits",
    /// Reads that the origin answered.
    ReadMisses = "read_misses",
    /// Writes.
    Writes = "writes",
    /// Writes to what the cache had already, wherever they went.
    WriteHits = "write_hits",
    /// Writes that were completed on the cache alone.
    WritesAbsorbed = "writes_absorbed",
    /// Writes that went past the cache though its mode would have them in it.
    WritesBypassed = "writes_bypassed",
    /// Reads that went past the cache without being looked up.
    ReadsBypassed = "reads_bypassed",
    /// Bytes that were read or written past the cache.
    BytesBypassed = "bytes_bypassed",
    /// Flushes that were asked for.
    Flushes = "flushes",
    /// Discards.
    Discards = "discards",
    /// Blocks that were brought into the cache.
    Promotions = "promotions",
    /// Blocks that were given up.
    Evictions = "evictions",
}

/// State and counts of a cache at one moment, or of a time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheStatistics {
    /// Device that users of the volume open.
    pub volume: String,
    /// Mode, in the system's own words.
    pub mode: String,
    /// Size of a block of the cache.
    pub block: Bytes,
    /// Blocks of the cache; `None` where the system does not tell.
    pub blocks: Option<u64>,
    /// Blocks in use; `None` where the system does not tell.
    pub used_blocks: Option<u64>,
    /// Bytes that the origin has not; `None` where the system does not tell.
    pub dirty: Option<Bytes>,
    /// Whether the system says itself that nothing is dirty: `dirty` may be rounded.
    pub is_clean: bool,
    /// What is wrong, in the system's own words; empty when nothing is.
    pub faults: Vec<String>,
    /// Counts since the cache was put in place, or over a time.
    pub counts: BTreeMap<CacheCount, u64>,
    /// Time that is counted over; `None`: since the cache was put in place.
    pub over: Option<Duration>,
}

impl CacheStatistics {
    /// A count; `None` when the system does not count it.
    pub fn count(&self, of: CacheCount) -> Option<u64> {
        self.counts.get(&of).copied()
    }

    /// The state of now with what was counted since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self, over: Duration) -> Self {
        let between = |(of, value): (&CacheCount, &u64)| (*of, value.saturating_sub(earlier.count(*of).unwrap_or(0)));
        Self { counts: self.counts.iter().map(between).collect(), over: Some(over), ..self.clone() }
    }

    /// Reads that hit in full, as a share of all, 0 to 1; `None` without reads.
    pub fn read_hit_ratio(&self) -> Option<f64> {
        self.share(CacheCount::ReadHits, CacheCount::Reads)
    }

    /// Writes to what the cache had already, as a share of all, 0 to 1; `None` without writes or where they are not counted.
    pub fn write_hit_ratio(&self) -> Option<f64> {
        self.share(CacheCount::WriteHits, CacheCount::Writes)
    }

    /// Writes that were completed on the cache alone, as a share of all, 0 to 1; `None` without writes or where they are not counted.
    pub fn write_absorbed_ratio(&self) -> Option<f64> {
        self.share(CacheCount::WritesAbsorbed, CacheCount::Writes)
    }

    fn share(&self, part: CacheCount, whole: CacheCount) -> Option<f64> {
        let (part, whole) = (self.count(part)?, self.count(whole)?);
        (whole > 0).then(|| part as f64 / whole as f64)
    }
}

/// Whether a reading holds exactly what the system says it counts.
#[cfg(test)]
#[track_caller]
pub(super) fn expect_meanings(cache: &dyn super::cache::KernelCache, found: &CacheStatistics) {
    let meant: Vec<CacheCount> = cache.meanings().iter().map(|(of, _)| *of).collect();
    assert_eq!(found.counts.keys().copied().collect::<Vec<_>>(), meant, "{}", cache.name());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_tier::stats::VolumeCounters;

    #[test]
    fn names_are_those_of_our_own_tier_or_of_what_it_does_not_count() {
        let ours: Vec<&str> = VolumeCounters::default().list().into_iter().map(|(name, _)| name).collect();
        let others: Vec<&str> =
            CacheCount::ALL.iter().map(|of| of.name()).filter(|name| !ours.contains(name)).collect();
        assert_eq!(others, ["reads_bypassed", "bytes_bypassed", "promotions"]);
    }

    #[test]
    fn an_interval_is_a_difference_and_what_is_not_counted_has_no_share() {
        let reading = |reads, hits| CacheStatistics {
            counts: [(CacheCount::Reads, reads), (CacheCount::ReadHits, hits)].into(),
            ..CacheStatistics::default()
        };
        let between = reading(30, 20).since(&reading(10, 5), Duration::from_secs(2));
        assert_eq!(between.read_hit_ratio(), Some(0.75));
        assert_eq!((between.write_hit_ratio(), between.count(CacheCount::Flushes)), (None, None));
        assert_eq!(reading(0, 0).read_hit_ratio(), None);
    }
}
