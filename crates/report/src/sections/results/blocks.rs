//! How ratios between points were formed, and how many repetitions narrower ones take: a paragraph below the table of results.

use crate::blocks::{Block, Inline, Prose, prose};
use crate::findings::{BlockFindings, Findings, PointFindings};
use crate::numbers::short;
use proofload_model::settings::setting;

/// Half-width, as a share of the ratio, for which the number of repetitions is told.
const WANTED: f64 = 0.05;

/// The paragraph; `None` where no ratio was formed inside repetitions.
pub(crate) fn paragraph(findings: &Findings<'_>) -> Option<Block> {
    let found = findings.blocks.as_ref()?;
    Some(Block::Paragraph(
        [how(found), moved(findings), void_visits(findings), corrected(found), needed(findings, found)].concat(),
    ))
}

fn how(found: &BlockFindings) -> Prose {
    let order = if found.randomised { "in a new random order each time" } else { "in the study's order" };
    let left_out = match found.left_out {
        0 => String::new(),
        some => format!(
            " {some} {} left out because a run is missing, is void or was repeated later.",
            if some == 1 { "repetition was" } else { "repetitions were" }
        ),
    };
    let count = found.blocks.count();
    let of = if found.left_out == 0 { String::new() } else { format!(" of {}", count + found.left_out) };
    prose! {
        "Shares of the largest, steps and knees are ratios formed within ", count, of,
        " repetitions, each of which measured every point once, ", order,
        ": changes of the host between repetitions do not affect them (estimand: ratio).", left_out
    }
}

/// Points that take part though they are void.
fn moved(findings: &Findings<'_>) -> Prose {
    let moved: Vec<String> =
        findings.points.iter().filter(|point| point.only_moved()).map(PointFindings::label).collect();
    match moved.is_empty() {
        true => Prose::new(),
        false => prose! {
            " Points that are void only because their throughput moved (", moved.join(", "),
            ") are included: ratios formed side by side do not need a steady state."
        },
    }
}

/// Points of which single runs are void for the host or for missing seconds.
fn void_visits(findings: &Findings<'_>) -> Prose {
    let points = findings.points.iter().filter(|point| point.has_void_visits());
    let told = points.map(|point| format!("{}: {} of {}", point.label(), point.void_visits(), point.runs.len()));
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => Prose::new(),
        false => prose! {
            " Points with void runs (", told.join(", "),
            ") are included with their other runs: only the repetitions of the void ones are left out."
        },
    }
}

/// What was done about neighbours inside a repetition.
fn corrected(found: &BlockFindings) -> Prose {
    match found.blocks.effect() {
        Some(effect) => prose! {
            " They are corrected for CPU use by others: throughput is proportional to the remaining CPU to the power ",
            short(effect.power), " ± ", short(effect.standard_error), " (standard error)."
        },
        None => Prose::new(),
    }
}

/// How many repetitions make the ratios narrower.
fn needed(findings: &Findings<'_>, found: &BlockFindings) -> Prose {
    let needed = findings.largest().and_then(|largest| found.needed(largest.id, WANTED));
    match needed.filter(|needed| *needed as usize > found.blocks.count()) {
        Some(needed) => prose! {
            " To narrow the intervals of all ratios to ±", short(100.0 * WANTED), " %, plan about ", needed,
            " repetitions (", Inline::Code(setting::STUDY_REPETITIONS.to_owned()), ") with the same spread."
        },
        None => Prose::new(),
    }
}
