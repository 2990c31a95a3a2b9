//! Sessions whose connection was lost while load ran, and how they came back. May not void anything: their transactions failed, and the
//! error budget decides about those.

use proofload_model::events::RunEvent;
use proofload_record::Attempt;

/// What a run lost of its sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LostSessions {
    /// Losses; a session may be lost several times.
    pub losses: usize,
    /// Losses after which the session came back.
    pub returned: usize,
    /// When the first was lost, seconds from time zero.
    pub first: f64,
    /// When the last came back, seconds from time zero; `None` when no session did.
    pub last_back: Option<f64>,
    /// The shortest and the longest time away of those that came back, seconds.
    pub away: Option<(f64, f64)>,
}

/// Lost sessions of an attempt; `None` when no connection was lost.
pub(crate) fn lost_sessions(attempt: &Attempt) -> Option<LostSessions> {
    let lost = attempt.last_event(|event| match event {
        RunEvent::SessionsLost(lost) => Some(lost),
        _ => None,
    })?;
    let back = || lost.iter().filter_map(|lost| Some((lost.lost.as_seconds(), lost.returned?.as_seconds())));
    let away = || back().map(|(lost, returned)| returned - lost);
    Some(LostSessions {
        losses: lost.len(),
        returned: back().count(),
        first: lost.iter().map(|lost| lost.lost.as_seconds()).reduce(f64::min)?,
        last_back: back().map(|(_, returned)| returned).reduce(f64::max),
        away: away().reduce(f64::min).zip(away().reduce(f64::max)),
    })
}
