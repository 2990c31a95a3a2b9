//! The study's curve beside a published one, in relative terms.

use super::section::Section;
use crate::blocks::{
    Axis, Block, Cell, Chart, Column, Figure, Inline, Panel, Prose, Role, Sample, Series, Table, prose,
};
use crate::findings::{Curve, Findings, PointFindings, Reference, level_number, setting_title};
use crate::numbers::short;
use proofload_model::settings::Value;

/// The section.
pub(super) const SECTION: Section =
    Section { id: "reference", title: "Beside the published curve", level: 3, numbered: true, needs, render };

/// One published point: share of the largest level, share of the largest result, both in per cent.
struct Published {
    level: String,
    level_percent: f64,
    result_percent: f64,
}

fn needs(findings: &Findings<'_>) -> Result<(), String> {
    let reference = match &findings.reference {
        None => return Err("the study names no published results (study.reference)".to_owned()),
        Some(reference) => reference.as_ref().map_err(Clone::clone)?,
    };
    let curve = findings.curve.as_ref().map_err(Clone::clone)?;
    if published(reference, &curve.setting).is_empty() {
        return Err(format!("{} publishes no relative results over {}", reference.id, curve.setting));
    }
    if findings.valid().next().is_none() {
        return Err("no point of this study is valid".to_owned());
    }
    Ok(())
}

fn published(reference: &Reference, setting: &str) -> Vec<Published> {
    let level = |point: &crate::findings::ReferencePoint| {
        let (_, level) = point.levels.iter().find(|(known, _)| known == setting)?;
        Some((level.clone(), level_number(&Value::Text(level.clone()))?, point.relative_percent))
    };
    let found: Vec<(String, f64, Option<f64>)> = reference.points.iter().filter_map(level).collect();
    let largest = found.iter().map(|(_, number, _)| *number).fold(f64::NAN, f64::max);
    let percent = |(level, number, result): (String, f64, Option<f64>)| {
        Some(Published { level, level_percent: 100.0 * number / largest, result_percent: result? })
    };
    found.into_iter().filter_map(percent).collect()
}

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let (Some(Ok(reference)), Ok(curve)) = (&findings.reference, &findings.curve) else { return Vec::new() };
    let published = published(reference, &curve.setting);
    let mut text = prose![
        "Published results of ",
        reference.publisher.clone(),
        ", “",
        reference.title.clone(),
        "”",
        year(reference),
        ", are drawn beside this study's in ",
        Inline::Reference("figure-reference"),
        ". Both are relative: levels in per cent of the largest level, throughput in per cent of the largest point's. \
         The hardware, the software and the size differ, so only the shapes can be compared, not the figures."
    ];
    text.extend(prose![" There, 100 % is ", reference.relative_to.clone(), "."]);
    let mut blocks =
        vec![Block::Paragraph(text), Block::Figure(Box::new(figure(findings, curve, reference, &published)))];
    let facts = [
        ("Software", &reference.software),
        ("Hardware", &reference.hardware),
        ("Procedure", &reference.procedure),
        ("Remarks", &reference.notes),
    ];
    let listed = facts.into_iter().filter(|(_, words)| !words.is_empty());
    let pairs: Vec<(Prose, Prose)> = listed.map(|(name, words)| (prose![name], prose![words.join("; ")])).collect();
    blocks.push(Block::Fold(prose!["The published study"], vec![Block::KeyValues(pairs)]));
    blocks
}

fn year(reference: &Reference) -> String {
    reference.year.map_or_else(String::new, |year| format!(" ({year})"))
}

fn figure(findings: &Findings<'_>, curve: &Curve, reference: &Reference, published: &[Published]) -> Figure {
    let own = own_series(findings, curve);
    let theirs: Vec<Sample> = published
        .iter()
        .map(|point| Sample { x: point.level_percent, y: point.result_percent, interval: None })
        .collect();
    let name = format!("{}{}", reference.publisher, year(reference));
    let alt = description(&own, &name, &theirs);
    let mut series: Vec<Series> = own;
    series.push(Series { name, role: Role::Reference, samples: theirs });
    let title = super::charts::capital(&setting_title(&curve.setting));
    let panel = Panel {
        title: String::new(),
        alt: alt.clone(),
        x: Axis { up_to: Some(100.0), ..Axis::linear(&title, "% of the largest level") },
        y: Axis { up_to: Some(100.0), ..Axis::linear("Throughput", "% of the largest point's") },
        bands: Vec::new(),
        rules: Vec::new(),
        series,
    };
    Figure {
        id: "figure-reference",
        caption: prose![
            "This study (filled markers) and the published curve (dashed, open markers), both relative to their own largest point. Published figures come without intervals."
        ],
        alt,
        chart: Chart::Plot(panel),
        data: data(findings, curve, published),
    }
}

fn own_series(findings: &Findings<'_>, curve: &Curve) -> Vec<Series> {
    let level = |point: &PointFindings| point.level(&curve.setting).and_then(level_number);
    let largest = findings.points.iter().filter_map(level).fold(f64::NAN, f64::max);
    let sample = |index: &usize| {
        let point = &findings.points[*index];
        let quantity = point.relative.as_ref().ok()?;
        Some(Sample { x: 100.0 * level(point)? / largest, y: quantity.value(), interval: quantity.interval().bounds() })
    };
    let name = |label: &str| if label.is_empty() { "this study".to_owned() } else { label.to_owned() };
    let groups = curve.groups.iter().enumerate().map(|(number, group)| Series {
        name: name(&group.label),
        role: Role::Measured(number),
        samples: group.points.iter().filter_map(sample).collect(),
    });
    groups.filter(|series| !series.samples.is_empty()).collect()
}

fn description(own: &[Series], name: &str, theirs: &[Sample]) -> String {
    let words = |samples: &[Sample]| {
        let points =
            samples.iter().map(|sample| format!("{} % at {} % of the largest level", short(sample.y), short(sample.x)));
        points.collect::<Vec<_>>().join(", ")
    };
    let mut text = "Line chart of relative throughput against the relative level of the factor.".to_owned();
    for series in own {
        text.push_str(&format!(" {}: {}.", series.name, words(&series.samples)));
    }
    text.push_str(&format!(" Published by {name}: {}.", words(theirs)));
    text
}

fn data(findings: &Findings<'_>, curve: &Curve, published: &[Published]) -> Table {
    let mut rows = Vec::new();
    for point in findings.points.iter().filter(|point| point.level(&curve.setting).is_some()) {
        rows.push(vec![
            Cell::datum("this study"),
            Cell::datum(point.label()),
            super::charts::measured_cell(point.relative.clone()),
        ]);
    }
    for point in published {
        let text = format!("{} %, as published, without interval", short(point.result_percent));
        rows.push(vec![Cell::datum("published"), Cell::datum(point.level.clone()), Cell::datum(text)]);
    }
    Table {
        caption: prose!["Relative throughput, this study's and the published one's."],
        columns: vec![
            Column::words("Source"),
            Column::words(super::charts::capital(&setting_title(&curve.setting))),
            Column::quantities("Throughput", "% of the largest"),
        ],
        rows,
        ..Table::default()
    }
}
