//! What the work cost in bytes of the device, in power and in room: each figure measured or from a data sheet, and it
//! says which.

use super::charts::measured_cell;
use super::section::a_finished_run;
use crate::blocks::{Block, Cell, Column, Inline, Notice, Table, cells, columns, prose};
use crate::findings::{Findings, PointFindings};
use crate::metrics::{
    CAPACITY_PER_RACK_UNIT, DEVICE_READ_PER_BYTE, DEVICE_WRITTEN_PER_BYTE, MetricName, OPERATIONS_PER_WATT,
    OPERATIONS_PER_WATT_OF_SHEET, POWER, REQUESTS_PER_GB, REQUESTS_PER_GB_OF_SHEET, VALUES_READ, VALUES_WRITTEN,
};

/// Most points that stand beside each other.
const MOST_BESIDE: usize = 4;

/// Metric and source.
type EfficiencyRow = (MetricName, &'static str);

/// All figures.
const ROWS: &[EfficiencyRow] = &[
    (VALUES_WRITTEN, "measured"),
    (VALUES_READ, "measured"),
    (DEVICE_WRITTEN_PER_BYTE, "measured"),
    (DEVICE_READ_PER_BYTE, "measured"),
    (POWER, "measured"),
    (OPERATIONS_PER_WATT, "measured"),
    (OPERATIONS_PER_WATT_OF_SHEET, "measured ÷ data sheet"),
    (REQUESTS_PER_GB, "measured ÷ data sheet"),
    (REQUESTS_PER_GB_OF_SHEET, "data sheet"),
    (CAPACITY_PER_RACK_UNIT, "data sheet"),
];

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    if a_finished_run(findings).is_err() {
        return Vec::new();
    }
    let has = |row: &&EfficiencyRow| findings.points.iter().any(|point| point.metric(row.0.key()).is_ok());
    let (shown, gaps): (Vec<&EfficiencyRow>, Vec<&EfficiencyRow>) = ROWS.iter().partition(has);
    if shown.is_empty() && !findings.workload.tells_absence {
        return Vec::new();
    }
    let points: Vec<&PointFindings> = findings.points.iter().filter(|point| !point.runs.is_empty()).collect();
    let mut blocks = Vec::new();
    if !shown.is_empty() {
        let beside = points.len() <= MOST_BESIDE;
        blocks.push(Block::Table(if beside { wide(&points, &shown) } else { long(findings, &points, &shown) }));
    }
    if findings.workload.tells_absence && !gaps.is_empty() {
        blocks.push(Block::Notice(Notice::Gap, prose![missing(&points, &gaps), "."]));
    }
    blocks
}

/// What no point has, with the reason, each reason once.
fn missing(points: &[&PointFindings], gaps: &[&EfficiencyRow]) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (metric, _) in gaps {
        let why = points.iter().find_map(|point| point.metric(metric.key()).err()).unwrap_or_default();
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, titles)) => titles.push(metric.title_with_unit()),
            None => reasons.push((why, vec![metric.title_with_unit()])),
        }
    }
    let words = |(why, titles): &(String, Vec<String>)| format!("{} ({why})", titles.join(" and "));
    reasons.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Few points: one column each.
fn wide(points: &[&PointFindings], shown: &[&EfficiencyRow]) -> Table {
    let row = |(metric, source): &&EfficiencyRow| {
        let values = points.iter().map(|point| measured_cell(point.metric(metric.key())));
        [Cell::Prose(prose![metric.title_with_unit()])]
            .into_iter()
            .chain(values)
            .chain([Cell::Prose(prose![*source])])
            .collect()
    };
    let columns = points.iter().map(|point| Column::quantities(point.label(), ""));
    Table {
        columns: [Column::words("Figure")].into_iter().chain(columns).chain([Column::words("Source")]).collect(),
        rows: shown.iter().map(row).collect(),
        ..table()
    }
}

/// Many points: one row for each figure and point.
fn long(findings: &Findings<'_>, points: &[&PointFindings], shown: &[&EfficiencyRow]) -> Table {
    let rows = shown.iter().flat_map(|(metric, source)| {
        points.iter().map(move |point| {
            let value = measured_cell(point.metric(metric.key()));
            cells![Cell::Prose(prose![metric.title_with_unit()]), point.label(), value, Cell::Prose(prose![*source])]
        })
    });
    let factors = super::charts::capital(&super::charts::factors_title(findings));
    Table {
        columns: columns![words("Figure"), words(factors), quantities("Value", ""), words("Source")],
        rows: rows.collect(),
        ..table()
    }
}

fn table() -> Table {
    Table {
        id: "table-efficiency",
        caption: prose! {
            "Cost of the work in the measured window. Data sheet figures are settings of the study under ",
            Inline::Code("hardware".to_owned()), ", not observations."
        },
        ..Table::default()
    }
}
