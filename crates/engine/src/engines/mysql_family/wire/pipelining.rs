//! Whether a server answers commands that are sent together, as a flight sends them. Asked once, before a load depends on it.

use super::answer::Answer;
use super::connection::ServerConnection;
use super::packet::broken;
use super::prepared::prepare;
use crate::contract::Error;
use proofload_model::units::duration_text;
use std::time::Duration;

/// A statement that does nothing and returns nothing.
const STATEMENT: &str = "DO 0";
/// Executions in one write.
const TOGETHER: usize = 3;
/// How long their answers may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Fails where the server does not answer executions that are sent together, instead of waiting for it during a load.
pub(in crate::engines::mysql_family) async fn check_pipelining(connection: &mut ServerConnection) -> Result<(), Error> {
    check_within(connection, PATIENCE).await
}

async fn check_within(connection: &mut ServerConnection, patience: Duration) -> Result<(), Error> {
    let context = |error: Error| error.context(format!("send {TOGETHER} executions of a prepared statement together"));
    let prepared = prepare(connection, &[STATEMENT]).await.map_err(|(_, error)| context(error))?;
    for mut statement in prepared {
        for _ in 0..TOGETHER {
            statement.queue(std::iter::empty(), connection)?;
        }
        let Ok(answered) = tokio::time::timeout(patience, answers(connection)).await else {
            let text = format!(
                "not all were answered within {}, and every flight is sent so; a proxy such as ProxySQL, or Aurora of the 5.7 line, does not take \
                 it: name a server that does in engine.url",
                duration_text(patience)
            );
            return Err(context(Error::other(text)));
        };
        answered.map_err(context)?;
        statement.queue_close(connection);
    }
    Ok(())
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

    /// A server that prepares a statement and answers so many of its executions.
    fn outcome(answers: usize, patience: Duration) -> Result<(), Error> {
        let mut said = vec![12, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        said.extend([7u8, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0].repeat(answers));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
            theirs.writable().await.expect("it is open");
            assert_eq!(theirs.try_write(&said).expect("there is room"), said.len());
            let mut connection = ServerConnection::on(Socket::Unix(ours), true, Flavour::of_version(""));
            check_within(&mut connection, patience).await
        })
    }

    #[test]
    fn a_server_that_does_not_take_flights_is_told_before_a_load_waits_for_it() {
        outcome(TOGETHER, Duration::from_secs(600)).expect("all are answered");
        let error = outcome(1, Duration::from_millis(20)).expect_err("it waits for the next command alone");
        assert!(error.to_string().contains("not all were answered within 20ms"), "{error}");
        assert!(error.to_string().contains("ProxySQL"), "{error}");
    }
}
