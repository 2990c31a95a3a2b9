//! Pace of a prober: full around what may take the database away, and calm in the rest of a run, which it would slow down. Operations have the
//! numbers of the full pace; the calm one passes numbers over, so that a number tells when its operation was due. May not read a clock.

use super::operation::ProbeOperation;
use super::outage::FEWEST_IN_A_ROW;
use super::thread::connections;
use proofload_model::drill::ProberAsked;
use proofload_model::prober::{PaceCause, PaceChange, ProberPace, ProberPaces};
use proofload_model::time::Moment;
use std::cell::{Cell, RefCell};
use std::time::Duration;
use tokio::sync::Notify;

/// Time beyond the deadline for which all operations must have been acknowledged before the pace is calm: what was due in the first second after
/// an order has had its whole deadline then.
const STEADY_BEYOND: Duration = Duration::from_secs(1);

/// Pace of all streams of a prober.
pub(super) struct ProbePace {
    /// Numbers from one operation at the calm pace to the next.
    calm_step: u32,
    steady: Duration,
    pace: Cell<ProberPace>,
    /// Pace that was ordered last.
    ordered: Cell<ProberPace>,
    /// Last time that speaks against the calm pace: of the order, or of an operation that was not acknowledged.
    against: Cell<Moment>,
    changes: RefCell<Vec<(Moment, ProberPace, PaceCause)>>,
    hastened: Notify,
}

impl ProbePace {
    /// The pace of a prober that begins: calm, where it has a calm pace.
    pub(super) fn new(asked: ProberAsked) -> Self {
        let calm_step = asked.calm_step();
        let pace = if calm_step > 1 { ProberPace::Calm } else { ProberPace::Full };
        Self {
            calm_step,
            steady: steady(asked),
            pace: Cell::new(pace),
            ordered: Cell::new(ProberPace::Calm),
            against: Cell::new(Moment(0)),
            changes: RefCell::new(Vec::new()),
            hastened: Notify::new(),
        }
    }

    pub(super) fn is_calm(&self) -> bool {
        self.pace.get() == ProberPace::Calm
    }

    /// Takes an order: the full pace is in force at once, the calm one when all has been well for long enough.
    pub(super) fn order(&self, pace: ProberPace, now: Moment) {
        if self.ordered.replace(pace) != pace {
            self.against.set(now.max(self.against.get()));
        }
        if pace == ProberPace::Full {
            self.hasten(PaceCause::Order, now);
        }
    }

    /// Takes note of an operation that has ended.
    pub(super) fn see(&self, operation: &ProbeOperation) {
        if !operation.is_acknowledged() {
            self.against.set(operation.ended.max(self.against.get()));
            self.hasten(PaceCause::Trouble, operation.ended);
        }
    }

    /// Ends the waits of all streams for operations of the calm pace.
    pub(super) fn wake(&self) {
        self.hastened.notify_waiters();
    }

    /// Waits for so long; tells whether the pace was hastened before that.
    pub(super) async fn is_hastened_within(&self, time: Duration) -> bool {
        tokio::time::timeout(time, self.hastened.notified()).await.is_ok()
    }

    /// Number of the operation after one, at the pace in force.
    fn after(&self, number: u64, now: Moment) -> u64 {
        let is_steady = now.since(self.against.get()) >= self.steady;
        if self.ordered.get() == ProberPace::Calm && is_steady {
            self.change(ProberPace::Calm, PaceCause::Steady, now);
        }
        let step = if self.is_calm() { u64::from(self.calm_step) } else { 1 };
        (number / step + 1) * step
    }

    fn hasten(&self, cause: PaceCause, now: Moment) {
        self.change(ProberPace::Full, cause, now);
        self.wake();
    }

    fn change(&self, pace: ProberPace, cause: PaceCause, now: Moment) {
        if self.calm_step > 1 && self.pace.replace(pace) != pace {
            self.changes.borrow_mut().push((now, pace, cause));
        }
    }

    /// Changes of the pace from time zero on; empty where there is only one.
    pub(super) fn paces(&self, origin: Moment) -> ProberPaces {
        if self.calm_step == 1 {
            return ProberPaces { calm_step: 1, changes: Vec::new() };
        }
        let mut changes = vec![(origin, ProberPace::Calm, PaceCause::Begin)];
        changes.extend(self.changes.borrow().iter().copied());
        let told = |(at, pace, cause): (Moment, ProberPace, PaceCause)| PaceChange {
            from: at.max(origin).offset_from(origin),
            pace,
            cause,
        };
        ProberPaces { calm_step: self.calm_step, changes: changes.into_iter().map(told).collect() }
    }
}

/// Time for which all operations must have been acknowledged before the pace is calm. New connections are the fewest operations: at a low rate
/// it is as long as those take that end an outage.
fn steady(asked: ProberAsked) -> Duration {
    let in_a_row = Duration::from_secs(FEWEST_IN_A_ROW as u64 + 1) / connections(asked.rate);
    in_a_row.max(asked.deadline + STEADY_BEYOND)
}

/// Numbers of the operations of a stream, each due at a fixed time.
pub(super) struct PacedNumbers {
    origin: Moment,
    period: Duration,
    /// Number of the next operation.
    next: u64,
    /// Least number that no operation had.
    free: u64,
}

impl PacedNumbers {
    /// Numbers from 0 on, due in periods of the full pace from time zero.
    pub(super) fn new(origin: Moment, period: Duration) -> Self {
        Self { origin, period, next: 0, free: 0 }
    }

    /// When the next operation is due.
    pub(super) fn due(&self) -> Moment {
        self.origin + self.period.saturating_mul(u32::try_from(self.next).unwrap_or(u32::MAX))
    }

    /// Takes the number of the operation that is due, and passes on to the next one.
    pub(super) fn take(&mut self, pace: &ProbePace, now: Moment) -> u64 {
        let taken = self.next;
        self.free = taken + 1;
        self.next = pace.after(taken, now);
        taken
    }

    /// Goes on at the full pace: with the first number that is not due yet, if it comes before the next one.
    pub(super) fn hasten(&mut self, now: Moment) {
        let since = now.since(self.origin).as_nanos();
        let first = u64::try_from(since.div_ceil(self.period.as_nanos().max(1))).unwrap_or(u64::MAX);
        self.next = first.clamp(self.free, self.next);
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
