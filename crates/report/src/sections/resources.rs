//! CPU and storage against the factor, and what a transaction costs in reads and writes.

use super::charts::{MetricColumn, Shown, factors_title, over_factor, points_table};
use super::section::{Section, a_finished_run};
use crate::blocks::{Block, Cell, Chart, Column, Figure, Inline, Notice, Panel, Table, prose};
use crate::findings::{Findings, Measured, PointFindings};

/// The section.
pub(super) const SECTION: Section = Section {
    id: "resources",
    title: "Processor and storage",
    level: 3,
    numbered: true,
    needs: a_finished_run,
    render,
};

/// What is drawn: title, unit, metric, fixed end of the axis.
const DRAWN: &[(&str, &str, &str, Option<f64>)] = &[
    ("Drive reads", "MB/s", "device_read_mb_s", None),
    ("Drive writes", "MB/s", "device_write_mb_s", None),
    ("Processor", "% of the cores", "cpu_percent", Some(100.0)),
    ("Drive reads per transaction", "", "reads_per_transaction", None),
];

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let has = |name: &str| findings.points.iter().any(|point| point.metric(name).is_ok());
    let drawn: Vec<_> = DRAWN.iter().filter(|(_, _, metric, _)| has(metric)).collect();
    let mut blocks = Vec::new();
    for (title, _, metric, _) in DRAWN.iter().filter(|(_, _, metric, _)| !has(metric)) {
        let why = findings.points.iter().find_map(|point| point.metric(metric).err()).unwrap_or_default();
        blocks.push(Block::Notice(Notice::Gap, prose![*title, ": ", why, "."]));
    }
    if !drawn.is_empty() {
        let panels: Vec<Panel> = drawn
            .iter()
            .map(|(title, unit, metric, up_to)| {
                let of = |point: &PointFindings| -> Measured { point.metric(metric) };
                let panel = over_factor(findings, &Shown { title, unit, above: title, of: &of, up_to: *up_to });
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
                " gives what each transaction cost."
            ]),
        );
        blocks.push(Block::Figure(Box::new(figure(findings, panels))));
        blocks.push(Block::Table(table(findings)));
    }
    blocks.extend(engine_counters(findings));
    blocks
}

/// With a single curve the caption says all that names would.
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
    let metric = |name: &'static str| move |point: &PointFindings| -> Measured { point.metric(name) };
    let (read, write, cpu, busy) =
        (metric("device_read_mb_s"), metric("device_write_mb_s"), metric("cpu_percent"), metric("device_busy_percent"));
    let mut data = points_table(
        findings,
        &[
            MetricColumn { title: "Drive reads", unit: "MB/s", of: &read },
            MetricColumn { title: "Drive writes", unit: "MB/s", of: &write },
            MetricColumn { title: "Drive busy", unit: "% of the time", of: &busy },
            MetricColumn { title: "Processor", unit: "% of the cores", of: &cpu },
        ],
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
    let metric = |name: &'static str| move |point: &PointFindings| -> Measured { point.metric(name) };
    let (reads, writes, read, written) = (
        metric("reads_per_transaction"),
        metric("writes_per_transaction"),
        metric("read_kb_per_transaction"),
        metric("write_kb_per_transaction"),
    );
    let mut table = points_table(
        findings,
        &[
            MetricColumn { title: "Reads", unit: "per transaction", of: &reads },
            MetricColumn { title: "Read", unit: "kB per transaction", of: &read },
            MetricColumn { title: "Writes", unit: "per transaction", of: &writes },
            MetricColumn { title: "Written", unit: "kB per transaction", of: &written },
        ],
    );
    table.id = "table-storage";
    table.caption = prose![
        "What a transaction cost on the drive: operations and bytes of the device divided by completed transactions."
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
