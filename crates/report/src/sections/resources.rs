//! CPU and storage against the factor, and what a transaction costs in reads and writes.

use super::charts::{PanelMetric, factors_title, over_factor, points_table, table_of_points};
use super::section::{Section, a_finished_run};
use crate::blocks::{Block, Cell, Chart, Column, Figure, Inline, Notice, Panel, Table, prose};
use crate::findings::{Findings, PointFindings};
use crate::metrics::{
    COSTS, CPU, CostName, DEVICE_BUSY, DEVICE_READ_BANDWIDTH, DEVICE_WRITE_BANDWIDTH, MetricName, READS,
};
use crate::workloads::Work;

/// The section.
pub(super) const SECTION: Section = Section {
    id: "resources",
    title: "Processor and storage",
    level: 3,
    numbered: true,
    needs: a_finished_run,
    render,
};

/// A panel: title, unit, metric, fixed end of the axis.
type Drawn = (String, &'static str, String, Option<f64>);

/// What is drawn.
fn all_drawn(work: Work) -> Vec<Drawn> {
    let one = work.one;
    let of_second =
        |metric: MetricName, up_to| (metric.axis.to_owned(), metric.axis_unit, metric.name.to_owned(), up_to);
    vec![
        of_second(DEVICE_READ_BANDWIDTH, None),
        of_second(DEVICE_WRITE_BANDWIDTH, None),
        of_second(CPU, Some(100.0)),
        (format!("{} per {one}", DEVICE_READ_BANDWIDTH.axis), "", READS.name(one), None),
    ]
}

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let has = |name: &str| findings.points.iter().any(|point| point.metric(name).is_ok());
    let (drawn, gaps): (Vec<Drawn>, Vec<Drawn>) =
        all_drawn(findings.workload.work).into_iter().partition(|(_, _, metric, _)| has(metric));
    let mut blocks = Vec::new();
    for (title, _, metric, _) in gaps {
        let why = findings.points.iter().find_map(|point| point.metric(&metric).err()).unwrap_or_default();
        blocks.push(Block::Notice(Notice::Gap, prose![title, ": ", why, "."]));
    }
    if !drawn.is_empty() {
        let panels: Vec<Panel> = drawn
            .iter()
            .map(|(title, unit, metric, up_to)| {
                let panel = over_factor(findings, &PanelMetric { title, unit, above: title, metric, up_to: *up_to });
                without_names(findings, panel)
            })
            .collect();
        blocks.insert(
            0,
            Block::Paragraph(prose![
                "The drive's traffic and the processor's load in the measured window are in ",
                Inline::Reference("figure-resources"),
                "; ",
                Inline::Reference("table-storage"),
                " gives what each ",
                findings.workload.work.one,
                " cost."
            ]),
        );
        blocks.push(Block::Figure(Box::new(figure(findings, panels))));
        blocks.push(Block::Table(table(findings)));
    }
    blocks.extend(engine_counters(findings));
    blocks
}

/// Clears names of series under a single curve, whose caption says all that they would.
fn without_names(findings: &Findings<'_>, mut panel: Panel) -> Panel {
    if findings.curve.as_ref().is_ok_and(|curve| curve.groups.len() == 1) {
        for series in &mut panel.series {
            series.name.clear();
        }
    }
    panel
}

fn figure(findings: &Findings<'_>, panels: Vec<Panel>) -> Figure {
    let alt = panels.iter().map(|panel| panel.alt.clone()).collect::<Vec<_>>().join(" ");
    let mut data = points_table(
        findings,
        &[DEVICE_READ_BANDWIDTH, DEVICE_WRITE_BANDWIDTH, DEVICE_BUSY, CPU].map(|metric| metric.drawn()),
    );
    data.caption = prose!["Drive and processor in the measured window."];
    Figure {
        id: "figure-resources",
        caption: prose![
            "Drive and processor against ",
            factors_title(findings),
            ", means over the measured window with 95 % confidence intervals. Crosses are void points, not results."
        ],
        alt,
        chart: Chart::Panels(panels),
        data,
    }
}

fn table(findings: &Findings<'_>) -> Table {
    let work = findings.workload.work;
    let names: Vec<String> = COSTS.iter().map(|cost| cost.name(work.one)).collect();
    let column = |cost: &CostName| Column::quantities(cost.title, &cost.told(work.one));
    let columns = COSTS.iter().map(column).zip(names.iter().map(String::as_str)).collect();
    let mut table = table_of_points(findings, columns);
    table.id = "table-storage";
    table.caption = prose![
        "What ",
        work.with_article(),
        " cost on the drive: operations and bytes of the device divided by completed ",
        work.many,
        "."
    ];
    table
}

/// Counters of the engine, where it has any.
fn engine_counters(findings: &Findings<'_>) -> Option<Block> {
    let mut names: Vec<String> = findings
        .points
        .iter()
        .flat_map(|point| point.metrics.keys().filter_map(|name| name.strip_prefix("engine.").map(str::to_owned)))
        .collect();
    names.sort();
    names.dedup();
    let rows = names.iter().flat_map(|name| {
        let value = move |point: &PointFindings| point.metric(&format!("engine.{name}"));
        let unit =
            findings.points.iter().find_map(|point| value(point).ok()).map(|quantity| quantity.unit().to_string());
        let label = format!("{}, {}", name.replace('_', " "), unit.unwrap_or_default());
        findings.points.iter().map(move |point| {
            vec![Cell::datum(label.clone()), Cell::datum(point.label()), super::charts::measured_cell(value(point))]
        })
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| {
        Block::Fold(
            prose!["The engine's own counters"],
            vec![Block::Table(Table {
                id: "table-engine",
                caption: prose!["Counters of the engine in the measured window, those that moved."],
                columns: vec![
                    Column::words("Counter"),
                    Column::words(super::charts::capital(&factors_title(findings))),
                    Column::quantities("Mean", ""),
                ],
                rows,
                note: Vec::new(),
            })],
        )
    })
}
