//! What the work cost in bytes of the device, in power and in room: each figure measured or from a data sheet, and it
//! says which.

use super::charts::measured_cell;
use super::section::{Section, a_finished_run, always};
use crate::blocks::{Block, Cell, Column, Inline, Table, prose};
use crate::findings::{Findings, PointFindings};

/// The section.
pub(super) const SECTION: Section =
    Section { id: "efficiency", title: "Efficiency", level: 3, numbered: true, needs: always, render };

/// Most points that stand beside each other.
const MOST_BESIDE: usize = 4;

/// Title, unit, metric.
const ROWS: &[(&str, &str, &str)] = &[
    ("Values written by the load", "MB/s", "logical_write_mb_s"),
    ("Values read by the load", "MB/s", "logical_read_mb_s"),
    ("Device bytes written per byte of values written", "", "device_bytes_written_per_logical_byte"),
    ("Device bytes read per byte of values read", "", "device_bytes_read_per_logical_byte"),
    ("Power", "W", "power_w.measured"),
    ("Operations per watt", "operations/s per W", "operations_per_watt.measured"),
    ("Operations per watt", "operations/s per W", "operations_per_watt.data_sheet"),
    ("Device requests per GB of capacity", "1/s per GB", "device_iops_per_gb.measured"),
    ("Device requests per GB of capacity", "1/s per GB", "device_iops_per_gb.data_sheet"),
    ("Capacity per rack unit", "TB per rack unit", "capacity_per_rack_unit.data_sheet"),
];

fn render(findings: &Findings<'_>) -> Vec<Block> {
    if a_finished_run(findings).is_err() {
        return Vec::new();
    }
    let has = |metric: &str| findings.points.iter().any(|point| point.metric(metric).is_ok());
    if !findings.workload.tells_absence && !ROWS.iter().any(|(_, _, metric)| has(metric)) {
        return Vec::new();
    }
    let points: Vec<&PointFindings> = findings.points.iter().filter(|point| !point.runs.is_empty()).collect();
    if points.len() > MOST_BESIDE {
        vec![Block::Table(long(findings, &points))]
    } else {
        vec![Block::Table(wide(&points))]
    }
}

fn head(title: &str, unit: &str) -> Cell {
    Cell::datum(if unit.is_empty() { title.to_owned() } else { format!("{title}, {unit}") })
}

/// Few points: one column each.
fn wide(points: &[&PointFindings]) -> Table {
    let row = |(title, unit, metric): &(&str, &str, &str)| {
        let values = points.iter().map(|point| measured_cell(point.metric(metric)));
        [head(title, unit)].into_iter().chain(values).chain([Cell::Prose(prose![source(metric)])]).collect()
    };
    let columns = points.iter().map(|point| Column::quantities(point.label(), ""));
    Table {
        columns: [Column::words("Figure")].into_iter().chain(columns).chain([Column::words("Source")]).collect(),
        rows: ROWS.iter().map(row).collect(),
        ..table()
    }
}

/// Many points: one row for each figure and point.
fn long(findings: &Findings<'_>, points: &[&PointFindings]) -> Table {
    let rows = ROWS.iter().flat_map(|(title, unit, metric)| {
        points.iter().map(move |point| {
            let value = measured_cell(point.metric(metric));
            vec![head(title, unit), Cell::datum(point.label()), value, Cell::Prose(prose![source(metric)])]
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

fn source(metric: &str) -> &'static str {
    match metric.split_once('.') {
        Some(("operations_per_watt", "data_sheet")) => "throughput measured, power of the data sheet",
        Some((_, "data_sheet")) => "data sheet",
        Some(("device_iops_per_gb", _)) => "requests measured, capacity of the data sheet",
        _ => "measured",
    }
}
