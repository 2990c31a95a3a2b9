//! A connection: messages queued and sent together, answers received one by one, in memory that is kept. It knows what the server
//! still owes, so that a caller that goes away in between leaves it usable. May not know statements or rows.

use super::attempts::connect;
use super::message::{self, Message, Tag, broken};
use super::{handshake, message::Reading};
use crate::contract::{Error, ErrorClass};
use crate::engines::postgresql::connection::ServerConfig;
use crate::engines::wire::{BufferedSocket, Socket};
use bytes::{BufMut as _, BytesMut};
use postgres_protocol::message::frontend;
use std::io;
use tokio_postgres::config::TargetSessionAttrs;

/// Bytes before a message's body: its tag, and its length, which counts itself.
const HEAD: usize = 5;

/// State of a session's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines::postgresql) enum State {
    /// No transaction is open.
    Idle,
    /// One in which nothing has failed.
    Open,
    /// One in which something has failed: it can only be rolled back.
    Failed,
}

/// A connection. Dropping it says goodbye.
#[derive(Debug)]
pub(in crate::engines::postgresql) struct Connection {
    buffered: BufferedSocket,
    /// How often the server has still to say that it is ready.
    owed: u32,
    /// Rows are being sent and their end is not.
    copying: bool,
    state: State,
    /// Whether the server has warned since somebody asked.
    warned: bool,
}

impl Connection {
    /// Connects to the first place of the configuration that admits us.
    pub(in crate::engines::postgresql) async fn open(config: &ServerConfig) -> Result<Self, Error> {
        connect(config, async |mut socket| {
            handshake::log_on(&mut socket, config).await?;
            let mut connection = Self::on(socket);
            connection.suits(config.get_target_session_attrs()).await?;
            Ok(connection)
        })
        .await
    }

    /// A connection whose server waits for what comes next.
    pub(in crate::engines::postgresql) fn on(socket: Socket) -> Self {
        Self { buffered: BufferedSocket::new(socket), owed: 0, copying: false, state: State::Idle, warned: false }
    }

    /// Checks that the server lets us write, or not, as is wanted.
    async fn suits(&mut self, wanted: TargetSessionAttrs) -> Result<(), Error> {
        let (writes, text) = match wanted {
            TargetSessionAttrs::ReadWrite => (true, "database does not allow writes"),
            TargetSessionAttrs::ReadOnly => (false, "database is not read only"),
            _ => return Ok(()),
        };
        let suits = self.takes_writes().await? == writes;
        if suits { Ok(()) } else { Err(Error::new(ErrorClass::ConnectionLost, "", text)) }
    }

    /// Tells whether the server lets us write.
    pub(in crate::engines::postgresql) async fn takes_writes(&mut self) -> Result<bool, Error> {
        let mut takes = false;
        self.script("SHOW transaction_read_only", |row| takes = row.ends_with(b"off")).await?;
        Ok(takes)
    }

    /// Runs statements separated by semicolons; hands out the rows' bytes. The error is that of the statement that failed.
    pub(in crate::engines::postgresql) async fn script(
        &mut self,
        sql: &str,
        mut row: impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        self.settle().await?;
        frontend::query(sql, self.queue()).map_err(unsendable)?;
        self.expect_ready();
        self.flush().await?;
        let mut outcome = Ok(());
        loop {
            let message = self.receive().await?;
            match message.tag {
                Tag::READY => return outcome,
                Tag::ROW => row(self.body(&message)),
                Tag::ERROR if outcome.is_ok() => outcome = Err(self.error(&message)),
                Tag::COPY_IN => {
                    frontend::copy_fail("a script has no rows to copy", self.queue()).map_err(unsendable)?;
                    self.flush().await?;
                }
                _ => {}
            }
        }
    }

    /// Where messages to send are added.
    #[inline]
    pub(in crate::engines::postgresql) fn queue(&mut self) -> &mut BytesMut {
        self.buffered.queue()
    }

    /// Forgets what has been queued since the last was sent, as when one of several messages cannot be written.
    pub(in crate::engines::postgresql) fn forget_queue(&mut self) {
        // Between two calls nothing is unsent and nothing owed; see `settle`.
        self.buffered.forget_queue();
        self.owed = 0;
    }

    /// Notes that a message has been queued after which the server says that it is ready.
    #[inline]
    pub(in crate::engines::postgresql) fn expect_ready(&mut self) {
        self.owed += 1;
    }

    /// Queues the end of a group of messages: an error in the group skips the rest of it.
    #[inline]
    pub(in crate::engines::postgresql) fn queue_sync(&mut self) {
        self.queue().put_slice(b"S\0\0\0\x04");
        self.owed += 1;
    }

    /// Rows follow, until [`Connection::end_copy`].
    pub(in crate::engines::postgresql) fn begin_copy(&mut self) {
        self.copying = true;
        self.buffered.widen();
    }

    /// Queues the end of the rows, or that they are to be forgotten.
    pub(in crate::engines::postgresql) fn end_copy(&mut self, complete: bool) {
        self.copying = false;
        if complete {
            frontend::copy_done(self.queue());
        } else {
            frontend::copy_fail("given up", self.queue()).expect("the text has no zero and is short");
        }
    }

    /// State of the transaction, as the server said last.
    #[inline]
    pub(in crate::engines::postgresql) fn state(&self) -> State {
        self.state
    }

    /// Takes what is owed to a caller that has gone away, so that the next answer is the next caller's.
    #[inline]
    pub(in crate::engines::postgresql) async fn settle(&mut self) -> Result<(), Error> {
        self.buffered.expect_open()?;
        if self.owed > 0 || self.buffered.has_queued() {
            if self.copying {
                self.end_copy(false);
            }
            self.flush().await?;
            while self.owed > 0 {
                self.receive().await?;
            }
        }
        Ok(())
    }

    /// Sends all that is queued. While the server does not take it, its answers are received, so that neither waits for the other.
    pub(in crate::engines::postgresql) async fn flush(&mut self) -> Result<(), Error> {
        match self.buffered.flush().await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.last_words(&error).await),
        }
    }

    /// The next message that answers us, waiting for it. Of notices only is kept whether one was a warning.
    pub(in crate::engines::postgresql) async fn receive(&mut self) -> Result<Message, Error> {
        loop {
            if let Some(message) = self.next_received()? {
                return Ok(message);
            }
            self.receive_more().await?;
        }
    }

    /// The next message that answers us, if it has come whole.
    #[inline]
    pub(in crate::engines::postgresql) fn next_received(&mut self) -> Result<Option<Message>, Error> {
        while let Some(message) = self.received()? {
            match message.tag {
                Tag::NOTICE => self.warned |= message::is_warning(self.body(&message)),
                Tag::SETTING | Tag::NOTIFICATION => {}
                Tag::READY => {
                    self.note_ready(&message);
                    return Ok(Some(message));
                }
                _ => return Ok(Some(message)),
            }
        }
        Ok(None)
    }

    /// Waits until more has come, for whoever has taken all that was there.
    pub(in crate::engines::postgresql) async fn receive_more(&mut self) -> Result<(), Error> {
        self.buffered.receive().await
    }

    /// What the server has said against the rows that it is being sent, if it has: looked at without waiting.
    pub(in crate::engines::postgresql) fn refusal(&mut self) -> Result<Option<Error>, Error> {
        self.buffered.look().map_err(|error| self.buffered.lose(&error))?;
        while let Some(message) = self.received()? {
            if message.tag == Tag::ERROR {
                return Ok(Some(self.error(&message)));
            }
        }
        Ok(None)
    }

    /// Tells whether the server has warned since this was last asked.
    pub(in crate::engines::postgresql) fn take_warning(&mut self) -> bool {
        std::mem::take(&mut self.warned)
    }

    /// Looks, without waiting, whether the server has ended the connection. What it has said meanwhile is kept for the next answer.
    pub(in crate::engines::postgresql) fn has_ended(&mut self) -> bool {
        self.buffered.is_lost() || self.buffered.look().is_err()
    }

    /// The bytes of a message.
    #[inline]
    pub(in crate::engines::postgresql) fn body(&self, message: &Message) -> &[u8] {
        self.buffered.body(&message.body)
    }

    /// The error that a message tells.
    pub(in crate::engines::postgresql) fn error(&self, message: &Message) -> Error {
        message::error(self.body(message))
    }

    fn note_ready(&mut self, message: &Message) {
        self.owed = self.owed.saturating_sub(1);
        self.state = match self.body(message) {
            b"I" => State::Idle,
            b"T" => State::Open,
            _ => State::Failed,
        };
    }

    /// The next message that has arrived whole.
    #[inline]
    fn received(&mut self) -> Result<Option<Message>, Error> {
        let mut reading = Reading(self.buffered.received());
        let (Some(&[tag]), Some(length)) = (reading.bytes(1), reading.long()) else { return Ok(None) };
        let length = usize::try_from(length).ok().and_then(|length| length.checked_sub(4));
        let Some(length) = length else {
            self.buffered.give_up();
            return Err(broken("a message without length"));
        };
        Ok(self.buffered.take(HEAD, length).map(|body| Message { tag: Tag(tag), body }))
    }

    /// The server takes nothing more; what it said before it went tells why.
    async fn last_words(&mut self, error: &io::Error) -> Error {
        loop {
            match self.receive().await {
                Ok(message) if message.tag == Tag::ERROR => {
                    self.buffered.give_up();
                    return self.error(&message);
                }
                Ok(_) => {}
                Err(_) => return self.buffered.lose(error),
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.buffered.say_goodbye(b"X\0\0\0\x04");
    }
}

/// A message that cannot be written: a text with a zero in it, or one too large.
pub(super) fn unsendable(error: io::Error) -> Error {
    Error::new(ErrorClass::Data, "", format!("failed to write to the server: {error}"))
}

#[cfg(test)]
mod tests {
    use super::super::prepared::{WireRow, describe};
    use super::*;
    use proptest::prelude::*;
    use tokio::net::UnixStream;

    /// Every answer, in whatever pieces it comes, is read to its end: as messages, or as an error.
    async fn check(answer: &[u8], piece: usize) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        let read = async {
            let mut connection = Connection::on(Socket::unix(ours).expect("a socket"));
            let described = describe(&mut connection, &[("s", "SELECT 1")]).await;
            let scripted =
                connection.script("SELECT 1", |row| drop(WireRow::of(row, 1).map(|mut row| row.field()))).await;
            (described.is_ok(), scripted.is_ok())
            // The connection ends here: who still writes to it is told so, and does not wait for room that nobody makes.
        };
        let write = async {
            for part in answer.chunks(piece.max(1)) {
                theirs.writable().await.expect("it is open");
                if theirs.try_write(part).is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock) {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(theirs);
        };
        let _either = futures_util::future::join(read, write).await;
    }

    fn run(work: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(work);
    }

    #[test]
    fn what_the_server_said_before_it_went_is_told() {
        run(async {
            let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
            let mut connection = Connection::on(Socket::unix(ours).expect("a socket"));
            // More than the kernel takes, so that the end is seen while we send.
            connection.queue().resize(16 << 20, 0);
            let fields = b"SFATAL\0C57P01\0Mterminating connection\0\0";
            let length = u32::try_from(fields.len()).expect("short") + 4;
            let message = [&b"E"[..], &length.to_be_bytes(), fields].concat();
            assert_eq!(theirs.try_write(&message).expect("it fits"), message.len());
            let theirs = theirs.into_std().expect("a socket");
            theirs.shutdown(std::net::Shutdown::Write).expect("it is open");
            let error = connection.flush().await.expect_err("the server has gone").to_string();
            assert!(error.contains("terminating connection"), "{error}");
            assert!(connection.settle().await.is_err() && connection.has_ended());
        });
    }

    proptest! {
        #[test]
        fn broken_answers_are_survived(
            tags in proptest::collection::vec(proptest::sample::select(b"123CDEGIKNSTZnstA".to_vec()), 1..20),
            body in proptest::collection::vec(any::<u8>(), 0..40),
            wrong in 0u32..8, piece in 1usize..50,
        ) {
            let mut answer = Vec::new();
            for tag in tags {
                answer.push(tag);
                let length = u32::try_from(body.len()).expect("short") + 4;
                answer.extend_from_slice(&(if wrong == 0 { length ^ 0x8000_0003 } else { length }).to_be_bytes());
                answer.extend_from_slice(&body);
            }
            run(check(&answer, piece));
        }
    }
}
