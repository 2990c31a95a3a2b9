//! How long requests to the cache took: hits, misses and flushes of each volume.

use super::tables::point;
use crate::blocks::{Cell, Column, Table, prose};
use crate::findings::Findings;
use crate::findings::cache_latency::{RequestLatency, request_latencies};
use crate::findings::cache_tier::CachedPoint;
use crate::numbers::count;
use crate::sections::charts::{capital, factors_title, measured_cell};

/// The table; nothing where no record has times.
pub(super) fn table(findings: &Findings<'_>, points: &[CachedPoint]) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = points.iter().flat_map(|one| of_point(findings, one)).collect();
    (!rows.is_empty()).then(|| Table {
        id: "table-cache-latency",
        caption: prose!["Latency of requests to the cache tier in the measured windows."],
        columns: vec![
            Column::words(capital(&factors_title(findings))),
            Column::words("Volume"),
            Column::words("Requests"),
            Column::counts("n"),
            Column::quantities("Median", "ms"),
            Column::quantities("99th percentile", "ms"),
        ],
        rows,
        note: prose![
            "Hit: a read or write that the cache alone served. Miss: one that waited for the slow medium, as all do in a \
             volume that is not cached. A request counts once for each line that it touches. Flush: with its delay, where \
             the study asks for one. Percentiles of all seconds together; each is the upper end of a bucket an eighth of \
             a power of two wide, so at most 12.5 % too high."
        ],
    })
}

fn of_point(findings: &Findings<'_>, one: &CachedPoint) -> Vec<Vec<Cell>> {
    let Some(point) = point(findings, one) else { return Vec::new() };
    let row = |found: &RequestLatency| {
        vec![
            Cell::datum(point.label()),
            Cell::datum(found.volume.word()),
            Cell::datum(found.class.word()),
            Cell::datum(count(found.count)),
            measured_cell(found.p50.clone()),
            measured_cell(found.p99.clone()),
        ]
    };
    request_latencies(findings, one).iter().map(row).collect()
}
