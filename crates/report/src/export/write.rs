//! The five forms, and which runs are written.

use super::table::ExportTable;
use super::{csv, hdr, json, openmetrics, parquet};
use proofload_record::{Attempt, Record, State};
use std::io::{Result, Write};

/// Which runs of the plan to write, by their index; all when empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Indices of runs.
    pub runs: Vec<u32>,
}

impl Selection {
    /// Attempts of these runs, in order.
    pub(super) fn attempts<'r>(&'r self, record: &'r Record) -> impl Iterator<Item = &'r Attempt> {
        record.attempts.iter().filter(|attempt| self.runs.is_empty() || self.runs.contains(&attempt.run.index))
    }

    /// Experiments with the points of these runs, in order.
    pub(super) fn experiments<'r>(&'r self, record: &'r Record) -> impl Iterator<Item = &'r Attempt> {
        record.experiments.iter().filter(|attempt| self.runs.is_empty() || self.runs.contains(&attempt.run.index))
    }

    /// Attempts of these runs that finished: one for each run.
    pub(super) fn finished<'r>(&'r self, record: &'r Record) -> impl Iterator<Item = &'r Attempt> {
        self.attempts(record).filter(|attempt| attempt.state == State::Finished)
    }
}

/// Writes one table as CSV. Equal records give equal bytes, here and below.
///
/// # Errors
/// Those of the writer.
pub fn write_csv(record: &Record, selection: &Selection, table: &ExportTable, to: &mut dyn Write) -> Result<()> {
    csv::write(record, selection, table, to)
}

/// Writes tables as one JSON document, a row on a line.
///
/// # Errors
/// Those of the writer.
pub fn write_json(record: &Record, selection: &Selection, tables: &[&ExportTable], to: &mut dyn Write) -> Result<()> {
    json::write(record, selection, tables, to)
}

/// Writes one table as a file of Apache Parquet; keeps at most one row group in memory.
///
/// # Errors
/// Those of the writer.
pub fn write_parquet(record: &Record, selection: &Selection, table: &ExportTable, to: &mut dyn Write) -> Result<()> {
    parquet::write(record, selection, table, to)
}

/// Writes the histograms of finished runs, one line for each kind, clock and second, as HdrHistogram's tools read them.
///
/// # Errors
/// Those of the writer.
pub fn write_hdr(record: &Record, selection: &Selection, to: &mut dyn Write) -> Result<()> {
    hdr::write(record, selection, to)
}

/// Writes final figures of valid points and every second of finished runs as OpenMetrics text, all with times.
///
/// # Errors
/// Those of the writer.
pub fn write_openmetrics(record: &Record, selection: &Selection, to: &mut dyn Write) -> Result<()> {
    openmetrics::write(record, selection, to)
}
