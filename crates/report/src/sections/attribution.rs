//! What bound throughput, by intervention: each resource lowered in turn, with what the result made of it.

use crate::blocks::{Axis, Block, Cell, Chart, DotRows, Figure, Group, Inline, Notice, Prose, Table, TableOf, prose};
use crate::findings::Findings;
use crate::findings::attribution::{
    ONE_FOR_ONE, PointAttribution, ResourceAttribution, conclusion, exceeds_one_for_one, how_far, name_of, quantity,
    sentence_of, size_change,
};
use crate::groups::by_key;
use crate::numbers::{counted, short};
use proofload_analysis::attribution::{KnobElasticity, LimitReach, LimitUse, ResourceVerdict};
use proofload_model::intervention::ResourceClass;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    if findings.attributions.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Paragraph(prose![
        "While the load ran, each resource was lowered by ",
        steps(findings),
        " in turn, in randomised blocks with the untouched point. The elasticity is the relative change of the result per relative change of \
         the resource: 1 means that the result follows it one for one, 0 that it does not follow. ",
        Inline::Strong(prose!["Confirmed"]),
        " means that lowering it costs throughput about one for one or more, after correction for all resources that were tested; ",
        Inline::Strong(prose!["refuted"]),
        " that it does not bind within the step. A limit that is not reached now, but once it is lowered, contributes at most. That a resource binds now and that more of it would help are two claims; the second rests on \
         visits in which a confirmed limit was raised by the same step, or all other limits were lowered together."
    ])];
    for found in &findings.attributions {
        blocks.extend(of_point(findings, found));
    }
    blocks.push(Block::Table(table(findings)));
    blocks
}

/// `30 %`, or `20 % (64 MiB) and 30 % (256 MiB)` where points were tested by different steps.
fn steps(findings: &Findings<'_>) -> String {
    let step = |found: &PointAttribution| format!("{} %", short((100.0 * found.experiment.asked.step).round()));
    let each = by_key(findings.attributions.iter().map(|found| (step(found), label(findings, found))));
    match each.as_slice() {
        [(step, _)] => step.clone(),
        several => {
            let told: Vec<String> =
                several.iter().map(|(step, labels)| format!("{step} ({})", labels.join(", "))).collect();
            told.join(" and ")
        }
    }
}

fn of_point(findings: &Findings<'_>, found: &PointAttribution) -> Vec<Block> {
    let label = label(findings, found);
    let sentence = |text: String| prose![text];
    let mut blocks = Vec::new();
    if findings.attributions.len() > 1 {
        blocks.push(Block::Paragraph(prose![Inline::Strong(prose![label.clone()])]));
    }
    blocks.push(Block::List(conclusion(found).into_iter().map(sentence).collect()));
    if found.ended.is_none() {
        blocks.push(Block::Notice(
            Notice::Gap,
            prose! {
                "The experiment was broken off; its complete blocks count. ",
                Inline::Code("proofload confirm".to_owned()), " goes on with it."
            },
        ));
    }
    blocks.extend(figure(found, &label).map(|figure| Block::Figure(Box::new(figure))));
    blocks
}

fn label(findings: &Findings<'_>, found: &PointAttribution) -> String {
    let point = findings.point(found.point);
    point
        .map(crate::findings::PointFindings::label)
        .filter(|label| !label.is_empty())
        .unwrap_or_else(|| "the only point".to_owned())
}

/// Elasticities of one point.
fn figure(found: &PointAttribution, label: &str) -> Option<Figure> {
    let bar = |one: &KnobElasticity| (one.value, Some(one.bounds(0.05)));
    // Where no visit had enough response times there is nothing to tell apart by colour.
    let has_response = found.resources.iter().any(|one| one.response.is_ok());
    let both = |throughput, response| if has_response { vec![throughput, response] } else { vec![throughput] };
    let row = |one: &ResourceAttribution| Group {
        label: one.title.clone(),
        values: both(one.throughput.as_ref().ok().map(bar), one.response.as_ref().ok().map(bar)),
    };
    let mut rows: Vec<Group> = found.resources.iter().map(row).collect();
    rows.extend(
        found
            .unexplained
            .as_ref()
            .map(|rest| Group { label: "unexplained".to_owned(), values: both(Some(bar(rest)), None) }),
    );
    if rows.iter().all(|row| row.values.iter().all(Option::is_none)) {
        return None;
    }
    let told: Vec<String> = found.resources.iter().map(|one| sentence_of(found, one)).collect();
    Some(Figure {
        id: "figure-attribution",
        caption: prose![
            if has_response {
                "Elasticity of throughput and of the 99th percentile of response times to each resource with 95 % intervals, "
            } else {
                "Elasticity of throughput to each resource with 95 % intervals, "
            },
            label.to_owned(),
            ". The line is one for one. A point at 0 is not followed."
        ],
        alt: format!("Elasticities by resource. {}", told.join(" ")),
        chart: Chart::Dots(DotRows {
            axis: Axis { within: Some((-0.2, 1.2)), from_zero: false, ..Axis::linear("Elasticity", "") },
            names: if has_response {
                vec!["throughput".to_owned(), "99th percentile".to_owned()]
            } else {
                vec![String::new()]
            },
            rows,
            rule: Some(1.0),
            band: Some(ONE_FOR_ONE),
        }),
        data: TableOf::new("", Prose::new(), found.resources.iter().zip(told))
            .words("Resource", |(one, _)| one.title.clone())
            .words("Result", |(_, text)| text.clone())
            .table(),
    })
}

fn table(findings: &Findings<'_>) -> Table {
    let rows = findings.attributions.iter().flat_map(|found| {
        let label = label(findings, found);
        found.resources.iter().map(move |one| (label.clone(), one))
    });
    let elasticity = |found: &Result<KnobElasticity, String>| found.as_ref().map(quantity).map_err(Clone::clone);
    let caption = prose![
        "Every resource that was lowered: how far, what was used of it before and whether that reached it, and what came of it."
    ];
    TableOf::new("table-attribution", caption, rows)
        .words("Point", |(label, _)| label.clone())
        .words("Resource", |(_, one)| one.title.clone())
        .words("Kind", |(_, one)| one.plan.class.word())
        .words("Change", |(_, one)| true_change(one))
        .words("Used before", |(_, one)| match one.reached {
            Some(share) => Cell::datum(format!("{}{}", percent(share), reach(one.limit_use.as_ref()))),
            None => Cell::Gap("not counted".to_owned()),
        })
        .counts("Visits", |(_, one)| one.visits)
        .quantities("Elasticity of throughput", "d ln X / d ln R", |(_, one)| elasticity(&one.throughput))
        .quantities("Elasticity of p99", "d ln p99 / d ln R", |(_, one)| elasticity(&one.response))
        .words("Verdict", |(_, one)| verdict(one))
        .words("Verdict on p99", |(_, one)| verdict_on_response(one))
        .note(note(findings))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share).replace('-', "−")
}

/// Whether a limit that only acts once it is reached was reached; empty of others.
fn reach(used: Option<&LimitUse>) -> &'static str {
    match used.map(LimitUse::reach) {
        Some(LimitReach::Always) => ", reached",
        Some(LimitReach::InBursts) => ", reached in bursts",
        Some(LimitReach::Not) => ", not reached",
        None => "",
    }
}

fn is_beyond(one: &ResourceAttribution) -> bool {
    one.throughput.as_ref().is_ok_and(|elasticity| exceeds_one_for_one(elasticity.value))
}

fn verdict(one: &ResourceAttribution) -> String {
    match &one.decision.verdict {
        // The cost of a per cent of memory depends on its size: that is told in bytes.
        ResourceVerdict::Confirmed if size_change(one).is_none() && is_beyond(one) => {
            "confirmed, more than one for one".to_owned()
        }
        ResourceVerdict::Refuted { is_firm: true } => "refuted, firmly".to_owned(),
        ResourceVerdict::NotToldApart { blocks: Some(blocks) } => not_told_apart(*blocks),
        ResourceVerdict::NotTested { why } => format!("not tested: {why}"),
        other => other.word().to_owned(),
    }
}

fn not_told_apart(blocks: u32) -> String {
    format!("not told apart; {}", counted(blocks as usize, "more block"))
}

/// What is said of the 99th percentile. *Confirmed* stays a word of throughput.
fn verdict_on_response(one: &ResourceAttribution) -> String {
    let found = &one.on_response;
    let extent = match &found.decision.verdict {
        ResourceVerdict::Confirmed => {
            one.response.as_ref().map_or("one for one", |elasticity| how_far(elasticity.value))
        }
        ResourceVerdict::Contributes => "in part",
        ResourceVerdict::Refuted { .. } => return "does not follow".to_owned(),
        ResourceVerdict::NotToldApart { blocks: Some(blocks) } => return not_told_apart(*blocks),
        other => return other.word().to_owned(),
    };
    if found.lengthens == Some(true) {
        format!("moves the other way, {extent}: less lengthens it")
    } else {
        format!("follows {extent}: less shortens it")
    }
}

fn note(findings: &Findings<'_>) -> Prose {
    let each = findings.attributions.iter().map(|found| {
        let spread = found.spread.map_or_else(String::new, |spread| {
            format!(", coefficient of variation of a visit {} %", short((1000.0 * spread).round() / 10.0))
        });
        let ended = found.ended.as_ref().map_or_else(|| "broken off".to_owned(), Clone::clone);
        let not_tried: Vec<String> =
            found.experiment.not_tried.iter().map(|(name, why)| format!("{} ({why})", name_of(name))).collect();
        format!(
            "{}: {} complete blocks that count ({ended}), order drawn from seed {}{spread}. Not lowered: {}. ",
            label(findings, found),
            found.blocks,
            found.experiment.seed,
            not_tried.join("; ")
        )
    });
    prose![
        each.collect::<String>(),
        "Intervals are nominal: resources were dropped from further blocks once they were shown not to bind."
    ]
}

/// The change that took place: a share, of memory both sizes, or that work was off.
fn true_change(one: &ResourceAttribution) -> Cell {
    if let Some(sizes) = size_change(one) {
        return Cell::datum(sizes);
    }
    match one.true_step {
        Some(step) => Cell::datum(percent(step)),
        None if one.plan.class == ResourceClass::Bound && one.visits > 0 => Cell::datum("off".to_owned()),
        None => Cell::Gap("no visit".to_owned()),
    }
}
