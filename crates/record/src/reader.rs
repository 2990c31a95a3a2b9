//! Reading a record as plain data. Works while another process writes it; never changes it.

use crate::agents::{self, AgentRows};
use crate::error::Error;
use crate::schema::{APPLICATION_ID, FORMAT};
use crate::{lock, seal};
use proofload_model::plan::{Plan, Run};
use proofload_model::samples::{
    Check, ErrorCount, Fact, HistogramDelta, IntervalSample, LatencyClock, Mark, OperationCounts,
};
use proofload_model::study::Study;
use proofload_model::time::{Moment, Offset, WallTime};
use rusqlite::{Connection, OpenFlags, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Everything in a record.
#[derive(Debug, Clone)]
pub struct Record {
    /// When it was created.
    pub created: WallTime,
    /// Documents by name; the latest of each.
    pub documents: BTreeMap<String, String>,
    /// The study as resolved.
    pub study: Study,
    /// The plan; of a study that searches, as far as it has grown.
    pub plan: Plan,
    /// Every `run` and `resume`.
    pub sessions: Vec<SessionLine>,
    /// Facts of the study as a whole.
    pub facts: Vec<Fact>,
    /// Events of the study as a whole.
    pub events: Vec<AttemptEvent>,
    /// Attempts in order.
    pub attempts: Vec<Attempt>,
    /// Log lines.
    pub logs: Vec<LogLine>,
    /// Is a process writing it now?
    pub being_written: bool,
}

impl Record {
    /// The attempt that finished a run of the plan.
    pub fn finished(&self, run_index: u32) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.run.index == run_index && attempt.state == State::Finished)
    }
}

/// One `run` or `resume`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// When it began.
    pub at: WallTime,
    /// Program and version.
    pub program: String,
    /// Kernel of the conductor's machine.
    pub machine: String,
}

/// How an attempt stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Went through; its rows are sealed.
    Finished,
    /// Ended with an error.
    Failed {
        /// Why.
        reason: String,
    },
    /// Neither: it is running, or its conductor died.
    Open,
}

/// One try at a run of the plan.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Number in the record.
    pub id: i64,
    /// Which run.
    pub run: Run,
    /// How it stands.
    pub state: State,
    /// When it began.
    pub started: WallTime,
    /// What happened.
    pub events: Vec<AttemptEvent>,
    /// Facts, requested and effective.
    pub facts: Vec<Fact>,
    /// Seconds of load, in order.
    pub intervals: Vec<IntervalSample>,
    /// What each of several load agents did of it.
    pub agents: AgentRows,
    /// Telemetry: one entry per series.
    pub series: Vec<SeriesPoint>,
    /// Counters of the database by label.
    pub marks: Vec<(String, Mark)>,
    /// Verification.
    pub checks: Vec<Check>,
    /// Does the seal of a finished attempt still fit its rows? None while it has no seal.
    pub seal_holds: Option<bool>,
}

impl Attempt {
    /// The last event of this name.
    pub fn event(&self, name: &str) -> Option<&AttemptEvent> {
        self.events.iter().rev().find(|event| event.name == name)
    }

    /// The measured window as interval numbers `[from, to)`, from the event `window`.
    pub fn window(&self) -> Option<(u64, u64)> {
        let detail: serde_json::Value = serde_json::from_str(&self.event("window")?.detail).ok()?;
        Some((detail["from"].as_u64()?, detail["to"].as_u64()?))
    }
}

/// One telemetry series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesPoint {
    /// Probe, such as `cores`.
    pub probe: String,
    /// Name, such as `busy`.
    pub name: String,
    /// What is observed.
    pub instance: String,
    /// Unit.
    pub unit: String,
    /// Offset from time zero (end of the span), span in nanoseconds, value.
    pub samples: Vec<(Offset, u64, f64)>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptEvent {
    /// When.
    pub at: WallTime,
    /// From time zero, once there is one.
    pub offset: Option<Offset>,
    /// Name: `building`, `built`, `restored`, `prepared`, `load_started`, `steady` or `not_steady`, `window`, `load_stopped`,
    /// `released`, and at the end `finished` or `failed`. Of the study: `preconditioned`, `calibrated`, `search_step`, `search_ended`,
    /// `failed`.
    pub name: String,
    /// Text or JSON. `steady`, `not_steady`: `{seconds, verdict}`. `window`: `{from, to}`, numbers of intervals, `to` excluded.
    /// `load_stopped`: `{intervals, totals}` with the clients' own counts as `OperationCounts`.
    /// `load_agents`: how each of several was started: `[{number, name, share, users, pid, clock_bound_ns}]`. `load_agents_stopped`:
    /// `[{number, clock_moved_ns, clock_bound_ns}]`. `agent_lost`: `{agent, reason}`.
    /// `built`, `restored`: `{bytes, method, seconds}`. `failed`: the reason. `search_step`: `{others, point, load, why}`, for what a
    /// search adds to the plan; `search_ended`: `{others, found, text}`; `others` are the levels of the factors.
    pub detail: String,
}

/// A line for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Attempt it belongs to.
    pub attempt: Option<i64>,
    /// When.
    pub at: WallTime,
    /// `info`, `warning`, `error`.
    pub level: String,
    /// Who.
    pub source: String,
    /// The text.
    pub text: String,
}

/// Reads a whole record.
pub fn read(path: &Path) -> Result<Record, Error> {
    let connection = open(path)?;
    // One snapshot, also while another process writes.
    let reading = |error: rusqlite::Error| Error::sqlite(&format!("reading {}", path.display()), &error);
    connection.execute_batch("BEGIN").map_err(reading)?;
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
        fill(&connection, attempt).map_err(reading)?;
        attempt.agents = agents::read(&connection, attempt.id)?;
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
        facts: facts(&connection, None).map_err(reading)?,
        events: events(&connection, None).map_err(reading)?,
        logs: logs(&connection).map_err(reading)?,
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

fn all<T, P: rusqlite::Params>(
    connection: &Connection,
    sql: &str,
    parameters: P,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(parameters, read)?.collect()
}

fn documents(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let rows =
        all(connection, "SELECT name, body FROM document ORDER BY id", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.into_iter().collect())
}

fn attempts(connection: &Connection, plan: &Plan) -> rusqlite::Result<Vec<Attempt>> {
    let rows = all(connection, "SELECT id, run_index, at_us FROM attempt ORDER BY id", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, usize>(1)?, WallTime(row.get(2)?)))
    })?;
    let known = rows.into_iter().filter_map(|(id, run, started)| plan.runs.get(run).map(|run| (id, *run, started)));
    Ok(known
        .map(|(id, run, started)| Attempt {
            id,
            run,
            state: State::Open,
            started,
            events: Vec::new(),
            facts: Vec::new(),
            intervals: Vec::new(),
            agents: AgentRows::default(),
            series: Vec::new(),
            marks: Vec::new(),
            checks: Vec::new(),
            seal_holds: None,
        })
        .collect())
}

fn fill(connection: &Connection, attempt: &mut Attempt) -> rusqlite::Result<()> {
    attempt.events = events(connection, Some(attempt.id))?;
    attempt.state = state(&attempt.events);
    attempt.facts = facts(connection, Some(attempt.id))?;
    attempt.intervals = intervals(connection, attempt.id)?;
    attempt.series = series(connection, attempt.id)?;
    attempt.marks = marks(connection, attempt.id)?;
    let bodies =
        all(connection, "SELECT body FROM verification WHERE attempt = ?1 ORDER BY id", [attempt.id], |row| {
            row.get::<_, String>(0)
        })?;
    attempt.checks = bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect();
    Ok(())
}

fn state(events: &[AttemptEvent]) -> State {
    match events.iter().rev().find(|event| event.name == "finished" || event.name == "failed") {
        Some(event) if event.name == "finished" => State::Finished,
        Some(event) => State::Failed { reason: event.detail.clone() },
        None => State::Open,
    }
}

fn events(connection: &Connection, attempt: Option<i64>) -> rusqlite::Result<Vec<AttemptEvent>> {
    all(
        connection,
        "SELECT at_us, offset_ns, name, detail FROM event WHERE attempt IS ?1 ORDER BY id",
        [attempt],
        |row| {
            Ok(AttemptEvent {
                at: WallTime(row.get(0)?),
                offset: row.get::<_, Option<i64>>(1)?.map(Offset),
                name: row.get(2)?,
                detail: row.get(3)?,
            })
        },
    )
}

fn facts(connection: &Connection, attempt: Option<i64>) -> rusqlite::Result<Vec<Fact>> {
    let sql = "SELECT subject, name, requested, effective, source, holds FROM fact WHERE attempt IS ?1 ORDER BY id";
    all(connection, sql, [attempt], |row| {
        Ok(Fact {
            subject: row.get(0)?,
            name: row.get(1)?,
            requested: row.get(2)?,
            effective: row.get(3)?,
            source: row.get(4)?,
            holds: row.get(5)?,
        })
    })
}

fn logs(connection: &Connection) -> rusqlite::Result<Vec<LogLine>> {
    all(connection, "SELECT attempt, at_us, level, source, text FROM log ORDER BY id", [], |row| {
        Ok(LogLine {
            attempt: row.get(0)?,
            at: WallTime(row.get(1)?),
            level: row.get(2)?,
            source: row.get(3)?,
            text: row.get(4)?,
        })
    })
}

fn intervals(connection: &Connection, attempt: i64) -> rusqlite::Result<Vec<IntervalSample>> {
    let mut samples: BTreeMap<u64, IntervalSample> = BTreeMap::new();
    let heads = all(
        connection,
        "SELECT number, client, engine FROM interval WHERE attempt = ?1 ORDER BY number",
        [attempt],
        |row| Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)),
    )?;
    for (index, client, engine) in heads {
        let client = serde_json::from_str(&client).unwrap_or_default();
        let engine = serde_json::from_str(&engine).unwrap_or_default();
        samples.insert(
            index,
            IntervalSample { index, counts: vec![], histograms: vec![], errors: vec![], client, engine },
        );
    }
    for (number, counts) in all(
        connection,
        "SELECT number, kind, due, done, rolled_back, failed, dropped, in_flight, retries FROM operation WHERE attempt = ?1 ORDER BY id",
        [attempt],
        operation,
    )? {
        samples.entry(number).and_modify(|sample| sample.counts.push(counts));
    }
    for (number, delta) in all(
        connection,
        "SELECT number, kind, clock, count, sum_ns, max_ns, payload FROM histogram WHERE attempt = ?1 ORDER BY id",
        [attempt],
        histogram,
    )? {
        samples.entry(number).and_modify(|sample| sample.histograms.push(delta));
    }
    for (number, error) in all(
        connection,
        "SELECT number, kind, code, text, count FROM failure WHERE attempt = ?1 ORDER BY id",
        [attempt],
        failure,
    )? {
        samples.entry(number).and_modify(|sample| sample.errors.push(error));
    }
    Ok(samples.into_values().collect())
}

fn operation(row: &Row<'_>) -> rusqlite::Result<(u64, OperationCounts)> {
    let counts = OperationCounts {
        kind: row.get(1)?,
        due: row.get(2)?,
        done: row.get(3)?,
        rolled_back: row.get(4)?,
        failed: row.get(5)?,
        dropped: row.get(6)?,
        in_flight: row.get(7)?,
        retries: row.get(8)?,
    };
    Ok((row.get(0)?, counts))
}

fn histogram(row: &Row<'_>) -> rusqlite::Result<(u64, HistogramDelta)> {
    let clock = LatencyClock::from_word(&row.get::<_, String>(2)?).unwrap_or(LatencyClock::Response);
    let delta = HistogramDelta {
        kind: row.get(1)?,
        clock,
        count: row.get(3)?,
        sum_ns: row.get(4)?,
        max_ns: row.get(5)?,
        payload: row.get(6)?,
    };
    Ok((row.get(0)?, delta))
}

fn failure(row: &Row<'_>) -> rusqlite::Result<(u64, ErrorCount)> {
    Ok((row.get(0)?, ErrorCount { kind: row.get(1)?, code: row.get(2)?, text: row.get(3)?, count: row.get(4)? }))
}

fn series(connection: &Connection, attempt: i64) -> rusqlite::Result<Vec<SeriesPoint>> {
    let heads = all(
        connection,
        "SELECT id, probe, name, instance, unit FROM series WHERE attempt = ?1 ORDER BY id",
        [attempt],
        |row| {
            let point = SeriesPoint {
                probe: row.get(1)?,
                name: row.get(2)?,
                instance: row.get(3)?,
                unit: row.get(4)?,
                samples: Vec::new(),
            };
            Ok((row.get::<_, i64>(0)?, point))
        },
    )?;
    heads
        .into_iter()
        .map(|(id, mut point)| {
            point.samples = all(
                connection,
                "SELECT offset_ns, span_ns, value FROM sample WHERE series = ?1 ORDER BY id",
                [id],
                |row| Ok((Offset(row.get(0)?), row.get(1)?, row.get(2)?)),
            )?;
            Ok(point)
        })
        .collect()
}

fn marks(connection: &Connection, attempt: i64) -> rusqlite::Result<Vec<(String, Mark)>> {
    let rows = all(
        connection,
        "SELECT label, moment_ns, offset_ns, name, value FROM mark WHERE attempt = ?1 ORDER BY id",
        [attempt],
        |row| {
            Ok((
                row.get::<_, String>(0)?,
                Moment(row.get(1)?),
                Offset(row.get(2)?),
                row.get::<_, String>(3)?,
                row.get::<_, i64>(4)?,
            ))
        },
    )?;
    let mut marks: Vec<(String, Mark)> = Vec::new();
    for (label, moment, offset, name, value) in rows {
        match marks.last_mut() {
            Some((last, mark)) if *last == label && mark.moment == moment => mark.counters.push((name, value)),
            _ => marks.push((label, Mark { moment, offset, counters: vec![(name, value)] })),
        }
    }
    Ok(marks)
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
