//! One owned connection: sends a message, waits for its reply. One request at a time; after a fault it is of no more use.
//!
//! Hot: one write and one read per exchange, both tried before the runtime is asked to wait. Allocates nothing once its two
//! pieces of memory have grown.

use super::super::bson::{Document, Writer};
use super::super::failure::{lost, told};
use super::message;
use crate::contract::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;

/// Memory for replies at the start, bytes: a document of YCSB's default shape fits, with room to see that no more comes.
const INPUT_BYTES: usize = 4096;

/// A connection to one server.
#[derive(Debug)]
pub(in super::super) struct Connection {
    stream: TcpStream,
    /// Memory for a reply, of which the first `filled` bytes have arrived.
    input: Vec<u8>,
    filled: usize,
    /// The message to send.
    pub(super) output: Vec<u8>,
    request: i32,
    usable: bool,
    /// Longest wait for a reply.
    pub(in super::super) patience: Duration,
}

impl Connection {
    /// Connects; says nothing yet.
    pub(super) async fn connect(host: &str, port: u16, patience: Duration) -> Result<Self, Error> {
        let connecting = tokio::time::timeout(patience, TcpStream::connect((host, port))).await;
        let stream = connecting
            .map_err(|_| lost(format!("no connection within {patience:?}")))?
            .map_err(|error| lost(format!("{error}; is the server running, and are host and port correct?")))?;
        stream.set_nodelay(true).map_err(|error| lost(format!("failed to set TCP_NODELAY: {error}")))?;
        let (input, output) = (vec![0; INPUT_BYTES], Vec::new());
        Ok(Self { stream, input, filled: 0, output, request: 0, usable: true, patience })
    }

    /// Whether bytes arrived for the last request.
    pub(super) fn has_heard(&self) -> bool {
        self.filled > 0
    }

    /// Writes a command of the database into the memory for sending.
    #[inline]
    pub(super) fn write(&mut self, database: &str, fill: impl FnOnce(&mut Writer<'_>)) {
        self.request = self.request.wrapping_add(1);
        message::begin(&mut self.output, self.request, |command| {
            fill(command);
            command.text("$db", database);
        });
    }

    /// Runs a command, which must succeed, for the cold path.
    pub(in super::super) async fn run(
        &mut self,
        database: &str,
        fill: impl FnOnce(&mut Writer<'_>),
    ) -> Result<Document<'_>, Error> {
        self.write(database, fill);
        self.exchange().await
    }

    /// Sends what was written and returns the reply, which says `ok`.
    #[inline]
    pub(super) async fn exchange(&mut self) -> Result<Document<'_>, Error> {
        if !std::mem::replace(&mut self.usable, false) {
            return Err(lost("an earlier operation lost the connection or was given up while it waited"));
        }
        message::finish(&mut self.output);
        self.filled = 0;
        let patience = self.patience;
        let Ok(received) = tokio::time::timeout(patience, self.round_trip()).await else {
            return Err(lost(format!("no answer within {patience:?} (engine.timeout)")));
        };
        let length = received?;
        let reply = message::reply(&self.input[..length], self.request)?;
        self.usable = true;
        if reply.get("ok").is_some_and(|ok| ok.is_true()) { Ok(reply) } else { Err(told(reply)) }
    }

    async fn round_trip(&mut self) -> Result<usize, Error> {
        self.send().await?;
        self.receive().await
    }

    async fn send(&mut self) -> Result<(), Error> {
        let (stream, output, mut sent) = (&mut self.stream, &self.output, 0);
        let written = poll_fn(|context| {
            while sent < output.len() {
                match ready!(Pin::new(&mut *stream).poll_write(context, &output[sent..])) {
                    Ok(0) => return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into())),
                    Ok(bytes) => sent += bytes,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(()))
        });
        written.await.map_err(|error| lost(format!("failed to send {} bytes: {error}", self.output.len())))
    }

    /// Reads one message; returns its length.
    async fn receive(&mut self) -> Result<usize, Error> {
        loop {
            self.read_some().await?;
            let Some(length) = message::length(&self.input[..self.filled])? else { continue };
            if self.filled == length {
                return Ok(length);
            }
            if self.filled > length {
                return Err(lost(format!(
                    "{} bytes follow the reply: the connection is out of sync",
                    self.filled - length
                )));
            }
            if self.input.len() <= length {
                // One byte more than the message, so that a read which fills less tells the runtime that no more is there.
                self.input.resize(length + 1, 0);
            }
        }
    }

    async fn read_some(&mut self) -> Result<(), Error> {
        let (stream, free) = (&mut self.stream, &mut self.input[self.filled..]);
        let read = poll_fn(|context| {
            let mut buffer = ReadBuf::new(free);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer))?;
            Poll::Ready(Ok::<_, std::io::Error>(buffer.filled().len()))
        });
        match read.await {
            Ok(0) if self.filled == 0 => Err(lost("the server closed the connection without an answer")),
            Ok(0) => Err(lost(format!(
                "the server closed the connection in the middle of an answer, after {} bytes that start with {:?}",
                self.filled,
                String::from_utf8_lossy(&self.input[..self.filled.min(32)])
            ))),
            Ok(bytes) => {
                self.filled += bytes;
                Ok(())
            }
            Err(error) => Err(lost(format!("failed to receive an answer: {error}"))),
        }
    }
}
