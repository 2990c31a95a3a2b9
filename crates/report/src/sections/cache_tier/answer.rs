//! The answer: how many times the throughput without a cache, and why.

use super::tables::point;
use crate::blocks::{Inline, Prose, prose};
use crate::findings::Findings;
use crate::findings::cache_tier::cached;

/// The answer; empty in a study without tiers, and where no ratio is known.
pub(in crate::sections) fn answer(findings: &Findings<'_>) -> Prose {
    let points = cached(findings);
    let mut text = Prose::new();
    for one in &points {
        let (Some(point), Some(Ok(times))) = (point(findings, one), &one.times) else { continue };
        let lead = if text.is_empty() { "Compared with the slow medium alone, " } else { "; " };
        let verb = if text.is_empty() { " reaches " } else { " " };
        text.extend(prose![lead, Inline::Strong(prose![point.label()]), verb, (times, "×"), " the throughput"]);
        if let Some(Ok(hits)) = &one.both.read_hits {
            text.extend(prose![", with ", (hits, "%"), " of reads in the cache"]);
        }
    }
    if !text.is_empty() {
        text.extend(prose![". "]);
    }
    text
}
