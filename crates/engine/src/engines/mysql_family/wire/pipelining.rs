//! Whether a server answers commands that are sent together, as a flight sends them. Asked before a load depends on it.

use super::answer::Answer;
use super::connection::ServerConnection;
use super::packet::broken;
use super::prepared::prepare;
use crate::contract::Error;
use std::time::Duration;

/// A statement that does nothing and returns nothing.
const STATEMENT: &str = "DO 0";
/// Executions in one write.
const TOGETHER: usize = 3;
/// How long their answers may take.
pub(in crate::engines::mysql_family) const PATIENCE: Duration = Duration::from_secs(2);

/// Tells whether the server answers executions that are sent together. Where it does not, the connection is of no use any more.
pub(in crate::engines::mysql_family) async fn takes_pipelining(
    connection: &mut ServerConnection,
) -> Result<bool, Error> {
    takes_within(connection, PATIENCE).await
}

async fn takes_within(connection: &mut ServerConnection, patience: Duration) -> Result<bool, Error> {
    let context = |error: Error| error.context(format!("send {TOGETHER} executions of a prepared statement together"));
    let prepared = prepare(connection, &[STATEMENT]).await.map_err(|(_, error)| context(error))?;
    for mut statement in prepared {
        for _ in 0..TOGETHER {
            statement.queue(std::iter::empty(), connection)?;
        }
        let Ok(answered) = tokio::time::timeout(patience, answers(connection)).await else {
            return Ok(false);
        };
        answered.map_err(context)?;
    }
    Ok(true)
}

/// Takes the answers to all; the first error counts.
async fn answers(connection: &mut ServerConnection) -> Result<(), Error> {
    connection.flush().await?;
    let mut outcome = Ok(());
    for _ in 0..TOGETHER {
        let packet = connection.receive().await?;
        outcome = outcome.and(match packet.kind {
            Answer::Done { is_last: true, .. } => Ok(()),
            Answer::Failed => Err(connection.error(&packet)),
            _ => Err(broken("no answer to a statement without rows")),
        });
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::mysql_family::flavour::Flavour;
    use crate::engines::wire::Socket;
    use tokio::net::UnixStream;

    /// The bytes by which a client ends its connection.
    const GOODBYE: [u8; 5] = [1, 0, 0, 0, 1];

    /// A server that prepares a statement and answers so many of its executions. Where it answered all, it is told that the connection ends.
    fn takes(answers: usize, patience: Duration) -> bool {
        let mut said = vec![12, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        said.extend([7u8, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0].repeat(answers));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
            theirs.writable().await.expect("it is open");
            assert_eq!(theirs.try_write(&said).expect("there is room"), said.len());
            let mut connection =
                ServerConnection::on(Socket::unix(ours).expect("a socket"), true, Flavour::of_version(""));
            let takes = takes_within(&mut connection, patience).await.expect("what comes is understood");
            drop(connection);
            let mut heard = vec![0; 4096];
            theirs.readable().await.expect("it was sent something");
            let length = theirs.try_read(&mut heard).expect("it was sent something");
            assert_eq!(heard[..length].ends_with(&GOODBYE), takes, "{:?}", &heard[..length]);
            takes
        })
    }

    #[test]
    fn a_server_that_does_not_take_flights_is_known_before_a_load_waits_for_it() {
        assert!(takes(TOGETHER, Duration::from_secs(600)), "all are answered");
        assert!(!takes(1, Duration::from_millis(20)), "it waits for the next command alone");
    }
}
