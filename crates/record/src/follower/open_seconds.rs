//! New seconds of attempts that are open, of which the last are kept. May not know where a look begins.

use super::of;
use crate::agents::AgentRows;
use crate::content::Attempt;
use crate::last_rows::LastRows;
use crate::rows::{histogram, newer, operation};
use proofload_model::samples::{ClientSelf, IntervalSample};
use rusqlite::Connection;

/// Seconds of load that are kept of an attempt that goes on.
pub(super) const SECONDS: u64 = 60;

/// Adds counts and histograms of new seconds, without what the load generator says of itself.
pub(super) fn tell_seconds(connection: &Connection, open: &mut [&mut Attempt], seen: LastRows) -> rusqlite::Result<()> {
    let sql = "SELECT number, kind, due, done, rolled_back, failed, dropped, in_flight, retries, attempt FROM operation NOT INDEXED \
               WHERE id > ?1 ORDER BY id";
    newer(connection, sql, seen.get("operation"), |row| {
        let (number, counts) = operation(row)?;
        if let Some(attempt) = of(open, row.get(9)?) {
            second_of(&mut attempt.intervals, number).counts.push(counts);
        }
        Ok(())
    })?;
    let sql = "SELECT number, kind, clock, count, sum_ns, max_ns, payload, attempt FROM histogram NOT INDEXED \
               WHERE id > ?1 ORDER BY id";
    newer(connection, sql, seen.get("histogram"), |row| {
        let (number, delta) = histogram(row)?;
        if let Some(attempt) = of(open, row.get(7)?) {
            second_of(&mut attempt.intervals, number).histograms.push(delta);
        }
        Ok(())
    })
}

/// The second of a number, which is made where it is missing.
fn second_of(seconds: &mut Vec<IntervalSample>, index: u64) -> &mut IntervalSample {
    let place = seconds.partition_point(|second| second.index < index);
    if seconds.get(place).is_none_or(|second| second.index != index) {
        let client = ClientSelf::default();
        let second =
            IntervalSample { index, counts: vec![], histograms: vec![], errors: vec![], client, engine: vec![] };
        seconds.insert(place, second);
    }
    &mut seconds[place]
}

/// Drops what is older than the last seconds; series stay, since samples name them by their places.
pub(super) fn keep_last_seconds(attempt: &mut Attempt) {
    let from = attempt.intervals.last().map_or(0, |last| (last.index + 1).saturating_sub(SECONDS));
    let older = attempt.intervals.partition_point(|second| second.index < from);
    attempt.intervals.drain(..older);
    for series in &mut attempt.series {
        let from = series.samples.last().map_or(0, |(last, ..)| last.0 - SECONDS as i64 * 1_000_000_000);
        let older = series.samples.partition_point(|(at, ..)| at.0 < from);
        series.samples.drain(..older);
    }
}

pub(super) fn drop_rows(attempt: &mut Attempt) {
    attempt.facts = Vec::new();
    attempt.intervals = Vec::new();
    attempt.agents = AgentRows::default();
    attempt.series = Vec::new();
    attempt.marks = Vec::new();
    attempt.checks = Vec::new();
}
