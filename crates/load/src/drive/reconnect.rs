//! Reconnects a session whose connection was lost: tries after growing, jittered waits until it is back, the load is
//! stopped, or its time is up. Reports the outcome. May not run operations.

use super::virtual_user::VirtualUser;
use super::wait::Pause;
use crate::events::LoadEvents;
use proofload_engine::{Error as EngineError, ErrorClass};
use proofload_gen::{Rng, Seed};
use proofload_model::error::Error;
use proofload_model::samples::LostSession;
use proofload_model::time::Moment;
use proofload_model::units::duration_text;
use proofload_model::wire::Event;
use std::time::Duration;

/// The wait after the first try; each is twice the one before, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(10);
/// Longest wait between tries: bounds both how late a recovered server is noticed and how often a server is asked that
/// has many users to take back.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait for the answer to a try: the host may be gone and say nothing.
const TRY_AT_MOST: Duration = Duration::from_secs(5);

/// Rule by which a session reconnects.
pub(super) struct Reconnect {
    /// Time within which it must succeed; zero: a lost connection ends the user.
    pub(super) within: Duration,
    /// Number of the session in the whole load.
    pub(super) session: u32,
    /// Sink of the report.
    pub(super) events: LoadEvents,
}

impl Reconnect {
    /// A rule by which a lost connection ends the user.
    #[cfg(test)]
    pub(super) fn never() -> Self {
        Self { within: Duration::ZERO, session: 0, events: std::sync::Arc::new(|_| {}) }
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
        let mut waits = Waits::of(self.session);
        while !pause.stop.reached(0) {
            *tries += 1;
            let Err(error) = attempt(user).await else { return Ok(true) };
            let next = pause.clock.now() + waits.next();
            if next.since(lost) > self.within {
                let what = format!("connecting again, {tries} tries within {}", duration_text(self.within));
                return Err(Error::from(error).context(what));
            }
            pause.until(next).await;
        }
        Ok(false)
    }
}

async fn attempt<U: VirtualUser>(user: &mut U) -> Result<(), EngineError> {
    tokio::time::timeout(TRY_AT_MOST, user.reconnect()).await.unwrap_or_else(|_| {
        let text = format!("no answer within {}", duration_text(TRY_AT_MOST));
        Err(EngineError::new(ErrorClass::ConnectionLost, "", text))
    })
}

/// Waits between tries: half of each is fixed, the other half drawn, so that users who lost their connections together
/// do not return all at once.
pub(super) struct Waits {
    rng: Rng,
    full: Duration,
}

impl Waits {
    pub(super) fn of(session: u32) -> Self {
        Self { rng: Seed(0).of(session.into()).rng(), full: FIRST_WAIT }
    }

    pub(super) fn next(&mut self) -> Duration {
        let half = u64::try_from(self.full.as_micros() / 2).expect("no wait is longer than a second");
        self.full = (2 * self.full).min(LONGEST_WAIT);
        Duration::from_micros(half + self.rng.below(half))
    }
}
