//! Throughput and hits with a cache of a size that was not measured, from the points that were, and how far such forecasts are off: each
//! measured size is forecast from the others. May not know how forecasts are told.

use super::curve::{SizeCurve, VolumeHits, curve};
use super::tier::{CachedPoint, cached, levels_beside};
use crate::findings::evaluate::Findings;
use crate::findings::load::generator::is_saturated;
use crate::findings::observed::in_windows;
use crate::findings::point::PointFindings;
use crate::findings::run::Pair;
use crate::findings::telemetry::{allowed_cores, cpu_allowed, total, traces};
use proofload_analysis::cache_size::{CacheHost, CacheNetwork, MeasuredCache};
use proofload_model::facts;
use proofload_model::series;
use proofload_model::settings::setting;
use proofload_model::tier::{CachePlan, CacheSize, RaidLevel, SlowMedium, TierPlan, TierVolume, WriteMode};
use proofload_model::units::Bytes;
use proofload_record::Attempt;

/// Points that differ in the size of their cache alone, with what makes a forecast of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheForecast {
    /// The tier, without a size.
    pub plan: TierPlan,
    /// Data before the cache, B.
    pub data: Bytes,
    /// The valid points in the order of their sizes, two at least.
    pub points: Vec<SizedPoint>,
    host: CacheHost,
}

/// A measured point.
#[derive(Debug, Clone, PartialEq)]
pub struct SizedPoint {
    /// Its number.
    pub point: u32,
    /// Its cache; 0 without one.
    pub size: Bytes,
    /// Its result in the workload's own metric.
    pub headline: f64,
    /// Reads that were all in the cache, 0 to 1; `None` without a cache.
    pub read_hits: Option<f64>,
    /// Writes that bypassed the cache, 0 to 1; `None` where none did, or they were not recorded.
    pub bypassed: Option<f64>,
    /// Hits by size from the sample of its references, or why there are none.
    pub curve: Result<SizeCurve, String>,
    measured: MeasuredCache,
    /// Reads and writes of each volume for a unit of work.
    uses: Vec<(TierVolume, f64, f64)>,
}

/// Where a size lies among those that were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizePlace {
    /// Size below all of them.
    Below,
    /// Size between two.
    Between,
    /// Size above all of them.
    Above,
}

impl SizePlace {
    /// The word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::Between => "between",
            Self::Above => "above",
        }
    }
}

/// What is expected of a size.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeForecast {
    /// The cache.
    pub size: Bytes,
    /// The result in the workload's own metric.
    pub headline: f64,
    /// Reads of the cached volumes that are all in the cache, 0 to 1.
    pub read_hits: f64,
    /// The same where it gave up what was used least recently.
    pub lru_read_hits: f64,
    /// Writes of the cached volumes to a line that is in the cache, 0 to 1.
    pub write_hits: f64,
    /// Bytes that the cleaner writes, MB/s.
    pub cleaned: f64,
    /// Points whose times it rests on.
    pub calibrated: [u32; 2],
    /// Points whose references it rests on: both of them, or beyond the measured sizes the nearest.
    pub traced: Vec<u32>,
    /// Points among all these at which writes bypassed the cache, which is not simulated.
    pub bypassed: Vec<u32>,
    /// Where the size lies.
    pub place: SizePlace,
    /// Largest error of sizes in such a place that were forecast from the others, as a share of what was measured; `None` where none could be, and
    /// beyond the measured sizes where none was as far from its neighbour.
    pub error: Option<f64>,
    /// Requests to the drives for a unit of work over those of the nearest point that it rests on, or the inverse: 1 or more.
    reach: f64,
}

/// A measured point forecast from the others.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The forecast.
    pub forecast: SizeForecast,
    /// Forecast over measured result, less 1.
    pub error: f64,
    /// Forecast less measured share of reads that hit; `None` without a cache.
    pub hit_error: Option<f64>,
}

/// The groups of points of which forecasts can be made; empty where there is none.
pub fn cache_forecasts(findings: &Findings<'_>) -> Vec<CacheForecast> {
    let all = cached(findings);
    let mut known: Vec<(TierPlan, Vec<String>)> = Vec::new();
    for (point, one) in valid(findings, &all).filter(|(_, one)| !one.plan.cache.size.is_nothing()) {
        let key = (without_size(&one.plan), levels_beside(point));
        if !known.contains(&key) {
            known.push(key);
        }
    }
    known.into_iter().filter_map(|(plan, beside)| group(findings, &all, plan, &beside).ok()).collect()
}

/// Why no forecast can be made.
pub fn why_no_forecast(findings: &Findings<'_>) -> String {
    let all = cached(findings);
    if all.is_empty() {
        return "no point in the record has a cache tier; a forecast needs a study with storage.kind = \"tier\""
            .to_owned();
    }
    let Some((point, first)) = valid(findings, &all).find(|(_, one)| !one.plan.cache.size.is_nothing()) else {
        return "no point with a cache is valid; `proofload report` shows the reasons".to_owned();
    };
    match group(findings, &all, without_size(&first.plan), &levels_beside(point)) {
        Err(why) => why,
        Ok(_) => "no objection was found".to_owned(),
    }
}

fn valid<'a>(
    findings: &'a Findings<'_>,
    all: &'a [CachedPoint],
) -> impl Iterator<Item = (&'a PointFindings, &'a CachedPoint)> {
    let point = |one: &CachedPoint| findings.point(one.point);
    all.iter().filter_map(move |one| Some((point(one)?, one))).filter(|(point, _)| point.verdict.is_valid())
}

fn without_size(plan: &TierPlan) -> TierPlan {
    TierPlan { cache: CachePlan { size: CacheSize::Bytes(Bytes(0)), ..plan.cache.clone() }, ..plan.clone() }
}

fn group(
    findings: &Findings<'_>,
    all: &[CachedPoint],
    plan: TierPlan,
    beside: &[String],
) -> Result<CacheForecast, String> {
    let is_ours = |point: &PointFindings, one: &CachedPoint| {
        let same = without_size(&one.plan) == plan || (one.plan.cache.size.is_nothing() && one.plan.slow == plan.slow);
        same && levels_beside(point) == beside
    };
    let ours: Vec<_> = valid(findings, all).filter(|(point, one)| is_ours(point, one)).collect();
    let (first, _) = ours.first().ok_or("no point is valid")?;
    let settings = findings.record.plan.settings(&findings.record.study, first.id);
    if !is_saturated(&settings) {
        return Err(
            "users are paced, or operations arrive at a fixed rate: this sets the throughput, so it cannot be \
            forecast from the cache size"
                .to_owned(),
        );
    }
    let users = settings
        .count(setting::WORKLOAD_VIRTUAL_USERS)
        .map_err(|error| format!("the number of users is not known: {error}"))?;
    let cpu_allowed = pairs(findings, first).iter().find_map(|(_, attempt)| capacity(attempt));
    let host = CacheHost { users: users.max(1), drives: drives(&plan.slow), cpu_allowed };
    let data = pairs(findings, first).iter().find_map(|(_, attempt)| facts::tier::DATA.number(&attempt.facts));
    let data = Bytes(data.ok_or("the record does not contain the size of the data")? as u64);
    let mut points =
        ours.iter().map(|(point, one)| sized(findings, &plan, data, (point, one))).collect::<Result<Vec<_>, _>>()?;
    points.sort_by_key(|point| point.size);
    points.dedup_by_key(|point| point.size);
    if points.len() < 2 {
        return Err("a forecast needs two valid points that differ only in cache size; the record has one".to_owned());
    }
    let curves: Vec<&String> = points.iter().filter_map(|point| point.curve.as_ref().err()).collect();
    match curves.first() {
        Some(why) if curves.len() == points.len() => Err((*why).clone()),
        _ => Ok(CacheForecast { plan, data, points, host }),
    }
}

fn pairs<'a>(findings: &'a Findings<'_>, point: &'a PointFindings) -> Vec<Pair<'a>> {
    point.runs.iter().filter_map(|run| Some((run, findings.finished(run.run.index)?))).collect()
}

/// CPU seconds per second that the database may use.
fn capacity(attempt: &Attempt) -> Option<f64> {
    let observed = || Some(traces(attempt, series::cores::BUSY).len()).filter(|count| *count > 0);
    let cores = allowed_cores(attempt).map(|cores| cores.0.len()).or_else(observed).map(|count| count as f64);
    cpu_allowed(attempt).into_iter().chain(cores).reduce(f64::min)
}

/// Drives that serve reads side by side.
fn drives(slow: &SlowMedium) -> u32 {
    if slow.raid == RaidLevel::Single { 1 } else { slow.drives.max(1) }
}

fn sized(
    findings: &Findings<'_>,
    plan: &TierPlan,
    data: Bytes,
    (point, one): (&PointFindings, &CachedPoint),
) -> Result<SizedPoint, String> {
    let runs = pairs(findings, point);
    let of_point = |why: String| format!("{}: {why}", point.label());
    let value = |measured: &crate::findings::Measured| {
        measured.as_ref().map(|one| one.value()).map_err(|why| of_point(why.clone()))
    };
    let per_second = point.throughput.as_ref().map_err(|why| of_point(why.clone()))?.value;
    let headline = value(&point.metric(findings.workload.headline.key()))?;
    let (mut uses, mut requests) = (Vec::new(), 0.0);
    for (volume, found) in &one.volumes {
        let (reads, writes) = (value(&found.reads)? / per_second, value(&found.writes)? / per_second);
        let share =
            |of: &Option<crate::findings::Measured>| of.as_ref().map_or(Ok(0.0), &value).map(|percent| percent / 100.0);
        requests += reads * (1.0 - share(&found.read_hits)?);
        requests += waits_for_writes(&plan.slow) * writes * (1.0 - share(&found.absorbed)?);
        uses.push((*volume, reads, writes));
    }
    let cpu = in_windows(&runs, cpu_of, "the CPU time of the database").ok();
    let cpu =
        cpu.map(|windows| windows.into_iter().flatten().collect::<Vec<f64>>()).filter(|seconds| !seconds.is_empty());
    let cpu_s = cpu.map_or(0.0, |seconds| seconds.iter().sum::<f64>() / seconds.len() as f64 / per_second);
    let is_cached = !one.plan.cache.size.is_nothing();
    let same = without_size(&one.plan) == *plan;
    Ok(SizedPoint {
        point: point.id,
        size: one.plan.cache.size.before(data),
        headline,
        read_hits: one
            .both
            .read_hits
            .as_ref()
            .filter(|_| is_cached)
            .map(&value)
            .transpose()?
            .map(|percent| percent / 100.0),
        bypassed: bypassed(one),
        curve: if same {
            curve(&runs, &plan.cache.accelerate)
        } else {
            Err("its references were sampled under other settings".to_owned())
        },
        measured: MeasuredCache { per_second, requests, inside: value(&one.medium.queue)?, cpu_s },
        uses,
    })
}

/// Writes of a point that bypassed its cache, 0 to 1; `None` without any.
fn bypassed(one: &CachedPoint) -> Option<f64> {
    let share = one.both.bypassed.as_ref()?.as_ref().ok()?.value() / 100.0;
    Some(share).filter(|share| *share > 0.0 && !one.plan.cache.size.is_nothing())
}

/// CPU seconds per second of the database: of its control group, else of its threads.
fn cpu_of(attempt: &Attempt) -> Option<crate::findings::Trace> {
    let group = total(&traces(attempt, series::group::CPU));
    group.or_else(|| {
        let mut threads = total(&traces(attempt, series::threads::CPU_SUM))?;
        threads.samples.iter_mut().for_each(|(_, percent)| *percent /= 100.0);
        Some(threads)
    })
}

/// Requests to the drives that a write waits for that no cache has completed: 0 if the controller takes it.
fn waits_for_writes(slow: &SlowMedium) -> f64 {
    if slow.write_cache.0 > 0 { 0.0 } else { 1.0 }
}

impl CacheForecast {
    /// What is expected of a size, from the two measured points around it, or the two nearest.
    ///
    /// # Errors
    /// When the sample says nothing of the size.
    pub fn at(&self, size: Bytes) -> Result<SizeForecast, String> {
        let mut forecast = self.from(size, &self.points.iter().collect::<Vec<_>>())?;
        forecast.error = self.error_of(&forecast);
        Ok(forecast)
    }

    /// A measured point forecast from the others; `None` for a number that is none of its points.
    pub fn left_out(&self, point: u32) -> Option<Result<LeftOut, String>> {
        let own = self.points.iter().find(|one| one.point == point)?;
        let others: Vec<&SizedPoint> = self.points.iter().filter(|one| one.point != point).collect();
        if others.len() < 2 {
            return Some(Err("no two other sizes were measured".to_owned()));
        }
        Some(self.from(own.size, &others).map(|forecast| LeftOut {
            error: forecast.headline / own.headline - 1.0,
            hit_error: own.read_hits.map(|hits| forecast.read_hits - hits),
            forecast,
        }))
    }

    /// Mean of the differences between the share of reads that hit in each measured cache and the share by the sample of its own references;
    /// `None` where no cache was sampled.
    pub fn curve_error(&self) -> Option<f64> {
        let error = |point: &SizedPoint| {
            let found = point.curve.as_ref().ok()?.at(point.size).ok()?;
            Some((mean_hits(&found, |hits| hits.reads, |volume| reads(point, volume)) - point.read_hits?).abs())
        };
        let errors: Vec<f64> = self.points.iter().filter_map(error).collect();
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }

    fn error_of(&self, of: &SizeForecast) -> Option<f64> {
        let last = self.points.len() - 1;
        let among = match of.place {
            SizePlace::Below => &self.points[..1],
            SizePlace::Between => &self.points[1..last],
            SizePlace::Above => &self.points[last..],
        };
        let found = among.iter().filter_map(|point| self.left_out(point.point)?.ok());
        let as_far = found.filter(|found| of.place == SizePlace::Between || found.forecast.reach >= of.reach);
        as_far.map(|found| found.error.abs()).reduce(f64::max)
    }

    /// Forecasts from points in the order of sizes, two at least.
    fn from(&self, size: Bytes, points: &[&SizedPoint]) -> Result<SizeForecast, String> {
        let above = points.partition_point(|point| point.size < size);
        let place = match above {
            0 if points[0].size > size => SizePlace::Below,
            _ if above == points.len() => SizePlace::Above,
            _ => SizePlace::Between,
        };
        let first = above.saturating_sub(1).min(points.len() - 2);
        let around = [points[first], points[first + 1]];
        let network = CacheNetwork::calibrated(self.host, around.map(|point| point.measured))?;
        let nearest = if place == SizePlace::Below { &around[..1] } else { &around[1..] };
        let traced = self.traced(size, if place == SizePlace::Between { &around } else { nearest }, points)?;
        let mean = |of: &dyn Fn(&SizedPoint, &[VolumeHits]) -> f64| {
            traced.iter().map(|(point, hits)| of(point, hits)).sum::<f64>() / traced.len() as f64
        };
        let of_reads =
            |of: fn(&VolumeHits) -> f64| mean(&|point, hits| mean_hits(hits, of, |volume| reads(point, volume)));
        let requests = mean(&|point, hits| self.requests(point, hits, size));
        let per_second = network.per_second(requests);
        let reach = |point: &SizedPoint| (point.measured.requests / requests).max(requests / point.measured.requests);
        let scale = around.map(|point| point.headline / point.measured.per_second).iter().sum::<f64>() / 2.0;
        let cleaned = |point: &SizedPoint, hits: &[VolumeHits]| {
            hits.iter().map(|one| one.cleaned_bytes * writes(point, one.volume)).sum::<f64>()
        };
        let rests_on = |point: &&&SizedPoint| {
            let id = point.point;
            around.iter().any(|one| one.point == id) || traced.iter().any(|(one, _)| one.point == id)
        };
        let bypassed = points.iter().filter(|point| point.bypassed.is_some()).filter(rests_on);
        Ok(SizeForecast {
            size,
            headline: per_second * scale,
            read_hits: of_reads(|hits| hits.reads),
            lru_read_hits: of_reads(|hits| hits.lru_reads),
            write_hits: mean(&|point, hits| mean_hits(hits, |hits| hits.writes, |volume| writes(point, volume))),
            cleaned: mean(&cleaned) * per_second * 1e-6,
            calibrated: around.map(|point| point.point),
            traced: traced.iter().map(|(point, _)| point.point).collect(),
            bypassed: bypassed.map(|point| point.point).collect(),
            place,
            error: None,
            reach: around.map(reach).into_iter().reduce(f64::min).unwrap_or(f64::INFINITY),
        })
    }

    /// Hits by the samples of these points, or where they have none of any other.
    fn traced<'a>(
        &self,
        size: Bytes,
        wanted: &[&'a SizedPoint],
        all: &[&'a SizedPoint],
    ) -> Result<Vec<(&'a SizedPoint, Vec<VolumeHits>)>, String> {
        let of = |point: &&'a SizedPoint| Some((*point, point.curve.as_ref().ok()?));
        let mut found: Vec<(&SizedPoint, &SizeCurve)> = wanted.iter().filter_map(of).collect();
        if found.is_empty() {
            found.extend(all.iter().filter_map(of).max_by(|a, b| a.1.sampled.total_cmp(&b.1.sampled)));
        }
        if found.is_empty() {
            return Err("no other point has a reference sample".to_owned());
        }
        let hits = |curve: &SizeCurve| match size.0 {
            0 => Ok(nothing(&self.plan.cache.accelerate)),
            _ => curve.at(size),
        };
        found.into_iter().map(|(point, curve)| Ok((point, hits(curve)?))).collect()
    }

    /// Requests to the drives that a unit of work waits for.
    fn requests(&self, traced: &SizedPoint, hits: &[VolumeHits], size: Bytes) -> f64 {
        let waits = waits_for_writes(&self.plan.slow);
        let of = |(volume, reads, writes): &(TierVolume, f64, f64)| {
            let cached = hits.iter().find(|one| one.volume == *volume).filter(|_| size.0 > 0);
            let absorbed = cached.is_some() && self.plan.cache.mode == WriteMode::WriteBack;
            let missed = cached.map_or(1.0, |hits| 1.0 - hits.reads);
            reads * missed + if absorbed { 0.0 } else { waits * writes }
        };
        traced.uses.iter().map(of).sum()
    }
}

/// Hits without a cache.
fn nothing(volumes: &[TierVolume]) -> Vec<VolumeHits> {
    let none = |volume: &TierVolume| VolumeHits {
        volume: *volume,
        reads: 0.0,
        lru_reads: 0.0,
        writes: 0.0,
        cleaned_bytes: 0.0,
    };
    volumes.iter().map(none).collect()
}

fn reads(point: &SizedPoint, volume: TierVolume) -> f64 {
    point.uses.iter().find(|(known, ..)| *known == volume).map_or(0.0, |(_, reads, _)| *reads)
}

fn writes(point: &SizedPoint, volume: TierVolume) -> f64 {
    point.uses.iter().find(|(known, ..)| *known == volume).map_or(0.0, |(.., writes)| *writes)
}

/// Mean of a share over volumes, weighed by their requests; 0 without any.
fn mean_hits(hits: &[VolumeHits], of: fn(&VolumeHits) -> f64, weight: impl Fn(TierVolume) -> f64) -> f64 {
    let all: f64 = hits.iter().map(|one| weight(one.volume)).sum();
    let sum: f64 = hits.iter().map(|one| of(one) * weight(one.volume)).sum();
    if all > 0.0 { sum / all } else { 0.0 }
}
