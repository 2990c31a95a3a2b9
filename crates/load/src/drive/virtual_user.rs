//! What a workload supplies to be driven: virtual users, sessions that many terminals share, workers of queues. A leaf:
//! it knows no loop.

use crate::operation::Completion;
use proofload_engine::Error as EngineError;
use proofload_model::samples::Reading;
use proofload_model::time::Moment;
use std::time::Duration;

/// A virtual user: draws operations and runs them on its session.
#[expect(async_fn_in_trait, reason = "users stay on their client thread, so no Send bound is wanted")]
pub trait VirtualUser {
    /// Draws the inputs of the next operation and returns its kind's number. Called before the operation is timed.
    fn draw(&mut self) -> usize;

    /// Runs the drawn operation; called again with the same inputs after a retryable error and
    /// [`VirtualUser::recover`].
    async fn run(&mut self) -> Result<Completion, EngineError>;

    /// Notes that the connection was lost, or given up, under the drawn operation: its outcome is unknown.
    fn lost(&mut self) {}

    /// Makes the session usable after an error: rolls back an open transaction.
    async fn recover(&mut self) -> Result<(), EngineError>;

    /// Replaces a session whose connection was lost by a new one that is ready for operations.
    async fn reconnect(&mut self) -> Result<(), EngineError>;

    /// Whether this error is an expected outcome, such as an operation that met its cap. Expected errors never end the
    /// user, however many follow each other.
    fn expects(&self, _error: &EngineError) -> bool {
        false
    }

    /// Reads the counters of an embedded engine since the last call.
    fn counters(&mut self, into: &mut Vec<Reading>);
}

/// A session that terminals share: runs the operation of one terminal after another.
pub trait SharedSession: VirtualUser {
    /// Takes the operation that this terminal has keyed, and returns its kind's number.
    fn take_terminal(&mut self, terminal: u32) -> usize;

    /// Answers the terminal: draws its next operation, and returns the time until it is sent.
    fn answer_terminal(&mut self) -> Duration;
}

/// An item of a queue that is worked off later.
#[derive(Debug, Clone, Copy)]
pub struct QueuedItem<T> {
    /// The item.
    pub item: T,
    /// Instant at which it was queued.
    pub at: Moment,
}

/// A session that works off a queue.
pub trait QueueWorker: VirtualUser {
    /// Type of the queued items.
    type Item;

    /// Takes the next item as the operation to run.
    fn take(&mut self, queued: QueuedItem<Self::Item>);
}
