//! Analytic queries: how many an hour, what bound them, and how the points compare.

use super::choice;
use super::topic::{Topic, TopicText};
use crate::blocks::{Inline, Prose, prose};
use crate::findings::warehouse::rating;
use crate::findings::{Findings, PointFindings};
use crate::metrics::FAILED;
use proofload_analysis::warehouse::Confidence;

pub(super) const TOPIC: Topic = Topic {
    applies: |findings| findings.workload.rates_queries && findings.valid().next().is_some(),
    tell,
    figure: None,
};

fn tell(findings: &Findings<'_>) -> TopicText {
    let told = if findings.valid().count() > 1 { choice::tell(findings) } else { super::single::tell(findings) };
    let why: Prose = findings.valid().flat_map(|point| bound(findings, point)).collect();
    let failed = failed(findings);
    TopicText { why: if why.is_empty() { told.why } else { why }, broke: [failed, told.broke].concat(), ..told }
}

/// What bound a point, by its rating.
fn bound(findings: &Findings<'_>, point: &PointFindings) -> Prose {
    let Some(Ok(bound)) = rating(findings, point).map(|rating| rating.verdict) else { return Prose::new() };
    let reason = bound.reasons.first().cloned().unwrap_or_default();
    let lead = if point.levels.is_empty() { Prose::new() } else { prose![point.label(), ": "] };
    let confidence = match bound.confidence {
        Confidence::None => Prose::new(),
        sure => prose![" (", sure.word(), ")"],
    };
    [lead, prose![bound.bound.word()], confidence, prose![": ", reason, ". "]].concat()
}

/// Queries that failed.
fn failed(findings: &Findings<'_>) -> Prose {
    let mut text = Prose::new();
    for point in findings.valid() {
        let Ok(share) = point.result(FAILED) else { continue };
        if share.value() > 0.0 {
            text.extend(prose![Inline::ranged(&share, "%"), " of the queries failed with ", point.label(), ". "]);
        }
    }
    text
}
