//! The loops of a paced load: a session takes one terminal after another and runs what it has keyed; a worker works off
//! a queue. They know neither how long terminals wait nor what they ask for. They may not allocate, lock or format,
//! except on errors.

use super::context::{Retry, UserContext};
use super::due_terminals::{DueTerminal, DueTerminals};
use super::session_loop::{DueOperation, SessionProgress, carry_out};
use super::virtual_user::{QueueWorker, QueuedItem, SharedSession};
use proofload_model::error::Error;
use proofload_model::time::Moment;
use tokio::sync::mpsc::Receiver;

impl UserContext {
    /// Serves terminals until the phase ends. An error means that the session cannot go on.
    pub async fn serve<U: SharedSession>(
        &self,
        origin: Moment,
        terminals: &DueTerminals,
        session: &mut U,
        retry: Retry,
    ) -> Result<(), Error> {
        let ended = serve(self, origin, (terminals, session), retry).await;
        self.finish.note(self.clock.now().since(origin));
        ended
    }

    /// Works off a queue, as operations of this kind, until all its senders are gone.
    pub async fn work<U: QueueWorker>(
        &self,
        origin: Moment,
        queue: &mut Receiver<QueuedItem<U::Item>>,
        (worker, kind): (&mut U, usize),
        retry: Retry,
    ) -> Result<(), Error> {
        let ended = work(self, origin, (queue, worker, kind), retry).await;
        self.finish.note(self.clock.now().since(origin));
        ended
    }
}

/// Serves terminals until the phase ends.
async fn serve<U: SharedSession>(
    context: &UserContext,
    origin: Moment,
    (terminals, session): (&DueTerminals, &mut U),
    retry: Retry,
) -> Result<(), Error> {
    let mut progress = SessionProgress::new(origin, retry);
    while let Some(DueTerminal { terminal, intended, started, lag }) = terminals.next(context).await {
        let kind = session.take_terminal(terminal);
        let operation = DueOperation { intended, started, lag };
        let (finished, _) = carry_out(context, session, (kind, operation), &mut progress).await?;
        let wait = session.answer_terminal();
        terminals.add_again(context, terminal, finished + wait);
    }
    Ok(())
}

/// Works off a queue until all its senders are gone. Response times count from when an item was queued.
async fn work<U: QueueWorker>(
    context: &UserContext,
    origin: Moment,
    (queue, worker, kind): (&mut Receiver<QueuedItem<U::Item>>, &mut U, usize),
    retry: Retry,
) -> Result<(), Error> {
    let mut progress = SessionProgress::new(origin, retry);
    while let Some(queued) = queue.recv().await {
        let operation = DueOperation { intended: queued.at, started: context.clock.now(), lag: None };
        worker.take(queued);
        carry_out(context, worker, (kind, operation), &mut progress).await?;
        if progress.is_away() {
            return Err(Error::new(
                "the load was stopped while this session was disconnected, so its queued work cannot be done",
            ));
        }
    }
    Ok(())
}
