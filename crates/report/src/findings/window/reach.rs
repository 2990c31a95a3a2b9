//! How far the interval of a run's window reaches: what recurs in it, whether its means vary less over longer times, and the movement
//! that it leaves open.

use crate::findings::evaluate::Findings;
use crate::findings::run::RunFindings;
use crate::findings::telemetry::traces;
use proofload_analysis::distribution::mean;
use proofload_analysis::reach::{
    ENOUGH_RECURRENCES, Recurrence, SLOW_RATIO, movement_not_excluded, recurrences, seconds_for_recurrences,
    variance_ratio,
};
use proofload_model::series::ENGINE_CHECKPOINTS;
use proofload_record::Attempt;
use std::collections::HashMap;

/// How far the interval of one window reaches.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowReach {
    /// What is known to recur in it, slowest first; empty where nothing is.
    pub recurrences: Vec<Recurrence>,
    /// Variance of its means over a tenth of it, against that of means over half as much; `None` where it is too short.
    pub variance_ratio: Option<f64>,
    /// Largest rise or fall over it that is not excluded, as a share of the mean; `None` where it could not be judged.
    pub movement: Option<f64>,
}

impl WindowReach {
    /// What recurs in it most rarely; `None` where nothing is known to.
    pub fn slowest(&self) -> Option<&Recurrence> {
        self.recurrences.first()
    }

    /// Whether it holds enough recurrences of all that is known to recur; `false` where nothing is known.
    pub fn holds_enough(&self) -> bool {
        self.slowest().is_some_and(|slowest| slowest.count >= ENOUGH_RECURRENCES)
    }

    /// Whether its interval may be too narrow for longer times.
    pub fn may_be_narrow(&self) -> bool {
        self.variance_ratio.is_some_and(|ratio| ratio > SLOW_RATIO)
    }

    /// Seconds of load that hold enough recurrences; `None` where no period is known.
    pub fn seconds_for_recurrences(&self) -> Option<u64> {
        seconds_for_recurrences(&self.recurrences)
    }
}

/// Whether the interval of a point may be too narrow for longer times, by all its windows together: one of several may seem so by chance.
pub(crate) fn may_be_narrow(windows: &[&WindowReach]) -> bool {
    let ratios: Vec<f64> = windows.iter().filter_map(|window| window.variance_ratio).collect();
    !ratios.is_empty() && mean(&ratios) > SLOW_RATIO
}

/// How far the interval of a run's window reaches; `None` of a run that has none, and of one that is rated whole.
pub fn reach<'f>(findings: &'f Findings<'_>, run: &RunFindings) -> Option<&'f WindowReach> {
    findings.reaches.get_or_init(|| reaches(findings)).get(&run.run.index)
}

fn reaches(findings: &Findings<'_>) -> HashMap<u32, WindowReach> {
    findings.runs().filter_map(|(_, run)| Some((run.run.index, of_run(findings, run)?))).collect()
}

fn of_run(findings: &Findings<'_>, run: &RunFindings) -> Option<WindowReach> {
    let window = run.window.filter(|_| run.whole.is_none())?;
    let attempt = findings.finished(run.run.index)?;
    let measured = run.measured();
    let begun = checkpoints_begun(attempt, run.per_second.len() as f64);
    let movement = run.stability.as_ref().and_then(|check| check.drift.as_ref());
    Some(WindowReach {
        recurrences: recurrences(measured, window.from as f64, &begun),
        variance_ratio: variance_ratio(measured),
        movement: movement.and_then(movement_not_excluded),
    })
}

/// Moments at which the engine began a checkpoint, seconds from the start of the load, in order.
pub(crate) fn checkpoints_begun(attempt: &Attempt, end: f64) -> Vec<f64> {
    let begun = ENGINE_CHECKPOINTS.iter().flat_map(|name| traces(attempt, *name));
    let mut at: Vec<f64> = begun
        .flat_map(|trace| trace.samples)
        .filter(|(at, rate)| *rate > 0.0 && (0.0..=end).contains(at))
        .map(|(at, _)| at)
        .collect();
    at.sort_by(f64::total_cmp);
    at
}
