//! Steal in the section on validity: a column of the table of runs, and a warning.

use crate::blocks::{Block, Cell, Column, Notice, Table, prose};
use crate::findings::{Findings, NOTABLE_STEAL};
use crate::metrics::CPU_STEAL;
use proofload_analysis::quantity::Quantity;

/// Adds it to a table that has a row for each run, where any run has it.
pub(super) fn add_column(table: &mut Table, place: usize, findings: &Findings<'_>) {
    if findings.runs().all(|(_, run)| run.steal.is_none()) {
        return;
    }
    for (row, (_, run)) in table.rows.iter_mut().zip(findings.runs()) {
        let steal = run.steal.clone().map_or(Cell::Gap("not observed".to_owned()), Cell::Quantity);
        row.insert(place, steal);
    }
    table.columns.insert(place, Column::metric(&CPU_STEAL));
    table.note.extend(prose![" Steal: time in which the hypervisor ran other guests while the cores had work."]);
}

/// Valid or not, a rate that was measured beside other guests is theirs as well.
pub(super) fn warning(findings: &Findings<'_>) -> Option<Block> {
    let observed = findings.runs().filter(|(_, run)| run.steal.is_some()).count();
    let notable: Vec<f64> = findings
        .runs()
        .filter_map(|(_, run)| run.steal.as_ref().map(Quantity::value).filter(|steal| *steal > NOTABLE_STEAL))
        .collect();
    let most = notable.iter().copied().fold(0.0, f64::max);
    (!notable.is_empty()).then(|| {
        Block::Notice(
            Notice::Caution,
            prose! {
                "in ", notable.len(), " of ", observed, " runs the hypervisor gave more than ",
                crate::numbers::short(NOTABLE_STEAL), " % of the CPU to other guests, at most ",
                crate::numbers::short(most),
                " %: such runs show less than the machine's capacity and differ for reasons outside the study."
            },
        )
    })
}
