//! Whether caches and standbys were ready when measurement began: a line in the section on validity, and in full what was not.

use crate::blocks::{Block, Inline, Notice, Prose, prose};
use crate::findings::Findings;
use proofload_model::readiness::ReadinessFound;
use proofload_model::settings::setting;

/// How many conditions hold; nothing where none was observed.
pub(crate) fn line(findings: &Findings<'_>) -> Option<Prose> {
    let found: Vec<&ReadinessFound> = findings.runs().flat_map(|(_, run)| &run.readiness).collect();
    let held = found.iter().filter(|found| found.holds).count();
    let mark = if held == found.len() { "✓ " } else { "✗ " };
    (!found.is_empty())
        .then(|| prose![mark, "Caches and standbys after warm-up: ", held, " of ", found.len(), " conditions hold"])
}

/// The conditions that do not hold, and what to do.
pub(crate) fn blocks(findings: &Findings<'_>) -> Vec<Block> {
    let runs = findings.runs().map(|(point, run)| (point.run_label(run), run));
    let lines: Vec<Prose> = runs
        .flat_map(|(name, run)| {
            let open = run.readiness.iter().filter(|found| !found.holds);
            open.map(move |found| prose![name.clone(), ": ", found.to_string()])
        })
        .collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let lead = prose! {
        "caches or standbys still moved when measurement began, so these figures are those of a system that had not \
         settled. Set a longer ", Inline::Code(setting::PROCEDURE_WARM_UP_AT_LEAST.to_owned()), ", or ",
        Inline::Code("at_most".to_owned()),
        " where a detector ends the warm-up. Drift is that over the time to be measured, with its 95 % interval."
    };
    vec![Block::Notice(Notice::Caution, lead), Block::List(lines)]
}
