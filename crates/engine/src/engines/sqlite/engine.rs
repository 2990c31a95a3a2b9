//! What SQLite can do and how its database is opened, settled and verified. May not know a workload's tables.

use super::{SqliteSession, database, pragma};
use crate::contract::{About, Engine, Error, Installation, Memory, Snapshots, SqlEngine, Target, Work};
use proofload_model::catalogue::RefuseSettings;
use proofload_model::samples::Fact;
use proofload_model::settings::{Kind, Scope, SettingSpec};
use proofload_model::units::Bytes;

/// SQLite, embedded.
#[derive(Debug)]
pub struct Sqlite;

/// Settings of its own.
const SETTINGS: &[SettingSpec] = &[SettingSpec::new(
    "engine.writers",
    Kind::OneOf(&["busy", "queue"]),
    "busy",
    "How concurrent writers of the load agent are ordered: `busy`, by SQLite, where the later one sleeps and retries; \
     `queue`, first come, first served.",
)
.only(Scope::Engine("sqlite"))];

/// The part of a memory limit that the page caches of all sessions take together; the rest is for the kernel's page cache
/// of the same file, which is charged to the same control group, and for the client itself.
const CACHE_PART: u64 = 8;

/// The smallest page cache of a session, KiB: below it SQLite spills within one transaction.
const LEAST_CACHE_KIB: u64 = 256;

impl Engine for Sqlite {
    fn about(&self) -> About {
        About {
            name: "sqlite",
            title: "SQLite, compiled in; runs inside the load agent",
            keeps_data: true,
            minimum_memory_bytes: 16 << 20,
            settings: SETTINGS,
        }
    }

    fn locate(&self) -> Result<Installation, Error> {
        Ok(Installation { version: rusqlite::version().to_owned(), place: "built in".to_owned() })
    }

    fn setting_names(&self) -> Option<fn() -> Vec<&'static str>> {
        Some(pragma::names)
    }

    fn refused_settings(&self) -> RefuseSettings {
        pragma::refused
    }

    fn snapshots(&self) -> Option<Snapshots> {
        Some(Snapshots::Files)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }

    fn takes_tier(&self) -> bool {
        true
    }

    fn writes_in_turn(&self) -> bool {
        true
    }

    fn create_database<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(async move { database::create(target) })
    }

    fn verify_settings<'a>(&'a self, target: &'a Target) -> Work<'a, Vec<Fact>> {
        Box::pin(async move {
            let connection = database::open(target)?;
            let mut facts = pragma::facts(&connection, &pragma::asked(&target.place.settings)?)?;
            facts.push(pragma::writers_fact(&target.place.settings));
            facts.extend(database::mounted(target)?.iter().flat_map(|mount| mount.facts()));
            Ok(facts)
        })
    }

    fn after_build<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(async move { database::settle(target) })
    }
}

impl SqlEngine for Sqlite {
    type Session = SqliteSession;

    fn open_session<'a>(&'a self, target: &'a Target) -> Work<'a, SqliteSession> {
        Box::pin(async move {
            let limit = pragma::statement_timeout(&target.place.settings)?;
            let queued = pragma::has_queue(&target.place.settings).then(|| database::file(target));
            SqliteSession::new(database::open(target)?, limit, queued)
        })
    }
}

impl Memory for Sqlite {
    fn settings(&self, memory: Bytes, sessions: u32) -> Vec<(String, String)> {
        let each = memory.0 / CACHE_PART / u64::from(sessions.max(1)) / 1024;
        vec![("cache_size".to_owned(), format!("-{}", each.max(LEAST_CACHE_KIB)))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(memory: Bytes, sessions: u32, cache_size: &str) {
        let expected = vec![("cache_size".to_owned(), cache_size.to_owned())];
        assert_eq!(Sqlite.settings(memory, sessions), expected);
    }

    #[test]
    fn sessions_share_an_eighth_of_the_limit() {
        check(Bytes::mebi(64), 1, "-8192");
        check(Bytes::mebi(64), 4, "-2048");
        check(Bytes::mebi(16), 64, "-256");
        check(Bytes::mebi(64), 0, "-8192");
    }
}
