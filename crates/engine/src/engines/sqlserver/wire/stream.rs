//! The bytes under a connection: a socket, with TLS of our own where the server wraps its handshake into packets (TDS 7.4), or TLS of the
//! socket (TDS 8.0). Knows nothing of packets.

use crate::engines::wire::Socket;
use rustls::ClientConnection;
use std::io::{self, Read as _, Write as _};

/// Bytes read from the socket at once.
const PIECE: usize = 16 << 10;

/// A stream of bytes to the server.
#[derive(Debug)]
pub(super) struct ByteStream {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
    /// Encrypted bytes to send, and how many of them are sent.
    sealed: Vec<u8>,
    sent: usize,
    /// Encrypted bytes received.
    received: Vec<u8>,
}

impl ByteStream {
    /// A stream without encryption of ours.
    pub(super) fn new(socket: Socket) -> Self {
        Self { socket, tls: None, sealed: Vec::new(), sent: 0, received: Vec::new() }
    }

    /// Encrypts all bytes that follow, or, with `None`, no longer.
    pub(super) fn encrypt(&mut self, tls: Option<Box<ClientConnection>>) {
        if tls.is_some() {
            self.received = vec![0; PIECE];
        }
        self.tls = tls;
    }

    /// Sends what fits without waiting.
    pub(super) fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.tls.is_none() {
            return self.socket.try_write(bytes);
        }
        self.try_send_sealed()?;
        let Some(tls) = &mut self.tls else { return Ok(0) };
        let count = tls.writer().write(bytes)?;
        while tls.wants_write() {
            tls.write_tls(&mut self.sealed)?;
        }
        match self.try_send_sealed() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    /// Sends all that is encrypted and waits.
    fn try_send_sealed(&mut self) -> io::Result<()> {
        while self.sent < self.sealed.len() {
            self.sent += self.socket.try_write(&self.sealed[self.sent..])?;
        }
        self.sealed.clear();
        self.sent = 0;
        Ok(())
    }

    /// Sends what `try_write` took and could not send at once.
    pub(super) async fn drain(&mut self) -> io::Result<()> {
        loop {
            match self.try_send_sealed() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.socket.readable_or_writable().await?,
                done => return done,
            }
        }
    }

    /// Waits until the socket can be read or written.
    pub(super) async fn readable_or_writable(&mut self) -> io::Result<()> {
        self.socket.readable_or_writable().await
    }

    /// Receives at least one byte, zero at the end.
    pub(super) async fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(tls) = &mut self.tls else { return self.socket.read(into).await };
            match tls.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            let count = self.socket.read(&mut self.received).await?;
            if count == 0 {
                return Ok(0);
            }
            open(tls, &self.received[..count])?;
        }
    }

    /// Receives what is there without waiting; `None` when nothing is.
    pub(super) fn try_read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            let Some(tls) = &mut self.tls else { return self.socket.try_read(into) };
            match tls.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(0)),
                read => return read.map(Some),
            }
            match self.socket.try_read(&mut self.received)? {
                Some(count) if count > 0 => open(tls, &self.received[..count])?,
                other => return Ok(other),
            }
        }
    }
}

/// Decrypts bytes.
pub(super) fn open(tls: &mut ClientConnection, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        tls.read_tls(&mut bytes)?;
        tls.process_new_packets().map_err(io::Error::other)?;
    }
    Ok(())
}
