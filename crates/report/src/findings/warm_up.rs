//! The warm-up of a run: what the conductor decided while it ran, and the verdict computed again from the record.

use proofload_analysis::steady::{Rule, Verdict, judge};
use proofload_model::events::RunEvent;
use proofload_model::study::Procedure;
use proofload_record::Attempt;

/// The warm-up of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// How long it took, whole seconds.
    pub seconds: u64,
    /// Whether it was declared steady while it ran.
    pub settled: bool,
    /// The verdict computed again from the record.
    pub verdict: Option<Verdict>,
}

/// The warm-up of an attempt; `None` where nothing was decided.
pub(super) fn warm_up(attempt: &Attempt, per_second: &[f64], procedure: Option<&Procedure>) -> Option<WarmUp> {
    let steady = attempt.last_event(|event| match event {
        RunEvent::Steady { seconds } => Some(*seconds),
        _ => None,
    });
    let not_steady = attempt.last_event(|event| match event {
        RunEvent::NotSteady { seconds, .. } => Some(*seconds),
        _ => None,
    });
    let (settled, seconds) = (steady.is_some(), steady.or(not_steady)?);
    let seconds = seconds.or_else(|| attempt.window().map(|(from, _)| from))?;
    let verdict =
        procedure.map(|procedure| judge(&per_second[..per_second.len().min(seconds as usize)], &Rule::of(procedure)));
    Some(WarmUp { seconds, settled, verdict })
}
