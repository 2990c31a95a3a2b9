//! What PostgreSQL can do, and which of its settings a memory limit implies. May not know a workload's tables.

use super::recipe::Recipe;
use super::scratch::ScratchServer;
use super::{PostgresqlSession, database, hosts, installation, observer, refused_settings, sessions, settings};
use crate::contract::{
    About, Engine, Error, ExistingReplication, ExistingServer, Installation, LiveSettings, Memory, Observer,
    Replication, ScratchDatabases, ServerRecipe, ServerRights, SessionSampler, Snapshots, SqlEngine, Target, Work,
};
use proofload_model::catalogue::RefuseSettings;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;

/// PostgreSQL.
#[derive(Debug)]
pub struct Postgresql;

/// Connections kept free for the observer, checks and the conductor.
const SPARE_CONNECTIONS: u32 = 16;
/// Setting of the number of connections.
const MAX_CONNECTIONS: &str = "max_connections";
/// Memory limit for each connection that does no work: the server keeps about 25 kB of shared memory for one, mostly for 64 locks, which is
/// a twentieth. Source: PostgreSQL manual, `max_locks_per_transaction`.
const BYTES_FOR_A_CONNECTION: u64 = 512 << 10;
/// Roles that its processes give themselves in their titles, without what changes in them. Source: PostgreSQL's sources, descriptions of the
/// backend types in `miscinit.c`, of versions 15 to 18.
const ROLES: &[&str] = &[
    "archiver",
    "autovacuum launcher",
    "autovacuum worker",
    "background writer",
    "checkpointer",
    "io worker",
    "logger",
    "logical replication",
    "parallel worker",
    "slotsync worker",
    "startup",
    "walreceiver",
    "walsender",
    "walsummarizer",
    "walwriter",
];

impl Engine for Postgresql {
    fn about(&self) -> About {
        About {
            name: "postgresql",
            title: "PostgreSQL, started locally or reached by URL",
            keeps_data: true,
            minimum_memory_bytes: 64 << 20,
            settings: &[],
        }
    }

    fn locate(&self) -> Result<Installation, Error> {
        installation::find()
            .map(|found| Installation { version: found.version, place: found.folder.display().to_string() })
    }

    fn refused_settings(&self) -> RefuseSettings {
        refused_settings::refused
    }

    fn snapshots(&self) -> Option<Snapshots> {
        Some(Snapshots::Files)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }

    fn live_settings(&self) -> Option<&dyn LiveSettings> {
        Some(self)
    }

    fn thread_roles(&self) -> &'static [&'static str] {
        ROLES
    }

    fn replication(&self) -> Option<&dyn Replication> {
        Some(self)
    }

    fn existing_replication(&self) -> Option<&dyn ExistingReplication> {
        Some(self)
    }

    fn server(&self) -> Option<&dyn ServerRecipe> {
        Some(&Recipe)
    }

    fn existing(&self) -> Option<ExistingServer> {
        Some(ExistingServer {
            password: "set PGPASSWORD, or a password file by PGPASSFILE, for the load agent",
            hosts: hosts::each,
        })
    }

    fn server_rights(&self) -> Option<&dyn ServerRights> {
        Some(self)
    }

    fn scratch_databases(&self) -> Option<&dyn ScratchDatabases> {
        Some(&ScratchServer)
    }

    fn has_database<'a>(&'a self, target: &'a Target) -> Work<'a, bool> {
        Box::pin(database::is_there(target))
    }

    fn create_database<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(database::create(target))
    }

    fn verify_settings<'a>(&'a self, target: &'a Target) -> Work<'a, Vec<Fact>> {
        Box::pin(settings::verify(target))
    }

    fn after_build<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(database::settle(target))
    }

    fn observer(&self, target: &Target) -> Result<Option<Box<dyn Observer>>, Error> {
        Ok(Some(Box::new(observer::ServerObserver::new(target)?)))
    }

    fn session_sampler(&self, target: &Target) -> Result<Option<Box<dyn SessionSampler>>, Error> {
        Ok(Some(Box::new(sessions::ActivitySampler::new(target)?)))
    }
}

impl SqlEngine for Postgresql {
    type Session = PostgresqlSession;

    fn open_session<'a>(&'a self, target: &'a Target) -> Work<'a, PostgresqlSession> {
        Box::pin(PostgresqlSession::open(target))
    }
}

impl Memory for Postgresql {
    fn settings(&self, memory: Bytes, sessions: u32) -> Vec<(String, String)> {
        self.settings_with_room(memory, sessions, 0)
    }

    /// A quarter of the limit for shared buffers, because PostgreSQL reads through the kernel's page cache, which the same
    /// control group is charged for; the private memory of sorts and maintenance stays within another quarter.
    fn settings_with_room(&self, memory: Bytes, sessions: u32, more: u32) -> Vec<(String, String)> {
        let kib = memory.0 / 1024;
        let sessions = sessions.max(1);
        let shared_buffers = (kib / 4).max(16 << 10) / 8 * 8;
        let work_mem = (kib / 8 / u64::from(sessions)).clamp(64, 4 << 10);
        let maintenance = (kib / 16).clamp(1 << 10, 1 << 20);
        let room = u64::from(more).min(memory.0 / BYTES_FOR_A_CONNECTION);
        [
            ("shared_buffers", format!("{shared_buffers}kB")),
            ("work_mem", format!("{work_mem}kB")),
            ("maintenance_work_mem", format!("{maintenance}kB")),
            ("autovacuum_work_mem", format!("{}kB", (maintenance / 2).max(1 << 10))),
            ("effective_cache_size", format!("{}kB", kib / 4 * 3 / 8 * 8)),
            (MAX_CONNECTIONS, (u64::from(sessions + SPARE_CONNECTIONS) + room).to_string()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    fn connections_setting(&self) -> Option<&'static str> {
        Some(MAX_CONNECTIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::place_settings;
    use proofload_model::settings::{Settings, Value};

    fn check(memory: Bytes, sessions: u32, expected: &[(&str, &str)]) {
        let found = Postgresql.settings(memory, sessions);
        for (name, value) in expected {
            assert!(found.iter().any(|(key, text)| key == name && text == value), "{name} = {value}: {found:?}");
        }
    }

    #[test]
    fn a_memory_limit_leaves_room_for_the_kernel_and_for_sessions() {
        check(Bytes::mebi(64), 4, &[("shared_buffers", "16384kB"), ("work_mem", "2048kB"), ("max_connections", "20")]);
        check(Bytes::mebi(1024), 64, &[("shared_buffers", "262144kB"), ("work_mem", "2048kB")]);
        check(Bytes::mebi(64), 1000, &[("work_mem", "64kB"), ("maintenance_work_mem", "4096kB")]);
    }

    #[test]
    fn a_study_overrules_what_its_memory_limit_implies() {
        let given = [
            ("limits.memory", Value::Bytes(Bytes::mebi(64))),
            ("engine.settings.shared_buffers", Value::Text("32MiB".to_owned())),
            ("engine.service_time", Value::Text("belongs to another engine".to_owned())),
            ("engine.settings.duckdb.memory_limit", Value::Text("as well".to_owned())),
            ("engine.settings.postgresql.jit", Value::Text("off".to_owned())),
            ("engine.settings.postgresql.work_mem", Value::Text("1MB".to_owned())),
            ("engine.settings.work_mem", Value::Text("2MB".to_owned())),
            ("engine.settings.auto_explain.log_analyze", Value::Text("on".to_owned())),
        ];
        let settings = Settings(given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect());
        let found = place_settings(&Postgresql, &settings, 4);
        let last = |name: &str| found.iter().rev().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
        assert_eq!(last("shared_buffers"), Some("32MiB"));
        assert_eq!((last("jit"), last("work_mem")), (Some("off"), Some("1MB")), "an engine's own come last");
        assert_eq!(last("auto_explain.log_analyze"), Some("on"), "a dot alone makes no engine");
        assert!(found.iter().all(|(name, _)| name != "service_time" && !name.ends_with("memory_limit")), "{found:?}");
    }
}
