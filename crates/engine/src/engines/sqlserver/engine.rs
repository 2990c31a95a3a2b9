//! What SQL Server can do. May not know a workload's tables.

use super::scratch::SqlserverScratch;
use super::wire::SqlserverRecorder;
use super::{SqlserverSession, address, changes, database, ledger, observer, settings};
use crate::contract::{
    About, Backups, Engine, Error, ExistingReplication, ExistingServer, Installation, LedgerTexts, Memory, Observer,
    ScratchDatabases, ServerChanges, ServerRights, Snapshots, SqlEngine, Target, WireRecorder, Work,
};
use proofload_model::samples::Fact;

/// SQL Server.
#[derive(Debug)]
pub struct Sqlserver;

impl Engine for Sqlserver {
    fn about(&self) -> About {
        About {
            name: "sqlserver",
            title: "SQL Server, reached by URL; wire and syntax verified, never run on a server",
            keeps_data: true,
            minimum_memory_bytes: 2 << 30,
            settings: changes::SETTINGS,
        }
    }

    fn locate(&self) -> Result<Installation, Error> {
        Err(Error::other(
            "Proofload starts no SQL Server: name a running one in engine.url, such as sqlserver://user@host/database",
        ))
    }

    fn existing(&self) -> Option<ExistingServer> {
        Some(ExistingServer {
            password: "set SQLCMDPASSWORD, or name a file in SQLCMDPASSWORD_FILE, for the load agent",
            hosts: address::each,
        })
    }

    fn server_rights(&self) -> Option<&dyn ServerRights> {
        Some(self)
    }

    fn scratch_databases(&self) -> Option<&dyn ScratchDatabases> {
        Some(&SqlserverScratch)
    }

    fn recorder(&self) -> Option<&dyn WireRecorder> {
        Some(&SqlserverRecorder)
    }

    fn snapshots(&self) -> Option<Snapshots> {
        Some(Snapshots::Backups)
    }

    fn backups(&self) -> Option<&dyn Backups> {
        Some(self)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }

    fn server_changes(&self) -> Option<&dyn ServerChanges> {
        Some(self)
    }

    fn existing_replication(&self) -> Option<&dyn ExistingReplication> {
        Some(self)
    }

    fn ledger_texts(&self) -> LedgerTexts {
        ledger::TEXTS
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
        Ok(Some(Box::new(observer::CounterObserver::new(target)?)))
    }
}

impl SqlEngine for Sqlserver {
    type Session = SqlserverSession;

    fn open_session<'a>(&'a self, target: &'a Target) -> Work<'a, SqlserverSession> {
        Box::pin(SqlserverSession::open(target))
    }
}
