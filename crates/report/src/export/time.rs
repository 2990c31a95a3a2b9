//! When a run's time zero was on the wall clock.

use proofload_model::events::RunEvent;
use proofload_record::{Attempt, AttemptEvent};

/// Records that do not say how far `load_started` lay from time zero were made by versions that began the load so much later.
const LEAD_US: i64 = 1_000_000;

/// The event that ties a run's time zero to the wall clock.
pub(super) fn load_started(attempt: &Attempt) -> Option<&AttemptEvent> {
    attempt.events.iter().rev().find(|event| matches!(event.event, RunEvent::LoadStarted(_)))
}

/// Time zero of a run, microseconds since 1970, UTC. The wall clock of the conductor's machine read it, to a few milliseconds.
pub(super) fn time_zero_us(attempt: &Attempt) -> i64 {
    match load_started(attempt) {
        Some(event) => event.at.0 - event.offset.map_or(-LEAD_US, |offset| offset.0 / 1_000),
        None => attempt.started.0,
    }
}

/// A moment of a run in seconds since 1970, written with milliseconds.
pub(super) fn seconds_text(us: i64) -> String {
    let ms = us.div_euclid(1_000);
    format!("{}.{:03}", ms.div_euclid(1_000), ms.rem_euclid(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_milliseconds() {
        assert_eq!(seconds_text(1_790_000_000_123_999), "1790000000.123");
        assert_eq!(seconds_text(7_000), "0.007");
    }
}
