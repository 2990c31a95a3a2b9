//! The figures of a pool as text, the answer first. It computes nothing but shares.

use super::stats::{DiskFigures, PoolFigures, VolumeFigures};
use super::units::{bytes, count, counted, percent, time};
use proofload_tier::tier::{LatencyClass, LatencyHistogram};
use std::time::Duration;

/// The text.
pub(super) fn of(figures: &PoolFigures) -> String {
    let mut lines: Vec<String> = figures.volumes.iter().map(answer).collect();
    lines.push(pool(figures));
    if !figures.flush_delay.is_zero() {
        lines.push(format!("flushes: each delayed by {}", time(figures.flush_delay)));
    }
    figures.volumes.iter().for_each(|volume| lines.extend(details(figures, volume)));
    lines.extend(figures.disks.iter().map(|disk| disk_line(disk, figures.over)));
    lines.join("\n")
}

/// The sentence that most readers want.
fn answer(volume: &VolumeFigures) -> String {
    let counters = &volume.counters;
    let failed = if volume.now.failed { "FAILED; " } else { "" };
    format!(
        "{}: {failed}{} of {} reads hit; of {} writes {} hit a line and {} were absorbed by the cache; {} dirty",
        volume.now.class.name(),
        percent(counters.read_hit_ratio()),
        count(counters.reads),
        count(counters.writes),
        percent(counters.write_hit_ratio()),
        percent(counters.write_absorbed_ratio()),
        lines_text(volume.now.dirty_lines),
    )
}

fn lines_text(lines: u32) -> String {
    format!("{} line{}", count(lines), if lines == 1 { "" } else { "s" })
}

fn pool(figures: &PoolFigures) -> String {
    let status = &figures.status;
    let of_all = f64::from(status.dirty_lines) / f64::from(status.active_lines.max(1));
    format!(
        "pool: {} lines of {}, {} dirty ({}), {} of memory; {} {}, opened after {}",
        count(status.active_lines),
        bytes(status.line_bytes.into()),
        count(status.dirty_lines),
        percent(Some(of_all)),
        bytes(status.memory_bytes),
        if figures.since_open { "open for" } else { "over" },
        time(figures.over),
        if status.after_crash { "a crash" } else { "a clean stop" },
    )
}

fn details(figures: &PoolFigures, volume: &VolumeFigures) -> Vec<String> {
    let counters = &volume.counters;
    let share = |part: u64, whole: u64| percent((whole > 0).then(|| part as f64 / whole as f64));
    let dirty = u64::from(volume.now.dirty_lines) * u64::from(figures.status.line_bytes);
    let mut lines = vec![format!("volume {}, {}", volume.now.class.name(), volume.now.mode.name())];
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<9} {text}"));
    line(
        "reads",
        format!(
            "{} ({}): {} full hits, {} partial, {} misses",
            count(counters.reads),
            bytes(counters.read_bytes),
            share(counters.read_hits, counters.reads),
            share(counters.read_partial_hits, counters.reads),
            share(counters.read_misses, counters.reads),
        ),
    );
    line(
        "writes",
        format!(
            "{} ({}): {} to a block that had a line, {} completed on the cache, {} bypassed it",
            count(counters.writes),
            bytes(counters.write_bytes),
            percent(counters.write_hit_ratio()),
            percent(counters.write_absorbed_ratio()),
            count(counters.writes_bypassed),
        ),
    );
    line("lines", format!("{}, {} dirty ({})", count(volume.now.lines), count(volume.now.dirty_lines), bytes(dirty)));
    line(
        "cleaner",
        format!(
            "{} cleaned ({}/s), {} per run; {} evicted",
            lines_text(u32::try_from(counters.cleaned_lines).unwrap_or(u32::MAX)),
            bytes(rate(counters.cleaned_bytes, figures.over)),
            counters.mean_clean_run_bytes().map_or_else(|| "—".to_owned(), |mean| bytes(mean as u64)),
            count(counters.evictions),
        ),
    );
    for (class, times) in &volume.latencies {
        line(name_of(*class), times_text(times));
    }
    let errors = counters.cache_errors + counters.origin_errors;
    if errors + counters.clean_mismatches + counters.torn_sectors + counters.damaged_sectors > 0 {
        line(
            "faults",
            format!(
                "{} of the cache, {} of the origin, {} clean lines dropped, {} torn sectors, {} damaged",
                counters.cache_errors,
                counters.origin_errors,
                counters.clean_mismatches,
                counters.torn_sectors,
                counters.damaged_sectors
            ),
        );
    }
    lines
}

/// The word for a class of times.
pub(super) fn name_of(class: LatencyClass) -> &'static str {
    match class {
        LatencyClass::Hit => "hit",
        LatencyClass::Miss => "miss",
        LatencyClass::Flush => "flush",
    }
}

fn times_text(times: &LatencyHistogram) -> String {
    match (times.quantile(0.5), times.quantile(0.99)) {
        (Some(half), Some(most)) => {
            format!("{}, p50 {}, p99 {}", count(times.count()), time(half), time(most))
        }
        _ => "0".to_owned(),
    }
}

/// Bytes per second.
fn rate(bytes: u64, over: Duration) -> u64 {
    if over.is_zero() { 0 } else { (bytes as f64 / over.as_secs_f64()) as u64 }
}

fn disk_line(disk: &DiskFigures, over: Duration) -> String {
    format!(
        "slow disk, modelled: {} and {}, {:.2} inside on average, {:.2} drives at work; handed back {} \
         late in sum{}; {} slower than the model{}",
        counted(disk.requests, "request"),
        counted(disk.syncs, "sync"),
        disk.inside(over),
        disk.at_work(over),
        time(disk.late),
        percentiles(&disk.late_times),
        count(disk.outrun_times.count()),
        percentiles(&disk.outrun_times),
    )
}

/// The median and the 99th percentile in brackets; nothing where there are no times.
fn percentiles(times: &LatencyHistogram) -> String {
    let found = times.quantile(0.5).zip(times.quantile(0.99));
    found.map_or_else(String::new, |(half, most)| format!(" (p50 {}, p99 {})", time(half), time(most)))
}
