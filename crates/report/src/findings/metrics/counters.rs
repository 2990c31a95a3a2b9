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

/// Series of a server whose components are told apart, as a procedure is from the next: while one has a gap, a sum would be too small.
const APART: &[&str] = &[
    "procedure_cpu",
    "procedure_elapsed",
    "procedure_executions",
    "procedure_logical_reads",
    "procedure_physical_reads",
];

/// Counters with their unit as metrics `engine.<name>`, or `engine.<name>.<component>` where components are told apart; those that did not
/// move are left out.
pub(crate) fn engine_counters(runs: &[Pair<'_>]) -> BTreeMap<MetricKey, Measured> {
    let mut metrics = BTreeMap::new();
    for (name, unit) in embedded_names(runs) {
        put(&mut metrics, &name, unit, runs.iter().map(|pair| embedded(pair, &name)).collect());
    }
    for counter in ServerCounter::all(runs.iter().map(|(_, attempt)| *attempt)) {
        let windows = runs.iter().map(|(run, attempt)| counter.sums(attempt, run.window_seconds()?)).collect();
        put(&mut metrics, &counter.key(), counter.unit, windows);
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

/// A counter of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ServerCounter {
    name: String,
    /// One of its components; `None` for the sum of all.
    component: Option<String>,
    unit: String,
}

impl ServerCounter {
    /// Counters of attempts, in the order in which they are found.
    fn all<'a>(attempts: impl Iterator<Item = &'a Attempt>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let is_told = |series: &&SeriesPoint| series.probe == PROBE && series.name != ACTIVE_SESSIONS.name;
        for series in attempts.flat_map(of_primary).filter(is_told) {
            let component = APART.contains(&series.name.as_str()).then(|| series.component.clone());
            if !found.iter().any(|known| known.name == series.name && known.component == component) {
                found.push(Self { name: series.name.clone(), component, unit: series.unit.clone() });
            }
        }
        found
    }

    fn key(&self) -> String {
        let component = self.component.iter().map(|component| format!(".{component}"));
        std::iter::once(self.name.clone()).chain(component).collect()
    }

    /// Its values over a window, by moment.
    fn sums(&self, attempt: &Attempt, window: (f64, f64)) -> Option<Vec<f64>> {
        let is_of = |series: &SeriesPoint| self.component.as_ref().is_none_or(|one| *one == series.component);
        sums(attempt, window, |series| series.name == self.name && is_of(series))
    }
}

/// A server's counter over a run's window.
pub(crate) fn server((run, attempt): &Pair<'_>, name: &str) -> Option<Vec<f64>> {
    server_sums(attempt, run.window_seconds()?, name)
}

/// A server's counter summed over its instances, by moment. An instance that has nothing to say at a moment adds nothing.
pub(crate) fn server_sums(attempt: &Attempt, window: (f64, f64), name: &str) -> Option<Vec<f64>> {
    sums(attempt, window, |series| series.name == name)
}

fn sums(attempt: &Attempt, (from, to): (f64, f64), is_of: impl Fn(&SeriesPoint) -> bool) -> Option<Vec<f64>> {
    let series = of_primary(attempt).filter(|series| series.probe == PROBE && is_of(series));
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

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::deployment::InstanceName;
    use proofload_model::plan::Run;
    use proofload_model::time::{Offset, WallTime};

    /// A series with a value for each of these seconds.
    fn series(name: &str, component: &str, values: &[(i64, f64)]) -> SeriesPoint {
        let second = 1_000_000_000;
        SeriesPoint {
            probe: PROBE.to_owned(),
            name: name.to_owned(),
            component: component.to_owned(),
            instance: InstanceName::primary(),
            unit: "1/s".to_owned(),
            samples: values.iter().map(|(end, value)| (Offset(end * second), second as u64, *value)).collect(),
        }
    }

    /// Waits are one counter over all kinds; procedures are apart, and a gap of one takes nothing from another's.
    #[test]
    fn procedures_are_told_each_by_itself() {
        let run = Run { index: 0, point: 0, repetition: 0, sentinel: false, block: None, seed: 1 };
        let mut attempt = Attempt::begun(1, run, WallTime(1));
        attempt.series = vec![
            series("waits", "WRITELOG", &[(1, 5.0), (2, 5.0)]),
            series("waits", "LCK_M_X", &[(1, 1.0), (2, 2.0)]),
            series("procedure_cpu", "pay", &[(1, 0.25)]),
            series("procedure_cpu", "order", &[(1, 0.5), (2, 0.75)]),
            series(ACTIVE_SESSIONS.name, "WRITELOG", &[(1, 9.0)]),
        ];
        let told = ServerCounter::all(std::iter::once(&attempt));
        let told: Vec<(String, Vec<f64>)> =
            told.iter().map(|counter| (counter.key(), counter.sums(&attempt, (0.0, 2.0)).unwrap())).collect();
        let expected =
            [("waits", vec![6.0, 7.0]), ("procedure_cpu.pay", vec![0.25]), ("procedure_cpu.order", vec![0.5, 0.75])];
        assert_eq!(told, expected.map(|(key, values)| (key.to_owned(), values)));
    }
}
