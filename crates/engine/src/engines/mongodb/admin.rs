//! Commands outside the hot path, over the client path of the settings: their replies come as bytes of their own.

use super::bson::{Document, Writer};
#[cfg(feature = "mongodb-driver")]
use super::driver;
use super::failure::{COMMAND_NOT_FOUND, lost};
use super::lean::{self, Greeting};
use super::options::{ClientPath, Options};
use crate::contract::{Error, Target};
use crate::engines::blocking::PATIENCE;
use std::time::Duration;

/// The database of commands about the server.
pub(super) const SERVER: &str = "admin";
/// Longest wait for a connection and one answer. The lean path opens, greets by one name or two and answers, each within the time that an
/// observer waits; the driver's path has three such times for its connection, and one for the answer.
pub(super) const WHOLE_PATIENCE: Duration = PATIENCE.saturating_mul(4);

/// A connection for commands.
#[derive(Debug)]
pub(super) struct Admin(Path);

#[derive(Debug)]
enum Path {
    Lean(lean::Connection),
    #[cfg(feature = "mongodb-driver")]
    Driver(driver::Commands),
}

/// A reply.
#[derive(Debug)]
pub(super) struct Reply(Vec<u8>);

impl Reply {
    /// Its document.
    pub(super) fn document(&self) -> Result<Document<'_>, Error> {
        Document::whole(&self.0).map_err(|_| lost("the reply is damaged: not valid BSON"))
    }
}

impl Admin {
    /// Connects by the path that the settings ask for.
    pub(super) async fn connect(target: &Target) -> Result<Self, Error> {
        let options = Options::read(&target.place.settings)?;
        Self::by(options.path, target, options.timeout).await
    }

    /// Connects by this path; an answer is waited for so long.
    pub(super) async fn by(path: ClientPath, target: &Target, patience: Duration) -> Result<Self, Error> {
        match path {
            ClientPath::Lean => lean::open(target, patience).await.map(|(connection, _)| Self(Path::Lean(connection))),
            #[cfg(feature = "mongodb-driver")]
            ClientPath::Driver => {
                driver::Commands::connect(target, patience).await.map(|commands| Self(Path::Driver(commands)))
            }
            #[cfg(not(feature = "mongodb-driver"))]
            ClientPath::Driver => Err(super::failure::not_built_in()),
        }
    }

    /// Waits so long for each answer from now on.
    pub(super) fn wait(&mut self, patience: Duration) {
        match &mut self.0 {
            Path::Lean(connection) => connection.patience = patience,
            #[cfg(feature = "mongodb-driver")]
            Path::Driver(commands) => commands.patience = patience,
        }
    }

    /// What the server says of itself, by the older name of the command where it does not know the newer.
    pub(super) async fn hello(&mut self) -> Result<Greeting, Error> {
        let reply = match self.run(SERVER, |command| command.int32("hello", 1)).await {
            Err(error) if error.code() == COMMAND_NOT_FOUND => {
                self.run(SERVER, |command| command.int32("isMaster", 1)).await
            }
            outcome => outcome,
        };
        reply?.document().map(Greeting::read)
    }

    /// Runs a command in a database. An error of the server is an error with its code.
    pub(super) async fn run(&mut self, database: &str, fill: impl FnOnce(&mut Writer<'_>)) -> Result<Reply, Error> {
        let command = Writer::bytes(fill);
        match &mut self.0 {
            Path::Lean(connection) => {
                let reply = connection.run(database, |message| message.elements_of(&command)).await?;
                Ok(Reply(Writer::bytes(|copy| copy.all_of(reply))))
            }
            #[cfg(feature = "mongodb-driver")]
            Path::Driver(commands) => commands.run(database, command).await.map(Reply),
        }
    }
}
