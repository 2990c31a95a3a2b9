//! How ratios between points were formed, and how many repetitions narrower ones take: a paragraph below the table of results.

use crate::blocks::{Block, Inline, Prose, prose};
use crate::findings::{BlockFindings, Findings, PointFindings};
use crate::numbers::short;

/// Half-width, as a share of the ratio, for which the number of repetitions is told.
const WANTED: f64 = 0.05;

/// The paragraph; `None` where no ratio was formed inside repetitions.
pub(super) fn paragraph(findings: &Findings<'_>) -> Option<Block> {
    let found = findings.blocks.as_ref()?;
    Some(Block::Paragraph([how(found), moved(findings), corrected(found), needed(findings, found)].concat()))
}

fn how(found: &BlockFindings) -> Prose {
    let order = if found.randomised { "in an order drawn anew" } else { "in the study's order" };
    let left_out = match found.left_out {
        0 => String::new(),
        some => format!(
            " {some} more {} left out, with a run that is missing or was measured again later.",
            if some == 1 { "repetition was" } else { "repetitions were" }
        ),
    };
    prose![
        "Per cent of the largest, steps and knees come from ratios inside ",
        found.blocks.count(),
        " repetitions, each of which visited every point once, ",
        order,
        ": what changed on the host between repetitions is not in them.",
        left_out,
    ]
}

/// Points that take part though they are void.
fn moved(findings: &Findings<'_>) -> Prose {
    let moved: Vec<String> =
        findings.points.iter().filter(|point| point.only_moved()).map(PointFindings::label).collect();
    match moved.is_empty() {
        true => Prose::new(),
        false => prose![
            " Points void only because they moved (",
            moved.join(", "),
            ") take part: a ratio side by side needs no rest."
        ],
    }
}

/// What was done about neighbours inside a repetition.
fn corrected(found: &BlockFindings) -> Prose {
    match found.blocks.effect() {
        Some(effect) => prose![
            " They are corrected for what others took of the processor: throughput follows what these left, to the power ",
            short(effect.power),
            " ± ",
            short(effect.standard_error),
            " (standard error)."
        ],
        None => Prose::new(),
    }
}

/// How many repetitions make the ratios narrower.
fn needed(findings: &Findings<'_>, found: &BlockFindings) -> Prose {
    let needed = findings.largest().and_then(|largest| found.needed(largest.id, WANTED));
    match needed.filter(|needed| *needed as usize > found.blocks.count()) {
        Some(needed) => prose![
            " Intervals of all ratios within ±",
            short(100.0 * WANTED),
            " % take about ",
            needed,
            " (",
            Inline::Code("study.repetitions".to_owned()),
            "), if they spread as these do."
        ],
        None => Prose::new(),
    }
}
