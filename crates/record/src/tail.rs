//! The end of what an open attempt has so far, found by the numbers of rows instead of a scan. For views, never for results.

use crate::compat::Format;
use crate::content::Attempt;
use crate::rows::{all, histogram, marks, operation, sampled, series};
use crate::samples::last_samples;
use proofload_model::samples::{ClientSelf, IntervalSample};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Seconds of load that are read.
const SECONDS: u64 = 60;

/// Rows at the end of a table that are looked at: more than these seconds take.
const ROWS: i64 = 40_000;

/// Fills in marks, the last seconds of load and the last samples of an attempt.
pub(crate) fn last_seconds(connection: &Connection, format: Format, attempt: &mut Attempt) -> rusqlite::Result<()> {
    let owner = Some(attempt.id);
    attempt.marks = marks(connection, &|other| other == owner)?.remove(&owner).unwrap_or_default();
    attempt.intervals = intervals(connection, attempt.id)?;
    let mut samples = last_samples(connection, format)?;
    let of_attempt = series(connection, format, &|other| other == owner)?.remove(&owner).unwrap_or_default();
    attempt.series = sampled(of_attempt, &mut samples);
    Ok(())
}

/// Counts and histograms of the last seconds, without what the load generator says of itself.
fn intervals(connection: &Connection, attempt: i64) -> rusqlite::Result<Vec<IntervalSample>> {
    let mut found: BTreeMap<u64, IntervalSample> = BTreeMap::new();
    let sql = "SELECT number, kind, due, done, rolled_back, failed, dropped, in_flight, retries FROM operation NOT INDEXED \
               WHERE id > (SELECT max(id) FROM operation) - ?2 AND attempt = ?1 ORDER BY id";
    for (number, counts) in all(connection, sql, [attempt, ROWS], operation)? {
        found.entry(number).or_insert_with(|| second(number)).counts.push(counts);
    }
    let from = found.keys().next_back().map_or(0, |last| (last + 1).saturating_sub(SECONDS));
    let mut found = found.split_off(&from);
    let sql = "SELECT number, kind, clock, count, sum_ns, max_ns, payload FROM histogram NOT INDEXED \
               WHERE id > (SELECT max(id) FROM histogram) - ?2 AND attempt = ?1 ORDER BY id";
    // Of histograms only the last seconds are of use, and their payloads are large.
    for (number, delta) in all(connection, sql, [attempt, 400], histogram)? {
        if let Some(second) = found.get_mut(&number) {
            second.histograms.push(delta);
        }
    }
    Ok(found.into_values().collect())
}

fn second(index: u64) -> IntervalSample {
    let client = ClientSelf::default();
    IntervalSample { index, counts: vec![], histograms: vec![], errors: vec![], client, engine: vec![] }
}
