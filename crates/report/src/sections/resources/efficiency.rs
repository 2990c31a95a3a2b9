//! What the work cost in bytes of the device, in power and in room: each figure measured or from a data sheet, and it
//! says which.

use crate::blocks::{Block, Column, Inline, Notice, Table, TableOf, prose};
use crate::findings::{Findings, PointFindings};
use crate::groups::by_key;
use crate::metrics::{
    CAPACITY_PER_RACK_UNIT, DEVICE_READ_PER_BYTE, DEVICE_WRITTEN_PER_BYTE, MetricName, OPERATIONS_PER_WATT,
    OPERATIONS_PER_WATT_OF_SHEET, POWER, REQUESTS_PER_GB, REQUESTS_PER_GB_OF_SHEET, VALUES_READ, VALUES_WRITTEN,
};
use crate::sections::section::a_finished_run;

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

pub(crate) fn render(findings: &Findings<'_>) -> Vec<Block> {
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
        blocks.push(Block::Table(table(findings, &points, &shown)));
    }
    if findings.workload.tells_absence && !gaps.is_empty() {
        blocks.push(Block::Notice(Notice::Gap, prose![missing(&points, &gaps), "."]));
    }
    blocks
}

/// What no point has, with the reason, each reason once.
fn missing(points: &[&PointFindings], gaps: &[&EfficiencyRow]) -> String {
    let why =
        |metric: &MetricName| points.iter().find_map(|point| point.metric(metric.key()).err()).unwrap_or_default();
    let reasons = by_key(gaps.iter().map(|(metric, _)| (why(metric), metric.title_with_unit())));
    let words = |(why, titles): &(String, Vec<String>)| format!("{} ({why})", titles.join(" and "));
    reasons.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Figures of points: a column for each of few points, else a row for each figure and point.
fn table(findings: &Findings<'_>, points: &[&PointFindings], shown: &[&EfficiencyRow]) -> Table {
    let caption = prose! {
        "Cost of the work in the measured window. Data sheet figures are settings of the study under ",
        Inline::Code("hardware".to_owned()), ", not observations."
    };
    if points.len() <= MOST_BESIDE {
        let head = |point: &&&PointFindings| Column::quantities(point.label(), "");
        return TableOf::new("table-efficiency", caption, shown)
            .words("Figure", |(metric, _)| prose![metric.title_with_unit()])
            .each(points, head, |(metric, _), point| point.metric(metric.key()))
            .words("Source", |(_, source)| prose![*source])
            .table();
    }
    let rows = shown.iter().flat_map(|(metric, source)| points.iter().map(move |point| (metric, source, point)));
    TableOf::new("table-efficiency", caption, rows)
        .words("Figure", |(metric, ..)| prose![metric.title_with_unit()])
        .column(Column::point(findings), |(.., point)| point.label())
        .quantities("Value", "", |(metric, _, point)| point.metric(metric.key()))
        .words("Source", |(_, source, _)| prose![**source])
        .table()
}
