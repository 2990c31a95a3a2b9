//! Scratch databases: marked as such, which says that they are the study's as well.

use super::address::ServerAddress;
use super::database::{SCRATCH_MARK, identifier, marking, text};
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
            let statements = &connection.flavour().statements;
            let sql = marking(statements.create_marked, statements, database, SCRATCH_MARK);
            let rights = statements.rights;
            let context =
                |error: Error| error.context(format!("make database {database}; the account needs {rights} on it"));
            connection.text(&sql, |_| {}).await.map_err(context)
        })
    }

    fn remove<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(remove(server, database))
    }
}

async fn state(connection: &mut ServerConnection, database: &str) -> Result<ScratchState, Error> {
    let sql = format!(
        "SELECT {} FROM information_schema.schemata WHERE schema_name = {}",
        connection.flavour().statements.mark_of,
        text(database)
    );
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
