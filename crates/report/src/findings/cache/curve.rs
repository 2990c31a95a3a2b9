//! Hits that caches of many sizes would have had in the window of a point, from the sample of its references.

use crate::findings::factor::size_text;
use crate::findings::run::Pair;
use crate::findings::telemetry::traces;
use proofload_model::series::{SeriesName, tier};
use proofload_model::tier::{SizedVolume, TierVolume};
use proofload_model::units::Bytes;

/// Share of the sample that may be lost before it was read.
const MOST_LOST: f64 = 0.01;

/// References of the sample in the window, at least.
const LEAST_SAMPLED: f64 = 500.0;

/// Hits of a volume's requests in a cache of a size. Shares are 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeHits {
    /// The volume.
    pub volume: TierVolume,
    /// Reads that are all in a cache of the policy in force.
    pub reads: f64,
    /// Reads that are all in a cache that gives up what was used least recently.
    pub lru_reads: f64,
    /// Writes to a line that such a cache of the policy in force has.
    pub writes: f64,
    /// Bytes that its cleaner writes for each write.
    pub cleaned_bytes: f64,
}

/// Hits by the size of the cache, in the order of sizes; not empty.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeCurve {
    /// References of the sample in the windows.
    pub sampled: f64,
    /// The sizes that were simulated, each with its volumes.
    pub sizes: Vec<(Bytes, Vec<VolumeHits>)>,
}

impl SizeCurve {
    /// Hits in a cache of a size: on a straight line between two that were simulated, and beyond the largest as there.
    ///
    /// # Errors
    /// When the sample is too small for the size.
    pub fn at(&self, size: Bytes) -> Result<Vec<VolumeHits>, String> {
        let above = self.sizes.partition_point(|(known, _)| *known < size);
        let (least, _) = &self.sizes[0];
        match (above.checked_sub(1).map(|below| &self.sizes[below]), self.sizes.get(above)) {
            (Some((low, from)), Some((high, to))) => {
                let place = (size.0 - low.0) as f64 / (high.0 - low.0) as f64;
                Ok(from.iter().zip(to).map(|(from, to)| between(from, to, place)).collect())
            }
            (None, Some((known, found))) if *known == size => Ok(found.clone()),
            (Some((_, found)), None) => Ok(found.clone()),
            _ => {
                let least = size_text(&least.to_string()).replace('\u{a0}', " ");
                Err(format!("the reference sample is too coarse for a cache below {least}"))
            }
        }
    }
}

fn between(from: &VolumeHits, to: &VolumeHits, place: f64) -> VolumeHits {
    let line = |of: fn(&VolumeHits) -> f64| of(from) + place * (of(to) - of(from));
    VolumeHits {
        volume: from.volume,
        reads: line(|hits| hits.reads),
        lru_reads: line(|hits| hits.lru_reads),
        writes: line(|hits| hits.writes),
        cleaned_bytes: line(|hits| hits.cleaned_bytes),
    }
}

/// The curve of a point's runs, or the reason against it: nothing was sampled, too little, or with gaps.
pub(crate) fn curve(runs: &[Pair<'_>], volumes: &[TierVolume]) -> Result<SizeCurve, String> {
    let sampled = sum(runs, tier::SAMPLED, "");
    let lost = sum(runs, tier::SAMPLE_LOST, "");
    if sampled == 0.0 {
        return Err("no references were sampled: an earlier version wrote the record, or the sample could not be read"
            .to_owned());
    }
    if sampled < LEAST_SAMPLED {
        return Err(format!(
            "only {sampled:.0} references were sampled in the window; at least {LEAST_SAMPLED} are needed"
        ));
    }
    if lost > MOST_LOST * sampled {
        let share = 100.0 * lost / (sampled + lost);
        return Err(format!("{share:.0} % of the sample was overwritten before it was read"));
    }
    let components = runs.iter().flat_map(|(_, attempt)| traces(attempt, tier::MISSES_AT));
    let mut sizes: Vec<Bytes> =
        components.filter_map(|trace| Some(SizedVolume::parse(&trace.instance)?.size)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of =
        |size: Bytes| (size, volumes.iter().map(|volume| hits(runs, SizedVolume { volume: *volume, size })).collect());
    let sizes: Vec<_> = sizes.into_iter().map(of).collect();
    if sizes.is_empty() {
        Err("the sample is too small for a cache of any size".to_owned())
    } else {
        Ok(SizeCurve { sampled, sizes })
    }
}

fn hits(runs: &[Pair<'_>], of: SizedVolume) -> VolumeHits {
    let (reads, writes) = (sum(runs, tier::READS, of.volume.word()), sum(runs, tier::WRITES, of.volume.word()));
    let share = |wanted, all: f64| if all > 0.0 { sum(runs, wanted, &of.to_string()) / all } else { 0.0 };
    // The sample of a few seconds may hold more of the misses than all references do.
    let hits = |wanted, all| (1.0 - share(wanted, all)).clamp(0.0, 1.0);
    VolumeHits {
        volume: of.volume,
        reads: hits(tier::MISSES_AT, reads),
        lru_reads: hits(tier::LRU_MISSES_AT, reads),
        writes: hits(tier::WRITE_MISSES_AT, writes),
        cleaned_bytes: share(tier::CLEANED_AT, writes),
    }
}

/// Sum of a series of one component over the windows of all runs.
fn sum(runs: &[Pair<'_>], wanted: SeriesName, component: &str) -> f64 {
    let of = |(run, attempt): &Pair<'_>| -> f64 {
        let Some(window) = run.window_seconds() else { return 0.0 };
        let ours = traces(attempt, wanted).into_iter().filter(|trace| trace.instance == component);
        ours.flat_map(|trace| trace.within(window).values()).sum()
    };
    runs.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(reads: f64) -> Vec<VolumeHits> {
        vec![VolumeHits { volume: TierVolume::Data, reads, lru_reads: reads / 2.0, writes: 1.0, cleaned_bytes: 8.0 }]
    }

    #[test]
    fn between_two_sizes_is_a_line_beyond_the_largest_the_largest_and_below_the_least_nothing() {
        let curve = SizeCurve { sampled: 1e3, sizes: vec![(Bytes(100), hits(0.4)), (Bytes(300), hits(0.8))] };
        let at = |size| curve.at(Bytes(size)).map(|found| (found[0].reads, found[0].lru_reads));
        assert_eq!([at(100), at(300), at(999)], [Ok((0.4, 0.2)), Ok((0.8, 0.4)), Ok((0.8, 0.4))]);
        let (reads, lru) = at(150).unwrap();
        assert!((reads - 0.5).abs() < 1e-12 && (lru - 0.25).abs() < 1e-12);
        assert!(at(99).unwrap_err().contains("too coarse for a cache below 100 B"));
    }
}
