//! Rates over the stretch that a warehouse run is rated by: of a run by rounds that in which all streams were at work, else the
//! measured window.

use super::super::estimate::estimate;
use super::super::run::Pair;
use super::super::telemetry::{Trace, allowed_cores, cpu_allowed, mean_of_cores, total, traces};
use crate::findings::metrics::counters::{DRIVER_CPU, server_sums};
use proofload_analysis::bootstrap::Estimate;
use proofload_analysis::distribution::mean;
use proofload_model::facts::engine;
use proofload_model::samples::Reading;
use proofload_model::series::{self, SeriesName};
use proofload_record::Attempt;

/// Bytes per second that the device read for the database: those of its control group where the kernel counted them, else all.
pub(super) fn physical(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    let read = |attempt: &Attempt, span| {
        let probed = if is_counted(attempt, series::group::READ_BYTES) {
            series::group::READ_BYTES
        } else {
            series::device::READ_BYTES
        };
        series(total(&traces(attempt, probed))?, span)
    };
    over(runs, read, "the device was not observed")
}

/// Bytes per second that the engine read from its files, where it counts them.
pub(super) fn file_reads(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    let read = |attempt: &Attempt, span| pages(attempt, span, &["block_reads"]);
    over(runs, read, "the engine has no such counter")
}

/// Bytes per second that queries asked for, found in the engine's cache or not, where it counts them.
pub(super) fn logical(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    let read = |attempt: &Attempt, span| pages(attempt, span, &["block_reads", "block_hits"]);
    over(runs, read, "the engine has no such counter")
}

/// The database must account for this share of what all processes use of its cores, else the host was shared.
pub(super) const OWN_SHARE: f64 = 0.8;

/// CPU seconds of the database per second: by the accounting of its control group where there is one, else by its threads.
pub(super) fn cpu(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    over(runs, database, "CPU utilization was not observed")
}

/// Use of the cores that the database may run on, by everybody, %.
pub(super) fn cpu_percent(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    over(runs, everybody, "CPU utilization was not observed")
}

/// CPU of the database in per cent of what it may use.
pub(super) fn database_cpu_percent(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    let percent = |attempt: &Attempt, span| {
        let all = capacity(attempt)?;
        Some(database(attempt, span)?.into_iter().map(|seconds| 100.0 * seconds / all).collect())
    };
    over(runs, percent, "CPU utilization was not observed")
}

/// CPU seconds per second of the streams' own code beside an embedded engine.
pub(super) fn driver_cpu(runs: &[Pair<'_>]) -> Result<Estimate, String> {
    let own = |attempt: &Attempt, (from, to): (f64, f64)| {
        let inside = attempt.intervals.iter().filter(|interval| (from..to).contains(&(interval.index as f64)));
        let told = |reading: &&Reading| reading.name == DRIVER_CPU;
        let is_told = attempt.intervals.iter().any(|interval| interval.engine.iter().any(|reading| told(&reading)));
        let sums = inside.map(|interval| interval.engine.iter().filter(told).map(|reading| reading.value).sum());
        Some(sums.collect::<Vec<f64>>()).filter(|values| is_told && !values.is_empty())
    };
    over(runs, own, "the engine does not run in the load generator, or streams share client threads")
}

fn everybody(attempt: &Attempt, span: (f64, f64)) -> Option<Vec<f64>> {
    series(mean_of_cores(attempt)?, span)
}

/// CPU seconds per second of the database.
fn database(attempt: &Attempt, span: (f64, f64)) -> Option<Vec<f64>> {
    if is_counted(attempt, series::group::CPU) {
        return series(total(&traces(attempt, series::group::CPU))?, span);
    }
    let cores = core_count(attempt)?;
    Some(by_threads(attempt, span, cores)?.into_iter().map(|percent| percent * cores / 100.0).collect())
}

/// Everybody's use where the database's threads account for most of it, since these are counted short when they end between two
/// readings; on a shared host that of the threads alone. Per cent of the cores.
fn by_threads(attempt: &Attempt, span: (f64, f64), cores: f64) -> Option<Vec<f64>> {
    let threads = total(&traces(attempt, series::threads::CPU_SUM)).and_then(|trace| series(trace, span));
    let own = threads.map(|values| values.into_iter().map(|percent| percent / cores).collect::<Vec<f64>>());
    match (own, everybody(attempt, span)) {
        (Some(own), Some(all)) if mean(&own) < OWN_SHARE * mean(&all) => Some(own),
        (own, all) => all.or(own),
    }
}

fn is_counted(attempt: &Attempt, probed: SeriesName) -> bool {
    !traces(attempt, probed).is_empty()
}

/// Accounting that the rates of a run rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources {
    /// CPU: the control group's, else that of threads.
    pub group_cpu: bool,
    /// Reads: the control group's, else the whole device's.
    pub group_reads: bool,
}

pub(super) fn sources(attempt: &Attempt) -> Sources {
    Sources {
        group_cpu: is_counted(attempt, series::group::CPU),
        group_reads: is_counted(attempt, series::group::READ_BYTES),
    }
}

/// CPU seconds per second that the database may use: as many as it has cores, or as its limit of CPU time allows.
pub(super) fn capacity(attempt: &Attempt) -> Option<f64> {
    let cores = core_count(attempt);
    match cpu_allowed(attempt) {
        Some(allowed) => Some(cores.map_or(allowed, |cores| cores.min(allowed))),
        None => cores,
    }
}

/// Cores that the database may run on.
pub(super) fn core_count(attempt: &Attempt) -> Option<f64> {
    let observed = || Some(traces(attempt, series::cores::BUSY).len()).filter(|count| *count > 0);
    allowed_cores(attempt).map(|cores| cores.0.len()).or_else(observed).map(|count| count as f64)
}

fn series(trace: Trace, span: (f64, f64)) -> Option<Vec<f64>> {
    Some(trace.within(span).values()).filter(|values| !values.is_empty())
}

/// Bytes of the pages that counters of the engine say, per second. Source: PostgreSQL counts blocks in `pg_stat_database`.
fn pages(attempt: &Attempt, span: (f64, f64), counters: &[&str]) -> Option<Vec<f64>> {
    let size = engine::BLOCK_SIZE.number(&attempt.facts)?;
    let mut sums: Vec<f64> = Vec::new();
    for (place, counter) in counters.iter().enumerate() {
        let values = server_sums(attempt, span, counter)?;
        if place == 0 {
            sums = vec![0.0; values.len()];
        }
        sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value * size);
    }
    Some(sums)
}

fn over(
    runs: &[Pair<'_>],
    read: impl Fn(&Attempt, (f64, f64)) -> Option<Vec<f64>>,
    missing: &str,
) -> Result<Estimate, String> {
    let found: Option<Vec<Vec<f64>>> = runs.iter().map(|(run, attempt)| read(attempt, run.window_seconds()?)).collect();
    let found = found.filter(|found| !found.is_empty()).ok_or(missing)?;
    estimate(&found.iter().map(Vec::as_slice).collect::<Vec<_>>())
}
