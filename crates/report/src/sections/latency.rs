//! Response times: percentiles by kind of operation.

use super::charts::{factor_axis, factors_title, measured_cell, milliseconds};
use super::section::{Section, a_finished_run};
use crate::blocks::{Axis, Block, Cell, Chart, Column, Figure, Notice, Panel, Role, Sample, Series, Table, prose};
use crate::findings::{Findings, PERCENTILES, PointFindings, level_number};
use crate::numbers::short;

/// The section.
pub(super) const SECTION: Section =
    Section { id: "latency", title: "Response times", level: 3, numbered: true, needs: a_finished_run, render };

/// Percentiles as papers write them, in the order of [`PERCENTILES`].
const TITLES: [&str; 4] = ["p50", "p95", "p99", "p99.9"];

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let kinds = findings.kinds();
    let shown = findings.largest().or_else(|| findings.points.iter().find(|point| !point.runs.is_empty()));
    let mut blocks = vec![Block::Paragraph(prose![
        "Response time counts from the intended start of ",
        findings.workload.work.with_article(),
        " to its completion. Percentiles come from histograms merged \
         over the window, never from averages of percentiles; their confidence intervals come from resampling seconds, not \
         requests, since neighbouring requests share their fate.",
    ])];
    if let Some(point) = shown {
        blocks.push(Block::Table(point_table(findings, point, &kinds)));
    }
    if findings.valid().next().is_some() {
        blocks.push(Block::Figure(Box::new(figure(findings, &kinds))));
    } else {
        let words = prose!["response times against ", factors_title(findings), ": no point is valid."];
        blocks.push(Block::Notice(Notice::Gap, words));
    }
    blocks
}

fn columns(first: Vec<Column>) -> Vec<Column> {
    first
        .into_iter()
        .chain([Column::quantities("Mean", "ms")])
        .chain(TITLES.iter().map(|title| Column::quantities(*title, "ms")))
        .collect()
}

fn cells(point: &PointFindings, kind: &str) -> Vec<Cell> {
    let mean = point.metric(&format!("response_ns_mean.{kind}"));
    let percentiles = PERCENTILES.iter().map(|(name, _)| point.metric(&format!("response_ns_{name}.{kind}")));
    std::iter::once(mean).chain(percentiles).map(|value| measured_cell(milliseconds(value))).collect()
}

fn point_table(findings: &Findings<'_>, point: &PointFindings, kinds: &[String]) -> Table {
    let workload = findings.workload;
    let row = |kind: &String| [vec![Cell::datum(workload.kind_title(kind))], cells(point, kind)].concat();
    let validity = if point.verdict.is_valid() { "" } else { " (void: context, not a result)" };
    Table {
        id: "table-latency",
        caption: prose!["Response times at ", point.label(), validity, " by kind of ", workload.work.one, "."],
        columns: columns(vec![Column::words(workload.work.one_capital)]),
        rows: kinds.iter().map(row).collect(),
        note: Vec::new(),
    }
}

fn figure(findings: &Findings<'_>, kinds: &[String]) -> Figure {
    let panels: Vec<Panel> = kinds.iter().map(|kind| panel(findings, kind)).collect();
    let alt = panels.iter().map(|panel| panel.alt.clone()).collect::<Vec<_>>().join(" ");
    let title = |kind: &String| findings.workload.kind_title(kind);
    let rows = findings.points.iter().flat_map(|point| {
        kinds
            .iter()
            .map(|kind| [vec![Cell::datum(point.label()), Cell::datum(title(kind))], cells(point, kind)].concat())
    });
    let data = Table {
        caption: prose!["Response times of every point."],
        columns: columns(vec![
            Column::words(super::charts::capital(&factors_title(findings))),
            Column::words(findings.workload.work.one_capital),
        ]),
        rows: rows.collect(),
        ..Table::default()
    };
    Figure {
        id: "figure-latency",
        caption: prose![
            "Percentiles of response times against ",
            factors_title(findings),
            ", logarithmic; one panel for each kind of ",
            findings.workload.work.one,
            ", valid points only."
        ],
        alt,
        chart: Chart::Panels(panels),
        data,
    }
}

/// One kind: a line for each percentile. With several groups the first group's points are joined; the table has all.
fn panel(findings: &Findings<'_>, kind: &str) -> Panel {
    let series: Vec<Series> = PERCENTILES
        .iter()
        .enumerate()
        .map(|(number, (name, _))| Series {
            name: TITLES[number].to_owned(),
            role: if findings.curve.is_ok() { Role::Measured(number) } else { Role::Dots(number) },
            samples: samples(findings, &format!("response_ns_{name}.{kind}")),
        })
        .filter(|series| !series.samples.is_empty())
        .collect();
    let p99 = series.iter().find(|series| series.name == "p99");
    let ends = p99.and_then(|series| Some((series.samples.first()?.y, series.samples.last()?.y)));
    let words = ends.map_or_else(
        || " No valid point has a value.".to_owned(),
        |(first, last)| {
            format!(
                " The 99th percentile goes from {} ms to {} ms from the first to the last level.",
                short(first),
                short(last)
            )
        },
    );
    Panel {
        title: findings.workload.kind_title(kind),
        alt: format!(
            "Line chart of percentiles of {} response times in ms, logarithmic.{words}",
            findings.workload.kind_title(kind)
        ),
        x: factor_axis(findings),
        y: Axis::logarithmic("Response time", "ms"),
        bands: Vec::new(),
        rules: Vec::new(),
        series,
    }
}

fn samples(findings: &Findings<'_>, metric: &str) -> Vec<Sample> {
    let sample = |x: Option<f64>, point: &PointFindings| {
        let quantity = milliseconds(point.result(metric)).ok()?;
        Some(Sample { x: x?, y: quantity.value(), interval: quantity.interval().bounds() })
    };
    match &findings.curve {
        Ok(curve) => {
            let points = curve.groups.first().map(|group| group.points.as_slice()).unwrap_or_default();
            let x = |point: &PointFindings| point.level(&curve.setting).and_then(level_number);
            points.iter().map(|index| &findings.points[*index]).filter_map(|point| sample(x(point), point)).collect()
        }
        Err(_) => {
            findings.points.iter().enumerate().filter_map(|(index, point)| sample(Some(index as f64), point)).collect()
        }
    }
}
