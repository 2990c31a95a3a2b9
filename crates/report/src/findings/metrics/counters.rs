//! The engine's own counters over the window: an embedded engine's by interval, a server's by its probe.

use crate::findings::estimate::{estimate, measured};
use crate::findings::level::Measured;
use crate::findings::run::Pair;
use crate::findings::telemetry::of_primary;
use crate::metrics::MetricKey;
use proofload_analysis::quantity::Unit;
use proofload_model::samples::IntervalSample;
use proofload_model::series::engine::{ACTIVE_SESSIONS, PROBE};
use proofload_record::{Attempt, SeriesPoint};
use std::collections::BTreeMap;

/// What a stream on an embedded engine counts of itself: CPU time of its thread outside the engine's calls, CPU seconds per second.
pub(crate) const DRIVER_CPU: &str = "driver_cpu";

/// Names of the load's readings that count bytes of field values per second: written and read.
pub(crate) const LOGICAL: [&str; 2] = ["logical_written", "logical_read"];

/// Counters with their unit as metrics `engine.<name>`; those that did not move are left out.
pub(crate) fn engine_counters(runs: &[Pair<'_>]) -> BTreeMap<MetricKey, Measured> {
    let mut metrics = BTreeMap::new();
    for (name, unit) in embedded_names(runs) {
        put(&mut metrics, &name, unit, runs.iter().map(|pair| embedded(pair, &name)).collect());
    }
    for (name, unit) in server_names(runs) {
        put(&mut metrics, &name, unit, runs.iter().map(|pair| server(pair, &name)).collect());
    }
    metrics
}

fn put(metrics: &mut BTreeMap<MetricKey, Measured>, name: &str, unit: String, windows: Option<Vec<Vec<f64>>>) {
    let moved = |windows: &Vec<Vec<f64>>| windows.iter().flatten().any(|value| *value != 0.0);
    let Some(windows) = windows.filter(moved) else { return };
    let slices: Vec<&[f64]> = windows.iter().map(Vec::as_slice).collect();
    metrics.insert(MetricKey::Engine(name.to_owned()), measured(&estimate(&slices), Unit(unit.into()), 1.0));
}

fn push(names: &mut Vec<(String, String)>, name: &str, unit: &str) {
    if !names.iter().any(|(known, _)| known == name) {
        names.push((name.to_owned(), unit.to_owned()));
    }
}

/// Counters of an embedded engine are differences over intervals of one second.
fn embedded_names(runs: &[Pair<'_>]) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for reading in runs.iter().flat_map(|(_, attempt)| attempt.intervals.iter().flat_map(|interval| &interval.engine)) {
        let name = reading.name.as_str();
        if LOGICAL.contains(&name) || name == DRIVER_CPU {
            continue;
        }
        push(&mut names, &reading.name, if reading.unit == "1" { "1/s" } else { &reading.unit });
    }
    names
}

/// Its differences over the intervals of a run's window.
pub(crate) fn embedded((run, attempt): &Pair<'_>, name: &str) -> Option<Vec<f64>> {
    let sum = |interval: &IntervalSample| {
        interval.engine.iter().filter(|reading| reading.name == name).map(|reading| reading.value).sum::<f64>()
    };
    Some(run.window?.inside(&attempt.intervals).into_iter().map(sum).collect())
}

fn server_names(runs: &[Pair<'_>]) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for series in runs.iter().flat_map(|(_, attempt)| of_primary(attempt)) {
        if series.probe == PROBE && series.name != ACTIVE_SESSIONS.name {
            push(&mut names, &series.name, &series.unit);
        }
    }
    names
}

/// A server's counter over a run's window.
pub(crate) fn server((run, attempt): &Pair<'_>, name: &str) -> Option<Vec<f64>> {
    server_sums(attempt, run.window_seconds()?, name)
}

/// A server's counter summed over its instances, by moment. An instance that has nothing to say at a moment adds nothing.
pub(crate) fn server_sums(attempt: &Attempt, (from, to): (f64, f64), name: &str) -> Option<Vec<f64>> {
    let series = of_primary(attempt).filter(|series| series.probe == PROBE && series.name == name);
    let mut sums: BTreeMap<i64, f64> = BTreeMap::new();
    let samples = |series: &SeriesPoint| series.samples.clone();
    for (offset, span, value) in series.flat_map(samples) {
        let middle = offset.as_seconds() - span as f64 / 2e9;
        if (from..to).contains(&middle) {
            *sums.entry(offset.0).or_default() += value;
        }
    }
    Some(sums.into_values().collect::<Vec<f64>>()).filter(|values| !values.is_empty())
}
