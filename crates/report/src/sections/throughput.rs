//! Throughput against the factor: what each step is worth and where the curve bends.

use super::charts::level_words;
use crate::blocks::{Block, Inline, Table, TableOf, prose};
use crate::findings::{Curve, CurveGroup, Findings, Knee, not_fitted, setting_title};
use crate::numbers::capital;
use proofload_analysis::knee::NoFit;

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

/// Where a group bends, in words, or why no knee is shown; last how that was told.
fn knee_paragraph(findings: &Findings<'_>, curve: &Curve, group: &CurveGroup) -> Vec<Inline> {
    let words = |number: f64| level_words(findings, &curve.setting, number);
    let told = match findings.knee(curve, group) {
        Knee::Fitted(fitted) => {
            let mut text = prose!["The curve bends at ", &fitted.at, "; beyond it a larger level gains little. "];
            if let Some(best) = fitted.shapes.first() {
                text.extend(prose! {
                    "Of ", fitted.shapes.len(), " shapes with enough points the ", best.name(), " fits best by AICc. "
                });
            }
            return text;
        }
        Knee::Between { above, at_most, falls_again: true } => prose! {
            words(above), " is shown to be lower than the largest and ", words(at_most),
            " is not, so the knee lies between the two; larger levels are lower again. "
        },
        Knee::Between { above, at_most, falls_again: false } => prose! {
            "From ", words(at_most), " on, no level is shown to be lower than the largest; ", words(above),
            " is, so the knee lies between the two. "
        },
        Knee::None(why) => prose![capital(&why.text()), ", so no knee is shown. "],
    };
    let of_group = if curve.groups.len() > 1 { " of the group" } else { "" };
    let mut text = [told, prose!["Method: 95 % intervals of the ratios to the largest", of_group, ". "]].concat();
    match group.fit {
        // With few levels nobody expects a fit.
        Ok(_) | Err(NoFit::TooFewLevels(_)) => {}
        Err(why) => text.extend(prose!["No knee was fitted: ", not_fitted(why), ". "]),
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
