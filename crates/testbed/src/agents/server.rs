//! The agent's side: requests in order on one worker, events beside them, a heartbeat each second. When the conductor's stream ends,
//! whoever ended it, or says nothing any more, as behind a cut link, or the agent itself is told to stop, the handler is dropped, and with it
//! everything that it started or limited.

use super::{frame, greeting};
use proofload_model::error::Error;
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::{Call, Event, Message, Reply, Request};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Takes what an agent has to tell. Waits when the conductor does not read: nothing is dropped.
pub type EventSink = Arc<dyn Fn(Event) + Send + Sync>;

/// Messages that may wait for the conductor to read.
const WAITING_MESSAGES: usize = 4096;

/// How long a request that is under way may go on after the conductor has gone.
const LAST_WORK: Duration = Duration::from_secs(3);

/// How long a conductor may say nothing, which says every few seconds that it is there.
const SILENCE: Duration = Duration::from_secs(60);

/// How often it is looked for, and whether the agent shall stop.
const SILENCE_LOOKS: Duration = Duration::from_millis(500);

/// Stands in the place of a moment while the last call waits for the worker, so that nobody can tell whether the conductor speaks.
const HANDING_OVER: u64 = u64::MAX;

/// Looks, 20 ms apart, at a writer that should end.
const LAST_LOOKS: u32 = 25;

/// Carries out requests. Dropping it must release everything.
pub trait Handler: Send {
    /// One request.
    fn handle(&mut self, request: Request) -> Result<Reply, Error>;

    /// Called when the conductor has gone while a request is under way and does not end: frees what must not stay behind.
    fn abandon(&self) -> Arc<dyn Fn() + Send + Sync>;
}

/// Serves one conductor on `input` and `output` until it says quit, its stream ends, it has said nothing for a minute, or `stop` says so.
///
/// # Errors
/// No conductor of this version, silence, or *interrupted* where `stop` ended it.
pub fn serve<H: Handler + 'static>(
    mut input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
    clock: &Arc<dyn Clock>,
    stop: &dyn Fn() -> bool,
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
    let heard = hear(input, calls, clock, stop);
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

/// Hands calls to the worker until quit, the end of the stream, silence, or an order to stop. The stream is read on a thread of its own,
/// since a read has no end behind a cut link; after silence that thread stays with it.
fn hear(
    mut input: impl Read + Send + 'static,
    calls: SyncSender<(Call, Moment)>,
    clock: &Arc<dyn Clock>,
    stop: &dyn Fn() -> bool,
) -> Result<End, Error> {
    let heard = Arc::new(AtomicU64::new(clock.now().0));
    let (over, ended) = sync_channel(1);
    let to_worker = calls.clone();
    let (reader_clock, reader_heard) = (Arc::clone(clock), Arc::clone(&heard));
    std::thread::spawn(move || {
        let end = listen(&mut input, &calls, (reader_clock.as_ref(), &reader_heard));
        drop(calls);
        let _gone = over.send(end);
    });
    loop {
        match ended.recv_timeout(SILENCE_LOOKS) {
            Ok(end) => return end,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::new("the thread that reads the conductor's calls panicked"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let silent = clock.now().since(Moment(heard.load(Ordering::Relaxed)));
        let stopped = stop();
        if stopped || silent > SILENCE {
            // The worker ends after what it is doing, and drops the handler.
            let quit = Call { id: 0, request: Request::Quit };
            let _busy = to_worker.try_send((quit, clock.now()));
        }
        if stopped {
            return Err(Error::interrupted());
        }
        if silent > SILENCE {
            return Err(Error::lost(format!("the conductor has said nothing for {} s; it is gone", silent.as_secs())));
        }
    }
}

/// Hands calls to the worker, each with the moment of its arrival, until quit or the end of the stream; notes when it heard the last one.
fn listen(
    input: &mut impl Read,
    calls: &SyncSender<(Call, Moment)>,
    (clock, heard): (&dyn Clock, &AtomicU64),
) -> Result<End, Error> {
    while let Some(call) = frame::read::<Call>(input)? {
        let now = clock.now();
        heard.store(now.0, Ordering::Relaxed);
        if call.request == Request::Alive {
            continue;
        }
        let quit = call.request == Request::Quit;
        heard.store(HANDING_OVER, Ordering::Relaxed);
        if calls.send((call, now)).is_err() || quit {
            return Ok(End::Quit);
        }
        heard.store(clock.now().0, Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::time::WallTime;
    use std::os::unix::net::UnixStream;

    /// A clock that moves by so many seconds with each reading.
    struct QuickClock {
        now: AtomicU64,
        step: u64,
    }

    impl QuickClock {
        fn of_steps(step: u64) -> Arc<dyn Clock> {
            Arc::new(Self { now: AtomicU64::new(0), step })
        }
    }

    impl Clock for QuickClock {
        fn now(&self) -> Moment {
            Moment(self.now.fetch_add(self.step * 1_000_000_000, Ordering::Relaxed))
        }

        fn wall(&self) -> WallTime {
            WallTime(0)
        }

        fn sleep(&self, _time: Duration) {}
    }

    struct Held {
        released: Arc<AtomicBool>,
        /// How long the first request takes.
        work: Duration,
    }

    impl Handler for Held {
        fn handle(&mut self, _request: Request) -> Result<Reply, Error> {
            std::thread::sleep(std::mem::take(&mut self.work));
            Ok(Reply::Quit)
        }

        fn abandon(&self) -> Arc<dyn Fn() + Send + Sync> {
            Arc::new(|| ())
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            self.released.store(true, Ordering::Release);
        }
    }

    #[test]
    fn a_conductor_that_says_nothing_any_more_is_gone_although_its_stream_is_open() {
        let (mut conductor, agent) = UnixStream::pair().unwrap();
        greeting::answer(&mut conductor).unwrap();
        let released = Arc::new(AtomicBool::new(false));
        // The first look finds it silent.
        let clock = QuickClock::of_steps(61);
        let held = Held { released: Arc::clone(&released), work: Duration::ZERO };
        let served = serve(agent.try_clone().unwrap(), agent, &clock, &|| false, |_| held);
        let error = served.unwrap_err().to_string();
        assert!(error.starts_with("the conductor has said nothing for "), "{error}");
        assert!(released.load(Ordering::Acquire), "what it held is released");
    }

    #[test]
    fn an_agent_that_is_told_to_stop_releases_what_it_holds() {
        let (mut conductor, agent) = UnixStream::pair().unwrap();
        greeting::answer(&mut conductor).unwrap();
        let released = Arc::new(AtomicBool::new(false));
        let clock: Arc<dyn Clock> = Arc::new(crate::test_clock::TestClock::new());
        let held = Held { released: Arc::clone(&released), work: Duration::ZERO };
        let error = serve(agent.try_clone().unwrap(), agent, &clock, &|| true, |_| held).unwrap_err();
        assert!(error.is_interrupted(), "{error}");
        assert!(released.load(Ordering::Acquire), "what it held is released");
    }

    /// The calls of a conductor that lives wait behind a long one: those that it says beside them are not read meanwhile.
    #[test]
    fn a_conductor_whose_calls_wait_for_a_long_one_is_not_gone() {
        let (mut conductor, agent) = UnixStream::pair().unwrap();
        greeting::answer(&mut conductor).unwrap();
        // One is worked on, sixteen wait in the queue, and the reader holds the next.
        for id in 1..=18 {
            frame::write(&mut conductor, &Call { id, request: Request::Ping }).unwrap();
        }
        frame::write(&mut conductor, &Call { id: 19, request: Request::Quit }).unwrap();
        let clock = QuickClock::of_steps(10);
        let held = Held { released: Arc::default(), work: Duration::from_secs(5) };
        serve(agent.try_clone().unwrap(), agent, &clock, &|| false, |_| held).unwrap();
    }
}
