//! Points at a rate that the study asked for: whether they kept up, and at what response time.

use super::topic::{Topic, TopicText};
use super::why;
use super::words::listed;
use crate::blocks::{Inline, Prose, prose};
use crate::findings::{Findings, PointFindings};
use crate::metrics::RESPONSE_P99;
use proofload_analysis::quantity::{Quantity, Unit};

pub(super) const TOPIC: Topic = Topic {
    applies: |findings| findings.valid().count() > 1 && findings.valid().all(is_offered) && findings.curve.is_err(),
    tell,
    figure: None,
};

fn is_offered(point: &PointFindings) -> bool {
    !point.runs.is_empty() && point.runs.iter().all(|run| run.offered.is_some())
}

/// Valid points that kept up with their 99th percentiles in ms, the shortest first.
fn kept<'f>(findings: &'f Findings<'_>) -> Vec<(&'f PointFindings, Quantity)> {
    let p99 = |point: &PointFindings| point.result(RESPONSE_P99).ok();
    let mut all: Vec<(&PointFindings, Quantity)> = findings
        .valid()
        .filter(|point| point.overload().is_none())
        .filter_map(|point| Some((point, p99(point)?.scaled(1e-6, Unit::named("ms")))))
        .collect();
    all.sort_by(|a, b| a.1.value().total_cmp(&b.1.value()));
    all
}

fn tell(findings: &Findings<'_>) -> TopicText {
    let (kept, overloaded) = (kept(findings), overloaded(findings));
    let explained: Vec<&PointFindings> =
        overloaded.first().copied().into_iter().chain(kept.last().map(|(point, _)| *point)).collect();
    TopicText {
        answer: answer(&kept, &overloaded),
        held: held(findings, &kept),
        broke: broke(&overloaded),
        why: why::why(findings, &explained),
        ..TopicText::default()
    }
}

fn overloaded<'f>(findings: &'f Findings<'_>) -> Vec<&'f PointFindings> {
    findings.valid().filter(|point| point.overload().is_some()).collect()
}

fn answer(kept: &[(&PointFindings, Quantity)], overloaded: &[&PointFindings]) -> Prose {
    let mut text = Prose::new();
    if let Some((best, p99)) = kept.first() {
        let lead = if overloaded.is_empty() { "All points kept up with the rate. " } else { "" };
        text.extend(prose![lead, "The 99th percentile is lowest with ", best.label(), ", ", Inline::brief(p99, "ms")]);
        for (point, p99) in kept.iter().skip(1).take(3) {
            text.extend(prose!["; with ", point.label(), " ", Inline::brief(p99, "ms")]);
        }
        text.extend(prose![". "]);
    }
    if !overloaded.is_empty() {
        let names: Vec<String> = overloaded.iter().map(|point| point.label()).collect();
        text.extend(prose![listed(&names), " did not keep up. "]);
    }
    text
}

fn held(findings: &Findings<'_>, kept: &[(&PointFindings, Quantity)]) -> Prose {
    let headline = findings.workload.headline;
    let mut text = Prose::new();
    for (point, p99) in kept.iter().take(3) {
        let Ok(rate) = point.result(headline.key()) else { continue };
        let lead = if text.is_empty() { "" } else { "; " };
        text.extend(prose! {
            lead, Inline::ranged(&rate, headline.axis_unit), " with ", point.label(), ", p99 ",
            Inline::ranged(p99, "ms")
        });
    }
    if !text.is_empty() {
        text.extend(prose![". "]);
    }
    text
}

fn broke(overloaded: &[&PointFindings]) -> Prose {
    let mut text = Prose::new();
    for point in overloaded {
        text.extend(prose![point.label(), ": ", point.overload().unwrap_or_default(), ". "]);
    }
    if text.is_empty() { prose!["Nothing: every point kept up with the rate. "] } else { text }
}
