//! Throughput against the factor: what each step is worth and where the curve bends.

use super::charts::level_words;
use crate::blocks::{Block, Cell, Column, Inline, Prose, Table, cells, columns, prose};
use crate::findings::{Curve, CurveGroup, Findings, setting_title};
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
    let mut rows = Vec::new();
    for group in &curve.groups {
        for step in &group.steps {
            let mut row = cells![words(step.from), words(step.to)];
            if curve.groups.len() > 1 {
                row.push(Cell::datum(group.label.clone()));
            }
            row.push(Cell::Quantity(step.elasticity.clone()));
            rows.push(row);
        }
    }
    let mut columns = columns![words("From"), words("To")];
    if curve.groups.len() > 1 {
        columns.push(Column::words("With"));
    }
    columns.push(Column::quantities("Elasticity of throughput", "d ln X / d ln R"));
    Table {
        id: "table-elasticity",
        caption: prose!["Gain of each step between neighbouring valid levels."],
        columns,
        rows,
        note: Vec::new(),
    }
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
