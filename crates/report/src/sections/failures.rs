//! Errors met in the window by class: an answer such as "not found" is a result, not noise.

use super::section::a_finished_run;
use crate::blocks::{Block, Cell, Table, cells, columns, prose};
use crate::findings::{Failure, Findings, PointFindings};
use proofload_analysis::quantity::{Interval, Quantity, Unit};

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    if a_finished_run(findings).is_err() {
        return Vec::new();
    }
    let rows: Vec<Vec<Cell>> = findings.points.iter().flat_map(|point| point_rows(findings, point)).collect();
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

fn point_rows(findings: &Findings<'_>, point: &PointFindings) -> Vec<Vec<Cell>> {
    let mut classes: Vec<Failure> = Vec::new();
    for failure in point.runs.iter().flat_map(|run| &run.failure_classes) {
        match classes.iter_mut().find(|known| known.kind == failure.kind && known.code == failure.code) {
            Some(known) => known.count += failure.count,
            None => classes.push(failure.clone()),
        }
    }
    let due: u64 = point.runs.iter().map(|run| run.failures.due).sum();
    classes.iter().map(|failure| row(findings, point, failure, due)).collect()
}

fn row(findings: &Findings<'_>, point: &PointFindings, failure: &Failure, due: u64) -> Vec<Cell> {
    let percent = 100.0 * failure.count as f64 / due.max(1) as f64;
    let why = "a share of all operations, not of a sample";
    cells! {
        point.label(), findings.workload.kind_title(&failure.kind), Cell::code(failure.code.clone()),
        Cell::Count(failure.count), Quantity::new(percent, Unit::PERCENT, due, Interval::none(why)),
        failure.text.clone()
    }
}

fn table(findings: &Findings<'_>, rows: Vec<Vec<Cell>>) -> Table {
    Table {
        id: "table-failures",
        caption: prose!["Errors of the measured windows by class."],
        columns: columns! {
            point(findings), words(findings.workload.work.one_capital), words("Class"), counts("Errors"),
            quantities("Of all due", "%"), words("First message")
        },
        rows,
        note: Vec::new(),
    }
}
