//! The loop of one virtual user: draw, wait until due, run, record. It knows neither when operations are due nor when to stop.
//! It may not allocate, lock or format, except on errors.

use super::context::{Retry, UserContext};
use crate::intervals::Times;
use proofload_engine::{Error as EngineError, ErrorClass};
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::time::Moment;
use std::time::Duration;

/// How an operation ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completed {
    /// Committed, or read.
    Done,
    /// Rolled back by design.
    RolledBack,
}

/// A virtual user: draws operations and runs them on its session.
#[expect(async_fn_in_trait, reason = "users stay on their client thread, so no Send bound is wanted")]
pub trait VirtualUser {
    /// Draws the inputs of the next operation and returns its kind's number. Before the clock starts.
    fn draw(&mut self) -> usize;

    /// Runs the drawn operation; called again with the same inputs after a retryable error and [`VirtualUser::recover`].
    async fn run(&mut self) -> Result<Completed, EngineError>;

    /// Brings the session back after an error: rolls back what is open.
    async fn recover(&mut self) -> Result<(), EngineError>;

    /// Opens a session, ready for operations, in the place of one whose connection was lost.
    async fn reconnect(&mut self) -> Result<(), EngineError>;

    /// Is this error an outcome that the workload reckons with, such as an operation that met its cap? Any number of them in a row
    /// leaves the user at work.
    fn bears(&self, _error: &EngineError) -> bool {
        false
    }

    /// Counters of an embedded engine since the last call.
    fn counters(&mut self, into: &mut Vec<Reading>);
}

/// So many failures in a row, with none done between, end a user: something is broken that trying will not mend.
const HOPELESS: u32 = 50;

/// An operation faster than this most likely never waited, so the thread's other users get their turn after it.
const GIVE_WAY: Duration = Duration::from_micros(50);

/// A session's way from operation to operation.
pub(super) struct Course {
    origin: Moment,
    retry: Retry,
    /// Failures since an operation last ended well.
    failures: u32,
    /// Since when no operation could begin, because the connection was lost.
    lost: Option<Moment>,
    away: bool,
}

impl Course {
    /// Before the first operation.
    pub(super) fn new(origin: Moment, retry: Retry) -> Self {
        Self { origin, retry, failures: 0, lost: None, away: false }
    }

    /// Was the load stopped before the session came back?
    pub(super) fn is_away(&self) -> bool {
        self.away
    }
}

/// How one operation ended.
enum Ended {
    Well(Completed),
    Failed(EngineError),
}

/// Runs operations until the phase ends.
pub(super) async fn drive<U: VirtualUser>(
    context: &UserContext,
    origin: Moment,
    user: &mut U,
    retry: Retry,
) -> Result<(), Error> {
    let mut number = 0u64;
    let mut course = Course::new(origin, retry);
    let mut round = context.rounds.begin(origin);
    while !context.stop.reached(number) {
        let kind = user.draw();
        let Some(turn) = next_turn(context, &mut course, kind).await else { break };
        let (finished, well) = carry_out(context, user, (kind, turn), &mut course).await?;
        number += 1;
        round.count(well, finished);
    }
    Ok(())
}

/// An operation that may begin.
pub(super) struct Turn {
    pub(super) intended: Moment,
    pub(super) started: Moment,
    /// Start minus intended start, where the user was free and waited for it.
    pub(super) lag: Option<Duration>,
}

/// Runs the operation that was drawn and records how it ended; returns when, and whether well. An error means that the user cannot go on.
pub(super) async fn carry_out<U: VirtualUser>(
    context: &UserContext,
    user: &mut U,
    (kind, turn): (usize, Turn),
    course: &mut Course,
) -> Result<(Moment, bool), Error> {
    let Turn { intended, started, lag } = turn;
    context.recorder.borrow_mut().begin(kind, started, lag);
    let (ended, retries) = attempt(user, course.retry).await;
    let finished = context.clock.now();
    let well = matches!(ended, Ended::Well(_));
    match ended {
        Ended::Well(completed) => {
            course.failures = 0;
            let mut recorder = context.recorder.borrow_mut();
            recorder.end_well(kind, completed, Times { intended, started, finished }, retries);
            if recorder.wants_counters() {
                recorder.take_counters(|into| user.counters(into));
            }
        }
        Ended::Failed(error) => {
            course.failures += u32::from(!user.bears(&error));
            context.recorder.borrow_mut().end_failed(kind, &error, finished, retries);
            give_up_if_hopeless(&error, course.failures, context.reconnect.within)?;
            mend(context, user, (&error, finished), course).await?;
        }
    }
    if finished.since(started) < GIVE_WAY && context.wait.is_shared() {
        tokio::task::yield_now().await;
    }
    Ok((finished, well))
}

/// Waits until an operation is due for this user. Those that have waited too long for a user are dropped on the way, under the kind that
/// the user would have run; what it has drawn is kept for the next, so that its inputs have no holes. None: the phase has ended.
async fn next_turn(context: &UserContext, course: &mut Course, kind: usize) -> Option<Turn> {
    let clock = context.clock.as_ref();
    let Some(queue) = &context.queue else {
        let now = clock.now();
        // It would have begun when the connection was lost: the outage belongs to its response time.
        let intended = course.lost.take().unwrap_or(now);
        return Some(Turn { intended, started: now, lag: None });
    };
    loop {
        let intended = course.origin + Duration::from_nanos(queue.take()?.0.unsigned_abs());
        let free = clock.now();
        if free < intended {
            context.wait.until(clock, context.stop.as_ref(), intended).await;
            if context.stop.reached(0) {
                return None;
            }
            let started = clock.now();
            return Some(Turn { intended, started, lag: Some(started.since(intended)) });
        }
        if !queue.gives_up_after(free.since(intended)) {
            return Some(Turn { intended, started: free, lag: None });
        }
        context.recorder.borrow_mut().drop_one(kind, free);
        if context.wait.is_shared() {
            tokio::task::yield_now().await;
        }
        if context.stop.reached(0) {
            return None;
        }
    }
}

/// One operation with its retries: the same inputs each time.
async fn attempt<U: VirtualUser>(user: &mut U, retry: Retry) -> (Ended, u32) {
    let mut retries = 0;
    loop {
        let error = match user.run().await {
            Ok(completed) => return (Ended::Well(completed), retries),
            Err(error) => error,
        };
        if !error.is_retryable() || retries >= retry.at_most {
            return (Ended::Failed(error), retries);
        }
        retries += 1;
        if let Err(error) = user.recover().await {
            return (Ended::Failed(error), retries);
        }
    }
}

/// Makes the session fit for the next operation: rolls back what is open, or connects again.
async fn mend<U: VirtualUser>(
    context: &UserContext,
    user: &mut U,
    (error, failed): (&EngineError, Moment),
    course: &mut Course,
) -> Result<(), Error> {
    if !is_lost(error) {
        match user.recover().await {
            Err(error) if !is_lost(&error) || context.reconnect.within.is_zero() => {
                return Err(Error::from(error).context("recovering after a failed transaction"));
            }
            Err(_lost) => {}
            Ok(()) => return Ok(()),
        }
    }
    course.away = !context.reconnect.bring_back(context, user, (course.origin, failed)).await?;
    course.lost = Some(failed);
    Ok(())
}

fn is_lost(error: &EngineError) -> bool {
    error.class() == ErrorClass::ConnectionLost
}

/// Some errors mean that going on is useless or harmful.
fn give_up_if_hopeless(error: &EngineError, failures: u32, reconnect_within: Duration) -> Result<(), Error> {
    let why = match error.class() {
        ErrorClass::ConnectionLost if reconnect_within.is_zero() => "the connection to the database was lost",
        ErrorClass::ConnectionLost if failures >= HOPELESS => {
            "the connection to the database is lost again before any transaction is done"
        }
        ErrorClass::ConnectionLost => return Ok(()),
        ErrorClass::OutOfSpace => "the database has no room left",
        ErrorClass::Data => "the database refused data of a transaction",
        ErrorClass::Retryable | ErrorClass::Other if failures >= HOPELESS => "every transaction fails",
        ErrorClass::Retryable | ErrorClass::Other => return Ok(()),
    };
    Err(Error::from(error.clone()).context(why))
}
