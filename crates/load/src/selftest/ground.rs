//! The ground of a self-test: an empty database for each part, at a server by its URL or in a folder. Leaves nothing behind.

use super::bench::Bench;
use super::upkeep::with_leave;
use crate::workloads::blocking_session::runtime;
use proofload_engine::{Engine, ScratchDatabases, ScratchState, Target};
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::wire::DataLocation;
use std::path::{Path, PathBuf};

/// Where empty databases come from.
pub struct Ground {
    engine: &'static dyn Engine,
    folder: PathBuf,
    server: Option<Server>,
}

/// A server, and the name of the database that is made there.
struct Server {
    scratch: &'static dyn ScratchDatabases,
    target: Target,
    database: String,
}

impl std::fmt::Debug for Ground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ground").field("engine", &self.engine.about().name).finish_non_exhaustive()
    }
}

impl Ground {
    /// Ground in a folder, for an engine that runs in this process.
    pub fn in_folder(engine: &'static dyn Engine, folder: &Path) -> Self {
        Self { engine, folder: folder.to_owned(), server: None }
    }

    /// Ground at a server, in a database of this name; `folder` is for the reference.
    ///
    /// # Errors
    /// The engine makes no databases of its own, or the URL is not understood.
    pub fn at_server(engine: &'static dyn Engine, url: &str, database: &str, folder: &Path) -> Result<Self, Error> {
        let name = engine.about().name;
        let lacking = || Error::new(format!("{name} does not make databases for one use; give it no --url"));
        let scratch = engine.scratch_databases().ok_or_else(lacking)?;
        scratch.url(url, database)?;
        let target = Target::of(engine, location(engine, folder, Some(url.to_owned())), Vec::new());
        Ok(Self {
            engine,
            folder: folder.to_owned(),
            server: Some(Server { scratch, target, database: database.to_owned() }),
        })
    }

    /// What stands under the name of the database.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn state(&self) -> Result<ScratchState, Error> {
        let Some(server) = &self.server else { return Ok(ScratchState::Absent) };
        Ok(runtime()?.block_on(server.scratch.look(&server.target, &server.database))?)
    }

    /// An empty database in the place of the one before.
    ///
    /// # Errors
    /// The one before is not ours or in use, or a new one cannot be made.
    pub fn fresh(&self) -> Result<Target, Error> {
        self.clear()?;
        let Some(server) = &self.server else {
            std::fs::create_dir_all(self.folder.join("data")).map_err(|error| told(&self.folder, &error))?;
            let place = location(self.engine, &self.folder.join("data"), None);
            return Ok(Target::new(place, None));
        };
        runtime()?.block_on(server.scratch.make(&server.target, &server.database))?;
        self.database(server)
    }

    /// The database at the server.
    fn database(&self, server: &Server) -> Result<Target, Error> {
        let url = server.scratch.url(server.target.place.url.as_deref().unwrap_or_default(), &server.database)?;
        let place = location(self.engine, &self.folder, Some(url));
        Ok(Target::of(self.engine, place, Vec::new()))
    }

    /// Puts back what a self-test with leave has changed of the server and did not put back, as one that was killed: its database holds the
    /// old values, and goes.
    fn put_back(&self, server: &Server) -> Result<(), Error> {
        let Some(changes) = self.engine.server_changes() else { return Ok(()) };
        if self.state()? != ScratchState::Marked {
            return Ok(());
        }
        let target = with_leave(&self.database(server)?);
        let done = runtime()?.block_on(changes.put_back(&target)).map_err(Error::from);
        done.map_err(|error| {
            let name = &server.database;
            error.context(format!(
                "put back settings of the server; the database {name} holds their old values and stays"
            ))
        })
    }

    /// Removes the database and the data of the reference; what a self-test left changed of the server is put back before.
    ///
    /// # Errors
    /// It is not ours, somebody is connected to it, or a setting of the server cannot be put back.
    pub fn clear(&self) -> Result<(), Error> {
        for folder in ["data", "reference"].map(|name| self.folder.join(name)) {
            match std::fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(told(&folder, &error)),
                _ => {}
            }
        }
        let Some(server) = &self.server else { return Ok(()) };
        self.put_back(server)?;
        Ok(runtime()?.block_on(server.scratch.remove(&server.target, &server.database))?)
    }

    /// An empty folder for the data of the reference.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn reference_folder(&self) -> Result<PathBuf, Error> {
        let folder = self.folder.join("reference");
        std::fs::create_dir_all(&folder).map_err(|error| told(&folder, &error))?;
        Ok(folder)
    }
}

impl Bench {
    /// What the database says of itself: version, settings, collation.
    ///
    /// # Errors
    /// It does not answer.
    pub fn facts(&self) -> Result<Vec<Fact>, Error> {
        let runtime = runtime()?;
        runtime.block_on(self.engine.create_database(&self.target))?;
        Ok(runtime.block_on(self.engine.verify_settings(&self.target))?)
    }
}

fn told(folder: &Path, error: &std::io::Error) -> Error {
    Error::new(format!("make room in {}: {error}", folder.display()))
}

/// A place of data of an engine at its defaults.
pub(super) fn location(engine: &dyn Engine, folder: &Path, url: Option<String>) -> DataLocation {
    DataLocation {
        engine: engine.about().name.to_owned(),
        folder: folder.display().to_string(),
        url,
        settings: Vec::new(),
        tier: None,
    }
}

#[cfg(test)]
mod tests;
