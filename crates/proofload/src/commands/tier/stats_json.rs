//! The figures of a pool as JSON. It computes nothing but shares.

use super::stats::{DiskFigures, PoolFigures, VolumeFigures};
use super::stats_text::name_of;
use proofload_tier::machine::CleanerMarks;
use proofload_tier::tier::LatencyHistogram;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The document.
pub(super) fn of(figures: &PoolFigures) -> String {
    let status = &figures.status;
    let pool = json!({
        "line_bytes": status.line_bytes,
        "active_lines": status.active_lines,
        "dirty_lines": status.dirty_lines,
        "clean_depth": status.clean_depth,
        "clean_depth_auto": status.tunes_depth,
        "dirty_target": share(status.marks.target),
        "clean_from": share(status.marks.urgent_from),
        "clean_to": share(status.marks.urgent_to),
        "bypass_from": share(status.marks.bypass_from),
        "clean_after_ns": nanoseconds(status.idle_after),
        "clean_age_ns": nanoseconds(status.age_limit),
        "memory_bytes": status.memory_bytes,
        "after_crash": status.after_crash,
        "flush_delay_ns": nanoseconds(figures.flush_delay),
    });
    let volumes: Vec<Value> = figures.volumes.iter().map(volume).collect();
    let disks: Vec<Value> = figures.disks.iter().map(|one| disk(one, figures.over)).collect();
    let document = json!({
        "form": 1,
        "over_ns": nanoseconds(figures.over),
        "since_open": figures.since_open,
        "pool": pool,
        "volumes": volumes,
        "slow_disks": disks,
    });
    format!("{document:#}")
}

fn volume(volume: &VolumeFigures) -> Value {
    let counters = &volume.counters;
    let counts: Map<String, Value> =
        counters.list().into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let times: Map<String, Value> =
        volume.latencies.iter().map(|(class, times)| (name_of(*class).to_owned(), latency(times))).collect();
    json!({
        "volume": volume.now.class.name(),
        "mode": volume.now.mode.name(),
        "failed": volume.now.failed,
        "bytes": volume.now.bytes,
        "lines": volume.now.lines,
        "dirty_lines": volume.now.dirty_lines,
        "quota_lines": volume.now.quota_lines,
        "read_hit_ratio": counters.read_hit_ratio(),
        "write_hit_ratio": counters.write_hit_ratio(),
        "write_absorbed_ratio": counters.write_absorbed_ratio(),
        "counters": counts,
        "times": times,
    })
}

fn latency(times: &LatencyHistogram) -> Value {
    let quantile = |share| times.quantile(share).map(nanoseconds);
    json!({ "count": times.count(), "ns_p50": quantile(0.5), "ns_p99": quantile(0.99), "ns_max": quantile(1.0) })
}

fn disk(disk: &DiskFigures, over: Duration) -> Value {
    let quantile = |times: &LatencyHistogram, share| times.quantile(share).map(nanoseconds);
    json!({
        "modelled": true,
        "requests": disk.requests,
        "syncs": disk.syncs,
        "busy_ns": nanoseconds(disk.busy),
        "modelled_ns": nanoseconds(disk.modelled),
        "late_ns": nanoseconds(disk.late),
        "late_ns_p50": quantile(&disk.late_times, 0.5),
        "late_ns_p99": quantile(&disk.late_times, 0.99),
        "outrun": disk.outrun_times.count(),
        "outrun_ns_p50": quantile(&disk.outrun_times, 0.5),
        "outrun_ns_p99": quantile(&disk.outrun_times, 0.99),
        "requests_inside_mean": disk.inside(over),
        "drives_at_work_mean": disk.at_work(over),
    })
}

/// A mark of the cleaner as a share, from 0 to 1.
fn share(parts: u32) -> f64 {
    f64::from(parts) / f64::from(CleanerMarks::WHOLE)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
