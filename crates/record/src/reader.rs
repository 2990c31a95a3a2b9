//! Reading a record as plain data. Works while another process writes it; never changes it.

use crate::compat::Format;
use crate::content::{Record, SessionLine};
use crate::error::Error;
use crate::rows::{all, attempts, documents, events, facts, fill, logs};
use crate::schema::{APPLICATION_ID, FORMAT};
use crate::{agents, lock, seal};
use proofload_model::plan::Plan;
use proofload_model::study::Study;
use proofload_model::time::WallTime;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeSet;
use std::path::Path;

/// Reads a whole record.
pub fn read(path: &Path) -> Result<Record, Error> {
    let connection = open(path)?;
    // One snapshot, also while another process writes.
    let reading = |error: rusqlite::Error| Error::sqlite(&format!("reading {}", path.display()), &error);
    connection.execute_batch("BEGIN").map_err(reading)?;
    let format = Format::of(&connection)?;
    let documents = documents(&connection).map_err(reading)?;
    let parse_study = || serde_json::from_str::<Study>(documents.get("study.json")?).ok();
    let parse_plan = || serde_json::from_str::<Plan>(documents.get("plan.json")?).ok();
    let (Some(study), Some(plan)) = (parse_study(), parse_plan()) else {
        return Err(Error::not_a_record(format!(
            "{} has no readable study and plan; was its creation interrupted?",
            path.display()
        )));
    };
    let mut attempts = attempts(&connection, &plan).map_err(reading)?;
    for attempt in &mut attempts {
        fill(&connection, format, attempt).map_err(reading)?;
        attempt.agents = agents::read(&connection, format, attempt.id)?;
        attempt.seal_holds = seal_holds(&connection, attempt.id)?;
    }
    Ok(Record {
        created: WallTime(
            connection.query_row("SELECT min(at_us) FROM document", [], |row| row.get(0)).map_err(reading)?,
        ),
        study,
        plan,
        sessions: all(&connection, "SELECT at_us, program, machine FROM session ORDER BY id", [], |row| {
            Ok(SessionLine { at: WallTime(row.get(0)?), program: row.get(1)?, machine: row.get(2)? })
        })
        .map_err(reading)?,
        facts: facts(&connection, format, None).map_err(reading)?,
        events: events(&connection, format, None).map_err(reading)?,
        logs: logs(&connection, format).map_err(reading)?,
        being_written: lock::is_taken(path),
        documents,
        attempts,
    })
}

/// SHA-256 of the record's file, hexadecimal: what names it beyond doubt once nobody writes it any more.
pub fn fingerprint(path: &Path) -> Result<String, Error> {
    let reading = |error: std::io::Error| Error::other(format!("reading {}: {error}", path.display()));
    let mut file = std::fs::File::open(path).map_err(reading)?;
    seal::hash_of_bytes(&mut file).map_err(reading)
}

/// Indices of the runs that are finished, without reading their samples.
pub fn read_finished_runs(path: &Path) -> Result<BTreeSet<u32>, Error> {
    let connection = open(path)?;
    let sql =
        "SELECT DISTINCT run_index FROM attempt JOIN event ON event.attempt = attempt.id WHERE event.name = 'finished'";
    all(&connection, sql, [], |row| row.get(0))
        .map(|runs: Vec<u32>| runs.into_iter().collect())
        .map_err(|error| Error::sqlite(&format!("reading {}", path.display()), &error))
}

/// Refuses what is not a record, or is one of a newer format.
pub(crate) fn check_format(connection: &Connection, path: &Path) -> Result<(), Error> {
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0));
    let wrong =
        |error: rusqlite::Error| Error::sqlite(&format!("{} is not a Proofload record", path.display()), &error);
    if pragma("application_id").map_err(wrong)? != APPLICATION_ID {
        return Err(Error::not_a_record(format!("{} is not a Proofload record", path.display())));
    }
    let format = pragma("user_version").map_err(wrong)?;
    if format > FORMAT {
        return Err(Error::newer_format(format!(
            "{} has record format {format}, this Proofload reads up to {FORMAT}; use the newer Proofload that wrote it",
            path.display()
        )));
    }
    Ok(())
}

fn open(path: &Path) -> Result<Connection, Error> {
    if !path.is_file() {
        return Err(Error::other(format!("there is no record {}", path.display())));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| Error::sqlite(&format!("opening {}", path.display()), &error))?;
    let wait = std::time::Duration::from_secs(10);
    connection.busy_timeout(wait).map_err(|error| Error::sqlite("opening a record", &error))?;
    check_format(&connection, path)?;
    Ok(connection)
}

fn seal_holds(connection: &Connection, attempt: i64) -> Result<Option<bool>, Error> {
    let stored: Vec<String> =
        all(connection, "SELECT sha256 FROM seal WHERE attempt = ?1", [attempt], |row| row.get(0))
            .map_err(|error| Error::sqlite("reading seals", &error))?;
    match stored.first() {
        Some(stored) => Ok(Some(*stored == seal::hash(connection, attempt)?)),
        None => Ok(None),
    }
}
