//! The loops of a paced load: a server takes one terminal after another and runs what it has keyed; a worker runs what was queued. They
//! know neither how long terminals wait nor what they ask for. They may not allocate, lock or format, except on errors.

use super::context::{Retry, UserContext};
use super::session_loop::{Course, Turn, VirtualUser, carry_out};
use super::terminals::{Sender, Terminals};
use proofload_model::error::Error;
use proofload_model::time::Moment;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;

/// Serves terminals: runs their operations on its session.
pub trait Server: VirtualUser {
    /// Takes the operation that this terminal has keyed, and returns its kind's number.
    fn sit(&mut self, terminal: u32) -> usize;

    /// The terminal has its answer: draws its next operation, and returns the time until it is sent.
    fn stand_up(&mut self) -> Duration;
}

/// Something that was put into a queue to be done later.
#[derive(Debug, Clone, Copy)]
pub struct Queued<T> {
    /// What.
    pub item: T,
    /// When it was put there.
    pub at: Moment,
}

/// Does what was queued.
pub trait Worker: VirtualUser {
    /// What is queued.
    type Item;

    /// Takes the next.
    fn take(&mut self, queued: Queued<Self::Item>);
}

/// Serves terminals until the phase ends.
pub(super) async fn serve<U: Server>(
    context: &UserContext,
    origin: Moment,
    (terminals, server): (&Terminals, &mut U),
    retry: Retry,
) -> Result<(), Error> {
    let mut course = Course::new(origin, retry);
    while let Some(Sender { terminal, intended, started, lag }) = terminals.next(context).await {
        let kind = server.sit(terminal);
        let turn = Turn { intended, started, lag };
        let (finished, _) = carry_out(context, server, (kind, turn), &mut course).await?;
        let wait = server.stand_up();
        terminals.put(context, terminal, finished + wait);
    }
    Ok(())
}

/// Does what is queued until nobody can queue anything any more. Response times count from when it was queued.
pub(super) async fn work<U: Worker>(
    context: &UserContext,
    origin: Moment,
    (queue, worker, kind): (&mut Receiver<Queued<U::Item>>, &mut U, usize),
    retry: Retry,
) -> Result<(), Error> {
    let mut course = Course::new(origin, retry);
    while let Some(queued) = queue.recv().await {
        let turn = Turn { intended: queued.at, started: context.clock.now(), lag: None };
        worker.take(queued);
        carry_out(context, worker, (kind, turn), &mut course).await?;
        if course.is_away() {
            return Err(Error::new("the load was stopped while this session was away: what is queued cannot be done"));
        }
    }
    Ok(())
}
