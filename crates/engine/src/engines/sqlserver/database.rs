//! The study's database: made and marked as ours, refused when it is somebody's, settled after a build. Touches nothing else.

use super::address::ServerAddress;
use super::session::connect;
use super::wire::{ServerConnection, quoted};
use super::{recovery, row_groups, settings, version};
use crate::contract::{Error, OwnedValue, Target, Value};

/// The extended property on a database that is ours, with the number of its format.
const PROPERTY: &str = "proofload";
const MARK: &str = "proofload:1";
/// The same on a database of a self-test.
pub(super) const SCRATCH_MARK: &str = "proofload:1 selftest";
/// Texts are UTF-8 and compared by their bytes.
pub(super) const COLLATION: &str = "Latin1_General_100_BIN2_UTF8";
/// The database in which every account may be.
pub(super) const MASTER: &str = "master";

/// What a database says of itself: its mark, its collation, the number of its tables.
const LOOK: &str = "SELECT (SELECT CAST(value AS varchar(100)) FROM sys.extended_properties WHERE class = 0 AND name = 'proofload'), \
    CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS varchar(100)), (SELECT count(*) FROM sys.tables WHERE is_ms_shipped = 0)";

/// Errors of an account that may not be in `master`, as a user of one database alone.
const KEPT_OUT: &[&str] = &["916", "4060", "18456"];

/// Tells whether the server has the database, as far as the account may know.
pub(super) async fn is_there(target: &Target) -> Result<bool, Error> {
    let address = ServerAddress::of(target)?;
    let mut master = match connect(&address, MASTER).await {
        Ok(master) => master,
        // Its own database says what it is: it could not make another.
        Err(error) if KEPT_OUT.contains(&error.code()) => return Ok(true),
        Err(error) => return Err(error),
    };
    is_listed(&mut master, &address.database).await
}

/// Whether a database is in the server's list.
pub(super) async fn is_listed(master: &mut ServerConnection, name: &str) -> Result<bool, Error> {
    let look = format!("SELECT count(*) FROM sys.databases WHERE name = {}", text(name));
    let found = master.rows(&look).await.map_err(|error| error.context(format!("look for database {name}")))?;
    Ok(integer(&found) != Some(0))
}

/// Makes the database. One that is ours stays as it is, so that a build can go on; an empty one becomes ours.
pub(super) async fn create(target: &Target) -> Result<(), Error> {
    let address = ServerAddress::of(target)?;
    let name = &address.database;
    let mut master = connect(&address, MASTER).await?;
    version::check(&mut master).await?;
    let is_made = !is_listed(&mut master, name).await?;
    if is_made {
        let context =
            |error: Error| error.context(format!("create database {name}; the account needs CREATE ANY DATABASE"));
        master.text(&format!("CREATE DATABASE {} COLLATE {COLLATION}", quoted(name))).await.map_err(context)?;
        // Readers do not wait for writers, as on the other engines.
        master.text(&format!("ALTER DATABASE {} SET READ_COMMITTED_SNAPSHOT ON", quoted(name))).await?;
    }
    let mut connection = connect(&address, name).await?;
    let rows = connection.rows(LOOK).await.map_err(|error| error.context(format!("look into database {name}")))?;
    let row = rows.first().map(Vec::as_slice).unwrap_or_default();
    match row {
        [OwnedValue::Text(mark), ..] if mark == MARK || mark == SCRATCH_MARK => {}
        [OwnedValue::Text(mark), ..] => {
            return Err(Error::other(format!(
                "database {name} holds data of another format, {mark:?} instead of {MARK:?}; drop it to build anew"
            )));
        }
        [OwnedValue::Null, OwnedValue::Text(collation), OwnedValue::Integer(0)] => {
            if !collation.ends_with("_BIN2_UTF8") {
                return Err(Error::other(format!(
                    "database {name} has the collation {collation}, under which texts are not compared by their bytes; make it with COLLATE \
                     {COLLATION}, or drop it, and it is made so"
                )));
            }
            let context = |error: Error| {
                error.context(format!("mark the empty database {name}; the account needs db_owner in it"))
            };
            connection.text(&mark_sql(MARK)).await.map_err(context)?;
        }
        _ => {
            return Err(Error::other(format!(
                "there are tables in database {name} that Proofload did not make; it is left as it is, name another database in engine.url"
            )));
        }
    }
    settings::apply(target, &mut connection, name).await?;
    recovery::begin(&mut connection, name, is_made).await
}

/// Column stores lie in compressed groups, statistics are up to date, the recovery model is that of the runs, what is changed is on disk.
pub(super) async fn settle(target: &Target) -> Result<(), Error> {
    let address = ServerAddress::of(target)?;
    let mut connection = connect(&address, &address.database).await?;
    let stores = "SELECT CAST(i.name AS nvarchar(128)), CAST(t.name AS nvarchar(128)) FROM sys.indexes i \
                  JOIN sys.tables t ON t.object_id = i.object_id WHERE i.type = 5 ORDER BY t.name";
    let stores = connection.rows(stores).await.map_err(|error| error.context("list the study's column stores"))?;
    for row in &stores {
        if let [OwnedValue::Text(index), OwnedValue::Text(table)] = &row[..] {
            let compress = format!(
                "ALTER INDEX {} ON {} REORGANIZE WITH (COMPRESS_ALL_ROW_GROUPS = ON)",
                quoted(index),
                quoted(table)
            );
            connection.text(&compress).await.map_err(|error| error.context(format!("compress {table}")))?;
        }
    }
    if !stores.is_empty() {
        row_groups::expect_compressed(&mut connection).await?;
    }
    connection.text("EXEC sys.sp_updatestats").await.map_err(|error| error.context("update statistics"))?;
    recovery::put_back(&mut connection, &address.database).await?;
    connection.text("CHECKPOINT").await.map_err(|error| error.context("write a checkpoint"))
}

/// Puts a mark on the database of the connection.
pub(super) fn mark_sql(mark: &str) -> String {
    format!("EXEC sys.sp_addextendedproperty @name = N'{PROPERTY}', @value = '{mark}'")
}

/// The first value of the first row as a number.
pub(super) fn integer(rows: &[Vec<OwnedValue>]) -> Option<i64> {
    rows.first().and_then(|row| row.first()).map(OwnedValue::as_value).and_then(Value::integer)
}

/// Runs statements on the study's database, whichever is asked for.
pub(super) async fn open(target: &Target) -> Result<(ServerConnection, String), Error> {
    let address = ServerAddress::of(target)?;
    let connection = connect(&address, &address.database).await?;
    Ok((connection, address.database))
}

/// A text in quotes.
pub(super) fn text(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}
