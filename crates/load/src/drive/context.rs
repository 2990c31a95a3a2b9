//! What a virtual user is given: clock, schedule, stop, where to record, and when to begin.

use super::finish::Finish;
use super::queue::ThreadQueue;
use super::rounds::Rounds;
use super::session_loop::{self, VirtualUser};
use super::stop::Stop;
use super::wait::Wait;
use crate::intervals::ThreadRecorder;
use proofload_model::error::Error;
use proofload_model::time::{Clock, Moment};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// How often a transaction is tried again after a deadlock, a serialization failure or a busy answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Tries after the first, at most.
    pub at_most: u32,
}

/// Everything that a virtual user needs from its client thread.
pub struct UserContext {
    pub(super) clock: Arc<dyn Clock>,
    /// Where operations come from that are due by a schedule; none: an operation is due as soon as its user is free.
    pub(super) queue: Option<Rc<ThreadQueue>>,
    pub(super) stop: Arc<dyn Stop>,
    pub(super) recorder: Rc<RefCell<ThreadRecorder>>,
    pub(super) finish: Finish,
    pub(super) rounds: Rounds,
    pub(super) wait: Wait,
    pub(super) user: u32,
    pub(super) start: watch::Receiver<Option<Option<Moment>>>,
    pub(super) connected: mpsc::UnboundedSender<Result<u32, Error>>,
}

impl UserContext {
    /// Says that this user is connected, and waits for time zero. None: the run was called off.
    pub async fn ready(&mut self) -> Option<Moment> {
        self.connected.send(Ok(self.user)).ok()?;
        let origin = (*self.start.wait_for(Option::is_some).await.ok()?)??;
        self.recorder.borrow_mut().start(origin);
        self.wait.until(self.clock.as_ref(), self.stop.as_ref(), origin).await;
        Some(origin)
    }

    /// The clock, for dates that operations write.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Runs the user's operations until the phase ends. An error means that the user cannot go on.
    pub async fn drive<U: VirtualUser>(&self, origin: Moment, user: &mut U, retry: Retry) -> Result<(), Error> {
        let ended = session_loop::drive(self, origin, user, retry).await;
        self.finish.note(self.clock.now().since(origin));
        ended
    }
}
