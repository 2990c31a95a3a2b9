//! Looks what the sessions of the load wait for. Source: PostgreSQL manual, "Wait Events", and the function beneath `pg_stat_activity`,
//! which costs less than the view.

use super::connection::{self, APPLICATION, ServerConfig};
use super::failure::failed;
use crate::contract::{Error, SessionSampler, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};
use proofload_model::session_state::{SessionSample, SessionState};
use tokio_postgres::{Client, Row, Statement};

/// Sessions of the load by what they do: state, kind of wait, event, number.
const LOOK: &str = "SELECT state, wait_event_type, wait_event, count(*)::int8 FROM pg_stat_get_activity(NULL) \
     WHERE application_name = $1 AND backend_type = 'client backend' GROUP BY 1, 2, 3";

/// What a flush of the log, or the wait for the one that is under way, is called.
const LOG_EVENTS: &[&str] = &["WALSync", "WalSync", "WALWrite", "WalWrite", "WALSyncMethodAssign"];

/// What a wait for a page of the data is called. Names with `Aio` are of PostgreSQL 18, by each of its `io_method`s.
const READ_EVENTS: &[&str] = &[
    "DataFileRead",
    "DataFilePrefetch",
    "AioIoCompletion",
    "AioIoUringSubmit",
    "AioIoUringExecution",
    "AioUringCompletion",
];

/// The sampler. Connects at the first look, and again at the next one after the connection was lost.
pub(super) struct ActivitySampler {
    link: KeptLink<SamplerConnection>,
    config: ServerConfig,
}

/// An open connection, its query and its process.
struct SamplerConnection {
    client: Client,
    look: Statement,
    process: u32,
}

impl ActivitySampler {
    /// A sampler of the target; nothing is connected yet.
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        let mut config = connection::config(target)?;
        config.connect_timeout(PATIENCE);
        Ok(Self { link: KeptLink::new()?, config })
    }
}

impl SessionSampler for ActivitySampler {
    fn sample(&mut self) -> Result<SessionSample, Error> {
        let config = &self.config;
        let open = async || SamplerConnection::open(config.clone()).await;
        let outcome = self.link.ask(PATIENCE, open, async |link: &mut SamplerConnection| link.look().await);
        outcome.map_err(|error| error.context("failed to sample the sessions of the load"))
    }
}

impl SamplerConnection {
    async fn open(config: ServerConfig) -> Result<Self, Error> {
        let client = connection::open(config).await?;
        client.batch_execute("SET jit = off").await.map_err(failed)?;
        let look = client.prepare(LOOK).await.map_err(failed)?;
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await.map_err(failed)?;
        let process = u32::try_from(row.try_get::<_, i32>(0).map_err(failed)?).unwrap_or(0);
        Ok(Self { client, look, process })
    }

    async fn look(&self) -> Result<SessionSample, Error> {
        let rows = self.client.query(&self.look, &[&APPLICATION]).await.map_err(failed)?;
        let sessions = rows.iter().map(sessions).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        Ok(SessionSample { sessions, reader: Some(self.process) })
    }
}

fn sessions(row: &Row) -> Result<(SessionState, u32), tokio_postgres::Error> {
    let text = |place: usize| row.try_get::<_, Option<&str>>(place).map(Option::unwrap_or_default);
    let count = u32::try_from(row.try_get::<_, i64>(3)?).unwrap_or(u32::MAX);
    Ok((state(text(0)?, text(1)?, text(2)?), count))
}

/// The state of a session; `kind` and `event`: what it waits for, empty for nothing.
fn state(state: &str, kind: &str, event: &str) -> SessionState {
    match (state, kind, event) {
        ("active" | "fastpath function call", "", _) => SessionState::Running,
        ("active" | "fastpath function call", _, "SyncRep") => SessionState::Standby,
        ("active" | "fastpath function call", "IO" | "LWLock", event) if LOG_EVENTS.contains(&event) => {
            SessionState::Log
        }
        ("active" | "fastpath function call", "Lock", _) => SessionState::Lock,
        ("active" | "fastpath function call", "IO" | "LWLock", event) if READ_EVENTS.contains(&event) => {
            SessionState::Read
        }
        ("active" | "fastpath function call", "Client", _) => SessionState::Client,
        ("active" | "fastpath function call", ..) => SessionState::Other,
        // Between two statements, or between two transactions.
        _ => SessionState::Client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_states() {
        let rows = [
            ("active", "", "", SessionState::Running),
            ("active", "IPC", "SyncRep", SessionState::Standby),
            ("active", "IO", "WALSync", SessionState::Log),
            ("active", "IO", "WalSync", SessionState::Log),
            ("active", "LWLock", "WALWrite", SessionState::Log),
            ("active", "LWLock", "WALInsert", SessionState::Other),
            ("active", "Lock", "transactionid", SessionState::Lock),
            ("active", "Lock", "tuple", SessionState::Lock),
            ("active", "IO", "DataFileRead", SessionState::Read),
            ("active", "IO", "AioIoUringExecution", SessionState::Read),
            ("active", "LWLock", "AioUringCompletion", SessionState::Read),
            ("active", "LWLock", "AioWorkerSubmissionQueue", SessionState::Other),
            ("active", "Client", "ClientWrite", SessionState::Client),
            ("active", "Timeout", "PgSleep", SessionState::Other),
            ("idle", "Client", "ClientRead", SessionState::Client),
            ("idle in transaction", "Client", "ClientRead", SessionState::Client),
            ("idle", "", "", SessionState::Client),
        ];
        for (name, kind, event, expected) in rows {
            assert_eq!(state(name, kind, event), expected, "{name} {kind} {event}");
        }
    }
}
