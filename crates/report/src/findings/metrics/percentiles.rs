//! The metrics of a point that are made from its runs' response and service times.

use super::latencies::{ByKind, all_kinds};
use crate::findings::level::Measured;
use crate::findings::run::{Pair, RunFindings};
use crate::metrics::{LatencyStatistic, MetricKey, PERCENTILES};
use crate::workloads::{Clocks, Workload};
use proofload_analysis::distribution::{student_quantile, variance};
use proofload_analysis::latency::{Latencies, Sparse};
use proofload_analysis::quantity::{Interval, Quantity};
use proofload_model::samples::{ALL_KINDS, LatencyClock};
use std::collections::BTreeMap;

/// `response_ns_p99.read` and the others; `.all` for all kinds together. Service times where the workload tells them apart.
pub(crate) fn latencies(runs: &[Pair<'_>], workload: &Workload, metrics: &mut BTreeMap<MetricKey, Measured>) {
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
    metrics: &mut BTreeMap<MetricKey, Measured>,
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
    put(&name, ALL_KINDS, &together.iter().map(Vec::as_slice).collect::<Vec<_>>(), metrics);
}

/// What the metrics of one clock are called, and how many values must lie beyond a percentile.
struct Name {
    clock: LatencyClock,
    beyond: u64,
}

impl Name {
    fn of(&self, statistic: LatencyStatistic, kind: &str) -> MetricKey {
        MetricKey::latency_of(self.clock, statistic, kind)
    }
}

fn put(name: &Name, kind: &str, per_run: &[&[Sparse]], metrics: &mut BTreeMap<MetricKey, Measured>) {
    let merged = Latencies::new(per_run.iter().copied().flatten());
    // The scatter of repetitions is told by two of them at least.
    let scattered = if per_run.len() < 2 { &[][..] } else { per_run };
    let each: Vec<Sparse> = scattered.iter().map(|parts| Sparse::merged(*parts)).collect();
    let finite = |quantity: Quantity| {
        if quantity.value().is_finite() { Ok(quantity) } else { Err("no operation of this kind completed".to_owned()) }
    };
    for (statistic, share) in PERCENTILES {
        let values: Vec<f64> = each.iter().filter_map(|run| run.percentile(*share)).map(|value| value as f64).collect();
        let quantity = finite(widened(merged.percentile(*share), &values));
        metrics.insert(name.of(*statistic, kind), quantity.and_then(|quantity| enough(quantity, *share, name.beyond)));
    }
    let means: Vec<f64> = each.iter().filter(|run| run.count() > 0).map(Sparse::mean).collect();
    metrics.insert(name.of(LatencyStatistic::Mean, kind), finite(widened(merged.mean(), &means)));
}

/// A percentile, if the sample is so large that `beyond` values lie beyond it; with fewer it is the accident of a few samples.
pub(crate) fn enough(quantity: Quantity, share: f64, beyond: u64) -> Measured {
    let needed = (beyond as f64 / (1.0 - share)).round() as u64;
    if quantity.n() >= needed {
        return Ok(quantity);
    }
    Err(format!("fewer than {} samples", crate::numbers::count(needed)))
}

/// Widens the interval by the scatter of repetitions, if there are any: Student's t of the logarithms of the runs' own values
/// around the merged one, and never less than the interval within runs.
pub(crate) fn widened(merged: Quantity, per_run: &[f64]) -> Quantity {
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
        "block bootstrap over intervals, widened by the spread of the repetitions",
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
