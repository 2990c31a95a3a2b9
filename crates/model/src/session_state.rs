//! States of a session of the load at one moment: what it does, or what it waits for. Pure. May not know an engine's names for them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a session does or waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Work, or a wait for a core: the engine does not tell one from the other.
    Running,
    /// Waiting until a standby confirms.
    Standby,
    /// Waiting for its own log: for a flush, or for the one that is under way.
    Log,
    /// Waiting for a lock on a row or a table.
    Lock,
    /// Waiting for a read of data.
    Read,
    /// Waiting for the client: for the next statement, or until it has taken what was sent.
    Client,
    /// Waiting for anything else.
    Other,
}

impl SessionState {
    /// Every state, in the order in which a report tells them.
    pub const ALL: [Self; 7] =
        [Self::Running, Self::Log, Self::Standby, Self::Lock, Self::Read, Self::Client, Self::Other];

    /// The component of its series.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Standby => "standby",
            Self::Log => "log",
            Self::Lock => "lock",
            Self::Read => "read",
            Self::Client => "client",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What the sessions of the load did at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSample {
    /// Sessions by state; a state in which there is none may be left out.
    pub sessions: Vec<(SessionState, u32)>,
    /// Process that answers this reading, on the host of the server; `None` where none is its own.
    pub reader: Option<u32>,
}
