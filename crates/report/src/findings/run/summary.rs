//! One finished run in a line, for views and for the state of a record: verdict, throughput, a percentile.

use super::{FEWEST_RUNS_FOR_SPREAD, RunFindings, run};
use crate::findings::metrics::latencies::all_kinds;
use crate::findings::void::Void;
use crate::workloads::workload;
use proofload_analysis::latency::Sparse;
use proofload_analysis::quantity::Quantity;
use proofload_model::samples::{HistogramDelta, IntervalSample, LatencyClock, OperationCounts, is_deferred};
use proofload_model::settings::{Settings, setting};
use proofload_record::Attempt;

/// Values that must lie beyond a percentile of one second.
const BEYOND_IN_A_SECOND: f64 = 1.0;

/// What is said of a finished run in a line.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Why it is void; empty when it is valid.
    pub voids: Vec<Void>,
    /// Whether its interval is wider than the study asks for.
    pub is_wide: bool,
    /// Operations per second.
    pub throughput: Quantity,
    /// 99th percentile of response times of all kinds together, ns; `None` where too few were measured.
    pub response_ns_p99: Option<u64>,
    /// Operations that failed in the window.
    pub failed: u64,
}

impl RunSummary {
    /// Its word: `valid`, `valid, wide`, `void`.
    pub fn verdict(&self) -> &'static str {
        match (self.voids.is_empty(), self.is_wide) {
            (false, _) => "void",
            (true, true) => "valid, wide",
            (true, false) => "valid",
        }
    }

    /// Half the width of the 95 % interval of its throughput as a share of it; `None` without an interval.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = self.throughput.interval().bounds()?;
        Some((high - low) / 2.0 / self.throughput.value().abs()).filter(|share| share.is_finite())
    }
}

/// Judges a finished attempt, with the settings of its point. The width of its interval is judged with the other repetitions, where
/// there are any.
pub fn summarise(attempt: &Attempt, settings: &Settings) -> RunSummary {
    let mut found = run(attempt, settings);
    let repetitions = settings.count(setting::STUDY_REPETITIONS).unwrap_or(1);
    if repetitions >= FEWEST_RUNS_FOR_SPREAD && !attempt.run.sentinel && !attempt.is_experiment() {
        found.accept_width();
    }
    summarise_run(&found, settings)
}

/// Says in a line what was found of a run.
pub fn summarise_run(found: &RunFindings, settings: &Settings) -> RunSummary {
    let all = Sparse::merged(&all_kinds(&found.latencies));
    let beyond = workload(settings).beyond_percentile as f64;
    let mut summary = RunSummary {
        throughput: found.throughput(),
        response_ns_p99: all.percentile(0.99).filter(|_| all.count() as f64 * 0.01 >= beyond),
        failed: found.failures.failed,
        is_wide: false,
        voids: found.voids.clone(),
    };
    if let (Ok(precision), true) = (settings.number(setting::PROCEDURE_PRECISION), found.judged.is_some()) {
        summary.is_wide = summary.relative_half_width().is_none_or(|share| share > precision);
    }
    summary
}

/// Completed operations per second over the window of an attempt; `None` without one.
pub(crate) fn run_throughput_of(attempt: &Attempt) -> Option<f64> {
    let (from, to) = attempt.window().filter(|(from, to)| from < to)?;
    let inside = attempt.intervals.iter().filter(|second| (from..to).contains(&second.index));
    let done: u64 = inside.flat_map(|second| &second.counts).map(OperationCounts::completed).sum();
    Some(done as f64 / (to - from) as f64)
}

/// 99th percentile of the response times of one second, ns, of all kinds that somebody waits for; `None` where fewer than 100 were measured or
/// they cannot be read.
pub fn response_ns_p99_of(second: &IntervalSample) -> Option<u64> {
    let waited = second.histograms.iter().filter(|part| is_waited_for(part));
    let parts: Result<Vec<Sparse>, _> = waited.map(|part| Sparse::from_v2_deflate(&part.payload)).collect();
    let all = Sparse::merged(&parts.ok()?);
    all.percentile(0.99).filter(|_| all.count() as f64 * 0.01 >= BEYOND_IN_A_SECOND)
}

fn is_waited_for(part: &HistogramDelta) -> bool {
    part.clock == LatencyClock::Response && !is_deferred(&part.kind)
}
