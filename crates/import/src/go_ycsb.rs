//! go-ycsb's result text as one point. May not compute a figure.
//!
//! Source: `pkg/measurement/histogram.go` and `pkg/util/output.go` of go-ycsb 1.0.1, output style `plain`.

use super::cleanse::quoted;
use super::kinds::{Measurement, measurement, place};
use super::source::{Fault, Faults};
use super::ycsb_text::ParsedFile;
use crate::reference::{PublishedFigure, ReferenceOperation, ReferencePoint, percentile_key};
use proofload_model::samples::LatencyClock;
use proofload_model::settings::setting;
use std::collections::BTreeMap;

const FINISHED: &str = "Run finished, takes ";
const LOCKED: &str =
    "go-ycsb takes a process-wide lock for every latency; the wait for it is included in the throughput.";
const ERRORS: &str = "go-ycsb counts operations that were interrupted at the end as errors.";

/// Whether it is such a text.
pub(super) fn fits(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(FINISHED) || line.contains(" - Takes(s): "))
}

/// Reads one result: the summary after the last line, not those printed while it ran.
pub(super) fn read(file: &str, text: &str) -> Result<ParsedFile, Vec<Fault>> {
    let mut faults = Faults::of(file);
    let mut point = ReferencePoint { notes: vec![LOCKED.to_owned()], ..ReferencePoint::default() };
    let ends: Vec<(usize, &str)> =
        text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, line.strip_prefix(FINISHED)?))).collect();
    let [(end, takes)] = ends[..] else {
        match ends.get(1) {
            Some((second, _)) => faults.at(*second, "a second result ends here; import one result per file"),
            None => faults.whole(
                "there is no line `Run finished, takes …`: the run was cut off, and the printed values are interim \
                 results",
            ),
        }
        return faults.or(ParsedFile::default());
    };
    match duration(takes.trim()) {
        Some(seconds) => drop(point.metrics.insert("run_time".to_owned(), figure(file, end, seconds, "s"))),
        None => faults.at(end, format!("`{}` is not a duration", quoted(takes))),
    }
    let mut total = None;
    for (at, line) in text.lines().enumerate().skip(end).filter(|(_, line)| !line.trim().is_empty()) {
        total = summary(file, at + 1, line, &mut point, &mut faults).or(total);
    }
    if point.operations.is_empty() && point.notes.len() > 1 {
        faults.whole("no operation succeeded; does the table hold the keys of this client?");
    } else if point.operations.is_empty() {
        faults.whole("no summary of an operation follows `Run finished`; was the file cut off?");
    } else if !point.metrics.contains_key("throughput") {
        faults.whole("the summary `TOTAL` is missing; was the file cut off?");
    }
    if !text.ends_with('\n') {
        faults.at(
            text.lines().count(),
            "the last line has no line end, so its number may be cut off; add one if the line is complete",
        );
    }
    adds_up(&point, total, &mut faults);
    point.operations.sort_by_key(|operation| place(&operation.kind, operation.clock));
    properties(text, &mut point);
    faults.or(ParsedFile { point, software: "go-ycsb".to_owned() })
}

fn figure(file: &str, line: usize, value: f64, unit: &str) -> PublishedFigure {
    PublishedFigure { value, unit: unit.to_owned(), from: Some(format!("{file}:{line}")) }
}

/// The kinds are as many operations as all together.
fn adds_up(point: &ReferencePoint, total: Option<f64>, faults: &mut Faults<'_>) {
    let sum: u64 = point.operations.iter().filter_map(|operation| operation.count("count")).sum();
    if let Some(total) = total.filter(|total| *total != sum as f64) {
        faults.whole(format!("its kinds add up to {sum} operations, but TOTAL counts {total}; was the file cut off?"));
    }
}

/// `READ   - Takes(s): 2.4, Count: 4572, …`; gives the count of all kinds together where this is their line.
fn summary(file: &str, number: usize, line: &str, point: &mut ReferencePoint, faults: &mut Faults<'_>) -> Option<f64> {
    let Some((name, figures)) = line.split_once(" - ").and_then(|(name, rest)| Some((name.trim(), parts(rest)?)))
    else {
        faults.at(
            number,
            format!("`{}` is not a complete line of a summary; was the file cut off or changed?", quoted(line)),
        );
        return None;
    };
    if !figures.contains_key("99.99th(us)") {
        faults.at(number, format!("the summary of {name} ends before its last percentile; was the file cut off?"));
    }
    let of = |name: &str, unit: &str| figures.get(name).map(|value| figure(file, number, *value, unit));
    match measurement(name) {
        Measurement::Total => {
            point.metrics.extend(of("OPS", "1/s").map(|figure| ("throughput".to_owned(), figure)));
            return figures.get("Count").copied();
        }
        Measurement::Failed(kind) => failed(&kind, of("Count", ""), point),
        Measurement::Operation(kind, clock) => {
            let named = figures
                .keys()
                .filter_map(|name| Some((key(name)?, of(name, if name == "Count" { "" } else { "us" })?)));
            let figures: BTreeMap<String, PublishedFigure> = named.collect();
            point.operations.push(ReferenceOperation { kind, clock, figures, notes: Vec::new() });
        }
        Measurement::Other => {}
    }
    None
}

/// Names and numbers of a summary; `None` when one of them is not whole.
fn parts(text: &str) -> Option<BTreeMap<String, f64>> {
    let part = |part: &str| {
        let (name, value) = part.split_once(": ")?;
        Some((name.to_owned(), value.trim().parse::<f64>().ok().filter(|value| value.is_finite())?))
    };
    text.split(", ").map(part).collect()
}

fn key(name: &str) -> Option<String> {
    match name {
        "Count" => Some("count".to_owned()),
        "Avg(us)" => Some("mean".to_owned()),
        "Min(us)" => Some("min".to_owned()),
        "Max(us)" => Some("max".to_owned()),
        other => percentile_key(other.strip_suffix("th(us)")?),
    }
}

/// Errors are printed before or after the operations that they belong to: by name, `READ` stands before `READ_ERROR`.
fn failed(kind: &str, count: Option<PublishedFigure>, point: &mut ReferencePoint) {
    let operation = point.operations.iter_mut().find(|operation| operation.kind == kind);
    if let (Some(operation), Some(count)) = (operation, count) {
        operation.figures.insert("failed".to_owned(), count);
        operation.notes.push(ERRORS.to_owned());
    } else {
        point.notes.push(format!("Every {kind} failed."));
    }
}

/// Threads are a level. No other property is kept: one of them may be a password.
fn properties(text: &str, point: &mut ReferencePoint) {
    let property = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(&format!("\"{name}\"=\""))?.strip_suffix('"')?.parse::<u64>().ok())
    };
    if let Some(threads) = property("threadcount") {
        point.levels.push((setting::WORKLOAD_VIRTUAL_USERS.to_owned(), threads.to_string()));
    }
    let counted =
        |operation: &ReferenceOperation| operation.count("count").unwrap_or(0) + operation.count("failed").unwrap_or(0);
    let counted: u64 =
        point.operations.iter().filter(|operation| operation.clock == LatencyClock::Service).map(counted).sum();
    if let Some(asked) = property("operationcount").filter(|asked| *asked > counted) {
        point.notes.push(format!(
            "{asked} operations were requested, but {counted} were counted: a warm-up, an interruption or a time limit."
        ));
    }
}

/// A duration as Go prints it, seconds: `2m3.5s`, `433.98ms`.
fn duration(text: &str) -> Option<f64> {
    const UNITS: &[(&str, f64)] = &[("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (unit, factor) = UNITS.iter().find(|(unit, _)| rest[digits..].starts_with(unit))?;
        seconds += rest[..digits].parse::<f64>().ok()? * factor;
        rest = &rest[digits + unit.len()..];
    }
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_go_prints_them() {
        let near = |text: &str, seconds: f64| (duration(text).unwrap() - seconds).abs() < 1e-9;
        assert!(
            near("433.982233ms", 0.433_982_233)
                && near("2m3.5s", 123.5)
                && near("1h0m0.5s", 3600.5)
                && near("15µs", 15e-6)
        );
        assert_eq!([duration(""), duration("5"), duration("x"), duration("0s")], [None; 4]);
    }
}
