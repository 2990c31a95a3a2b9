//! The agent's side: requests in order on one worker, events beside them, a heartbeat each second. When the conductor's stream ends,
//! whoever ended it, the handler is dropped, and with it everything that it started or limited.

use super::{frame, greeting};
use proofload_model::error::Error;
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::{Call, Event, Message, Reply, Request};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Takes what an agent has to tell. Waits when the conductor does not read: nothing is dropped.
pub type EventSink = Arc<dyn Fn(Event) + Send + Sync>;

/// Messages that may wait for the conductor to read.
const WAITING_MESSAGES: usize = 4096;

/// How long a request that is under way may go on after the conductor has gone.
const LAST_WORK: Duration = Duration::from_secs(3);

/// Looks, 20 ms apart, at a writer that should end.
const LAST_LOOKS: u32 = 25;

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
    greeting::greet(&mut output).map_err(|error| Error::new(format!("failed to greet the conductor: {error}")))?;
    if !greeting::expect_conductor(&mut input)? {
        return Ok(());
    }
    let (messages, to_write) = sync_channel::<Message>(WAITING_MESSAGES);
    let gone = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn(move || write_all(&to_write, &mut output));
    let sink = sink(messages.clone(), Arc::clone(&gone));
    let handler = make(sink);
    let abandon = handler.abandon();
    let (calls, to_do) = sync_channel::<(Call, Moment)>(16);
    let (done, ended) = sync_channel::<()>(1);
    let worker = std::thread::spawn(move || {
        work(handler, &to_do, &messages);
        let _nobody_waits = done.send(());
    });
    let heard = listen(&mut input, &calls, clock.as_ref());
    drop(calls);
    if heard == Ok(End::Quit) {
        // Ordered: releasing may take its time, a server's last checkpoint for one.
        let _ended = worker.join();
    } else {
        gone.store(true, Ordering::Release);
        if ended.recv_timeout(LAST_WORK).is_err() {
            abandon();
        }
    }
    gone.store(true, Ordering::Release);
    wait_for(&writer, clock.as_ref());
    heard.map(|_| ())
}

/// How the conductor's stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Quit,
    Stream,
}

/// The writer ends when nobody can send any more; whoever still holds the queue is not worth staying for.
fn wait_for(writer: &JoinHandle<()>, clock: &dyn Clock) {
    for _ in 0..LAST_LOOKS {
        if writer.is_finished() {
            return;
        }
        clock.sleep(Duration::from_millis(20));
    }
}

/// Hands calls to the worker, each with the moment of its arrival, until quit or the end of the stream.
fn listen(input: &mut impl Read, calls: &SyncSender<(Call, Moment)>, clock: &dyn Clock) -> Result<End, Error> {
    while let Some(call) = frame::read::<Call>(input)? {
        let quit = call.request == Request::Quit;
        if calls.send((call, clock.now())).is_err() || quit {
            return Ok(End::Quit);
        }
    }
    Ok(End::Stream)
}

/// Carries out calls in order. The handler is dropped at the end.
fn work<H: Handler>(mut handler: H, calls: &Receiver<(Call, Moment)>, messages: &SyncSender<Message>) {
    while let Ok((Call { id, request }, arrived)) = calls.recv() {
        let quit = request == Request::Quit;
        let mut result = handle(&mut handler, request);
        if let Ok(Reply::Ping(pong)) = &mut result {
            pong.received = arrived;
        }
        if quit {
            // Released before it is answered: who hears the answer may rely on it.
            drop(handler);
            let _gone = messages.send(Message::Answer { id, result });
            return;
        }
        if messages.send(Message::Answer { id, result }).is_err() {
            return;
        }
    }
}

/// A fault of ours in one request is an answer, not a silence.
fn handle<H: Handler>(handler: &mut H, request: Request) -> Result<Reply, Error> {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| handler.handle(request)));
    caught.unwrap_or_else(|_| {
        Err(Error::new("the agent panicked during a request; this is a bug in Proofload, see the agent's stderr"))
    })
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
