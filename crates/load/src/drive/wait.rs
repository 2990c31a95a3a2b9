//! Waiting until an operation is due. May not decide when that is.

use proofload_model::time::{Clock, Moment};
use std::time::Duration;

/// The runtime's timer is only good to about a millisecond, so the rest is waited by giving way to the thread's other users.
const TIMER_GRAIN: Duration = Duration::from_millis(2);

/// How the users of a thread wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// By the clock's own sleep: the thread has one user.
    Clock,
    /// By the runtime's timer: the thread has other users.
    Timer,
}

impl Wait {
    /// Waits until `due` has come.
    pub(super) async fn until(self, clock: &dyn Clock, due: Moment) {
        loop {
            let left = due.since(clock.now());
            if left.is_zero() {
                return;
            }
            match self {
                Self::Clock => clock.sleep(left),
                Self::Timer if left > TIMER_GRAIN => tokio::time::sleep(left - TIMER_GRAIN).await,
                Self::Timer => tokio::task::yield_now().await,
            }
        }
    }
}
