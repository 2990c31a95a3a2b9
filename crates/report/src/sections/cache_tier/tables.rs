//! The table of configurations, as the publication has it, and those of volumes, of latencies and of the modelled medium.

use crate::blocks::{Column, Prose, Table, TableOf, prose};
use crate::findings::cache::latency::{RequestLatency, request_latencies};
use crate::findings::cache::tier::{CachedPoint, VolumeUse};
use crate::findings::{Findings, Measured, PointFindings};
use crate::numbers::count;
use crate::sections::charts::shown_value;
use proofload_model::tier::{TierPlan, TierVolume};

/// What both ways of counting hits mean.
const HITS: &str = "Read hit: all data were in the cache. Write hit: the line was already in the cache. Absorbed: the \
    write was completed in the cache alone. A request counts once for each line that it touches.";

/// Configurations beside each other.
pub(super) fn configurations(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let headline = findings.workload.headline;
    let label = |point: &PointFindings| match point.verdict.is_valid() {
        true => point.label(),
        false => format!("{} · {}", point.label(), point.verdict.word()),
    };
    let rows = points.iter().filter_map(|one| Some((one, findings.point(one.point)?)));
    let table = TableOf::new(
        "table-cache-tier",
        prose!["Cache configurations compared, with 95 % confidence intervals."],
        rows,
    )
    .column(Column::point(findings), |(_, point)| label(point))
    .column(Column::metric(&headline), |(_, point)| shown_value(point, headline.key()))
    .quantities("Relative to no cache", "×", |(one, _)| one.times.clone());
    let table = with_hits(table, |(one, _)| (&one.both, !one.plan.cache.size.is_nothing()));
    table.note(prose!["Hits cover all cached volumes together. ", HITS])
}

/// Adds hits both ways; without a cache there are none to tell.
fn with_hits<T>(table: TableOf<T>, of: impl Fn(&T) -> (&VolumeUse, bool)) -> TableOf<T> {
    let share = |row: &T, of_volume: fn(&VolumeUse) -> &Option<Measured>| {
        let (found, is_cached) = of(row);
        of_volume(found).clone().filter(|_| is_cached)
    };
    table
        .quantities("Read hits", "%", |row| share(row, |found| &found.read_hits))
        .quantities("Write hits", "%", |row| share(row, |found| &found.write_hits))
        .quantities("Absorbed", "%", |row| share(row, |found| &found.absorbed))
}

/// Volume of a point, with its plan.
struct VolumeRow<'a> {
    point: &'a PointFindings,
    plan: &'a TierPlan,
    volume: TierVolume,
    found: &'a VolumeUse,
}

impl VolumeRow<'_> {
    fn is_cached(&self) -> bool {
        self.plan.cache.accelerates(self.volume)
    }
}

/// A row for each volume of each point, or for each that is cached.
fn of_volumes<'a>(
    id: &'static str,
    caption: Prose,
    findings: &'a Findings<'_>,
    points: &'a [CachedPoint],
    cached_alone: bool,
) -> TableOf<VolumeRow<'a>> {
    let known = points.iter().filter_map(|one| Some((one, findings.point(one.point)?)));
    let rows = known.flat_map(|(one, point)| {
        one.volumes.iter().map(move |(volume, found)| VolumeRow { point, plan: &one.plan, volume: *volume, found })
    });
    TableOf::new(id, caption, rows.filter(|row| !cached_alone || row.is_cached()))
        .column(Column::point(findings), |row| row.point.label())
        .words("Volume", |row| row.volume.word())
}

/// Operations of each volume, and the way of its writes.
pub(super) fn operations(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let table =
        of_volumes("table-cache-operations", prose!["Reads and writes of each volume."], findings, points, false)
            .words("Mode", |row| if row.is_cached() { row.plan.cache.mode.word() } else { "not cached" })
            .quantities("Reads", "1/s", |row| row.found.reads.clone())
            .quantities("Writes", "1/s", |row| row.found.writes.clone());
    with_hits(table, |row| (row.found, row.is_cached())).table()
}

/// Cache that each cached volume holds.
pub(super) fn held(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let caption = prose!["Cache use of the cached volumes, means of the measured windows."];
    of_volumes("table-cache-held", caption, findings, points, true)
        .quantities("In use", "MB", |row| row.found.in_use.clone())
        .quantities("Dirty", "MB", |row| row.found.dirty.clone())
        .quantities("Cleaned", "MB/s", |row| row.found.cleaned.clone())
        .note(prose!["Cleaned: data written back to the slow medium."])
}

/// Traffic between the cache and the slow medium for each cached volume.
pub(super) fn traffic(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let caption = prose!["Bypasses, evictions, promotions, flushes and cleaning of the cached volumes."];
    of_volumes("table-cache-traffic", caption, findings, points, true)
        .quantities("Writes bypassed", "%", |row| row.found.bypassed.clone())
        .quantities("Evictions", "1/s", |row| row.found.evictions.clone())
        .quantities("Promoted", "MB/s", |row| row.found.promoted.clone())
        .quantities("Flushes", "1/s", |row| row.found.flushes.clone())
        .quantities("Mean run of the cleaner", "KiB", |row| row.found.clean_run.clone())
        .note(prose![
            "Writes bypassed: writes of a write-back volume that went to the slow medium because too many lines were dirty or \
             none was free. Promoted: data that reads brought into the cache. Mean run: length of one write of the \
             cleaner, with adjacent lines merged."
        ])
}

/// How long requests to the cache took: hits, misses and flushes of each volume; nothing where no record has times.
pub(super) fn latencies(findings: &Findings<'_>, points: &[CachedPoint]) -> Option<Table> {
    let known = points.iter().filter_map(|one| Some((one, findings.point(one.point)?)));
    let rows = known.flat_map(|(one, point)| {
        request_latencies(findings, one).into_iter().map(move |found: RequestLatency| (point, found))
    });
    TableOf::new("table-cache-latency", prose!["Latency of requests to the cache tier in the measured windows."], rows)
        .column(Column::point(findings), |(point, _)| point.label())
        .words("Volume", |(_, found)| found.volume.word())
        .words("Requests", |(_, found)| found.class.word())
        .counts("n", |(_, found)| count(found.count))
        .quantities("Median", "ms", |(_, found)| found.p50.clone())
        .quantities("99th percentile", "ms", |(_, found)| found.p99.clone())
        .note(prose![
            "Hit: a read or write that the cache alone served. Miss: one that waited for the slow medium, as all do in a \
             volume that is not cached. A request counts once for each line that it touches. Flush: with its delay, where \
             the study asks for one. Percentiles of all seconds together; each is the upper end of a bucket an eighth of \
             a power of two wide, so at most 12.5 % too high."
        ])
        .filled()
}

/// What the modelled medium did: its requests, its drives' use, its queue and its response.
pub(super) fn medium(findings: &Findings<'_>, points: &[CachedPoint]) -> Table {
    let modelled = points.iter().filter(|one| one.plan.slow.is_modelled());
    let rows = modelled.filter_map(|one| Some((findings.point(one.point)?, &one.medium)));
    let caption = prose!["The modelled medium that stores data and log, in the measured windows."];
    TableOf::new("table-slow-medium", caption, rows)
        .column(Column::point(findings), |(point, _)| point.label())
        .quantities("Requests", "1/s", |(_, medium)| medium.requests.clone())
        .quantities("Drives busy", "%", |(_, medium)| medium.busy.clone())
        .quantities("Queue", "requests", |(_, medium)| medium.queue.clone())
        .quantities("Response", "ms", |(_, medium)| medium.response.clone())
        .quantities("Delay beyond model", "ms", |(_, medium)| medium.late.clone())
        .note(prose![
            "Queue: mean requests waiting or in service, including writes that the controller's cache accepted at \
             once. Response: by the model. Delay beyond model: caused by this host's timers and storage, syncs included."
        ])
}
