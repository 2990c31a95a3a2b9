//! Operations at a service whose answers are scripted, for the tests of the prober. No clock: they are computed.

use super::operation::{ProbeOperation, ProbeOutcome};
use proofload_model::time::Moment;
use std::time::Duration;

/// Time from one operation to the next at 200 a second, ms.
pub(super) const PERIOD_MS: f64 = 5.0;
/// Deadline of an operation, ms.
pub(super) const DEADLINE_MS: f64 = 1000.0;

/// Answer of a service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Answer {
    /// It acknowledges after this many ms.
    After(f64),
    /// It refuses at once.
    Refused,
    /// It says nothing: what was sent is lost.
    Silence,
}

/// A moment, ms after the origin.
pub(super) fn moment(ms: f64) -> Moment {
    Moment((ms * 1e6) as u64)
}

/// When an operation is due, ms after the origin.
pub(super) fn due_ms(number: u64) -> f64 {
    number as f64 * PERIOD_MS
}

/// The operation of a number, answered so.
pub(super) fn operation(number: u64, answer: Answer) -> ProbeOperation {
    let due = due_ms(number);
    let (outcome, ended) = match answer {
        Answer::After(ms) if ms <= DEADLINE_MS => (ProbeOutcome::Acknowledged, due + ms),
        Answer::Refused => (ProbeOutcome::Failed, due),
        Answer::After(_) | Answer::Silence => (ProbeOutcome::Unknown, due + DEADLINE_MS),
    };
    ProbeOperation {
        number,
        due: moment(due),
        lag: Duration::ZERO,
        sent: Some(moment(due)),
        ended: moment(ended),
        outcome,
        warned: false,
        is_duplicate: false,
        node: 0,
        connected: Moment(0),
    }
}

/// Uniform below a bound, from a fixed sequence.
pub(super) fn draws() -> impl FnMut(f64) -> f64 {
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    move |most| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 * most
    }
}
