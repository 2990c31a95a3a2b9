//! YCSB's result text as one point: what it prints, checked for completeness, with remarks on figures that are not what their
//! names say. May not compute a figure: what the text does not print is left out.

use super::kinds::{Measurement, measurement, place};
use super::source::{Fault, Faults};
use super::ycsb_lines::{Line, Says, lines};
use super::ycsb_notes::{command_notes, operation_notes, result_notes};
use crate::reference::{PublishedFigure, ReferenceOperation, ReferencePoint};
use proofload_model::samples::LatencyClock;
use std::collections::BTreeMap;

/// What one file of another program says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ParsedFile {
    /// Its figures.
    pub(super) point: ReferencePoint,
    /// The program and its version as the file names it.
    pub(super) software: String,
}

/// Whether it is such a text.
pub(super) fn fits(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("[OVERALL], "))
}

/// Reads one result.
pub(super) fn read(file: &str, text: &str) -> Result<ParsedFile, Vec<Fault>> {
    let mut faults = Faults::of(file);
    let lines = lines(text, &mut faults);
    one_result(&lines, &mut faults);
    let mut point = ReferencePoint::default();
    overall(file, &lines, &mut point, &mut faults);
    let mut groups: BTreeMap<&str, Vec<&Line<'_>>> = BTreeMap::new();
    for line in &lines {
        groups.entry(line.measurement).or_default().push(line);
    }
    for (name, group) in &groups {
        if let Measurement::Operation(kind, clock) = measurement(name) {
            let found = operation(file, name, (kind, clock), group, &mut faults);
            point.operations.extend(found);
        }
    }
    failed_without_returns(file, &groups, &mut point);
    point.operations.sort_by_key(|operation| place(&operation.kind, operation.clock));
    complete(&groups, &point, &mut faults);
    ended(text, &lines, &groups, &mut faults);
    point.notes = result_notes(text, &lines, &point);
    let of_command = command_notes(text, &mut point);
    point.notes.extend(of_command);
    let version = text.lines().find_map(|line| line.strip_prefix("YCSB Client ")).map(str::trim);
    let software =
        version.map_or_else(|| "YCSB".to_owned(), |version| format!("YCSB {}", super::cleanse::quoted(version)));
    faults.or(ParsedFile { point, software })
}

/// A second result in the same file begins with its own run time.
fn one_result(lines: &[Line<'_>], faults: &mut Faults<'_>) {
    let mut starts = lines.iter().filter(|line| line.says == Says::RunTime);
    if starts.next().is_none() {
        faults.whole("there is no line `[OVERALL], RunTime(ms), …`; was the beginning cut off?");
    }
    for line in starts {
        faults.at(
            line.number,
            "a second result starts here; import one result per file, such as load and run separately",
        );
    }
}

fn overall(file: &str, lines: &[Line<'_>], point: &mut ReferencePoint, faults: &mut Faults<'_>) {
    for line in lines.iter().filter(|line| line.measurement == "OVERALL") {
        let (name, unit) = match line.says {
            Says::RunTime => ("run_time", "ms"),
            Says::Throughput => ("throughput", "1/s"),
            _ => continue,
        };
        if line.value.is_finite() && line.value > 0.0 {
            point.metrics.insert(name.to_owned(), figure(file, line, unit));
        } else {
            faults.at(line.number, format!("{name} is {}: the run did nothing", line.value));
        }
    }
    if !lines.is_empty() && !point.metrics.contains_key("throughput") {
        faults.whole("there is no throughput (`[OVERALL], Throughput(ops/sec), …`)");
    }
}

fn figure(file: &str, line: &Line<'_>, unit: &str) -> PublishedFigure {
    PublishedFigure { value: line.value, unit: unit.to_owned(), from: Some(format!("{file}:{}", line.number)) }
}

fn operation(
    file: &str,
    name: &str,
    (kind, clock): (String, LatencyClock),
    group: &[&Line<'_>],
    faults: &mut Faults<'_>,
) -> Option<ReferenceOperation> {
    let mut figures = BTreeMap::new();
    let mut failed = Vec::new();
    for line in group {
        match &line.says {
            Says::Count => drop(figures.insert("count".to_owned(), figure(file, line, ""))),
            Says::Latency(key, unit) if line.value.is_finite() => {
                drop(figures.insert(key.clone(), figure(file, line, unit)))
            }
            Says::Return(status) if !is_good(status) => failed.push(*line),
            _ => {}
        }
    }
    if failed.iter().all(|line| line.value >= 0.0) && !failed.is_empty() {
        let sum: f64 = failed.iter().map(|line| line.value).sum();
        figures.insert("failed".to_owned(), PublishedFigure { value: sum, ..figure(file, failed[0], "") });
    }
    let count = figures.get("count").map(|figure| figure.value);
    if count == Some(0.0) {
        return None;
    }
    for (key, title) in [("count", "Operations"), ("mean", "AverageLatency(us)")] {
        if !figures.contains_key(key) {
            faults.at(group[0].number, format!("[{name}] has no line {title}; was the file cut off?"));
        }
    }
    buckets(name, group, count, faults);
    let notes = operation_notes(&kind, &figures, group);
    Some(ReferenceOperation { kind, clock, figures, notes })
}

/// `OK`, and `BATCHED_OK` for what a client only put on its list.
pub(super) fn is_good(status: &str) -> bool {
    matches!(status, "OK" | "BATCHED_OK")
}

/// Where percentiles are printed, numbered lines are buckets of a histogram; without them they are a time series' averages.
fn buckets(name: &str, group: &[&Line<'_>], count: Option<f64>, faults: &mut Faults<'_>) {
    let buckets = || group.iter().filter(|line| line.says == Says::Bucket);
    let is_percentile = |line: &&&Line<'_>| matches!(&line.says, Says::Latency(key, _) if key.starts_with('p'));
    let sum: f64 = buckets().map(|line| line.value).sum();
    let Some(last) = buckets().next_back().filter(|_| group.iter().any(|line| is_percentile(&line))) else { return };
    if count.is_some_and(|count| count != sum) {
        let text = format!(
            "the buckets of [{name}] have {sum} values, but it counts {}; are lines missing?",
            count.unwrap_or(0.0)
        );
        faults.at(last.number, text);
    }
}

/// Operations that only failed, or whose results are not counted by return, have their count in a measurement of their own.
fn failed_without_returns(file: &str, groups: &BTreeMap<&str, Vec<&Line<'_>>>, point: &mut ReferencePoint) {
    for (name, group) in groups {
        let Measurement::Failed(kind) = measurement(name) else { continue };
        let count = group.iter().find(|line| line.says == Says::Count);
        let operations = point.operations.iter_mut().filter(|operation| operation.kind == kind);
        for operation in operations.filter(|operation| operation.clock == LatencyClock::Service) {
            if let Some(line) = count.filter(|_| !operation.figures.contains_key("failed")) {
                operation.figures.insert("failed".to_owned(), figure(file, line, ""));
            }
        }
    }
}

/// Compares the sum of the kinds with the operations that the throughput counts. Fewer: lines are missing. More happens
/// where inserts are retried.
fn complete(groups: &BTreeMap<&str, Vec<&Line<'_>>>, point: &ReferencePoint, faults: &mut Faults<'_>) {
    let value = |name: &str| point.metrics.get(name).map(|figure| figure.value);
    let (Some(run_time), Some(throughput)) = (value("run_time"), value("throughput")) else { return };
    let due = run_time / 1e3 * throughput;
    if point.operations.is_empty() {
        faults.whole("it lists no kind of operation; the client ended too early, or the file was cut off");
        return;
    }
    let printed: f64 = groups.iter().map(|(name, group)| counted(name, group)).sum();
    if printed < due.round() {
        let text = format!(
            "its kinds add up to {printed} operations, but throughput and run time give {due:.0}; was the file cut off?"
        );
        faults.whole(text);
    }
}

/// Operations of one measurement; a read-modify-write also counts as a read and as an update.
fn counted(name: &str, group: &[&Line<'_>]) -> f64 {
    let count = group.iter().find(|line| line.says == Says::Count).map_or(0.0, |line| line.value);
    match measurement(name) {
        Measurement::Operation(kind, LatencyClock::Service) if kind == "read_modify_write" => -count,
        Measurement::Operation(_, LatencyClock::Service) => count,
        Measurement::Failed(_) if !name.starts_with("Intended-") => count,
        _ => 0.0,
    }
}

/// Checks that the last measurement is as whole as the others: every line ends, and everything that all others print is
/// there.
fn ended(text: &str, lines: &[Line<'_>], groups: &BTreeMap<&str, Vec<&Line<'_>>>, faults: &mut Faults<'_>) {
    if !text.ends_with('\n') {
        let words = "the last line has no line end, so its number may be cut off; add one if the line is complete";
        faults.at(text.lines().count(), words);
    }
    let measured = |line: &&Line<'_>| {
        line.measurement != "OVERALL" && matches!(line.says, Says::Count | Says::Latency(..) | Says::Return(_))
    };
    let Some(last) = lines.iter().rev().find(measured) else { return };
    let group = &groups[last.measurement];
    // Its percentiles are left out by YCSB where they lie past the last bucket.
    if group.iter().any(|line| line.says == Says::Variance) {
        return;
    }
    let others = lines.iter().filter(|line| matches!(line.says, Says::Latency(..)) || with_returns(group, line));
    let missing = others.filter(|line| !group.iter().any(|own| same(own, line)));
    if let Some(line) = missing.take(1).next() {
        let text = format!(
            "[{}] ends before what [{}] has in line {}; was the file cut off?",
            last.measurement, line.measurement, line.number
        );
        faults.at(last.number, text);
    }
}

/// Returns are counted for each operation of the database, not for their failures, waits and compounds.
fn with_returns(group: &[&Line<'_>], line: &Line<'_>) -> bool {
    let simple = |name: &str| matches!(measurement(name), Measurement::Operation(kind, LatencyClock::Service) if kind != "read_modify_write");
    matches!(line.says, Says::Return(_)) && group.iter().any(|own| simple(own.measurement))
}

fn same(own: &Line<'_>, other: &Line<'_>) -> bool {
    own.says == other.says || matches!((&own.says, &other.says), (Says::Return(_), Says::Return(_)))
}
