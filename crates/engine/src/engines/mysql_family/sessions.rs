//! Looks what the sessions of the load wait for, by the state that the process list has of each. Source: knowledge base, "General Thread
//! States", "Information Schema INNODB_TRX Table".

use super::address::ServerAddress;
use super::database::text;
use super::session::connect;
use super::wire::ServerConnection;
use crate::contract::{Error, SessionSampler, Target};
use crate::engines::blocking::{KeptLink, PATIENCE};
use proofload_model::session_state::{SessionSample, SessionState};

/// Sessions of the load's database by what they do: command, state, whether InnoDB has them wait for a row, number. Observers are in none.
fn look(database: &str) -> String {
    format!(
        "SELECT command, state, id IN (SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'), \
         count(*) FROM information_schema.processlist WHERE db = {} GROUP BY 1, 2, 3",
        text(database)
    )
}

/// The sampler. Connects at the first look, and again at the next one after the connection was lost.
pub(super) struct ProcessListSampler {
    link: KeptLink<ServerConnection>,
    address: ServerAddress,
    look: String,
}

impl ProcessListSampler {
    /// A sampler of the target; nothing is connected yet.
    pub(super) fn new(target: &Target) -> Result<Self, Error> {
        let mut address = ServerAddress::of(target)?;
        address.options.patience = Some(PATIENCE);
        address.must_take_writes = false;
        let look = look(&address.database);
        Ok(Self { link: KeptLink::new()?, address, look })
    }
}

impl SessionSampler for ProcessListSampler {
    fn sample(&mut self) -> Result<SessionSample, Error> {
        let Self { link, address, look } = self;
        let open = async || connect(address, None).await;
        let outcome = link.ask(PATIENCE, open, async |link: &mut ServerConnection| link.rows(look).await);
        let rows = outcome.map_err(|error| error.context("failed to sample the sessions of the load"))?;
        // The server is one process: the thread that answers has no name of its own at the kernel.
        Ok(SessionSample { sessions: rows.iter().filter_map(|row| sessions(row)).collect(), reader: None })
    }
}

fn sessions(row: &[Option<String>]) -> Option<(SessionState, u32)> {
    let text = |place: usize| row.get(place).and_then(Option::as_deref).unwrap_or_default();
    Some((state(text(0), text(1), text(2) == "1"), text(3).parse().ok()?))
}

/// The state of a session; `is_blocked`: it waits for a row, of which its own state says nothing. A wait for a page that is read is not told.
pub(super) fn state(command: &str, state: &str, is_blocked: bool) -> SessionState {
    match (command, state) {
        ("Sleep", _) | (_, "Reading from net" | "Writing to net" | "Receiving from client" | "Sending to client") => {
            SessionState::Client
        }
        (_, "Waiting for semi-sync ACK from slave" | "Waiting for semi-sync ACK from replica") => SessionState::Standby,
        (_, "Commit" | "Commit implicit" | "Starting commit" | "waiting for handler commit") => SessionState::Log,
        (_, state) if state.starts_with("Waiting for prior transaction to") => SessionState::Log,
        (_, state) if state.starts_with("Waiting for table") || state.ends_with("metadata lock") => SessionState::Lock,
        _ if is_blocked => SessionState::Lock,
        (_, state) if state.starts_with("Waiting") || state == "User sleep" => SessionState::Other,
        _ => SessionState::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_states() {
        let rows = [
            ("Sleep", "", false, SessionState::Client),
            ("Query", "Writing to net", false, SessionState::Client),
            ("Execute", "Waiting for semi-sync ACK from slave", false, SessionState::Standby),
            ("Query", "Commit", false, SessionState::Log),
            ("Execute", "waiting for handler commit", false, SessionState::Log),
            ("Execute", "executing", false, SessionState::Running),
            ("Execute", "Sending to client", false, SessionState::Client),
            ("Query", "Waiting for prior transaction to commit", false, SessionState::Log),
            ("Execute", "Updating", false, SessionState::Running),
            ("Execute", "Updating", true, SessionState::Lock),
            ("Query", "Waiting for table metadata lock", false, SessionState::Lock),
            ("Query", "Waiting for table level lock", false, SessionState::Lock),
            ("Query", "User sleep", false, SessionState::Other),
            ("Execute", "", false, SessionState::Running),
        ];
        for (command, name, is_blocked, expected) in rows {
            assert_eq!(state(command, name, is_blocked), expected, "{command} {name}");
        }
        let row = ["Sleep", "", "0", "3"].map(|text| Some(text.to_owned()));
        assert_eq!(sessions(&row), Some((SessionState::Client, 3)));
    }
}
