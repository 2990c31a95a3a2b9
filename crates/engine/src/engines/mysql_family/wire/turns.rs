//! Commands that wait for the answer to the one before, where a server takes one at a time. May not know what they ask.

use bytes::BytesMut;
use std::collections::VecDeque;

/// Commands that are queued and not sent.
#[derive(Debug, Default)]
pub(super) struct WaitingCommands {
    bytes: BytesMut,
    /// Bytes of each command that is answered, with those before it that are not.
    lengths: VecDeque<usize>,
}

impl WaitingCommands {
    /// Where the next command is added.
    pub(super) fn queue(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// Notes the end of a command that is answered.
    pub(super) fn end(&mut self) {
        let before: usize = self.lengths.iter().sum();
        self.lengths.push_back(self.bytes.len() - before);
    }

    /// Number of commands that are answered.
    pub(super) fn count(&self) -> usize {
        self.lengths.len()
    }

    /// Takes the next command that is answered, with those before it that are not.
    pub(super) fn take(&mut self) -> Option<BytesMut> {
        let length = self.lengths.pop_front()?;
        Some(self.bytes.split_to(length))
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::Answer;
    use super::super::connection::ServerConnection;
    use super::super::prepared::prepare;
    use crate::engines::mysql_family::flavour::Flavour;
    use crate::engines::wire::Socket;
    use std::io;
    use tokio::net::UnixStream;

    /// First bytes of commands: a text, an execution, the forgetting of a statement, a statement to prepare.
    const QUERY: u8 = 3;
    const EXECUTE: u8 = 0x17;
    const CLOSE: u8 = 0x19;
    const PREPARE: u8 = 0x16;

    /// A statement without parameters and rows is prepared.
    const PREPARED: &[u8] = &[12, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const DONE: &[u8] = &[7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];

    /// Takes what is sent at once and answers it, as often as there are answers; the commands of each time.
    async fn serve(theirs: &UnixStream, answers: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for answer in answers {
            let mut bytes = [0; 4096];
            let count = loop {
                theirs.readable().await.expect("it is open");
                match theirs.try_read(&mut bytes) {
                    Ok(count) => break count,
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}"),
                }
            };
            let (mut commands, mut place) = (Vec::new(), 0);
            while place < count {
                commands.push(bytes[place + 4]);
                place += 4 + usize::from(bytes[place]);
            }
            all.push(commands);
            theirs.writable().await.expect("it is open");
            assert_eq!(theirs.try_write(answer).expect("there is room"), answer.len());
        }
        all
    }

    /// A server that takes one command at a time gets each when the one before is answered.
    #[test]
    fn commands_are_sent_one_at_a_time_where_a_server_takes_no_more() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (ours, theirs) = runtime.block_on(async { UnixStream::pair().expect("a pair of sockets") });
        let answers = [PREPARED, PREPARED, DONE, DONE, DONE];
        let work = async {
            let mut connection =
                ServerConnection::on(Socket::unix(ours).expect("a socket"), true, Flavour::of_version(""));
            connection.send_one_at_a_time();
            let mut prepared = prepare(&mut connection, &["DO 0", "DO 1"]).await.expect("both are prepared");
            prepared[0].queue(std::iter::empty(), &mut connection).expect("it is queued");
            prepared[1].queue_close(&mut connection);
            prepared[0].queue(std::iter::empty(), &mut connection).expect("it is queued");
            connection.flush().await.expect("the first is sent");
            for _ in 0..2 {
                let packet = connection.receive().await.expect("it is answered");
                assert!(matches!(packet.kind, Answer::Done { is_last: true, .. }), "{packet:?}");
            }
            prepared[0].queue_close(&mut connection);
            connection.flush().await.expect("nothing is answered, and nothing sent");
            connection.text("DO 2", |_| {}).await.expect("it is answered");
        };
        let (all, ()) = runtime.block_on(futures_util::future::join(serve(&theirs, &answers), work));
        let expected: [&[u8]; 5] = [&[PREPARE], &[PREPARE], &[EXECUTE], &[CLOSE, EXECUTE], &[CLOSE, QUERY]];
        assert_eq!(all, expected);
    }

    /// What a caller that has gone away had queued and not sent is not sent for the next one.
    #[test]
    fn commands_whose_caller_has_gone_away_are_not_sent() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (ours, theirs) = runtime.block_on(async { UnixStream::pair().expect("a pair of sockets") });
        let work = async {
            let mut connection =
                ServerConnection::on(Socket::unix(ours).expect("a socket"), true, Flavour::of_version(""));
            connection.send_one_at_a_time();
            for sql in ["DO 0", "DELETE FROM t", "COMMIT"] {
                connection.queue_text(sql).expect("it is queued");
            }
            connection.flush().await.expect("the first is sent");
            connection.text("ROLLBACK", |_| {}).await.expect("it is answered");
        };
        let (all, ()) = runtime.block_on(futures_util::future::join(serve(&theirs, &[DONE, DONE]), work));
        assert_eq!(all, [[QUERY], [QUERY]]);
    }
}
