//! Times of requests to a cache tier in the windows of a point, by volume and class: histograms of all seconds merged, since percentiles are
//! never averaged. May not know how they are told.

use super::tier::CachedPoint;
use crate::findings::evaluate::Findings;
use crate::findings::level::Measured;
use crate::findings::metrics::percentiles::{enough, widened};
use crate::findings::run::Pair;
use crate::findings::telemetry::of_primary;
use proofload_analysis::latency::{Latencies, Sparse};
use proofload_analysis::quantity::Unit;
use proofload_model::series::tier;
use proofload_model::tier::{RequestClass, TierVolume, TimedRequests};
use proofload_model::time::Offset;
use proofload_record::SeriesPoint;

/// Classes in the order in which they are told.
const CLASSES: [RequestClass; 3] = [RequestClass::Hit, RequestClass::Miss, RequestClass::Flush];

/// Requests beyond a percentile, at least.
const BEYOND: u64 = 10;

/// Requests to a volume of one class, in the windows.
#[derive(Debug, Clone)]
pub struct RequestLatency {
    /// The volume.
    pub volume: TierVolume,
    /// Their class.
    pub class: RequestClass,
    /// Number of requests.
    pub count: u64,
    /// Median time, ms; it and the other are ends of buckets an eighth of a power of two wide.
    pub p50: Measured,
    /// 99th percentile, ms.
    pub p99: Measured,
}

/// Times by volume and class, without classes that had no request; empty where a run's record has none.
pub fn request_latencies(findings: &Findings<'_>, one: &CachedPoint) -> Vec<RequestLatency> {
    let point = findings.point(one.point);
    let runs = point.into_iter().flat_map(|point| &point.runs);
    let pairs: Vec<Pair<'_>> = runs.filter_map(|run| Some((run, findings.finished(run.run.index)?))).collect();
    let volumes = one.volumes.iter().map(|(volume, _)| *volume);
    volumes
        .flat_map(|volume| CLASSES.into_iter().filter_map(|class| of_class(&pairs, volume, class)).collect::<Vec<_>>())
        .collect()
}

fn of_class(runs: &[Pair<'_>], volume: TierVolume, class: RequestClass) -> Option<RequestLatency> {
    let per_run = runs.iter().map(|pair| seconds(pair, volume, class)).collect::<Option<Vec<Vec<Sparse>>>>()?;
    let merged = Latencies::new(per_run.iter().flatten());
    // The scatter of repetitions is told by two of them at least.
    let scattered = if per_run.len() < 2 { &[][..] } else { per_run.as_slice() };
    let each: Vec<Sparse> = scattered.iter().map(Sparse::merged).collect();
    let percentile = |share: f64| -> Measured {
        let values: Vec<f64> = each.iter().filter_map(|run| run.percentile(share)).map(|value| value as f64).collect();
        let time = enough(widened(merged.percentile(share), &values), share, BEYOND)?;
        Ok(time.scaled(1e-6, Unit::named("ms")))
    };
    let count = merged.total().count();
    (count > 0).then(|| RequestLatency { volume, class, count, p50: percentile(0.5), p99: percentile(0.99) })
}

/// Histograms of the seconds of a run's window, empty ones where nothing was done; `None` where they were not recorded.
fn seconds((run, attempt): &Pair<'_>, volume: TierVolume, class: RequestClass) -> Option<Vec<Sparse>> {
    let (from, to) = run.window_seconds()?;
    let inside = |(at, span, _): &&(Offset, u64, f64)| (from..to).contains(&(at.as_seconds() - *span as f64 / 2e9));
    let named = |name: &'static str| {
        of_primary(attempt).filter(move |one| (one.probe.as_str(), one.name.as_str()) == (tier::PROBE, name))
    };
    let mut moments: Vec<Offset> =
        named(tier::READS.name).next()?.samples.iter().filter(inside).map(|one| one.0).collect();
    moments.sort_unstable();
    let mut counts: Vec<Vec<(u64, u64)>> = vec![Vec::new(); moments.len()];
    let all: Vec<&SeriesPoint> = named(tier::LATENCY.name).collect();
    for series in &all {
        let Some(of) = TimedRequests::parse(&series.component) else { continue };
        if (of.volume, of.class) != (volume, class) {
            continue;
        }
        for (at, span, rate) in series.samples.iter().filter(inside).filter(|(.., rate)| *rate > 0.0) {
            if let Ok(place) = moments.binary_search(at) {
                counts[place].push((of.up_to_ns, (rate * *span as f64 / 1e9).round() as u64));
            }
        }
    }
    (!all.is_empty() && !moments.is_empty()).then(|| counts.into_iter().map(Sparse::from_buckets).collect())
}
