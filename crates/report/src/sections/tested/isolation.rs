//! Isolation level of transactions, as engines tell it of a session. May not guess the level of an engine that does not tell it.

use crate::blocks::{Inline, Prose, prose};
use crate::findings::Findings;
use proofload_model::facts::engine::ISOLATION;

/// What finished runs say of it; nothing where none does.
pub(super) fn row(findings: &Findings<'_>) -> Option<(Prose, Prose)> {
    if !findings.workload.has_transactions {
        return None;
    }
    let runs = findings.points.iter().flat_map(|point| &point.runs);
    let mut levels: Vec<&str> = Vec::new();
    let mut is_untold = false;
    for attempt in runs.filter_map(|run| findings.finished(run.run.index)) {
        match ISOLATION.text(&attempt.facts) {
            Some(level) if levels.contains(&level) => {}
            Some(level) => levels.push(level),
            None => is_untold = true,
        }
    }
    levels.sort_unstable();
    let mut words = match levels.as_slice() {
        [] => return None,
        [only] => prose![(*only).to_owned()],
        _ => prose![levels.join(" or "), ", by run (", Inline::Reference("facts"), ")"],
    };
    words.extend(prose![if is_untold { ", where the engine tells it" } else { ", read back in a session" }]);
    Some((prose![ISOLATION.title], words))
}
