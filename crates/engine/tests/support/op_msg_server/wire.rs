//! Messages on a socket: requests taken apart, replies put together. Knows OP_MSG, and the older OP_QUERY with which drivers greet.

use super::raw;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Poll, ready};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;

const OP_REPLY: u32 = 1;
const OP_QUERY: u32 = 2004;
const OP_MSG: u32 = 2013;

/// A request: its command and the sequences of documents beside it.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) id: u32,
    kind: u32,
    pub(super) body: &'a [u8],
    pub(super) sequences: Vec<(&'a str, Vec<&'a [u8]>)>,
}

impl<'a> Request<'a> {
    /// The name of the command.
    pub(super) fn name(&self) -> &'a str {
        raw::elements(self.body).next().expect("a command").name
    }

    /// The documents of this name, from a sequence or an array.
    pub(super) fn documents(&self, name: &str) -> Vec<&'a [u8]> {
        let sequence = self.sequences.iter().find(|(known, _)| *known == name).map(|(_, all)| all.clone());
        sequence.or_else(|| raw::get(self.body, name).map(|array| raw::documents(array.value))).unwrap_or_default()
    }

    /// Takes a complete message apart.
    pub(super) fn parse(message: &'a [u8]) -> Self {
        let number = |at: usize| raw::length(&message[at..]) as u32;
        let (id, kind) = (number(4), number(12));
        if kind == OP_QUERY {
            let name = message[20..].iter().position(|byte| *byte == 0).expect("a name ends");
            return Self { id, kind, body: &message[20 + name + 1 + 8..], sequences: Vec::new() };
        }
        assert_eq!(kind, OP_MSG, "a client of today sends OP_MSG");
        assert_eq!(number(16) & !(1 << 16), 0, "no checksum, nothing more to come");
        let (mut rest, mut body, mut sequences) = (&message[20..], None, Vec::new());
        while let Some((section, bytes)) = rest.split_first() {
            let (this, others) = bytes.split_at(raw::length(bytes));
            match section {
                0 => body = Some(this),
                1 => sequences.push(sequence(this)),
                kind => panic!("a section of kind {kind}"),
            }
            rest = others;
        }
        Self { id, kind, body: body.expect("a command"), sequences }
    }

    /// The message that answers it with a document.
    pub(super) fn reply(&self, document: &[u8]) -> Vec<u8> {
        let (kind, head): (u32, &[u8]) = match self.kind {
            // Flags (able to wait), cursor, first document, one document.
            OP_QUERY => (OP_REPLY, &[8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
            // Flags, section of kind 0.
            _ => (OP_MSG, &[0, 0, 0, 0, 0]),
        };
        let length = u32::try_from(16 + head.len() + document.len()).expect("a short message");
        let header = [length, 1, self.id, kind].map(u32::to_le_bytes).concat();
        [&header[..], head, document].concat()
    }
}

fn sequence(bytes: &[u8]) -> (&str, Vec<&[u8]>) {
    let end = bytes[4..].iter().position(|byte| *byte == 0).expect("a name ends");
    let (mut rest, mut all) = (&bytes[4 + end + 1..], Vec::new());
    while !rest.is_empty() {
        let (one, others) = rest.split_at(raw::length(rest));
        all.push(one);
        rest = others;
    }
    (std::str::from_utf8(&bytes[4..4 + end]).expect("UTF-8"), all)
}

/// Reads the next message into `input`; `None` when the client has gone.
pub(super) async fn receive(stream: &mut TcpStream, input: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let mut filled = 0;
    input.resize(input.len().max(8192), 0);
    loop {
        let free = &mut input[filled..];
        let read = poll_fn(|context| {
            let mut buffer = ReadBuf::new(free);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer))?;
            Poll::Ready(io::Result::Ok(buffer.filled().len()))
        });
        match read.await? {
            0 => return Ok(None),
            bytes => filled += bytes,
        }
        if filled < 16 {
            continue;
        }
        let length = raw::length(input);
        assert!(filled <= length, "one request at a time");
        if filled == length {
            return Ok(Some(length));
        }
        input.resize(input.len().max(length + 1), 0);
    }
}

/// Writes all bytes.
pub(super) async fn send(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    let mut sent = 0;
    poll_fn(|context| {
        while sent < bytes.len() {
            sent += ready!(Pin::new(&mut *stream).poll_write(context, &bytes[sent..]))?;
        }
        Poll::Ready(Ok(()))
    })
    .await
}
