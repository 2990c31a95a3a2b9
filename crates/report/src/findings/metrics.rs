//! The metrics of a point from its runs: throughput, latencies, CPU, device. Repetitions are the higher level of variance.

pub(super) mod counted;
pub(super) mod counters;
pub(super) mod efficiency;
pub(super) mod engine_tpm;
pub(super) mod latencies;
pub(super) mod percentiles;

use super::drills::{DrillOf, report_of};
use super::estimate::{estimate, estimate_of_rate, informative, measured, over_runs, ratio, within_the_whole};
use super::level::Measured;
use super::load::pacing::rules;
use super::observed::{in_windows, observed};
use super::run::{Pair, RunFindings};
use super::telemetry::{self, Trace, cpu_allowed, mean_of_cores, steal, total, traces};
use crate::metrics::{
    CPU, CPU_STEAL, CostName, DATABASE_CPU, DEVICE_BUSY, DEVICE_FLUSHES, DEVICE_QUEUE, DEVICE_READ_BANDWIDTH,
    DEVICE_READ_REQUESTS, DEVICE_WRITE_BANDWIDTH, DEVICE_WRITE_REQUESTS, FAILED, FLUSHES, MAJOR_FAULTS, MetricKey,
    MetricName, PACED, PACED_BY_SCALE, PACED_EFFICIENCY, READ_BYTES, READS, READS_AWAY, REFAULTS, RUN_THROUGHPUT,
    RUN_TIME, THROUGHPUT, WORK_PER_CPU, WRITES, WRITES_AWAY, WRITTEN_BYTES,
};
use crate::workloads::{CountedKind, Workload, workload};
use proofload_analysis::bootstrap::{Estimate, METHOD_RUNS};
use proofload_analysis::distribution::{mean, variance};
use proofload_analysis::order_statistics::median;
use proofload_analysis::quantity::{Interval, Quantity};
use proofload_model::drill::ProbeKind;
use proofload_model::samples::IntervalSample;
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::Settings;
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// What a unit of work costs on the device: metric, what is observed, and the factor to the metric's unit.
const PER_OPERATION: &[(CostName, SeriesName, f64)] = &[
    (READS, series::device::READS, 1.0),
    (WRITES, series::device::WRITES, 1.0),
    (READ_BYTES, series::device::READ_BYTES, 1e-3),
    (WRITTEN_BYTES, series::device::WRITE_BYTES, 1e-3),
    (FLUSHES, series::device::FLUSHES, 1.0),
];

/// Use of device and memory: metric, what is observed, and the factor to the metric's unit.
const OF_HOST: &[(MetricName, SeriesName, f64)] = &[
    (DEVICE_READ_BANDWIDTH, series::device::READ_BYTES, 1e-6),
    (DEVICE_WRITE_BANDWIDTH, series::device::WRITE_BYTES, 1e-6),
    (DEVICE_READ_REQUESTS, series::device::READS, 1.0),
    (DEVICE_WRITE_REQUESTS, series::device::WRITES, 1.0),
    (DEVICE_BUSY, series::device::BUSY, 1.0),
    (DEVICE_FLUSHES, series::device::FLUSHES, 1.0),
    (DEVICE_QUEUE, series::device::QUEUE, 1.0),
    (MAJOR_FAULTS, series::memory::MAJOR_FAULTS, 1.0),
    (REFAULTS, series::memory::REFAULTS, 1.0),
];

/// Shares of a whole, %.
const SHARES: &[MetricName] = &[FAILED, CPU, DATABASE_CPU, CPU_STEAL, DEVICE_BUSY];

/// Outages of drills: metric, and kind of the prober's operations.
pub(super) const OUTAGES: &[(MetricName, ProbeKind)] =
    &[(WRITES_AWAY, ProbeKind::Write), (READS_AWAY, ProbeKind::Read)];

/// The series that a metric of device or memory is observed by.
pub(super) fn series_of(metric: &MetricKey) -> Option<SeriesName> {
    OF_HOST.iter().find(|(known, ..)| *metric == *known).map(|(_, probed, _)| *probed)
}

/// All metrics of a point by key. `response_ns_p99.new_order` is the percentile of one kind of operation,
/// `response_ns_p99.all` of all together.
pub(super) fn metrics(runs: &[Pair<'_>], settings: &Settings) -> BTreeMap<MetricKey, Measured> {
    let workload = workload(settings);
    let mut metrics = BTreeMap::new();
    let per_second = throughput(runs);
    let mut put = |key: MetricKey, value: Measured| {
        metrics.insert(key, value);
    };
    put(THROUGHPUT.key(), measured(&per_second, THROUGHPUT.quantity_unit(), 1.0));
    for (metric, factor) in workload.rates {
        put(metric.key(), measured(&per_second, metric.quantity_unit(), *factor));
    }
    for (place, counted) in workload.counted.iter().enumerate() {
        put(counted.metric.key(), by_clients(runs, place, counted));
        put(counted.metric_database.key(), by_database(runs, place, counted.metric_database));
    }
    put(FAILED.key(), failed_percent(runs));
    put(CPU.key(), cores(runs, mean_of_cores));
    let of_database = cores(runs, database_cpu);
    if of_database.is_ok() {
        put(DATABASE_CPU.key(), of_database);
    }
    if let Some(work) = work_per_cpu(runs, &per_second) {
        put(WORK_PER_CPU.key(), Ok(work));
    }
    let stolen = cores(runs, steal);
    if stolen.is_ok() {
        put(CPU_STEAL.key(), stolen);
    }
    for (metric, probed, factor) in OF_HOST {
        let unit = metric.quantity_unit();
        put(metric.key(), observed(runs, *probed).and_then(|estimate| measured(&Ok(estimate), unit, *factor)));
    }
    let work = workload.work.one;
    for (cost, probed, factor) in PER_OPERATION {
        let quantity = observed(runs, *probed).and_then(|above| Ok(ratio(&above, &per_second.clone()?)));
        put(cost.key(work), quantity.map(|quantity| quantity.scaled(*factor, cost.quantity_unit(work))));
    }
    for (metric, value) in super::host::device_requests::of_requests(runs) {
        put(metric.key(), value);
    }
    let of_whole_run = [RUN_TIME.name, RUN_THROUGHPUT.name];
    for (metric, value) in efficiency::efficiency(runs, &per_second, settings) {
        if workload.tells_absence || value.is_ok() && !of_whole_run.contains(&metric.name) {
            metrics.insert(metric.key(), value);
        }
    }
    for (metric, value) in engine_tpm::engine_tpm(runs, &per_second, workload, settings) {
        metrics.insert(metric.key(), value);
    }
    for (metric, value) in paced(runs, workload, settings) {
        metrics.insert(metric.key(), value);
    }
    if workload.rates_queries {
        let of_queries = super::warehouse::metrics(runs, &per_second);
        metrics.extend(of_queries.into_iter().map(|(metric, value)| (metric.key(), value)));
    }
    metrics.extend(outages(runs).into_iter().map(|(metric, value)| (metric.key(), value)));
    percentiles::latencies(runs, workload, &mut metrics);
    metrics.extend(counters::engine_counters(runs));
    metrics.into_iter().map(|(key, value)| with_told_interval(key, value)).collect()
}

/// A metric without an interval that says nothing; that of a share ends at the whole.
fn with_told_interval(key: MetricKey, value: Measured) -> (MetricKey, Measured) {
    let value = value.map(informative);
    let is_share = SHARES.iter().any(|share| key == *share);
    (key, if is_share { value.map(within_the_whole) } else { value })
}

/// Transactions per second over the windows of all runs; of runs that are rated whole by their rounds.
pub(super) fn throughput(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    if runs.iter().any(|(run, _)| run.whole.is_some()) {
        let rates: Option<Vec<f64>> = runs.iter().map(|(run, _)| run.whole.as_ref()?.rate()).collect();
        return rates.map(|rates| of_totals(&rates)).ok_or_else(|| "there is no data to rate".to_owned());
    }
    let windows: Vec<&[f64]> = runs.iter().map(|(run, _)| run.measured()).collect();
    estimate_of_rate(&windows, are_judged(runs))
}

/// Whether windows are judged by what is shown to move.
fn are_judged(runs: &[Pair<'_>]) -> bool {
    runs.iter().all(|(run, _)| run.judged.is_some())
}

/// The mean over runs of one exact value each.
fn of_totals(values: &[f64]) -> Estimate {
    let n = values.len();
    let single = n < 2;
    Estimate {
        value: mean(values),
        standard_error: if single { f64::NAN } else { (variance(values) / n as f64).sqrt() },
        freedom: n.saturating_sub(1) as f64,
        ahead: 0.0,
        n: n as u64,
        block: 1,
        missing: single.then(|| "a single run with a fixed number of operations has no spread".to_owned()),
        method: METHOD_RUNS,
    }
}

/// A kind that the database counts as well, by the clients' counts, per minute.
fn by_clients(runs: &[Pair<'_>], place: usize, kind: &CountedKind) -> Measured {
    let windows: Option<Vec<&[f64]>> =
        runs.iter().map(|(run, _)| run.counted.get(place).and_then(|counted| counted.clients.as_deref())).collect();
    match windows {
        Some(windows) => measured(&estimate_of_rate(&windows, are_judged(runs)), kind.metric.quantity_unit(), 60.0),
        None => Err(kind.missing.to_owned()),
    }
}

/// The same by the database's counter.
fn by_database(runs: &[Pair<'_>], place: usize, metric: MetricName) -> Measured {
    let values: Option<Vec<f64>> =
        runs.iter().map(|(run, _)| run.counted.get(place).and_then(|counted| counted.database)).collect();
    let values = values.filter(|values| !values.is_empty());
    if runs.iter().any(|(run, _)| run.window != run.load) {
        return Err("the database's counter was read at the start of the load, but the window starts later".to_owned());
    }
    let values = values.ok_or("the database's counter was not read at both ends of the window")?;
    Ok(over_runs(&values, metric.quantity_unit(), "two readings of a counter have no spread"))
}

/// Medians of the outages of drills; empty for runs without.
fn outages(runs: &[Pair<'_>]) -> Vec<(MetricName, Measured)> {
    let drills: Vec<DrillOf<'_>> = runs
        .iter()
        .filter_map(|(_, attempt)| {
            Some(DrillOf { run: attempt.run.index, attempt: attempt.id, report: report_of(attempt)? })
        })
        .collect();
    let median_of = |metric: MetricName, kind| {
        let values: Vec<f64> = drills.iter().map(|drill| drill.outage(kind)).collect();
        Some((metric, Ok(median(&values, metric.quantity_unit())?)))
    };
    OUTAGES.iter().filter_map(|(metric, kind)| median_of(*metric, *kind)).collect()
}

/// The kind of operations whose outages a metric is the median of.
pub(super) fn outage_of(metric: &MetricKey) -> Option<ProbeKind> {
    OUTAGES.iter().find(|(known, _)| *metric == *known).map(|(_, kind)| *kind)
}

fn failed_percent(runs: &[Pair<'_>]) -> Measured {
    let failed: u64 = runs.iter().map(|(run, _)| run.failures.failed).sum();
    let due: u64 = runs.iter().map(|(run, _)| run.failures.due).sum();
    if due == 0 {
        return Err("no operations became due".to_owned());
    }
    let why = "a share of all operations, not of a sample";
    Ok(Quantity::new(100.0 * failed as f64 / due as f64, FAILED.quantity_unit(), due, Interval::none(why)))
}

/// CPU time of the database's group in per cent of what its cores or its allowance give.
fn database_cpu(attempt: &Attempt) -> Option<Trace> {
    let cores = Some(telemetry::cores(attempt).len()).filter(|count| *count > 0)? as f64;
    let all = cpu_allowed(attempt).map_or(cores, |allowed| allowed.min(cores));
    let mut trace = total(&traces(attempt, series::group::CPU))?;
    for (_, value) in &mut trace.samples {
        *value *= 100.0 / all;
    }
    Some(trace)
}

/// What was done for each second of CPU time of the database's group; `None` where that was not seen or used none.
fn work_per_cpu(runs: &[Pair<'_>], per_second: &Result<Estimate, String>) -> Option<Quantity> {
    let used = observed(runs, series::group::CPU).ok().filter(|used| used.value > 0.0)?;
    let work = ratio(per_second.as_ref().ok()?, &used);
    work.value().is_finite().then(|| work.scaled(1.0, WORK_PER_CPU.quantity_unit()))
}

/// A share of the cores' time, %.
fn cores(runs: &[Pair<'_>], pick: fn(&Attempt) -> Option<Trace>) -> Measured {
    let found = in_windows(runs, pick, "CPU utilization")?;
    let windows: Vec<&[f64]> = found.iter().map(Vec::as_slice).collect();
    measured(&estimate(&windows), CPU.quantity_unit(), 1.0)
}

/// Metrics of a paced load: those rolled back by design count, as in its ceiling.
fn paced(runs: &[Pair<'_>], workload: &'static Workload, settings: &Settings) -> Vec<(MetricName, Measured)> {
    let Some(rules) = rules(workload, settings) else { return Vec::new() };
    let windows: Vec<Vec<f64>> = runs.iter().map(|(run, attempt)| ended(run, attempt, rules.counted.0)).collect();
    let per_second = estimate_of_rate(&windows.iter().map(Vec::as_slice).collect::<Vec<_>>(), are_judged(runs));
    let (scale, _, _) = rules.least;
    let size = settings.number(scale).ok().filter(|size| *size > 0.0);
    let per_size = size.ok_or_else(|| format!("the study does not state {scale}"));
    let ceiling = runs.iter().find_map(|(run, _)| run.pacing.as_ref()?.ceiling_per_minute);
    let ceiling = ceiling.ok_or_else(|| "the load generator did not state its ceiling".to_owned());
    vec![
        (PACED, measured(&per_second, PACED.quantity_unit(), 60.0)),
        (PACED_BY_SCALE, per_size.and_then(|size| measured(&per_second, PACED_BY_SCALE.quantity_unit(), 60.0 / size))),
        (
            PACED_EFFICIENCY,
            ceiling.and_then(|ceiling| measured(&per_second, PACED_EFFICIENCY.quantity_unit(), 100.0 * 60.0 / ceiling)),
        ),
    ]
}

/// Operations of a kind that ended in each second of the window, a gap where the second is missing.
fn ended(run: &RunFindings, attempt: &Attempt, kind: &str) -> Vec<f64> {
    let Some(window) = run.window else { return Vec::new() };
    let of_kind = |interval: &IntervalSample| {
        let counts = interval.counts.iter().find(|counts| counts.kind == kind);
        counts.map_or(0.0, |counts| counts.completed() as f64)
    };
    window.by_second(&window.inside(&attempt.intervals), of_kind)
}
