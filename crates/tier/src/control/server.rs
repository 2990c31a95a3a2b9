//! The end of a control socket that answers: a thread that accepts, and one for each of a few connections.
//!
//! A client that is silent holds its own connection for a short time and nothing else.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::frame::Frame;
use super::message::{ControlAnswer, ControlRequest, MOST_REQUEST};
use super::place::SocketPlace;
use super::reading::PoolReading;
use super::sampled;
use crate::disk::ModelledDisk;
use crate::error::Error;
use crate::tier::{DrainStatus, Tier};

/// Time that a client may take for a piece of its request or of its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two looks of a drain at whether the server stops.
const SLICE: Duration = Duration::from_millis(100);
/// Connections at once; more are told to come later.
const MOST_CONNECTIONS: usize = 16;

/// What a control socket is of.
#[derive(Clone)]
pub struct ControlSubject {
    /// The pool.
    pub tier: Arc<Tier>,
    /// Its modelled disks, 16 at most, one for each array.
    pub disks: Vec<Arc<ModelledDisk>>,
    /// The channel on which the owner is told to stop; a full one means that it was told before.
    pub stops: SyncSender<()>,
}

struct ControlState {
    subject: ControlSubject,
    stop: AtomicBool,
    draining: AtomicBool,
    connections: Mutex<HashMap<u64, UnixStream>>,
}

/// A server on a control socket, until it is dropped: then its file is gone, its threads have ended, and it holds the
/// pool no more. A drain ends with its batch.
pub struct ControlServer {
    /// `None` when its file shall stay.
    place: Option<SocketPlace>,
    /// The socket as a stream, which can be shut down.
    socket: UnixStream,
    state: Arc<ControlState>,
    listener: Option<JoinHandle<()>>,
}

impl ControlServer {
    /// Listens on a path, in the place of a socket on which nobody does.
    ///
    /// # Errors
    ///
    /// When another process listens there, another file is there, or the socket cannot be made.
    pub fn start(path: &Path, subject: ControlSubject) -> Result<Self, Error> {
        let failed = |error| Error::control("served", path, error, "are there too many open files or threads?");
        let (listener, place) = SocketPlace::listen(path)?;
        let state = ControlState {
            subject,
            stop: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            connections: Mutex::default(),
        };
        let state = Arc::new(state);
        let started = listener.try_clone().and_then(|socket| {
            let shared = state.clone();
            let thread = std::thread::Builder::new().name("control".to_owned());
            Ok((UnixStream::from(OwnedFd::from(socket)), thread.spawn(move || accept(&listener, &shared))?))
        });
        match started {
            Ok((socket, listener)) => Ok(Self { place: Some(place), socket, state, listener: Some(listener) }),
            Err(error) => {
                place.remove();
                Err(failed(error))
            }
        }
    }
}

impl ControlServer {
    /// Ends the server as dropping it does, except that its file stays until what is returned is dropped: who waits for
    /// the end of a stop waits until it is gone.
    #[must_use]
    pub fn retire(mut self) -> RetiredSocket {
        RetiredSocket(self.place.take())
    }
}

/// The file of a control socket on which nobody listens any more, until it is dropped.
pub struct RetiredSocket(Option<SocketPlace>);

impl Drop for RetiredSocket {
    fn drop(&mut self) {
        self.0.as_ref().inspect(|place| place.remove());
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.place.as_ref().inspect(|place| place.remove());
        self.state.stop.store(true, Ordering::Release);
        // Wakes the thread that accepts, and then those that read; answers still go out.
        drop(self.socket.shutdown(Shutdown::Both));
        self.state.open().values().for_each(|stream| drop(stream.shutdown(Shutdown::Read)));
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
    }
}

fn accept(socket: &UnixListener, state: &ControlState) {
    std::thread::scope(|scope| {
        for (number, stream) in (0..).zip(socket.incoming()) {
            if state.stop.load(Ordering::Acquire) {
                return;
            }
            let Ok(stream) = stream else {
                std::thread::sleep(SLICE);
                continue;
            };
            if !state.admit(number, &stream) {
                let busy = ControlAnswer::Refused("too many clients at once".to_owned());
                drop((&stream).write_all(&busy.encode()));
                continue;
            }
            let serve = move || {
                // A client that is gone needs no answer, and there is nobody else to tell.
                drop(state.serve(&stream));
                state.open().remove(&number);
            };
            if std::thread::Builder::new().spawn_scoped(scope, serve).is_err() {
                state.open().remove(&number);
            }
        }
    });
}

impl ControlState {
    fn open(&self) -> MutexGuard<'_, HashMap<u64, UnixStream>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a handle of a connection; false when there are too many.
    fn admit(&self, number: u64, stream: &UnixStream) -> bool {
        let timed = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        let mut open = self.open();
        match stream.try_clone() {
            Ok(kept) if timed.is_ok() && open.len() < MOST_CONNECTIONS => {
                open.insert(number, kept);
                // A server that stops has looked at the connections before this one, or will see it.
                if self.stop.load(Ordering::Acquire) {
                    drop(stream.shutdown(Shutdown::Read));
                }
                true
            }
            _ => false,
        }
    }

    fn serve(&self, mut stream: &UnixStream) -> std::io::Result<()> {
        let request = Frame::read(&mut stream, MOST_REQUEST)?.and_then(|frame| ControlRequest::from_frame(&frame));
        let answer = match request {
            Ok(ControlRequest::Stats) => self.reading(),
            Ok(ControlRequest::DelayFlushes { delay }) => match self.subject.tier.delay_flushes(delay) {
                Ok(()) => self.reading(),
                Err(error) => ControlAnswer::Refused(error.to_string()).encode(),
            },
            Ok(ControlRequest::Sample { from }) => {
                let piece = self.subject.tier.sampled_since(from, sampled::MOST_REFERENCES);
                let none = || ControlAnswer::Refused("the pool keeps no sample of its references".to_owned()).encode();
                piece.map_or_else(none, |piece| sampled::encode(&piece))
            }
            Ok(ControlRequest::Drain { limit }) => self.drain(limit).encode(),
            Ok(ControlRequest::FreeDisks) => {
                self.subject.disks.iter().for_each(|disk| disk.free());
                // No delay is never too long.
                drop(self.subject.tier.delay_flushes(Duration::ZERO));
                ControlAnswer::FreedDisks.encode()
            }
            Ok(ControlRequest::Stop) => self.tell_owner().encode(),
            Err(fault) => ControlAnswer::Refused(format!("a request was refused: {fault}")).encode(),
        };
        stream.write_all(&answer)
    }

    /// The pool and its disks now, as an answer.
    fn reading(&self) -> Vec<u8> {
        PoolReading::of(&self.subject.tier, self.subject.disks.iter().map(|disk| &**disk)).encode()
    }

    fn tell_owner(&self) -> ControlAnswer {
        match self.subject.stops.try_send(()) {
            Ok(()) | Err(TrySendError::Full(())) => ControlAnswer::Stopping,
            Err(TrySendError::Disconnected(())) => ControlAnswer::Refused("the owner does not respond".to_owned()),
        }
    }

    fn drain(&self, limit: Duration) -> ControlAnswer {
        if self.draining.swap(true, Ordering::AcqRel) {
            return ControlAnswer::Refused("another drain is running".to_owned());
        }
        let outcome = self.drain_in_slices(limit);
        self.draining.store(false, Ordering::Release);
        match outcome {
            Ok(status) => ControlAnswer::Drained(status),
            Err(error) => ControlAnswer::Refused(error.to_string()),
        }
    }

    /// Drains piece by piece. The rate and the time left are those of the whole drain.
    fn drain_in_slices(&self, limit: Duration) -> Result<DrainStatus, Error> {
        let tier = &self.subject.tier;
        let begin = tier.since_open();
        let mut cleaned = 0.0;
        loop {
            let slice_begin = tier.since_open();
            let left = limit.saturating_sub(slice_begin.saturating_sub(begin));
            let status = tier.drain(left.min(SLICE))?;
            let now = tier.since_open();
            cleaned += status.bytes_per_second * now.saturating_sub(slice_begin).as_secs_f64();
            // Damaged lines stay dirty however long it takes.
            let is_done = status.damaged_lines >= status.dirty_lines;
            if is_done || left <= SLICE || self.stop.load(Ordering::Acquire) {
                let rate = cleaned / now.saturating_sub(begin).as_secs_f64().max(1e-9);
                let dirty = f64::from(status.dirty_lines.saturating_sub(status.damaged_lines))
                    * f64::from(tier.status().line_bytes);
                // A rate near 0 has no time that a duration can hold.
                let left = (rate > 0.0).then(|| Duration::try_from_secs_f64(dirty / rate).ok()).flatten();
                return Ok(DrainStatus { bytes_per_second: rate, left, ..status });
            }
        }
    }
}
