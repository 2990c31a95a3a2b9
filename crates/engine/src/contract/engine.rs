//! An engine as a whole: what it is, which facets it has, how to connect. May not know which engines there are.

use super::documents::Documents;
use super::endpoints::Endpoints;
use super::error::Error;
use super::facets::{Backups, ExistingServer, Memory, ServerChanges, Snapshots};
use super::ledger_texts::LedgerTexts;
use super::live::LiveSettings;
use super::observer::{Observer, SessionSampler};
use super::recording::WireRecorder;
use super::replication::{ExistingReplication, Replication};
use super::rights::ServerRights;
use super::scratch::ScratchDatabases;
use super::server::ServerRecipe;
use super::session::Session;
use proofload_model::catalogue::{RefuseSettings, no_refused_settings};
use proofload_model::samples::Fact;
use proofload_model::settings::SettingSpec;
use proofload_model::wire::DataLocation;

/// Work outside the hot path, to be awaited on a client thread's runtime.
pub type Work<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, Error>> + 'a>>;

/// What was found of an engine on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Version text of the engine itself.
    pub version: String,
    /// Where it is: a folder, or `built in`.
    pub place: String,
}

/// Database that sessions connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The study's place: folder, URL, settings.
    pub place: DataLocation,
    /// Addresses of started instances, or of the hosts of a URL that names several; empty for embedded engines and other URLs.
    pub endpoints: Endpoints,
}

impl Target {
    /// A target with at most one endpoint.
    pub fn new(place: DataLocation, address: Option<String>) -> Self {
        Self { place, endpoints: address.into() }
    }

    /// A target with the addresses of started instances, or with the hosts of its URL where that names several.
    pub fn of(engine: &dyn Engine, place: DataLocation, addresses: Vec<String>) -> Self {
        let by_url = place.url.as_deref().zip(engine.existing()).filter(|_| addresses.is_empty());
        let hosts = by_url.map(|(url, server)| (server.hosts)(url)).filter(|hosts| hosts.len() > 1);
        Self { place, endpoints: hosts.unwrap_or(addresses).into() }
    }

    /// Tells whether its instance was started by us.
    pub fn is_ours(&self) -> bool {
        self.place.url.is_none()
    }

    /// Address whose turn it is, of a started instance or of a URL with several hosts; `None` for embedded engines and other URLs.
    pub fn address(&self) -> Option<&str> {
        self.endpoints.address()
    }
}

/// What an engine says of itself.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The word in `engine.kind`.
    pub name: &'static str,
    /// One line for lists.
    pub title: &'static str,
    /// Whether it keeps data; if not, it measures Proofload itself.
    pub keeps_data: bool,
    /// The smallest `limits.memory` in bytes that it starts with and works under.
    pub minimum_memory_bytes: u64,
    /// Settings of its own below `engine.`.
    pub settings: &'static [SettingSpec],
}

/// One engine. Constant and shared; everything that changes is in sessions.
///
/// What it can do follows from the facets that it has: the methods that give an `Option`, and the kinds of sessions that its line in the
/// registry names. An engine with neither `server` nor `existing` lives in the load agent's process.
pub trait Engine: Sync {
    /// What it says of itself.
    fn about(&self) -> About;

    /// Finds it on this machine; the error says what is missing and how to get it.
    fn locate(&self) -> Result<Installation, Error>;

    /// Names of the settings that it takes, where it takes no others; `None` where only the running engine knows.
    fn setting_names(&self) -> Option<fn() -> Vec<&'static str>> {
        None
    }

    /// Settings below `engine.settings` that it does not take, as far as that is known before it runs. Starts no server.
    fn refused_settings(&self) -> RefuseSettings {
        no_refused_settings
    }

    /// How a local instance is run.
    fn server(&self) -> Option<&dyn ServerRecipe> {
        None
    }

    /// A server that Proofload did not start.
    fn existing(&self) -> Option<ExistingServer> {
        None
    }

    /// Rights of a login at such a server.
    fn server_rights(&self) -> Option<&dyn ServerRights> {
        None
    }

    /// How its data are kept and put back.
    fn snapshots(&self) -> Option<Snapshots> {
        None
    }

    /// Data that its server keeps and puts back; there where `snapshots` says so.
    fn backups(&self) -> Option<&dyn Backups> {
        None
    }

    /// Memory that it is told to keep to.
    fn memory(&self) -> Option<&dyn Memory> {
        None
    }

    /// Changes of a server that Proofload did not start, which are put back at the end of a run.
    fn server_changes(&self) -> Option<&dyn ServerChanges> {
        None
    }

    /// Whether its sessions read and write through the cache tier of their target. Only an engine in the load agent's process can.
    fn takes_tier(&self) -> bool {
        false
    }

    /// Whether its sessions write one at a time, so that a load that writes keeps one core busy however many there are.
    fn writes_in_turn(&self) -> bool {
        false
    }

    /// Settings that can be changed while an instance runs.
    fn live_settings(&self) -> Option<&dyn LiveSettings> {
        None
    }

    /// Roles that threads and processes of its server are known to have before it runs, as reports name them; others may be there.
    fn thread_roles(&self) -> &'static [&'static str] {
        &[]
    }

    /// Instances that follow another.
    fn replication(&self) -> Option<&dyn Replication> {
        None
    }

    /// Standbys of a server that Proofload did not start.
    fn existing_replication(&self) -> Option<&dyn ExistingReplication> {
        None
    }

    /// Texts of the table in which a prober writes.
    fn ledger_texts(&self) -> LedgerTexts {
        LedgerTexts::STANDARD
    }

    /// Databases that are made at a server for one use, such as a self-test.
    fn scratch_databases(&self) -> Option<&dyn ScratchDatabases> {
        None
    }

    /// Records what its sessions say and hear; only where they are our own.
    fn recorder(&self) -> Option<&dyn WireRecorder> {
        None
    }

    /// Opens an observer of a server's statistics; `None` for an engine that has no server to observe.
    fn observer(&self, _target: &Target) -> Result<Option<Box<dyn Observer>>, Error> {
        Ok(None)
    }

    /// Opens a sampler of the load's sessions at a server; `None` for an engine that does not tell what they wait for.
    fn session_sampler(&self, _target: &Target) -> Result<Option<Box<dyn SessionSampler>>, Error> {
        Ok(None)
    }

    /// Tells whether the study's database is there; false only where a build makes one that is not.
    fn has_database<'a>(&'a self, _target: &'a Target) -> Work<'a, bool> {
        Box::pin(async { Ok(true) })
    }

    /// Creates the empty database of the study, or refuses one that is not ours. Called before a build.
    fn create_database<'a>(&'a self, target: &'a Target) -> Work<'a, ()>;

    /// Reads settings asked and in force as a session sees them; `holds` is false where they differ.
    fn verify_settings<'a>(&'a self, target: &'a Target) -> Work<'a, Vec<Fact>>;

    /// Settles the data after a build: analyse, freeze, checkpoint, so that a snapshot starts from rest.
    fn after_build<'a>(&'a self, target: &'a Target) -> Work<'a, ()>;
}

/// An engine whose line in the registry says `sql`.
pub trait SqlEngine: Engine {
    /// Its sessions.
    type Session: Session;

    /// Opens an SQL session. Cold path, blocking runtimes included: call it from a client thread's runtime.
    fn open_session<'a>(&'a self, target: &'a Target) -> Work<'a, Self::Session>;
}

/// An engine whose line in the registry says `documents`.
pub trait DocumentEngine: Engine {
    /// Its sessions.
    type Documents: Documents;

    /// Opens a session of documents. Cold path likewise.
    fn open_documents<'a>(&'a self, target: &'a Target) -> Work<'a, Self::Documents>;
}
