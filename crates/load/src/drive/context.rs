//! Everything that a virtual user is given: clock, schedule, stop, recorder, and time zero.

use super::finish::Finish;
use super::gate::Gate;
use super::queue::ThreadQueue;
use super::reconnect::Reconnect;
use super::rounds::Rounds;
use super::stop::Stop;
use super::wait::{Pause, UserWait, Wait};
use crate::intervals::ThreadRecorder;
use proofload_model::error::Error;
use proofload_model::time::{Clock, Moment};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Limit on retries of a transaction after a deadlock, a serialization failure or a busy answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Tries after the first, at most.
    pub at_most: u32,
}

/// Values that the users of a client thread share: at most one of each type, made on first use.
pub(super) type ThreadValues = Rc<RefCell<Vec<Rc<dyn Any>>>>;

/// Everything that a virtual user needs from its client thread.
pub struct UserContext {
    pub(super) clock: Arc<dyn Clock>,
    /// Source of operations that are due by a schedule; `None` when an operation is due as soon as its user is free.
    pub(super) queue: Option<Rc<ThreadQueue>>,
    pub(super) stop: Arc<dyn Stop>,
    pub(super) gate: Gate,
    pub(super) recorder: Rc<RefCell<ThreadRecorder>>,
    pub(super) finish: Finish,
    pub(super) rounds: Rounds,
    pub(super) reconnect: Reconnect,
    pub(super) wait: Wait,
    pub(super) user: u32,
    pub(super) thread: u32,
    pub(super) threads: u32,
    /// Values that the users of the thread share.
    pub(super) thread_values: ThreadValues,
    pub(super) start: watch::Receiver<Option<Option<Moment>>>,
    pub(super) connected: mpsc::UnboundedSender<Result<u32, Error>>,
}

impl UserContext {
    /// Reports that this user is connected, and waits for time zero. `None` when the run was called off.
    pub async fn ready(&mut self) -> Option<Moment> {
        self.connected.send(Ok(self.user)).ok()?;
        let origin = (*self.start.wait_for(Option::is_some).await.ok()?)??;
        self.recorder.borrow_mut().start(origin);
        self.wait.until(self.clock.as_ref(), self.stop.as_ref(), origin).await;
        Some(origin)
    }

    /// The means of waiting, for code that needs nothing else of a user.
    pub(super) fn pause(&self) -> Pause<'_> {
        Pause { clock: self.clock.as_ref(), stop: self.stop.as_ref(), wait: &self.wait }
    }

    /// The means of waiting inside an operation.
    pub fn user_wait(&self) -> UserWait {
        UserWait { clock: Arc::clone(&self.clock), stop: Arc::clone(&self.stop), wait: self.wait.clone() }
    }

    /// The clock, for dates that operations write.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Number of the user's client thread, from 0, and the number of threads.
    pub fn thread(&self) -> (u32, u32) {
        (self.thread, self.threads)
    }

    /// The value of type `T` that the users of this client thread share; made by the first who asks.
    pub fn shared_on_thread<T: Any>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        let mut thread_values = self.thread_values.borrow_mut();
        if let Some(known) = thread_values.iter().find_map(|known| Rc::clone(known).downcast().ok()) {
            return known;
        }
        let made = Rc::new(make());
        thread_values.push(Rc::clone(&made) as Rc<dyn Any>);
        made
    }
}
