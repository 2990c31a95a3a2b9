//! Times commits by what they wait for, one after the other on one connection. Source: PostgreSQL manual, `synchronous_commit`, which a
//! transaction may set for itself.

use super::connection::{self, ServerConfig};
use super::failure::failed;
use crate::contract::Error;
use proofload_model::commit_levels::CommitLevel;
use proofload_model::time::Clock;
use std::time::Duration;

/// How much longer than its time a commit that waits for a standby may take before the connection is given up.
const GRACE: Duration = Duration::from_secs(20);

/// Bytes of the message that a transaction leaves in the log: about what a New-Order of TPROC-C writes.
const MESSAGE: u32 = 4000;

/// Commits at each level in turn until the time is up; how long each took.
pub(super) async fn time_commits(
    config: ServerConfig,
    levels: &[CommitLevel],
    within: Duration,
    clock: &dyn Clock,
) -> Result<Vec<Duration>, Error> {
    let work = async {
        let client = connection::open(config).await?;
        let begun = clock.now();
        let mut times = Vec::with_capacity(levels.len());
        for level in levels {
            let statement = transaction(*level);
            let sent = clock.now();
            if sent.since(begun) > within {
                break;
            }
            client.batch_execute(&statement).await.map_err(failed)?;
            times.push(clock.now().since(sent));
        }
        Ok(times)
    };
    let late =
        |_| Err(Error::other(format!("a commit had not finished {:?} after the transaction began", within + GRACE)));
    tokio::time::timeout(within + GRACE, work).await.unwrap_or_else(late)
}

/// A transaction that leaves a message in the log and changes no table, sent as one.
fn transaction(level: CommitLevel) -> String {
    format!(
        "BEGIN; SET LOCAL synchronous_commit = {}; \
         SELECT pg_logical_emit_message(true, 'proofload', repeat('x', {MESSAGE})); COMMIT",
        name(level)
    )
}

/// What a level is called.
fn name(level: CommitLevel) -> &'static str {
    match level {
        CommitLevel::RemoteFlush => "on",
        other => other.word(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_by_a_standby_is_called_on() {
        let names = CommitLevel::ALL.map(name);
        assert_eq!(names, ["off", "local", "remote_write", "on", "remote_apply"]);
        assert!(transaction(CommitLevel::Local).starts_with("BEGIN; SET LOCAL synchronous_commit = local; SELECT"));
    }
}
