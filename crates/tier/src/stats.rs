//! What happened to a volume, in counts that only grow. Intervals are differences of two readings.

macro_rules! counters {
    ($($(#[doc = $text:literal])+ $name:ident,)+) => {
        /// Counts of one volume since it was opened. A request that spans several blocks counts once for each.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct VolumeCounters {
            $($(#[doc = $text])+ pub $name: u64,)+
        }

        impl VolumeCounters {
            /// What was counted since an earlier reading of the same volume.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.saturating_sub(earlier.$name),)+ }
            }

            /// Counts with these values, in the order of their definition; `None` when there are too few.
            pub(crate) fn from_values(mut next: impl FnMut() -> Option<u64>) -> Option<Self> {
                Some(Self { $($name: next()?,)+ })
            }

            /// Names and values, in the order of their definition.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)+]
            }
        }
    };
}

counters! {
    /// Reads of a block or a part of it.
    reads,
    /// Bytes that were read.
    read_bytes,
    /// Reads whose sectors were all in the cache.
    read_hits,
    /// Reads of which some sectors were in the cache.
    read_partial_hits,
    /// Reads of which no sector was in the cache.
    read_misses,
    /// Writes to a block or a part of it.
    writes,
    /// Bytes that were written.
    write_bytes,
    /// Writes whose block had a line already, wherever they went.
    write_hits,
    /// Writes that were completed on the cache alone.
    writes_absorbed,
    /// Writes that went to the origin, by mode or because too many lines were dirty.
    writes_to_origin,
    /// Writes of a write-back volume that went to the origin because no line could be had or too many were dirty.
    writes_bypassed,
    /// Discards of a block or a part of it.
    discards,
    /// Flushes that were asked for.
    flushes,
    /// Sectors that reads brought into the cache.
    promoted_sectors,
    /// Misses that were not brought into the cache.
    promotions_skipped,
    /// Lines that were given up.
    evictions,
    /// Lines that were cleaned.
    cleaned_lines,
    /// Bytes that the cleaner wrote.
    cleaned_bytes,
    /// Writes of the cleaner, neighbours merged.
    clean_runs,
    /// Lines that were written while they were cleaned, and stayed dirty.
    cleaned_in_vain,
    /// Clean lines that were dropped, since their checksum did not match.
    clean_mismatches,
    /// Dirty sectors whose checksum did not match after a crash, which an overwrite in place may cause.
    torn_sectors,
    /// Dirty sectors whose content is lost, since their checksum did not match: they are neither read nor written to the origin.
    damaged_sectors,
    /// Failed reads and writes of the cache.
    cache_errors,
    /// Failed reads and writes of the origin.
    origin_errors,
}

impl VolumeCounters {
    /// Reads that hit in full, as a share of all, 0 to 1; `None` without reads.
    pub fn read_hit_ratio(&self) -> Option<f64> {
        share(self.read_hits, self.reads)
    }

    /// Writes to a block that had a line already, as a share of all, 0 to 1; `None` without writes.
    pub fn write_hit_ratio(&self) -> Option<f64> {
        share(self.write_hits, self.writes)
    }

    /// Writes that were completed on the cache alone, as a share of all, 0 to 1; `None` without writes.
    pub fn write_absorbed_ratio(&self) -> Option<f64> {
        share(self.writes_absorbed, self.writes)
    }

    /// Mean length of a write of the cleaner, bytes; `None` without one.
    pub fn mean_clean_run_bytes(&self) -> Option<f64> {
        share(self.cleaned_bytes, self.clean_runs)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_difference_and_hits_are_told_both_ways() {
        let earlier = VolumeCounters { reads: 10, writes: 4, ..VolumeCounters::default() };
        let later = VolumeCounters {
            reads: 30,
            read_hits: 15,
            writes: 14,
            write_hits: 2,
            writes_absorbed: 10,
            ..VolumeCounters::default()
        };
        let interval = later.since(&earlier);
        assert_eq!((interval.reads, interval.writes), (20, 10));
        assert_eq!(interval.read_hit_ratio(), Some(0.75));
        assert_eq!((interval.write_hit_ratio(), interval.write_absorbed_ratio()), (Some(0.2), Some(1.0)));
        assert_eq!(VolumeCounters::default().read_hit_ratio(), None);
        assert_eq!(interval.list().len(), 25);
    }
}
