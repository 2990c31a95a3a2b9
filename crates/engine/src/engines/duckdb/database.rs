//! The database file: made, opened with the study's options, settled after a build. Touches no file but the study's.

use super::failure::failed;
use super::library::{Connection, LoadedLibrary};
use super::locate;
use super::options::Options;
use super::registry::Share;
use crate::contract::{Error, Target};
use std::fs;
use std::path::{Path, PathBuf};

/// A schema without tables that says whose the database is. Files without it are not ours.
const MARK: &str = "proofload_mark";

/// A session's connection and what it needs to live. Dropped in this order.
#[derive(Debug)]
pub(super) struct OpenDatabase {
    /// The connection.
    pub(super) connection: Connection,
    /// The library, for its version.
    pub(super) library: LoadedLibrary,
    _share: Share,
}

/// The study's database file.
pub(super) fn file(target: &Target) -> PathBuf {
    Path::new(&target.place.folder).join("data").join("proofload.duckdb")
}

/// Where DuckDB spills to: beside the data, so that no snapshot holds it.
fn temporary(target: &Target) -> PathBuf {
    Path::new(&target.place.folder).join("temporary")
}

/// Opens the existing database.
pub(super) fn open(target: &Target, options: &Options) -> Result<OpenDatabase, Error> {
    let path = file(target);
    let library = locate::library(options.library.as_deref())?;
    if !path.exists() {
        return Err(Error::other(format!("failed to open {}: no such database; build it first", path.display())));
    }
    let opened = connected(library, target, options)?;
    refuse_foreign(&opened.connection, &path)?;
    Ok(opened)
}

/// Makes the database, or leaves one that is ours as it is, so that a build can go on. Refuses any other file.
pub(super) fn create(target: &Target) -> Result<(), Error> {
    let path = file(target);
    let options = Options::read(&target.place.settings)?;
    let library = locate::library(options.library.as_deref())?;
    if path.exists() {
        return open(target, &options).map(|_| ());
    }
    let folder = path.parent().expect("the file lies in a folder");
    fs::create_dir_all(folder)
        .map_err(|error| Error::other(format!("failed to create folder {}: {error}", folder.display())))?;
    let new = connected(library, target, &options)?;
    let mark = new.connection.run(&format!("CREATE SCHEMA {MARK}"));
    mark.map_err(|text| failed(text).context(format!("failed to mark {} as created by Proofload", path.display())))
}

/// Analyses, moves the log into the file and writes it to the device.
pub(super) fn settle(target: &Target) -> Result<(), Error> {
    let opened = open(target, &Options::read(&target.place.settings)?)?;
    opened
        .connection
        .run("ANALYZE; CHECKPOINT")
        .map_err(|text| failed(text).context("failed to analyze and checkpoint the database"))?;
    drop(opened);
    let path = file(target);
    fs::File::open(&path)
        .and_then(|file| file.sync_all())
        .map_err(|error| Error::other(format!("failed to flush {} to its device: {error}", path.display())))
}

fn connected(library: LoadedLibrary, target: &Target, options: &Options) -> Result<OpenDatabase, Error> {
    let path = file(target);
    let folder = path.parent().expect("the file lies in a folder");
    let folder = fs::canonicalize(folder)
        .map_err(|error| Error::other(format!("failed to open folder {}: {error}", folder.display())))?;
    let path = folder.join(path.file_name().expect("the file has a name"));
    let share = Share::take(library, &path, options, &temporary(target))?;
    Ok(OpenDatabase { connection: share.connect()?, library, _share: share })
}

/// An error unless the database carries our mark.
fn refuse_foreign(connection: &Connection, path: &Path) -> Result<(), Error> {
    let sql = format!("SELECT 1 FROM duckdb_schemas() WHERE schema_name = '{MARK}'");
    let context = |text: String| failed(text).context(format!("failed to open {}", path.display()));
    let mut statement = connection.prepare(&sql).map_err(context)?;
    if statement.execute().map_err(context)?.next_chunk().is_some() {
        return Ok(());
    }
    let advice = "it stays untouched; choose another storage.path";
    Err(Error::other(format!("{} was not created by Proofload; {advice}", path.display())))
}
