//! Points whose commits a loss of the host's power may undo, as engines said of each run. May not judge a run by it.

use crate::blocks::{Block, Notice, prose};
use crate::findings::Findings;
use proofload_model::facts::engine::POWER_SAFE_COMMITS;
use proofload_model::samples::Fact;

/// Settings that leave commits open to a loss of power, with the points that have them; nothing where no engine said so.
pub(super) fn notice(findings: &Findings<'_>) -> Option<Block> {
    let measured = findings.points.iter().filter(|point| !point.runs.is_empty()).count();
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for point in &findings.points {
        let attempts = point.runs.iter().filter_map(|run| findings.finished(run.run.index));
        for reason in attempts.filter_map(|attempt| reason(&attempt.facts)) {
            let place = reasons.iter().position(|(known, _)| *known == reason).unwrap_or(reasons.len());
            if place == reasons.len() {
                reasons.push((reason, Vec::new()));
            }
            let points = &mut reasons[place].1;
            if points.last() != Some(&point.label()) {
                points.push(point.label());
            }
        }
    }
    let told = |(reason, points): &(&str, Vec<String>)| match points.len() == measured {
        true => (*reason).to_owned(),
        false => format!("{reason} ({})", points.join(", ")),
    };
    let words: Vec<String> = reasons.iter().map(told).collect();
    if words.is_empty() {
        return None;
    }
    let text = prose!["commits may be lost when the host loses power: ", words.join("; "), "."];
    Some(Block::Notice(Notice::Caution, text))
}

/// Why commits of a run may be lost; nothing where they are safe, or nobody knows.
fn reason(facts: &[Fact]) -> Option<&str> {
    let is_open = POWER_SAFE_COMMITS.answer(facts) == Some(false);
    POWER_SAFE_COMMITS.last(facts).filter(|_| is_open).map(|fact| fact.source.as_str())
}
