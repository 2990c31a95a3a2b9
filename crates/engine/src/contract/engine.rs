//! An engine as a whole: what it can do, how it is found, how to connect.

use super::endpoints::Endpoints;
use super::error::Error;
use super::observer::Observer;
use super::server::ServerRecipe;
use crate::engines::{AnyDocuments, AnySession};
use proofload_model::catalogue::EngineFacts;
use proofload_model::samples::Fact;
use proofload_model::settings::Settings;
use proofload_model::units::Bytes;
use proofload_model::wire::DataPlace;

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
    pub place: DataPlace,
    /// Addresses of started instances; empty for embedded engines and URLs.
    pub endpoints: Endpoints,
}

impl Target {
    /// A target with at most one endpoint.
    pub fn new(place: DataPlace, address: Option<String>) -> Self {
        Self { place, endpoints: address.into() }
    }

    /// Address of the started instance whose turn it is; `None` for embedded engines and URLs.
    pub fn address(&self) -> Option<&str> {
        self.endpoints.address()
    }
}

/// One engine. Constant and shared; everything that changes is in sessions.
pub trait Engine: Sync {
    /// What the study file may ask of it.
    fn facts(&self) -> EngineFacts;

    /// Finds it on this machine; the error says what is missing and how to get it.
    fn locate(&self) -> Result<Installation, Error>;

    /// The engine settings that a memory limit implies for so many sessions, such as `shared_buffers`; the study's own settings win.
    fn memory_settings(&self, memory: Bytes, sessions: u32) -> Vec<(String, String)>;

    /// Recipe of a local instance; `None` for embedded engines and for those reached only by URL.
    fn server(&self) -> Option<&dyn ServerRecipe>;

    /// Opens an SQL session; an error unless the capability `sql` says that there are such. Cold path, blocking runtimes
    /// included: call it from a client thread's runtime.
    fn connect<'a>(&'a self, _target: &'a Target) -> Work<'a, AnySession> {
        Box::pin(async { Err(Error::other(format!("the engine {} has no SQL sessions", self.facts().name))) })
    }

    /// Opens a session of documents; an error unless the capability `documents` says that there are such. Cold path likewise.
    fn connect_documents<'a>(&'a self, _target: &'a Target) -> Work<'a, AnyDocuments> {
        Box::pin(async { Err(Error::other(format!("the engine {} has no sessions of documents", self.facts().name))) })
    }

    /// Creates the empty database of the study, or refuses one that is not ours. Called before a build.
    fn create_database<'a>(&'a self, target: &'a Target) -> Work<'a, ()>;

    /// Settings asked and in force as a session sees them; `holds` is false where they differ.
    fn verify_settings<'a>(&'a self, target: &'a Target) -> Work<'a, Vec<Fact>>;

    /// Settles the data after a build: analyse, freeze, checkpoint, so that a snapshot starts from rest.
    fn after_build<'a>(&'a self, target: &'a Target) -> Work<'a, ()>;

    /// An observer of a server's statistics; `None` for embedded engines.
    fn observer(&self, target: &Target) -> Result<Option<Box<dyn Observer>>, Error>;
}

/// The settings for [`DataPlace::settings`]: those that `limits.memory` implies for so many sessions, then the engine's own
/// (`engine.<name>`), then `engine.settings.*`, of which those below an engine's name (`engine.settings.postgresql.jit`) are that
/// engine's alone. Later ones win, so a study overrules what its memory limit implies.
pub fn place_settings(engine: &dyn Engine, settings: &Settings, sessions: u32) -> Vec<(String, String)> {
    let implied = settings.bytes("limits.memory").map(|memory| engine.memory_settings(memory, sessions));
    let own = engine.facts().settings.iter().filter_map(|spec| {
        let value = settings.get(spec.path)?;
        Some((spec.path.strip_prefix("engine.")?.to_owned(), value.to_string()))
    });
    let name = engine.facts().name;
    let below = |path: &str, skip: bool| -> Vec<(String, String)> {
        let given = settings.below(path).filter(|(name, _)| !skip || !is_of_an_engine(name));
        given.map(|(name, value)| (name.to_owned(), value.to_string())).collect()
    };
    let (general, particular) = (below("engine.settings", true), below(&format!("engine.settings.{name}"), false));
    implied.unwrap_or_default().into_iter().chain(own).chain(general).chain(particular).collect()
}

/// Whether this name below `engine.settings` belongs to one engine, by its first part.
fn is_of_an_engine(name: &str) -> bool {
    name.split_once('.').is_some_and(|(owner, _)| crate::engine(owner).is_some())
}
