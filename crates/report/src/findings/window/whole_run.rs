//! A run that is rated whole: the stretch in which all users were at work, its rounds, and what they say of steadiness. May not
//! judge throughput second by second.

use crate::findings::void::Void;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_analysis::rounds::{Round, RoundCheck, check_rounds, rate};
use proofload_analysis::validity::{Check as WindowCheck, VoidReason};
use proofload_model::events::RunEvent;
use proofload_model::samples::UserRound;
use proofload_record::Attempt;

/// A run that is rated whole.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeRun {
    /// Rounds of each user before it.
    pub warm_up_rounds: u64,
    /// Whether it began right after the instance was started and the page cache of its files was dropped.
    pub cold: bool,
    /// Time from time zero or the end of the last warm-up round until the first user had no work left, s; `None` without such a
    /// stretch.
    pub stretch: Option<(f64, f64)>,
    /// All rounds of all users, in the order of their ends.
    pub rounds: Vec<Round>,
}

impl WholeRun {
    /// Rounds after the warm-up.
    pub(crate) fn measured(&self) -> Vec<Round> {
        self.rounds.iter().filter(|round| round.number >= self.warm_up_rounds).copied().collect()
    }

    /// Measured rounds of each user: at least.
    pub fn rounds_of_each(&self) -> usize {
        let mut counts: Vec<(u32, usize)> = Vec::new();
        for round in self.measured() {
            match counts.iter_mut().find(|(user, _)| *user == round.user) {
                Some((_, count)) => *count += 1,
                None => counts.push((round.user, 1)),
            }
        }
        counts.into_iter().map(|(_, count)| count).min().unwrap_or(0)
    }

    /// Operations that ended well, per second of the stretch.
    pub(crate) fn rate(&self) -> Option<f64> {
        rate(&self.rounds, self.stretch?)
    }

    /// The same for readers.
    pub fn throughput(&self) -> Quantity {
        let value = self.rate().unwrap_or(f64::NAN);
        Quantity::new(
            value,
            Unit::PER_SECOND,
            1,
            Interval::none("a single run with a fixed number of operations has no spread"),
        )
    }

    /// Checks whether what came later takes longer.
    pub(crate) fn check(&self, tolerance: f64) -> RoundCheck {
        check_rounds(&self.measured(), tolerance)
    }

    /// Reasons against it that no check of a window knows.
    pub(crate) fn voids(&self) -> Option<Void> {
        let words = match self.warm_up_rounds {
            0 => "no user completed a round",
            _ => {
                "a user ran out of work before all users had completed their warm-up rounds: raise the number of rounds"
            }
        };
        (self.stretch.is_none() || self.rounds_of_each() == 0)
            .then(|| Void::verification(format!("no data to rate: {words}")))
    }
}

/// What the conductor noted of a run that is rated whole; `None` for others.
pub(crate) fn whole_run(attempt: &Attempt) -> Option<WholeRun> {
    let (warm_up_rounds, from, to) = attempt.last_event(|event| match event {
        RunEvent::WholeRun { warm_up_rounds, from, to } => Some((*warm_up_rounds, *from, *to)),
        _ => None,
    })?;
    let rounds = attempt.last_event(|event| match event {
        RunEvent::Rounds(rounds) => Some(rounds.as_slice()),
        _ => None,
    });
    Some(WholeRun {
        warm_up_rounds,
        cold: attempt.events.iter().any(|event| event.event == RunEvent::ColdStart),
        stretch: from.map(|from| (from as f64, to)).filter(|(from, to)| to > from),
        rounds: rounds.unwrap_or_default().iter().map(round).collect(),
    })
}

fn round(stored: &UserRound) -> Round {
    Round {
        user: stored.user,
        number: stored.number,
        from: stored.began.as_seconds(),
        to: stored.ended.as_seconds(),
        well: stored.well,
        failed: stored.failed,
    }
}

/// The check of a window that holds a whole run: gaps and an empty one as ever, drift by rounds.
pub(crate) fn check(whole: &WholeRun, seconds: &[f64], tolerance: f64) -> WindowCheck {
    let missing = seconds.iter().filter(|value| !value.is_finite()).count();
    let gap = seconds.iter().position(|value| !value.is_finite()).map(|at| VoidReason::Gap { at, seconds: missing });
    let idle = whole.measured().iter().all(|round| round.well == 0);
    let rounds = whole.check(tolerance);
    let mut voids: Vec<VoidReason> = gap.into_iter().collect();
    voids.extend(idle.then_some(VoidReason::NoThroughput));
    voids.extend(rounds.void);
    WindowCheck { voids, drift: rounds.drift.ok(), notes: rounds.note.into_iter().collect() }
}
