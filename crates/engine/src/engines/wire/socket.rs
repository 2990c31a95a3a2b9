//! The socket under a connection: TCP, with TLS where that is asked, or a Unix socket. Knows nothing of messages.

use super::local::LocalSocket;
use crate::contract::{Error, ErrorClass, note_reached};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio::task::unconstrained;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Bytes that the address of a socket may have, with its file name.
const MOST_SOCKET_BYTES: usize = 107;

/// A connected socket.
#[derive(Debug)]
pub(in crate::engines) enum Socket {
    Tcp(TcpStream),
    Unix(LocalSocket),
    /// TCP with TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

/// One place to try.
#[derive(Debug, Clone)]
pub(in crate::engines) enum Place {
    /// A port of a host.
    Tcp {
        /// Its name or address.
        address: String,
        port: u16,
        /// Name for which its certificate is made out.
        name: String,
    },
    /// The socket's file.
    Unix(PathBuf),
}

impl Socket {
    /// A Unix socket that is connected.
    pub(in crate::engines) fn unix(stream: UnixStream) -> io::Result<Self> {
        LocalSocket::new(stream).map(Self::Unix)
    }

    /// Asks for room for much that is sent. A Unix socket's does not grow by itself, as one of TCP does.
    pub(in crate::engines) fn widen(&self) {
        if let Self::Unix(stream) = self {
            stream.widen();
        }
    }

    /// Sends what fits without waiting.
    pub(in crate::engines) fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Unix(stream) => stream.try_write(bytes),
            Self::Tls(stream) => {
                let written = now(|context| Pin::new(&mut *stream).poll_write(context, bytes))?;
                // What the kernel does not take now goes when somebody reads.
                match now(|context| Pin::new(&mut *stream).poll_flush(context)) {
                    Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
                    _ => Ok(written),
                }
            }
        }
    }

    /// Waits until the socket can be read or written.
    pub(in crate::engines) async fn readable_or_writable(&mut self) -> io::Result<()> {
        let both = Interest::READABLE | Interest::WRITABLE;
        match self {
            Self::Tcp(stream) => stream.ready(both).await,
            Self::Unix(stream) => return std::future::poll_fn(|context| stream.poll_either(context)).await,
            Self::Tls(stream) => stream.get_ref().0.ready(both).await,
        }
        .map(|_| ())
    }

    /// Receives what is there without waiting; `None` when nothing is.
    pub(in crate::engines) fn try_read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let read = match self {
            Self::Tcp(stream) => stream.try_read(into),
            Self::Unix(stream) => stream.try_read(into),
            Self::Tls(_) => {
                let mut buffer = ReadBuf::new(into);
                let read = now(|context| Pin::new(&mut *self).poll_read(context, &mut buffer));
                read.map(|()| buffer.filled().len())
            }
        };
        match read {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            read => read.map(Some),
        }
    }

    /// Receives at least one byte, zero at the end. Unlike `try_read` in a loop it asks the kernel once when less comes than has room.
    pub(in crate::engines) async fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(into);
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_read(context, &mut buffer)).await?;
        Ok(buffer.filled().len())
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, into),
            Self::Unix(stream) => stream.poll_read(context, into),
            Self::Tls(stream) => {
                // Whoever waits for an answer has to have sent what it answers.
                if let Poll::Ready(Err(error)) = Pin::new(&mut *stream).poll_flush(context) {
                    return Poll::Ready(Err(error));
                }
                match Pin::new(stream).poll_read(context, into) {
                    // A server that ends does not always say goodbye.
                    Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
                    other => other,
                }
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => stream.poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Self::Unix(_) => Poll::Ready(Ok(())),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Unix(stream) => Poll::Ready(stream.shut_down()),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

/// What a poll gives at once; what would have to wait would block. The runtime's budget of a task does not count: once it is spent every poll would
/// have to wait, while the socket is ready, and whoever tries again would do so for ever.
fn now<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<io::Result<T>>) -> io::Result<T> {
    let polled = pin!(unconstrained(std::future::poll_fn(|context| poll(context))));
    match polled.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

/// How a socket is opened and kept.
#[derive(Debug, Clone, Default)]
pub(in crate::engines) struct SocketOptions {
    /// An attempt takes no longer.
    pub(in crate::engines) patience: Option<Duration>,
    /// What is sent and not acknowledged for so long ends the connection.
    pub(in crate::engines) user_timeout: Option<Duration>,
    /// How a silent connection is asked whether it lives.
    pub(in crate::engines) keepalive: Option<TcpKeepalive>,
}

/// Opens a socket to a place; tries every address of a name.
pub(in crate::engines) async fn open(place: &Place, options: &SocketOptions) -> Result<Socket, Error> {
    let patience = options.patience;
    let opened = match place {
        Place::Unix(path) => open_unix(path, patience).await.and_then(Socket::unix),
        Place::Tcp { address, port, .. } => {
            open_tcp(address, *port, patience).await.and_then(|stream| prepared(stream, options))
        }
    };
    let opened = opened
        .map_err(|error| Error::new(ErrorClass::ConnectionLost, "", format!("error connecting to server: {error}")))?;
    note_reached();
    Ok(opened)
}

/// A path that is too long for an address is reached by our handle on its folder.
async fn open_unix(path: &Path, patience: Option<Duration>) -> io::Result<UnixStream> {
    let (Some(folder), Some(name), true) =
        (path.parent(), path.file_name(), path.as_os_str().len() > MOST_SOCKET_BYTES)
    else {
        return in_time(patience, UnixStream::connect(path)).await;
    };
    let handle = File::open(folder)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd())).join(name);
    in_time(patience, UnixStream::connect(short)).await
}

async fn open_tcp(name: &str, port: u16, patience: Option<Duration>) -> io::Result<TcpStream> {
    let mut outcome = Err(io::Error::new(io::ErrorKind::InvalidInput, "the name resolves to no address"));
    for address in lookup_host((name, port)).await? {
        outcome = in_time(patience, TcpStream::connect(address)).await;
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Sets what the options say of a TCP socket.
fn prepared(stream: TcpStream, options: &SocketOptions) -> io::Result<Socket> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    if options.user_timeout.is_some() {
        socket.set_tcp_user_timeout(options.user_timeout)?;
    }
    if let Some(keepalive) = &options.keepalive {
        socket.set_tcp_keepalive(keepalive)?;
    }
    Ok(Socket::Tcp(stream))
}

async fn in_time<T>(patience: Option<Duration>, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match patience {
        None => work.await,
        Some(patience) => tokio::time::timeout(patience, work)
            .await
            .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "connection timed out"))),
    }
}

/// Shakes hands for TLS on a connection that the server has agreed to encrypt; `name` is that of its certificate.
pub(in crate::engines) async fn encrypted(
    stream: TcpStream,
    name: &str,
    client: ClientConfig,
) -> Result<Socket, Error> {
    let name = ServerName::try_from(name.to_owned())
        .map_err(|_| Error::other(format!("{name:?} is not a valid name for a certificate")))?;
    let shaken = TlsConnector::from(Arc::new(client)).connect(name, stream).await;
    let lost = |error| {
        Error::new(ErrorClass::ConnectionLost, "", format!("the TLS handshake with the server failed: {error}"))
    };
    shaken.map(|stream| Socket::Tls(Box::new(stream))).map_err(lost)
}
