//! Waiting until an operation is due. May not decide when that is.

use super::alarm::Alarm;
use super::stop::Stop;
use proofload_model::time::{Clock, Moment};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Interval at which a sleeping thread looks whether the load has been stopped.
const GLANCE: Duration = Duration::from_millis(100);

/// The way in which a user waits.
#[derive(Clone)]
pub(super) enum Wait {
    /// Sleep of the thread: it has one user.
    Clock,
    /// Alarm clock of the thread: it has other users.
    Alarm {
        /// The thread's alarm.
        alarm: Rc<Alarm>,
        /// The user's number there.
        sleeper: u32,
    },
}

/// What a user needs to wait: the clock, what stops it, and its way of waiting.
pub(super) struct Pause<'a> {
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a dyn Stop,
    pub(super) wait: &'a Wait,
}

impl Pause<'_> {
    /// Waits until `due` has come or the load is stopped.
    pub(super) async fn until(&self, due: Moment) {
        self.wait.until(self.clock, self.stop, due).await;
    }
}

/// Waits of a user inside an operation; they end with the load.
#[derive(Clone)]
pub struct UserWait {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stop: Arc<dyn Stop>,
    pub(super) wait: Wait,
}

impl UserWait {
    /// Waits for a time.
    pub async fn pass(&self, time: Duration) {
        let due = self.clock.now() + time;
        self.wait.until(self.clock.as_ref(), self.stop.as_ref(), due).await;
    }

    /// The time.
    pub fn now(&self) -> Moment {
        self.clock.now()
    }
}

impl Wait {
    /// Waits until `due` has come or the load is stopped.
    pub(super) async fn until(&self, clock: &dyn Clock, stop: &dyn Stop, due: Moment) {
        match self {
            Self::Alarm { alarm, sleeper } => alarm.until(*sleeper, due).await,
            Self::Clock => loop {
                let left = due.since(clock.now());
                if left.is_zero() || stop.reached(0) {
                    return;
                }
                clock.sleep(left.min(GLANCE));
            },
        }
    }

    /// Whether the thread has other users, who want their turn.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Alarm { .. })
    }
}
