//! Rows of a record's tables as what they mean. May not open files.

use crate::agents::AgentRows;
use crate::compat::Format;
use crate::content::{Attempt, AttemptEvent, LogLine, SeriesPoint, State};
use crate::events;
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::plan::Plan;
use proofload_model::samples::{ErrorCount, Fact, HistogramDelta, IntervalSample, LatencyClock, Mark, OperationCounts};
use proofload_model::time::{Moment, Offset, WallTime};
use rusqlite::{Connection, Row};
use std::collections::{BTreeMap, HashMap};

/// Every row of a query.
pub(crate) fn all<T, P: rusqlite::Params>(
    connection: &Connection,
    sql: &str,
    parameters: P,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(parameters, read)?.collect()
}

pub(crate) fn documents(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let rows = all(connection, "SELECT name, body FROM document NOT INDEXED ORDER BY id", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(rows.into_iter().collect())
}

/// Every attempt at a run of the plan; one at another is a fault.
pub(crate) fn attempts(
    connection: &Connection,
    plan: &Plan,
    faults: &mut Vec<String>,
) -> rusqlite::Result<Vec<Attempt>> {
    let rows = all(connection, "SELECT id, run_index, at_us FROM attempt NOT INDEXED ORDER BY id", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, usize>(1)?, WallTime(row.get(2)?)))
    })?;
    let mut known = Vec::new();
    for (id, index, started) in rows {
        match plan.runs.get(index) {
            Some(run) => known.push((id, *run, started)),
            None => faults.push(format!("attempt {id} belongs to run {index}, which is not in the plan")),
        }
    }
    Ok(known
        .into_iter()
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

pub(crate) fn fill(
    connection: &Connection,
    format: Format,
    attempt: &mut Attempt,
    samples: &mut Samples,
) -> rusqlite::Result<()> {
    attempt.events = events(connection, format, Some(attempt.id))?;
    attempt.state = state(&attempt.events);
    attempt.facts = facts(connection, format, Some(attempt.id))?;
    attempt.intervals = intervals(connection, format, attempt.id)?;
    attempt.series = series(connection, format, attempt.id, samples)?;
    attempt.marks = marks(connection, attempt.id)?;
    let bodies = all(
        connection,
        "SELECT body FROM verification NOT INDEXED WHERE attempt = ?1 ORDER BY id",
        [attempt.id],
        |row| row.get::<_, String>(0),
    )?;
    attempt.checks = bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect();
    Ok(())
}

/// How an attempt stands by its events.
pub(crate) fn state(events: &[AttemptEvent]) -> State {
    let end = events.iter().rev().find_map(|event| match &event.event {
        RunEvent::Finished => Some(State::Finished),
        RunEvent::Failed(reason) => Some(State::Failed { reason: reason.clone() }),
        _ => None,
    });
    end.unwrap_or(State::Open)
}

pub(crate) fn events(
    connection: &Connection,
    format: Format,
    attempt: Option<i64>,
) -> rusqlite::Result<Vec<AttemptEvent>> {
    all(connection, format.events().select, [attempt], |row| {
        let (name, listed): (String, String) = (row.get(2)?, row.get(3)?);
        Ok(AttemptEvent {
            at: WallTime(row.get(0)?),
            offset: row.get::<_, Option<i64>>(1)?.map(Offset),
            instance: instance(row, 4)?,
            event: events::decode(format, row.get(5)?, &name, &listed),
            listed,
        })
    })
}

pub(crate) fn facts(connection: &Connection, format: Format, attempt: Option<i64>) -> rusqlite::Result<Vec<Fact>> {
    all(connection, format.facts().select, [attempt], |row| {
        let fact = Fact {
            subject: row.get(0)?,
            name: row.get(1)?,
            requested: row.get(2)?,
            effective: row.get(3)?,
            number: row.get(7)?,
            source: row.get(4)?,
            holds: row.get(5)?,
            instance: instance(row, 6)?,
        };
        Ok(Fact { number: format.number(&fact), ..fact })
    })
}

pub(crate) fn logs(connection: &Connection, format: Format) -> rusqlite::Result<Vec<LogLine>> {
    all(connection, format.logs().select, [], |row| {
        Ok(LogLine {
            attempt: row.get(0)?,
            at: WallTime(row.get(1)?),
            level: row.get(2)?,
            source: row.get(3)?,
            text: row.get(4)?,
            instance: instance(row, 5)?,
        })
    })
}

fn instance(row: &Row<'_>, column: usize) -> rusqlite::Result<InstanceName> {
    Ok(InstanceName::new(row.get::<_, String>(column)?))
}

fn intervals(connection: &Connection, format: Format, attempt: i64) -> rusqlite::Result<Vec<IntervalSample>> {
    let mut samples: BTreeMap<u64, IntervalSample> = BTreeMap::new();
    let heads = all(
        connection,
        "SELECT number, client, engine FROM interval NOT INDEXED WHERE attempt = ?1 ORDER BY number",
        [attempt],
        |row| Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)),
    )?;
    for (index, client, engine) in heads {
        let client = serde_json::from_str(&client).unwrap_or_default();
        let engine = format.readings_from_json(&engine);
        samples.insert(
            index,
            IntervalSample { index, counts: vec![], histograms: vec![], errors: vec![], client, engine },
        );
    }
    for (number, counts) in all(
        connection,
        "SELECT number, kind, due, done, rolled_back, failed, dropped, in_flight, retries FROM operation NOT INDEXED WHERE attempt = ?1 ORDER BY id",
        [attempt],
        operation,
    )? {
        samples.entry(number).and_modify(|sample| sample.counts.push(counts));
    }
    for (number, delta) in all(
        connection,
        "SELECT number, kind, clock, count, sum_ns, max_ns, payload FROM histogram NOT INDEXED WHERE attempt = ?1 ORDER BY id",
        [attempt],
        histogram,
    )? {
        samples.entry(number).and_modify(|sample| sample.histograms.push(delta));
    }
    for (number, error) in all(
        connection,
        "SELECT number, kind, code, text, count FROM failure NOT INDEXED WHERE attempt = ?1 ORDER BY id",
        [attempt],
        failure,
    )? {
        samples.entry(number).and_modify(|sample| sample.errors.push(error));
    }
    Ok(samples.into_values().collect())
}

pub(crate) fn operation(row: &Row<'_>) -> rusqlite::Result<(u64, OperationCounts)> {
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

pub(crate) fn histogram(row: &Row<'_>) -> rusqlite::Result<(u64, HistogramDelta)> {
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

/// Samples by the number of their series, in the order of the record.
pub(crate) type Samples = HashMap<i64, Vec<(Offset, u64, f64)>>;

/// Every sample of a record, by one scan.
pub(crate) fn samples(connection: &Connection) -> rusqlite::Result<Samples> {
    let sql = "SELECT series, offset_ns, span_ns, value FROM sample NOT INDEXED ORDER BY id";
    let mut statement = connection.prepare(sql)?;
    let (mut rows, mut samples) = (statement.query([])?, Samples::new());
    while let Some(row) = rows.next()? {
        samples.entry(row.get(0)?).or_default().push((Offset(row.get(1)?), row.get(2)?, row.get(3)?));
    }
    Ok(samples)
}

pub(crate) fn series(
    connection: &Connection,
    format: Format,
    attempt: i64,
    samples: &mut Samples,
) -> rusqlite::Result<Vec<SeriesPoint>> {
    all(connection, format.series().select, [attempt], |row| {
        Ok(SeriesPoint {
            samples: samples.remove(&row.get(0)?).unwrap_or_default(),
            probe: row.get(1)?,
            name: row.get(2)?,
            component: row.get(3)?,
            unit: row.get(4)?,
            instance: instance(row, 5)?,
        })
    })
}

pub(crate) fn marks(connection: &Connection, attempt: i64) -> rusqlite::Result<Vec<(String, Mark)>> {
    let rows = all(
        connection,
        "SELECT label, moment_ns, offset_ns, name, value FROM mark NOT INDEXED WHERE attempt = ?1 ORDER BY id",
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
