//! Reading a record as plain data. Works while another process writes it; never changes it.

use crate::attempt_rows::{AttemptRows, tell_events};
use crate::compat::Format;
use crate::content::{Attempt, AttemptEvent, LogLine, PLAN_DOCUMENT, Record, STUDY_DOCUMENT, SessionLine, State};
use crate::error::Error;
use crate::follower::Follower;
use crate::last_rows::LastRows;
use crate::rows::{RowChoice, all, attempts, documents, logs};
use crate::schema::{APPLICATION_ID, FORMAT};
use crate::verification::Proof;
use crate::{lock, verification};
use proofload_model::plan::Plan;
use proofload_model::samples::Fact;
use proofload_model::study::Study;
use proofload_model::time::WallTime;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a whole record.
pub fn read(path: &Path) -> Result<Record, Error> {
    read_proved(path).map(|(record, _)| record)
}

/// Reads a whole record, with what proves it.
pub fn read_proved(path: &Path) -> Result<(Record, Proof), Error> {
    let (connection, format) = open_whole(path)?;
    proved_content(&connection, format, path)
}

/// Reads and proves all of a record that is open.
pub(crate) fn proved_content(connection: &Connection, format: Format, path: &Path) -> Result<(Record, Proof), Error> {
    let proof = verification::prove(connection, format).map_err(|error| error.of_file(path))?;
    content_with(connection, format, path, &proof).map(|record| (record, proof))
}

/// Reads all of a record that is open, with what its proof says.
pub(crate) fn content_with(
    connection: &Connection,
    format: Format,
    path: &Path,
    proof: &Proof,
) -> Result<Record, Error> {
    let mut record = content(connection, format, path)?;
    record.faults.splice(0..0, proof.faults.iter().cloned());
    tell_seals(&mut record, proof, 0);
    Ok(record)
}

/// Tells each attempt whether its seal holds, and those after one that have finished without.
pub(crate) fn tell_seals(record: &mut Record, proof: &Proof, after: i64) {
    let mut unsealed = Vec::new();
    for attempt in record.attempts.iter_mut().chain(&mut record.experiments) {
        attempt.seal_holds = proof.seal_holds(attempt.id);
        if attempt.id > after && attempt.state == State::Finished && attempt.seal_holds.is_none() {
            unsealed.push(attempt.id);
        }
    }
    unsealed.sort_unstable();
    let told = unsealed.iter().map(|attempt| format!("attempt {attempt} has finished but has no seal"));
    record.faults.extend(told);
}

/// Reads what a record holds, without the proof.
fn content(connection: &Connection, format: Format, path: &Path) -> Result<Record, Error> {
    let reading = |error: rusqlite::Error| Error::sqlite(&format!("failed to read {}", path.display()), &error);
    let documents = documents(connection).map_err(reading)?;
    let (study, plan) = study_and_plan(&documents, path)?;
    let RowsAfter { attempts, experiments, facts, events, logs, faults } =
        RowsAfter::read(connection, format, &plan, LastRows::default()).map_err(reading)?;
    let created = "SELECT min(at_us) FROM document";
    Ok(Record {
        created: WallTime(connection.query_row(created, [], |row| row.get(0)).map_err(reading)?),
        study,
        plan,
        sessions: sessions(connection).map_err(reading)?,
        facts,
        events,
        logs,
        being_written: lock::is_taken(path),
        documents,
        attempts,
        experiments,
        faults,
        judged_again: false,
    })
}

/// What came to a record after a moment at which no attempt went on.
pub(crate) struct RowsAfter {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) experiments: Vec<Attempt>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) events: Vec<AttemptEvent>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) faults: Vec<String>,
}

impl RowsAfter {
    /// Reads it, each table by one scan.
    pub(crate) fn read(
        connection: &Connection,
        format: Format,
        plan: &Plan,
        after: LastRows,
    ) -> rusqlite::Result<Self> {
        let choice = RowChoice { wanted: &|_| true, after };
        let mut faults = Vec::new();
        let mut attempts = attempts(connection, plan, after.get("attempt"), &mut faults)?;
        let events = tell_events(connection, format, &mut attempts, choice)?;
        let mut rows = AttemptRows::read(connection, format, choice)?;
        for attempt in &mut attempts {
            rows.fill(attempt);
        }
        let (experiments, attempts) = attempts.into_iter().partition(Attempt::is_experiment);
        let logs = logs(connection, format, after.get("log"))?;
        Ok(Self { attempts, experiments, facts: rows.of_study(), events, logs, faults })
    }
}

/// Reads a record once as far as its progress needs, as [`Follower::look`] does.
pub fn read_progress(path: &Path, whole: &dyn Fn(&Attempt) -> bool) -> Result<Record, Error> {
    let mut follower = Follower::new(path);
    follower.look(whole)?;
    Ok(follower.into_record().expect("the look has read it"))
}

/// Tells whether a document holds the study or the plan.
pub(crate) fn is_of_study(document: &str) -> bool {
    [STUDY_DOCUMENT, PLAN_DOCUMENT].contains(&document)
}

pub(crate) fn study_and_plan(documents: &BTreeMap<String, String>, path: &Path) -> Result<(Study, Plan), Error> {
    let study = documents.get(STUDY_DOCUMENT).and_then(|text| serde_json::from_str::<Study>(text).ok());
    let plan = documents.get(PLAN_DOCUMENT).and_then(|text| serde_json::from_str::<Plan>(text).ok());
    study.zip(plan).ok_or_else(|| {
        Error::not_a_record(format!("{} has no readable study and plan; was its creation interrupted?", path.display()))
    })
}

pub(crate) fn sessions(connection: &Connection) -> rusqlite::Result<Vec<SessionLine>> {
    all(connection, "SELECT at_us, program, machine FROM session NOT INDEXED ORDER BY id", [], |row| {
        Ok(SessionLine { at: WallTime(row.get(0)?), program: row.get(1)?, machine: row.get(2)? })
    })
}

/// Checks a record without reading what it holds: the file, its tables, chain and seals. Errors: it is no record, or damaged.
pub fn prove(path: &Path) -> Result<Proof, Error> {
    let (connection, format) = open_whole(path)?;
    verification::prove(&connection, format).map_err(|error| error.of_file(path))
}

/// Refuses what is not a record, or is one of a newer format.
pub(crate) fn check_format(connection: &Connection, path: &Path) -> Result<(), Error> {
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0));
    let refused = not_a_record(path);
    let wrong = |error: rusqlite::Error| Error::sqlite(&refused, &error);
    if pragma("application_id").map_err(wrong)? != APPLICATION_ID {
        return Err(Error::not_a_record(refused));
    }
    let format = pragma("user_version").map_err(wrong)?;
    if format < 1 {
        return Err(Error::not_a_record(format!("{} has the unknown record format {format}", path.display())));
    }
    if format > FORMAT {
        return Err(Error::newer_format(format!(
            "{} has record format {format}, but this Proofload reads formats up to {FORMAT}; use the newer version \
             that wrote it",
            path.display()
        )));
    }
    Ok(())
}

/// What is said of another file, which by its name may be a study.
fn not_a_record(path: &Path) -> String {
    let is_study = path.extension().is_some_and(|ending| ending == "toml");
    let hint = if is_study { " but, by its name, a study, whose record proofload run writes" } else { "" };
    format!("{} is not a Proofload record{hint}", path.display())
}

pub(crate) fn open(path: &Path) -> Result<Connection, Error> {
    if !path.is_file() {
        return Err(Error::other(format!("no such record: {}", path.display())));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| Error::sqlite(&format!("failed to open {}", path.display()), &error))?;
    let wait = std::time::Duration::from_secs(10);
    connection.busy_timeout(wait).map_err(|error| Error::sqlite("failed to open a record", &error))?;
    check_format(&connection, path)?;
    Ok(connection)
}

/// Opens a record that is whole, as one snapshot, also while another process writes.
pub(crate) fn open_whole(path: &Path) -> Result<(Connection, Format), Error> {
    let (connection, format) = open_snapshot(path)?;
    verification::check_file(&connection, format).map_err(|error| error.of_file(path))?;
    Ok((connection, format))
}

/// Opens a record as one snapshot without checking its pages.
pub(crate) fn open_snapshot(path: &Path) -> Result<(Connection, Format), Error> {
    let connection = open(path)?;
    let begin = connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; BEGIN");
    begin.map_err(|error| Error::sqlite(&format!("failed to read {}", path.display()), &error))?;
    let format = Format::of(&connection)?;
    Ok((connection, format))
}
