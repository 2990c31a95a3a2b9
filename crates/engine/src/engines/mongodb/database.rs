//! The study's database: marked as ours, refused when it is somebody's, settled after a build. Touches nothing else.

use super::Documents;
use super::admin::{Admin, SERVER};
use super::names::MARK_COLLECTION;
use super::options::Options;
use super::url::Url;
use crate::contract::{Documents as _, Error, Target};
use std::time::Duration;

/// The note in the marking collection, and its text for the format that is ours.
pub(super) const MARK: (&str, &str) = ("format", "proofload:1");
/// Writing all that is in memory to a slow drive takes long.
const SETTLING: Duration = Duration::from_secs(3600);
/// Error codes of a server that has no such command or does not let us: unauthorised, not offered, illegal, not implemented.
const NOT_OFFERED: &[&str] = &["13", "59", "20", "115", "238"];

/// Marks the database. One that is ours stays as it is, so that a build can go on.
pub(super) async fn create(target: &Target) -> Result<(), Error> {
    check_server(target).await?;
    let database = Url::of(target)?.database;
    let mut session = Documents::connect(target).await?;
    let notes = session.notes(MARK_COLLECTION).await?;
    let strangers = session.collections().await?;
    match notes.iter().find(|(key, _)| key == MARK.0) {
        Some((_, text)) if text == MARK.1 => Ok(()),
        Some((_, other)) => Err(Error::other(format!(
            "database {database} has data in format {other:?}, but {:?} is needed; drop the database to rebuild it",
            MARK.1
        ))),
        None if strangers.is_empty() => {
            let note = [(MARK.0.to_owned(), MARK.1.to_owned())];
            session
                .note(MARK_COLLECTION, &note)
                .await
                .map_err(|error| error.context(format!("failed to mark database {database} as created by Proofload")))
        }
        None => Err(Error::other(format!(
            "database {database} has the collection {}, which Proofload did not create; it stays untouched, use \
             another database in engine.url",
            strangers[0]
        ))),
    }
}

/// Refuses a server that takes no writes, or that is in no replica set where the study wants one.
async fn check_server(target: &Target) -> Result<(), Error> {
    let greeting = Admin::connect(target).await?.hello().await?;
    if !greeting.writable {
        return Err(Error::other(
            "the server does not accept writes because it is not the primary; use the primary in engine.url, or set \
             engine.path = \"driver\"",
        ));
    }
    let wants_set = Options::read(&target.place.settings)?.replica_set;
    if wants_set && greeting.set_name.is_none() && !greeting.router {
        return Err(Error::other(
            "engine.replica_set is set, but the server is not in a replica set and cannot run transactions; start it \
             with --replSet, or remove engine.replica_set",
        ));
    }
    Ok(())
}

/// Writes everything to the drive, where the server offers it.
pub(super) async fn settle(target: &Target) -> Result<(), Error> {
    let mut admin = Admin::connect(target).await?;
    admin.wait(SETTLING);
    match admin.run(SERVER, |command| command.int32("fsync", 1)).await {
        // The data are complete without it; what the server offers is told among the facts.
        Err(error) if NOT_OFFERED.contains(&error.code()) && target.address().is_none() => Ok(()),
        outcome => outcome.map(|_| ()).map_err(|error| error.context("failed to flush all data to the drive (fsync)")),
    }
}
