//! Errors met in the window by class: an answer such as "not found" is a result, not noise.

use super::section::a_finished_run;
use crate::blocks::{Block, Cell, Column, Table, TableOf, prose};
use crate::findings::{Failure, Findings, PointFindings};
use proofload_analysis::quantity::{Interval, Quantity, Unit};

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    if a_finished_run(findings).is_err() {
        return Vec::new();
    }
    let rows: Vec<ClassOfPoint<'_>> = findings.points.iter().flat_map(classes).collect();
    let failed: u64 = findings.runs().map(|(_, run)| run.failures.failed).sum();
    let due: u64 = findings.runs().map(|(_, run)| run.failures.due).sum();
    let many = findings.workload.work.many;
    let mut words = match failed {
        0 => prose!["None of ", due, " ", many, " that became due in the measured windows failed."],
        _ => prose! {
            failed, " of ", due, " ", many, " that became due in the measured windows failed and have no latency."
        },
    };
    if rows.is_empty() {
        return if findings.workload.tells_absence { vec![Block::Paragraph(words)] } else { Vec::new() };
    }
    words.extend(prose![" The table counts all errors by class, including those that a retry resolved."]);
    vec![Block::Paragraph(words), Block::Table(table(findings, rows))]
}

/// Errors of one class at a point, of so many operations that became due.
type ClassOfPoint<'f> = (&'f PointFindings, Failure, u64);

fn classes(point: &PointFindings) -> Vec<ClassOfPoint<'_>> {
    let mut classes: Vec<Failure> = Vec::new();
    for failure in point.runs.iter().flat_map(|run| &run.failure_classes) {
        match classes.iter_mut().find(|known| known.kind == failure.kind && known.code == failure.code) {
            Some(known) => known.count += failure.count,
            None => classes.push(failure.clone()),
        }
    }
    let due: u64 = point.runs.iter().map(|run| run.failures.due).sum();
    classes.into_iter().map(|failure| (point, failure, due)).collect()
}

fn table(findings: &Findings<'_>, rows: Vec<ClassOfPoint<'_>>) -> Table {
    let why = "a share of all operations, not of a sample";
    TableOf::new("table-failures", prose!["Errors of the measured windows by class."], rows)
        .column(Column::point(findings), |(point, ..)| point.label())
        .words(findings.workload.work.one_capital, |(_, failure, _)| findings.workload.kind_title(&failure.kind))
        .words("Class", |(_, failure, _)| Cell::code(failure.code.clone()))
        .counts("Errors", |(_, failure, _)| failure.count)
        .quantities("Of all due", "%", |(_, failure, due)| {
            let percent = 100.0 * failure.count as f64 / (*due).max(1) as f64;
            Quantity::new(percent, Unit::PERCENT, *due, Interval::none(why))
        })
        .words("First message", |(_, failure, _)| failure.text.clone())
        .table()
}
