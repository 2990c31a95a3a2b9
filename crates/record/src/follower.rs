//! Follows a record while another process writes it: each look reads the rows that are newer than those of the last one, found by their
//! numbers instead of a scan. For views, never for results. May not know what the rows of a table mean: the files beside it add them.

mod first_look;
mod new_events;
mod open_samples;
mod open_seconds;

use crate::attempt_rows::AttemptRows;
use crate::compat::Format;
use crate::content::{Attempt, Record, State};
use crate::error::Error;
use crate::last_rows::LastRows;
use crate::lock;
use crate::reader::{is_of_study, open, sessions, study_and_plan};
use crate::rows::{self, RowChoice, newer};
use first_look::{empty, first_look};
use new_events::tell_events;
use open_samples::tell_series_sets;
use open_seconds::{drop_rows, keep_last_seconds, tell_seconds};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What tells a file from another one that later has its path.
type FileIdentity = (u64, u64, Option<SystemTime>);

/// Reads what is new in a record at each look.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: Option<FileIdentity>,
    record: Option<Record>,
    /// Last rows that were read.
    seen: LastRows,
    /// Last rows before an attempt began, for attempts that began after a look: all rows of theirs come later.
    begun: HashMap<i64, LastRows>,
    /// Attempts of which all rows were read, and that nothing is added to.
    held: HashSet<i64>,
    /// Sessions of the record, and the last attempt before the last of them.
    sessions: (usize, i64),
    /// Place of each series among those of its attempt, for attempts that are open.
    series: HashMap<i64, (i64, usize)>,
    /// Layouts of samples of attempts that are open: the attempt, and the series.
    series_sets: HashMap<i64, (i64, Vec<i64>)>,
}

impl Follower {
    /// Follows the record at a path; nothing is read before the first look.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            file: None,
            record: None,
            seen: LastRows::default(),
            begun: HashMap::new(),
            held: HashSet::new(),
            sessions: (0, 0),
            series: HashMap::new(),
            series_sets: HashMap::new(),
        }
    }

    /// Reads what is new as far as progress needs it, without checking that the record is as it was written, seals included: every attempt with its
    /// events, those that `whole` picks with all their rows, and of one that is open the last seconds. Rows of others are dropped. Rows of an
    /// attempt that began after an earlier look are looked for from there on, and those of an ended one that is picked again are not read
    /// again. Another record at the same path is read from its beginning.
    ///
    /// # Errors
    /// There is no record, or it cannot be read; the next look tries again.
    pub fn look(&mut self, whole: &dyn Fn(&Attempt) -> bool) -> Result<&Record, Error> {
        let connection = open(&self.path)?;
        let file = identity(&self.path);
        if self.file != file {
            *self = Self { file, ..Self::new(&self.path) };
        }
        let path = self.path.clone();
        let reading = |error: rusqlite::Error| Error::sqlite(&format!("failed to read {}", path.display()), &error);
        connection.execute_batch("BEGIN").map_err(reading)?;
        let format = Format::of(&connection)?;
        let last = LastRows::of(&connection, format).map_err(reading)?;
        let (mut record, seen) = match self.record.take() {
            Some(record) => {
                self.note_begun(&connection, self.seen).map_err(reading)?;
                (record, self.seen)
            }
            None => {
                self.held.clear();
                (empty(&connection, &path)?, first_look(last, format))
            }
        };
        // Until all is read nothing is known: after an error the next look begins anew.
        self.seen = LastRows::default();
        self.tell_documents(&connection, &mut record, seen.get("document"))?;
        let read = self.read(&connection, format, &mut record, seen, whole);
        read.map_err(reading)?;
        record.being_written = lock::is_taken(&path);
        self.seen = last;
        Ok(self.record.insert(record))
    }

    /// Tells whether the next look finds another file than the last one, in which numbers of attempts mean others; so before the first look.
    pub fn is_another_file(&self) -> bool {
        self.file.is_none() || identity(&self.path) != self.file
    }

    /// Takes the record as the last look left it.
    pub(crate) fn into_record(self) -> Option<Record> {
        self.record
    }

    /// Notes where rows of new attempts begin.
    fn note_begun(&mut self, connection: &Connection, seen: LastRows) -> rusqlite::Result<()> {
        let sql = "SELECT id FROM attempt NOT INDEXED WHERE id > ?1 ORDER BY id";
        let begun: Vec<i64> = rows::all(connection, sql, [seen.get("attempt")], |row| row.get(0))?;
        self.begun.extend(begun.into_iter().map(|attempt| (attempt, seen)));
        Ok(())
    }

    /// Takes new documents; a search makes the plan longer.
    fn tell_documents(&self, connection: &Connection, record: &mut Record, after: i64) -> Result<(), Error> {
        let reading =
            |error: rusqlite::Error| Error::sqlite(&format!("failed to read {}", self.path.display()), &error);
        let sql = "SELECT name, body FROM document NOT INDEXED WHERE id > ?1 ORDER BY id";
        let mut is_new = false;
        newer(connection, sql, after, |row| {
            let name: String = row.get(0)?;
            is_new |= is_of_study(&name);
            record.documents.insert(name, row.get(1)?);
            Ok(())
        })
        .map_err(reading)?;
        if is_new {
            (record.study, record.plan) = study_and_plan(&record.documents, &self.path)?;
        }
        Ok(())
    }

    fn read(
        &mut self,
        connection: &Connection,
        format: Format,
        record: &mut Record,
        seen: LastRows,
        whole: &dyn Fn(&Attempt) -> bool,
    ) -> rusqlite::Result<()> {
        record.sessions = sessions(connection)?;
        if record.sessions.len() != self.sessions.0 {
            self.sessions = (record.sessions.len(), last_left(connection)?);
        }
        let begun = rows::attempts(connection, &record.plan, seen.get("attempt"), &mut Vec::new())?;
        record.attempts.extend(begun);
        tell_events(connection, format, record, seen.get("event"))?;
        let picked: HashSet<i64> = both(record).filter(|attempt| whole(attempt)).map(|attempt| attempt.id).collect();
        self.held.retain(|attempt| picked.contains(attempt));
        let is_held = |attempt: &Attempt| self.held.contains(&attempt.id);
        both(record).filter(|attempt| attempt.state != State::Open && !is_held(attempt)).for_each(drop_rows);
        let wanted: HashSet<i64> = picked.difference(&self.held).copied().collect();
        self.fill(connection, format, record, &wanted)?;
        let left = self.sessions.1;
        let is_over = |attempt: &&mut Attempt| attempt.state != State::Open || attempt.id <= left;
        self.held.extend(
            both(record).filter(|attempt| wanted.contains(&attempt.id)).filter(is_over).map(|attempt| attempt.id),
        );
        let mut open: Vec<&mut Attempt> =
            both(record).filter(|attempt| attempt.state == State::Open && !picked.contains(&attempt.id)).collect();
        let known = |attempt: i64| open.iter().any(|one| one.id == attempt) || picked.contains(&attempt);
        self.series.retain(|_, (attempt, _)| known(*attempt));
        self.series_sets.retain(|_, (attempt, _)| known(*attempt));
        if format.has_packed_samples() && !(open.is_empty() && picked.is_empty()) {
            tell_series_sets(connection, &mut self.series_sets, seen.get("series_set"), &known)?;
        }
        if open.is_empty() {
            return Ok(());
        }
        let sql =
            "SELECT label, moment_ns, offset_ns, name, value, attempt FROM mark NOT INDEXED WHERE id > ?1 ORDER BY id";
        newer(connection, sql, seen.get("mark"), |row| match of(&mut open, row.get(5)?) {
            Some(attempt) => rows::add_mark(&mut attempt.marks, row),
            None => Ok(()),
        })?;
        tell_seconds(connection, &mut open, seen)?;
        self.tell_samples(connection, format, &mut open, seen)?;
        open.into_iter().for_each(keep_last_seconds);
        Ok(())
    }

    /// Gives those that were picked all that they have.
    fn fill(
        &mut self,
        connection: &Connection,
        format: Format,
        record: &mut Record,
        picked: &HashSet<i64>,
    ) -> rusqlite::Result<()> {
        let begin = |attempt: &i64| self.begun.get(attempt).copied().unwrap_or_default();
        let Some(after) = picked.iter().map(begin).reduce(LastRows::least) else { return Ok(()) };
        let is_picked = |owner: Option<i64>| owner.is_some_and(|attempt| picked.contains(&attempt));
        let mut rows = AttemptRows::read(connection, format, RowChoice { wanted: &is_picked, after })?;
        for attempt in both(record).filter(|attempt| picked.contains(&attempt.id)) {
            let numbers = rows.fill(attempt);
            // Not checked here: whoever wants a proof reads the whole record.
            attempt.seal_holds = (attempt.state == State::Finished).then_some(true);
            if attempt.state == State::Open {
                self.series
                    .extend(numbers.into_iter().enumerate().map(|(place, number)| (number, (attempt.id, place))));
            }
        }
        Ok(())
    }
}

fn identity(path: &Path) -> Option<FileIdentity> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.created().ok()))
}

/// Attempts at runs and experiments.
fn both(record: &mut Record) -> impl Iterator<Item = &mut Attempt> {
    record.attempts.iter_mut().chain(&mut record.experiments)
}

/// The attempt of a row; the newest are looked at first.
fn of<'a>(open: &'a mut [&mut Attempt], id: i64) -> Option<&'a mut Attempt> {
    open.iter_mut().rev().find(|attempt| attempt.id == id).map(|attempt| &mut **attempt)
}

/// The last attempt of an earlier session, which nobody goes on with; 0 without any.
fn last_left(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(max(id), 0) FROM attempt NOT INDEXED \
               WHERE session < (SELECT max(id) FROM session)";
    connection.query_row(sql, [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::open_seconds::SECONDS;
    use super::*;
    use crate::rows::ROWS_READ;
    use crate::{AttemptEvent, AttemptId, Opening, Recorder, read_progress};
    use proofload_model::deployment::InstanceName;
    use proofload_model::events::RunEvent;
    use proofload_model::plan::expand;
    use proofload_model::samples::{
        ClientSelf, HistogramDelta, IntervalSample, LatencyClock, Mark, OperationCounts, Reading, Telemetry,
    };
    use proofload_model::settings::{Settings, Value};
    use proofload_model::study::{Factor, Study};
    use proofload_model::time::{Moment, Offset, WallTime};

    /// A record of two runs that is begun.
    fn begin(path: &Path) -> Recorder {
        let levels = (1..=2).map(Value::Integer).collect();
        let settings = Settings([("study.name".to_owned(), Value::Text("toy".to_owned()))].into());
        let study = Study { settings, factors: vec![Factor { setting: "limits.cores".to_owned(), levels }] };
        let plan = expand(&study);
        let opening = Opening { study_text: "", study: &study, plan: &plan, program: "test", at: WallTime(1) };
        Recorder::create(path, &opening).expect("an empty folder takes a record")
    }

    /// Writes a second of two kinds with one series, and commits it.
    fn second(recorder: &mut Recorder, attempt: AttemptId, index: u64) {
        let (kind, clock) = ("read".to_owned(), LatencyClock::Response);
        let part = HistogramDelta { kind: kind.clone(), clock, count: 1, sum_ns: 1, max_ns: 1, payload: vec![1] };
        let counts = OperationCounts { kind, due: 1, done: index, ..OperationCounts::default() };
        let client = ClientSelf::default();
        let sample = IntervalSample {
            index,
            counts: vec![counts],
            histograms: vec![part],
            errors: vec![],
            client,
            engine: vec![],
        };
        recorder.interval(attempt, &sample).expect("a second fits");
        let reading = Reading { name: "busy".into(), component: "0".into(), unit: "%".into(), value: index as f64 };
        let telemetry = Telemetry {
            instance: InstanceName::default(),
            probe: "cores".to_owned(),
            moment: Moment(0),
            span_ns: 1,
            readings: vec![reading],
        };
        recorder.telemetry(attempt, Offset(index as i64 * 1_000_000_000), &telemetry).expect("readings fit");
        recorder.commit().expect("it is durable");
    }

    fn rows_read(work: impl FnOnce()) -> u64 {
        let before = ROWS_READ.get();
        work();
        ROWS_READ.get() - before
    }

    fn never(_: &Attempt) -> bool {
        false
    }

    #[test]
    fn a_look_reads_what_is_newer_than_the_last_one_and_finds_what_a_first_look_finds() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let mut recorder = begin(&path);
        let mut follower = Follower::new(&path);
        let attempt = recorder.begin_attempt(0, WallTime(2)).expect("it begins");
        let started = AttemptEvent::new(WallTime(3), RunEvent::LoadStarted(Some(7)));
        recorder.event(Some(attempt), &started).expect("an event fits");
        let mark = Mark { moment: Moment(1), offset: Offset(1), counters: vec![("rows".into(), 1), ("b".into(), 2)] };
        recorder.mark(attempt, proofload_model::samples::MarkLabel::WindowStart, &mark).expect("a mark fits");
        for index in 0..80 {
            second(&mut recorder, attempt, index);
            let rows = rows_read(|| {
                let _record = follower.look(&never).expect("it is read");
            });
            // Counts, histogram and sample; the first look also finds the event, the mark's two counters, the series and its series set.
            assert_eq!(rows, if index == 0 { 3 + 5 } else { 3 }, "second {index}");
            if index % 50 == 0 || index == 79 {
                let (known, anew) = (follower.record.as_ref().expect("it was read"), read_progress(&path, &never));
                let (known, anew) = (&known.attempts[0], &anew.expect("it is read").attempts[0]);
                assert_eq!((&known.events, &known.marks, &known.state), (&anew.events, &anew.marks, &anew.state));
                assert_eq!((&known.intervals, &known.series), (&anew.intervals, &anew.series));
                assert_eq!(known.intervals.len() as u64, (index + 1).min(SECONDS));
                assert_eq!(known.intervals.last().map(|second| second.index), Some(index));
            }
        }
        recorder.finish(attempt, WallTime(4)).expect("it ends");
        let next = recorder.begin_attempt(1, WallTime(5)).expect("it begins");
        second(&mut recorder, next, 0);
        let is_finished = |attempt: &Attempt| attempt.state == State::Finished;
        let attempts = &follower.look(&is_finished).expect("it is read").attempts;
        assert_eq!((attempts[0].intervals.len(), attempts[0].series[0].samples.len()), (80, 80), "all of it");
        assert_eq!((attempts[1].intervals.len(), attempts[1].series[0].samples.len()), (1, 1));
        second(&mut recorder, next, 1);
        let attempts = &follower.look(&never).expect("it is read").attempts;
        assert!(attempts[0].intervals.is_empty() && attempts[0].series.is_empty(), "what was told is dropped");
        assert_eq!((attempts[1].intervals.len(), attempts[1].series[0].samples.len()), (2, 2));
    }

    #[test]
    fn an_open_attempt_that_was_read_whole_is_followed_from_there() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let mut recorder = begin(&path);
        let attempt = recorder.begin_attempt(0, WallTime(2)).expect("it begins");
        (0..100).for_each(|index| second(&mut recorder, attempt, index));
        let mut follower = Follower::new(&path);
        let whole = follower.look(&|_| true).expect("it is read").attempts[0].intervals.len();
        assert_eq!((whole, follower.is_another_file()), (100, false));
        second(&mut recorder, attempt, 100);
        let attempt = &follower.look(&never).expect("it is read").attempts[0];
        let (seconds, samples) = (&attempt.intervals, &attempt.series[0].samples);
        assert_eq!((seconds[0].index, seconds[59].index, seconds.len()), (41, 100, 60));
        assert_eq!(samples.last().map(|(at, ..)| at.0), Some(100_000_000_000));
    }

    #[test]
    fn another_record_at_the_path_is_read_from_its_beginning() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let mut recorder = begin(&path);
        let attempt = recorder.begin_attempt(1, WallTime(2)).expect("it begins");
        (0..5).for_each(|index| second(&mut recorder, attempt, index));
        let mut follower = Follower::new(&path);
        assert_eq!(follower.look(&never).expect("it is read").attempts[0].run.index, 1);
        drop(recorder);
        for name in ["x.proof", "x.proof-wal", "x.proof-shm"] {
            let _absent = std::fs::remove_file(folder.path().join(name));
        }
        assert!(follower.look(&never).is_err(), "there is none");
        let mut recorder = begin(&path);
        let attempt = recorder.begin_attempt(0, WallTime(9)).expect("it begins");
        second(&mut recorder, attempt, 0);
        assert!(follower.is_another_file());
        let attempts = &follower.look(&never).expect("it is read").attempts;
        assert!(attempts.len() == 1 && attempts[0].run.index == 0, "{attempts:?}");
        assert_eq!((attempts[0].intervals.len(), follower.is_another_file()), (1, false));
    }

    #[test]
    fn an_attempt_is_read_from_where_it_begins_and_an_ended_one_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let (mut recorder, mut follower) = (begin(&path), Follower::new(&path));
        let rows_of = |follower: &mut Follower, attempts: std::ops::RangeInclusive<i64>| {
            rows_read(|| {
                let picked = |attempt: &Attempt| attempts.contains(&attempt.id);
                let record = follower.look(&picked).expect("it is read");
                let seconds = |attempt: &Attempt| (attempt.intervals.len(), picked(attempt));
                assert!(record.attempts.iter().map(seconds).all(|found| [(5, true), (0, false)].contains(&found)));
            })
        };
        for number in 1..=4 {
            rows_of(&mut follower, 0..=0);
            let attempt = recorder.begin_attempt(0, WallTime(2)).expect("it begins");
            (0..5).for_each(|index| second(&mut recorder, attempt, index));
            recorder.finish(attempt, WallTime(3)).expect("it ends");
            // Of each second itself, counts, histogram and sample; a series, its series set and the event of the end.
            assert_eq!(rows_of(&mut follower, number..=number), 5 * 4 + 3, "attempt {number}");
        }
        assert_eq!(rows_of(&mut follower, 3..=4), 2 * (5 * 4 + 1), "from where the third begins");
        assert_eq!(rows_of(&mut follower, 3..=4), 0, "both are held");
    }
}
