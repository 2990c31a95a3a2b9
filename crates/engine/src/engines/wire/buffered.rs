//! A socket with what is queued for it and what has come over it, in memory that is kept. Knows nothing of messages.

use super::socket::Socket;
use crate::contract::{Error, ErrorClass};
use bytes::BytesMut;
use std::io;
use std::ops::Range;

/// Room for what comes at first; it grows with the largest message.
const FIRST_ROOM: usize = 8 << 10;

/// A socket with its buffers.
#[derive(Debug)]
pub(in crate::engines) struct BufferedSocket {
    socket: Socket,
    /// What is to be sent, and how many bytes of it are sent.
    out: BytesMut,
    sent: usize,
    /// Received bytes; those of `start..end` are not yet taken.
    input: Vec<u8>,
    start: usize,
    end: usize,
    lost: bool,
}

impl BufferedSocket {
    /// A socket over which nothing has gone yet.
    pub(in crate::engines) fn new(socket: Socket) -> Self {
        Self {
            socket,
            out: BytesMut::with_capacity(FIRST_ROOM / 2),
            sent: 0,
            input: vec![0; FIRST_ROOM],
            start: 0,
            end: 0,
            lost: false,
        }
    }

    /// Asks for room for much that is sent.
    pub(in crate::engines) fn widen(&self) {
        self.socket.widen();
    }

    /// Where what is to be sent is added.
    #[inline]
    pub(in crate::engines) fn queue(&mut self) -> &mut BytesMut {
        &mut self.out
    }

    /// Whether something is queued.
    #[inline]
    pub(in crate::engines) fn has_queued(&self) -> bool {
        self.sent < self.out.len()
    }

    /// Forgets what is queued. Nothing of it may have been sent.
    pub(in crate::engines) fn forget_queue(&mut self) {
        self.out.clear();
    }

    /// Whether the connection is gone, or must not be used any more.
    #[inline]
    pub(in crate::engines) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Notes that the connection must not be used any more.
    pub(in crate::engines) fn give_up(&mut self) {
        self.lost = true;
    }

    /// The error of a connection that is gone by this.
    pub(in crate::engines) fn lose(&mut self, error: &io::Error) -> Error {
        self.lost = true;
        match error.kind() {
            io::ErrorKind::UnexpectedEof => closed(),
            _ => Error::new(ErrorClass::ConnectionLost, "", format!("error communicating with the server: {error}")),
        }
    }

    /// Fails on a connection that is gone.
    #[inline]
    pub(in crate::engines) fn expect_open(&self) -> Result<(), Error> {
        if self.lost { Err(closed()) } else { Ok(()) }
    }

    /// Sends all that is queued. While the server does not take it, what it says is received, so that neither waits for the other.
    pub(in crate::engines) async fn flush(&mut self) -> io::Result<()> {
        while self.sent < self.out.len() {
            match self.socket.try_write(&self.out[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.socket.readable_or_writable().await?;
                    self.look()?;
                }
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    /// Sends this if it fits at once and nothing else is under way.
    pub(in crate::engines) fn say_goodbye(&mut self, words: &[u8]) {
        if !self.lost && !self.has_queued() {
            // Nobody is left to tell when it does not fit.
            let _ = self.socket.try_write(words);
        }
    }

    /// Received bytes that are not yet taken.
    #[inline]
    pub(in crate::engines) fn received(&self) -> &[u8] {
        &self.input[self.start..self.end]
    }

    /// Takes a message with a head and a body of so many bytes; where its body lies, or `None` where it has not come whole.
    #[inline]
    pub(in crate::engines) fn take(&mut self, head: usize, body: usize) -> Option<Range<usize>> {
        let from = self.start + head;
        let place = from..from.checked_add(body).filter(|end| *end <= self.end)?;
        self.start = place.end;
        Some(place)
    }

    /// Takes these bytes where they come next; tells whether they did.
    #[inline]
    pub(in crate::engines) fn take_same(&mut self, bytes: &[u8]) -> bool {
        let same = self.received().starts_with(bytes);
        self.start += if same { bytes.len() } else { 0 };
        same
    }

    /// Takes a message that came in parts, each behind a head, and moves their bodies of so many bytes together; where they lie then.
    pub(in crate::engines) fn take_parts(&mut self, head: usize, parts: &[usize]) -> Option<Range<usize>> {
        let whole: usize = parts.iter().map(|body| head + body).sum();
        if whole > self.end - self.start {
            return None;
        }
        let from = self.start + head;
        let (mut next, mut end) = (self.start, from);
        for body in parts {
            let place = next + head..next + head + body;
            next = place.end;
            self.input.copy_within(place, end);
            end += body;
        }
        self.start = next;
        Some(from..end)
    }

    /// The bytes of a body, until more is received.
    #[inline]
    pub(in crate::engines) fn body(&self, place: &Range<usize>) -> &[u8] {
        &self.input[place.clone()]
    }

    /// Receives more, waiting for it.
    pub(in crate::engines) async fn receive(&mut self) -> Result<(), Error> {
        self.make_room();
        let count = self.socket.read(&mut self.input[self.end..]).await;
        count.and_then(|count| self.add(Some(count))).map_err(|error| self.lose(&error))
    }

    /// Receives what is there, without waiting.
    pub(in crate::engines) fn look(&mut self) -> io::Result<()> {
        self.make_room();
        let count = self.socket.try_read(&mut self.input[self.end..]);
        let looked = count.and_then(|count| self.add(count));
        self.lost |= looked.is_err();
        looked
    }

    /// Adds bytes received; `Some(0)` means the end of the stream.
    fn add(&mut self, count: Option<usize>) -> io::Result<()> {
        self.end += count.unwrap_or(0);
        if count == Some(0) { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Makes room behind what has been received.
    fn make_room(&mut self) {
        if self.start > 0 {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.input.len() {
            self.input.resize(2 * self.input.len(), 0);
        }
    }
}

/// The end of a connection that was open.
fn closed() -> Error {
    Error::new(ErrorClass::ConnectionLost, "", "connection closed")
}
