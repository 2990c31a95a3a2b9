//! Samples of telemetry: from format 5 on one row for all readings of a probe at one moment, before one for each. May not open files.

use crate::compat::Format;
use crate::last_rows::LastRows;
use proofload_model::time::Offset;
use rusqlite::{Connection, Row};
use std::collections::HashMap;

/// Samples by the number of their series, in the order of the record.
pub(crate) type Samples = HashMap<i64, Vec<Sample>>;

/// Offset from time zero, span in nanoseconds, value.
pub(crate) type Sample = (Offset, u64, f64);

/// Packs readings as the column `sample.readings` holds them.
pub(crate) fn pack(readings: impl Iterator<Item = f64>) -> Vec<u8> {
    readings.flat_map(f64::to_le_bytes).collect()
}

/// Reads packed readings; what is left of a number that was cut is dropped.
pub(crate) fn unpack(packed: &[u8]) -> impl Iterator<Item = f64> {
    packed.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes))
}

/// Reads samples after these rows by one scan, of the series that are wanted.
pub(crate) fn samples(
    connection: &Connection,
    format: Format,
    wanted: &dyn Fn(i64) -> bool,
    after: LastRows,
) -> rusqlite::Result<Samples> {
    let rows = [after.get("sample")];
    if format.has_packed_samples() {
        let sql = "SELECT series_set, offset_ns, span_ns, readings FROM sample NOT INDEXED WHERE id > ?1 ORDER BY id";
        return PackedSamples::of(connection, wanted, after.get("series_set"))?.packed(connection, sql, rows);
    }
    let sql = "SELECT series, offset_ns, span_ns, value FROM sample NOT INDEXED WHERE id > ?1 ORDER BY id";
    one_by_one(connection, sql, rows, wanted)
}

/// Reads rows of one reading each.
fn one_by_one(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    wanted: &dyn Fn(i64) -> bool,
) -> rusqlite::Result<Samples> {
    let mut statement = connection.prepare_cached(sql)?;
    let (mut rows, mut samples) = (statement.query(parameters)?, Samples::new());
    while let Some(row) = rows.next()? {
        count_row();
        let series = row.get(0)?;
        if let Some(known) = samples.get_mut(&series) {
            known.push(sample(row)?);
        } else if wanted(series) {
            samples.insert(series, vec![sample(row)?]);
        }
    }
    Ok(samples)
}

fn sample(row: &Row<'_>) -> rusqlite::Result<Sample> {
    Ok((Offset(row.get(1)?), row.get(2)?, row.get(3)?))
}

/// Stands for the place of a series that is not wanted.
const UNWANTED: u32 = u32::MAX;

/// Samples of packed rows, one series after another.
struct PackedSamples {
    /// Places of the series of each series set among those that are wanted, or [`UNWANTED`].
    series_sets: HashMap<i64, Vec<u32>>,
    /// Series that are wanted.
    series: Vec<(i64, Vec<Sample>)>,
}

impl PackedSamples {
    /// Reads the series sets after one.
    fn of(connection: &Connection, wanted: &dyn Fn(i64) -> bool, after: i64) -> rusqlite::Result<Self> {
        let mut collected = Self { series_sets: HashMap::new(), series: Vec::new() };
        let mut places: HashMap<i64, u32> = HashMap::new();
        let sql = "SELECT id, series FROM series_set NOT INDEXED WHERE id > ?1 ORDER BY id";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([after])?;
        while let Some(row) = rows.next()? {
            let numbers: Vec<i64> = serde_json::from_str(row.get_ref(1)?.as_str()?).unwrap_or_default();
            let place = |number| {
                *places.entry(number).or_insert_with(|| match u32::try_from(collected.series.len()) {
                    Ok(place) if wanted(number) => {
                        collected.series.push((number, Vec::new()));
                        place
                    }
                    _ => UNWANTED,
                })
            };
            let found = numbers.into_iter().map(place).collect();
            collected.series_sets.insert(row.get(0)?, found);
        }
        Ok(collected)
    }

    /// Reads rows of series set, offset, span and readings.
    fn packed(
        mut self,
        connection: &Connection,
        sql: &str,
        parameters: impl rusqlite::Params,
    ) -> rusqlite::Result<Samples> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            count_row();
            let Some(places) = self.series_sets.get(&row.get::<_, i64>(0)?) else { continue };
            if places.iter().all(|place| *place == UNWANTED) {
                continue;
            }
            let (offset, span) = (Offset(row.get(1)?), row.get(2)?);
            for (place, reading) in places.iter().zip(unpack(row.get_ref(3)?.as_blob()?)) {
                if let Some((_, samples)) = self.series.get_mut(*place as usize) {
                    samples.push((offset, span, reading));
                }
            }
        }
        Ok(self.series.into_iter().filter(|(_, samples)| !samples.is_empty()).collect())
    }
}

/// Counts a row for tests.
fn count_row() {
    #[cfg(test)]
    crate::rows::ROWS_READ.set(crate::rows::ROWS_READ.get() + 1);
}
