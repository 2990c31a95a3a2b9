//! What the modelled medium did: its requests, its drives' use, its queue and its response.

use super::tables::point;
use crate::blocks::{Cell, Column, Table, prose};
use crate::findings::Findings;
use crate::findings::cache_tier::CachedPoint;
use crate::sections::charts::{capital, factors_title, measured_cell};

/// The table.
pub(super) fn table(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let row = |one: &CachedPoint| {
        let medium = &one.medium;
        let mut cells = vec![Cell::datum(point(findings, one)?.label())];
        cells.extend([&medium.requests, &medium.busy, &medium.queue].map(|value| measured_cell(value.clone())));
        cells.extend([&medium.response, &medium.late].map(|value| value.clone().map_or(Cell::Empty, measured_cell)));
        Some(cells)
    };
    Table {
        id: "table-slow-medium",
        caption: prose!["The modelled medium that stores data and log, in the measured windows."],
        columns: vec![
            Column::words(capital(&factors_title(findings))),
            Column::quantities("Requests", "1/s"),
            Column::quantities("Drives busy", "%"),
            Column::quantities("Queue", "requests"),
            Column::quantities("Response", "ms"),
            Column::quantities("Delay beyond model", "ms"),
        ],
        rows: points.iter().filter(|one| one.plan.slow.is_modelled()).filter_map(row).collect(),
        note: prose![
            "Queue: mean requests waiting or in service, including writes that the controller's cache accepted at \
             once. Response: by the model. Delay beyond model: caused by this host's timers."
        ],
    }
}
