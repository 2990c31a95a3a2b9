//! Scratch databases: marked by the comment on the database, which says that it is the study's as well.

use super::address::ServerAddress;
use super::database::{SCRATCH_MARK, TEXTS, identifier, text};
use super::session::connect;
use super::wire::ServerConnection;
use crate::contract::{Error, ScratchDatabases, ScratchState, Target, Work};
use crate::engines::scratch::{PAUSE, TRIES, foreign, in_use, with_database};

/// Makes and drops scratch databases of a server.
#[derive(Debug)]
pub(super) struct ScratchServer;

impl ScratchDatabases for ScratchServer {
    fn url(&self, url: &str, database: &str) -> Result<String, Error> {
        with_database(url, database)
    }

    fn look<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ScratchState> {
        Box::pin(async move { state(&mut connect(&ServerAddress::of(server)?, None).await?, database).await })
    }

    fn make<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            let mut connection = connect(&ServerAddress::of(server)?, None).await?;
            let sql = format!("CREATE DATABASE {} {TEXTS} COMMENT = '{SCRATCH_MARK}'", identifier(database));
            let context = |error: Error| error.context(format!("make database {database}; the account needs CREATE on it"));
            connection.text(&sql, |_| {}).await.map_err(context)
        })
    }

    fn remove<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(remove(server, database))
    }
}

async fn state(connection: &mut ServerConnection, database: &str) -> Result<ScratchState, Error> {
    let sql =
        format!("SELECT schema_comment FROM information_schema.schemata WHERE schema_name = {}", text(database));
    let found = connection.rows(&sql).await.map_err(|error| error.context(format!("look for database {database}")))?;
    Ok(match found.first().map(Vec::as_slice) {
        None => ScratchState::Absent,
        Some([Some(comment)]) if comment == SCRATCH_MARK => ScratchState::Marked,
        Some(_) => ScratchState::Foreign,
    })
}

async fn remove(server: &Target, database: &str) -> Result<(), Error> {
    let mut connection = connect(&ServerAddress::of(server)?, None).await?;
    // An account sees its own sessions without further rights.
    let others = format!("SELECT count(*) FROM information_schema.processlist WHERE db = {}", text(database));
    for _ in 0..TRIES {
        match state(&mut connection, database).await? {
            ScratchState::Absent => return Ok(()),
            ScratchState::Foreign => return Err(foreign(database)),
            ScratchState::Marked => {}
        }
        let rows = connection.rows(&others).await?;
        if matches!(rows.first().map(Vec::as_slice), Some([Some(count)]) if count == "0") {
            let context = |error: Error| error.context(format!("drop database {database}"));
            return connection.text(&format!("DROP DATABASE {}", identifier(database)), |_| {}).await.map_err(context);
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(in_use(database))
}
