//! The study's schema: made and marked as ours, refused when it is somebody's, settled after a build. Touches nothing else.

use super::connection::{self, SCHEMA};
use super::failure::failed;
use crate::contract::{Error, Target};
use tokio_postgres::Client;

/// The comment on a schema that is ours, with the number of its format.
const MARK: &str = "proofload:1";

/// The state of a server without the database.
pub(super) const NO_DATABASE: &str = "3D000";

/// Tells whether the server has the database.
pub(super) async fn is_there(target: &Target) -> Result<bool, Error> {
    match connection::open(connection::config(target)?).await {
        Ok(_) => Ok(true),
        Err(error) if error.code() == NO_DATABASE => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes the database unless it is there, and the schema. A schema that is ours stays as it is, so that a build can go on.
pub(super) async fn create(target: &Target) -> Result<(), Error> {
    if !is_there(target).await? {
        create_database(target).await?;
    }
    let client = connection::open(connection::config(target)?).await?;
    let context = |error| failed(error).context(format!("failed to look up the schema {SCHEMA}"));
    let rows = client
        .query("SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1", &[&SCHEMA])
        .await
        .map_err(context)?;
    let Some(row) = rows.first() else {
        let script = format!("BEGIN; CREATE SCHEMA {SCHEMA}; COMMENT ON SCHEMA {SCHEMA} IS '{MARK}'; COMMIT");
        return client.batch_execute(&script).await.map_err(|error| {
            failed(error).context(format!(
                "failed to create the schema {SCHEMA}; the user needs the CREATE privilege on the database"
            ))
        });
    };
    match row.try_get::<_, Option<&str>>(0).map_err(context)? {
        Some(MARK) => Ok(()),
        Some(other) if other.starts_with("proofload:") => Err(Error::other(format!(
            "schema {SCHEMA} has data in format {other:?}, but {MARK:?} is needed; drop the schema to rebuild it"
        ))),
        _ => Err(Error::other(format!(
            "the database has a schema {SCHEMA} that Proofload did not create; it stays untouched, use another \
             database in engine.url"
        ))),
    }
}

/// States of a database that another statement made at the same time: `duplicate_database`, and `unique_violation` of its name.
const ALREADY_THERE: &[&str] = &["42P04", "23505"];

/// Makes the database, by way of the one that every server has.
async fn create_database(target: &Target) -> Result<(), Error> {
    let mut config = connection::config(target)?;
    let name = config.get_dbname().unwrap_or(SCHEMA).to_owned();
    config.dbname("postgres");
    let context = |error: Error| {
        error.context(format!("failed to create database {name}; the user needs CREATEDB, or create it yourself"))
    };
    let client = connection::open(config).await.map_err(context)?;
    match client.batch_execute(&format!("CREATE DATABASE {}", identifier(&name))).await {
        // The server ends what it was told by a build that was killed meanwhile.
        Err(error) if error.code().is_some_and(|code| ALREADY_THERE.contains(&code.code())) => Ok(()),
        made => made.map_err(|error| context(failed(error))),
    }
}

/// Freezes and analyses the study's tables and writes a checkpoint, where the user may.
pub(super) async fn settle(target: &Target) -> Result<(), Error> {
    let client = connection::open(connection::config(target)?).await?;
    for table in tables(&client).await? {
        let statement = format!("VACUUM (FREEZE, ANALYZE) {}.{}", identifier(SCHEMA), identifier(&table));
        client
            .batch_execute(&statement)
            .await
            .map_err(|error| failed(error).context(format!("failed to vacuum {table}")))?;
    }
    match client.batch_execute("CHECKPOINT").await.map_err(failed) {
        // A server that is not ours may keep checkpoints to its owner; the data are complete without one.
        Err(error) if error.code() == "42501" && !target.is_ours() => Ok(()),
        outcome => outcome.map_err(|error| error.context("checkpoint")),
    }
}

async fn tables(client: &Client) -> Result<Vec<String>, Error> {
    let context = |error| failed(error).context("failed to list the study's tables");
    let rows = client
        .query("SELECT tablename::text FROM pg_tables WHERE schemaname = $1 ORDER BY 1", &[&SCHEMA])
        .await
        .map_err(context)?;
    rows.iter().map(|row| row.try_get(0).map_err(context)).collect()
}

/// A name in quotes.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
