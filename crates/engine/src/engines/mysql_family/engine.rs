//! What every server of the family can do. May not know a workload's tables.

use super::flavour::FamilyMember;
use super::scratch::ScratchServer;
use super::{FamilySession, address, configuration, database, installation, observer, sessions, settings};
use crate::contract::{
    About, Engine, Error, ExistingReplication, ExistingServer, Installation, LiveSettings, Memory, Observer,
    Replication, ScratchDatabases, ServerRecipe, ServerRights, SessionSampler, Snapshots, SqlEngine, Target, Work,
};
use proofload_model::catalogue::RefuseSettings;
use proofload_model::samples::Fact;

impl<F: FamilyMember> Engine for F {
    fn about(&self) -> About {
        About {
            name: F::FLAVOUR.name,
            title: F::FLAVOUR.title,
            keeps_data: true,
            minimum_memory_bytes: F::FLAVOUR.memory.minimum_mib << 20,
            settings: F::FLAVOUR.settings,
        }
    }

    fn locate(&self) -> Result<Installation, Error> {
        installation::find(F::FLAVOUR).map(|found| Installation {
            version: found.version,
            place: found.server.parent().unwrap_or(&found.server).display().to_string(),
        })
    }

    fn refused_settings(&self) -> RefuseSettings {
        configuration::refused::<F>
    }

    fn snapshots(&self) -> Option<Snapshots> {
        Some(Snapshots::Files)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }

    fn server(&self) -> Option<&dyn ServerRecipe> {
        Some(self)
    }

    fn existing(&self) -> Option<ExistingServer> {
        Some(ExistingServer {
            password: "set MYSQL_PWD, or password in ~/.my.cnf, for the load agent",
            hosts: address::each,
        })
    }

    fn server_rights(&self) -> Option<&dyn ServerRights> {
        Some(self)
    }

    fn live_settings(&self) -> Option<&dyn LiveSettings> {
        Some(self)
    }

    fn thread_roles(&self) -> &'static [&'static str] {
        F::FLAVOUR.roles
    }

    fn replication(&self) -> Option<&dyn Replication> {
        Some(self)
    }

    fn existing_replication(&self) -> Option<&dyn ExistingReplication> {
        Some(self)
    }

    fn scratch_databases(&self) -> Option<&dyn ScratchDatabases> {
        Some(&ScratchServer)
    }

    fn session_sampler(&self, target: &Target) -> Result<Option<Box<dyn SessionSampler>>, Error> {
        Ok(Some(Box::new(sessions::ProcessListSampler::new(target)?)))
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
}

impl<F: FamilyMember> SqlEngine for F {
    type Session = FamilySession;

    fn open_session<'a>(&'a self, target: &'a Target) -> Work<'a, FamilySession> {
        Box::pin(FamilySession::open(target))
    }
}
