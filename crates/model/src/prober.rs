//! Pace of a prober: how far apart its operations are at each time of a run. Pure. May not know what an operation does.

use crate::drill::Ledger;
use crate::time::Offset;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Time at the full pace before something is done that may take the database away: enough operations of each kind (200 at 200/s, 10 new
/// connections) to see the database as it is then. The pace itself changes at once.
pub const PACE_LEAD: Duration = Duration::from_secs(1);

/// Pace of a prober.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProberPace {
    /// All operations: around what may take the database away.
    Full,
    /// A part of them: in the rest of a run, which the prober would otherwise slow down.
    Calm,
}

/// Cause of a change of the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaceCause {
    /// The prober began.
    Begin,
    /// The drill was about to do something that may take the database away.
    Order,
    /// An operation was not acknowledged, and nobody had said that it might not be.
    Trouble,
    /// All operations have been acknowledged for long enough.
    Steady,
}

/// Change of the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceChange {
    /// When it came into force, from time zero.
    pub from: Offset,
    /// Pace from then on.
    pub pace: ProberPace,
    /// Cause.
    pub cause: PaceCause,
}

/// Paces of a prober over a run. Without a change, and in records from before they were told, every operation is at the full pace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProberPaces {
    /// Numbers from one operation at the calm pace to the next; at the full pace it is 1.
    pub calm_step: u32,
    /// Changes in their order, the first at time zero.
    pub changes: Vec<PaceChange>,
}

impl ProberPaces {
    /// Tells whether the calm pace was in force at any time of a stretch.
    #[must_use]
    pub fn has_calm_within(&self, from: Offset, to: Offset) -> bool {
        let ends = self.changes.iter().skip(1).map(|next| next.from).chain([Offset(i64::MAX)]);
        let mut stretches = self.changes.iter().zip(ends);
        self.calm_step > 1
            && stretches.any(|(change, end)| change.pace == ProberPace::Calm && change.from <= to && end >= from)
    }

    /// Numbers from one operation to the next at a time: an operation there stands for as many of the full pace.
    #[must_use]
    pub fn step_at(&self, at: Offset) -> u32 {
        let now = self.changes.iter().rev().find(|change| change.from <= at);
        if now.is_some_and(|change| change.pace == ProberPace::Calm) { self.calm_step.max(1) } else { 1 }
    }

    /// Time between two operations at the calm pace, of a prober with one in so many nanoseconds at the full one.
    #[must_use]
    pub fn calm_period(&self, period_ns: u64) -> Duration {
        Duration::from_nanos(period_ns.saturating_mul(u64::from(self.calm_step.max(1))))
    }
}

impl Ledger {
    /// Time between two writes, and between two reads, that were due just before a time: an outage that is told from then on may have begun
    /// by as much earlier.
    #[must_use]
    pub fn period_before(&self, told: Offset) -> Duration {
        let calm = self.paces.calm_period(self.period_ns);
        let before = Offset(told.0.saturating_sub(i64::try_from(calm.as_nanos()).unwrap_or(i64::MAX)));
        if self.paces.has_calm_within(before, told) { calm } else { Duration::from_nanos(self.period_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(ms: i64) -> Offset {
        Offset(ms * 1_000_000)
    }

    #[test]
    fn the_period_before_a_time_is_that_of_the_pace_in_force() {
        let change = |at: i64, pace, cause| PaceChange { from: millis(at), pace, cause };
        let changes = vec![
            change(0, ProberPace::Calm, PaceCause::Begin),
            change(1_000, ProberPace::Full, PaceCause::Order),
            change(4_000, ProberPace::Calm, PaceCause::Steady),
        ];
        let mut ledger =
            Ledger { period_ns: 5_000_000, paces: ProberPaces { calm_step: 10, changes }, ..Ledger::default() };
        let periods = [0, 999, 1_040, 1_051, 3_999, 4_000, 9_000].map(|at| ledger.period_before(millis(at)));
        assert_eq!(periods.map(|period| period.as_millis()), [50, 50, 50, 5, 5, 50, 50]);
        let steps = [-1, 0, 999, 1_000, 3_999, 4_000].map(|at| ledger.paces.step_at(millis(at)));
        assert_eq!(steps, [1, 10, 10, 1, 1, 10]);
        ledger.paces = ProberPaces::default();
        assert_eq!(ledger.period_before(millis(500)), Duration::from_millis(5), "a record from before paces were told");
    }
}
