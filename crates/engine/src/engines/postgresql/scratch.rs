//! Scratch databases: marked by the comment on the database.

use super::connection;
use super::database::{NO_DATABASE, identifier};
use super::failure::failed;
use super::hosts::words;
use crate::contract::{Error, ScratchDatabases, ScratchState, Target, Work};
use crate::engines::scratch::{PAUSE, TRIES, foreign, in_use, with_database};
use postgres_protocol::escape::escape_literal;
use tokio_postgres::Client;

/// The comment on a database of a self-test.
const MARK: &str = "proofload-selftest:1";
/// The state of a database that somebody is connected to.
const IN_USE: &str = "55006";

/// Makes and drops scratch databases of a server.
#[derive(Debug)]
pub(super) struct ScratchServer;

impl ScratchDatabases for ScratchServer {
    fn url(&self, url: &str, database: &str) -> Result<String, Error> {
        if url.contains("://") {
            if url.split_once('?').is_some_and(|(_, options)| options.split('&').any(|one| one.starts_with("dbname=")))
            {
                return Err(Error::other("read the URL of the server: name no dbname among its options"));
            }
            return with_database(url, database);
        }
        let words =
            words(url).ok_or_else(|| Error::other("read the URL of the server: it has neither :// nor key=value"))?;
        let quoted = |value: &str| value.replace('\\', "\\\\").replace('\'', "\\'");
        let others = words.iter().filter(|(key, _)| key != "dbname");
        let kept: String = others.map(|(key, value)| format!("{key}='{}' ", quoted(value))).collect();
        Ok(format!("{kept}dbname='{}'", quoted(database)))
    }

    fn look<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ScratchState> {
        Box::pin(async move { state(&connect(server).await?, database).await })
    }

    fn make<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(make(server, database))
    }

    fn remove<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(remove(server, database))
    }
}

/// A connection to the database that the URL names, or to the one that every server has.
async fn connect(server: &Target) -> Result<Client, Error> {
    let mut config = connection::config(server)?;
    match connection::open(config.clone()).await {
        Err(error) if error.code() == NO_DATABASE => {
            config.dbname("postgres");
            connection::open(config).await
        }
        outcome => outcome,
    }
}

async fn state(client: &Client, database: &str) -> Result<ScratchState, Error> {
    let context = |error| failed(error).context(format!("look for database {database}"));
    let sql = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = $1";
    let Some(row) = client.query_opt(sql, &[&database]).await.map_err(context)? else {
        return Ok(ScratchState::Absent);
    };
    let mark: Option<&str> = row.try_get(0).map_err(context)?;
    Ok(if mark == Some(MARK) { ScratchState::Marked } else { ScratchState::Foreign })
}

async fn make(server: &Target, database: &str) -> Result<(), Error> {
    let client = connect(server).await?;
    let name = identifier(database);
    // Two statements, since the first may stand in no transaction: whoever is killed between them leaves an empty database without a mark.
    for sql in [format!("CREATE DATABASE {name}"), format!("COMMENT ON DATABASE {name} IS {}", escape_literal(MARK))] {
        client
            .batch_execute(&sql)
            .await
            .map_err(|error| failed(error).context(format!("make database {database}; the account needs CREATEDB")))?;
    }
    Ok(())
}

async fn remove(server: &Target, database: &str) -> Result<(), Error> {
    let client = connect(server).await?;
    for _ in 0..TRIES {
        match state(&client, database).await? {
            ScratchState::Absent => return Ok(()),
            ScratchState::Foreign => return Err(foreign(database)),
            ScratchState::Marked => {}
        }
        match client.batch_execute(&format!("DROP DATABASE {}", identifier(database))).await.map_err(failed) {
            Ok(()) => return Ok(()),
            Err(error) if error.code() == IN_USE => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(error.context(format!("drop database {database}"))),
        }
    }
    Err(in_use(database))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_url_keep_everything_but_their_database() {
        let check = |url: &str, expected: &str| assert_eq!(ScratchServer.url(url, "x").unwrap(), expected);
        check("postgresql://me@db1/shop?sslmode=require", "postgresql://me@db1/x?sslmode=require");
        check(
            "host=/tmp port=5432 dbname=shop user='it\\'s me'",
            "host='/tmp' port='5432' user='it\\'s me' dbname='x'",
        );
        assert!(ScratchServer.url("postgresql://db1/?dbname=shop", "x").is_err());
        assert!(ScratchServer.url("nonsense", "x").is_err());
    }
}
