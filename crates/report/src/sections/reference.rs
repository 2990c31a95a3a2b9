//! The study's curve beside a published one, in relative terms.

pub(super) mod beside;

use crate::blocks::{
    Axis, Block, Chart, Figure, Inline, Notice, Panel, Prose, Role, Sample, Series, Table, cells, columns, prose,
};
use crate::findings::{Curve, Findings, PointFindings, level_number, setting_title};
use crate::metrics::THROUGHPUT;
use crate::numbers::short;
use proofload_import::{Origin, Reference, ReferencePoint};
use proofload_model::settings::Value;

/// One published point: share of the largest level, share of the largest result, both in per cent.
struct PublishedPoint {
    level: String,
    level_percent: f64,
    result_percent: f64,
}

/// What the study names and what was given on the command line, without those that cannot be read.
fn references<'f>(findings: &'f Findings<'_>) -> Vec<&'f Reference> {
    let named = findings.reference.as_ref().and_then(|reference| reference.as_ref().ok());
    named.into_iter().chain(&findings.beside).collect()
}

/// References with relative results over the study's curve.
fn curves<'f>(findings: &'f Findings<'_>) -> Vec<(&'f Reference, Vec<PublishedPoint>)> {
    let Ok(curve) = &findings.curve else { return Vec::new() };
    let with = references(findings).into_iter().map(|reference| (reference, published(reference, &curve.setting)));
    with.filter(|(_, published)| !published.is_empty()).collect()
}

pub(super) fn needs(findings: &Findings<'_>) -> Result<(), String> {
    let references = references(findings);
    if references.is_empty() {
        // Nothing is missing where nothing was asked for.
        return findings
            .reference
            .as_ref()
            .map_or(Ok(()), |reference| reference.as_ref().map(drop).map_err(Clone::clone));
    }
    if is_drawn_elsewhere(findings) {
        return Ok(());
    }
    if beside::comparable(findings, &references).is_empty() && curves(findings).is_empty() {
        let names: Vec<&str> = references.iter().map(|reference| reference.id.as_str()).collect();
        let curve = findings.curve.as_ref().map_err(Clone::clone)?;
        return Err(format!("{} publishes no relative results by {}", names.join(", "), curve.setting));
    }
    if findings.valid().next().is_none() {
        return Err("no point of this study is valid".to_owned());
    }
    Ok(())
}

fn published(reference: &Reference, setting: &str) -> Vec<PublishedPoint> {
    let level = |point: &ReferencePoint| {
        let level = point.level(setting)?.to_owned();
        let number = level_number(&Value::Text(level.clone()))?;
        Some((level, number, relative(reference, point)))
    };
    let found: Vec<(String, f64, Option<f64>)> = reference.points.iter().filter_map(level).collect();
    let largest = found.iter().map(|(_, number, _)| *number).fold(f64::NAN, f64::max);
    let percent = |(level, number, result): (String, f64, Option<f64>)| {
        Some(PublishedPoint { level, level_percent: 100.0 * number / largest, result_percent: result? })
    };
    found.into_iter().filter_map(percent).collect()
}

/// Result in per cent of the largest: as published, or computed from the throughputs of imported results.
fn relative(reference: &Reference, point: &ReferencePoint) -> Option<f64> {
    if point.relative_percent.is_some() || reference.origin == Origin::Published {
        return point.relative_percent;
    }
    let throughput = |point: &ReferencePoint| Some(point.metrics.get(THROUGHPUT.name)?.value);
    let largest = reference.points.iter().filter_map(throughput).fold(f64::NAN, f64::max);
    (reference.points.len() > 1).then_some(100.0 * throughput(point)? / largest)
}

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let references = references(findings);
    let curves = curves(findings);
    let mut blocks = Vec::new();
    if let (Ok(curve), false) = (&findings.curve, curves.is_empty()) {
        blocks.push(Block::Paragraph(curve_text(&curves)));
        blocks.push(Block::Figure(Box::new(figure(findings, curve, &curves))));
    }
    let theirs = beside::comparable(findings, &references);
    if !theirs.is_empty() {
        blocks.extend(beside::blocks(findings, &theirs));
    }
    if let Some(Err(why)) = &findings.reference {
        blocks.push(Block::Notice(Notice::Gap, prose![why.clone(), "."]));
    }
    blocks.extend(references.into_iter().map(disclosed));
    blocks
}

/// Whether another section shows what is published beside this study.
fn is_drawn_elsewhere(findings: &Findings<'_>) -> bool {
    super::registry::draws_references(findings)
        || super::cache_tier::draws_published(findings)
        || super::replication::draws_published(findings)
}

fn curve_text(curves: &[(&Reference, Vec<PublishedPoint>)]) -> Prose {
    let mut text = Vec::new();
    for (reference, _) in curves {
        let origin = match reference.origin {
            Origin::Published => "Published results of ",
            Origin::Imported => "Imported results of ",
            Origin::Recorded => "Recorded results of ",
        };
        text.extend(prose![origin, reference.publisher.clone(), ", “", reference.title.clone(), "”", year(reference)]);
        text.extend(prose! {
            ", are shown with this study's in ", Inline::Reference("figure-reference"), ". In that figure, 100 % is "
        });
        text.extend(prose![reference.relative_to.clone(), ". "]);
    }
    text.extend(prose![
        "All curves are relative: levels in per cent of the largest level, throughput in per cent of the largest \
         point. Hardware, software and size differ, so compare only the shapes, not the figures."
    ]);
    text
}

/// What is known of where the results come from.
fn disclosed(reference: &Reference) -> Block {
    let facts = [
        ("Software", &reference.software),
        ("Hardware", &reference.hardware),
        ("Procedure", &reference.procedure),
        ("Remarks", &reference.notes),
    ];
    let listed = facts.into_iter().filter(|(_, words)| !words.is_empty());
    let mut pairs: Vec<(Prose, Prose)> = listed.map(|(name, words)| (prose![name], prose![words.join("; ")])).collect();
    let hash = |hash: &String| (prose!["SHA-256 of the record"], prose![Inline::Code(hash.clone())]);
    pairs.extend(reference.record_sha256.iter().map(hash));
    Block::Fold(
        prose!["Sources of the results: ", reference.title.clone(), year(reference)],
        vec![Block::KeyValues(pairs)],
    )
}

fn year(reference: &Reference) -> String {
    reference.year.map_or_else(String::new, |year| format!(" ({year})"))
}

fn figure(findings: &Findings<'_>, curve: &Curve, curves: &[(&Reference, Vec<PublishedPoint>)]) -> Figure {
    let own = own_series(findings, curve);
    let theirs: Vec<Series> = curves.iter().map(|(reference, published)| their_series(reference, published)).collect();
    let alt = description(&own, &theirs);
    let series: Vec<Series> = own.into_iter().chain(theirs).collect();
    let title = super::charts::capital(&setting_title(&curve.setting));
    let panel = Panel {
        alt: alt.clone(),
        ..Panel::of(
            Axis { up_to: Some(100.0), ..Axis::linear(&title, "% of the largest level") },
            Axis { up_to: Some(100.0), ..Axis::linear(THROUGHPUT.axis, "% of the largest point") },
            series,
        )
    };
    Figure {
        id: "figure-reference",
        caption: prose![
            "This study (filled markers) and the published curve (dashed, open markers), each relative to its own \
             largest point. Published figures have no intervals."
        ],
        alt,
        chart: Chart::Plot(panel),
        data: data(findings, curve, curves),
    }
}

fn their_series(reference: &Reference, published: &[PublishedPoint]) -> Series {
    let sample = |point: &PublishedPoint| Sample { x: point.level_percent, y: point.result_percent, interval: None };
    let name = format!("{}{}", reference.publisher, year(reference));
    Series { name, role: Role::Reference, samples: published.iter().map(sample).collect() }
}

fn own_series(findings: &Findings<'_>, curve: &Curve) -> Vec<Series> {
    let level = |point: &PointFindings| point.level(&curve.setting).and_then(level_number);
    let largest = findings.points.iter().filter_map(level).fold(f64::NAN, f64::max);
    let sample = |index: &usize| {
        let point = &findings.points[*index];
        let quantity = point.relative.as_ref().ok()?;
        Some(Sample { x: 100.0 * level(point)? / largest, y: quantity.value(), interval: quantity.drawn_bounds() })
    };
    let name = |label: &str| if label.is_empty() { "this study".to_owned() } else { label.to_owned() };
    let groups = curve.groups.iter().enumerate().map(|(number, group)| Series {
        name: name(&group.label),
        role: Role::Measured(number),
        samples: group.points.iter().filter_map(sample).collect(),
    });
    groups.filter(|series| !series.samples.is_empty()).collect()
}

fn description(own: &[Series], theirs: &[Series]) -> String {
    let words = |samples: &[Sample]| {
        let points =
            samples.iter().map(|sample| format!("{} % at {} % of the largest level", short(sample.y), short(sample.x)));
        points.collect::<Vec<_>>().join(", ")
    };
    let mut text = "Line chart of relative throughput against the relative level of the factor.".to_owned();
    for series in own {
        text.push_str(&format!(" {}: {}.", series.name, words(&series.samples)));
    }
    for series in theirs {
        text.push_str(&format!(" By {}: {}.", series.name, words(&series.samples)));
    }
    text
}

fn data(findings: &Findings<'_>, curve: &Curve, curves: &[(&Reference, Vec<PublishedPoint>)]) -> Table {
    let mut rows = Vec::new();
    for point in findings.points.iter().filter(|point| point.level(&curve.setting).is_some()) {
        rows.push(cells!["this study", point.label(), point.relative.clone()]);
    }
    for (reference, published) in curves {
        for point in published {
            let text = format!("{} %, as {}, without interval", short(point.result_percent), reference.origin.word());
            rows.push(cells![reference.origin.word(), point.level.clone(), text]);
        }
    }
    Table {
        caption: prose!["Relative throughput of this study and of others."],
        columns: columns! {
            words("Source"), words(super::charts::capital(&setting_title(&curve.setting))),
            quantities(THROUGHPUT.title, "% of the largest")
        },
        rows,
        ..Table::default()
    }
}
