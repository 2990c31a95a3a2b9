//! The databases that are open in this process. DuckDB locks its file per process, so all sessions share one handle; it is closed,
//! and thereby checkpointed, with the last of them. Opening and closing exclude each other: within one process the lock would
//! not keep a second handle out.

use super::failure::failed;
use super::library::{Configuration, Connection, Database, LoadedLibrary};
use super::options::Options;
use crate::contract::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Options that DuckDB shows when they are given at the start and yet does not keep to: 1.5.6 spilled 100 MB past a limit of 4 MiB.
/// They are set in each session instead, for all of them.
const NOT_AT_THE_START: &[&str] = &["max_temp_directory_size"];

/// A database that is open.
struct OpenDatabase {
    path: PathBuf,
    library: &'static Path,
    asked: Vec<(String, String)>,
    database: Arc<Database>,
    /// Options that can only be set in a session.
    of_sessions: Vec<(String, String)>,
    users: usize,
}

static OPEN: Mutex<Vec<OpenDatabase>> = Mutex::new(Vec::new());

fn open_databases() -> MutexGuard<'static, Vec<OpenDatabase>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A share of an open database. Whatever was made of it must be dropped before.
#[derive(Debug)]
pub(super) struct Share {
    path: PathBuf,
    /// Present until the share is dropped.
    database: Option<Arc<Database>>,
}

impl Share {
    /// Opens the database, or joins those who have it open with the same options.
    pub(super) fn take(
        library: LoadedLibrary,
        path: &Path,
        options: &Options,
        temporary: &Path,
    ) -> Result<Self, Error> {
        let mut open = open_databases();
        let known = open.iter_mut().find(|entry| entry.path == path);
        let entry = match known {
            Some(entry) => joined(entry, library, options)?,
            None => {
                open.push(opened(library, path, options, temporary)?);
                open.last_mut().expect("pushed above")
            }
        };
        entry.users += 1;
        Ok(Self { path: path.to_owned(), database: Some(entry.database.clone()) })
    }

    /// A new connection with the options that can only be set there.
    pub(super) fn connect(&self) -> Result<Connection, Error> {
        let database = self.database.clone().expect("there until it is dropped");
        let connection =
            Connection::open(database).map_err(|text| failed(text).context("failed to connect to DuckDB"))?;
        let of_sessions =
            open_databases().iter().find(|entry| entry.path == self.path).map(|entry| entry.of_sessions.clone());
        for (name, value) in of_sessions.into_iter().flatten() {
            let value = value.replace('\'', "''");
            let context = |text: String| failed(text).context(format!("failed to set {name} to {value}"));
            connection.run(&format!("SET {name} = '{value}'")).map_err(context)?;
        }
        Ok(connection)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut open = open_databases();
        let last = open.iter_mut().position(|entry| {
            let ours = entry.path == self.path;
            entry.users -= usize::from(ours);
            ours && entry.users == 0
        });
        // Closed here, under the lock: nobody else has a share.
        self.database = None;
        if let Some(place) = last {
            open.remove(place);
        }
    }
}

/// An open database, if it is what is asked for.
fn joined<'e>(
    entry: &'e mut OpenDatabase,
    library: LoadedLibrary,
    options: &Options,
) -> Result<&'e mut OpenDatabase, Error> {
    if entry.asked == options.asked && entry.library == library.path {
        return Ok(entry);
    }
    let path = entry.path.display();
    Err(Error::other(format!("{path} is already open in this process with other settings; close its sessions first")))
}

fn opened(library: LoadedLibrary, path: &Path, options: &Options, temporary: &Path) -> Result<OpenDatabase, Error> {
    let mut configuration = Configuration::new(library);
    let mut of_sessions = Vec::new();
    if options.value("temp_directory").is_none() {
        configuration.set("temp_directory", &temporary.display().to_string());
    }
    for (name, value) in &options.asked {
        if NOT_AT_THE_START.contains(&name.as_str()) || !configuration.set(name, value) {
            of_sessions.push((name.clone(), value.clone()));
        }
    }
    let context = |text: String| failed(text).context(format!("failed to open {}", path.display()));
    let database = Arc::new(Database::open(library, path, &configuration).map_err(context)?);
    let (path, asked, library) = (path.to_owned(), options.asked.clone(), library.path);
    Ok(OpenDatabase { path, library, asked, database, of_sessions, users: 0 })
}
