//! The metrics of a point from its runs: throughput, latencies, CPU, device. Repetitions are the higher level of variance.

use super::level::Measured;
use super::run::RunFindings;
use super::telemetry::{Trace, average, mean_of_cores, steal, total, traces};
use crate::workloads::workload;
use proofload_analysis::bootstrap::{Estimate, METHOD_RUNS, ratio_of_means};
use proofload_analysis::distribution::{mean, student_quantile, variance};
use proofload_analysis::hierarchy::mean_of_runs;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::Settings;
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// What a unit of work costs on the device: start of the metric, what is observed, unit and its factor.
const PER_OPERATION: &[(&str, SeriesName, &str, f64)] = &[
    ("reads", series::device::READS, "reads", 1.0),
    ("writes", series::device::WRITES, "writes", 1.0),
    ("read_kb", series::device::READ_BYTES, "kB", 1e-3),
    ("write_kb", series::device::WRITE_BYTES, "kB", 1e-3),
];

/// Makes the metrics of one workload from its runs and their throughput.
type OwnMetrics = fn(&[Pair<'_>], &Result<Estimate, String>) -> Vec<(&'static str, Measured)>;

/// Metrics that one workload adds, by `workload.kind`.
const OF_WORKLOADS: &[(&str, OwnMetrics)] = &[(super::warehouse::KIND, super::warehouse::metrics)];

/// A run with its attempt.
pub(super) type Pair<'a> = (&'a RunFindings, &'a Attempt);

/// All metrics of a point by name. `response_ns_p99.new_order` is the percentile of one kind of operation,
/// `response_ns_p99.all` of all together.
pub(super) fn metrics(runs: &[Pair<'_>], settings: &Settings) -> BTreeMap<String, Measured> {
    let workload = workload(settings);
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
    put("cpu_percent", cores(runs, mean_of_cores));
    let stolen = cores(runs, steal);
    if stolen.is_ok() {
        put("cpu_steal_percent", stolen);
    }
    let devices = [
        ("device_read_mb_s", series::device::READ_BYTES, Unit::MB_PER_SECOND, 1e-6),
        ("device_write_mb_s", series::device::WRITE_BYTES, Unit::MB_PER_SECOND, 1e-6),
        ("device_reads_s", series::device::READS, Unit::PER_SECOND, 1.0),
        ("device_writes_s", series::device::WRITES, Unit::PER_SECOND, 1.0),
        ("device_busy_percent", series::device::BUSY, Unit::PERCENT, 1.0),
        ("major_faults_s", series::memory::MAJOR_FAULTS, Unit::PER_SECOND, 1.0),
        ("refaults_s", series::memory::REFAULTS, Unit::PER_SECOND, 1.0),
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
    for (name, value) in super::efficiency::efficiency(runs, &per_second, settings) {
        if workload.tells_absence || value.is_ok() && !name.starts_with("run_") {
            metrics.insert(name.to_owned(), value);
        }
    }
    for (name, value) in super::pacing::metrics(runs, workload, settings) {
        metrics.insert(name.to_owned(), value);
    }
    for (_, own) in OF_WORKLOADS.iter().filter(|(kind, _)| *kind == workload.kind) {
        metrics.extend(own(runs, &per_second).into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    super::latencies::latencies(runs, workload, &mut metrics);
    metrics.extend(super::counters::engine_counters(runs));
    metrics.into_iter().map(|(name, value)| (name, value.map(informative))).collect()
}

/// Leaves out, with the reason, an interval that exceeds the possible range or spans a hundredfold: its windows are worth
/// too few independent seconds.
pub(super) fn informative(quantity: Quantity) -> Quantity {
    let says_nothing = |(low, high): (f64, f64)| low < 0.0 || high > 100.0 * low.max(quantity.value() / 10.0);
    if quantity.interval().bounds().is_some_and(says_nothing) {
        let why = "the window holds too few independent seconds";
        return Quantity::new(quantity.value(), quantity.unit().clone(), quantity.n(), Interval::none(why));
    }
    quantity
}

/// Transactions per second over the windows of all runs; of runs that are rated whole by their rounds.
pub(super) fn throughput(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    if runs.iter().any(|(run, _)| run.whole.is_some()) {
        let rates: Option<Vec<f64>> = runs.iter().map(|(run, _)| run.whole.as_ref()?.rate()).collect();
        return rates.map(|rates| of_totals(&rates)).ok_or_else(|| "there is nothing to rate".to_owned());
    }
    let windows: Vec<&[f64]> = runs.iter().map(|(run, _)| run.measured()).collect();
    estimate(&windows)
}

/// The mean over runs of one exact value each.
fn of_totals(values: &[f64]) -> Estimate {
    let n = values.len();
    let single = n < 2;
    Estimate {
        value: mean(values),
        standard_error: if single { f64::NAN } else { (variance(values) / n as f64).sqrt() },
        freedom: n.saturating_sub(1) as f64,
        n: n as u64,
        effective_n: n as f64,
        block: 1,
        missing: single.then(|| "one run of a fixed number of operations has no spread".to_owned()),
        method: METHOD_RUNS,
    }
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
pub(super) fn over_runs(values: &[f64], unit: Unit, why_not: &str) -> Quantity {
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

/// Use of the cores in each run's window, %; `None` where it was not observed in one of them.
pub(super) fn cpu_windows(runs: &[Pair<'_>]) -> Option<Vec<Vec<f64>>> {
    in_windows(runs, mean_of_cores, "").ok()
}

/// A series in each run's window, its instances added up; `None` where it was not observed in one of them.
pub(super) fn device_windows(runs: &[Pair<'_>], probed: SeriesName) -> Option<Vec<Vec<f64>>> {
    in_windows(runs, |attempt| of_all_instances(attempt, probed), "").ok()
}

/// The instances of a series together: as a mean where it is a share of each.
fn of_all_instances(attempt: &Attempt, probed: SeriesName) -> Option<Trace> {
    let found = traces(attempt, probed);
    if probed == series::device::BUSY { average(&found) } else { total(&found) }
}

/// A share of the cores' time, %.
fn cores(runs: &[Pair<'_>], pick: fn(&Attempt) -> Option<Trace>) -> Measured {
    let found = in_windows(runs, pick, "the use of the cores")?;
    let windows: Vec<&[f64]> = found.iter().map(Vec::as_slice).collect();
    measured(&estimate(&windows), Unit::PERCENT, 1.0)
}

/// A series over the windows of all runs, its instances added up.
pub(super) fn observed(runs: &[Pair<'_>], probed: SeriesName) -> Result<Estimate, String> {
    let what = match probed {
        series::memory::MAJOR_FAULTS | series::memory::REFAULTS => "the memory of the control group",
        series::power::WATTS => "power",
        _ => "the device",
    };
    let found = in_windows(runs, |attempt| of_all_instances(attempt, probed), what)?;
    let windows: Vec<&[f64]> = found.iter().map(Vec::as_slice).collect();
    estimate(&windows)
}

/// A ratio of two means that may be nothing at all: 0 to something is 0.
pub(super) fn ratio(above: &Estimate, below: &Estimate) -> Quantity {
    if above.value == 0.0 && below.value > 0.0 {
        return Quantity::new(0.0, Unit::RATIO, above.n, Interval::none("nothing was counted"));
    }
    ratio_of_means(above, below)
}
