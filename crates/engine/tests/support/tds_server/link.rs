//! Bytes to and from the client: packets, TLS inside of packets, TLS below them, and pieces.

use super::behaviour::{Encrypts, Misbehaviour, Setup};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// The connection of a client.
pub(super) struct Link {
    stream: TcpStream,
    tls: Option<ServerConnection>,
    misbehaviour: Misbehaviour,
    sent: usize,
    pub(super) packet_size: usize,
}

/// A message: its type, whether it says to be ignored, and what it holds.
pub(super) struct Message {
    pub(super) kind: u8,
    pub(super) body: Vec<u8>,
}

impl Link {
    pub(super) fn new(stream: TcpStream, misbehaviour: Misbehaviour) -> Self {
        stream.set_nodelay(true).expect("it is a socket");
        Self { stream, tls: None, misbehaviour, sent: 0, packet_size: 4096 }
    }

    fn read_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
        match &mut self.tls {
            Some(tls) => rustls::Stream::new(tls, &mut self.stream).read_exact(into),
            None => self.stream.read_exact(into),
        }
    }

    /// The next message, in however many packets; each but the last has to be full, and their numbers follow one another. The first has any:
    /// servers do not look at it.
    pub(super) fn receive(&mut self) -> io::Result<Message> {
        let mut body = Vec::new();
        let mut before = None::<u8>;
        loop {
            let mut head = [0; 8];
            self.read_exact(&mut head)?;
            let [kind, status, high, low, _, _, told, _] = head;
            let length = usize::from(u16::from_be_bytes([high, low]));
            assert!(before.is_none_or(|before| told == before.wrapping_add(1)), "packets of a message are numbered");
            before = Some(told);
            assert!(
                length >= 8 && length <= self.packet_size,
                "a packet of {length} bytes where {} are agreed",
                self.packet_size
            );
            let start = body.len();
            body.resize(start + length - 8, 0);
            self.read_exact(&mut body[start..])?;
            if status & 1 == 1 {
                return Ok(Message { kind, body });
            }
            assert_eq!(length, self.packet_size, "only the last packet is not full");
        }
    }

    /// The server's port.
    pub(super) fn port(&self) -> u16 {
        self.stream.local_addr().expect("it is connected").port()
    }

    /// Whether the client has sent something, or ends.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        self.stream.peek(&mut [0]).map(drop)
    }

    /// Sends a message in packets.
    pub(super) fn send(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let room = self.packet_size - 8;
        let mut out = Vec::new();
        let count = body.len().div_ceil(room).max(1);
        for number in 0..count {
            let part = &body[number * room..body.len().min((number + 1) * room)];
            let status = u8::from(number + 1 == count);
            out.extend([kind, status]);
            out.extend((part.len() as u16 + 8).to_be_bytes());
            out.extend([0, 51, (number as u8).wrapping_add(1), 0]);
            out.extend(part);
        }
        self.write(&out)
    }

    /// Sends bytes as they are, in pieces, up to where the connection ends.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = self.misbehaviour.ends_after.map_or(usize::MAX, |end| end.saturating_sub(self.sent));
        let bytes = &bytes[..bytes.len().min(left)];
        for piece in bytes.chunks(self.misbehaviour.piece.unwrap_or(usize::MAX)) {
            match &mut self.tls {
                Some(tls) => {
                    let mut stream = rustls::Stream::new(tls, &mut self.stream);
                    stream.write_all(piece)?;
                    stream.flush()?;
                }
                None => self.stream.write_all(piece)?,
            }
        }
        self.sent += bytes.len();
        if bytes.len() == left { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }

    /// Shakes hands: below the packets where that is strict, else inside of them.
    pub(super) fn shake(&mut self, setup: &Setup) -> io::Result<()> {
        let mut tls = ServerConnection::new(Arc::new(config(setup))).map_err(io::Error::other)?;
        if setup.encrypts == Encrypts::Strict {
            tls.complete_io(&mut self.stream)?;
        }
        while tls.is_handshaking() {
            let message = self.receive()?;
            assert_eq!(message.kind, 18, "the handshake travels in packets of the first kind");
            let mut rest = &message.body[..];
            while !rest.is_empty() {
                tls.read_tls(&mut rest)?;
                tls.process_new_packets().map_err(io::Error::other)?;
            }
            let mut out = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut out)?;
            }
            if !out.is_empty() {
                self.send(18, &out)?;
            }
        }
        self.tls = Some(tls);
        Ok(())
    }

    /// Encrypts nothing that follows.
    pub(super) fn in_the_clear(&mut self) {
        self.tls = None;
    }

    /// What the client offered for TLS to carry.
    pub(super) fn protocol(&self) -> Option<Vec<u8>> {
        self.tls.as_ref()?.alpn_protocol().map(<[u8]>::to_vec)
    }
}

fn config(setup: &Setup) -> ServerConfig {
    let (certificate, key) = setup.identity.as_ref().expect("a certificate");
    let chain =
        CertificateDer::pem_file_iter(certificate).expect("a file").map(|one| one.expect("a certificate")).collect();
    let key = PrivateKeyDer::from_pem_file(key).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let mut config = builder.with_no_client_auth().with_single_cert(chain, key).expect("they fit");
    config.alpn_protocols = vec![b"tds/8.0".to_vec()];
    config
}
