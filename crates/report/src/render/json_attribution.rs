//! Attribution by intervention as JSON.

use crate::findings::attribution::{PointAttribution, RaiseResult, ResourceAttribution, conclusion};
use crate::findings::{Findings, PointFindings};
use proofload_analysis::attribution::{KnobElasticity, ResourceVerdict};
use proofload_model::intervention::{ConfirmAsked, ResourceClass, changed};
use serde_json::{Value as Json, json};

/// Every point with an experiment.
pub(super) fn points(findings: &Findings<'_>) -> Vec<Json> {
    findings.attributions.iter().map(|found| point(findings, found)).collect()
}

fn point(findings: &Findings<'_>, found: &PointAttribution) -> Json {
    let of = findings.point(found.point);
    json!({
        "point": found.point, "label": of.map(PointFindings::label), "step": found.experiment.asked.step,
        "visit_s": visit_s(&found.experiment.asked),
        "blocks": found.blocks, "blocks_made": found.made, "blocks_at_most": found.experiment.asked.blocks,
        "seed": found.experiment.seed, "design": "sequential", "ended": found.ended,
        "attempts": found.attempts,
        "reference": {
            "x": found.reference, "recorded": found.recorded, "cv": found.spread,
            "moved": found.movement.map(|movement| movement.share),
            "moved_interval": found.movement.map(|movement| [movement.bounds.0, movement.bounds.1]),
        },
        "attempts_moved": found.moved.iter().map(|(movement, blocks)| json!({ "moved": movement.share, "blocks": blocks }))
            .collect::<Vec<_>>(),
        "resources": found.resources.iter().map(|one| resource(found, one)).collect::<Vec<_>>(),
        "joint": found.joint.as_ref().map(|joint| json!({ "left": joint.left, "E_raised": elasticity(&joint.relief) })),
        "raise": found.raise.as_ref().map(raise),
        "unexplained": found.unexplained.as_ref().map(elasticity), "not_tried": found.experiment.not_tried,
        "text": conclusion(found).join(" "),
    })
}

/// The shortest and the longest visit that can be drawn, seconds that count.
fn visit_s(asked: &ConfirmAsked) -> [u32; 2] {
    [asked.visit_s, asked.visit_s + asked.visit_s / 2]
}

/// The change that was asked for, as a share of what was in force; `None` of work that is off.
fn asked(found: &PointAttribution, one: &ResourceAttribution) -> Option<f64> {
    let step = found.experiment.asked.step;
    let whole = one.levels.map(|(untouched, _)| untouched).filter(|untouched| *untouched > 0.0);
    let share = whole.map_or(-step, |whole| changed(&one.plan.name, whole, step) / whole - 1.0);
    (one.plan.class != ResourceClass::Bound).then_some(share)
}

fn resource(found: &PointAttribution, one: &ResourceAttribution) -> Json {
    let (more, why) = match &one.decision.verdict {
        ResourceVerdict::NotToldApart { blocks } => (*blocks, None),
        ResourceVerdict::NotTested { why } => (None, Some(why.clone())),
        _ => (None, None),
    };
    json!({
        "name": one.plan.name, "title": one.title, "kind": one.plan.class.word(), "asked": asked(found, one),
        "true": one.true_step,
        "reached": one.reached, "reached_in_blocks": one.full_blocks, "in_force": one.levels,
        "blocks_left_out": one.left_out.as_ref().map_or(0, |(blocks, _)| *blocks),
        "seconds_at_limit": one.limit_use.and_then(|used| used.at_limit),
        "reached_when_lowered": one.limit_use.and_then(|used| used.lowered),
        "E": {
            "x": one.throughput.as_ref().ok().map(elasticity), "p99": one.response.as_ref().ok().map(elasticity),
        },
        "on_p99": response(one), "p99_why": one.response.as_ref().err(),
        "holm_p": one.decision.p, "verdict": one.decision.verdict.word(),
        "why": why, "blocks_needed": more, "n": one.throughput.as_ref().map_or(0, |elasticity| elasticity.blocks),
        "visits": one.visits,
    })
}

/// What more of a limit gave, or why that was not found.
fn raise(raise: &RaiseResult) -> Json {
    json!({
        "name": raise.resource, "in_force": raise.levels, "used": raise.used, "visits": raise.visits,
        "E": raise.throughput.as_ref().ok().map(elasticity), "why": raise.throughput.as_ref().err(),
    })
}

/// The verdict on the 99th percentile of response times.
fn response(one: &ResourceAttribution) -> Json {
    let found = &one.on_response;
    let more = match &found.decision.verdict {
        ResourceVerdict::NotToldApart { blocks } => *blocks,
        _ => None,
    };
    json!({
        "verdict": found.decision.verdict.word(), "holm_p": found.decision.p, "less_lengthens": found.lengthens,
        "blocks_needed": more,
    })
}

/// Estimate and the bounds of its 95 % interval.
fn elasticity(found: &KnobElasticity) -> Json {
    let (low, high) = found.bounds(0.05);
    json!([found.value, low, high])
}
