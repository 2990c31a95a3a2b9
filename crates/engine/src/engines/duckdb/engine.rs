//! What DuckDB can do, and which of its settings a memory limit implies. May not know a workload's tables.

use super::options::SETTINGS;
use super::{DuckdbSession, database, locate, settings};
use crate::contract::{About, Engine, Error, Installation, Memory, Snapshots, SqlEngine, Target, Work};
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;

/// DuckDB, embedded.
#[derive(Debug)]
pub struct Duckdb;

/// The part of a memory limit that DuckDB's own limit takes, as one in so many. DuckDB's limit counts its buffers; what it allocates
/// past them, its code, the client and the kernel's page cache of the same file are charged to the same control group.
/// Source: DuckDB's guide, "Tuning Workloads": set the limit to 50–60 % where memory outside of it ends the process.
const MEMORY_PART: u64 = 2;

impl Engine for Duckdb {
    fn about(&self) -> About {
        About {
            name: "duckdb",
            title: "DuckDB, loaded as a library at run time; runs inside the load agent",
            keeps_data: true,
            minimum_memory_bytes: 128 << 20,
            settings: SETTINGS,
        }
    }

    fn locate(&self) -> Result<Installation, Error> {
        let found = locate::library(None)?;
        Ok(Installation { version: found.version.to_owned(), place: found.path.display().to_string() })
    }

    fn snapshots(&self) -> Option<Snapshots> {
        Some(Snapshots::Files)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }

    fn create_database<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(async move { database::create(target) })
    }

    fn verify_settings<'a>(&'a self, target: &'a Target) -> Work<'a, Vec<Fact>> {
        Box::pin(async move { settings::verify(target) })
    }

    fn after_build<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(async move { database::settle(target) })
    }
}

impl SqlEngine for Duckdb {
    type Session = DuckdbSession;

    fn open_session<'a>(&'a self, target: &'a Target) -> Work<'a, DuckdbSession> {
        Box::pin(async move { DuckdbSession::open(target) })
    }
}

impl Memory for Duckdb {
    fn settings(&self, memory: Bytes, _sessions: u32) -> Vec<(String, String)> {
        vec![("memory_limit".to_owned(), format!("{}MiB", (memory.0 / MEMORY_PART) >> 20))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duckdb_gets_half_of_the_limit_however_many_sessions_share_it() {
        for sessions in [1, 16] {
            let expected = vec![("memory_limit".to_owned(), "64MiB".to_owned())];
            assert_eq!(Duckdb.settings(Bytes::mebi(128), sessions), expected);
        }
    }
}
