//! Start-up and authentication by the driver on our socket, so that every method that it knows works, and works as before.
//!
//! The driver borrows the socket and gives it back when the server is ready for queries. It is given one message at a time, so that
//! it cannot take bytes that come after that.

use crate::contract::Error;
use crate::engines::postgresql::failure::failed;
use crate::engines::wire::Socket;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{Config, NoTls};

/// Bytes before a message's body: its tag and its length.
const HEAD: usize = 5;

/// Logs on. The socket is at a message's beginning afterwards.
pub(super) async fn log_on(socket: &mut Socket, config: &Config) -> Result<(), Error> {
    let mut borrowed = OneByOne { socket, head: [0; HEAD], read: 0, given: 0, left: 0 };
    let (client, connection) = config.connect_raw(&mut borrowed, NoTls).await.map_err(failed)?;
    // Neither has sent anything since, and neither says goodbye when it is dropped without having been polled.
    drop((client, connection));
    Ok(())
}

/// Lets a reader have at most the rest of one message at a time.
struct OneByOne<'s> {
    socket: &'s mut Socket,
    head: [u8; HEAD],
    /// Bytes of the head that have been read.
    read: usize,
    /// Bytes of the head that have been given away.
    given: usize,
    /// Bytes of the body that have not been read.
    left: usize,
}

impl OneByOne<'_> {
    /// Reads at most so many bytes.
    fn poll_some(&mut self, context: &mut Context<'_>, most: usize) -> Poll<io::Result<([u8; 512], usize)>> {
        let mut bytes = [0; 512];
        let room = most.min(bytes.len());
        let mut buffer = ReadBuf::new(&mut bytes[..room]);
        ready!(Pin::new(&mut *self.socket).poll_read(context, &mut buffer))?;
        let count = buffer.filled().len();
        Poll::Ready(Ok((bytes, count)))
    }
}

impl AsyncRead for OneByOne<'_> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.left == 0 && this.given == this.read {
            (this.read, this.given) = (0, 0);
        }
        while this.left == 0 && this.read < HEAD {
            let (bytes, count) = ready!(this.poll_some(context, HEAD - this.read))?;
            if count == 0 {
                return Poll::Ready(Ok(()));
            }
            this.head[this.read..this.read + count].copy_from_slice(&bytes[..count]);
            this.read += count;
        }
        if this.given < this.read {
            let count = into.remaining().min(this.read - this.given);
            into.put_slice(&this.head[this.given..this.given + count]);
            this.given += count;
            if this.given == HEAD {
                let length = u32::from_be_bytes([this.head[1], this.head[2], this.head[3], this.head[4]]);
                // The length counts itself.
                this.left = (length as usize).saturating_sub(4);
            }
            return Poll::Ready(Ok(()));
        }
        let (bytes, count) = ready!(this.poll_some(context, this.left.min(into.remaining())))?;
        into.put_slice(&bytes[..count]);
        this.left -= count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for OneByOne<'_> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.get_mut().socket).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().socket).poll_shutdown(context)
    }
}
