//! Rows of a record's tables as what they mean. May not open files.

use crate::compat::Format;
use crate::content::{Attempt, AttemptEvent, LogLine, SeriesPoint, State};
use crate::events;
use crate::last_rows::LastRows;
use crate::samples::Samples;
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::log_level::LogLevel;
use proofload_model::plan::Plan;
use proofload_model::samples::{
    Check, ErrorCount, Fact, HistogramDelta, IntervalSample, LatencyClock, Mark, OperationCounts,
};
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

#[cfg(test)]
thread_local! {
    /// Rows of attempts that tests have read on this thread.
    pub(crate) static ROWS_READ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Tells whether rows of an attempt, or of the study, are to be read.
pub(crate) type Wanted<'a> = &'a dyn Fn(Option<i64>) -> bool;

/// Which rows are to be read.
#[derive(Clone, Copy)]
pub(crate) struct RowChoice<'a> {
    /// Attempts whose rows are read.
    pub(crate) wanted: Wanted<'a>,
    /// Rows after these.
    pub(crate) after: LastRows,
}

/// Rows by their attempt; `None` for those of the study.
pub(crate) type Owned<T> = HashMap<Option<i64>, Vec<T>>;

/// Goes through the newer rows of a table by one scan, whatever the number of attempts: each row that is wanted, with its attempt, which
/// stands in the column `owner`.
pub(crate) fn each(
    connection: &Connection,
    (table, sql): (&str, &str),
    owner: usize,
    RowChoice { wanted, after }: RowChoice<'_>,
    mut read: impl FnMut(Option<i64>, &Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let (mut rows, mut last) = (statement.query([after.get(table)])?, (None, wanted(None)));
    while let Some(row) = rows.next()? {
        #[cfg(test)]
        ROWS_READ.set(ROWS_READ.get() + 1);
        let attempt = row.get(owner)?;
        if last.0 != attempt {
            last = (attempt, wanted(attempt));
        }
        if last.1 {
            read(attempt, row)?;
        }
    }
    Ok(())
}

/// Goes through the rows of a table whose numbers are larger than one.
pub(crate) fn newer(
    connection: &Connection,
    sql: &str,
    after: i64,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([after])?;
    while let Some(row) = rows.next()? {
        #[cfg(test)]
        ROWS_READ.set(ROWS_READ.get() + 1);
        read(row)?;
    }
    Ok(())
}

/// Collects what `each` row is, by attempt.
pub(crate) fn by_attempt<T>(
    connection: &Connection,
    of: (&str, &str),
    owner: usize,
    choice: RowChoice<'_>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Owned<T>> {
    let mut found = HashMap::new();
    each(connection, of, owner, choice, |attempt, row| {
        found.entry(attempt).or_insert_with(Vec::new).push(read(row)?);
        Ok(())
    })?;
    Ok(found)
}

pub(crate) fn documents(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let rows = all(connection, "SELECT name, body FROM document NOT INDEXED ORDER BY id", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(rows.into_iter().collect())
}

/// Every attempt at a run of the plan whose number is larger than one; one at another run is a fault.
pub(crate) fn attempts(
    connection: &Connection,
    plan: &Plan,
    after: i64,
    faults: &mut Vec<String>,
) -> rusqlite::Result<Vec<Attempt>> {
    let sql = "SELECT id, run_index, at_us FROM attempt NOT INDEXED WHERE id > ?1 ORDER BY id";
    let rows = all(connection, sql, [after], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, usize>(1)?, WallTime(row.get(2)?)))
    })?;
    let mut known = Vec::new();
    for (id, index, started) in rows {
        match plan.runs.get(index) {
            Some(run) => known.push(Attempt::begun(id, *run, started)),
            // People count runs from 1.
            None => {
                let number = index.saturating_add(1);
                faults.push(format!("attempt {id} belongs to run {number}, which is not in the plan"));
            }
        }
    }
    Ok(known)
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

/// Events of attempts and of the study.
pub(crate) fn events(
    connection: &Connection,
    format: Format,
    choice: RowChoice<'_>,
) -> rusqlite::Result<Owned<AttemptEvent>> {
    by_attempt(connection, ("event", format.events().select), 6, choice, |row| event(row, format))
}

/// The event of a row.
pub(crate) fn event(row: &Row<'_>, format: Format) -> rusqlite::Result<AttemptEvent> {
    let (name, listed): (String, String) = (row.get(2)?, row.get(3)?);
    Ok(AttemptEvent {
        at: WallTime(row.get(0)?),
        offset: row.get::<_, Option<i64>>(1)?.map(Offset),
        instance: instance(row, 4)?,
        event: events::decode(format, row.get(5)?, &name, &listed),
        listed,
    })
}

/// Facts of attempts and of the study.
pub(crate) fn facts(connection: &Connection, format: Format, choice: RowChoice<'_>) -> rusqlite::Result<Owned<Fact>> {
    by_attempt(connection, ("fact", format.facts().select), 8, choice, |row| {
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

/// Log lines after one.
pub(crate) fn logs(connection: &Connection, format: Format, after: i64) -> rusqlite::Result<Vec<LogLine>> {
    all(connection, format.logs().select, [after], |row| {
        Ok(LogLine {
            attempt: row.get(0)?,
            at: WallTime(row.get(1)?),
            level: LogLevel::recorded(&row.get::<_, String>(2)?),
            source: row.get(3)?,
            text: row.get(4)?,
            instance: instance(row, 5)?,
        })
    })
}

fn instance(row: &Row<'_>, column: usize) -> rusqlite::Result<InstanceName> {
    Ok(InstanceName::new(row.get::<_, String>(column)?))
}

/// Seconds of load of attempts, in order.
pub(crate) fn intervals(
    connection: &Connection,
    format: Format,
    choice: RowChoice<'_>,
) -> rusqlite::Result<HashMap<i64, Vec<IntervalSample>>> {
    let mut found: HashMap<i64, Seconds> = HashMap::new();
    let sql = "SELECT attempt, number, client, engine FROM interval NOT INDEXED WHERE id > ?1 ORDER BY id";
    each(connection, ("interval", sql), 0, choice, |attempt, row| {
        let (client, engine): (String, String) = (row.get(2)?, row.get(3)?);
        let client = serde_json::from_str(&client).unwrap_or_default();
        let (index, engine) = (row.get(1)?, format.readings_from_json(&engine));
        let second = IntervalSample { index, counts: vec![], histograms: vec![], errors: vec![], client, engine };
        found.entry(attempt.unwrap_or_default()).or_default().insert(index, second);
        Ok(())
    })?;
    let sql = "SELECT number, kind, due, done, rolled_back, failed, dropped, in_flight, retries, attempt FROM operation NOT INDEXED WHERE id > ?1 ORDER BY id";
    each(connection, ("operation", sql), 9, choice, |attempt, row| {
        let (number, counts) = operation(row)?;
        if let Some(second) = second_of(&mut found, attempt, number) {
            second.counts.push(counts);
        }
        Ok(())
    })?;
    let sql = "SELECT number, kind, clock, count, sum_ns, max_ns, payload, attempt FROM histogram NOT INDEXED \
               WHERE id > ?1 ORDER BY id";
    each(connection, ("histogram", sql), 7, choice, |attempt, row| {
        let (number, delta) = histogram(row)?;
        if let Some(second) = second_of(&mut found, attempt, number) {
            second.histograms.push(delta);
        }
        Ok(())
    })?;
    let sql = "SELECT number, kind, code, text, count, attempt FROM failure NOT INDEXED WHERE id > ?1 ORDER BY id";
    each(connection, ("failure", sql), 5, choice, |attempt, row| {
        let (number, error) = failure(row)?;
        if let Some(second) = second_of(&mut found, attempt, number) {
            second.errors.push(error);
        }
        Ok(())
    })?;
    Ok(found.into_iter().map(|(attempt, seconds)| (attempt, seconds.into_values().collect())).collect())
}

/// Seconds of an attempt by their numbers.
type Seconds = BTreeMap<u64, IntervalSample>;

fn second_of(found: &mut HashMap<i64, Seconds>, attempt: Option<i64>, number: u64) -> Option<&mut IntervalSample> {
    found.get_mut(&attempt?)?.get_mut(&number)
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

/// Series of attempts, without their samples, by their numbers.
pub(crate) fn series(
    connection: &Connection,
    format: Format,
    choice: RowChoice<'_>,
) -> rusqlite::Result<Owned<(i64, SeriesPoint)>> {
    let of = ("series", format.series().select);
    by_attempt(connection, of, 6, choice, |row| Ok((row.get(0)?, series_point(row)?)))
}

/// The series of a row, without its samples.
pub(crate) fn series_point(row: &Row<'_>) -> rusqlite::Result<SeriesPoint> {
    Ok(SeriesPoint {
        samples: Vec::new(),
        probe: row.get(1)?,
        name: row.get(2)?,
        component: row.get(3)?,
        unit: row.get(4)?,
        instance: instance(row, 5)?,
    })
}

/// Puts samples to their series.
pub(crate) fn sampled(series: Vec<(i64, SeriesPoint)>, samples: &mut Samples) -> Vec<SeriesPoint> {
    let with =
        |(number, one): (i64, SeriesPoint)| SeriesPoint { samples: samples.remove(&number).unwrap_or_default(), ..one };
    series.into_iter().map(with).collect()
}

/// Counters of databases of attempts, by label.
pub(crate) fn marks(connection: &Connection, choice: RowChoice<'_>) -> rusqlite::Result<Owned<(String, Mark)>> {
    let mut marks: Owned<(String, Mark)> = HashMap::new();
    let sql =
        "SELECT label, moment_ns, offset_ns, name, value, attempt FROM mark NOT INDEXED WHERE id > ?1 ORDER BY id";
    each(connection, ("mark", sql), 5, choice, |attempt, row| add_mark(marks.entry(attempt).or_default(), row))?;
    Ok(marks)
}

/// Adds the counter of a row to its mark.
pub(crate) fn add_mark(marks: &mut Vec<(String, Mark)>, row: &Row<'_>) -> rusqlite::Result<()> {
    let (label, moment, offset) = (row.get::<_, String>(0)?, Moment(row.get(1)?), Offset(row.get(2)?));
    let counter = (row.get(3)?, row.get(4)?);
    match marks.last_mut() {
        Some((last, mark)) if *last == label && mark.moment == moment => mark.counters.push(counter),
        _ => marks.push((label, Mark { moment, offset, counters: vec![counter] })),
    }
    Ok(())
}

/// What was verified after attempts.
pub(crate) fn checks(connection: &Connection, choice: RowChoice<'_>) -> rusqlite::Result<Owned<Check>> {
    let sql = "SELECT body, attempt FROM verification NOT INDEXED WHERE id > ?1 ORDER BY id";
    let check = |row: &Row<'_>| Ok(serde_json::from_str(&row.get::<_, String>(0)?).ok());
    let read = by_attempt(connection, ("verification", sql), 1, choice, check)?;
    let readable =
        |(attempt, checks): (Option<i64>, Vec<Option<Check>>)| (attempt, checks.into_iter().flatten().collect());
    Ok(read.into_iter().map(readable).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_at_a_run_beyond_the_plan_is_told_by_a_number_from_one() {
        let connection = Connection::open_in_memory().expect("a database in memory");
        let rows = "CREATE TABLE attempt (id INTEGER PRIMARY KEY, run_index INTEGER NOT NULL, at_us INTEGER NOT NULL);
                    INSERT INTO attempt VALUES (3, 4, 0);";
        connection.execute_batch(rows).expect("the database takes a row");
        let (plan, mut faults) = (Plan { points: Vec::new(), runs: Vec::new() }, Vec::new());
        let known = attempts(&connection, &plan, 0, &mut faults).expect("the row is read");
        assert!(known.is_empty());
        assert_eq!(faults, ["attempt 3 belongs to run 5, which is not in the plan"]);
    }
}
