//! Where a relay listens and where it leads to: a socket's file or a host. Long paths are reached through a handle of their folder.

use proofload_engine::SocketPlace;
use proofload_model::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

/// How long a host may take to answer: one that a network has cut off says nothing, and the standby tries again.
const CONNECTS_WITHIN: Duration = Duration::from_secs(3);

/// An open end of a connection.
#[derive(Debug)]
pub(super) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Connects.
    pub(super) fn connect(to: &SocketPlace) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::new(format!("failed to connect the relay to {to}: {error}"));
        match to {
            SocketPlace::File(path) => {
                by_handle(path, |path| UnixStream::connect(path)).map(Self::Unix).map_err(failed)
            }
            SocketPlace::Host { host, port } => {
                let mut places = (host.as_str(), *port).to_socket_addrs().map_err(failed)?;
                let place = places.next().ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
                let stream = TcpStream::connect_timeout(&place, CONNECTS_WITHIN).map_err(failed)?;
                stream.set_nodelay(true).map_err(failed)?;
                Ok(Self::Tcp(stream))
            }
        }
    }

    /// Another handle of the same end.
    pub(super) fn another(&self) -> std::io::Result<Self> {
        match self {
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
        }
    }

    /// Ends a direction, or both. What is closed already stays so.
    pub(super) fn shut(&self, how: Shutdown) {
        let _closed = match self {
            Self::Unix(stream) => stream.shutdown(how),
            Self::Tcp(stream) => stream.shutdown(how),
        };
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

/// A place at which connections are taken.
#[derive(Debug)]
pub(super) enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens at a place; at a socket's file in the place of one that is left from before.
    pub(super) fn at(place: &SocketPlace) -> Result<Self, Error> {
        let listening = match place {
            SocketPlace::File(path) => {
                let _left = std::fs::remove_file(path);
                by_handle(path, |path| UnixListener::bind(path)).map(Self::Unix)
            }
            SocketPlace::Host { host, port } => TcpListener::bind((host.as_str(), *port)).map(Self::Tcp),
        };
        listening.map_err(|error| Error::new(format!("failed to listen at {place} with the relay: {error}")))
    }

    /// Waits for the next connection.
    pub(super) fn accept(&self) -> std::io::Result<Stream> {
        match self {
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

/// Does something with a path that is short however long the folder's is.
fn by_handle<T>(path: &Path, with: impl FnOnce(&Path) -> std::io::Result<T>) -> std::io::Result<T> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return with(path) };
    let folder = File::open(folder)?;
    with(&Path::new(&format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}
