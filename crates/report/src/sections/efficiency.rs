//! What the work cost in bytes of the device, in power and in room: each figure measured or from a data sheet, and it
//! says which.

use super::charts::measured_cell;
use super::section::{Section, a_finished_run, always};
use crate::blocks::{Block, Cell, Column, Inline, Notice, Table, prose};
use crate::findings::{Findings, PointFindings};

/// The section.
pub(super) const SECTION: Section =
    Section { id: "efficiency", title: "Efficiency", level: 3, numbered: true, needs: always, render };

/// Most points that stand beside each other.
const MOST_BESIDE: usize = 4;

/// Title with its unit, metric, source.
type Row = (&'static str, &'static str, &'static str);

/// All figures.
const ROWS: &[Row] = &[
    ("Values written, MB/s", "logical_write_mb_s", "measured"),
    ("Values read, MB/s", "logical_read_mb_s", "measured"),
    ("Device bytes written per byte of values written", "device_bytes_written_per_logical_byte", "measured"),
    ("Device bytes read per byte of values read", "device_bytes_read_per_logical_byte", "measured"),
    ("Power, W", "power_w.measured", "measured"),
    ("Operations/s per W", "operations_per_watt.measured", "measured"),
    ("Operations/s per W of the data sheet", "operations_per_watt.data_sheet", "measured ÷ data sheet"),
    ("Device requests/s per GB of capacity", "device_iops_per_gb.measured", "measured ÷ data sheet"),
    ("Device requests/s per GB, at most", "device_iops_per_gb.data_sheet", "data sheet"),
    ("Capacity per rack unit, TB", "capacity_per_rack_unit.data_sheet", "data sheet"),
];

fn render(findings: &Findings<'_>) -> Vec<Block> {
    if a_finished_run(findings).is_err() {
        return Vec::new();
    }
    let has = |row: &&Row| findings.points.iter().any(|point| point.metric(row.1).is_ok());
    let (shown, gaps): (Vec<&Row>, Vec<&Row>) = ROWS.iter().partition(has);
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
fn missing(points: &[&PointFindings], gaps: &[&Row]) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (title, metric, _) in gaps {
        let why = points.iter().find_map(|point| point.metric(metric).err()).unwrap_or_default();
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, titles)) => titles.push(title),
            None => reasons.push((why, vec![title])),
        }
    }
    let words = |(why, titles): &(String, Vec<&str>)| format!("{} ({why})", titles.join(" and "));
    reasons.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Few points: one column each.
fn wide(points: &[&PointFindings], shown: &[&Row]) -> Table {
    let row = |(title, metric, source): &&Row| {
        let values = points.iter().map(|point| measured_cell(point.metric(metric)));
        [Cell::Prose(prose![*title])].into_iter().chain(values).chain([Cell::Prose(prose![*source])]).collect()
    };
    let columns = points.iter().map(|point| Column::quantities(point.label(), ""));
    Table {
        columns: [Column::words("Figure")].into_iter().chain(columns).chain([Column::words("Source")]).collect(),
        rows: shown.iter().map(row).collect(),
        ..table()
    }
}

/// Many points: one row for each figure and point.
fn long(findings: &Findings<'_>, points: &[&PointFindings], shown: &[&Row]) -> Table {
    let rows = shown.iter().flat_map(|(title, metric, source)| {
        points.iter().map(move |point| {
            let value = measured_cell(point.metric(metric));
            vec![Cell::Prose(prose![*title]), Cell::datum(point.label()), value, Cell::Prose(prose![*source])]
        })
    });
    let factors = super::charts::capital(&super::charts::factors_title(findings));
    Table {
        columns: vec![
            Column::words("Figure"),
            Column::words(factors),
            Column::quantities("Value", ""),
            Column::words("Source"),
        ],
        rows: rows.collect(),
        ..table()
    }
}

fn table() -> Table {
    Table {
        id: "table-efficiency",
        caption: prose![
            "What the work cost in the measured window. Figures of a data sheet are the study's settings below ",
            Inline::Code("hardware".to_owned()),
            ", not observations."
        ],
        ..Table::default()
    }
}
