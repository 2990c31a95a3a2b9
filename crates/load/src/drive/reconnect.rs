//! Reconnects a session whose connection was lost: tries after growing, jittered waits until it is back, the load is
//! stopped, or its time is up. Reports the outcome. May not run operations.

use super::virtual_user::VirtualUser;
use super::wait::Pause;
use crate::events::LoadEvents;
use proofload_engine::{Error as EngineError, ErrorClass};
use proofload_gen::{Rng, Seed};
use proofload_model::error::Error;
use proofload_model::samples::{LostSession, PAST_DEADLINE};
use proofload_model::time::Moment;
use proofload_model::units::duration_text;
use proofload_model::wire::Event;
use std::time::Duration;

/// The wait after the first try; each is twice the one before, up to [`Patience::longest_wait`].
const FIRST_WAIT: Duration = Duration::from_millis(10);
/// Longest wait for the answer to a try: the host may be gone and say nothing.
const TRY_AT_MOST: Duration = Duration::from_secs(5);
/// A try may take this part of the time since the loss, so that a host that answers late is reached at last; a host that says nothing delays the
/// return by no more.
const PART_OF_LOSS: u32 = 5;

/// Patience of sessions with a database that does not answer, or is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Time within which a session that lost its connection must reconnect; zero: the loss ends the load.
    pub reconnect_within: Duration,
    /// Longest wait between tries: bounds both how late a recovered server is noticed and how often a server is asked
    /// that has many users to take back.
    pub longest_wait: Duration,
    /// Time after which an operation without an answer is given up with its connection; `None`: never.
    pub deadline: Option<Duration>,
}

impl Patience {
    /// Patience without deadline, with the usual longest wait.
    pub const fn reconnecting(within: Duration) -> Self {
        Self { reconnect_within: within, longest_wait: Duration::from_secs(1), deadline: None }
    }

    /// Longest wait for the answer to a try to connect, so long after the loss.
    fn try_at_most(&self, since_loss: Duration) -> Duration {
        self.deadline.map_or(TRY_AT_MOST, |deadline| deadline.max(since_loss / PART_OF_LOSS).min(TRY_AT_MOST))
    }
}

/// Rule by which a session reconnects.
pub(super) struct Reconnect {
    /// How long it tries, and how.
    pub(super) patience: Patience,
    /// Number of the session in the whole load.
    pub(super) session: u32,
    /// Sink of the report.
    pub(super) events: LoadEvents,
}

impl Reconnect {
    /// A rule by which a lost connection ends the user.
    #[cfg(test)]
    pub(super) fn never() -> Self {
        Self { patience: Patience::reconnecting(Duration::ZERO), session: 0, events: std::sync::Arc::new(|_| {}) }
    }

    /// Tries until the session is back; false when the load was stopped before. An error when the time is up.
    pub(super) async fn bring_back<U: VirtualUser>(
        &self,
        pause: &Pause<'_>,
        user: &mut U,
        (origin, lost): (Moment, Moment),
    ) -> Result<bool, Error> {
        let mut tries = 0;
        let back = self.until_back(pause, user, lost, &mut tries).await;
        let here = back.as_ref().is_ok_and(|back| *back);
        let returned = here.then(|| pause.clock.now().offset_from(origin));
        let lost = lost.offset_from(origin);
        (self.events)(Event::SessionLost(LostSession { session: self.session, lost, returned, tries }));
        back
    }

    async fn until_back<U: VirtualUser>(
        &self,
        pause: &Pause<'_>,
        user: &mut U,
        lost: Moment,
        tries: &mut u32,
    ) -> Result<bool, Error> {
        let within = self.patience.reconnect_within;
        let mut waits = Waits::of(self.session, self.patience.longest_wait);
        while !pause.stop.reached(0) {
            *tries += 1;
            let at_most = self.patience.try_at_most(pause.clock.now().since(lost));
            let Err(error) = attempt(user, at_most).await else { return Ok(true) };
            let next = pause.clock.now() + waits.next();
            if next.since(lost) > within {
                let what = format!("failed to reconnect, {tries} attempts within {}", duration_text(within));
                return Err(Error::from(error).context(what));
            }
            pause.until(next).await;
        }
        Ok(false)
    }
}

async fn attempt<U: VirtualUser>(user: &mut U, at_most: Duration) -> Result<(), EngineError> {
    tokio::time::timeout(at_most, user.reconnect()).await.unwrap_or_else(|_| Err(no_answer(at_most)))
}

/// The error of a try to connect that was given up after a time.
fn no_answer(within: Duration) -> EngineError {
    given_up("", within)
}

/// The error of an operation that was given up at its deadline.
pub(super) fn past_deadline(deadline: Duration) -> EngineError {
    given_up(PAST_DEADLINE, deadline)
}

fn given_up(code: &str, within: Duration) -> EngineError {
    EngineError::new(ErrorClass::ConnectionLost, code, format!("no answer within {}", duration_text(within)))
}

/// Waits between tries: half of each is fixed, the other half drawn, so that users who lost their connections together
/// do not return all at once.
pub(super) struct Waits {
    rng: Rng,
    full: Duration,
    longest: Duration,
}

impl Waits {
    pub(super) fn of(session: u32, longest: Duration) -> Self {
        Self { rng: Seed(0).of(session.into()).rng(), full: FIRST_WAIT.min(longest), longest }
    }

    pub(super) fn next(&mut self) -> Duration {
        let half = u64::try_from(self.full.as_micros() / 2).expect("no wait is longer than a month");
        self.full = (2 * self.full).min(self.longest);
        Duration::from_micros(half + self.rng.below(half))
    }
}
