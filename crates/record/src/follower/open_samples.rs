//! New series and samples of attempts that are open, added to what earlier looks found. May not know of attempts that are read whole.

use super::{Follower, of};
use crate::compat::Format;
use crate::content::Attempt;
use crate::last_rows::LastRows;
use crate::rows::{self, newer};
use crate::samples::{Sample, unpack};
use proofload_model::time::Offset;
use rusqlite::Connection;
use std::collections::HashMap;

impl Follower {
    /// Adds new series and samples of attempts that are open.
    pub(super) fn tell_samples(
        &mut self,
        connection: &Connection,
        format: Format,
        open: &mut [&mut Attempt],
        seen: LastRows,
    ) -> rusqlite::Result<()> {
        newer(connection, format.series().select, seen.get("series"), |row| {
            let (number, owner): (i64, i64) = (row.get(0)?, row.get(6)?);
            if let Some(attempt) = of(open, owner) {
                self.series.insert(number, (owner, attempt.series.len()));
                attempt.series.push(rows::series_point(row)?);
            }
            Ok(())
        })?;
        if format.has_packed_samples() {
            return self.tell_packed_samples(connection, open, seen);
        }
        let sql = "SELECT series, offset_ns, span_ns, value FROM sample NOT INDEXED WHERE id > ?1 ORDER BY id";
        newer(connection, sql, seen.get("sample"), |row| {
            self.tell_sample(open, row.get(0)?, (Offset(row.get(1)?), row.get(2)?, row.get(3)?));
            Ok(())
        })
    }

    fn tell_packed_samples(
        &mut self,
        connection: &Connection,
        open: &mut [&mut Attempt],
        seen: LastRows,
    ) -> rusqlite::Result<()> {
        let sql = "SELECT series_set, offset_ns, span_ns, readings FROM sample NOT INDEXED WHERE id > ?1 ORDER BY id";
        newer(connection, sql, seen.get("sample"), |row| {
            let Some((_, series)) = self.series_sets.get(&row.get(0)?) else { return Ok(()) };
            let (offset, span) = (Offset(row.get(1)?), row.get(2)?);
            for (series, reading) in series.iter().zip(unpack(row.get_ref(3)?.as_blob()?)) {
                self.tell_sample(open, *series, (offset, span, reading));
            }
            Ok(())
        })
    }

    /// Adds a sample to its series.
    fn tell_sample(&self, open: &mut [&mut Attempt], series: i64, sample: Sample) {
        let Some((owner, place)) = self.series.get(&series) else { return };
        if let Some(series) = of(open, *owner).and_then(|attempt| attempt.series.get_mut(*place)) {
            series.samples.push(sample);
        }
    }
}

/// Adds new series sets of attempts that are known.
pub(super) fn tell_series_sets(
    connection: &Connection,
    series_sets: &mut HashMap<i64, (i64, Vec<i64>)>,
    seen: i64,
    known: &dyn Fn(i64) -> bool,
) -> rusqlite::Result<()> {
    let sql = "SELECT id, attempt, series FROM series_set NOT INDEXED WHERE id > ?1 ORDER BY id";
    newer(connection, sql, seen, |row| {
        let owner = row.get(1)?;
        if known(owner) {
            let series = serde_json::from_str(row.get_ref(2)?.as_str()?).unwrap_or_default();
            series_sets.insert(row.get(0)?, (owner, series));
        }
        Ok(())
    })
}
