//! The link to each standby: what was asked, what was measured before the load, and how its relay kept it in the measured window.

use super::modes::point;
use crate::blocks::{Block, Cell, Column, Table, prose};
use crate::findings::Findings;
use crate::findings::links::{LinkUse, links_of_point};
use crate::findings::replication::ReplicatedPoint;
use crate::numbers::short;

/// The table; `None` where standbys are connected directly.
pub(super) fn table(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    let number = |value: Option<f64>| value.map_or(Cell::Empty, |value| Cell::datum(short(value)));
    let row = |label: &str, link: &LinkUse| {
        let words = [label.to_owned(), link.standby.to_string()].map(Cell::datum);
        let numbers = [Some(link.asked), link.measured, link.late_p50, link.late_p99, link.cpu].map(number);
        words.into_iter().chain(numbers).collect::<Vec<Cell>>()
    };
    let of_point = |one: &ReplicatedPoint| {
        let point = point(findings, one)?;
        let label = point.label();
        Some(links_of_point(findings, point).iter().map(|link| row(&label, link)).collect::<Vec<_>>())
    };
    let rows: Vec<Vec<Cell>> = points.iter().filter_map(of_point).flatten().collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            id: "table-links",
            caption: prose!["Link to each standby, and the relay on it."],
            columns: vec![
                Column::words("Point"),
                Column::words("Link to"),
                Column::quantities("Round trip, asked", "ms"),
                Column::quantities("Measured before", "ms"),
                Column::quantities("Lateness, p50", "ms"),
                Column::quantities("Lateness, p99", "ms"),
                Column::quantities("CPU, relay", "CPU s/s"),
            ],
            rows,
            note: prose![
                "Measured before: median round trip before the load, mean over the runs. Lateness: time after the delay \
                 of the link at which the relay let bytes go, p50 and p99 of each second, then the median over the \
                 seconds of the window, of the later direction and the latest run; empty in records from before it was \
                 recorded. The relay's threads belong to the agent; their CPU time is that of both directions."
            ],
        })
    })
}
