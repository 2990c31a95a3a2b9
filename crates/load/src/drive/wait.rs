//! Waiting until an operation is due. May not decide when that is.

use super::alarm::Alarm;
use super::stop::Stop;
use proofload_model::time::{Clock, Moment};
use std::rc::Rc;
use std::time::Duration;

/// A thread that sleeps looks so often whether the load has been stopped.
const GLANCE: Duration = Duration::from_millis(100);

/// How the users of a thread wait.
#[derive(Clone)]
pub(super) enum Wait {
    /// By the clock's own sleep: the thread has one user.
    Clock,
    /// By the thread's alarm clock: the thread has other users.
    Alarm {
        /// The thread's.
        alarm: Rc<Alarm>,
        /// The user's place there.
        seat: u32,
    },
}

impl Wait {
    /// Waits until `due` has come or the load is stopped.
    pub(super) async fn until(&self, clock: &dyn Clock, stop: &dyn Stop, due: Moment) {
        match self {
            Self::Alarm { alarm, seat } => alarm.until(*seat, due).await,
            Self::Clock => loop {
                let left = due.since(clock.now());
                if left.is_zero() || stop.reached(0) {
                    return;
                }
                clock.sleep(left.min(GLANCE));
            },
        }
    }

    /// Does the thread have other users, who want their turn?
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Alarm { .. })
    }
}
