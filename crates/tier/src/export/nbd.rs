//! A server of the network block device protocol, on a Unix socket or any stream.
//!
//! One thread reads the requests of a connection and serves those that wait for no slow device, some threads serve the others, replies
//! go out as they are ready. It prints nothing, and a client that breaks the protocol loses its connection and nothing else.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::byte_room::ByteRoom;
use super::nbd_options::{ExportOffer, Negotiation, broken, negotiate, read_u32, read_u64};
use super::nbd_reply::{self, ReplyForm, RequestFault};
use super::service::BlockService;
use super::workers::Workers;
use crate::control::place::{SocketPlace, connect};
use crate::error::Error;

const REQUEST: u32 = 0x2560_9513;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;
/// The flag of a write that must be durable before its reply.
const FORCE_ACCESS: u16 = 1;
/// The flag of a read that is answered in one chunk.
const ONE_CHUNK: u16 = 1 << 2;

/// Numbers of errors in replies.
const INPUT_OUTPUT: u32 = 5;
const INVALID: u32 = 22;

/// Bytes of a read or write, at most. Source: the protocol's default.
const MOST_BYTES: u32 = 32 << 20;
/// Requests that wait for a thread; the client waits beyond. The kernel's client has so many under way at most.
/// Source: Linux, drivers/block/nbd.c, `queue_depth`.
const WAITING: usize = 128;
/// Bytes of the requests that were handed to threads and are not answered, at most: eight of the longest.
const MOST_UNANSWERED: u64 = 256 << 20;
/// Bytes of a request that the thread which reads requests serves itself, at most. A reply that long fits what a socket takes without its
/// client: one that reads no reply before it has sent all of its requests is read on. Source: Linux, `net.core.wmem_default`, 208 KiB.
const MOST_QUICK: u32 = 128 << 10;

/// One request.
struct NbdRequest {
    flags: u16,
    kind: u16,
    cookie: u64,
    at: u64,
    length: u32,
    data: Vec<u8>,
}

impl NbdRequest {
    /// Bytes that it holds until it is answered.
    fn held_bytes(&self) -> u64 {
        match self.kind {
            READ | WRITE => self.length.min(MOST_BYTES).into(),
            _ => 0,
        }
    }

    /// Whether it is short and waits for no slow device as things are.
    fn is_quick(&self, service: &dyn BlockService) -> bool {
        if self.length > MOST_QUICK {
            return false;
        }
        match self.kind {
            READ => service.reads_quickly(self.at, self.length.into()),
            WRITE => self.flags & FORCE_ACCESS == 0 && service.writes_quickly(self.at, self.length.into()),
            _ => false,
        }
    }
}

/// Serves one connection until the client disconnects. `stream` and `writer` are the two directions of one stream.
///
/// # Errors
///
/// When the connection breaks or the client breaks the protocol.
pub fn serve_connection<S: Read + Write + Send + 'static>(
    mut stream: S,
    writer: S,
    service: &Arc<dyn BlockService>,
    name: &str,
) -> Result<(), Error> {
    let failed = |error: io::Error| Error::device("served", "a client of the block device", 0, error);
    let offer = ExportOffer { name, bytes: service.bytes(), most_bytes: MOST_BYTES };
    let form = match negotiate(&mut stream, &offer).map_err(failed)? {
        Negotiation::Abort => return Ok(()),
        Negotiation::Transmission(form) => form,
    };
    let mut reader = BufReader::with_capacity(64 << 10, stream);
    let replier = Arc::new(Replier { service: Arc::clone(service), writer: Mutex::new(writer), form });
    // Of this connection, so that no other waits for its client; what they were handed is answered before they end.
    let workers = Workers::start("nbd-slow", WAITING).map_err(failed)?;
    let room = ByteRoom::of(MOST_UNANSWERED);
    while let Some(request) = read_request(&mut reader).map_err(failed)? {
        if request.is_quick(&**service) {
            replier.answer(request);
        } else {
            let (replier, taken) = (Arc::clone(&replier), room.take(request.held_bytes()));
            workers.hand_over(move || {
                replier.answer(request);
                drop(taken);
            });
        }
    }
    Ok(())
}

/// Reads a request; `None` when the client disconnects.
fn read_request(reader: &mut impl Read) -> io::Result<Option<NbdRequest>> {
    if read_u32(reader)? != REQUEST {
        return Err(broken("no request where one was due"));
    }
    let flags_and_kind = read_u32(reader)?;
    let [a, b, c, d] = flags_and_kind.to_be_bytes();
    let (flags, kind) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let (cookie, at, length) = (read_u64(reader)?, read_u64(reader)?, read_u32(reader)?);
    let mut data = Vec::new();
    if kind == WRITE {
        if length > MOST_BYTES {
            return Err(broken("a write that is too long"));
        }
        data = vec![0; length as usize];
        reader.read_exact(&mut data)?;
    }
    Ok((kind != DISCONNECT).then_some(NbdRequest { flags, kind, cookie, at, length, data }))
}

/// Does requests of one connection and answers them.
struct Replier<W> {
    service: Arc<dyn BlockService>,
    writer: Mutex<W>,
    form: ReplyForm,
}

impl<W: Write> Replier<W> {
    fn answer(&self, mut request: NbdRequest) {
        // The client waits for each of its replies. What a device that panicked leaves is the service's to know.
        let done = catch_unwind(AssertUnwindSafe(|| serve(&mut request, &*self.service)))
            .unwrap_or_else(|_| Err(RequestFault { number: INPUT_OUTPUT, text: "the request panicked".to_owned() }));
        let cookie = request.cookie;
        let reply = match (self.form, request.kind, done) {
            (ReplyForm::Structured, READ, Ok(())) => {
                nbd_reply::read(cookie, request.at, &request.data, request.flags & ONE_CHUNK != 0)
            }
            (ReplyForm::Structured, _, Err(fault)) => nbd_reply::error(cookie, &fault),
            (_, READ, Ok(())) => nbd_reply::simple(cookie, 0, &request.data),
            (_, _, Ok(())) => nbd_reply::simple(cookie, 0, &[]),
            (_, _, Err(fault)) => nbd_reply::simple(cookie, fault.number, &[]),
        };
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that is gone is noticed by the thread that reads its requests.
        drop(writer.write_all(&reply).and_then(|()| writer.flush()));
    }
}

/// Does a request.
fn serve(request: &mut NbdRequest, service: &dyn BlockService) -> Result<(), RequestFault> {
    let invalid = |text: &str| Err(RequestFault { number: INVALID, text: text.to_owned() });
    let end = request.at.checked_add(u64::from(request.length));
    let inside = end.is_some_and(|end| end <= service.bytes());
    if request.kind != FLUSH && !inside {
        return invalid("the request ends behind the end of the device");
    }
    let done = match request.kind {
        READ if request.length > MOST_BYTES => return invalid("the read is longer than 32 MiB"),
        READ => {
            request.data = vec![0; request.length as usize];
            service.read(request.at, &mut request.data)
        }
        WRITE => service.write(request.at, &request.data),
        FLUSH => service.flush(),
        TRIM | WRITE_ZEROES => service.discard(request.at, u64::from(request.length)),
        _ => return invalid("requests of this kind are not known"),
    };
    let durable = match (request.kind, request.flags & FORCE_ACCESS) {
        (WRITE | TRIM | WRITE_ZEROES, FORCE_ACCESS) => done.and_then(|()| service.flush()),
        _ => done,
    };
    durable.map_err(|error| RequestFault { number: INPUT_OUTPUT, text: error.to_string() })
}

/// A server on a Unix socket, until it is dropped.
pub struct NbdServer {
    path: PathBuf,
    place: SocketPlace,
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
    connections: Arc<Connections>,
}

/// Open connections by number, so that they can be ended.
type Connections = Mutex<HashMap<u64, UnixStream>>;

impl NbdServer {
    /// Listens on a path, in the place of a socket on which nobody does, for any number of connections of the same user.
    ///
    /// # Errors
    ///
    /// When another process listens there, another file is there, or the socket cannot be made.
    pub fn start(path: &Path, name: &str, service: Arc<dyn BlockService>) -> Result<Self, Error> {
        let (socket, place) = SocketPlace::listen(path)?;
        let stop = Arc::new(AtomicBool::new(false));
        let connections = Arc::new(Connections::default());
        let (stopped, open, name) = (stop.clone(), connections.clone(), name.to_owned());
        let listener = std::thread::spawn(move || accept(&socket, &stopped, &open, &name, &service));
        Ok(Self { path: path.to_owned(), place, stop, listener: Some(listener), connections })
    }
}

fn accept(socket: &UnixListener, stop: &AtomicBool, open: &Connections, name: &str, service: &Arc<dyn BlockService>) {
    std::thread::scope(|scope| {
        for (number, stream) in (0..).zip(socket.incoming()) {
            if stop.load(Ordering::Acquire) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let (Ok(writer), Ok(kept)) = (stream.try_clone(), stream.try_clone()) else { continue };
            open.lock().unwrap_or_else(PoisonError::into_inner).insert(number, kept);
            let service = service.clone();
            scope.spawn(move || {
                // What a client did wrong ends its connection; there is nobody else to tell.
                drop(serve_connection(stream, writer, &service, name));
                let ended = open.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
                drop(ended.map(|stream| stream.shutdown(std::net::Shutdown::Both)));
            });
        }
    });
}

impl Drop for NbdServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for connection in self.connections.lock().unwrap_or_else(PoisonError::into_inner).values() {
            drop(connection.shutdown(std::net::Shutdown::Both));
        }
        // Wakes the thread that accepts; it is left alone where somebody has removed its socket.
        let woken = connect(&self.path).is_ok();
        if let Some(listener) = self.listener.take().filter(|_| woken) {
            drop(listener.join());
        }
        self.place.remove();
    }
}
