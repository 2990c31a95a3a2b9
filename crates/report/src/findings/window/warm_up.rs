//! The warm-up of a run: how it ended while it ran, and what was ready then.

use proofload_model::events::RunEvent;
use proofload_model::readiness::ReadinessFound;
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
}

/// The warm-up of an attempt; `None` where nothing was decided.
pub(crate) fn warm_up(attempt: &Attempt) -> Option<WarmUp> {
    let (end, seconds) = attempt.last_event(|event| match event {
        RunEvent::Steady { seconds } => Some((WarmUpEnd::Settled, *seconds)),
        RunEvent::NotSteady { seconds, .. } => Some((WarmUpEnd::NeverSettled, *seconds)),
        RunEvent::WarmedUp { seconds } => Some((WarmUpEnd::Planned, Some(*seconds))),
        RunEvent::EndedEarly { seconds } => Some((WarmUpEnd::NeverSettled, Some(*seconds))),
        _ => None,
    })?;
    let seconds = seconds.or_else(|| attempt.window().map(|(from, _)| from))?;
    Some(WarmUp { seconds, end })
}

/// Caches and standbys as they were found at its end; nothing where none was observed.
pub(crate) fn readiness(attempt: &Attempt) -> Vec<ReadinessFound> {
    let found = attempt.last_event(|event| match event {
        RunEvent::Readiness(found) => Some(found.clone()),
        _ => None,
    });
    found.unwrap_or_default()
}
