//! HDR logs joined with the result text that they belong to. Percentiles come from merged histograms.

use super::hdr_log::{MergedLog, join};
use super::kinds::{Measurement, measurement, place};
use super::source::Fault;
use super::ycsb_text::ParsedFile;
use crate::reference::{PublishedFigure, ReferenceOperation, ReferencePoint, percentile_key};
use proofload_model::samples::LatencyClock;
use std::collections::BTreeMap;

/// Percentiles that are taken from a histogram, as HdrHistogram defines them: the rank is rounded up. YCSB 0.17.0 rounds it to the
/// nearest, so that what it prints can be one value lower.
const PERCENTS: &[&str] = &["50", "90", "95", "99", "99.9", "99.99"];

const ALONE: &str = "HDR logs alone: without the result text there is no run time and no throughput.";
const CLIENTS: &str = "Logs of several clients were merged bucket by bucket.";

/// Merged histograms by measurement, with where each stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Logs {
    by_name: BTreeMap<String, (MergedLog, Vec<String>)>,
}

impl Logs {
    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Adds the measurements of one file; the same measurement of another client is merged.
    pub(super) fn join(&mut self, log: BTreeMap<String, MergedLog>) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (name, part) in log {
            let from = part.from();
            match self.by_name.get_mut(&name) {
                None => drop(self.by_name.insert(name, (part, vec![from]))),
                Some((sum, places)) => {
                    let joined = join(&mut sum.histogram, &part.histogram);
                    faults.extend(joined.err().map(|text| Fault { file: part.file.clone(), line: None, text }));
                    sum.intervals += part.intervals;
                    places.push(from);
                }
            }
        }
        faults
    }
}

/// Percentiles of logs for the operations of a text whose counts they equal; a log of another run is a fault.
pub(super) fn attach(file: &str, point: &mut ReferencePoint, logs: &Logs) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, (log, places)) in &logs.by_name {
        let Measurement::Operation(kind, clock) = measurement(name) else { continue };
        let count = log.histogram.len();
        let mut fault = |text: String| faults.push(Fault { file: places.join(", "), line: None, text });
        match operation_of(point, &kind, clock) {
            None if count == 0 => {}
            None => fault(format!("{file} has no [{name}]; is the log from another run?")),
            Some(operation) if operation.count("count") != Some(count) => {
                let printed = operation.count("count").unwrap_or(0);
                fault(format!(
                    "the log of {name} has {count} values, but {file} counts {printed}; is it cut off, or from another run?"
                ));
            }
            Some(operation) => {
                operation.figures.extend(percentiles(log, places));
                operation.notes.push(merged_note(log, places));
            }
        }
    }
    faults
}

/// The operation of a log. Where `measurement.interval=intended`, the text's only operation counts responses although
/// neither name says so.
fn operation_of<'p>(
    point: &'p mut ReferencePoint,
    kind: &str,
    clock: LatencyClock,
) -> Option<&'p mut ReferenceOperation> {
    let of_kind = || point.operations.iter().enumerate().filter(|(_, operation)| operation.kind == kind);
    let same = of_kind().find(|(_, operation)| operation.clock == clock);
    let found = same.or_else(|| of_kind().next().filter(|_| of_kind().count() == 1 && clock == LatencyClock::Service));
    let index = found?.0;
    point.operations.get_mut(index)
}

/// A point from logs alone.
pub(super) fn point_of(logs: &Logs) -> ParsedFile {
    let mut point =
        ReferencePoint { name: "HDR logs".to_owned(), notes: vec![ALONE.to_owned()], ..ReferencePoint::default() };
    for (name, (log, places)) in logs.by_name.iter().filter(|(_, (log, _))| !log.histogram.is_empty()) {
        let Measurement::Operation(kind, clock) = measurement(name) else { continue };
        let mut figures = percentiles(log, places);
        figures.insert("count".to_owned(), figure(log.histogram.len() as f64, "", places));
        figures.insert("mean".to_owned(), figure(log.histogram.mean(), "us", places));
        figures.insert("min".to_owned(), figure(log.histogram.min() as f64, "us", places));
        figures.insert("max".to_owned(), figure(log.histogram.max() as f64, "us", places));
        point.operations.push(ReferenceOperation { kind, clock, figures, notes: vec![merged_note(log, places)] });
    }
    point.operations.sort_by_key(|operation| place(&operation.kind, operation.clock));
    ParsedFile { point, software: "YCSB".to_owned() }
}

fn figure(value: f64, unit: &str, places: &[String]) -> PublishedFigure {
    PublishedFigure { value, unit: unit.to_owned(), from: Some(places.join(", ")) }
}

fn percentiles(log: &MergedLog, places: &[String]) -> BTreeMap<String, PublishedFigure> {
    let named = PERCENTS.iter().filter_map(|percent| {
        let share: f64 = percent.parse::<f64>().ok()? / 100.0;
        Some((percentile_key(percent)?, figure(log.histogram.value_at_quantile(share) as f64, "us", places)))
    });
    named.collect()
}

fn merged_note(log: &MergedLog, places: &[String]) -> String {
    let clients = if places.len() > 1 { format!(" {CLIENTS}") } else { String::new() };
    format!("Percentiles come from {} merged intervals of {}.{clients}", log.intervals, places.join(", "))
}
