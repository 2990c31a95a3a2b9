//! The loop of one virtual user: draw, wait until due, run, record. It knows neither when operations are due nor when
//! to stop. It may not allocate, lock or format, except on errors.

use super::context::{Retry, UserContext};
use super::reconnect::{Patience, past_deadline};
use super::virtual_user::VirtualUser;
use crate::operation::{Completion, OperationTimes};
use proofload_engine::{Error as EngineError, ErrorClass};
use proofload_model::error::Error;
use proofload_model::time::Moment;
use std::time::Duration;

/// Failures in a row, with no success between, that end a user: something is broken that retrying will not mend.
const MOST_FAILURES_IN_A_ROW: u32 = 50;

/// An operation faster than this most likely never waited, so the thread's other users get their turn after it: at once where operations are
/// due by a schedule, and otherwise when such operations have taken this long together, since a turn costs as much as some of them.
const FAST_OPERATION: Duration = Duration::from_micros(50);

/// State of a session between operations.
pub(super) struct SessionProgress {
    origin: Moment,
    retry: Retry,
    /// Failures since the last success.
    failures: u32,
    /// Instant since which no operation could begin, because the connection was lost.
    lost: Option<Moment>,
    away: bool,
    /// Start of the first operation since the thread's other users had their turn.
    turn_began: Option<Moment>,
}

impl SessionProgress {
    /// State before the first operation.
    pub(super) fn new(origin: Moment, retry: Retry) -> Self {
        Self { origin, retry, failures: 0, lost: None, away: false, turn_began: None }
    }

    /// Whether the load was stopped before the session came back.
    pub(super) fn is_away(&self) -> bool {
        self.away
    }

    /// Notes when an operation ran; tells whether the thread's other users should have their turn now, and begins the next turn then.
    fn ends_turn(&mut self, intended: Moment, started: Moment, finished: Moment) -> bool {
        let began = *self.turn_began.get_or_insert(started);
        let is_fast = finished.since(started) < FAST_OPERATION;
        // One that took longer may have worked as well as waited: the next fast one ends the turn.
        let ends = is_fast && (intended != started || finished.since(began) >= FAST_OPERATION);
        if ends {
            self.turn_began = None;
        }
        ends
    }
}

/// Outcome of one operation.
enum AttemptOutcome {
    Well(Completion),
    Failed(EngineError),
}

impl UserContext {
    /// Runs the user's operations until the phase ends. An error means that the user cannot go on.
    pub async fn drive<U: VirtualUser>(&self, origin: Moment, user: &mut U, retry: Retry) -> Result<(), Error> {
        let ended = drive(self, origin, user, retry).await;
        self.finish.note(self.clock.now().since(origin));
        ended
    }
}

/// Runs operations until the phase ends.
async fn drive<U: VirtualUser>(context: &UserContext, origin: Moment, user: &mut U, retry: Retry) -> Result<(), Error> {
    let mut number = 0u64;
    let mut progress = SessionProgress::new(origin, retry);
    let mut round = context.rounds.begin(origin);
    context.gate.install();
    while !context.stop.reached(number) {
        if context.gate.holds(context.rounds.user) {
            context.pass_gate().await;
            continue;
        }
        let kind = user.draw();
        let Some(operation) = next_operation(context, &mut progress, kind).await else { break };
        context.gate.note(context.user);
        let (finished, well) = carry_out(context, user, (kind, operation), &mut progress).await?;
        number += 1;
        round.count(well, finished);
    }
    Ok(())
}

/// An operation that may begin.
pub(super) struct DueOperation {
    pub(super) intended: Moment,
    pub(super) started: Moment,
    /// Start minus intended start, where the user was free and waited for it.
    pub(super) lag: Option<Duration>,
}

/// Runs the drawn operation and records its outcome; returns when it ended, and whether it succeeded. An error means
/// that the user cannot go on.
pub(super) async fn carry_out<U: VirtualUser>(
    context: &UserContext,
    user: &mut U,
    (kind, operation): (usize, DueOperation),
    progress: &mut SessionProgress,
) -> Result<(Moment, bool), Error> {
    let DueOperation { intended, started, lag } = operation;
    context.recorder.borrow_mut().begin(kind, started, lag);
    let (ended, retries) = run_in_time(context, user, progress.retry).await;
    let finished = context.clock.now();
    let well = matches!(ended, AttemptOutcome::Well(_));
    match ended {
        AttemptOutcome::Well(completed) => {
            progress.failures = 0;
            let mut recorder = context.recorder.borrow_mut();
            recorder.end_well(kind, completed, OperationTimes { intended, started, finished }, retries);
            if recorder.wants_counters() {
                recorder.take_counters(|into| user.counters(into));
            }
        }
        AttemptOutcome::Failed(error) => {
            progress.failures += u32::from(!user.expects(&error));
            context.recorder.borrow_mut().end_failed(kind, &error, finished, retries);
            give_up_if_hopeless(&error, progress.failures, &context.reconnect.patience)?;
            restore_session(context, user, (&error, finished), progress).await?;
        }
    }
    if progress.ends_turn(intended, started, finished) && context.wait.is_shared() {
        tokio::task::yield_now().await;
    }
    Ok((finished, well))
}

/// Waits until an operation is due for this user; `None` when the phase has ended.
///
/// Operations that have waited too long for a user are dropped on the way, under the kind that the user would have run;
/// what it has drawn is kept for the next one, so that its inputs have no gaps.
async fn next_operation(context: &UserContext, progress: &mut SessionProgress, kind: usize) -> Option<DueOperation> {
    let clock = context.clock.as_ref();
    let Some(queue) = &context.queue else {
        let now = clock.now();
        // It would have begun when the connection was lost: the outage belongs to its response time.
        let intended = progress.lost.take().unwrap_or(now);
        return Some(DueOperation { intended, started: now, lag: None });
    };
    loop {
        let intended = progress.origin + Duration::from_nanos(queue.take()?.0.unsigned_abs());
        let free = clock.now();
        if free < intended {
            context.wait.until(clock, context.stop.as_ref(), intended).await;
            if context.stop.reached(0) {
                return None;
            }
            let started = clock.now();
            return Some(DueOperation { intended, started, lag: Some(started.since(intended)) });
        }
        if !queue.gives_up_after(free.since(intended)) {
            return Some(DueOperation { intended, started: free, lag: None });
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

/// Runs one operation with its retries, and gives it up at the deadline, if there is one: its outcome is unknown then.
async fn run_in_time<U: VirtualUser>(context: &UserContext, user: &mut U, retry: Retry) -> (AttemptOutcome, u32) {
    let ended = match context.reconnect.patience.deadline {
        None => run_with_retries(context, user, retry).await,
        Some(deadline) => tokio::time::timeout(deadline, run_with_retries(context, user, retry))
            .await
            .unwrap_or_else(|_| (AttemptOutcome::Failed(past_deadline(deadline)), 0)),
    };
    if matches!(&ended.0, AttemptOutcome::Failed(error) if is_lost(error)) {
        user.lost();
    }
    ended
}

/// Runs one operation with its retries, with the same inputs each time. A thread whose calls block cannot hand over its seconds while one of
/// them waits, as for the one writer of an embedded database; it does so between tries, so that a user who waits long holds back nobody's seconds
/// for longer than one try.
async fn run_with_retries<U: VirtualUser>(context: &UserContext, user: &mut U, retry: Retry) -> (AttemptOutcome, u32) {
    let mut retries = 0;
    loop {
        let error = match user.run().await {
            Ok(completed) => return (AttemptOutcome::Well(completed), retries),
            Err(error) => error,
        };
        if !error.is_retryable() || retries >= retry.at_most {
            return (AttemptOutcome::Failed(error), retries);
        }
        retries += 1;
        context.recorder.borrow_mut().turn(context.clock.now());
        if let Err(error) = user.recover().await {
            return (AttemptOutcome::Failed(error), retries);
        }
    }
}

/// Makes the session ready for the next operation: rolls back an open transaction, or reconnects.
async fn restore_session<U: VirtualUser>(
    context: &UserContext,
    user: &mut U,
    (error, failed): (&EngineError, Moment),
    progress: &mut SessionProgress,
) -> Result<(), Error> {
    if !is_lost(error) {
        match user.recover().await {
            Err(error) if !is_lost(&error) || context.reconnect.patience.reconnect_within.is_zero() => {
                return Err(Error::from(error).context("failed to recover after a failed transaction"));
            }
            Err(_lost) => {}
            Ok(()) => return Ok(()),
        }
    }
    progress.away = !context.reconnect.bring_back(&context.pause(), user, (progress.origin, failed)).await?;
    progress.lost = Some(failed);
    Ok(())
}

fn is_lost(error: &EngineError) -> bool {
    error.class() == ErrorClass::ConnectionLost
}

/// Ends the user after errors that make going on useless or harmful.
fn give_up_if_hopeless(error: &EngineError, failures: u32, patience: &Patience) -> Result<(), Error> {
    let why = match error.class() {
        ErrorClass::ConnectionLost if patience.reconnect_within.is_zero() => "the connection to the database was lost",
        // Users with a deadline are there to see how long a database is away.
        ErrorClass::ConnectionLost if failures >= MOST_FAILURES_IN_A_ROW && patience.deadline.is_none() => {
            "the connection to the database was lost again before any transaction completed"
        }
        ErrorClass::ConnectionLost => return Ok(()),
        // A full volume is a fault that ends as well.
        ErrorClass::OutOfSpace if patience.deadline.is_some() => return Ok(()),
        ErrorClass::OutOfSpace => "the database is out of space",
        ErrorClass::Data => "the database rejected data of a transaction",
        ErrorClass::Retryable | ErrorClass::Other if failures >= MOST_FAILURES_IN_A_ROW => "every transaction fails",
        ErrorClass::Retryable | ErrorClass::Other => return Ok(()),
    };
    Err(Error::from(error.clone()).context(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations that never waited go on for as long as one of them may take; those that are due by a schedule end a turn each.
    #[test]
    fn fast_operations_share_a_turn_unless_they_are_due() {
        let at = |micros: u64| Moment(1_000 * micros);
        let mut progress = SessionProgress::new(at(0), Retry { at_most: 0 });
        let mut check = |intended, started, finished, ends: bool| {
            assert_eq!(progress.ends_turn(at(intended), at(started), at(finished)), ends, "{finished}");
        };
        check(1, 1, 20, false);
        check(21, 21, 49, false);
        check(49, 49, 51, true);
        // What others did in their turn is none of this one.
        check(500, 500, 510, false);
        check(511, 511, 545, false);
        // It waited or worked; whichever it was, others have their turn after the next fast one.
        check(546, 546, 646, false);
        check(647, 647, 650, true);
        check(600, 671, 672, true);
        check(673, 673, 680, false);
    }

    #[test]
    fn only_users_with_a_deadline_outlast_a_full_volume() {
        let full = EngineError::new(ErrorClass::OutOfSpace, "53100", "no room");
        let data = EngineError::new(ErrorClass::Data, "22003", "out of range");
        let patience = |deadline| Patience {
            reconnect_within: Duration::from_secs(60),
            longest_wait: Duration::from_secs(1),
            deadline,
        };
        let (without, with) = (patience(None), patience(Some(Duration::from_secs(1))));
        assert!(give_up_if_hopeless(&full, 1, &without).is_err());
        assert!(give_up_if_hopeless(&full, 1000, &with).is_ok());
        assert!(give_up_if_hopeless(&data, 1, &with).is_err());
    }
}
