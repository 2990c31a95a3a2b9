//! Each loss of a drill in detail: amount, age and share of what was lost, and where the log forked.

use super::seconds;
use crate::blocks::{Cell, Table, TableOf, prose};
use crate::findings::Findings;
use crate::findings::drills::losses::{DrillLoss, losses};
use crate::numbers::short;
use proofload_model::drill::LogFork;
use proofload_model::samples::Check;
use proofload_model::units::Bytes;

/// The table of losses: a row for the prober's writes of each drill that lost any, and one for each check of the load that found
/// acknowledged work lost; `None` where nothing was lost.
pub(crate) fn table(findings: &Findings<'_>) -> Option<Table> {
    let losses = losses(findings);
    let has_fork = losses.iter().any(|loss| loss.fork.is_some());
    let is_paced = losses.iter().filter_map(|loss| loss.share).any(|share| share.has_calm_writes());
    let rows = losses.iter().flat_map(|loss| {
        let writes = (loss.lost > 0).then_some((loss, None, loss.fork));
        writes.into_iter().chain(loss.checks.iter().map(move |check| (loss, Some(*check), None)))
    });
    let caption = prose!["Losses in detail: each finished drill that lost acknowledged work, void ones included."];
    TableOf::new("table-losses", caption, rows)
        .words("Point", |(loss, ..)| findings.label(loss.point))
        .words("Attempt", |(loss, ..)| loss.attempt.to_string())
        .words("What", |(_, check, _)| match check {
            None => prose!["writes of the prober"],
            Some(check) => prose!["work of the load: ", check.name.clone()],
        })
        .words("Lost", |(loss, check, _)| match check {
            None => Cell::Count(loss.lost),
            // Records of older versions have the count in words alone.
            Some(check) => check.lost.map_or_else(|| Cell::datum(check.found.clone()), Cell::Count),
        })
        .words("Of those acknowledged last", |(loss, check, _)| check.is_none().then(|| share(loss)))
        .words("Acknowledged before the fault", |(loss, check, _)| check.is_none().then(|| ages(loss)))
        .when(has_fork, with_fork)
        .note(prose![
            "Of those acknowledged last: lost writes among all that the prober was acknowledged in as many whole \
             seconds before the fault as hold every lost one. ",
            if is_paced {
                "In the share in per cent a write of the calm pace counts as those of the full pace that it stands \
                 for. "
            } else {
                ""
            },
            "Acknowledged before the fault: from the oldest to the \
             newest lost acknowledgement, by the time at which the fault was found in force; a negative time is after \
             it. Timelines, fork: of the old and the new primary, and the position (LSN) at which the new one began. \
             End of the old log: last position that could be read in the files of the old primary. Log lost: bytes \
             between both, those of transactions without an acknowledgement included. Work of the load has no times \
             of its own: its check compares at the end."
        ])
        .filled()
}

/// Writes of the prober that a drill lost, or the check of the load that found work lost; and where the log forked.
type LossRow<'l, 'r> = (&'l DrillLoss<'r>, Option<&'r Check>, Option<LogFork>);

/// Adds where the log forked.
fn with_fork<'l, 'r>(table: TableOf<LossRow<'l, 'r>>) -> TableOf<LossRow<'l, 'r>> {
    table
        .words("Timelines", |(.., fork)| fork.map(|fork| format!("{} to {}", fork.timeline_before, fork.timeline)))
        .words("Fork", |(.., fork)| fork.map(|fork| position(fork.at)))
        .words("End of the old log", |(.., fork)| {
            let end = fork.map(|fork| fork.old_end)?;
            Some(end.map_or_else(|| Cell::Gap("it could not be read".to_owned()), |end| Cell::datum(position(end))))
        })
        .quantities("Log lost", "B", |(.., fork)| fork.and_then(|fork| fork.lost()).map(|lost| lost.0))
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

/// A position in the log as PostgreSQL prints it.
fn position(at: Bytes) -> String {
    format!("{:X}/{:X}", at.0 >> 32, at.0 & 0xFFFF_FFFF)
}
