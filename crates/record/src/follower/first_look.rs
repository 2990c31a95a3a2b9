//! Where the first look at a record begins, and the record as it is before a row is read. May not know of later looks.

use crate::compat::Format;
use crate::content::Record;
use crate::error::Error;
use crate::last_rows::LastRows;
use crate::reader::study_and_plan;
use crate::rows;
use proofload_model::time::WallTime;
use rusqlite::Connection;
use std::path::Path;

/// Rows at the end of a table that the first look reads: more than the seconds that are kept take, with some hundred series.
const ROWS: i64 = 40_000;

/// The same of samples where a row holds a moment of a probe: more than those seconds take, with some dozens of probes.
const MOMENTS: i64 = 4_000;

/// The same of histograms, of which only the last seconds are of use, and whose payloads are large.
const HISTOGRAM_ROWS: i64 = 400;

/// Where the first look at a record begins: nothing of seconds that are not shown is read.
pub(super) fn first_look(last: LastRows, format: Format) -> LastRows {
    let of_samples = if format.has_packed_samples() { MOMENTS } else { ROWS };
    let tail = |table: &str, rows: i64| (last.get(table) - rows).max(0);
    LastRows::default()
        .with("document", last.get("document"))
        .with("sample", tail("sample", of_samples))
        .with("operation", tail("operation", ROWS))
        .with("histogram", tail("histogram", HISTOGRAM_ROWS))
}

/// A record of which nothing was read yet but its study and plan.
pub(super) fn empty(connection: &Connection, path: &Path) -> Result<Record, Error> {
    let reading = |error: rusqlite::Error| Error::sqlite(&format!("failed to read {}", path.display()), &error);
    let documents = rows::documents(connection).map_err(reading)?;
    let (study, plan) = study_and_plan(&documents, path)?;
    Ok(Record {
        created: WallTime(0),
        sessions: Vec::new(),
        facts: Vec::new(),
        events: Vec::new(),
        logs: Vec::new(),
        being_written: false,
        study,
        plan,
        documents,
        attempts: Vec::new(),
        experiments: Vec::new(),
        faults: Vec::new(),
        judged_again: false,
    })
}
