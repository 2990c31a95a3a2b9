//! What a cache is worth: each point on a tier beside the one without a cache, its hits, and what its slow medium did.

use crate::findings::estimate::{estimate, informative, measured, within_the_whole};
use crate::findings::evaluate::Findings;
use crate::findings::level::Measured;
use crate::findings::observed::in_windows;
use crate::findings::point::PointFindings;
use crate::findings::run::Pair;
use crate::findings::telemetry::{total, traces};
use crate::findings::void::Void;
use proofload_analysis::bootstrap::Estimate;
use proofload_analysis::distribution::median;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::series::{SeriesName, tier};
use proofload_model::tier::{TierPlan, TierVolume, tier_plan};
use proofload_record::Attempt;

/// Unit of megabytes.
const MEGABYTES: Unit = Unit::named("MB");

/// Unit of a write of the cleaner, which is some lines long.
const KIBIBYTES: Unit = Unit::named("KiB");

/// Unit of requests at a medium.
const REQUESTS: Unit = Unit::named("requests");

/// Mean time of a request from which a medium binds, s.
const MODELLED_FROM: f64 = 1e-3;

/// Share of their modelled time by which requests may be late.
const LATE_AT_MOST: f64 = 0.1;

/// Settings that make the tiers of two points different.
const OF_TIER: [&str; 2] = ["storage.cache", "storage.slow"];

/// A point on a tier.
#[derive(Debug, Clone)]
pub struct CachedPoint {
    /// Its number.
    pub point: u32,
    /// The tier.
    pub plan: TierPlan,
    /// Throughput over that without a cache; `None` for that point itself.
    pub times: Option<Measured>,
    /// The cached volumes together; without a cache both.
    pub both: VolumeUse,
    /// Each volume.
    pub volumes: Vec<(TierVolume, VolumeUse)>,
    /// The modelled medium.
    pub medium: MediumUse,
}

/// Reads and writes of a volume, in the window.
#[derive(Debug, Clone)]
pub struct VolumeUse {
    /// Reads, 1/s.
    pub reads: Measured,
    /// Reads that were all in the cache, % of reads; `None` without reads. So with the other shares.
    pub read_hits: Option<Measured>,
    /// Writes, 1/s.
    pub writes: Measured,
    /// Writes to a line that was in the cache, % of writes.
    pub write_hits: Option<Measured>,
    /// Writes that were completed on the cache alone, % of writes.
    pub absorbed: Option<Measured>,
    /// Writes of a write-back volume that bypassed the cache, % of writes.
    pub bypassed: Option<Measured>,
    /// Flushes, 1/s.
    pub flushes: Measured,
    /// Lines that were given up, 1/s.
    pub evictions: Measured,
    /// Bytes that reads brought into the cache, MB/s.
    pub promoted: Measured,
    /// Cache that holds its lines, mean, MB.
    pub in_use: Measured,
    /// Cache that holds its dirty lines, mean, MB.
    pub dirty: Measured,
    /// Bytes that the cleaner wrote, MB/s.
    pub cleaned: Measured,
    /// Mean length of a write of the cleaner, KiB; `None` without one.
    pub clean_run: Option<Measured>,
}

/// A modelled medium, in the window.
#[derive(Debug, Clone)]
pub struct MediumUse {
    /// Requests, 1/s.
    pub requests: Measured,
    /// Use of its drives, mean of all, %.
    pub busy: Measured,
    /// Mean requests that waited or were served.
    pub queue: Measured,
    /// Mean time of a request by the model, ms; `None` without requests.
    pub response: Option<Measured>,
    /// Time by which requests and syncs were handed back later, over the number of requests, ms; `None` without requests.
    pub late: Option<Measured>,
    /// Times by which requests and syncs were handed back later; `None` where no record has them.
    pub late_times: Option<DelayTimes>,
    /// Times by which files took longer than the model; `None` where none did, or no record has them.
    pub outrun_times: Option<DelayTimes>,
}

/// Delays in the seconds of all windows, ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DelayTimes {
    /// Median of the seconds' medians.
    pub p50: f64,
    /// Largest of the seconds' 99th percentiles.
    pub p99: f64,
}

fn delay_times(runs: &[Pair<'_>], [p50, p99]: [SeriesName; 2]) -> Option<DelayTimes> {
    let seconds = |wanted: SeriesName| -> Vec<f64> {
        let windows = runs.iter().filter_map(|(run, attempt)| Some((run.window_seconds()?, *attempt)));
        let traces = windows.flat_map(|(window, attempt)| {
            traces(attempt, wanted).into_iter().flat_map(move |trace| trace.within(window).values())
        });
        traces.collect()
    };
    let (medians, p99) = (seconds(p50), seconds(p99).into_iter().reduce(f64::max)?);
    (!medians.is_empty()).then(|| DelayTimes { p50: median(&medians), p99 })
}

/// The points of a study on tiers, in the order of the study; empty for others.
pub fn cached(findings: &Findings<'_>) -> Vec<CachedPoint> {
    let plan = |point: &PointFindings| {
        let settings = findings.record.plan.settings(&findings.record.study, point.id);
        tier_plan(&settings).ok().flatten()
    };
    let all: Vec<(&PointFindings, TierPlan)> =
        findings.points.iter().filter_map(|point| Some((point, plan(point)?))).collect();
    let bare: Vec<&PointFindings> =
        all.iter().filter(|(_, plan)| plan.cache.size.is_nothing()).map(|(point, _)| *point).collect();
    let measured = all.iter().filter(|(point, _)| !point.runs.is_empty());
    measured.map(|(point, plan)| cached_point(findings, point, plan, &bare)).collect()
}

fn cached_point(
    findings: &Findings<'_>,
    point: &PointFindings,
    plan: &TierPlan,
    bare: &[&PointFindings],
) -> CachedPoint {
    let attempts = point.runs.iter().filter_map(|run| Some((run, findings.record.finished(run.run.index)?)));
    let runs: Vec<Pair<'_>> = attempts.collect();
    // The log of an engine that keeps it among its data is no volume.
    let is_seen = |volume: TierVolume| {
        let reads = runs.iter().flat_map(|(_, attempt)| traces(attempt, tier::READS));
        volume == TierVolume::Data || reads.map(|trace| trace.instance).any(|name| name == volume.word())
    };
    let mut all = vec![TierVolume::Data, TierVolume::Log];
    all.retain(|volume| plan.cache.accelerates(*volume) || is_seen(*volume));
    let of = |volumes: &[TierVolume]| volume_use(&Volumes { runs: &runs, volumes });
    let cached: Vec<TierVolume> = all.iter().copied().filter(|volume| plan.cache.accelerates(*volume)).collect();
    CachedPoint {
        point: point.id,
        plan: plan.clone(),
        times: (!plan.cache.size.is_nothing()).then(|| times(findings, point, bare)),
        both: of(if cached.is_empty() { &all } else { &cached }),
        volumes: all.iter().map(|volume| (*volume, of(&[*volume]))).collect(),
        medium: medium(&runs),
    }
}

/// Throughput over that of the point without a cache whose other levels are the same; inside blocks, where there are any.
fn times(findings: &Findings<'_>, point: &PointFindings, bare: &[&PointFindings]) -> Measured {
    let base = bare.iter().find(|base| levels_beside(base) == levels_beside(point));
    let base = *base.ok_or_else(|| "the study has no matching point without a cache".to_owned())?;
    findings.throughput_over(point, base).map(informative)
}

/// Levels of the factors that are not of the tier.
pub(crate) fn levels_beside(point: &PointFindings) -> Vec<String> {
    let is_of_tier = |setting: &str| OF_TIER.iter().any(|before| setting.starts_with(before));
    let levels = point.levels.iter().filter(|(setting, _)| !is_of_tier(setting));
    levels.map(|(setting, value)| format!("{setting} = {value}")).collect()
}

/// The volumes that a use is of.
struct Volumes<'a> {
    runs: &'a [Pair<'a>],
    volumes: &'a [TierVolume],
}

impl Volumes<'_> {
    fn windows(&self, wanted: SeriesName) -> Result<Vec<Vec<f64>>, String> {
        let is_ours = |name: &str| self.volumes.iter().any(|volume| volume.word() == name);
        let pick = |attempt: &Attempt| {
            let ours: Vec<_> = traces(attempt, wanted).into_iter().filter(|trace| is_ours(&trace.instance)).collect();
            total(&ours)
        };
        in_windows(self.runs, pick, "the cache tier")
    }

    fn level(&self, wanted: SeriesName, factor: f64, unit: Unit) -> Measured {
        measured(&over_windows(&self.windows(wanted)?), unit, factor).map(informative)
    }

    /// What a part of a count is of it, %.
    fn share(&self, part: SeriesName, whole: SeriesName) -> Option<Measured> {
        let both = self.windows(part).and_then(|part| Ok((part, self.windows(whole)?)));
        match both {
            Ok((part, whole)) => {
                quotient_of_sums(&part, &whole, 100.0, Unit::PERCENT).map(|share| share.map(within_the_whole))
            }
            Err(why) => Some(Err(why)),
        }
    }

    /// Bytes of the cleaner over its writes, KiB.
    fn clean_run(&self) -> Option<Measured> {
        let both = self.windows(tier::CLEANED).and_then(|bytes| Ok((bytes, self.windows(tier::CLEAN_WRITES)?)));
        match both {
            Ok((bytes, writes)) => {
                quotient_of_sums(&bytes, &writes, 1.0 / 1024.0, KIBIBYTES).map(|run| run.map(not_negative))
            }
            Err(why) => Some(Err(why)),
        }
    }
}

/// Sum of one series over the sum of another that was read with it; `None` where the other is nothing.
///
/// The interval is that of the mean of `r + (aᵢ − r·bᵢ) / b̄`, whose mean is `r`: what both series have in common falls out. Source:
/// Cochran, "Sampling Techniques", 3rd edition 1977, 6.3 (ratio estimate).
fn quotient_of_sums(above: &[Vec<f64>], below: &[Vec<f64>], factor: f64, unit: Unit) -> Option<Measured> {
    let sum = |windows: &[Vec<f64>]| windows.iter().flatten().sum::<f64>();
    let (all, count) = (sum(below), below.iter().map(Vec::len).sum::<usize>() as f64);
    if all <= 0.0 {
        return None;
    }
    let (ratio, mean) = (sum(above) / all, all / count);
    let pairs = above.iter().zip(below);
    let linear =
        pairs.map(|(above, below)| above.iter().zip(below).map(|(a, b)| ratio + (a - ratio * b) / mean).collect());
    let windows: Vec<Vec<f64>> = linear.collect();
    let same = above.len() == below.len() && above.iter().zip(below).all(|(above, below)| above.len() == below.len());
    if !same {
        return Some(Err("some seconds were only partly read".to_owned()));
    }
    Some(over_windows(&windows).and_then(|estimate| measured(&Ok(estimate), unit, factor)))
}

fn over_windows(windows: &[Vec<f64>]) -> Result<Estimate, String> {
    estimate(&windows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// A quantity whose interval begins at 0.
fn not_negative(quantity: Quantity) -> Quantity {
    let Interval::Known { low, high, method } = quantity.interval() else { return quantity };
    let interval = Interval::known(low.max(0.0), *high, method.clone());
    Quantity::new(quantity.value(), quantity.unit().clone(), quantity.n(), interval)
}

fn volume_use(volumes: &Volumes<'_>) -> VolumeUse {
    VolumeUse {
        reads: volumes.level(tier::READS, 1.0, Unit::PER_SECOND),
        read_hits: volumes.share(tier::READ_HITS, tier::READS),
        writes: volumes.level(tier::WRITES, 1.0, Unit::PER_SECOND),
        write_hits: volumes.share(tier::WRITE_HITS, tier::WRITES),
        absorbed: volumes.share(tier::WRITES_ABSORBED, tier::WRITES),
        bypassed: volumes.share(tier::WRITES_BYPASSED, tier::WRITES),
        flushes: volumes.level(tier::FLUSHES, 1.0, Unit::PER_SECOND),
        evictions: volumes.level(tier::EVICTIONS, 1.0, Unit::PER_SECOND),
        promoted: volumes.level(tier::PROMOTED, 1e-6, Unit::MB_PER_SECOND),
        in_use: volumes.level(tier::IN_USE, 1e-6, MEGABYTES),
        dirty: volumes.level(tier::DIRTY, 1e-6, MEGABYTES),
        cleaned: volumes.level(tier::CLEANED, 1e-6, Unit::MB_PER_SECOND),
        clean_run: volumes.clean_run(),
    }
}

fn medium(runs: &[Pair<'_>]) -> MediumUse {
    let windows =
        |wanted: SeriesName| in_windows(runs, |attempt: &Attempt| total(&traces(attempt, wanted)), "the slow medium");
    let level = |wanted, unit: Unit| measured(&over_windows(&windows(wanted)?), unit, 1.0).map(informative);
    // Times of requests are their sums over their number: not the mean of the seconds' means.
    let of_request = |sums: Result<Vec<Vec<f64>>, String>, factor: f64| match sums
        .and_then(|sums| Ok((sums, windows(tier::DISK_REQUESTS)?)))
    {
        Ok((sums, requests)) => {
            quotient_of_sums(&sums, &requests, factor, Unit::named("ms")).map(|time| time.map(not_negative))
        }
        Err(why) => Some(Err(why)),
    };
    MediumUse {
        requests: level(tier::DISK_REQUESTS, Unit::PER_SECOND),
        busy: level(tier::DISK_BUSY, Unit::PERCENT).map(within_the_whole),
        queue: level(tier::DISK_QUEUE, REQUESTS),
        response: of_request(windows(tier::DISK_QUEUE), 1e3),
        late: of_request(windows(tier::DISK_LATE), 1e3),
        late_times: delay_times(runs, [tier::DISK_LATE_P50, tier::DISK_LATE_P99]),
        outrun_times: delay_times(runs, [tier::DISK_OUTRUN_P50, tier::DISK_OUTRUN_P99]),
    }
}

/// Why a run on a tier is void: requests that failed up to the end of its window, and drives whose requests were handed back late.
pub(crate) fn of_tier(attempt: &Attempt, stretch: Option<(f64, f64)>) -> Vec<Void> {
    let Some(stretch) = stretch else { return Vec::new() };
    let of = |wanted: SeriesName, stretch: (f64, f64)| -> f64 {
        traces(attempt, wanted).iter().flat_map(|trace| trace.within(stretch).values()).sum()
    };
    let sum = |wanted| of(wanted, stretch);
    let mut voids = Vec::new();
    // What failed in the warm-up as well: a volume may have gone on without its cache since, and failed writes take lines from it for good.
    if of(tier::ERRORS, (f64::NEG_INFINITY, stretch.1)) > 0.0 {
        voids.push(Void::verification("reads or writes of the cache or of its slow medium failed"));
    }
    let (time, requests, late) = (sum(tier::DISK_QUEUE), sum(tier::DISK_REQUESTS), sum(tier::DISK_LATE));
    // Where all requests are taken by the controller's cache the medium binds nothing, and a late timer is most of their time.
    if time > MODELLED_FROM * requests && late > LATE_AT_MOST * time {
        let share = 100.0 * late / time;
        voids.push(Void::host(format!(
            "the modelled medium completed requests {share:.0} % later than its model says: timers of this host were \
             late, or the files under the medium slower than its drives"
        )));
    }
    voids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_the_same_in_each_second_is_known_however_its_counts_scatter() {
        let whole: Vec<f64> = (0..60).map(|second| f64::from(second * 37 % 50 + 1)).collect();
        let part = whole.iter().map(|count| count * 0.8).collect::<Vec<_>>();
        let share = quotient_of_sums(&[part], std::slice::from_ref(&whole), 100.0, Unit::PERCENT).unwrap().unwrap();
        let (low, high) = share.interval().bounds().unwrap();
        assert!((share.value() - 80.0).abs() < 1e-9 && high - low < 1e-6, "{low} {high}");
        assert_eq!(quotient_of_sums(&[vec![0.0; 5]], &[vec![0.0; 5]], 1.0, Unit::RATIO), None);
        assert!(quotient_of_sums(&[vec![1.0; 5]], &[whole], 1.0, Unit::RATIO).unwrap().is_err());
    }

    #[test]
    fn a_share_weighs_requests_and_not_seconds() {
        let (part, whole) = (vec![vec![0.0, 99.0, 0.0, 99.0]], vec![vec![1.0, 99.0, 1.0, 99.0]]);
        let share = quotient_of_sums(&part, &whole, 100.0, Unit::PERCENT).unwrap().unwrap();
        assert!((share.value() - 99.0).abs() < 1e-9);
        assert!(within_the_whole(share).interval().bounds().is_none_or(|(_, high)| high <= 100.0));
        let wide = Quantity::new(19.0, Unit::named("ms"), 45, Interval::known(-668.0, 706.0, "a test"));
        assert_eq!(not_negative(wide).interval().bounds(), Some((0.0, 706.0)), "no time is below nothing");
    }
}
