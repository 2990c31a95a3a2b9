//! Each loss of a drill in detail: amount, age and share of what was lost, and where the log forked.

use super::drills::seconds;
use crate::blocks::{Cell, Column, Prose, Table, cells, prose};
use crate::findings::drill_losses::{DrillLoss, losses};
use crate::findings::{Findings, PointFindings};
use crate::numbers::short;
use proofload_model::drill::LogFork;
use proofload_model::units::Bytes;

/// The table of losses: a row for the prober's writes of each drill that lost any, and one for each check of the load that found
/// acknowledged work lost; `None` where nothing was lost.
pub(super) fn table(findings: &Findings<'_>) -> Option<Table> {
    let losses = losses(findings);
    let has_fork = losses.iter().any(|loss| loss.fork.is_some());
    let mut columns = vec![
        Column::words("Point"),
        Column::words("Attempt"),
        Column::words("What"),
        Column::words("Lost"),
        Column::words("Of those acknowledged last"),
        Column::words("Acknowledged before the fault"),
    ];
    if has_fork {
        columns.extend([
            Column::words("Timelines"),
            Column::words("Fork"),
            Column::words("End of the old log"),
            Column::quantities("Log lost", "B"),
        ]);
    }
    let rows: Vec<Vec<Cell>> = losses.iter().flat_map(|loss| rows(findings, loss, has_fork)).collect();
    (!rows.is_empty()).then(|| Table {
        id: "table-losses",
        caption: prose!["Losses in detail: each finished drill that lost acknowledged work, void ones included."],
        columns,
        rows,
        note: prose![
            "Of those acknowledged last: lost writes among all that the prober was acknowledged in as many whole \
             seconds before the fault as hold every lost one. Acknowledged before the fault: from the oldest to the \
             newest lost acknowledgement, by the time at which the fault was found in force; a negative time is after \
             it. Timelines, fork: of the old and the new primary, and the position (LSN) at which the new one began. \
             End of the old log: last position that could be read in the files of the old primary. Log lost: bytes \
             between both, those of transactions without an acknowledgement included. Work of the load has no times \
             of its own: its check compares at the end."
        ],
    })
}

fn rows(findings: &Findings<'_>, loss: &DrillLoss<'_>, has_fork: bool) -> Vec<Vec<Cell>> {
    let point = findings.points.iter().find(|point| point.id == loss.point);
    let label = point.map(PointFindings::label).unwrap_or_default();
    let head = |what: Prose, lost: Cell| cells![label.clone(), loss.attempt.to_string(), Cell::Prose(what), lost];
    let mut rows = Vec::new();
    if loss.lost > 0 {
        let mut row = head(prose!["writes of the prober"], Cell::Count(loss.lost));
        row.extend([share(loss), ages(loss)]);
        if has_fork {
            row.extend(loss.fork.map_or_else(|| vec![Cell::Empty; 4], |fork| fork_cells(&fork)));
        }
        rows.push(row);
    }
    for check in &loss.checks {
        // Records of older versions have the count in words alone.
        let lost = check.lost.map_or_else(|| Cell::datum(check.found.clone()), Cell::Count);
        let mut row = head(prose!["work of the load: ", check.name.clone()], lost);
        row.resize(row.len() + if has_fork { 6 } else { 2 }, Cell::Empty);
        rows.push(row);
    }
    rows
}

fn share(loss: &DrillLoss<'_>) -> Cell {
    let Some(share) = loss.share else { return Cell::Empty };
    Cell::Prose(prose![
        share.lost,
        " of ",
        share.acknowledged,
        " in ",
        share.seconds,
        " s (",
        short(share.percent()),
        " %)"
    ])
}

fn ages(loss: &DrillLoss<'_>) -> Cell {
    match (loss.oldest, loss.newest) {
        (Some(oldest), Some(newest)) => Cell::Prose(prose![seconds(oldest), " to ", seconds(newest)]),
        (Some(oldest), None) => Cell::Prose(prose!["from ", seconds(oldest), " on"]),
        (None, _) => Cell::Empty,
    }
}

fn fork_cells(fork: &LogFork) -> Vec<Cell> {
    cells! {
        format!("{} to {}", fork.timeline_before, fork.timeline), position(fork.at),
        fork.old_end.map_or_else(|| Cell::Gap("it could not be read".to_owned()), |end| Cell::datum(position(end))),
        fork.lost().map_or(Cell::Empty, |lost| Cell::Count(lost.0))
    }
}

/// A position in the log as PostgreSQL prints it.
fn position(at: Bytes) -> String {
    format!("{:X}/{:X}", at.0 >> 32, at.0 & 0xFFFF_FFFF)
}
