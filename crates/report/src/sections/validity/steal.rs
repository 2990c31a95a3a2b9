//! Steal in the section on validity: a warning.

use crate::blocks::{Block, Notice, prose};
use crate::findings::{Findings, NOTABLE_STEAL};
use proofload_analysis::quantity::Quantity;

/// Valid or not, a rate that was measured beside other guests is theirs as well.
pub(crate) fn warning(findings: &Findings<'_>) -> Option<Block> {
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
