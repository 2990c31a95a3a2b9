//! The table of configurations, as the publication has it, and those of volumes.

use crate::blocks::{Cell, Column, Table, prose};
use crate::findings::cache_tier::{CachedPoint, VolumeUse};
use crate::findings::{Findings, Measured, PointFindings};
use crate::sections::charts::{capital, factors_title, measured_cell, metric_column, shown_value};
use proofload_model::tier::TierVolume;

/// What both ways of counting hits mean.
const HITS: &str = "Read hit: all data were in the cache. Write hit: the line was already in the cache. Absorbed: the \
    write was completed in the cache alone. A request counts once for each line that it touches.";

/// The point of a finding.
pub(super) fn point<'a>(findings: &'a Findings<'_>, cached: &CachedPoint) -> Option<&'a PointFindings> {
    findings.points.iter().find(|point| point.id == cached.point)
}

/// Configurations beside each other.
pub(super) fn configurations(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let headline = findings.workload.headline;
    let row = |one: &CachedPoint| {
        let point = point(findings, one)?;
        let label = if point.verdict.is_valid() {
            point.label()
        } else {
            format!("{} · {}", point.label(), point.verdict.word())
        };
        let mut cells = vec![Cell::datum(label), measured_cell(shown_value(point, headline.name))];
        cells.push(one.times.clone().map_or(Cell::Empty, measured_cell));
        cells.extend(hits(&one.both, !one.plan.cache.size.is_nothing()));
        Some(cells)
    };
    Table {
        id: "table-cache-tier",
        caption: prose!["Cache configurations compared, with 95 % confidence intervals."],
        columns: vec![
            Column::words(capital(&factors_title(findings))),
            metric_column(&headline),
            Column::quantities("Relative to no cache", "×"),
            Column::quantities("Read hits", "%"),
            Column::quantities("Write hits", "%"),
            Column::quantities("Absorbed", "%"),
        ],
        rows: points.iter().filter_map(row).collect(),
        note: prose!["Hits cover all cached volumes together. ", HITS],
    }
}

/// Hits both ways; without a cache there are none to tell.
fn hits(found: &VolumeUse, is_cached: bool) -> [Cell; 3] {
    let share = |share: &Option<Measured>| share.clone().filter(|_| is_cached).map_or(Cell::Empty, measured_cell);
    [&found.read_hits, &found.write_hits, &found.absorbed].map(share)
}

/// Operations of each volume, and the way of its writes.
pub(super) fn operations(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let row = |point: &PointFindings, one: &CachedPoint, (volume, found): &(TierVolume, VolumeUse)| {
        let is_cached = one.plan.cache.accelerates(*volume);
        let on = if is_cached { one.plan.cache.mode.word() } else { "not cached" };
        let mut cells = vec![Cell::datum(point.label()), Cell::datum(volume.word()), Cell::datum(on)];
        cells.extend([&found.reads, &found.writes].map(|rate| measured_cell(rate.clone())));
        cells.extend(hits(found, is_cached));
        cells
    };
    Table {
        id: "table-cache-operations",
        caption: prose!["Reads and writes of each volume."],
        columns: vec![
            Column::words(capital(&factors_title(findings))),
            Column::words("Volume"),
            Column::words("Mode"),
            Column::quantities("Reads", "1/s"),
            Column::quantities("Writes", "1/s"),
            Column::quantities("Read hits", "%"),
            Column::quantities("Write hits", "%"),
            Column::quantities("Absorbed", "%"),
        ],
        rows: of_volumes(findings, points, |_| true, row),
        note: prose![],
    }
}

/// Cache that each cached volume holds.
pub(super) fn held(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let row = |point: &PointFindings, _: &CachedPoint, (volume, found): &(TierVolume, VolumeUse)| {
        let mut cells = vec![Cell::datum(point.label()), Cell::datum(volume.word())];
        cells.extend([&found.in_use, &found.dirty, &found.cleaned].map(|value| measured_cell(value.clone())));
        cells
    };
    Table {
        id: "table-cache-held",
        caption: prose!["Cache use of the cached volumes, means of the measured windows."],
        columns: vec![
            Column::words(capital(&factors_title(findings))),
            Column::words("Volume"),
            Column::quantities("In use", "MB"),
            Column::quantities("Dirty", "MB"),
            Column::quantities("Cleaned", "MB/s"),
        ],
        rows: of_volumes(findings, points, |cached| cached, row),
        note: prose!["Cleaned: data written back to the slow medium."],
    }
}

/// Traffic between the cache and the slow medium for each cached volume.
pub(super) fn traffic(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let row = |point: &PointFindings, _: &CachedPoint, (volume, found): &(TierVolume, VolumeUse)| {
        let counted = |value: &Option<Measured>| value.clone().map_or(Cell::Empty, measured_cell);
        let mut cells = vec![Cell::datum(point.label()), Cell::datum(volume.word())];
        cells.push(counted(&found.bypassed));
        cells.extend([&found.evictions, &found.promoted, &found.flushes].map(|value| measured_cell(value.clone())));
        cells.push(counted(&found.clean_run));
        cells
    };
    Table {
        id: "table-cache-traffic",
        caption: prose!["Bypasses, evictions, promotions, flushes and cleaning of the cached volumes."],
        columns: vec![
            Column::words(capital(&factors_title(findings))),
            Column::words("Volume"),
            Column::quantities("Writes bypassed", "%"),
            Column::quantities("Evictions", "1/s"),
            Column::quantities("Promoted", "MB/s"),
            Column::quantities("Flushes", "1/s"),
            Column::quantities("Mean run of the cleaner", "KiB"),
        ],
        rows: of_volumes(findings, points, |cached| cached, row),
        note: prose![
            "Writes bypassed: writes of a write-back volume that went to the slow medium because too many lines were dirty or \
             none was free. Promoted: data that reads brought into the cache. Mean run: length of one write of the \
             cleaner, with adjacent lines merged."
        ],
    }
}

/// A row for each volume of each point; those that are cached or not as `shown` says.
fn of_volumes(
    findings: &Findings<'_>,
    points: &[CachedPoint],
    shown: fn(bool) -> bool,
    row: impl Fn(&PointFindings, &CachedPoint, &(TierVolume, VolumeUse)) -> Vec<Cell>,
) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for one in points {
        let Some(point) = point(findings, one) else { continue };
        let volumes = one.volumes.iter().filter(|(volume, _)| shown(one.plan.cache.accelerates(*volume)));
        rows.extend(volumes.map(|volume| row(point, one, volume)));
    }
    rows
}
