//! Everything that one kind of operation did in the windows of all runs of a point: counts, and both clocks merged bucket for
//! bucket. May not say whether the point is valid.

use super::evaluate::Findings;
use super::point::PointFindings;
use proofload_analysis::latency::Sparse;
use proofload_model::samples::{HistogramDelta, IntervalSample, LatencyClock};

/// A point's windows together.
#[derive(Debug, Clone)]
pub struct PointTotals {
    /// Length of all windows, seconds.
    pub seconds: u64,
    /// By kind, in the order of tables.
    pub kinds: Vec<KindTotals>,
}

/// One kind of operation.
#[derive(Debug, Clone)]
pub struct KindTotals {
    /// Kind.
    pub kind: String,
    /// Completed, rolled back by design included.
    pub done: u64,
    /// Given up after an error.
    pub failed: u64,
    /// Due and never started.
    pub dropped: u64,
    /// From the actual start.
    pub service: ClockTotals,
    /// From the intended start.
    pub response: ClockTotals,
}

/// Latencies by one clock, nanoseconds.
#[derive(Debug, Clone)]
pub struct ClockTotals {
    /// Merged histogram; empty when nothing was recorded.
    pub merged: Sparse,
    /// Sum of the values before bucketing.
    pub sum_ns: u128,
    /// Largest value before bucketing.
    pub max_ns: u64,
}

/// Totals of a point.
pub fn point_totals(findings: &Findings<'_>, point: &PointFindings) -> PointTotals {
    let mut seconds = 0;
    let mut inside: Vec<&IntervalSample> = Vec::new();
    for run in &point.runs {
        let attempt = findings.record.attempts.iter().find(|attempt| attempt.id == run.attempt);
        let (Some(attempt), Some((from, to))) = (attempt, run.window) else { continue };
        seconds += to - from;
        inside.extend(attempt.intervals.iter().filter(|interval| (from..to).contains(&interval.index)));
    }
    let kinds = findings.kinds();
    PointTotals { seconds, kinds: kinds.iter().map(|kind| kind_totals(kind, &inside)).collect() }
}

fn kind_totals(kind: &str, inside: &[&IntervalSample]) -> KindTotals {
    let counts = || inside.iter().flat_map(|interval| &interval.counts).filter(|counts| counts.kind == kind);
    KindTotals {
        kind: kind.to_owned(),
        done: counts().map(|counts| counts.done + counts.rolled_back).sum(),
        failed: counts().map(|counts| counts.failed).sum(),
        dropped: counts().map(|counts| counts.dropped).sum(),
        service: clock_totals(kind, LatencyClock::Service, inside),
        response: clock_totals(kind, LatencyClock::Response, inside),
    }
}

fn clock_totals(kind: &str, clock: LatencyClock, inside: &[&IntervalSample]) -> ClockTotals {
    let parts = inside.iter().flat_map(|interval| &interval.histograms);
    let parts: Vec<&HistogramDelta> = parts.filter(|part| part.kind == kind && part.clock == clock).collect();
    // A histogram that cannot be decoded voids its run; nothing is lost of a valid point.
    let decoded: Vec<Sparse> = parts.iter().filter_map(|part| Sparse::from_v2_deflate(&part.payload).ok()).collect();
    ClockTotals {
        merged: Sparse::merged(&decoded),
        sum_ns: parts.iter().map(|part| u128::from(part.sum_ns)).sum(),
        max_ns: parts.iter().map(|part| part.max_ns).max().unwrap_or(0),
    }
}
