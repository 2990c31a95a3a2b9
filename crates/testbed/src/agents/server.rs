//! The agent's side: requests in order on one worker, events beside them, a heartbeat each second. When the conductor's stream ends,
//! whoever ended it, the handler is dropped, and with it everything that it started or limited.

use super::{frame, greeting};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::wire::{Call, Event, Message, Reply, Request};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Takes what an agent has to tell. Waits when the conductor does not read: nothing is dropped.
pub type EventSink = Arc<dyn Fn(Event) + Send + Sync>;

/// Messages that may wait for the conductor to read.
const WAITING_MESSAGES: usize = 4096;

/// How long a request that is under way may go on after the conductor has gone.
const LAST_WORK: Duration = Duration::from_secs(3);

/// Carries out requests. Dropping it must release everything.
pub trait Handler: Send {
    /// One request.
    fn handle(&mut self, request: Request) -> Result<Reply, Error>;

    /// Called when the conductor has gone while a request is under way and does not end: frees what must not stay behind.
    fn abandon(&self) -> Arc<dyn Fn() + Send + Sync>;
}

/// Serves one conductor on `input` and `output` until it says quit or its stream ends.
pub fn serve<H: Handler + 'static>(
    mut input: impl Read,
    mut output: impl Write + Send + 'static,
    clock: &Arc<dyn Clock>,
    make: impl FnOnce(EventSink) -> H,
) -> Result<(), Error> {
    greeting::greet(&mut output).map_err(|error| Error::new(format!("greeting the conductor: {error}")))?;
    let (messages, to_write) = sync_channel::<Message>(WAITING_MESSAGES);
    let gone = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn(move || write_all(&to_write, &mut output));
    let sink = sink(messages.clone(), Arc::clone(&gone));
    let handler = make(sink);
    let abandon = handler.abandon();
    let (calls, to_do) = sync_channel::<Call>(16);
    let (done, ended) = sync_channel::<()>(1);
    let worker = std::thread::spawn(move || {
        work(handler, &to_do, &messages);
        let _nobody_waits = done.send(());
    });
    let heard = listen(&mut input, &calls);
    gone.store(true, Ordering::Release);
    drop(calls);
    if ended.recv_timeout(LAST_WORK).is_err() {
        abandon();
        clock.sleep(Duration::from_millis(100));
        return heard;
    }
    let _ended = worker.join();
    drop(abandon);
    let _written = writer.join();
    heard
}

/// Hands calls to the worker until quit or the end of the stream.
fn listen(input: &mut impl Read, calls: &SyncSender<Call>) -> Result<(), Error> {
    while let Some(call) = frame::read::<Call>(input)? {
        let quit = call.request == Request::Quit;
        if calls.send(call).is_err() || quit {
            break;
        }
    }
    Ok(())
}

/// Carries out calls in order. The handler is dropped at the end.
fn work<H: Handler>(mut handler: H, calls: &Receiver<Call>, messages: &SyncSender<Message>) {
    while let Ok(Call { id, request }) = calls.recv() {
        let quit = request == Request::Quit;
        let result = handler.handle(request);
        if quit {
            // Released before it is answered: who hears the answer may rely on it.
            drop(handler);
            let _gone = messages.try_send(Message::Answer { id, result });
            return;
        }
        if messages.send(Message::Answer { id, result }).is_err() {
            return;
        }
    }
}

/// Events into the queue; after the conductor has gone they go nowhere.
fn sink(messages: SyncSender<Message>, gone: Arc<AtomicBool>) -> EventSink {
    Arc::new(move |event| {
        if !gone.load(Ordering::Acquire) {
            let _gone = messages.send(Message::Event(event));
        }
    })
}

/// Writes messages as they come, and a heartbeat when none has come for a second.
fn write_all(messages: &Receiver<Message>, output: &mut impl Write) {
    loop {
        let message = match messages.recv_timeout(Duration::from_secs(1)) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => Message::Event(Event::Heartbeat),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if frame::write(output, &message).is_err() {
            // The conductor does not read any more: drain, so that nobody waits for room.
            while messages.recv().is_ok() {}
            return;
        }
    }
}
