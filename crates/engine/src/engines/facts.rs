//! What a study may ask of an engine, derived from the facets that it has. May not know any engine by name.

use crate::contract::{Engine, LiveSettings, Memory, Replication, Snapshots};
use proofload_model::catalogue::{Capabilities, EngineFacts, ReplicationFacts, StandbyExtent};
use proofload_model::intervention::LIVE_ENGINE;
use proofload_model::settings::setting;

/// The kinds of sessions that a line of the registry names.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SessionKinds {
    pub(super) sql: bool,
    pub(super) documents: bool,
}

impl dyn Engine + '_ {
    /// What the study file may ask of it.
    pub fn facts(&self) -> EngineFacts {
        let about = self.about();
        EngineFacts {
            name: about.name,
            title: about.title,
            capabilities: capabilities(self, super::session_kinds(about.name)),
            password: self.existing().map(|existing| existing.password),
            minimum_memory_bytes: about.minimum_memory_bytes,
            settings: about.settings,
            setting_names: self.setting_names(),
            refused_settings: self.refused_settings(),
            live: live(self),
            thread_roles: self.thread_roles(),
        }
    }
}

/// Whether experiments can change each resource of an engine, in the order of the list of all.
fn live(engine: &dyn Engine) -> [bool; LIVE_ENGINE.len()] {
    let known = engine.live_settings().map(LiveSettings::known).unwrap_or_default();
    std::array::from_fn(|place| known.iter().any(|setting| setting.resource == LIVE_ENGINE[place].0))
}

/// What the facets of an engine come to.
fn capabilities(engine: &dyn Engine, sessions: SessionKinds) -> Capabilities {
    let (local_instance, url) = (engine.server().is_some(), engine.existing().is_some());
    let limits_memory = engine.memory().is_some_and(Memory::reaches_existing_servers);
    Capabilities {
        embedded: !local_instance && !url,
        sql: sessions.sql,
        documents: sessions.documents,
        local_instance,
        url,
        limits_at_url: if url && limits_memory { &[setting::LIMITS_MEMORY] } else { &[] },
        restore_at_url: url && engine.snapshots().is_some_and(Snapshots::reach_existing_servers),
        file_snapshot: engine.snapshots() == Some(Snapshots::Files),
        memory_setting: engine.memory().is_some(),
        replication: replication(engine),
        durable: engine.about().keeps_data,
        tier_in_process: engine.takes_tier(),
        log_folder: engine.server().is_some_and(|recipe| recipe.log_folder().is_some()),
    }
}

/// Modes with standbys of ours, and those that a connection to an existing server asks for.
fn replication(engine: &dyn Engine) -> Option<ReplicationFacts> {
    let ours = engine.replication().map(Replication::facts);
    let Some(existing) = engine.existing_replication() else { return ours };
    let settings = ours.map_or(existing.setting_names(), |ours| ours.settings);
    Some(ReplicationFacts {
        modes: ours.map_or(&[], |ours| ours.modes),
        settings,
        by_url: existing.modes(),
        failover_by_url: existing.failover().is_some(),
        managers: ours.map_or(&[], |ours| ours.managers),
        confirmations: ours.map_or(&[], |ours| ours.confirmations),
        extent: ours.map_or(StandbyExtent::ALL, |ours| ours.extent),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{About, Error, ExistingServer, Installation, Target, Work};
    use proofload_model::samples::Fact;
    use proofload_model::units::Bytes;

    /// A server that is only reached by URL and takes a limit of memory while it runs.
    struct Remote;

    impl Memory for Remote {
        fn settings(&self, memory: Bytes, _sessions: u32) -> Vec<(String, String)> {
            vec![("max server memory".to_owned(), memory.to_string())]
        }

        fn reaches_existing_servers(&self) -> bool {
            true
        }
    }

    impl Engine for Remote {
        fn about(&self) -> About {
            About { name: "remote", title: "", keeps_data: true, minimum_memory_bytes: 0, settings: &[] }
        }

        fn locate(&self) -> Result<Installation, Error> {
            Err(Error::other("it is reached by URL"))
        }

        fn existing(&self) -> Option<ExistingServer> {
            Some(ExistingServer { password: "set REMOTE_PASSWORD", hosts: |url| vec![url.to_owned()] })
        }

        fn memory(&self) -> Option<&dyn Memory> {
            Some(self)
        }

        fn create_database<'a>(&'a self, _target: &'a Target) -> Work<'a, ()> {
            Box::pin(async { Ok(()) })
        }

        fn verify_settings<'a>(&'a self, _target: &'a Target) -> Work<'a, Vec<Fact>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn after_build<'a>(&'a self, _target: &'a Target) -> Work<'a, ()> {
            Box::pin(async { Ok(()) })
        }
    }

    #[test]
    fn capabilities_follow_from_facets() {
        let found = capabilities(&Remote, SessionKinds { sql: true, documents: false });
        let expected = Capabilities {
            embedded: false,
            sql: true,
            documents: false,
            local_instance: false,
            url: true,
            limits_at_url: &["limits.memory"],
            restore_at_url: false,
            file_snapshot: false,
            memory_setting: true,
            replication: None,
            durable: true,
            tier_in_process: false,
            log_folder: false,
        };
        assert_eq!(found, expected);
        let facts = (&Remote as &dyn Engine).facts();
        assert_eq!((facts.password, facts.capabilities.sql), (Some("set REMOTE_PASSWORD"), false), "it has no line");
        assert_eq!(
            (facts.live, facts.thread_roles.len()),
            ([false; LIVE_ENGINE.len()], 0),
            "it lets nothing be changed"
        );
    }
}
