//! The database file: made, opened with the study's pragmas, settled after a build. Touches no file but the study's.

use super::failure::failed;
use super::pragma;
use super::tier::{self, MountGuard, is_behind_a_tier};
use crate::contract::{Error, Target};
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::path::{Path, PathBuf};

/// Written to the file's `application_id`: `PrLd`. Files without it are not ours.
pub(super) const APPLICATION_ID: i64 = 0x5072_4C64;

/// The study's database file.
pub(super) fn file(target: &Target) -> PathBuf {
    Path::new(&target.place.folder).join("data").join("proofload.sqlite")
}

/// Opens the existing database and applies the settings.
pub(super) fn open(target: &Target) -> Result<Connection, Error> {
    let path = file(target);
    if !path.exists() {
        return Err(Error::other(format!("failed to open {}: no such database; build it first", path.display())));
    }
    let pragmas = pragma::asked(&target.place.settings)?;
    let mount = mounted(target)?;
    let connection = match &mount {
        Some(_) => {
            pragma::expect_for_tier(&pragmas)?;
            connection_through_tier(&path)?
        }
        None => connection(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?,
    };
    refuse_foreign(&connection, &path)?;
    pragma::apply(&connection, &pragmas)?;
    Ok(connection)
}

/// A share of the tier that the database lies on; `None` where it lies on none. Connections have shares of their own.
pub(super) fn mounted(target: &Target) -> Result<Option<MountGuard>, Error> {
    target.place.tier.as_ref().map(|plan| MountGuard::open(&file(target), plan)).transpose()
}

/// A connection to a database whose tier is open.
fn connection_through_tier(path: &Path) -> Result<Connection, Error> {
    let vfs = tier::register()
        .ok_or_else(|| Error::other("failed to open the cache tier: this SQLite has no default VFS"))?;
    // The tier is found by the path as SQLite knows it.
    let path =
        path.canonicalize().map_err(|error| Error::other(format!("failed to open {}: {error}", path.display())))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags_and_vfs(&path, flags, vfs)
        .map_err(|error| failed(error).context(format!("failed to open {} through its tier", path.display())))
}

/// Makes the database, or leaves one that is ours as it is, so that a build can go on. Refuses any other file, but one that holds
/// nothing: a process that was killed before it could mark its new file leaves such a one.
pub(super) fn create(target: &Target) -> Result<(), Error> {
    let path = file(target);
    let settings = pragma::asked(&target.place.settings)?;
    if fs::metadata(&path).is_ok_and(|found| found.len() > 0) {
        let found = connection(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if !is_blank(&found, &path)? {
            return refuse_foreign(&found, &path);
        }
    }
    let folder = path.parent().expect("the file lies in a folder");
    fs::create_dir_all(folder)
        .map_err(|error| Error::other(format!("failed to create folder {}: {error}", folder.display())))?;
    let new = connection(&path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    pragma::apply(&new, &settings)?;
    new.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))
        .map_err(|error| failed(error).context(format!("failed to mark {} as created by Proofload", path.display())))
}

/// Analyses, moves the log into the file and writes everything to the device, also when the build ran without syncing.
pub(super) fn settle(target: &Target) -> Result<(), Error> {
    let connection = open(target)?;
    connection.execute_batch("PRAGMA synchronous = FULL; ANALYZE").map_err(|error| failed(error).context("analyse"))?;
    let mut checkpoint =
        connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").map_err(|error| failed(error).context("checkpoint"))?;
    let busy: i64 = checkpoint.query_row([], |row| row.get(0)).map_err(|error| failed(error).context("checkpoint"))?;
    if busy != 0 {
        return Err(Error::other("failed to checkpoint: another session still uses the log; close all sessions first"));
    }
    let path = file(target);
    fs::File::open(&path)
        .and_then(|file| file.sync_all())
        .map_err(|error| Error::other(format!("failed to flush {} to its device: {error}", path.display())))
}

/// A connection that does not wait in SQLite's own mutex: a session belongs to one thread.
fn connection(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    if is_behind_a_tier(path) {
        return Err(Error::other(format!(
            "failed to open {}: it is behind a cache tier, which may hold newer content; open it with the same \
             storage.kind, or restore it",
            path.display()
        )));
    }
    Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|error| failed(error).context(format!("failed to open {}", path.display())))
}

/// Whether it is an empty database that nobody has marked.
fn is_blank(connection: &Connection, path: &Path) -> Result<bool, Error> {
    let sql =
        "SELECT (SELECT application_id FROM pragma_application_id) = 0 AND NOT EXISTS (SELECT 1 FROM sqlite_schema)";
    connection
        .query_row(sql, [], |row| row.get(0))
        .map_err(|error| failed(error).context(format!("failed to inspect {}", path.display())))
}

/// An error unless the file carries our mark.
fn refuse_foreign(connection: &Connection, path: &Path) -> Result<(), Error> {
    let found = connection
        .query_row("PRAGMA application_id", [], |row| row.get::<_, i64>(0))
        .map_err(|error| failed(error).context(format!("failed to open {}", path.display())))?;
    if found == APPLICATION_ID {
        return Ok(());
    }
    Err(Error::other(format!(
        "{} was not created by Proofload (application_id {found}); it stays untouched, choose another storage.path",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::wire::DataLocation;

    fn target(folder: &Path, settings: &[(&str, &str)]) -> Target {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (engine, folder) = ("sqlite".to_owned(), folder.display().to_string());
        Target::new(DataLocation { engine, folder, url: None, settings, tier: None }, None)
    }

    #[test]
    fn a_new_file_gets_its_shape_and_a_build_without_syncing_is_settled() {
        let folder = tempfile::tempdir().expect("a folder");
        let building = target(folder.path(), &[("page_size", "8KiB"), ("synchronous", "OFF")]);
        create(&building).expect("creates");
        let connection = open(&building).expect("opens");
        connection.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").expect("writes");
        drop(connection);
        settle(&building).expect("settles");
        let log = file(&building).with_extension("sqlite-wal");
        assert!(fs::metadata(log).map_or(0, |about| about.len()) == 0, "the log is in the file");
        let running = target(folder.path(), &[("page_size", "8192")]);
        let facts =
            pragma::facts(&open(&running).expect("opens"), &pragma::asked(&running.place.settings).expect("known"));
        let facts = facts.expect("reads back");
        assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{facts:?}");
        assert!(facts.iter().any(|fact| fact.name == "synchronous" && fact.effective.as_deref() == Some("FULL")));
    }

    #[test]
    fn a_file_that_was_never_marked_is_taken_over_only_when_it_holds_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = target(folder.path(), &[]);
        fs::create_dir_all(folder.path().join("data")).expect("makes the folder");
        let unmarked = Connection::open(file(&target)).expect("opens");
        unmarked.execute_batch("PRAGMA journal_mode = WAL").expect("writes the first page");
        drop(unmarked);
        create(&target).expect("a killed process left it so");
        open(&target)
            .expect("it is ours now")
            .execute_batch("PRAGMA application_id = 0; CREATE TABLE t (a)")
            .expect("writes");
        let error = create(&target).expect_err("it holds a table").to_string();
        assert!(error.contains("was not created by Proofload"), "{error}");
    }

    #[test]
    fn a_database_that_was_not_built_is_not_made_by_opening_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = open(&target(folder.path(), &[])).expect_err("there is none").to_string();
        assert!(error.contains("build it first"), "{error}");
        assert!(!folder.path().join("data").exists());
    }
}
