//! The table of configurations, as the publication has it, and the one of volumes.

use crate::blocks::{Cell, Column, Table, prose};
use crate::findings::cache_tier::{CachedPoint, VolumeUse};
use crate::findings::{Findings, PointFindings};
use crate::metrics::MetricName;
use crate::sections::charts::{capital, factors_title, measured_cell, metric_column, shown_value};

/// What both ways of counting hits mean.
const HITS: &str = "A read hit was all in the cache. A write hit met a line that was in the cache already; a write was absorbed where it was completed on the \
     cache alone. A request counts once for each line that it touches.";

/// The point of a finding.
pub(super) fn point<'a>(findings: &'a Findings<'_>, cached: &CachedPoint) -> Option<&'a PointFindings> {
    findings.points.iter().find(|point| point.id == cached.point)
}

/// Configurations beside each other.
pub(super) fn configurations(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let rates: Vec<MetricName> = std::iter::once(findings.workload.headline)
        .chain(findings.workload.counted.iter().map(|counted| counted.metric))
        .collect();
    let mut columns = vec![Column::words(capital(&factors_title(findings)))];
    columns.extend(rates.iter().map(metric_column));
    columns.push(Column::quantities("Of no cache", "×"));
    columns.extend([
        Column::quantities("Reads", "1/s"),
        Column::quantities("Read hits", "%"),
        Column::quantities("Writes", "1/s"),
        Column::quantities("Write hits", "%"),
        Column::quantities("Writes absorbed", "%"),
        Column::words("Verdict"),
    ]);
    let row = |one: &CachedPoint| {
        let point = point(findings, one)?;
        let mut cells = vec![Cell::datum(point.label())];
        cells.extend(rates.iter().map(|metric| measured_cell(shown_value(point, metric.name))));
        cells.push(one.times.clone().map_or(Cell::Empty, measured_cell));
        let is_cached = !one.plan.cache.size.is_nothing();
        cells.extend(counts(&one.both, is_cached));
        cells.push(Cell::Verdict(point.verdict.is_valid(), point.verdict.word()));
        Some(cells)
    };
    Table {
        id: "table-cache-tier",
        caption: prose!["Configurations of the cache, data and log together, with 95 % confidence intervals."],
        columns,
        rows: points.iter().filter_map(row).collect(),
        note: prose![HITS],
    }
}

/// Reads and writes with their hits; without a cache there are none to tell.
fn counts(found: &VolumeUse, is_cached: bool) -> [Cell; 5] {
    let hits = |value: &crate::findings::Measured| if is_cached { measured_cell(value.clone()) } else { Cell::Empty };
    [
        measured_cell(found.reads.clone()),
        hits(&found.read_hits),
        measured_cell(found.writes.clone()),
        hits(&found.write_hits),
        hits(&found.absorbed),
    ]
}

/// Volumes of each configuration.
pub(super) fn volumes(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let mut rows = Vec::new();
    for one in points {
        let Some(point) = point(findings, one) else { continue };
        for (volume, found) in &one.volumes {
            let is_cached = one.plan.cache.accelerates(*volume);
            let on = if is_cached { one.plan.cache.mode.word() } else { "not cached" };
            let mut cells = vec![Cell::datum(point.label()), Cell::datum(volume.word()), Cell::datum(on)];
            cells.extend(counts(found, is_cached));
            let held = |value: &crate::findings::Measured| {
                if is_cached { measured_cell(value.clone()) } else { Cell::Empty }
            };
            cells.extend([held(&found.in_use), held(&found.dirty), held(&found.cleaned)]);
            rows.push(cells);
        }
    }
    Table {
        id: "table-cache-volumes",
        caption: prose!["Each volume by itself, and the cache that it holds."],
        columns: vec![
            Column::words(capital(&factors_title(findings))),
            Column::words("Volume"),
            Column::words("Cache"),
            Column::quantities("Reads", "1/s"),
            Column::quantities("Read hits", "%"),
            Column::quantities("Writes", "1/s"),
            Column::quantities("Write hits", "%"),
            Column::quantities("Writes absorbed", "%"),
            Column::quantities("In use", "MB"),
            Column::quantities("Dirty", "MB"),
            Column::quantities("Cleaned", "MB/s"),
        ],
        rows,
        note: prose![
            "In use and dirty: means of the measured windows. Cleaned: what was written back to the slow medium."
        ],
    }
}
