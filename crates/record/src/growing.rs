//! Reads a record again and again while its one writer goes on: all of it is read and proved once, then what is newer.
//!
//! A look begins where an earlier one found that no attempt went on: every row up to there is proved, and belongs to an attempt that has
//! ended or to the study. Where an attempt goes on, the next look reads all.

use crate::compat::Format;
use crate::content::Record;
use crate::error::Error;
use crate::last_rows::LastRows;
use crate::reader::{RowsAfter, is_of_study, open_snapshot, open_whole, proved_content, sessions, study_and_plan, tell_seals};
use crate::rows::all;
use crate::verification::{self, Proof};
use crate::{chain, lock};
use rusqlite::Connection;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A record that grows, as far as it was read.
#[derive(Debug)]
pub struct GrowingRecord {
    path: PathBuf,
    read: Option<ReadPart>,
}

/// What was read at the last look.
#[derive(Debug)]
struct ReadPart {
    /// Device and number of the file.
    file: (u64, u64),
    record: Arc<Record>,
    proof: Proof,
    /// Last rows of the record then.
    last: LastRows,
}

impl GrowingRecord {
    /// Follows the record at a path; nothing is read before the first look.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), read: None }
    }

    /// Reads and proves what is newer than the last look, which [`crate::read`] finds with all before it.
    ///
    /// # Errors
    /// As those of [`crate::read`]; the next look reads all.
    pub fn look(&mut self) -> Result<Arc<Record>, Error> {
        let file = identity(&self.path)?;
        // Until all is read nothing is known.
        if let Some(mut part) = self.read.take().filter(|part| part.file == file) {
            let rests = part.add(&self.path)?;
            return Ok(self.keep(part, rests));
        }
        let (connection, format) = open_whole(&self.path)?;
        let last = last_rows(&connection, format, &self.path)?;
        let (record, proof) = proved_content(&connection, format, &self.path)?;
        // Before there was a chain, nothing tells rows that were proved from later ones.
        let rests = format.has_chain() && nothing_goes_on(&connection, &self.path)?;
        Ok(self.keep(ReadPart { file, record: Arc::new(record), proof, last }, rests))
    }

    fn keep(&mut self, part: ReadPart, rests: bool) -> Arc<Record> {
        let record = Arc::clone(&part.record);
        self.read = rests.then_some(part);
        record
    }
}

impl ReadPart {
    /// Adds what is newer; tells whether no attempt goes on.
    fn add(&mut self, path: &Path) -> Result<bool, Error> {
        let reading = |error: rusqlite::Error| Error::sqlite(&format!("failed to read {}", path.display()), &error);
        let (connection, format) = open_snapshot(path)?;
        verification::check_tables(&connection, format).map_err(|error| error.of_file(path))?;
        let last = last_rows(&connection, format, path)?;
        let faults_before = self.proof.faults.len();
        let rests = verification::prove_newer(&connection, format, self.last, &mut self.proof)
            .map_err(|error| error.of_file(path))?;
        let record = Arc::make_mut(&mut self.record);
        add_documents(&connection, record, self.last.get("document"), path)?;
        let found = RowsAfter::read(&connection, format, &record.plan, self.last).map_err(reading)?;
        record.attempts.extend(found.attempts);
        record.experiments.extend(found.experiments);
        record.facts.extend(found.facts);
        record.events.extend(found.events);
        record.logs.extend(found.logs);
        record.sessions = sessions(&connection).map_err(reading)?;
        record.being_written = lock::is_taken(path);
        record.faults.extend_from_slice(&self.proof.faults[faults_before..]);
        record.faults.extend(found.faults);
        tell_seals(record, &self.proof, self.last.get("attempt"));
        self.last = last;
        Ok(rests)
    }
}

fn last_rows(connection: &Connection, format: Format, path: &Path) -> Result<LastRows, Error> {
    LastRows::of(connection, format)
        .map_err(|error| Error::sqlite(&format!("failed to read {}", path.display()), &error))
}

/// Tells whether a link ends each attempt.
fn nothing_goes_on(connection: &Connection, path: &Path) -> Result<bool, Error> {
    let open = chain::open_attempts(connection);
    open.map(|open| open.is_empty())
        .map_err(|error| Error::sqlite(&format!("failed to read {}", path.display()), &error))
}

/// Takes new documents, and the study and plan that are in force then.
fn add_documents(connection: &Connection, record: &mut Record, after: i64, path: &Path) -> Result<(), Error> {
    let sql = "SELECT name, body FROM document NOT INDEXED WHERE id > ?1 ORDER BY id";
    let read: rusqlite::Result<Vec<(String, String)>> =
        all(connection, sql, [after], |row| Ok((row.get(0)?, row.get(1)?)));
    let documents =
        read.map_err(|error| Error::sqlite(&format!("failed to read {}", path.display()), &error))?;
    let is_new = documents.iter().any(|(name, _)| is_of_study(name));
    record.documents.extend(documents);
    if is_new {
        (record.study, record.plan) = study_and_plan(&record.documents, path)?;
    }
    Ok(())
}

fn identity(path: &Path) -> Result<(u64, u64), Error> {
    let found = std::fs::metadata(path)
        .map_err(|error| Error::other(format!("failed to read {}: {error}", path.display())))?;
    Ok((found.dev(), found.ino()))
}
