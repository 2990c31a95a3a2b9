//! Backups that the server makes of the study's database and puts back: one file of its own, in its own folder. What a backup is of is noted in
//! the database, in words that come back with it. May not know what the data are.

use super::address::ServerAddress;
use super::database::{self, text};
use super::engine::Sqlserver;
use super::session::connect;
use super::wire::{ServerConnection, quoted};
use super::{changes, wire};
use crate::contract::{Backups, Error, OwnedValue, ProgressTeller, Target, Work};
use std::time::Duration;

/// Name of the setting in a target.
const FILE: &str = "backup";
/// The extended property of the study's database that says what was kept.
const KEPT: &str = "proofload_kept";
/// The message that says how far a backup or a restore is.
const PERCENT: u32 = 3211;
/// Errors that somebody else is in the database, or in the place of its one session. Source: Microsoft's documentation, "Database engine events
/// and errors".
const IN_USE: &[&str] = &["3101", "5064"];
/// How often a restore is tried while others are in the database, and how long is waited in between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

impl Backups for Sqlserver {
    fn is_kept<'a>(&'a self, target: &'a Target, label: &'a str) -> Work<'a, bool> {
        Box::pin(is_kept(target, label))
    }

    fn keep<'a>(&'a self, target: &'a Target, label: &'a str, progress: ProgressTeller<'a>) -> Work<'a, ()> {
        Box::pin(keep(target, label, progress))
    }

    fn restore<'a>(&'a self, target: &'a Target, label: &'a str, progress: ProgressTeller<'a>) -> Work<'a, ()> {
        Box::pin(restore(target, label, progress))
    }
}

/// The file of the backup: that of the study, or one named after the database in the server's own folder.
fn file(target: &Target, database: &str) -> String {
    let given = target.place.settings.iter().rev().find(|(name, _)| name == FILE);
    given.map_or_else(|| format!("{database}-proofload.bak"), |(_, file)| file.clone())
}

/// What is noted of a backup: its file, and a hash of the label (FNV-1a of 64 bits), which may be long.
fn mark(file: &str, label: &str) -> String {
    let hash = label
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    format!("{hash:016x} {file}")
}

async fn is_kept(target: &Target, label: &str) -> Result<bool, Error> {
    let (mut connection, name) = database::open(target).await?;
    let sql =
        format!("SELECT CAST(value AS varchar(2000)) FROM sys.extended_properties WHERE class = 0 AND name = '{KEPT}'");
    let rows = connection.rows(&sql).await.map_err(|error| error.context("read whether a backup was made"))?;
    let mark = mark(&file(target, &name), label);
    Ok(rows.first().and_then(|row| row.first()) == Some(&OwnedValue::Text(mark)))
}

async fn keep(target: &Target, label: &str, progress: ProgressTeller<'_>) -> Result<(), Error> {
    let (mut connection, name) = database::open(target).await?;
    let file = file(target, &name);
    let backup = format!(
        "BACKUP DATABASE {} TO DISK = {} WITH INIT, COPY_ONLY, CHECKSUM, COMPRESSION, STATS = 5",
        quoted(&name),
        text(&file)
    );
    let context = |error: Error| error.context(format!("back up database {name} to {file} on the server"));
    told(&mut connection, &backup, "backing up the database", progress).await.map_err(context)?;
    note(&mut connection, &mark(&file, label)).await
}

/// Restores: nobody else may be connected meanwhile. What a killed run has changed of the server is put back first, while its note is there.
async fn restore(target: &Target, label: &str, progress: ProgressTeller<'_>) -> Result<(), Error> {
    if changes::allowed(target) {
        changes::put_back(target).await?;
    }
    let address = ServerAddress::of(target)?;
    let name = &address.database;
    let file = file(target, name);
    let mut master = connect(&address, database::MASTER).await?;
    let context = |error: Error| error.context(format!("restore database {name} from {file} on the server"));
    let restored = restore_alone(&mut master, name, &file, progress).await;
    // Also after a failure, so that somebody can look.
    let opened = master.text(&format!("ALTER DATABASE {} SET MULTI_USER", quoted(name))).await;
    restored.and(opened).map_err(context)?;
    drop(master);
    let mut connection = connect(&address, name).await?;
    note(&mut connection, &mark(&file, label)).await
}

/// Ends all other sessions of the database and restores it in one batch, so that next to nobody takes the place of the one session in
/// between. A client that did, as one that connects again by itself, is ended by the next try.
async fn restore_alone(
    master: &mut ServerConnection,
    name: &str,
    file: &str,
    progress: ProgressTeller<'_>,
) -> Result<(), Error> {
    let (database, disk) = (quoted(name), text(file));
    let batch = format!(
        "ALTER DATABASE {database} SET SINGLE_USER WITH ROLLBACK IMMEDIATE; \
         RESTORE DATABASE {database} FROM DISK = {disk} WITH REPLACE, CHECKSUM, STATS = 5"
    );
    let mut left = TRIES;
    loop {
        left -= 1;
        match told(master, &batch, "restoring the database", progress).await {
            Err(error) if IN_USE.contains(&error.code()) && left > 0 => tokio::time::sleep(PAUSE).await,
            Err(error) if IN_USE.contains(&error.code()) => {
                let advice = format!("other clients took it {TRIES} times; stop what connects to database {name}");
                return Err(error.context(advice));
            }
            ended => return ended,
        }
    }
}

/// Runs a statement and tells how far it is.
async fn told(
    connection: &mut ServerConnection,
    sql: &str,
    what: &str,
    progress: ProgressTeller<'_>,
) -> Result<(), Error> {
    connection
        .text_heard(sql, |message: &wire::ServerWord| {
            let percent = message.text.split_whitespace().next().and_then(|word| word.parse().ok());
            if let Some(percent) = percent.filter(|_| message.number == PERCENT) {
                progress(what, percent, 100);
            }
        })
        .await
}

async fn note(connection: &mut ServerConnection, mark: &str) -> Result<(), Error> {
    let value = text(mark).split_off(1);
    let sql = format!(
        "IF EXISTS (SELECT 1 FROM sys.extended_properties WHERE class = 0 AND name = '{KEPT}') \
         EXEC sys.sp_updateextendedproperty @name = N'{KEPT}', @value = {value} \
         ELSE EXEC sys.sp_addextendedproperty @name = N'{KEPT}', @value = {value}"
    );
    connection.text(&sql).await.map_err(|error| error.context("note that a backup was made"))
}
