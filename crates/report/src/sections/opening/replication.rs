//! A study of standbys: what each mode keeps of the throughput without them, and which thread pays.

use super::topic::{Topic, TopicText};
use super::why;
use super::words::reached;
use crate::blocks::{Inline, Prose, prose};
use crate::findings::replication::two_ratios::two_ratios;
use crate::findings::replication::{ReplicatedPoint, replicated};
use crate::findings::{Findings, PointFindings};
use crate::sections::replication as own;
use proofload_analysis::quantity::Quantity;
use proofload_model::replication::ReplicationMode;

pub(super) const TOPIC: Topic = Topic { applies, tell, figure: None };

fn applies(findings: &Findings<'_>) -> bool {
    if !findings.searches.is_empty() {
        return !two_ratios(findings).is_empty();
    }
    findings.valid().next().is_some() && replicated(findings).iter().any(|one| one.mode != ReplicationMode::None)
}

/// Points with standbys and what they keep, the most first.
fn kept<'f>(findings: &'f Findings<'_>, points: &[ReplicatedPoint]) -> Vec<(&'f PointFindings, Quantity)> {
    let one = |one: &ReplicatedPoint| {
        let kept = one.kept.as_ref()?.as_ref().ok()?.clone();
        Some((findings.point(one.point)?, kept))
    };
    let mut all: Vec<(&PointFindings, Quantity)> = points.iter().filter_map(one).collect();
    all.sort_by(|a, b| b.1.value().total_cmp(&a.1.value()));
    all
}

fn tell(findings: &Findings<'_>) -> TopicText {
    let points = replicated(findings);
    let kept = kept(findings, &points);
    if kept.is_empty() && findings.searches.is_empty() {
        return TopicText { why: own::reasons(findings, &points), ..of_points(findings) };
    }
    let alone = findings
        .points
        .iter()
        .find(|point| points.iter().any(|one| one.point == point.id && one.mode == ReplicationMode::None));
    let first = kept.last().map(|(point, _)| *point);
    TopicText {
        answer: if findings.searches.is_empty() { answer(&kept) } else { own::both_ratios(findings) },
        held: alone.map_or_else(Prose::new, |point| reached(findings, point)),
        broke: broke(&kept),
        why: [own::reasons(findings, &points), first.map_or_else(Prose::new, |point| why::at(findings, point))]
            .concat(),
        ..TopicText::default()
    }
}

/// What is said of a study without a point that has no standbys.
fn of_points(findings: &Findings<'_>) -> TopicText {
    let topics = [super::curve::TOPIC, super::choice::TOPIC, super::single::TOPIC];
    topics.iter().find(|topic| (topic.applies)(findings)).map(|topic| (topic.tell)(findings)).unwrap_or_default()
}

fn answer(kept: &[(&PointFindings, Quantity)]) -> Prose {
    let mut text = prose!["Of the throughput without standbys, "];
    for (number, (point, share)) in kept.iter().enumerate() {
        let lead = if number == 0 { "" } else { ", " };
        let verb = if number == 0 { " keeps " } else { " " };
        text.extend(prose![lead, point.label(), verb, Inline::brief(share, "%")]);
    }
    text.extend(prose![". "]);
    text
}

/// What the mode that keeps least loses, of those whose loss is shown.
fn broke(kept: &[(&PointFindings, Quantity)]) -> Prose {
    let is_shown = |share: &Quantity| share.interval().bounds().is_none_or(|(_, high)| high < 100.0);
    if let Some((point, share)) = kept.iter().rev().find(|(_, share)| is_shown(share)) {
        return prose![point.label(), " keeps the least: ", Inline::ranged(share, "%"), " of it. "];
    }
    let Some((point, share)) = kept.last() else { return Prose::new() };
    let verb = if kept.len() > 1 { " keeps the least, " } else { " keeps " };
    prose!["No loss is shown: ", point.label(), verb, Inline::ranged(share, "%"), " of it. "]
}
