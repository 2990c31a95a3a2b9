//! Reading a record as plain data. Works while another process writes it; never changes it.

use crate::compat::Format;
use crate::content::{Record, SessionLine, State};
use crate::error::Error;
use crate::rows::{all, attempts, documents, events, facts, fill, logs, samples};
use crate::schema::{APPLICATION_ID, FORMAT};
use crate::verification::Proof;
use crate::{agents, lock, verification};
use proofload_model::plan::Plan;
use proofload_model::study::Study;
use proofload_model::time::WallTime;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeSet;
use std::path::Path;

/// Reads a whole record.
pub fn read(path: &Path) -> Result<Record, Error> {
    let (connection, format) = open_whole(path)?;
    let reading = |error: rusqlite::Error| Error::sqlite(&format!("reading {}", path.display()), &error);
    let proof = verification::prove(&connection, format).map_err(|error| error.of_file(path))?;
    let documents = documents(&connection).map_err(reading)?;
    let parse_study = || serde_json::from_str::<Study>(documents.get("study.json")?).ok();
    let parse_plan = || serde_json::from_str::<Plan>(documents.get("plan.json")?).ok();
    let (Some(study), Some(plan)) = (parse_study(), parse_plan()) else {
        return Err(Error::not_a_record(format!(
            "{} has no readable study and plan; was its creation interrupted?",
            path.display()
        )));
    };
    let mut faults = proof.faults.clone();
    let mut attempts = attempts(&connection, &plan, &mut faults).map_err(reading)?;
    let mut samples = samples(&connection).map_err(reading)?;
    for attempt in &mut attempts {
        fill(&connection, format, attempt, &mut samples).map_err(reading)?;
        attempt.agents = agents::read(&connection, format, attempt.id)?;
        attempt.seal_holds = proof.seal_holds(attempt.id);
        if attempt.state == State::Finished && attempt.seal_holds.is_none() {
            faults.push(format!("attempt {} has finished and has no seal", attempt.id));
        }
    }
    Ok(Record {
        created: WallTime(
            connection.query_row("SELECT min(at_us) FROM document", [], |row| row.get(0)).map_err(reading)?,
        ),
        study,
        plan,
        sessions: all(&connection, "SELECT at_us, program, machine FROM session NOT INDEXED ORDER BY id", [], |row| {
            Ok(SessionLine { at: WallTime(row.get(0)?), program: row.get(1)?, machine: row.get(2)? })
        })
        .map_err(reading)?,
        facts: facts(&connection, format, None).map_err(reading)?,
        events: events(&connection, format, None).map_err(reading)?,
        logs: logs(&connection, format).map_err(reading)?,
        being_written: lock::is_taken(path),
        documents,
        attempts,
        faults,
        judged_again: false,
    })
}

/// Checks a record without reading what it holds: the file, its tables, chain and seals. Errors: it is no record, or damaged.
pub fn prove(path: &Path) -> Result<Proof, Error> {
    let (connection, format) = open_whole(path)?;
    verification::prove(&connection, format).map_err(|error| error.of_file(path))
}

/// Indices of the runs that are finished, without reading their samples.
pub fn read_finished_runs(path: &Path) -> Result<BTreeSet<u32>, Error> {
    let connection = open(path)?;
    let sql = "SELECT DISTINCT run_index FROM attempt NOT INDEXED JOIN event NOT INDEXED ON event.attempt = attempt.id WHERE event.name = 'finished'";
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
    if format < 1 {
        return Err(Error::not_a_record(format!("{} has no record format {format}", path.display())));
    }
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

/// Opens a record that is whole, as one snapshot, also while another process writes.
fn open_whole(path: &Path) -> Result<(Connection, Format), Error> {
    let connection = open(path)?;
    let begin = connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; BEGIN");
    begin.map_err(|error| Error::sqlite(&format!("reading {}", path.display()), &error))?;
    let format = Format::of(&connection)?;
    verification::check_file(&connection, format).map_err(|error| error.of_file(path))?;
    Ok((connection, format))
}
