//! Throughput of two points over the seconds that both measured, where they ran at once. May not judge.

use super::super::evaluate::Findings;
use super::super::point::PointFindings;
use super::super::run::RunFindings;
use super::super::window::Window;
use super::beside::Beside;
use super::outcome::is_throughput;
use crate::metrics::MetricKey;
use proofload_analysis::bootstrap::FEWEST_SAMPLES;
use proofload_analysis::duet::DuetRun;

/// One run of both.
pub(super) struct SameSeconds {
    pub(super) baseline: Vec<f64>,
    pub(super) candidate: Vec<f64>,
}

impl SameSeconds {
    /// Borrows both sides.
    pub(super) fn run(&self) -> DuetRun<'_> {
        DuetRun { baseline: &self.baseline, candidate: &self.candidate }
    }
}

/// Checks that every pair of runs has seconds enough in common for an interval; the error says how many it has, and what to set.
pub(super) fn enough(runs: &[SameSeconds]) -> Result<(), String> {
    match runs.iter().map(|run| run.baseline.len().min(run.candidate.len())).min() {
        Some(0) => Err("the windows of A and B have no second in common: one settled long before the other; set procedure.measure to more, or \
                        procedure.warm_up.at_least and at_most to the same time"
            .to_owned()),
        Some(seconds) if seconds < FEWEST_SAMPLES => Err(format!(
            "the windows of A and B have {seconds} s in common, and a ratio over the same seconds needs {FEWEST_SAMPLES} or more; set \
             procedure.measure to 30s or more"
        )),
        _ => Ok(()),
    }
}

/// The seconds of each pair of runs that were beside each other, by repetition, an empty list where their windows do not meet; `None` where the two were
/// not measured at once, and for a metric that has no value each second.
pub(super) fn same_seconds(
    metric: &MetricKey,
    (baseline, ours): (&Findings<'_>, &PointFindings),
    (candidate, theirs): (&Findings<'_>, &PointFindings),
    beside: &Beside,
) -> Option<Vec<SameSeconds>> {
    if !beside.at_once {
        return None;
    }
    let is_beside = |run: &&RunFindings| beside.together.contains(&run.run.repetition);
    let mut runs: Vec<&RunFindings> = ours.runs.iter().filter(is_beside).collect();
    runs.sort_by_key(|run| run.run.repetition);
    let pair = |run: &&RunFindings| {
        let partner = theirs.runs.iter().find(|other| other.run.repetition == run.run.repetition)?;
        let (own, other) = (run.window?, partner.window?);
        let from = own.from.max(other.from);
        let both = Window { from, to: own.to.min(other.to).max(from) };
        let cut = |findings: &Findings<'_>, run: &RunFindings, window: Window| {
            let values = of_window(metric, findings, run)?;
            if both.seconds() == 0 {
                return Some(Vec::new());
            }
            let skip = (both.from - window.from) as usize;
            values.get(skip..skip + both.seconds()).map(<[f64]>::to_vec)
        };
        Some(SameSeconds { baseline: cut(baseline, run, own)?, candidate: cut(candidate, partner, other)? })
    };
    runs.iter().map(pair).collect()
}

/// Values of a run's window, one a second: of all units of work, or of a kind that clients count.
fn of_window(metric: &MetricKey, findings: &Findings<'_>, run: &RunFindings) -> Option<Vec<f64>> {
    match findings.workload.counted.iter().position(|counted| *metric == counted.metric) {
        Some(place) => run.counted.get(place)?.clients.clone(),
        None => (run.whole.is_none() && is_throughput(findings.workload, metric)).then(|| run.measured().to_vec()),
    }
}
