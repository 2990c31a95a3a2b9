//! How far standbys were behind in time: as the engine tells it, else what they had not applied over the rate of the log.

use crate::findings::level::Measured;
use crate::findings::run::Pair;
use crate::findings::telemetry::{total, traces};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::series::{self, SeriesName};
use std::collections::BTreeMap;

/// Share of the readings from which on the engine's own times are those of the window; below it they are null for most of it.
const LEAST_TOLD: f64 = 0.5;

/// Source of a lag in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LagSource {
    /// The engine, which tells it of each standby.
    Engine,
    /// Log that the standby has not applied over the mean rate of the primary's log in the window.
    LogRate,
}

/// Time by which standbys trailed in applying log. With several standbys each figure is the largest of any one.
#[derive(Debug, Clone)]
pub struct StandbyLag {
    /// Where it comes from; `None` where it was not observed.
    pub source: Option<LagSource>,
    /// The median of the seconds of each standby, s.
    pub median: Measured,
    /// The 99th percentile of them, s.
    pub p99: Measured,
}

/// The lag in time over the windows of all runs.
pub(crate) fn standby_lag(runs: &[Pair<'_>]) -> StandbyLag {
    let (told, unapplied) =
        (by_standby(runs, series::replication::LAG), by_standby(runs, series::replication::UNAPPLIED));
    let count = |readings: &BTreeMap<String, Vec<f64>>| readings.values().map(Vec::len).sum::<usize>();
    let is_told = count(&told) > 0 && count(&told) as f64 >= LEAST_TOLD * count(&unapplied) as f64;
    let (source, readings) =
        if is_told { (LagSource::Engine, told) } else { (LagSource::LogRate, over_log_rate(runs)) };
    let [median, p99] = [50, 99].map(|percent| largest_percentile(readings.clone(), percent, (1.0, Unit::named("s"))));
    StandbyLag { source: (!readings.is_empty()).then_some(source), median, p99 }
}

/// Readings of each standby in the windows of all runs.
pub(crate) fn by_standby(runs: &[Pair<'_>], wanted: SeriesName) -> BTreeMap<String, Vec<f64>> {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (run, attempt) in runs {
        let Some(window) = run.window_seconds() else { continue };
        for trace in traces(attempt, wanted) {
            found.entry(trace.instance.clone()).or_default().extend(trace.within(window).values());
        }
    }
    found
}

/// Log that each standby had not applied in each second, over the mean rate of the log in the window of its run. Nothing of runs that
/// wrote none.
fn over_log_rate(runs: &[Pair<'_>]) -> BTreeMap<String, Vec<f64>> {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (run, attempt) in runs {
        let log = total(&traces(attempt, series::replication::LOG)).zip(run.window_seconds());
        let log = log.map(|(log, window)| log.within(window).values()).unwrap_or_default();
        let rate = log.iter().sum::<f64>() / log.len().max(1) as f64;
        if rate <= 0.0 {
            continue;
        }
        for (standby, bytes) in by_standby(&[(*run, *attempt)], series::replication::UNAPPLIED) {
            found.entry(standby).or_default().extend(bytes.iter().map(|bytes| bytes / rate));
        }
    }
    found
}

/// A percentile by rank of the readings of each standby, the largest of them, in a unit of so many of theirs.
pub(crate) fn largest_percentile(
    by_standby: BTreeMap<String, Vec<f64>>,
    percent: usize,
    (factor, unit): (f64, Unit),
) -> Measured {
    let of_standby = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let place = (values.len() * percent).div_ceil(100).checked_sub(1)?;
        values.get(place).map(|value| (*value, values.len() as u64))
    };
    let most = by_standby.into_values().filter_map(of_standby).max_by(|a, b| a.0.total_cmp(&b.0));
    let (value, count) = most.ok_or("it was not observed")?;
    Ok(Quantity::new(value * factor, unit, count, Interval::none("a percentile of readings taken every second")))
}
