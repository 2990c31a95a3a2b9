//! What the machine was found to do at most, before the runs: what verdicts and capacities are compared with.

use crate::blocks::{Block, Column, Notice, Prose, Table, TableOf, prose};
use crate::findings::warehouse::{CalibrationFindings, calibrated};
use crate::findings::{Findings, PointFindings};
use crate::groups::by_key;

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let known = by_calibration(findings);
    let all_missing =
        |found: &CalibrationFindings| found.device.is_err() && found.in_cache.is_err() && found.cold.is_err();
    if known.iter().all(|(found, _)| all_missing(found)) {
        let why = known.first().and_then(|(found, _)| found.device.clone().err());
        let words = why.unwrap_or_else(|| "no run of this study is finished".to_owned());
        return vec![Block::Notice(Notice::Gap, prose!["maximum rates of the machine: ", words, "."])];
    }
    vec![Block::Table(table(findings, &known)), Block::Fold(prose!["Method"], vec![sources(&known)])]
}

/// Points that share a calibration stand together.
fn by_calibration<'f>(findings: &'f Findings<'_>) -> Vec<(CalibrationFindings, Vec<&'f PointFindings>)> {
    by_key(findings.points.iter().filter_map(|point| {
        let attempt = findings.finished(point.runs.first()?.run.index)?;
        Some((calibrated(findings.record, attempt), point))
    }))
}

fn labels(findings: &Findings<'_>, points: &[&PointFindings]) -> String {
    let finished = findings.points.iter().filter(|point| !point.runs.is_empty()).count();
    if points.len() == finished && finished > 1 {
        return "all points".to_owned();
    }
    points.iter().map(|point| point.label()).collect::<Vec<_>>().join("; ")
}

fn table(findings: &Findings<'_>, known: &[(CalibrationFindings, Vec<&PointFindings>)]) -> Table {
    let caption =
        prose!["Rates of the machine, measured before the runs: under their limits, but without the memory limit."];
    TableOf::new("table-calibration", caption, known)
        .column(Column::point(findings), |(_, points)| labels(findings, points))
        .quantities("Device, sequential reads", "MB/s", |(found, _)| found.device.clone())
        .quantities("In cache (MCR)", "MB per CPU s", |(found, _)| found.in_cache.clone())
        .quantities("Cold (BCR)", "MB per CPU s", |(found, _)| found.cold.clone())
        .quantities("One pass", "MB", |(found, _)| found.scanned.clone())
        .quantities("Device, cold pass", "MB", |(found, _)| found.footprint.clone())
        .note(prose![
            "One pass sums every measure of the largest table. MB are counted by the engine; if it does not count \
             requested bytes, device reads of the cold pass serve as an estimate. The divisor is CPU time, so other \
             load on the host has little influence."
        ])
}

fn sources(known: &[(CalibrationFindings, Vec<&PointFindings>)]) -> Block {
    let mut lines: Vec<&String> = Vec::new();
    for source in known.iter().flat_map(|(found, _)| &found.sources) {
        if !lines.contains(&source) {
            lines.push(source);
        }
    }
    Block::List(lines.into_iter().map(|line| -> Prose { prose![line.clone()] }).collect())
}
