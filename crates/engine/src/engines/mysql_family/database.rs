//! The study's database: made and marked as ours, refused when it is somebody's, settled after a build. Touches nothing else.

use super::address::ServerAddress;
use super::flavour::{FlavourStatements, filled};
use super::session::connect;
use super::wire::ServerConnection;
use crate::contract::{Error, Target};
use std::time::Duration;

/// The mark on a database that is ours, with the number of its format.
const MARK: &str = "proofload:1";
/// The same on one that is made for a self-test and dropped after it.
pub(super) const SCRATCH_MARK: &str = "proofload:1 selftest";

/// Transactions whose old rows may be left when the data are taken for settled.
const FEW_TO_PURGE: u64 = 32;
/// How often, and how far apart, it is asked how many are left.
const ASKED: u32 = 600;
const PAUSE: Duration = Duration::from_millis(100);
/// How often the same number is told until it is taken for what stays: MySQL forgets what it has purged at intervals, and not while it is idle.
const STILL: u32 = 50;

/// Tells whether the server has the database, as far as the account may know.
pub(super) async fn is_there(target: &Target) -> Result<bool, Error> {
    let address = ServerAddress::of(target)?;
    let mut connection = connect(&address, None).await?;
    let name = &address.database;
    let look = format!("SELECT 1 FROM information_schema.schemata WHERE schema_name = {}", text(name));
    let found = connection.rows(&look).await.map_err(|error| error.context(format!("look for database {name}")))?;
    Ok(!found.is_empty())
}

/// Makes the database. One that is ours stays as it is, so that a build can go on; an empty one becomes ours.
pub(super) async fn create(target: &Target) -> Result<(), Error> {
    let address = ServerAddress::of(target)?;
    let (name, statements) = (&address.database, &address.flavour.statements);
    let rights = statements.rights;
    let mut connection = connect(&address, None).await?;
    let look = format!(
        "SELECT {}, (SELECT count(*) FROM information_schema.tables WHERE table_schema = {1}) \
         FROM information_schema.schemata WHERE schema_name = {1}",
        statements.mark_of,
        text(name)
    );
    let found = connection.rows(&look).await.map_err(|error| error.context(format!("look for database {name}")))?;
    match found.first().map(Vec::as_slice) {
        None => {
            let context =
                |error: Error| error.context(format!("create database {name}; the account needs {rights} on it"));
            connection.text(&marking(statements.create_marked, statements, name, MARK), |_| {}).await.map_err(context)
        }
        Some([Some(comment), _]) if comment == MARK || comment == SCRATCH_MARK => Ok(()),
        Some([Some(comment), _]) if comment.starts_with("proofload:") => Err(Error::other(format!(
            "database {name} holds data of another format, {comment:?} instead of {MARK:?}; drop it to build anew"
        ))),
        Some([_, Some(tables)]) if tables == "0" => {
            let context = |error: Error| {
                error.context(format!("mark the empty database {name}; the account needs {rights} on it"))
            };
            connection.text(&marking(statements.mark_empty, statements, name, MARK), |_| {}).await.map_err(context)
        }
        Some(_) => Err(Error::other(format!(
            "there are tables in database {name} that Proofload did not make; it is left as it is, name another database in engine.url"
        ))),
    }
}

/// A statement that marks a database.
pub(super) fn marking(template: &str, statements: &FlavourStatements, database: &str, mark: &str) -> String {
    filled(template, &[("database", &identifier(database)), ("texts", statements.texts), ("mark", mark)])
}

/// Analyses the study's tables, and waits until old rows are purged, or every restored point would pay for them.
pub(super) async fn settle(target: &Target) -> Result<(), Error> {
    let address = ServerAddress::of(target)?;
    let mut connection = connect(&address, Some(&address.database)).await?;
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = database() AND table_type = 'BASE TABLE' \
                  ORDER BY table_name";
    for row in connection.rows(tables).await.map_err(|error| error.context("list the study's tables"))? {
        if let Some(Some(table)) = row.first() {
            analyse(&mut connection, table).await.map_err(|error| error.context(format!("analyse {table}")))?;
        }
    }
    let (mut last, mut still) = (u64::MAX, 0);
    for _ in 0..ASKED {
        let rows = connection.rows_allowed(address.flavour.statements.to_purge).await?;
        let count = rows.first().and_then(|row| row.first()?.as_ref()?.parse::<u64>().ok());
        let Some(count) = count.filter(|count| *count > FEW_TO_PURGE) else { break };
        (last, still) = if count == last { (last, still + 1) } else { (count, 0) };
        if still == STILL {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    if target.is_ours() { forget_log(&mut connection).await } else { Ok(()) }
}

/// Removes the binary log of a build, where there is one: standbys start from the same data, and copies of it would be as large as these.
async fn forget_log(connection: &mut ServerConnection) -> Result<(), Error> {
    let rows = connection.rows("SELECT @@global.log_bin").await?;
    if !matches!(rows.first().map(Vec::as_slice), Some([Some(value)]) if value == "1") {
        return Ok(());
    }
    connection
        .text(connection.flavour().statements.forget_log, |_| {})
        .await
        .map_err(|error| error.context("remove the build's binary log"))
}

/// Statistics of a table's keys and columns. What is wrong is told in rows.
async fn analyse(connection: &mut ServerConnection, table: &str) -> Result<(), Error> {
    let sql = filled(connection.flavour().statements.analyse, &[("table", &identifier(table))]);
    let rows = connection.rows(&sql).await?;
    let wrong = rows.iter().find(|row| matches!(row.get(2), Some(Some(kind)) if kind.eq_ignore_ascii_case("error")));
    match wrong {
        None => Ok(()),
        Some(row) => Err(Error::other(row.last().cloned().flatten().unwrap_or_default())),
    }
}

/// A name in quotes.
pub(super) fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text in quotes, as sessions without escapes read it.
pub(super) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
