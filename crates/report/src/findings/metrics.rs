//! The metrics of a point from its runs: throughput, latencies, CPU, device. Repetitions are the higher level of variance.

use super::level::Measured;
use super::run::RunFindings;
use super::telemetry::{Probed, Trace, average, cores, total, traces};
use crate::analysis::bootstrap::{Estimate, ratio_of_means};
use crate::analysis::distribution::{mean, student_quantile, variance};
use crate::analysis::hierarchy::mean_of_runs;
use crate::analysis::latency::{Latencies, Sparse};
use crate::analysis::quantity::{Interval, Quantity, Unit};
use crate::workloads::Workload;
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// Percentiles of response times: the end of the metric's name and the share.
pub const PERCENTILES: &[(&str, f64)] = &[("p50", 0.50), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];

/// What a unit of work costs on the device: start of the metric, what is observed, unit and its factor.
const PER_OPERATION: &[(&str, Probed, &str, f64)] = &[
    ("reads", Probed::DeviceReads, "reads", 1.0),
    ("writes", Probed::DeviceWrites, "writes", 1.0),
    ("read_kb", Probed::DeviceReadBytes, "kB", 1e-3),
    ("write_kb", Probed::DeviceWriteBytes, "kB", 1e-3),
];

/// A run with its attempt.
pub(super) type Pair<'a> = (&'a RunFindings, &'a Attempt);

/// All metrics of a point by name. `response_ns_p99.new_order` is the percentile of one kind of operation,
/// `response_ns_p99.all` of all together.
pub(super) fn metrics(runs: &[Pair<'_>], workload: &Workload) -> BTreeMap<String, Measured> {
    let mut metrics = BTreeMap::new();
    let per_second = throughput(runs);
    let mut put = |name: &str, value: Measured| {
        metrics.insert(name.to_owned(), value);
    };
    put("throughput", measured(&per_second, Unit::PER_SECOND, 1.0));
    for (name, unit, factor) in workload.rates {
        put(name, measured(&per_second, Unit::named(unit), *factor));
    }
    for (place, counted) in workload.counted.iter().enumerate() {
        put(counted.metric, by_clients(runs, place, counted.missing));
        put(counted.metric_database, by_database(runs, place));
    }
    put("failed_percent", failed_percent(runs));
    put("cpu_percent", cpu(runs));
    let devices = [
        ("device_read_mb_s", Probed::DeviceReadBytes, Unit::MB_PER_SECOND, 1e-6),
        ("device_write_mb_s", Probed::DeviceWriteBytes, Unit::MB_PER_SECOND, 1e-6),
        ("device_reads_s", Probed::DeviceReads, Unit::PER_SECOND, 1.0),
        ("device_writes_s", Probed::DeviceWrites, Unit::PER_SECOND, 1.0),
        ("device_busy_percent", Probed::DeviceBusy, Unit::PERCENT, 1.0),
        ("major_faults_s", Probed::MajorFaults, Unit::PER_SECOND, 1.0),
        ("refaults_s", Probed::Refaults, Unit::PER_SECOND, 1.0),
    ];
    for (name, probed, unit, factor) in devices {
        put(name, observed(runs, probed).and_then(|estimate| measured(&Ok(estimate), unit, factor)));
    }
    let work = workload.work.one;
    for (what, probed, unit, factor) in PER_OPERATION {
        let quantity = observed(runs, *probed).and_then(|above| Ok(ratio(&above, &per_second.clone()?)));
        let unit = Unit(format!("{unit}/{work}").into());
        put(&format!("{what}_per_{work}"), quantity.map(|quantity| quantity.scaled(*factor, unit)));
    }
    latencies(runs, workload, &mut metrics);
    metrics.extend(super::counters::engine_counters(runs));
    metrics.into_iter().map(|(name, value)| (name, value.map(informative))).collect()
}

/// Where a window is worth so few independent seconds that an interval leaves the range of what can be, or spans a hundredfold,
/// it says nothing and is left out with that reason.
pub(super) fn informative(quantity: Quantity) -> Quantity {
    let says_nothing = |(low, high): (f64, f64)| low < 0.0 || high > 100.0 * low.max(quantity.value() / 10.0);
    if quantity.interval().bounds().is_some_and(says_nothing) {
        let why = "the window holds too few independent seconds";
        return Quantity::new(quantity.value(), quantity.unit().clone(), quantity.n(), Interval::none(why));
    }
    quantity
}

/// Transactions per second over the windows of all runs.
pub(super) fn throughput(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    let windows: Vec<&[f64]> = runs.iter().map(|(run, _)| run.measured()).collect();
    estimate(&windows)
}

pub(super) fn estimate(windows: &[&[f64]]) -> Result<Estimate, String> {
    if windows.is_empty() {
        return Err("no run was completed".to_owned());
    }
    if windows.iter().any(|window| window.is_empty()) {
        return Err("there is no measured window".to_owned());
    }
    Ok(mean_of_runs(windows))
}

pub(super) fn measured(estimate: &Result<Estimate, String>, unit: Unit, factor: f64) -> Measured {
    let quantity = estimate.as_ref().map_err(Clone::clone)?.quantity(unit.clone()).scaled(factor, unit);
    if quantity.value().is_finite() { Ok(quantity) } else { Err("the window has gaps".to_owned()) }
}

/// A kind that the database counts as well, by the clients' counts, per minute.
fn by_clients(runs: &[Pair<'_>], place: usize, missing: &str) -> Measured {
    let windows: Option<Vec<&[f64]>> =
        runs.iter().map(|(run, _)| run.counted.get(place).and_then(|counted| counted.clients.as_deref())).collect();
    match windows {
        Some(windows) => measured(&estimate(&windows), Unit::PER_MINUTE, 60.0),
        None => Err(missing.to_owned()),
    }
}

/// The same by the database's counter.
fn by_database(runs: &[Pair<'_>], place: usize) -> Measured {
    let values: Option<Vec<f64>> =
        runs.iter().map(|(run, _)| run.counted.get(place).and_then(|counted| counted.database)).collect();
    let values = values.filter(|values| !values.is_empty());
    let values = values.ok_or("the database's counter was not read at both ends of the window")?;
    Ok(over_runs(&values, Unit::PER_MINUTE, "two readings of a counter have no spread"))
}

/// The mean of one value per run.
fn over_runs(values: &[f64], unit: Unit, why_not: &str) -> Quantity {
    let count = values.len() as f64;
    let interval = if values.len() < 2 {
        Interval::none(why_not)
    } else {
        let half = student_quantile(0.975, count - 1.0) * (variance(values) / count).sqrt();
        Interval::known(mean(values) - half, mean(values) + half, "Student's t over repetitions")
    };
    Quantity::new(mean(values), unit, values.len() as u64, interval)
}

fn failed_percent(runs: &[Pair<'_>]) -> Measured {
    let failed: u64 = runs.iter().map(|(run, _)| run.failures.0).sum();
    let due: u64 = runs.iter().map(|(run, _)| run.failures.1).sum();
    if due == 0 {
        return Err("nothing became due".to_owned());
    }
    let why = "a share of a full count, not of a sample";
    Ok(Quantity::new(100.0 * failed as f64 / due as f64, Unit::PERCENT, due, Interval::none(why)))
}

/// A series within each run's window.
fn in_windows(
    runs: &[Pair<'_>],
    pick: impl Fn(&Attempt) -> Option<Trace>,
    what: &str,
) -> Result<Vec<Vec<f64>>, String> {
    let window = |(run, attempt): &Pair<'_>| {
        let trace = pick(attempt)?.within(run.window_seconds()?);
        Some(trace.values()).filter(|values| !values.is_empty())
    };
    let found: Option<Vec<Vec<f64>>> = runs.iter().map(window).collect();
    found.filter(|found| !found.is_empty()).ok_or_else(|| format!("{what} was not observed"))
}

fn cpu(runs: &[Pair<'_>]) -> Measured {
    let found = in_windows(runs, mean_of_cores, "the use of the cores")?;
    let windows: Vec<&[f64]> = found.iter().map(Vec::as_slice).collect();
    measured(&estimate(&windows), Unit::PERCENT, 1.0)
}

/// As the probe says it, else the mean over the cores that the database may run on.
fn mean_of_cores(attempt: &Attempt) -> Option<Trace> {
    traces(attempt, Probed::CoreMean).pop().or_else(|| average(&cores(attempt)))
}

fn observed(runs: &[Pair<'_>], probed: Probed) -> Result<Estimate, String> {
    let pick = |attempt: &Attempt| {
        let found = traces(attempt, probed);
        if probed == Probed::DeviceBusy { average(&found) } else { total(&found) }
    };
    let memory = matches!(probed, Probed::MajorFaults | Probed::Refaults);
    let found = in_windows(runs, pick, if memory { "the memory of the control group" } else { "the device" })?;
    let windows: Vec<&[f64]> = found.iter().map(Vec::as_slice).collect();
    estimate(&windows)
}

/// A ratio of two means that may be nothing at all: 0 to something is 0.
fn ratio(above: &Estimate, below: &Estimate) -> Quantity {
    if above.value == 0.0 && below.value > 0.0 {
        return Quantity::new(0.0, Unit::RATIO, above.n, Interval::none("nothing was counted"));
    }
    ratio_of_means(above, below)
}

fn latencies(runs: &[Pair<'_>], workload: &Workload, metrics: &mut BTreeMap<String, Measured>) {
    let mut kinds: Vec<String> = runs.iter().flat_map(|(run, _)| run.kinds.clone()).collect();
    workload.sort_kinds(&mut kinds);
    kinds.dedup();
    for kind in &kinds {
        let per_run: Vec<&[Sparse]> =
            runs.iter().map(|(run, _)| run.latencies.get(kind).map_or(&[][..], Vec::as_slice)).collect();
        put_latencies(kind, &per_run, metrics);
    }
    let together: Vec<Vec<Sparse>> = runs.iter().map(|(run, _)| all_kinds(run)).collect();
    put_latencies("all", &together.iter().map(Vec::as_slice).collect::<Vec<_>>(), metrics);
}

/// One histogram per second over all kinds.
fn all_kinds(run: &RunFindings) -> Vec<Sparse> {
    let seconds = run.latencies.values().map(Vec::len).max().unwrap_or(0);
    (0..seconds).map(|second| Sparse::merged(run.latencies.values().filter_map(|parts| parts.get(second)))).collect()
}

fn put_latencies(kind: &str, per_run: &[&[Sparse]], metrics: &mut BTreeMap<String, Measured>) {
    let joined: Vec<Sparse> = per_run.iter().flat_map(|parts| parts.iter().cloned()).collect();
    let merged = Latencies::new(&joined);
    let each: Vec<Sparse> = per_run.iter().map(|parts| Sparse::merged(*parts)).collect();
    let finite = |quantity: Quantity| {
        if quantity.value().is_finite() { Ok(quantity) } else { Err("no operation of this kind completed".to_owned()) }
    };
    for (name, share) in PERCENTILES {
        let values: Vec<f64> = each.iter().filter_map(|run| run.percentile(*share)).map(|value| value as f64).collect();
        let quantity = widened(merged.percentile(*share), &values);
        metrics.insert(format!("response_ns_{name}.{kind}"), finite(quantity));
    }
    let means: Vec<f64> = each.iter().filter(|run| run.count() > 0).map(Sparse::mean).collect();
    metrics.insert(format!("response_ns_mean.{kind}"), finite(widened(merged.mean(), &means)));
}

/// With repetitions the interval also holds what they scatter: Student's t of the logarithms of the runs' own values
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
