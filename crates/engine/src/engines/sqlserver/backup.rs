//! Backups that the server makes of the study's database and puts back: one file of its own, in its own folder, or as many as the study names,
//! which it writes and reads side by side. What a backup is of is noted in the database, in words that come back with it. May not know what
//! the data are.

use super::address::ServerAddress;
use super::database::{self, text};
use super::engine::Sqlserver;
use super::session::connect;
use super::wire::{ServerConnection, quoted};
use super::{changes, recovery, wire};
use crate::contract::{Backups, Error, OwnedValue, ProgressTeller, Target, Work};
use proofload_model::step_count::{StepCount, StepUnit};
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
/// How often a batch is tried while others are in the database, and how long is waited in between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// Files of one backup at most. Source: Microsoft's documentation, "BACKUP (Transact-SQL)".
const FILES: usize = 64;
/// Errors of files that hold a backup of another number of files, or parts of several. Source: Microsoft's documentation, "Database engine events and errors".
const OTHER_FILES: &[&str] = &["3132", "3231", "3258"];

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

/// The files of the backup: those of the study, or one named after the database in the server's own folder.
fn files(target: &Target, database: &str) -> Result<Vec<String>, Error> {
    let given = target.place.settings.iter().filter(|(name, _)| name == FILE);
    let files: Vec<String> = given.map(|(_, file)| file.clone()).collect();
    if files.is_empty() {
        return Ok(vec![format!("{database}-proofload.bak")]);
    }
    let fault = |what: String| Err(Error::other(format!("engine.backup: {what}")));
    if files.len() > FILES {
        return fault(format!("{} files are named, and the server takes at most {FILES}", files.len()));
    }
    for (place, file) in files.iter().enumerate() {
        if file.trim().is_empty() {
            return fault(format!("file {} has no name", place + 1));
        }
        if files[..place].contains(file) {
            return fault(format!("{file} is named twice; name each file of the backup once"));
        }
    }
    Ok(files)
}

/// The files as a statement names them.
fn disks(files: &[String]) -> String {
    let each: Vec<String> = files.iter().map(|file| format!("DISK = {}", text(file))).collect();
    each.join(", ")
}

/// FNV-1a of 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// What is noted of a backup: a hash of the label, which may be long, and its file, or the number of its files with a hash of their names.
fn mark(files: &[String], label: &str) -> String {
    let place = match files {
        [file] => file.clone(),
        files => format!("{} files {:016x}", files.len(), hash(&files.join("\n"))),
    };
    format!("{:016x} {place}", hash(label))
}

/// What to try where files hold something else than one backup of as many files, which is not written over.
fn advised(error: Error) -> Error {
    if !OTHER_FILES.contains(&error.code()) {
        return error;
    }
    error.context("these files hold a backup of another number of files, or parts of several; remove them on the server, or name others in engine.backup")
}

async fn is_kept(target: &Target, label: &str) -> Result<bool, Error> {
    let (mut connection, name) = database::open(target).await?;
    let sql =
        format!("SELECT CAST(value AS varchar(2000)) FROM sys.extended_properties WHERE class = 0 AND name = '{KEPT}'");
    let rows = connection.rows(&sql).await.map_err(|error| error.context("read whether a backup was made"))?;
    let mark = mark(&files(target, &name)?, label);
    Ok(rows.first().and_then(|row| row.first()) == Some(&OwnedValue::Text(mark)))
}

async fn keep(target: &Target, label: &str, progress: ProgressTeller<'_>) -> Result<(), Error> {
    let (mut connection, name) = database::open(target).await?;
    let files = files(target, &name)?;
    // Data that are complete may come of a build that was killed before it was settled; the model comes back with the backup.
    recovery::put_back(&mut connection, &name).await?;
    let backup = format!(
        "BACKUP DATABASE {} TO {} WITH INIT, COPY_ONLY, CHECKSUM, COMPRESSION, STATS = 5",
        quoted(&name),
        disks(&files)
    );
    let context =
        |error: Error| advised(error).context(format!("back up database {name} to {} on the server", files.join(", ")));
    told(&mut connection, &backup, "backing up the database", progress).await.map_err(context)?;
    note(&mut connection, &mark(&files, label)).await
}

/// Restores: nobody else may be connected meanwhile. What a killed run has changed of the server is put back first, while its note is there.
async fn restore(target: &Target, label: &str, progress: ProgressTeller<'_>) -> Result<(), Error> {
    let address = ServerAddress::of(target)?;
    let name = &address.database;
    let files = files(target, name)?;
    if changes::allowed(target) {
        changes::put_back(target).await?;
    }
    let mut master = connect(&address, database::MASTER).await?;
    let context =
        |error: Error| error.context(format!("restore database {name} from {} on the server", files.join(", ")));
    let restored = restore_alone(&mut master, name, &files, progress).await;
    // Also after a failure, so that somebody can look.
    let opened = open_to_all(&mut master, name).await;
    let ended = match (restored, opened) {
        (Err(error), Err(opening)) => Err(error.context(opening)),
        (restored, opened) => restored.and(opened),
    };
    ended.map_err(context)?;
    drop(master);
    let mut connection = connect(&address, name).await?;
    note(&mut connection, &mark(&files, label)).await
}

/// Ends all other sessions that are in a database. `ALTER DATABASE … WITH ROLLBACK IMMEDIATE` does not end the one that has the place of a
/// database with one session: it fails with 5064. A session that has gone meanwhile, or that the account may not end, is passed over; what
/// follows tells. The account sees others' sessions with `VIEW SERVER STATE`, and ends them with `ALTER ANY CONNECTION`.
fn ending_others(name: &str) -> String {
    format!(
        "DECLARE @k nvarchar(max) = N''; \
         SELECT @k += N'BEGIN TRY KILL ' + CAST(session_id AS nvarchar(10)) + N'; END TRY BEGIN CATCH END CATCH; ' \
         FROM sys.dm_exec_sessions WHERE database_id = DB_ID({}) AND session_id <> @@SPID AND is_user_process = 1; \
         EXEC (@k); ",
        text(name)
    )
}

/// Lets all sessions into the database again.
async fn open_to_all(master: &mut ServerConnection, name: &str) -> Result<(), Error> {
    let open = format!("ALTER DATABASE {} SET MULTI_USER", quoted(name));
    let batch = format!("{}{open}", ending_others(name));
    tried(master, &batch, "opening the database", &|_, _| {}).await.map_err(|error| {
        error.context(format!(
            "let all sessions into database {name} again; it may be left in SINGLE_USER, with another client in its one place: stop what \
             connects to it, then run {open}"
        ))
    })
}

/// Ends all other sessions of the database and restores it in one batch, so that next to nobody takes the place of the one session in
/// between.
async fn restore_alone(
    master: &mut ServerConnection,
    name: &str,
    files: &[String],
    progress: ProgressTeller<'_>,
) -> Result<(), Error> {
    let (database, disks) = (quoted(name), disks(files));
    let batch = format!(
        "{}ALTER DATABASE {database} SET SINGLE_USER WITH ROLLBACK IMMEDIATE; \
         RESTORE DATABASE {database} FROM {disks} WITH REPLACE, CHECKSUM, STATS = 5",
        ending_others(name)
    );
    tried(master, &batch, "restoring the database", progress).await.map_err(|error| {
        if !IN_USE.contains(&error.code()) {
            return error;
        }
        error.context(format!(
            "other clients took it {TRIES} times; stop what connects to database {name}, or give the account VIEW SERVER STATE and ALTER \
             ANY CONNECTION, so that it ends them"
        ))
    })
}

/// Runs a batch, again while another client is in the database: the next try ends it.
async fn tried(
    master: &mut ServerConnection,
    batch: &str,
    what: &str,
    progress: ProgressTeller<'_>,
) -> Result<(), Error> {
    let mut left = TRIES;
    loop {
        left -= 1;
        match told(master, batch, what, progress).await {
            Err(error) if IN_USE.contains(&error.code()) && left > 0 => tokio::time::sleep(PAUSE).await,
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
                progress(what, Some(StepCount::of(percent, 100, StepUnit::Percent)));
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
