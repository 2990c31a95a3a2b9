//! Writing a record. Rows are only appended; the caller commits at least once per interval.

use crate::chain::{self, Chain, LinkKind};
use crate::compat::Format;
use crate::content::{AttemptEvent, LogLine, PLAN_DOCUMENT, STUDY_DOCUMENT, STUDY_FILE};
use crate::error::Error;
use crate::events;
use crate::file::is_record;
use crate::lock::Lock;
use crate::reader;
use crate::samples::pack;
use crate::{schema, seal};
use proofload_model::deployment::InstanceName;
use proofload_model::events::{RunEvent, VERSION};
use proofload_model::plan::Plan;
use proofload_model::samples::{
    AgentHistogram, AgentSecond, Check, Fact, IntervalSample, Mark, MarkLabel, Reading, Telemetry,
};
use proofload_model::study::Study;
use proofload_model::time::{Offset, WallTime};
use rusqlite::{Connection, OpenFlags, ToSql, params};
use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Number of an attempt in its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttemptId(pub i64);

/// What a new record starts with.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// The study file as written.
    pub study_text: &'a str,
    /// The study as resolved.
    pub study: &'a Study,
    /// Its plan.
    pub plan: &'a Plan,
    /// Program and version.
    pub program: &'a str,
    /// Now.
    pub at: WallTime,
}

/// What tells series of a record apart.
#[derive(Debug, PartialEq, Eq, Hash)]
struct SeriesKey {
    attempt: i64,
    instance: InstanceName,
    probe: String,
    name: String,
    component: String,
}

/// The one writer of a record.
#[derive(Debug)]
pub struct Recorder {
    pub(crate) connection: Connection,
    format: Format,
    chain: Chain,
    /// Whether rows of the study have come that no link covers.
    unchained: bool,
    series: HashMap<SeriesKey, i64>,
    /// The last series set of each probe of an instance: its series, its number.
    series_sets: HashMap<(InstanceName, String), (Vec<i64>, i64)>,
    session: i64,
    path: PathBuf,
    /// The file as it was opened.
    file: FileIdentity,
    /// The failure that ended the transaction: what came after it would stand alone.
    failed: RefCell<Option<Error>>,
    _lock: Lock,
}

impl Recorder {
    /// Makes a new record; refuses a path that exists, and one beside which another record left its last commits. A kill at any instant leaves the whole empty record or nothing.
    pub fn create(path: &Path, opening: &Opening<'_>) -> Result<Self, Error> {
        let lock = Lock::take(path)?;
        if path.exists() {
            return Err(Error::other(format!("{}; choose another file with -o", existing(path))));
        }
        expect_no_rest(path)?;
        let draft = beside(path, "-draft");
        let drawn =
            draw_up(&draft, opening).and_then(|()| std::fs::rename(&draft, path).map_err(|error| error.to_string()));
        if let Err(text) = drawn {
            let _removed = std::fs::remove_file(&draft);
            return Err(Error::other(format!("failed to create the record {}: {text}", path.display())));
        }
        Self::open(path, lock, opening.program, opening.at)
    }

    /// Opens a record whose lock is held, and begins a session.
    pub(crate) fn open(path: &Path, lock: Lock, program: &str, at: WallTime) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|error| Error::sqlite(&format!("failed to open {}", path.display()), &error))?;
        reader::check_format(&connection, path)?;
        let format = Format::of(&connection)?;
        let chain = if format.has_chain() { Chain::of(&connection, format)? } else { Chain::new(format) };
        let open = || -> rusqlite::Result<()> {
            set_up(&connection)?;
            connection.execute_batch("BEGIN")
        };
        open().map_err(|error| Error::sqlite(&format!("failed to open {}", path.display()), &error))?;
        let file = FileIdentity::of(path).ok_or_else(|| {
            Error::other(format!("failed to open {}: it was removed in the meantime", path.display()))
        })?;
        let path = path.to_owned();
        let (series, series_sets, failed) = (HashMap::new(), HashMap::new(), RefCell::new(None));
        Self {
            connection,
            format,
            chain,
            unchained: false,
            series,
            series_sets,
            session: 0,
            path,
            file,
            failed,
            _lock: lock,
        }
        .begin_session(program, at)
    }

    fn begin_session(mut self, program: &str, at: WallTime) -> Result<Self, Error> {
        let machine = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        self.insert(
            "INSERT INTO session (at_us, program, machine, pid) VALUES (?1, ?2, ?3, ?4)",
            params![at.0, program, machine.trim(), std::process::id()],
        )?;
        self.session = self.connection.last_insert_rowid();
        self.unchained = true;
        self.end_open_attempts()?;
        self.commit()?;
        Ok(self)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes all that was appended durable.
    ///
    /// # Errors
    /// SQLite's, again after one that ended the transaction, and that the file is no longer where it was.
    pub fn commit(&mut self) -> Result<(), Error> {
        self.expect_file()?;
        if self.unchained {
            self.link(LinkKind::Study, None)?;
        }
        self.expect_no_failure()?;
        self.connection.execute_batch("COMMIT; BEGIN").map_err(|error| self.wrong(&error))
    }

    /// An error when the file was deleted or replaced: what is written from then on is read by nobody.
    fn expect_file(&self) -> Result<(), Error> {
        if FileIdentity::of(&self.path) == Some(self.file) {
            return Ok(());
        }
        let text = "it was deleted or replaced while it was being written; the measurements are lost";
        Err(self.failed_with(Error::other(format!("failed to write the record {}: {text}", self.path.display()))))
    }

    fn expect_no_failure(&self) -> Result<(), Error> {
        self.failed.borrow().clone().map_or(Ok(()), Err)
    }

    fn failed_with(&self, error: Error) -> Error {
        self.failed.borrow_mut().get_or_insert(error).clone()
    }

    /// A document: text of another tool, or of the study.
    pub fn document(&mut self, at: WallTime, name: &str, body: &str) -> Result<(), Error> {
        self.unchained = true;
        self.insert("INSERT INTO document (at_us, name, body) VALUES (?1, ?2, ?3)", params![at.0, name, body])
    }

    /// The plan as it is from now on: it may only have grown. Readers take the latest.
    pub fn plan(&mut self, at: WallTime, plan: &Plan) -> Result<(), Error> {
        self.document(at, PLAN_DOCUMENT, &json(plan))
    }

    /// Begins a try at a run of the plan.
    pub fn begin_attempt(&mut self, run_index: u32, at: WallTime) -> Result<AttemptId, Error> {
        let session = self.session;
        self.insert(
            "INSERT INTO attempt (session, run_index, at_us) VALUES (?1, ?2, ?3)",
            params![session, run_index, at.0],
        )?;
        let attempt = self.connection.last_insert_rowid();
        if self.format.has_chain() {
            self.chain.begin_attempt(&self.connection, attempt).map_err(|error| self.wrong(&error))?;
        }
        Ok(AttemptId(attempt))
    }

    /// Something that happened to an attempt, or to the study.
    pub fn event(&mut self, attempt: Option<AttemptId>, event: &AttemptEvent) -> Result<(), Error> {
        let AttemptEvent { at, offset, instance, event, .. } = event;
        let statements = self.format.events();
        self.unchained |= attempt.is_none();
        let attempt = attempt.map(|attempt| attempt.0);
        let (name, detail) = (event.name(), events::encode(event));
        let values = params![attempt, at.0, offset.map(|offset| offset.0), name, detail, instance.as_str(), VERSION];
        self.insert(statements.insert, &values[..statements.columns])
    }

    /// Facts of an attempt, or of the study.
    pub fn facts(&mut self, attempt: Option<AttemptId>, facts: &[Fact]) -> Result<(), Error> {
        let (statements, attempt) = (self.format.facts(), attempt.map(|attempt| attempt.0));
        self.unchained |= attempt.is_none();
        for fact in facts {
            let Fact { instance, subject, name, requested, effective, number, source, holds } = fact;
            let values =
                params![attempt, subject, name, requested, effective, source, holds, instance.as_str(), number];
            self.insert(statements.insert, &values[..statements.columns])?;
        }
        Ok(())
    }

    /// One second of load.
    pub fn interval(&mut self, attempt: AttemptId, sample: &IntervalSample) -> Result<(), Error> {
        let number = big(sample.index);
        self.insert(
            "INSERT INTO interval (attempt, number, client, engine) VALUES (?1, ?2, ?3, ?4)",
            params![attempt.0, number, json(&sample.client), self.format.readings_to_json(&sample.engine)],
        )?;
        for counts in &sample.counts {
            self.insert(
                "INSERT INTO operation (attempt, number, kind, due, done, rolled_back, failed, dropped, in_flight, retries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    attempt.0, number, counts.kind, big(counts.due), big(counts.done), big(counts.rolled_back), big(counts.failed),
                    big(counts.dropped), big(counts.in_flight), big(counts.retries)
                ],
            )?;
        }
        for delta in &sample.histograms {
            self.insert(
                "INSERT INTO histogram (attempt, number, kind, clock, count, sum_ns, max_ns, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![attempt.0, number, delta.kind, delta.clock.word(), big(delta.count), big(delta.sum_ns), big(delta.max_ns), delta.payload],
            )?;
        }
        for error in &sample.errors {
            self.insert(
                "INSERT INTO failure (attempt, number, kind, code, text, count) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![attempt.0, number, error.kind, error.code, error.text, big(error.count)],
            )?;
        }
        Ok(())
    }

    /// One second of one of several load agents.
    pub fn agent_second(&mut self, attempt: AttemptId, second: &AgentSecond) -> Result<(), Error> {
        self.insert(
            "INSERT INTO agent_interval (attempt, agent, number, completed, failed, dropped, count, sum_ns, max_ns, client) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                attempt.0, second.agent, big(second.number), big(second.completed), big(second.failed), big(second.dropped),
                big(second.count), big(second.sum_ns), big(second.max_ns), json(&second.client)
            ],
        )
    }

    /// The latencies of one of several load agents over the measured window.
    pub fn agent_histogram(&mut self, attempt: AttemptId, of: &AgentHistogram) -> Result<(), Error> {
        let AgentHistogram { agent, delta } = of;
        self.insert(
            "INSERT INTO agent_histogram (attempt, agent, clock, count, sum_ns, max_ns, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![attempt.0, agent, delta.clock.word(), big(delta.count), big(delta.sum_ns), big(delta.max_ns), delta.payload],
        )
    }

    /// Readings of one probe at one moment; `at` is that moment as an offset from the run's time zero.
    pub fn telemetry(&mut self, attempt: AttemptId, at: Offset, telemetry: &Telemetry) -> Result<(), Error> {
        let (at, span) = (at.0, big(telemetry.span_ns));
        if self.format.has_packed_samples() {
            return self.packed(attempt, at, span, telemetry);
        }
        for reading in &telemetry.readings {
            let series = self.series_of(attempt, telemetry, reading)?;
            self.insert(
                "INSERT INTO sample (series, offset_ns, span_ns, value) VALUES (?1, ?2, ?3, ?4)",
                params![series, at, span, reading.value],
            )?;
        }
        Ok(())
    }

    /// Writes all readings of a moment as one row; what is not a number is no reading.
    fn packed(&mut self, attempt: AttemptId, at: i64, span: i64, telemetry: &Telemetry) -> Result<(), Error> {
        let known = || telemetry.readings.iter().filter(|reading| !reading.value.is_nan());
        let series =
            known().map(|reading| self.series_of(attempt, telemetry, reading)).collect::<Result<Vec<_>, _>>()?;
        if series.is_empty() {
            return Ok(());
        }
        let series_set = self.series_set_of(attempt, telemetry, series)?;
        let readings = pack(known().map(|reading| reading.value));
        self.insert(
            "INSERT INTO sample (attempt, series_set, offset_ns, span_ns, readings) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![attempt.0, series_set, at, span, readings],
        )
    }

    /// Finds the series set of a probe's readings, which is written when the series are not those of the moment before.
    fn series_set_of(&mut self, attempt: AttemptId, telemetry: &Telemetry, series: Vec<i64>) -> Result<i64, Error> {
        let probe = (telemetry.instance.clone(), telemetry.probe.clone());
        match self.series_sets.get(&probe) {
            Some((known, series_set)) if *known == series => return Ok(*series_set),
            _ => {}
        }
        self.insert("INSERT INTO series_set (attempt, series) VALUES (?1, ?2)", params![attempt.0, json(&series)])?;
        let series_set = self.connection.last_insert_rowid();
        self.series_sets.insert(probe, (series, series_set));
        Ok(series_set)
    }

    fn series_of(&mut self, attempt: AttemptId, telemetry: &Telemetry, reading: &Reading) -> Result<i64, Error> {
        let key = SeriesKey {
            attempt: attempt.0,
            instance: telemetry.instance.clone(),
            probe: telemetry.probe.clone(),
            name: reading.name.clone(),
            component: reading.component.clone(),
        };
        if let Some(series) = self.series.get(&key) {
            return Ok(*series);
        }
        let statements = self.format.series();
        let values = params![key.attempt, key.probe, key.name, key.component, reading.unit, key.instance.as_str()];
        self.insert(statements.insert, &values[..statements.columns])?;
        let series = self.connection.last_insert_rowid();
        self.series.insert(key, series);
        Ok(series)
    }

    /// Counters of the database, by label.
    pub fn mark(&mut self, attempt: AttemptId, label: MarkLabel, mark: &Mark) -> Result<(), Error> {
        for (name, value) in &mark.counters {
            self.insert(
                "INSERT INTO mark (attempt, label, moment_ns, offset_ns, name, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![attempt.0, label.word(), big(mark.moment.0), mark.offset.0, name, value],
            )?;
        }
        Ok(())
    }

    /// Verification after a run.
    pub fn checks(&mut self, attempt: AttemptId, checks: &[Check]) -> Result<(), Error> {
        for check in checks {
            self.insert("INSERT INTO verification (attempt, body) VALUES (?1, ?2)", params![attempt.0, json(check)])?;
        }
        Ok(())
    }

    /// A line for the operator.
    pub fn log(&mut self, line: &LogLine) -> Result<(), Error> {
        let LogLine { attempt, at, level, source, instance, text } = line;
        let statements = self.format.logs();
        self.unchained |= attempt.is_none();
        let values = params![attempt, at.0, level.word(), source, text, instance.as_str()];
        self.insert(statements.insert, &values[..statements.columns])
    }

    /// Ends an attempt that went through: seals its rows and commits. From here on it is never lost or repeated.
    pub fn finish(&mut self, attempt: AttemptId, at: WallTime) -> Result<(), Error> {
        if !self.format.has_chain() {
            let hash = seal::hash(&self.connection, self.format, attempt.0)?;
            self.insert("INSERT INTO seal (attempt, sha256) VALUES (?1, ?2)", params![attempt.0, hash])?;
        }
        self.event(Some(attempt), &AttemptEvent::new(at, RunEvent::Finished))?;
        self.link(LinkKind::Finished, Some(attempt.0))?;
        self.forget_series(attempt);
        self.commit()
    }

    /// Ends an attempt that was an experiment with its point: its rows are covered by the chain, and its run has no other result than before.
    pub fn end_experiment(&mut self, attempt: AttemptId) -> Result<(), Error> {
        self.link(LinkKind::Finished, Some(attempt.0))?;
        self.forget_series(attempt);
        self.commit()
    }

    /// Ends an attempt that failed; the run will be tried again by `resume`.
    pub fn fail(&mut self, attempt: AttemptId, at: WallTime, reason: &str) -> Result<(), Error> {
        self.event(Some(attempt), &AttemptEvent::new(at, RunEvent::Failed(reason.to_owned())))?;
        self.link(LinkKind::Failed, Some(attempt.0))?;
        self.forget_series(attempt);
        self.commit()
    }

    /// Forgets the series of an attempt that has ended.
    fn forget_series(&mut self, attempt: AttemptId) {
        self.series.retain(|key, _| key.attempt != attempt.0);
        self.series_sets.clear();
    }

    /// Closes the record as one file: the write-ahead log is folded in. The last link says that nothing came after it.
    pub fn close(mut self) -> Result<(), Error> {
        self.expect_file()?;
        self.expect_no_failure()?;
        self.end_open_attempts()?;
        self.link(LinkKind::Closed, None)?;
        let close = || -> rusqlite::Result<()> {
            self.connection.execute_batch("COMMIT")?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            self.connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))
        };
        close().map_err(|error| self.wrong(&error))
    }

    /// Ends attempts that nobody goes on with: nothing is added to them.
    fn end_open_attempts(&mut self) -> Result<(), Error> {
        if self.format.has_chain() {
            let open = chain::open_attempts(&self.connection).map_err(|error| self.wrong(&error))?;
            open.into_iter().try_for_each(|attempt| self.link(LinkKind::Left, Some(attempt)))?;
        }
        Ok(())
    }

    fn link(&mut self, kind: LinkKind, attempt: Option<i64>) -> Result<(), Error> {
        self.expect_no_failure()?;
        self.unchained = false;
        if !self.format.has_chain() {
            return Ok(());
        }
        self.chain.add(&self.connection, kind, attempt).map_err(|error| self.wrong(&error))
    }

    fn insert(&mut self, sql: &str, values: &[&dyn ToSql]) -> Result<(), Error> {
        self.expect_no_failure()?;
        let run = || self.connection.prepare_cached(sql)?.execute(values);
        run().map(|_| ()).map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &rusqlite::Error) -> Error {
        let error = Error::sqlite(&format!("failed to write the record {}", self.path.display()), error);
        // SQLite ends the transaction itself when, among others, the disk is full.
        if self.connection.is_autocommit() { self.failed_with(error) } else { error }
    }
}

/// What tells a file from another one of the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn of(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(Self { device: found.dev(), inode: found.ino() })
    }
}

/// What stands where a record shall be made.
fn existing(path: &Path) -> String {
    let shown = path.display();
    if path.is_dir() {
        return format!("{shown} is a folder; a record must be a file");
    }
    if is_record(path).unwrap_or(false) {
        format!("the record {shown} already exists; continue it with `proofload resume`")
    } else {
        format!("the file {shown} already exists and is not a record")
    }
}

/// The documents of a new record.
fn documents(opening: &Opening<'_>) -> [(&'static str, String); 4] {
    [
        (STUDY_FILE, opening.study_text.to_owned()),
        (STUDY_DOCUMENT, json(opening.study)),
        (PLAN_DOCUMENT, json(opening.plan)),
        ("program", opening.program.to_owned()),
    ]
}

/// The record's path with something behind it.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Checks that no commits of another record lie beside the path: `SQLite` would take them for the new one's.
fn expect_no_rest(path: &Path) -> Result<(), Error> {
    let left = ["-wal", "-journal"].map(|end| beside(path, end)).into_iter().find(|file| file.exists());
    let Some(left) = left else { return Ok(()) };
    Err(Error::other(format!(
        "{} contains the last commits of a record at {}, which was moved or deleted; put that record back, delete {}, \
         or choose another file with -o",
        left.display(),
        path.display(),
        left.display()
    )))
}

/// Writes an empty record whole and durable under a name of its own.
fn draw_up(draft: &Path, opening: &Opening<'_>) -> Result<(), String> {
    if draft.exists() {
        std::fs::remove_file(draft).map_err(|error| error.to_string())?;
    }
    let write = || -> rusqlite::Result<()> {
        let connection = Connection::open(draft)?;
        connection.execute_batch(&format!("PRAGMA synchronous = FULL; BEGIN; {}", schema::script()))?;
        for (name, body) in documents(opening) {
            connection.execute(
                "INSERT INTO document (at_us, name, body) VALUES (?1, ?2, ?3)",
                params![opening.at.0, name, body],
            )?;
        }
        Chain::new(Format(schema::FORMAT)).add(&connection, LinkKind::Study, None)?;
        connection.execute_batch("COMMIT")
    };
    write().map_err(|error| error.to_string())
}

/// WAL, and no commit lost at a loss of power.
fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF")
}

/// SQLite's integers are signed; counts and nanoseconds of a study fit.
fn big(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Plain data always has a JSON form.
fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data serialises")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::plan::expand;
    use proofload_model::settings::Settings;

    #[test]
    fn a_full_disk_is_told_also_by_what_comes_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.proof");
        let study = Study { settings: Settings::default(), factors: Vec::new() };
        let opening =
            Opening { study_text: "", study: &study, plan: &expand(&study), program: "test", at: WallTime(0) };
        let mut recorder = Recorder::create(&path, &opening).unwrap();
        recorder.begin_attempt(0, WallTime(0)).unwrap();
        recorder.connection.query_row("PRAGMA max_page_count = 1", [], |_| Ok(())).unwrap();
        let full = recorder.document(WallTime(0), "large", &"x".repeat(1 << 20)).unwrap_err();
        assert!(full.is_out_of_space() && full.to_string().contains("database or disk is full"), "{full}");
        let after = [
            recorder.document(WallTime(0), "small", "").unwrap_err(),
            recorder.commit().unwrap_err(),
            recorder.close().unwrap_err(),
        ];
        assert!(after.iter().all(|error| error.to_string() == full.to_string()), "{after:?}");
        let record = reader::read(&path).unwrap();
        assert!(record.attempts.is_empty() && !record.documents.contains_key("small"));
    }
}
