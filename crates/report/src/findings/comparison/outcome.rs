//! What a point's runs say of one metric, in the form in which two records are compared. Percentiles are read from merged
//! histograms, also those of each run, and never averaged.

use super::super::drills::{DrillOf, report_of};
use super::super::evaluate::Findings;
use super::super::metrics::{outage_of, series_of};
use super::super::observed::{cpu_windows, device_windows};
use super::super::point::PointFindings;
use super::super::run::{Pair, RunFindings};
use super::super::warehouse::geometric_means;
use crate::findings::metrics::latencies::{ByKind, all_kinds};
use crate::metrics::{CPU, LatencyKey, MetricKey, QUERY_TIME, RUN_THROUGHPUT, RUN_TIME};
use crate::workloads::Workload;
use proofload_analysis::bootstrap::{FEWEST_SAMPLES, mean_of};
use proofload_analysis::contrast::{Outcome, Within};
use proofload_analysis::distribution::mean;
use proofload_analysis::latency::{Latencies, Sparse};
use proofload_analysis::order_statistics::median;
use proofload_analysis::quantity::Unit;
use proofload_model::drill::{ProbeKind, drill};
use proofload_model::samples::LatencyClock;
use proofload_record::Record;

/// Number of values that must lie beyond a percentile on each side; with fewer it is the accident of a few samples.
const BEYOND: f64 = 10.0;

/// The outcome of a metric, or why there is none.
pub(super) fn outcome(findings: &Findings<'_>, point: &PointFindings, key: &MetricKey) -> Result<Outcome, String> {
    let workload = findings.workload;
    let runs: Vec<&RunFindings> = point.runs.iter().collect();
    if let Some(latency) = key.latency() {
        return latency_outcome(point, latency);
    }
    if let Some(place) = workload.counted.iter().position(|counted| *key == counted.metric) {
        let clients = |run: &&RunFindings| run.counted.get(place)?.clients.clone();
        return of_windows(runs.iter().map(clients).collect(), "it was not counted");
    }
    if let Some(place) = workload.counted.iter().position(|counted| *key == counted.metric_database) {
        let database = |run: &&RunFindings| run.counted.get(place)?.database;
        return of_values(runs.iter().map(database).collect(), "two readings of a counter have no spread");
    }
    let pairs: Vec<Pair<'_>> = runs.iter().filter_map(|run| Some((*run, findings.finished(run.run.index)?))).collect();
    match key {
        _ if *key == RUN_TIME => of_values(completed(&runs, |seconds, _| seconds), "a single run has no spread"),
        _ if *key == RUN_THROUGHPUT => {
            of_values(completed(&runs, |seconds, operations| operations / seconds), "a total has no spread")
        }
        _ if *key == QUERY_TIME => of_values(
            Some(geometric_means(&pairs)?),
            "a single run has no spread between \
            runs",
        ),
        _ if *key == CPU => of_windows(cpu_windows(&pairs), "CPU utilization was not observed"),
        _ if outage_of(key).is_some() => outages(findings.record, &pairs, outage_of(key)),
        _ => match series_of(key) {
            Some(probed) => of_windows(device_windows(&pairs, probed), "it was not observed"),
            None => throughput(&runs),
        },
    }
}

/// Whether a metric is the throughput of all units of work, in whatever unit of time.
pub(super) fn is_throughput(workload: &Workload, key: &MetricKey) -> bool {
    let by_database = workload.counted.iter().any(|counted| *key == counted.metric_database);
    let other = [RUN_TIME, RUN_THROUGHPUT, QUERY_TIME, CPU].map(MetricKey::from).contains(key);
    let other = other || outage_of(key).is_some();
    !(by_database || other || key.latency().is_some() || series_of(key).is_some())
}

/// The outage of each drill. One that is shorter than the time between two operations is not told from one as long.
fn outages(record: &Record, pairs: &[Pair<'_>], kind: Option<ProbeKind>) -> Result<Outcome, String> {
    let (Some(kind), Some((run, _))) = (kind, pairs.first()) else { return Err("no drill was completed".to_owned()) };
    let asked = drill(&record.plan.settings(&record.study, run.run.point)).ok().flatten();
    let shortest = 1.0 / f64::from(asked.ok_or("it is not a drill")?.prober.rate.max(1));
    let outage = |(run, attempt): &Pair<'_>| {
        let drill = DrillOf { run: run.run.index, attempt: run.attempt, report: report_of(attempt)? };
        Some(drill.outage(kind).max(shortest))
    };
    let runs: Vec<f64> = pairs.iter().filter_map(outage).collect();
    let value = median(&runs, Unit::RATIO).ok_or("no drill was completed")?.value();
    Ok(Outcome { value, runs, within: Err("a single drill has no spread".to_owned()) })
}

/// Throughput over the windows; for runs rated as a whole, one rate per run.
fn throughput(runs: &[&RunFindings]) -> Result<Outcome, String> {
    if runs.iter().any(|run| run.whole.is_some()) {
        let rates = runs.iter().map(|run| run.whole.as_ref()?.rate()).collect();
        return of_values(rates, "a single run with a fixed number of operations has no spread");
    }
    of_windows(Some(runs.iter().map(|run| run.measured().to_vec()).collect()), "")
}

fn completed(runs: &[&RunFindings], of: impl Fn(f64, f64) -> f64) -> Option<Vec<f64>> {
    runs.iter().map(|run| run.completed.map(|ended| of(ended.seconds, ended.operations as f64))).collect()
}

/// One value a run.
fn of_values(values: Option<Vec<f64>>, why_not: &str) -> Result<Outcome, String> {
    let runs = values.ok_or("it was not measured in every run")?;
    Ok(Outcome { value: mean(&runs), runs, within: Err(why_not.to_owned()) })
}

/// Seconds of each run's window.
fn of_windows(windows: Option<Vec<Vec<f64>>>, why_not: &str) -> Result<Outcome, String> {
    let windows = windows.ok_or(why_not)?;
    if windows.iter().any(Vec::is_empty) {
        return Err("there is no measured window".to_owned());
    }
    let mut means: Vec<_> = windows.iter().map(|window| mean_of(window)).collect();
    for (mean, window) in means.iter_mut().zip(&windows).filter(|(_, window)| window.len() < FEWEST_SAMPLES) {
        let seconds = window.len();
        mean.missing = Some(format!(
            "its window has {seconds} s, and an interval needs {FEWEST_SAMPLES} s or more; set procedure.measure to 30s or more"
        ));
    }
    if let Some(why) = means.iter().filter(|_| means.len() > 1).find_map(|mean| mean.missing.clone()) {
        return Err(why);
    }
    let within = means.first().ok_or_else(|| "no run was completed".to_owned()).and_then(Within::of_mean);
    let runs: Vec<f64> = means.iter().map(|mean| mean.value).collect();
    Ok(Outcome { value: mean(&runs), runs, within })
}

fn latency_outcome(point: &PointFindings, latency: &LatencyKey) -> Result<Outcome, String> {
    if let Some(why) = point.overload() {
        return Err(format!("response times of an overloaded point are not meaningful: {why}"));
    }
    let seconds: Vec<Vec<Sparse>> = point.runs.iter().map(|run| seconds(run, latency)).collect::<Result<_, _>>()?;
    let together: Vec<Sparse> = seconds.iter().flatten().cloned().collect();
    let merged = Latencies::new(&together);
    let each: Vec<Sparse> = seconds.iter().map(|parts| Sparse::merged(parts.iter())).collect();
    if each.iter().any(|run| run.count() == 0) {
        return Err("no operation of this kind completed".to_owned());
    }
    let Some(share) = latency.statistic.share() else {
        let value = merged.total().mean();
        let within = merged.mean_error().and_then(|(error, freedom)| Within::of_error(value, error, freedom));
        return Ok(Outcome { value, runs: each.iter().map(Sparse::mean).collect(), within });
    };
    let needed = (BEYOND / (1.0 - share)).round() as u64;
    if merged.total().count() < needed {
        return Err(format!("fewer than {} samples", crate::numbers::count(needed)));
    }
    let value = merged.total().percentile(share).unwrap_or(0) as f64;
    let runs = each.iter().filter_map(|run| run.percentile(share)).map(|value| value as f64).collect();
    Ok(Outcome { value, runs, within: merged.quantile(share).map(Within::Quantile) })
}

/// Histograms of the seconds of a run's window.
fn seconds(run: &RunFindings, latency: &LatencyKey) -> Result<Vec<Sparse>, String> {
    let none = || "service times were not recorded".to_owned();
    let of_service = latency.clock == LatencyClock::Service;
    let by_kind: &ByKind = if of_service { run.services.as_ref().ok_or_else(none)? } else { &run.latencies };
    if latency.kind == "all" {
        return Ok(all_kinds(by_kind));
    }
    by_kind.get(&latency.kind).cloned().ok_or_else(|| "no operation of this kind became due".to_owned())
}
