//! The table of configurations, as the publication has it, and those of volumes, of latencies and of the modelled medium.

use crate::blocks::{Cell, Table, cells, columns, prose};
use crate::findings::cache_latency::{RequestLatency, request_latencies};
use crate::findings::cache_tier::{CachedPoint, VolumeUse};
use crate::findings::{Findings, Measured, PointFindings};
use crate::numbers::count;
use crate::sections::charts::{measured_cell, shown_value};
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
        let mut cells = cells![label, shown_value(point, headline.key())];
        cells.push(one.times.clone().map_or(Cell::Empty, measured_cell));
        cells.extend(hits(&one.both, !one.plan.cache.size.is_nothing()));
        Some(cells)
    };
    Table {
        id: "table-cache-tier",
        caption: prose!["Cache configurations compared, with 95 % confidence intervals."],
        columns: columns! {
            point(findings), metric(&headline), quantities("Relative to no cache", "×"), quantities("Read hits", "%"),
            quantities("Write hits", "%"), quantities("Absorbed", "%")
        },
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
        let mut cells = cells![point.label(), volume.word(), on];
        cells.extend([&found.reads, &found.writes].map(|rate| measured_cell(rate.clone())));
        cells.extend(hits(found, is_cached));
        cells
    };
    Table {
        id: "table-cache-operations",
        caption: prose!["Reads and writes of each volume."],
        columns: columns! {
            point(findings), words("Volume"), words("Mode"), quantities("Reads", "1/s"), quantities("Writes", "1/s"),
            quantities("Read hits", "%"), quantities("Write hits", "%"), quantities("Absorbed", "%")
        },
        rows: of_volumes(findings, points, |_| true, row),
        note: prose![],
    }
}

/// Cache that each cached volume holds.
pub(super) fn held(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let row = |point: &PointFindings, _: &CachedPoint, (volume, found): &(TierVolume, VolumeUse)| {
        let mut cells = cells![point.label(), volume.word()];
        cells.extend([&found.in_use, &found.dirty, &found.cleaned].map(|value| measured_cell(value.clone())));
        cells
    };
    Table {
        id: "table-cache-held",
        caption: prose!["Cache use of the cached volumes, means of the measured windows."],
        columns: columns! {
            point(findings), words("Volume"), quantities("In use", "MB"), quantities("Dirty", "MB"),
            quantities("Cleaned", "MB/s")
        },
        rows: of_volumes(findings, points, |cached| cached, row),
        note: prose!["Cleaned: data written back to the slow medium."],
    }
}

/// Traffic between the cache and the slow medium for each cached volume.
pub(super) fn traffic(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let row = |point: &PointFindings, _: &CachedPoint, (volume, found): &(TierVolume, VolumeUse)| {
        let counted = |value: &Option<Measured>| value.clone().map_or(Cell::Empty, measured_cell);
        let mut cells = cells![point.label(), volume.word()];
        cells.push(counted(&found.bypassed));
        cells.extend([&found.evictions, &found.promoted, &found.flushes].map(|value| measured_cell(value.clone())));
        cells.push(counted(&found.clean_run));
        cells
    };
    Table {
        id: "table-cache-traffic",
        caption: prose!["Bypasses, evictions, promotions, flushes and cleaning of the cached volumes."],
        columns: columns! {
            point(findings), words("Volume"), quantities("Writes bypassed", "%"), quantities("Evictions", "1/s"),
            quantities("Promoted", "MB/s"), quantities("Flushes", "1/s"), quantities("Mean run of the cleaner", "KiB")
        },
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

/// How long requests to the cache took: hits, misses and flushes of each volume; nothing where no record has times.
pub(super) fn latencies(findings: &Findings<'_>, points: &[CachedPoint]) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = points.iter().flat_map(|one| latency_rows(findings, one)).collect();
    (!rows.is_empty()).then(|| Table {
        id: "table-cache-latency",
        caption: prose!["Latency of requests to the cache tier in the measured windows."],
        columns: columns! {
            point(findings), words("Volume"), words("Requests"), counts("n"), quantities("Median", "ms"),
            quantities("99th percentile", "ms")
        },
        rows,
        note: prose![
            "Hit: a read or write that the cache alone served. Miss: one that waited for the slow medium, as all do in a \
             volume that is not cached. A request counts once for each line that it touches. Flush: with its delay, where \
             the study asks for one. Percentiles of all seconds together; each is the upper end of a bucket an eighth of \
             a power of two wide, so at most 12.5 % too high."
        ],
    })
}

fn latency_rows(findings: &Findings<'_>, one: &CachedPoint) -> Vec<Vec<Cell>> {
    let Some(point) = point(findings, one) else { return Vec::new() };
    let row = |found: &RequestLatency| {
        cells! {
            point.label(), found.volume.word(), found.class.word(), count(found.count), found.p50.clone(),
            found.p99.clone()
        }
    };
    request_latencies(findings, one).iter().map(row).collect()
}

/// What the modelled medium did: its requests, its drives' use, its queue and its response.
pub(super) fn medium(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
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
        columns: columns! {
            point(findings), quantities("Requests", "1/s"), quantities("Drives busy", "%"),
            quantities("Queue", "requests"), quantities("Response", "ms"), quantities("Delay beyond model", "ms")
        },
        rows: points.iter().filter(|one| one.plan.slow.is_modelled()).filter_map(row).collect(),
        note: prose![
            "Queue: mean requests waiting or in service, including writes that the controller's cache accepted at \
             once. Response: by the model. Delay beyond model: caused by this host's timers."
        ],
    }
}
