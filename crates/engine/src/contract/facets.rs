//! Facets of an engine: what it may have beside sessions. An engine that has none of them needs no word of them.

use super::engine::{Target, Work};
use proofload_model::step_count::StepCount;
use proofload_model::units::Bytes;

/// How the data of an engine are kept, and put back between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshots {
    /// Files of the data folder are copied while no instance and no session has them open.
    Files,
    /// The server keeps them itself and puts them back; see [`Backups`].
    Backups,
}

impl Snapshots {
    /// Tells whether data can be put back at a server that Proofload did not start.
    pub fn reach_existing_servers(self) -> bool {
        match self {
            Self::Files => false,
            Self::Backups => true,
        }
    }
}

/// A server that Proofload did not start, reached by `engine.url`.
#[derive(Debug, Clone, Copy)]
pub struct ExistingServer {
    /// How the load agent is given a password, which may not stand in a study: a fragment such as `set PGPASSWORD for the load agent`.
    pub password: &'static str,
    /// Splits a URL that names several hosts into one for each, of which any may take writes now; a URL of one host comes back as it is.
    pub hosts: fn(url: &str) -> Vec<String>,
}

/// Memory that an engine is told to keep to.
pub trait Memory: Sync {
    /// Settings that a memory limit implies for so many sessions, such as `shared_buffers`; the study's own settings win. They are read
    /// back by [`super::Engine::verify_settings`] like all others.
    fn settings(&self, memory: Bytes, sessions: u32) -> Vec<(String, String)>;

    /// Settings that a memory limit implies, with room for so many more connections that do no work, as far as the limit has it. What a
    /// session may take of the memory stays that of the sessions alone; nothing differs where a limit implies no number of connections.
    fn settings_with_room(&self, memory: Bytes, sessions: u32, _more: u32) -> Vec<(String, String)> {
        self.settings(memory, sessions)
    }

    /// Setting that says how many connections the server takes, where a limit implies it.
    fn connections_setting(&self) -> Option<&'static str> {
        None
    }

    /// Tells whether a server that runs already takes these settings, so that `limits.memory` holds at a server that Proofload did not start.
    fn reaches_existing_servers(&self) -> bool {
        false
    }
}

/// Settings of a server that Proofload did not start, which a study changes with its operator's leave while settings are verified.
pub trait ServerChanges: Sync {
    /// Puts back what was changed, also by a process that was killed; nothing where nothing was.
    fn put_back<'a>(&'a self, target: &'a Target) -> Work<'a, ()>;
}

/// Tells how far something is: what is done, and how much of it where that is counted.
pub type ProgressTeller<'a> = &'a dyn Fn(&str, Option<StepCount>);

/// Data that a server keeps and puts back by itself, without files of ours.
pub trait Backups: Sync {
    /// Tells whether the data of this label are kept.
    fn is_kept<'a>(&'a self, target: &'a Target, label: &'a str) -> Work<'a, bool>;

    /// Keeps the data as they are under this label, in the place of what was kept before.
    fn keep<'a>(&'a self, target: &'a Target, label: &'a str, progress: ProgressTeller<'a>) -> Work<'a, ()>;

    /// Puts the data of this label back; no session may be open.
    fn restore<'a>(&'a self, target: &'a Target, label: &'a str, progress: ProgressTeller<'a>) -> Work<'a, ()>;
}
