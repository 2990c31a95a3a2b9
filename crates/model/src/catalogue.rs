//! What the engine and load crates tell the study file about engines and workloads, so that a study is checked before anything runs.
//! May not know any engine or workload by name.

use crate::error::Error;
use crate::intervention::LIVE_ENGINE;
use crate::manager::ManagerKind;
use crate::replication::{Confirmation, ReplicationMode};
use crate::settings::{SettingSpec, Settings};
use crate::units::Bytes;
use serde::Serialize;

/// What an engine can do, as its facets say. A study that asks for what is missing is refused when it is validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// Runs inside the load agent's process instead of a server.
    pub embedded: bool,
    /// Speaks SQL sessions.
    pub sql: bool,
    /// Has sessions of documents found by key.
    pub documents: bool,
    /// Proofload can start a local instance of it.
    pub local_instance: bool,
    /// Can be reached by URL.
    pub url: bool,
    /// Paths of the limits that hold at a server reached by URL too, because the engine itself puts them in force and reads them back.
    pub limits_at_url: &'static [&'static str],
    /// The data of a server reached by URL can be put back between runs.
    pub restore_at_url: bool,
    /// Its files can be copied while it is stopped.
    pub file_snapshot: bool,
    /// Has a memory setting of its own.
    pub memory_setting: bool,
    /// How instances follow another; `None` for an engine that has no standbys.
    pub replication: Option<ReplicationFacts>,
    /// Keeps data; false for an engine that measures Proofload itself.
    pub durable: bool,
    /// Reads and writes through a cache tier in the load agent's process.
    pub tier_in_process: bool,
    /// A local instance of it has its log in a folder, which can lie on a volume of its own.
    pub log_folder: bool,
}

impl Capabilities {
    /// Whether a local instance of it runs on the file systems of a tier that is served to it.
    pub fn tier_as_volumes(&self) -> bool {
        self.local_instance && self.durable && !self.tier_in_process
    }
}

/// An engine as the study file sees it.
#[derive(Debug, Clone, Copy)]
pub struct EngineFacts {
    /// The word in `engine.kind`.
    pub name: &'static str,
    /// One line for lists.
    pub title: &'static str,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What to do about a password, as a fragment of a sentence; `None` for an engine that needs none.
    pub password: Option<&'static str>,
    /// The smallest `limits.memory` in bytes that it starts with and works under.
    pub minimum_memory_bytes: u64,
    /// Settings of its own below `engine.`.
    pub settings: &'static [SettingSpec],
    /// Names below `engine.settings` that it takes, where it takes no others; `None` for an engine that alone knows them, once it runs.
    pub setting_names: Option<fn() -> Vec<&'static str>>,
    /// Settings below `engine.settings`, given as name and value, that an engine at this place does not take, as far as that is known before
    /// it runs.
    pub refused_settings: RefuseSettings,
    /// Whether experiments can change each resource of [`LIVE_ENGINE`] while a local instance of it runs, in the order of that list.
    pub live: [bool; LIVE_ENGINE.len()],
    /// Roles that threads and processes of its server are known to have, as reports name them; empty where only the running server knows.
    pub thread_roles: &'static [&'static str],
}

/// Where the engine of a study runs, as far as the study tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnginePlace {
    /// Place on this machine: started by Proofload or inside it.
    Here,
    /// Place at a URL, or on another host, whose programs are not known here.
    Elsewhere,
}

/// A setting that an engine does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSetting {
    /// Name below `engine.settings`, as it was given.
    pub name: String,
    /// Value, as it was given.
    pub value: String,
    /// What is wrong, and what would be right.
    pub reason: String,
}

/// Names the settings, by name and value, that an engine at a place is known to refuse before it runs.
pub type RefuseSettings = fn(EnginePlace, &[(String, String)]) -> Vec<RefusedSetting>;

/// Refusals of an engine that says nothing of its settings before it runs.
pub fn no_refused_settings(_place: EnginePlace, _settings: &[(String, String)]) -> Vec<RefusedSetting> {
    Vec::new()
}

/// Replication of an engine as the study file sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReplicationFacts {
    /// Modes that it has beside `none`, with standbys that Proofload starts.
    pub modes: &'static [ReplicationMode],
    /// Modes that a connection to an existing server can ask for.
    pub by_url: &'static [ReplicationMode],
    /// Whether existing servers make a standby the primary when they are told to.
    pub failover_by_url: bool,
    /// Names of its settings by which a mode is put in force; a study with standbys may not give them.
    pub settings: &'static [&'static str],
    /// Failover managers that run it.
    pub managers: &'static [ManagerKind],
    /// Confirmations that a commit may wait for, with standbys that Proofload starts.
    pub confirmations: &'static [Confirmation],
    /// What else its standbys do.
    pub extent: StandbyExtent,
}

/// What the standbys of an engine do beside following their primary on its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StandbyExtent {
    /// They run on hosts of their own, or in networks of their own.
    pub hosts: bool,
    /// A failed primary is put back behind the one that took its place.
    pub rejoins: bool,
}

impl StandbyExtent {
    /// Everything.
    pub const ALL: Self = Self { hosts: true, rejoins: true };
}

/// A workload as the study file sees it.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadFacts {
    /// The word in `workload.kind`.
    pub name: &'static str,
    /// One line for lists.
    pub title: &'static str,
    /// Its settings below `workload.`.
    pub settings: &'static [SettingSpec],
    /// Needs an engine with SQL sessions that keeps data.
    pub needs_sql: bool,
    /// Its kinds of operations that somebody waits for, which a percentile can be of.
    pub operations: fn() -> &'static [&'static str],
    /// What does not go together in the resolved settings of a point, each of which is valid by itself. Pure; [`no_contradictions`] for a
    /// workload that has none.
    pub contradictions: fn(&Settings) -> Vec<Contradiction>,
    /// Size of the rows that the resolved settings of a point come to, without indexes and overhead of the engine; 0 where settings are
    /// faulty. Pure.
    pub raw_bytes: fn(&Settings) -> Bytes,
}

/// Settings that do not go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// Path of the setting to change.
    pub setting: &'static str,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl Contradiction {
    /// A contradiction.
    pub fn new(setting: &'static str, reason: impl Into<String>) -> Self {
        Self { setting, reason: reason.into() }
    }
}

impl From<Contradiction> for Error {
    fn from(contradiction: Contradiction) -> Self {
        Self::new(contradiction.reason).context(contradiction.setting)
    }
}

/// Every combination of valid settings goes together.
pub fn no_contradictions(_settings: &Settings) -> Vec<Contradiction> {
    Vec::new()
}

/// All that is built in.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// Engines, in the order of the registry.
    pub engines: Vec<EngineFacts>,
    /// Workloads, in the order of the registry.
    pub workloads: Vec<WorkloadFacts>,
}

impl Catalogue {
    /// Every setting that a study file may have: the standard ones, then those of workloads and engines.
    pub fn settings(&self) -> impl Iterator<Item = &'static SettingSpec> + '_ {
        let workloads = self.workloads.iter().flat_map(|workload| workload.settings);
        let engines = self.engines.iter().flat_map(|engine| engine.settings);
        crate::settings::STANDARD.iter().chain(workloads).chain(engines)
    }

    /// The engine of this name.
    pub fn engine(&self, name: &str) -> Option<&EngineFacts> {
        self.engines.iter().find(|engine| engine.name == name)
    }

    /// The workload of this name.
    pub fn workload(&self, name: &str) -> Option<&WorkloadFacts> {
        self.workloads.iter().find(|workload| workload.name == name)
    }
}
