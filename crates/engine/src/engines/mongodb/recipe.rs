//! How a local instance of MongoDB is made, started and stopped.
//!
//! The instance listens on the loopback alone, without authentication, as a test server of one machine. Asked to be a replica
//! set, it is made one of a single member when it first answers.

use super::bson::{Element, Writer};
use super::lean::{self, Connection, Greeting};
use super::names::{DATABASE, REPLICA_SET};
use super::options::Options;
use super::{configuration, installation};
use crate::contract::{CommandLine, Error, FileToWrite, ServerRecipe, Target};
use crate::engines::blocking::{PATIENCE, asked_apart};
use crate::engines::program::command_line;
use proofload_model::wire::DataLocation;
use std::path::{Path, PathBuf};

/// The recipe.
#[derive(Debug)]
pub(super) struct Recipe;

/// The file of the configuration.
const CONFIGURATION: &str = "mongod.conf";
/// The replica set has been made before.
const ALREADY_INITIALIZED: &str = "23";

impl ServerRecipe for Recipe {
    fn unprivileged_users(&self) -> &'static [&'static str] {
        &[]
    }

    /// An empty folder is an empty instance.
    fn create(&self, _folder: &Path) -> Result<Vec<CommandLine>, Error> {
        Ok(Vec::new())
    }

    fn configure(&self, folder: &Path, settings: &[(String, String)], port: u16) -> Result<Vec<FileToWrite>, Error> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let content = configuration::mongod_conf(&folder, &Options::read(settings)?, port)?;
        Ok(vec![FileToWrite { path: PathBuf::from(CONFIGURATION), content }])
    }

    fn start(&self, folder: &Path) -> Result<CommandLine, Error> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let arguments = vec!["--config".to_owned(), folder.join(CONFIGURATION).display().to_string()];
        Ok(command_line(installation::find()?.path, arguments))
    }

    fn address(&self, _folder: &Path, port: u16) -> String {
        format!("mongodb://127.0.0.1:{port}/{DATABASE}?directConnection=true")
    }

    fn probe(&self, address: &str) -> Result<(), Error> {
        let address = address.to_owned();
        asked_apart(move || probe(address))
    }

    /// The server writes its process id into its lock file, and empties that when it stops.
    fn running_pid(&self, folder: &Path) -> Option<u32> {
        std::fs::read_to_string(folder.join("mongod.lock")).ok()?.trim().parse().ok()
    }
}

async fn probe(address: String) -> Result<(), Error> {
    let place = DataLocation {
        engine: "mongodb".to_owned(),
        folder: String::new(),
        url: None,
        settings: Vec::new(),
        tier: None,
    };
    let target = Target::new(place, Some(address.clone()));
    let (mut connection, greeting) = lean::open(&target, PATIENCE).await?;
    if greeting.wants_set {
        initiate(&mut connection, &address)
            .await
            .map_err(|error| error.context("failed to create the replica set of one member"))?;
    }
    ready(&greeting)
}

fn ready(greeting: &Greeting) -> Result<(), Error> {
    if greeting.writable { Ok(()) } else { Err(Error::other("the server answers, but does not accept writes yet")) }
}

/// Makes the replica set, or gives a set that was made on another port its new address.
async fn initiate(connection: &mut Connection, address: &str) -> Result<(), Error> {
    let host = address.trim_start_matches("mongodb://").split('/').next().unwrap_or_default();
    let made = connection.run("admin", |command| {
        command.nested("replSetInitiate", |set| members(set, host, None));
    });
    match made.await.map(|_| ()) {
        Err(error) if error.code() == ALREADY_INITIALIZED => {}
        outcome => return outcome,
    }
    let reply = connection.run("admin", |command| command.int32("replSetGetConfig", 1)).await?;
    let version = reply.at("config.version").and_then(Element::integer).unwrap_or(0);
    let moved = connection.run("admin", |command| {
        command.nested("replSetReconfig", |set| members(set, host, Some(version + 1)));
        command.boolean("force", true);
    });
    moved.await.map(|_| ())
}

fn members(set: &mut Writer<'_>, host: &str, version: Option<i64>) {
    set.text("_id", REPLICA_SET);
    if let Some(version) = version {
        set.int32("version", i32::try_from(version).unwrap_or(i32::MAX));
    }
    set.array("members", |members| {
        members.nested("0", |member| {
            member.int32("_id", 0);
            member.text("host", host);
        });
    });
}
