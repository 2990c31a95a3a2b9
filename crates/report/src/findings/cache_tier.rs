//! What a cache is worth: each point on a tier beside the one without a cache, its hits, and what its slow medium did.

use super::estimate::{estimate, informative, measured, ratio};
use super::evaluate::Findings;
use super::level::Measured;
use super::observed::in_windows;
use super::point::PointFindings;
use super::run::Pair;
use super::telemetry::{Trace, total, traces};
use proofload_analysis::bootstrap::{Estimate, ratio_of_means};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::series::{SeriesName, tier};
use proofload_model::tier::{TierPlan, TierVolume, tier_plan};

/// Unit of megabytes.
const MEGABYTES: Unit = Unit::named("MB");

/// Unit of requests at a medium.
const REQUESTS: Unit = Unit::named("requests");

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
    /// Both volumes together.
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
    /// Reads that were all in the cache, % of reads.
    pub read_hits: Measured,
    /// Writes, 1/s.
    pub writes: Measured,
    /// Writes to a line that was in the cache, % of writes.
    pub write_hits: Measured,
    /// Writes that were completed on the cache alone, % of writes.
    pub absorbed: Measured,
    /// Cache that holds its lines, mean, MB.
    pub in_use: Measured,
    /// Cache that holds its dirty lines, mean, MB.
    pub dirty: Measured,
    /// Bytes that the cleaner wrote, MB/s.
    pub cleaned: Measured,
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
    /// Mean time of a request, ms.
    pub response: Measured,
    /// Time by which requests were handed back late, % of their modelled time.
    pub late: Measured,
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
    let of = |volume: Option<TierVolume>| volume_use(&Volumes { runs: &runs, volume });
    CachedPoint {
        point: point.id,
        plan: plan.clone(),
        times: (!plan.cache.size.is_nothing()).then(|| times(findings, point, bare)),
        both: of(None),
        volumes: [TierVolume::Data, TierVolume::Log].map(|volume| (volume, of(Some(volume)))).to_vec(),
        medium: medium(&runs),
    }
}

/// Throughput over that of the point without a cache whose other levels are the same; inside blocks, where there are any.
fn times(findings: &Findings<'_>, point: &PointFindings, bare: &[&PointFindings]) -> Measured {
    let others = |point: &PointFindings| -> Vec<(String, String)> {
        let is_of_tier = |setting: &str| OF_TIER.iter().any(|before| setting.starts_with(before));
        let levels = point.levels.iter().filter(|(setting, _)| !is_of_tier(setting));
        levels.map(|(setting, value)| (setting.clone(), value.to_string())).collect()
    };
    let base = bare.iter().find(|base| others(base) == others(point));
    let base = *base.ok_or_else(|| "the study has no point without a cache beside it".to_owned())?;
    let inside = findings.blocks.as_ref().and_then(|blocks| blocks.ratio(point.id, base.id));
    if let Some(one) = [point, base].into_iter().find(|one| inside.is_none() && !one.verdict.is_valid()) {
        return Err(format!("{} is {}", one.label(), one.verdict.word()));
    }
    let ratio = match inside {
        Some(ratio) => ratio,
        None => ratio_of_means(
            point.throughput.as_ref().map_err(Clone::clone)?,
            base.throughput.as_ref().map_err(Clone::clone)?,
        ),
    };
    Ok(informative(ratio))
}

/// The volumes that a use is of.
struct Volumes<'a> {
    runs: &'a [Pair<'a>],
    /// One; `None`: all together.
    volume: Option<TierVolume>,
}

impl Volumes<'_> {
    fn estimate(&self, wanted: SeriesName) -> Result<Estimate, String> {
        let pick = |attempt: &proofload_record::Attempt| match self.volume {
            None => total(&traces(attempt, wanted)),
            Some(volume) => traces(attempt, wanted).into_iter().find(|trace| trace.instance == volume.word()),
        };
        over_windows(&in_windows(self.runs, pick, "the cache tier")?)
    }

    fn level(&self, wanted: SeriesName, factor: f64, unit: Unit) -> Measured {
        measured(&self.estimate(wanted), unit, factor).map(informative)
    }

    /// What a part of a count is of it, %.
    fn share(&self, part: SeriesName, whole: SeriesName) -> Measured {
        let (part, whole) = (self.estimate(part)?, self.estimate(whole)?);
        if whole.value <= 0.0 {
            return Err("there were none".to_owned());
        }
        Ok(at_most_all(&informative(ratio(&part, &whole).scaled(100.0, Unit::PERCENT))))
    }
}

fn over_windows(windows: &[Vec<f64>]) -> Result<Estimate, String> {
    estimate(&windows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// A share whose interval ends at 100 %.
fn at_most_all(share: &Quantity) -> Quantity {
    let interval = match (share.interval(), share.interval().bounds()) {
        (Interval::Known { method, .. }, Some((low, high))) => {
            Interval::known(low.min(100.0), high.min(100.0), method.clone())
        }
        (other, _) => other.clone(),
    };
    Quantity::new(share.value().min(100.0), share.unit().clone(), share.n(), interval)
}

fn volume_use(volumes: &Volumes<'_>) -> VolumeUse {
    VolumeUse {
        reads: volumes.level(tier::READS, 1.0, Unit::PER_SECOND),
        read_hits: volumes.share(tier::READ_HITS, tier::READS),
        writes: volumes.level(tier::WRITES, 1.0, Unit::PER_SECOND),
        write_hits: volumes.share(tier::WRITE_HITS, tier::WRITES),
        absorbed: volumes.share(tier::WRITES_ABSORBED, tier::WRITES),
        in_use: volumes.level(tier::IN_USE, 1e-6, MEGABYTES),
        dirty: volumes.level(tier::DIRTY, 1e-6, MEGABYTES),
        cleaned: volumes.level(tier::CLEANED, 1e-6, Unit::MB_PER_SECOND),
    }
}

fn medium(runs: &[Pair<'_>]) -> MediumUse {
    let estimate = |wanted: SeriesName| {
        let pick = |attempt: &proofload_record::Attempt| total(&traces(attempt, wanted));
        over_windows(&in_windows(runs, pick, "the slow medium")?)
    };
    let level = |wanted, unit: Unit| measured(&estimate(wanted), unit, 1.0).map(informative);
    // Requests weigh as often as there were any: not the mean of the seconds' means.
    let response = || {
        let (queue, requests) = (estimate(tier::DISK_QUEUE)?, estimate(tier::DISK_REQUESTS)?);
        if requests.value <= 0.0 {
            return Err("there were none".to_owned());
        }
        Ok(informative(ratio(&queue, &requests).scaled(1e3, Unit::named("ms"))))
    };
    MediumUse {
        requests: level(tier::DISK_REQUESTS, Unit::PER_SECOND),
        busy: level(tier::DISK_BUSY, Unit::PERCENT),
        queue: level(tier::DISK_QUEUE, REQUESTS),
        response: response(),
        late: late(runs),
    }
}

/// Lateness over the windows of all runs, each second with the modelled time of its requests.
fn late(runs: &[Pair<'_>]) -> Measured {
    let (mut late, mut all, mut seconds) = (0.0, 0.0, 0);
    for (run, attempt) in runs {
        let Some(window) = run.window_seconds() else { continue };
        let of = |wanted| -> Vec<(f64, f64)> {
            let found: Vec<Trace> = traces(attempt, wanted);
            found.first().map(|trace| trace.within(window).samples).unwrap_or_default()
        };
        let queue = of(tier::DISK_QUEUE);
        for (at, share) in of(tier::DISK_LATE) {
            let Some((_, queue)) = queue.iter().find(|(moment, _)| (moment - at).abs() < 1e-6) else { continue };
            late += share * queue;
            all += queue;
            seconds += 1;
        }
    }
    if all <= 0.0 {
        return Err("there were no requests".to_owned());
    }
    Ok(Quantity::new(late / all, Unit::PERCENT, seconds, Interval::none("a share of the time of all requests")))
}
