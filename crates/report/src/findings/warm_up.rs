//! The warm-up of a run: how it ended while it ran, and the detector's verdict computed again from the record.

use proofload_analysis::steady::{Rule, Verdict, judge};
use proofload_model::events::RunEvent;
use proofload_model::study::Procedure;
use proofload_record::Attempt;

/// How a warm-up ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpEnd {
    /// It was declared steady while it ran.
    Settled,
    /// Its budget was spent before that.
    NeverSettled,
    /// It lasted as long as planned.
    Planned,
}

impl WarmUpEnd {
    /// Its words.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::NeverSettled => "never settled",
            Self::Planned => "as planned",
        }
    }

    /// Whether it was declared steady; `None` where nobody asked.
    pub(crate) fn settled(self) -> Option<bool> {
        (self != Self::Planned).then_some(self == Self::Settled)
    }
}

/// The warm-up of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// How long it took, whole seconds.
    pub seconds: u64,
    /// How it ended.
    pub end: WarmUpEnd,
    /// The detector's verdict computed again from the record; `None` for a warm-up of planned length.
    pub verdict: Option<Verdict>,
}

/// The warm-up of an attempt; `None` where nothing was decided.
pub(super) fn warm_up(attempt: &Attempt, per_second: &[f64], procedure: Option<&Procedure>) -> Option<WarmUp> {
    let (end, seconds) = attempt.last_event(|event| match event {
        RunEvent::Steady { seconds } => Some((WarmUpEnd::Settled, *seconds)),
        RunEvent::NotSteady { seconds, .. } => Some((WarmUpEnd::NeverSettled, *seconds)),
        RunEvent::WarmedUp { seconds } => Some((WarmUpEnd::Planned, Some(*seconds))),
        RunEvent::EndedEarly { seconds } => Some((WarmUpEnd::NeverSettled, Some(*seconds))),
        _ => None,
    })?;
    let seconds = seconds.or_else(|| attempt.window().map(|(from, _)| from))?;
    let seen = &per_second[..per_second.len().min(seconds as usize)];
    let detected = procedure.filter(|_| end != WarmUpEnd::Planned);
    Some(WarmUp { seconds, end, verdict: detected.map(|procedure| judge(seen, &Rule::of(procedure))) })
}
