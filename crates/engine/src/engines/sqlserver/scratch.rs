//! Scratch databases: marked by an extended property of the database, which says that it is the study's as well.

use super::address::ServerAddress;
use super::database::{COLLATION, MASTER, SCRATCH_MARK, integer, mark_sql, text};
use super::session::connect;
use super::version;
use super::wire::quoted;
use crate::contract::{Error, OwnedValue, ScratchDatabases, ScratchState, Target, Work};
use crate::engines::scratch::{PAUSE, TRIES, foreign, in_use, with_database};

/// Error of a database that cannot be dropped because somebody is in it.
const IN_USE: &str = "3702";

/// Makes and drops scratch databases of a server.
#[derive(Debug)]
pub(super) struct SqlserverScratch;

impl ScratchDatabases for SqlserverScratch {
    fn url(&self, url: &str, database: &str) -> Result<String, Error> {
        with_database(url, database)
    }

    fn look<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ScratchState> {
        Box::pin(async move { state(&ServerAddress::of(server)?, database).await })
    }

    fn make<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(make(server, database))
    }

    fn remove<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(remove(server, database))
    }
}

async fn state(address: &ServerAddress, database: &str) -> Result<ScratchState, Error> {
    let context = |error: Error| error.context(format!("look for database {database}"));
    let look = format!("SELECT count(*) FROM sys.databases WHERE name = {}", text(database));
    let found = connect(address, MASTER).await?.rows(&look).await.map_err(context)?;
    if integer(&found) == Some(0) {
        return Ok(ScratchState::Absent);
    }
    let look = "SELECT CAST(value AS varchar(100)) FROM sys.extended_properties WHERE class = 0 AND name = 'proofload'";
    let marked = connect(address, database).await?.rows(look).await.map_err(context)?;
    Ok(match marked.first().map(Vec::as_slice) {
        Some([OwnedValue::Text(mark)]) if mark == SCRATCH_MARK => ScratchState::Marked,
        _ => ScratchState::Foreign,
    })
}

/// Makes the database, then marks it: a server stopped in between leaves an empty one, which is not dropped.
async fn make(server: &Target, database: &str) -> Result<(), Error> {
    let address = ServerAddress::of(server)?;
    let context = |error: Error| {
        error.context(format!("make database {database}; the account needs CREATE ANY DATABASE, or dbcreator"))
    };
    let mut master = connect(&address, MASTER).await?;
    version::check(&mut master).await?;
    master.text(&format!("CREATE DATABASE {} COLLATE {COLLATION}", quoted(database))).await.map_err(context)?;
    master.text(&format!("ALTER DATABASE {} SET READ_COMMITTED_SNAPSHOT ON", quoted(database))).await?;
    connect(&address, database).await?.text(&mark_sql(SCRATCH_MARK)).await.map_err(context)
}

async fn remove(server: &Target, database: &str) -> Result<(), Error> {
    let address = ServerAddress::of(server)?;
    for _ in 0..TRIES {
        match state(&address, database).await? {
            ScratchState::Absent => return Ok(()),
            ScratchState::Foreign => return Err(foreign(database)),
            ScratchState::Marked => {}
        }
        let mut master = connect(&address, MASTER).await?;
        match master.text(&format!("DROP DATABASE {}", quoted(database))).await {
            Err(error) if error.code() == IN_USE => tokio::time::sleep(PAUSE).await,
            dropped => return dropped.map_err(|error| error.context(format!("drop database {database}"))),
        }
    }
    Err(in_use(database))
}
