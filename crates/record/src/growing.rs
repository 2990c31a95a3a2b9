//! Reads a record again and again while its one writer goes on: all of it is read and proved once, then what is newer.
//!
//! A look begins where an earlier one found that no attempt went on: every row up to there is proved, and belongs to an attempt that has
//! ended or to the study. Where an attempt goes on, the next look reads all.

use crate::compat::Format;
use crate::content::Record;
use crate::error::Error;
use crate::last_rows::LastRows;
use crate::reader::{
    RowsAfter, is_of_study, open_snapshot, open_whole, proved_content, sessions, study_and_plan, tell_seals,
};
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

    /// Reads and proves what is newer than the last look; gives all that [`crate::read`] finds.
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
    let documents = read.map_err(|error| Error::sqlite(&format!("failed to read {}", path.display()), &error))?;
    let is_new = documents.iter().any(|(name, _)| is_of_study(name));
    record.documents.extend(documents);
    if is_new {
        (record.study, record.plan) = study_and_plan(&record.documents, path)?;
    }
    Ok(())
}

fn identity(path: &Path) -> Result<(u64, u64), Error> {
    let found =
        std::fs::metadata(path).map_err(|error| Error::other(format!("failed to read {}: {error}", path.display())))?;
    Ok((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::ROWS_READ;
    use crate::verification::ROWS_PROVED;
    use crate::{AttemptEvent, Opening, Recorder, read};
    use proofload_model::events::RunEvent;
    use proofload_model::plan::{Plan, expand};
    use proofload_model::samples::{ClientSelf, Fact, IntervalSample, OperationCounts};
    use proofload_model::settings::{Settings, Value};
    use proofload_model::study::{Factor, Study};
    use proofload_model::time::WallTime;

    fn begin(path: &Path) -> (Recorder, Plan) {
        let settings = Settings([("study.name".to_owned(), Value::Text("toy".to_owned()))].into());
        let levels = (1..=2).map(Value::Integer).collect();
        let study = Study { settings, factors: vec![Factor { setting: "limits.cores".to_owned(), levels }] };
        let plan = expand(&study);
        let opening = Opening { study_text: "", study: &study, plan: &plan, program: "test", at: WallTime(1) };
        (Recorder::create(path, &opening).expect("an empty folder takes a record"), plan)
    }

    /// Writes an attempt, and what a search chooses after it.
    fn attempt(recorder: &mut Recorder, plan: &Plan) {
        let attempt = recorder.begin_attempt(0, WallTime(2)).expect("it begins");
        let fact = Fact::observed("host", "cores", "2", "test");
        recorder.facts(Some(attempt), std::slice::from_ref(&fact)).expect("a fact fits");
        let counts = OperationCounts { kind: "read".to_owned(), due: 1, done: 1, ..OperationCounts::default() };
        let client = ClientSelf::default();
        let second = IntervalSample {
            index: 0,
            counts: vec![counts],
            histograms: vec![],
            errors: vec![],
            client,
            engine: vec![],
        };
        recorder.interval(attempt, &second).expect("a second fits");
        recorder.finish(attempt, WallTime(3)).expect("it ends");
        recorder.facts(None, &[fact]).expect("a fact fits");
        recorder.event(None, &AttemptEvent::new(WallTime(4), RunEvent::Preconditioned)).expect("an event fits");
        recorder.plan(WallTime(4), plan).expect("a plan fits");
        recorder.commit().expect("it is durable");
    }

    fn shown(record: &Record) -> String {
        format!("{record:?}")
    }

    #[test]
    fn a_look_reads_and_proves_what_is_newer_and_finds_what_a_reader_finds() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let (mut recorder, plan) = begin(&path);
        let mut grown = GrowingRecord::new(&path);
        let mut rows = Vec::new();
        for _ in 0..6 {
            attempt(&mut recorder, &plan);
            let before = (ROWS_READ.get(), ROWS_PROVED.get());
            let record = grown.look().expect("it is read");
            rows.push((ROWS_READ.get() - before.0, ROWS_PROVED.get() - before.1));
            assert_eq!(shown(&record), shown(&read(&path).expect("it is read")));
        }
        // Read: two facts, two events, a second and its counts. Proved: these, the attempt and a document.
        assert_eq!(rows[1..], [(6, 8); 5]);
    }

    #[test]
    fn an_attempt_that_goes_on_is_read_whole_once_it_has_ended() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let (mut recorder, plan) = begin(&path);
        let mut grown = GrowingRecord::new(&path);
        attempt(&mut recorder, &plan);
        let open = recorder.begin_attempt(1, WallTime(5)).expect("it begins");
        recorder.commit().expect("it is durable");
        assert_eq!(grown.look().expect("it is read").attempts.len(), 2);
        recorder.finish(open, WallTime(6)).expect("it ends");
        let whole = read(&path).expect("it is read");
        assert_eq!(shown(&grown.look().expect("it is read")), shown(&whole));
        assert_eq!((whole.attempts[1].seal_holds, whole.faults.len()), (Some(true), 0));
    }

    #[test]
    fn a_row_that_was_changed_before_it_was_read_back_is_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let (mut recorder, plan) = begin(&path);
        let mut grown = GrowingRecord::new(&path);
        attempt(&mut recorder, &plan);
        assert!(grown.look().expect("it is read").faults.is_empty());
        attempt(&mut recorder, &plan);
        let other = Connection::open(&path).expect("it opens");
        let sql = "SELECT sql FROM sqlite_schema WHERE name = 'operation_no_update'";
        let made: String = other.query_row(sql, [], |row| row.get(0)).expect("a trigger");
        let forged = "DROP TRIGGER operation_no_update; UPDATE operation SET done = 99 WHERE attempt = 2";
        other.execute_batch(&format!("{forged}; {made}")).expect("SQLite carries it out");
        let record = grown.look().expect("it is read");
        assert_eq!(shown(&record), shown(&read(&path).expect("it is read")));
        let seals: Vec<Option<bool>> = record.attempts.iter().map(|attempt| attempt.seal_holds).collect();
        assert_eq!(seals, [Some(true), Some(false)]);
    }
}
