//! A Unix socket that is watched for what comes. The kernel says of one each time that its peer has taken something, which would wake a client
//! thread once more for each flight; so nobody listens to that but who waits for room. Knows nothing of messages.

use socket2::SockRef;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll, ready};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, ReadBuf};

/// Room for what is sent that is asked for where much is. The kernel takes twice as much, for its own needs.
const WIDE_BYTES: usize = 1 << 20;

/// A connected Unix socket of a runtime.
#[derive(Debug)]
pub(in crate::engines) struct LocalSocket {
    stream: AsyncFd<UnixStream>,
    /// The same socket while somebody waits for room.
    full: Option<AsyncFd<UnixStream>>,
}

impl LocalSocket {
    /// Takes over a connected socket.
    pub(in crate::engines) fn new(stream: tokio::net::UnixStream) -> io::Result<Self> {
        Ok(Self { stream: watched(stream.into_std()?, Interest::READABLE)?, full: None })
    }

    /// Asks the kernel for more room for what is sent, for whoever sends much: each time that there is no more, and each time that there is again,
    /// costs a wait. It gives what its limit allows.
    pub(super) fn widen(&self) {
        // Without more room all goes as before.
        let _ = SockRef::from(self.stream.get_ref()).set_send_buffer_size(WIDE_BYTES);
    }

    /// Sends what fits without waiting.
    pub(super) fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.stream.get_ref().write(bytes)?;
        // There is room: nobody waits for it any more.
        self.full = None;
        Ok(sent)
    }

    /// Receives what is there without waiting.
    pub(super) fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.try_io(Interest::READABLE, |mut stream| stream.read(into))
    }

    /// Receives at least one byte, zero at the end.
    #[inline]
    pub(super) fn poll_read(&self, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.stream.poll_read_ready(context))?;
            let room = into.initialize_unfilled();
            match guard.get_inner().read(room) {
                Ok(count) => {
                    // Less than has room was all: whoever wants more waits without asking the kernel.
                    if (1..room.len()).contains(&count) {
                        guard.clear_ready();
                    }
                    into.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Sends some of it, once there is room.
    pub(super) fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            match self.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready!(self.poll_room(context))?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                sent => return Poll::Ready(sent),
            }
        }
    }

    /// Waits until something has come or there is room.
    pub(super) fn poll_either(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.stream.poll_read_ready(context) {
            Poll::Ready(come) => Poll::Ready(come.map(drop)),
            Poll::Pending => self.poll_room(context),
        }
    }

    /// Says that nothing more is sent.
    pub(super) fn shut_down(&self) -> io::Result<()> {
        self.stream.get_ref().shutdown(std::net::Shutdown::Write)
    }

    /// Waits for room.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let full = match &mut self.full {
            Some(full) => full,
            none => none.insert(watched(self.stream.get_ref().try_clone()?, Interest::WRITABLE)?),
        };
        let room = ready!(full.poll_write_ready(context)).map(drop);
        self.full = None;
        Poll::Ready(room)
    }
}

/// Has the runtime watch a socket.
fn watched(stream: UnixStream, interest: Interest) -> io::Result<AsyncFd<UnixStream>> {
    #[expect(deprecated, reason = "a stream owns its descriptor; what replaces this call is unsafe code")]
    AsyncFd::with_interest(stream, interest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};
    use std::time::Duration;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
    }

    fn pair() -> (LocalSocket, UnixStream) {
        let (ours, theirs) = tokio::net::UnixStream::pair().expect("a pair of sockets");
        (LocalSocket::new(ours).expect("a socket"), theirs.into_std().expect("a socket"))
    }

    /// A waker that counts how often it wakes.
    #[derive(Default)]
    struct WakesCounted(AtomicUsize);

    impl Wake for WakesCounted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_widened_socket_takes_more_before_it_is_full() {
        runtime().block_on(async {
            let fits =
                |socket: &mut LocalSocket| std::iter::from_fn(|| socket.try_write(&[0; 4096]).ok()).sum::<usize>();
            let ((mut narrow, _theirs), (mut wide, _of_wide)) = (pair(), pair());
            wide.widen();
            let (before, after) = (fits(&mut narrow), fits(&mut wide));
            assert!(after > before, "{before} bytes fit, {after} once it was widened");
        });
    }

    /// A peer that takes what was sent wakes nobody who waits for an answer.
    #[test]
    fn who_waits_for_an_answer_is_woken_by_the_answer_alone() {
        runtime().block_on(async {
            let (mut socket, mut theirs) = pair();
            let wakes = Arc::new(WakesCounted::default());
            let waker = Waker::from(Arc::clone(&wakes));
            let mut room = [0; 16];
            let mut answer = ReadBuf::new(&mut room);
            // The runtime looks at its sockets before a sleep ends.
            let pause = || tokio::time::sleep(Duration::from_millis(2));
            pause().await;
            assert!(socket.poll_read(&mut Context::from_waker(&waker), &mut answer).is_pending());
            // There is room, and the runtime was not asked to look for it.
            assert!(socket.stream.poll_write_ready(&mut Context::from_waker(&waker)).is_pending());
            assert_eq!(socket.try_write(b"question").expect("there is room"), 8);
            theirs.read_exact(&mut [0; 8]).expect("it was sent");
            pause().await;
            assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
            theirs.write_all(b"answer").expect("there is room");
            pause().await;
            assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
            assert!(socket.poll_read(&mut Context::from_waker(&waker), &mut answer).is_ready());
            assert_eq!(answer.filled(), b"answer");
        });
    }

    #[test]
    fn who_waits_for_room_is_woken_by_room_and_by_what_comes() {
        runtime().block_on(async {
            let (mut socket, mut theirs) = pair();
            let fill = |socket: &mut LocalSocket| {
                let mut all = 0;
                while let Ok(count) = socket.try_write(&[7; 4096]) {
                    all += count;
                }
                all
            };
            let mut sent = fill(&mut socket);
            theirs.write_all(b"no").expect("there is room");
            poll_fn(|context| socket.poll_either(context)).await.expect("something has come");
            let mut come = [0; 16];
            assert_eq!(socket.try_read(&mut come).expect("it has come"), 2);
            assert!(socket.try_read(&mut come).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock));
            let taking = std::thread::spawn(move || {
                let mut all = Vec::new();
                theirs.set_nonblocking(false).expect("a socket");
                theirs.read_to_end(&mut all).expect("it is read to its end");
                all.len()
            });
            poll_fn(|context| socket.poll_either(context)).await.expect("there is room");
            sent += fill(&mut socket);
            sent += poll_fn(|context| socket.poll_write(context, &[7; 4096])).await.expect("there is room");
            assert!(socket.full.is_none(), "nobody waits for room any more");
            socket.shut_down().expect("it is open");
            let mut room = [0; 16];
            let mut end = ReadBuf::new(&mut room);
            poll_fn(|context| socket.poll_read(context, &mut end)).await.expect("it ends");
            assert_eq!((end.filled().len(), taking.join().expect("it ends")), (0, sent));
        });
    }
}
