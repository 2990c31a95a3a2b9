//! What MongoDB can do, and which of its settings a memory limit implies. May not know a workload's collections.

use super::options::SETTINGS;
use super::recipe::Recipe;
use super::scratch::ScratchServer;
use super::{Documents, database, installation, observer, settings};
use crate::contract::{
    About, DocumentEngine, Engine, Error, ExistingReplication, ExistingServer, Installation, Memory, Observer,
    ScratchDatabases, ServerRecipe, ServerRights, Snapshots, Target, Work,
};
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;

/// MongoDB.
#[derive(Debug)]
pub struct Mongodb;

/// The smallest cache that MongoDB takes by default.
const LEAST_CACHE: Bytes = Bytes::mebi(256);

impl Engine for Mongodb {
    fn about(&self) -> About {
        About {
            name: "mongodb",
            title: "MongoDB, started locally (not yet tested with a mongod) or reached by URL",
            keeps_data: true,
            minimum_memory_bytes: 512 << 20,
            settings: SETTINGS,
        }
    }

    fn locate(&self) -> Result<Installation, Error> {
        let found = installation::find()?;
        Ok(Installation { version: found.version, place: found.path.display().to_string() })
    }

    fn snapshots(&self) -> Option<Snapshots> {
        Some(Snapshots::Files)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }

    fn server(&self) -> Option<&dyn ServerRecipe> {
        Some(&Recipe)
    }

    fn existing(&self) -> Option<ExistingServer> {
        Some(ExistingServer {
            password: "set MONGODB_USER and MONGODB_PASSWORD for the load agent",
            // The driver finds the members of a set by itself.
            hosts: |url| vec![url.to_owned()],
        })
    }

    fn server_rights(&self) -> Option<&dyn ServerRights> {
        Some(self)
    }

    fn existing_replication(&self) -> Option<&dyn ExistingReplication> {
        Some(self)
    }

    fn scratch_databases(&self) -> Option<&dyn ScratchDatabases> {
        Some(&ScratchServer)
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
}

impl DocumentEngine for Mongodb {
    type Documents = Documents;

    fn open_documents<'a>(&'a self, target: &'a Target) -> Work<'a, Documents> {
        Box::pin(Documents::connect(target))
    }
}

impl Memory for Mongodb {
    /// MongoDB's own rule for a machine of this size: half of what is left after 1 GiB, but 256 MiB at least. The rest is for
    /// connections and for the kernel's page cache, through which WiredTiger reads and which the control group is charged for.
    /// Source: MongoDB manual, "WiredTiger Storage Engine", memory use.
    fn settings(&self, memory: Bytes, _sessions: u32) -> Vec<(String, String)> {
        let left = memory.0.saturating_sub(1 << 30) / 2;
        let whole = Bytes(left >> 20 << 20).max(LEAST_CACHE);
        vec![("cache_size".to_owned(), whole.to_string())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::place_settings;
    use proofload_model::settings::{Settings, Value};

    #[test]
    fn a_memory_limit_implies_the_cache_that_a_machine_of_that_size_would_have() {
        let check = |memory, expected: &str| {
            assert_eq!(Mongodb.settings(memory, 64), [("cache_size".to_owned(), expected.to_owned())]);
        };
        check(Bytes::mebi(512), "256MiB");
        check(Bytes::mebi(1536), "256MiB");
        check(Bytes::mebi(2048), "512MiB");
        check(Bytes(160_000_000_000), "75781MiB");
    }

    #[test]
    fn a_study_overrules_the_cache_that_its_memory_limit_implies() {
        let given = [
            ("limits.memory", Value::Bytes(Bytes::mebi(4096))),
            ("engine.cache_size", Value::Bytes(Bytes::mebi(1024))),
            ("engine.settings.syncdelay", Value::Text("60".to_owned())),
        ];
        let settings = Settings(given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect());
        let found = place_settings(&Mongodb, &settings, 4);
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, [("cache_size", "1536MiB"), ("cache_size", "1GiB"), ("syncdelay", "60")]);
    }
}
