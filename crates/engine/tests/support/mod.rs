//! Places for the conformance suite: a temporary folder for an embedded engine, a real server for the others.
//! Servers listen on nothing but a private socket folder and are stopped when the place is dropped, also by a panic; one that
//! is kept goes to the next place instead, and is stopped after the process.

mod kept;
mod server;

use kept::Kept;
use proofload_engine::{AnySession, Engine, Target};
use server::Server;
use std::time::Duration;
use tempfile::TempDir;

/// What only some tests want to be otherwise.
pub(crate) struct Special<'a> {
    /// How the folder's name starts.
    pub(crate) prefix: &'a str,
    /// Files of the server's configuration and what is added to them.
    pub(crate) added: &'a [(&'a str, String)],
    /// Port, or the number in a socket's name.
    pub(crate) port: u16,
    /// Whether a server of an earlier test will do, without its data; its log and its counters go on. Its commits do not wait for the drive.
    pub(crate) kept: bool,
}

impl Default for Special<'_> {
    fn default() -> Self {
        Self { prefix: "proofload-conformance-", added: &[], port: 5432, kept: false }
    }
}

/// An engine ready to be tested.
pub(crate) struct Place {
    pub(crate) engine: &'static dyn Engine,
    pub(crate) target: Target,
    /// Declared before the folder: stopped before its files go.
    server: Option<Server>,
    folder: Option<TempDir>,
    /// Whether the server goes to the next test.
    kept: bool,
}

impl Place {
    /// A place with these settings; the error says why the engine cannot be had here.
    pub(crate) fn new(
        engine: &'static dyn Engine,
        settings: &[(&str, &str)],
        special: &Special<'_>,
    ) -> Result<Self, String> {
        engine.locate().map_err(|error| error.to_string())?;
        let is_plain = settings.is_empty() && special.added.is_empty();
        let kept = special.kept && is_plain && engine.server().is_some();
        if let Some(Kept { server, folder, .. }) = kept.then(|| kept::take(engine)).flatten() {
            let place = kept::location(engine, folder.path(), Vec::new());
            let target = Target::new(place, Some(server.address.clone()));
            return Ok(Self { engine, target, server: Some(server), folder: Some(folder), kept });
        }
        let folder = tempfile::Builder::new().prefix(special.prefix).tempdir().expect("a temporary folder");
        let of_server = if kept { kept::settings(engine) } else { settings };
        let server = engine.server().map(|recipe| Server::start(recipe, folder.path(), &owned(of_server), special));
        let place = kept::location(engine, folder.path(), owned(settings));
        let target = Target::new(place, server.as_ref().map(|server| server.address.clone()));
        Ok(Self { engine, target, server, folder: Some(folder), kept })
    }

    /// Ends the server as a crash does, and starts it again after so long.
    #[allow(dead_code, reason = "not every test that has places needs it")]
    pub(crate) fn crash(&self, down: Duration) {
        self.server.as_ref().expect("an engine with a server").crash(down);
    }

    /// A new session.
    #[allow(dead_code, reason = "not every test that has places needs it")]
    pub(crate) async fn connect(&self) -> AnySession {
        self.engine.connect(&self.target).await.expect("connects")
    }
}

fn owned(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

impl Drop for Place {
    /// Keeps the server for the next place, unless a test failed on it.
    fn drop(&mut self) {
        if self.kept
            && !std::thread::panicking()
            && let (Some(server), Some(folder)) = (self.server.take(), self.folder.take())
        {
            kept::keep(Kept { engine: self.engine.facts().name, server, folder });
        }
    }
}
