//! Scratch databases: marked by a note in the marking collection.

use super::Documents;
use super::admin::Admin;
use super::database::MARK;
use super::names::MARK_COLLECTION;
use super::url::Url;
use crate::contract::{Documents as _, Error, ScratchDatabases, ScratchState, Target, Work};
use crate::engines::scratch::{foreign, with_database};

/// The note that only a database of a self-test has.
const SCRATCH: (&str, &str) = ("selftest", "1");

/// Makes and drops scratch databases of a server.
#[derive(Debug)]
pub(super) struct ScratchServer;

impl ScratchDatabases for ScratchServer {
    fn url(&self, url: &str, database: &str) -> Result<String, Error> {
        let url = with_database(url, database)?;
        Url::parse(&url).map(|_| url)
    }

    fn look<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ScratchState> {
        Box::pin(async move { state(&at(server, database)?).await })
    }

    fn make<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            let target = at(server, database)?;
            if state(&target).await? != ScratchState::Absent {
                return Err(Error::other(format!("make database {database}: it is there already")));
            }
            let notes = [MARK, SCRATCH].map(|(key, text)| (key.to_owned(), text.to_owned()));
            Documents::connect(&target).await?.note(MARK_COLLECTION, &notes).await
        })
    }

    fn remove<'a>(&'a self, server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            let target = at(server, database)?;
            match state(&target).await? {
                ScratchState::Absent => return Ok(()),
                ScratchState::Foreign => return Err(foreign(database)),
                ScratchState::Marked => {}
            }
            let context = |error: Error| error.context(format!("drop database {database}"));
            let mut admin = Admin::connect(&target).await?;
            admin.run(database, |command| command.int32("dropDatabase", 1)).await.map(|_| ()).map_err(context)
        })
    }
}

/// The server with this database.
fn at(server: &Target, database: &str) -> Result<Target, Error> {
    let mut target = server.clone();
    let text = server.address().or(server.place.url.as_deref()).unwrap_or_default();
    target.place.url = Some(ScratchServer.url(text, database)?);
    target.endpoints = None.into();
    Ok(target)
}

async fn state(target: &Target) -> Result<ScratchState, Error> {
    let mut session = Documents::connect(target).await?;
    let notes = session.notes(MARK_COLLECTION).await?;
    let is_marked = notes.iter().any(|(key, text)| (key.as_str(), text.as_str()) == SCRATCH);
    Ok(match (is_marked, notes.is_empty() && session.collections().await?.is_empty()) {
        (true, _) => ScratchState::Marked,
        (false, true) => ScratchState::Absent,
        (false, false) => ScratchState::Foreign,
    })
}
