//! Throughput against the factor: what each step is worth and where the curve bends.

use super::charts::level_words;
use crate::blocks::{Block, Inline, Prose, Table, TableOf, prose};
use crate::findings::{Curve, CurveGroup, CurveShape, Findings, RankedCurve, setting_title};
use proofload_analysis::knee::Knee;

pub(super) fn needs(findings: &Findings<'_>) -> Result<(), String> {
    let curve = findings.curve.as_ref().map_err(Clone::clone)?;
    if curve.groups.iter().all(|group| group.steps.is_empty()) {
        return Err("a curve needs at least two valid points".to_owned());
    }
    Ok(())
}

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let Ok(curve) = &findings.curve else { return Vec::new() };
    let mut blocks = Vec::new();
    for group in &curve.groups {
        if !group.label.is_empty() {
            blocks.push(Block::Heading(prose![group.label.clone()]));
        }
        blocks.push(Block::Paragraph(knee_paragraph(findings, curve, group)));
    }
    blocks.push(Block::Paragraph(prose! {
        "Elasticity is the relative change of throughput for a relative change of ", setting_title(&curve.setting),
        ", step by step (", Inline::Reference("table-elasticity"),
        "): 1 means proportional, 0 a plateau. It shows the gain of a step, not its cause."
    }));
    blocks.push(Block::Table(steps_table(findings, curve)));
    blocks
}

fn knee_paragraph(findings: &Findings<'_>, curve: &Curve, group: &CurveGroup) -> Vec<Inline> {
    if let Some(shown) = shown_knee(findings, curve, group) {
        return shown;
    }
    let mut text = knee_sentence(findings, curve, group);
    match &group.knee {
        Knee::Fitted { shapes, .. } => {
            if let Some(best) = shapes.first() {
                text.extend(prose! {
                    "Of ", shapes.len(), " shapes with enough points the ", best.name(), " fits best by AICc. "
                });
            }
        }
        Knee::Between { method, .. } => text.extend(prose!["Method: ", method.clone(), ". "]),
        Knee::None { .. } => {}
    }
    text
}

fn steps_table(findings: &Findings<'_>, curve: &Curve) -> Table {
    let words = |number: f64| level_words(findings, &curve.setting, number);
    let rows = curve.groups.iter().flat_map(|group| group.steps.iter().map(move |step| (group, step)));
    TableOf::new("table-elasticity", prose!["Gain of each step between neighbouring valid levels."], rows)
        .words("From", |(_, step)| words(step.from))
        .words("To", |(_, step)| words(step.to))
        .when(curve.groups.len() > 1, |table| table.words("With", |(group, _)| group.label.clone()))
        .quantities("Elasticity of throughput", "d ln X / d ln R", |(_, step)| step.elasticity.clone())
        .table()
}

/// Where the only group bends as its intervals show, in words: the definition of the first screen. `None` for a fitted knee and several groups.
fn shown_knee(findings: &Findings<'_>, curve: &Curve, group: &CurveGroup) -> Option<Prose> {
    let is_fitted = matches!(group.knee, Knee::Fitted { .. });
    let ranked = RankedCurve::of_only(findings, curve).filter(|_| !is_fitted)?;
    let words = |number: f64| level_words(findings, &curve.setting, number);
    let told = match (findings.knee_range(), ranked.shape) {
        (Some((after, reached)), CurveShape::Between(..)) => prose! {
            words(after), " is shown to be lower than the largest and ", words(reached),
            " is not, so the knee lies between the two; larger levels are lower again. "
        },
        (Some((after, reached)), _) => prose! {
            "From ", words(reached), " on, no level is shown to be lower than the largest; ", words(after),
            " is, so the knee lies between the two. "
        },
        (None, CurveShape::Level) => prose!["No level is shown to be lower than the largest, so no knee is shown. "],
        (None, CurveShape::From(_)) => prose!["Throughput still rises at the largest level, so no knee is shown. "],
        (None, _) => prose!["Throughput does not rise to a plateau, so no knee is shown. "],
    };
    Some([told, prose!["Method: 95 % intervals of the ratios to the largest. "]].concat())
}

/// Where the curve bends, in words.
fn knee_sentence(findings: &Findings<'_>, curve: &Curve, group: &CurveGroup) -> Prose {
    let words = |number: f64| level_words(findings, &curve.setting, number);
    match &group.knee {
        Knee::Fitted { at, .. } => prose!["The curve bends at ", at, "; beyond it a larger level gains little. "],
        Knee::Between { after: Some(after), reached, .. } => prose! {
            "From ", words(*reached), " on, throughput stays within 5 % of the largest; at ", words(*after),
            " it does not, so the knee lies between the two. "
        },
        Knee::Between { after: None, .. } => {
            prose!["Every level is within 5 % of the largest throughput: this factor does not limit throughput here. "]
        }
        Knee::None { why } => prose!["No knee was found: ", why.clone(), ". "],
    }
}
