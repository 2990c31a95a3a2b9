//! Standbys of a server that Proofload did not start: each connection asks for its own `synchronous_commit`, and what the server says of
//! its standbys is read. Changes nothing of the server. Source: PostgreSQL manual, `synchronous_commit`, `pg_stat_replication`.

use super::engine::Postgresql;
use super::replication_watch::{Asker, PrimaryWatch};
use crate::contract::{Error, ExistingReplication, ReplicationWatch, Target};
use proofload_model::replication::{ReplicationAsked, ReplicationMode};

/// The setting that a connection asks for.
pub(super) const LEVEL: &str = "synchronous_commit";

const MODES: &[ReplicationMode] =
    &[ReplicationMode::Async, ReplicationMode::RemoteWrite, ReplicationMode::RemoteFlush, ReplicationMode::RemoteApply];

impl ExistingReplication for Postgresql {
    fn modes(&self) -> &'static [ReplicationMode] {
        MODES
    }

    fn setting_names(&self) -> &'static [&'static str] {
        &[LEVEL]
    }

    fn session_settings(&self, mode: ReplicationMode) -> Vec<(String, String)> {
        vec![(LEVEL.to_owned(), level(mode).to_owned())]
    }

    fn watch(&self, primary: &Target, asked: &ReplicationAsked) -> Result<Box<dyn ReplicationWatch>, Error> {
        Ok(Box::new(PrimaryWatch::new(primary, asked, Asker::Connection)?))
    }
}

/// The level of a mode. The server keeps its standbys, so that a commit that shall not wait says so itself.
pub(super) fn level(mode: ReplicationMode) -> &'static str {
    match mode {
        ReplicationMode::None | ReplicationMode::Async => "local",
        ReplicationMode::RemoteWrite => "remote_write",
        ReplicationMode::RemoteFlush => "on",
        ReplicationMode::RemoteApply => "remote_apply",
    }
}
