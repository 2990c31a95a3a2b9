//! Remarks on figures of YCSB that are not what their names say. May not change a figure.

use super::ycsb_lines::{Line, Says};
use crate::reference::{PublishedFigure, ReferencePoint};
use proofload_model::samples::LatencyClock;
use proofload_model::settings::setting;
use std::collections::BTreeMap;

const BATCHED: &str = "Most of these operations only appended to the client's own list; their latency is not the database's, and \
                       only the one that sends a batch waits.";
const TAIL: &str = "The rest of each thread's last batch may never have been sent although it is counted here; YCSB \
                    did not check the number of records in the database.";
const WHOLE_MS: &str = "Percentiles are whole milliseconds, rounded down (measurement type histogram).";
const SERIES: &str = "Averages of intervals in the time series are skipped; this measurement type has no percentiles.";
const STATUS: &str = "Status lines of single intervals are skipped: their averages and percentiles cannot be combined.";
const COMPOUND: &str = "Reads and updates include those inside read-modify-writes.";
const OVERFLOW: &str = "A count of returns is negative: it passed 2,147,483,647 and began again.";
const OMISSION: &str =
    "Latencies are service times. With a target rate, they do not include the wait for a busy client.";
const INTENDED: &str =
    "The command line says measurement.interval=intended: all latencies count from the intended start.";

/// Inserts below this with single ones far above went to a list, microseconds.
const LIST_APPEND_US: f64 = 20.0;
/// How far above.
const FAR_ABOVE: f64 = 50.0;

/// Remarks on one kind of operation.
pub(super) fn operation_notes(
    kind: &str,
    figures: &BTreeMap<String, PublishedFigure>,
    group: &[&Line<'_>],
) -> Vec<String> {
    let mut notes = Vec::new();
    let batched = group.iter().any(|line| line.says == Says::Return("BATCHED_OK".to_owned()));
    if batched || (kind == "insert" && looks_batched(figures)) {
        notes.push(if batched {
            BATCHED.to_owned()
        } else {
            format!("Inserts were apparently sent in batches. {BATCHED}")
        });
        notes.push(TAIL.to_owned());
    }
    if group.iter().any(|line| line.says == Says::Variance) {
        notes.push(WHOLE_MS.to_owned());
    }
    let returns = || group.iter().filter(|line| matches!(line.says, Says::Return(_)));
    if returns().any(|line| line.value < 0.0) {
        notes.push(OVERFLOW.to_owned());
    }
    let good: f64 = returns()
        .filter(|line| matches!(&line.says, Says::Return(status) if super::ycsb_text::is_good(status)))
        .map(|line| line.value)
        .sum();
    let count = figures.get("count").map_or(0.0, |figure| figure.value);
    if returns().next().is_some() && good >= 0.0 && good != count {
        notes.push(format!("{good} operations returned OK, but {count} latencies were counted."));
    }
    notes
}

/// Older versions return OK for a batched insert; its latencies tell.
fn looks_batched(figures: &BTreeMap<String, PublishedFigure>) -> bool {
    let us = |name: &str| figures.get(name).and_then(PublishedFigure::seconds).map(|seconds| seconds * 1e6);
    let (Some(p95), Some(max)) = (us("p95"), us("max")) else { return false };
    p95 <= LIST_APPEND_US && max >= FAR_ABOVE * p95.max(1.0)
}

/// Remarks on the whole result.
pub(super) fn result_notes(text: &str, lines: &[Line<'_>], point: &ReferencePoint) -> Vec<String> {
    let mut notes = Vec::new();
    let no_percentile =
        !point.operations.iter().any(|operation| operation.figures.keys().any(|key| key.starts_with('p')));
    if no_percentile && lines.iter().any(|line| line.says == Says::Bucket) {
        notes.push(SERIES.to_owned());
    }
    if text.lines().any(|line| line.contains(" current ops/sec; ")) {
        notes.push(STATUS.to_owned());
    }
    if point.operations.iter().any(|operation| operation.kind == "read_modify_write") {
        notes.push(COMPOUND.to_owned());
    }
    notes
}

/// What the echoed command line adds: threads as a level, and what its settings mean for the latencies. Nothing else of it is kept:
/// it may hold a password.
pub(super) fn command_notes(text: &str, point: &mut ReferencePoint) -> Vec<String> {
    let Some(command) = text.lines().find_map(|line| line.strip_prefix("Command line: ")) else { return Vec::new() };
    let words: Vec<&str> = command.split_whitespace().collect();
    let after = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied();
    let property = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let threads = after("-threads").or_else(|| property("threadcount"));
    if let Some(threads) = threads.filter(|threads| threads.parse::<u32>().is_ok()) {
        point.levels.push((setting::WORKLOAD_VIRTUAL_USERS.to_owned(), threads.to_owned()));
    }
    let intended_only = property("measurement.interval") == Some("intended");
    if intended_only {
        point.operations.iter_mut().for_each(|operation| operation.clock = LatencyClock::Response);
        return vec![INTENDED.to_owned()];
    }
    let target = after("-target").or_else(|| property("target")).is_some();
    let with_response = point.operations.iter().any(|operation| operation.clock == LatencyClock::Response);
    if target && !with_response { vec![OMISSION.to_owned()] } else { Vec::new() }
}
