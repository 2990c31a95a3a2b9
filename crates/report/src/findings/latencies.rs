//! Response and service times of a run's window by kind of operation, and the metrics of a point made from them.

use super::level::Measured;
use super::metrics::Pair;
use super::run::RunFindings;
use crate::workloads::{Clocks, Workload};
use proofload_analysis::distribution::{student_quantile, variance};
use proofload_analysis::latency::{Latencies, Sparse};
use proofload_analysis::quantity::{Interval, Quantity};
use proofload_model::samples::{IntervalSample, LatencyClock, is_deferred};
use std::collections::BTreeMap;

/// Percentiles of response times: the end of the metric's name and the share.
pub const PERCENTILES: &[(&str, f64)] = &[("p50", 0.50), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];

/// How the reason starts when a percentile is left out for want of samples.
pub const FEWER_THAN: &str = "fewer than ";

/// Histograms of a window by kind, one per second.
pub type ByKind = BTreeMap<String, Vec<Sparse>>;

/// Decodes the histograms of one clock over a window; what cannot be decoded comes back as a reason to void.
pub(super) fn decoded(kinds: &[String], inside: &[&IntervalSample], clock: LatencyClock) -> (ByKind, Vec<String>) {
    let mut unreadable = Vec::new();
    let mut found = ByKind::new();
    for kind in kinds {
        let mut parts = Vec::new();
        for interval in inside {
            match of_second(interval, kind, clock) {
                Ok(part) => parts.push(part),
                Err(why) => unreadable.push(why),
            }
        }
        found.insert(kind.clone(), parts);
    }
    (found, unreadable)
}

fn of_second(interval: &IntervalSample, kind: &str, clock: LatencyClock) -> Result<Sparse, String> {
    let Some(stored) = interval.histograms.iter().find(|part| part.kind == kind && part.clock == clock) else {
        return Ok(Sparse::default());
    };
    let part = Sparse::from_v2_deflate(&stored.payload)
        .map_err(|error| format!("second {} of {kind}: {error}", interval.index))?;
    if part.count() == stored.count {
        return Ok(part);
    }
    let (found, counted) = (part.count(), stored.count);
    Err(format!("histogram of {kind} in second {}: {found} values where {counted} were counted", interval.index))
}

/// One histogram per second over all kinds except deferred ones, which nobody waits for.
pub(super) fn all_kinds(by_kind: &ByKind) -> Vec<Sparse> {
    let waited_for = || by_kind.iter().filter(|(kind, _)| !is_deferred(kind)).map(|(_, parts)| parts);
    let seconds = waited_for().map(Vec::len).max().unwrap_or(0);
    (0..seconds).map(|second| Sparse::merged(waited_for().filter_map(|parts| parts.get(second)))).collect()
}

/// `response_ns_p99.read` and the others; `.all` for all kinds together. Service times where the workload tells them apart.
pub(super) fn latencies(runs: &[Pair<'_>], workload: &Workload, metrics: &mut BTreeMap<String, Measured>) {
    of_clock(runs, workload, LatencyClock::Response, |run| &run.latencies, metrics);
    let stored = runs.iter().all(|(run, _)| run.services.is_some());
    if workload.clocks == Clocks::Both && stored {
        let none = ByKind::new();
        of_clock(runs, workload, LatencyClock::Service, |run| run.services.as_ref().unwrap_or(&none), metrics);
    }
}

fn of_clock<'a>(
    runs: &'a [Pair<'_>],
    workload: &Workload,
    clock: LatencyClock,
    pick: impl Fn(&'a RunFindings) -> &'a ByKind,
    metrics: &mut BTreeMap<String, Measured>,
) {
    let mut kinds: Vec<String> = runs.iter().flat_map(|(run, _)| run.kinds.clone()).collect();
    workload.sort_kinds(&mut kinds);
    kinds.dedup();
    let name = Name { clock, beyond: workload.beyond_percentile };
    for kind in &kinds {
        let per_run: Vec<&[Sparse]> =
            runs.iter().map(|(run, _)| pick(run).get(kind).map_or(&[][..], Vec::as_slice)).collect();
        put(&name, kind, &per_run, metrics);
    }
    let together: Vec<Vec<Sparse>> = runs.iter().map(|(run, _)| all_kinds(pick(run))).collect();
    put(&name, "all", &together.iter().map(Vec::as_slice).collect::<Vec<_>>(), metrics);
}

/// What the metrics of one clock are called, and how many values must lie beyond a percentile.
struct Name {
    clock: LatencyClock,
    beyond: u64,
}

impl Name {
    fn of(&self, statistic: &str, kind: &str) -> String {
        format!("{}_ns_{statistic}.{kind}", self.clock.word())
    }
}

fn put(name: &Name, kind: &str, per_run: &[&[Sparse]], metrics: &mut BTreeMap<String, Measured>) {
    let joined: Vec<Sparse> = per_run.iter().flat_map(|parts| parts.iter().cloned()).collect();
    let merged = Latencies::new(&joined);
    let each: Vec<Sparse> = per_run.iter().map(|parts| Sparse::merged(*parts)).collect();
    let finite = |quantity: Quantity| {
        if quantity.value().is_finite() { Ok(quantity) } else { Err("no operation of this kind completed".to_owned()) }
    };
    for (statistic, share) in PERCENTILES {
        let values: Vec<f64> = each.iter().filter_map(|run| run.percentile(*share)).map(|value| value as f64).collect();
        let quantity = finite(widened(merged.percentile(*share), &values));
        metrics.insert(name.of(statistic, kind), quantity.and_then(|quantity| enough(quantity, *share, name.beyond)));
    }
    let means: Vec<f64> = each.iter().filter(|run| run.count() > 0).map(Sparse::mean).collect();
    metrics.insert(name.of("mean", kind), finite(widened(merged.mean(), &means)));
}

/// A percentile, if the sample is so large that `beyond` values lie beyond it; with fewer it is the accident of a few samples.
fn enough(quantity: Quantity, share: f64, beyond: u64) -> Measured {
    let needed = (beyond as f64 / (1.0 - share)).round() as u64;
    if quantity.n() >= needed {
        return Ok(quantity);
    }
    Err(format!("{FEWER_THAN}{} samples", crate::numbers::count(needed)))
}

/// Widens the interval by the scatter of repetitions, if there are any: Student's t of the logarithms of the runs' own values
/// around the merged one, and never less than the interval within runs.
fn widened(merged: Quantity, per_run: &[f64]) -> Quantity {
    if per_run.len() < 2 || per_run.iter().any(|value| *value <= 0.0) {
        return merged;
    }
    let logs: Vec<f64> = per_run.iter().map(|value| value.ln()).collect();
    let count = logs.len() as f64;
    let factor = (student_quantile(0.975, count - 1.0) * (variance(&logs) / count).sqrt()).exp();
    let (low, high) = merged.interval().bounds().unwrap_or((merged.value(), merged.value()));
    let interval = Interval::known(
        low.min(merged.value() / factor),
        high.max(merged.value() * factor),
        "block bootstrap over intervals, widened by the scatter of repetitions",
    );
    Quantity::new(merged.value(), merged.unit().clone(), merged.n(), interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_analysis::quantity::Unit;

    #[track_caller]
    fn check(n: u64, share: f64, beyond: u64, missing: Option<&str>) {
        let quantity = Quantity::new(1e6, Unit::NANOSECONDS, n, Interval::none("test"));
        assert_eq!(enough(quantity, share, beyond).err().as_deref(), missing);
    }

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        check(10_000, 0.999, 10, None);
        check(9_999, 0.999, 10, Some("fewer than 10,000 samples"));
        check(999, 0.99, 10, Some("fewer than 1,000 samples"));
        check(200, 0.95, 10, None);
        check(19, 0.5, 10, Some("fewer than 20 samples"));
        check(1, 0.999, 0, None);
    }
}
