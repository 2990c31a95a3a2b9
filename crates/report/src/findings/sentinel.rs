//! Sentinel runs: the same point again and again. Their drift is the testbed's, not the factor's.

use super::run::{RunFindings, run};
use proofload_analysis::bootstrap::{mean_of, ratio_of_means};
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_record::{Record, RunAttempts};

/// What sentinels say.
#[derive(Debug, Clone)]
pub struct Sentinels {
    /// The point that was repeated.
    pub point: u32,
    /// Throughput of each finished sentinel in per cent of the first run of its point, with its place in the plan.
    pub relative: Vec<(u32, Quantity)>,
    /// Whether the interval of one of them leaves out 100 %.
    pub drifted: bool,
}

/// Evaluates the sentinels, when the plan has any; the error says why they say nothing.
pub(super) fn sentinels(record: &Record, by_run: &RunAttempts<'_>) -> Option<Result<Sentinels, String>> {
    let mut planned = record.plan.runs.iter().filter(|run| run.sentinel);
    let point = planned.clone().next()?.point;
    let settings = record.plan.settings(&record.study, point);
    let evaluated = |index: u32| by_run.finished(index).map(|attempt| run(attempt, &settings));
    let first = record.plan.runs.iter().filter(|run| run.point == point).find_map(|run| evaluated(run.index));
    let Some(first) = first.filter(|first| !first.measured().is_empty()) else {
        return Some(Err("the sentinel point was not measured".to_owned()));
    };
    let others: Vec<RunFindings> = planned.by_ref().filter_map(|run| evaluated(run.index)).collect();
    if others.is_empty() {
        return Some(Err("no sentinel run was finished".to_owned()));
    }
    let base = mean_of(first.measured());
    let compare = |other: &RunFindings| {
        let ratio = ratio_of_means(&mean_of(other.measured()), &base).scaled(100.0, Unit::PERCENT);
        (other.run.index, ratio)
    };
    let relative: Vec<(u32, Quantity)> =
        others.iter().filter(|other| !other.measured().is_empty()).map(compare).collect();
    let outside = |(_, quantity): &(u32, Quantity)| {
        quantity.interval().bounds().is_some_and(|(low, high)| low > 100.0 || high < 100.0)
    };
    let drifted = relative.iter().any(outside);
    Some(Ok(Sentinels { point, relative, drifted }))
}
