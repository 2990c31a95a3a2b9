//! The socket under a connection: TCP, with TLS where that is asked, or a Unix socket, opened as the driver's configuration says. Knows nothing of messages.

use crate::contract::{Error, ErrorClass};
use socket2::{SockRef, TcpKeepalive};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio_postgres::Config;
use tokio_rustls::client::TlsStream;
use tokio_postgres::config::{Host, LoadBalanceHosts};

/// A connected socket.
#[derive(Debug)]
pub(in crate::engines::postgresql) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    /// TCP with TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

/// One place to try.
#[derive(Debug, Clone)]
pub(super) enum Place {
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
    /// Sends what fits without waiting.
    pub(super) fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
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
    pub(super) async fn readable_or_writable(&self) -> io::Result<()> {
        let both = Interest::READABLE | Interest::WRITABLE;
        match self {
            Self::Tcp(stream) => stream.ready(both).await,
            Self::Unix(stream) => stream.ready(both).await,
            Self::Tls(stream) => stream.get_ref().0.ready(both).await,
        }
        .map(|_| ())
    }

    /// Receives what is there without waiting; `None` when nothing is.
    pub(super) fn try_read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
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
    pub(super) async fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(into);
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_read(context, &mut buffer)).await?;
        Ok(buffer.filled().len())
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, into),
            Self::Unix(stream) => Pin::new(stream).poll_read(context, into),
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
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Self::Unix(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

/// What a poll gives at once; what would have to wait would block.
fn now<T>(poll: impl FnOnce(&mut Context<'_>) -> Poll<io::Result<T>>) -> io::Result<T> {
    match poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

/// The places of a configuration in the order in which they are tried.
pub(super) fn places(config: &Config) -> Result<Vec<Place>, Error> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = hosts.len().max(addresses.len());
    if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len() {
        let text = format!("{} hosts but {} host addresses are given", hosts.len(), addresses.len());
        return Err(Error::other(text));
    }
    if ports.len() > 1 && ports.len() != count {
        return Err(Error::other(format!("{} ports but {count} hosts are given", ports.len())));
    }
    let port = |index: usize| ports.get(index).or(ports.first()).copied().unwrap_or(5432);
    let place = |index: usize| match (addresses.get(index), hosts.get(index)) {
        (Some(address), host) => {
            let name = match host {
                Some(Host::Tcp(name)) => name.clone(),
                _ => address.to_string(),
            };
            Place::Tcp { address: address.to_string(), port: port(index), name }
        }
        (None, Some(Host::Unix(folder))) => Place::Unix(folder.join(format!(".s.PGSQL.{}", port(index)))),
        (None, Some(Host::Tcp(name))) => Place::Tcp { address: name.clone(), port: port(index), name: name.clone() },
        (None, None) => unreachable!("the count is that of the longer list"),
    };
    let mut places: Vec<Place> = (0..count).map(place).collect();
    if config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        // One draw from the standard library's random keys is enough to begin somewhere else each time.
        let draw = RandomState::new().build_hasher().finish();
        let first = usize::try_from(draw % places.len().max(1) as u64).expect("below the count");
        places.rotate_left(first);
    }
    Ok(places)
}

/// Opens a socket to a place; tries every address of a name.
pub(super) async fn open(place: &Place, config: &Config) -> Result<Socket, Error> {
    let patience = config.get_connect_timeout().copied();
    let opened = match place {
        Place::Unix(path) => in_time(patience, UnixStream::connect(path)).await.map(Socket::Unix),
        Place::Tcp { address, port, .. } => open_tcp(address, *port, patience).await.and_then(|stream| prepared(stream, config)),
    };
    opened.map_err(|error| Error::new(ErrorClass::ConnectionLost, "", format!("error connecting to server: {error}")))
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

/// Sets what the configuration says of a TCP socket.
fn prepared(stream: TcpStream, config: &Config) -> io::Result<Socket> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    if let Some(patience) = config.get_tcp_user_timeout() {
        socket.set_tcp_user_timeout(Some(*patience))?;
    }
    if config.get_keepalives() {
        let mut keepalive = TcpKeepalive::new().with_time(config.get_keepalives_idle());
        if let Some(interval) = config.get_keepalives_interval() {
            keepalive = keepalive.with_interval(interval);
        }
        if let Some(retries) = config.get_keepalives_retries() {
            keepalive = keepalive.with_retries(retries);
        }
        socket.set_tcp_keepalive(&keepalive)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: &str, expected: Option<&[&str]>) {
        let found = places(&config.parse().expect("a configuration")).ok();
        let text = |place: &Place| match place {
            Place::Tcp { address, port, .. } => format!("{address} {port}"),
            Place::Unix(path) => path.display().to_string(),
        };
        let found: Option<Vec<String>> = found.map(|places| places.iter().map(text).collect());
        assert_eq!(found, expected.map(|list| list.iter().map(|&place| place.to_owned()).collect()), "{config}");
    }

    #[test]
    fn hosts_addresses_and_ports_make_places() {
        check("host=a,b port=1,2", Some(&["a 1", "b 2"]));
        check("host=a,/run/pg port=7", Some(&["a 7", "/run/pg/.s.PGSQL.7"]));
        check("host=a hostaddr=10.0.0.1", Some(&["10.0.0.1 5432"]));
        check("hostaddr=10.0.0.1,10.0.0.2", Some(&["10.0.0.1 5432", "10.0.0.2 5432"]));
        check("host=a,b port=1,2,3", None);
        check("host=a,b hostaddr=10.0.0.1", None);
    }
}
