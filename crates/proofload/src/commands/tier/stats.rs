//! `tier stats`: what an open pool does, since it was opened or over a time.

use super::words::{Faults, time};
use super::{stats_json, stats_text};
use crate::cli_tier::StatsArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::output;
use proofload_model::time::Clock as _;
use proofload_tier::control::{ControlClient, DiskReading, PoolReading};
use proofload_tier::stats::VolumeCounters;
use proofload_tier::tier::{LatencyClass, LatencyHistogram, PoolStatus, VolumeSnapshot};
use std::time::Duration;

/// A pool as it is told: its state at the end of a time, and what was counted in it.
pub(super) struct PoolFigures {
    /// The time that is counted over.
    pub(super) over: Duration,
    /// Whether it begins with the opening.
    pub(super) since_open: bool,
    pub(super) status: PoolStatus,
    /// What flushes are delayed by.
    pub(super) flush_delay: Duration,
    pub(super) volumes: Vec<VolumeFigures>,
    pub(super) disks: Vec<DiskFigures>,
}

/// A volume as it is told.
pub(super) struct VolumeFigures {
    /// Its state at the end.
    pub(super) now: VolumeSnapshot,
    pub(super) counters: VolumeCounters,
    /// Times of hits, misses and flushes.
    pub(super) latencies: [(LatencyClass, LatencyHistogram); 3],
}

/// A modelled disk as it is told.
pub(super) struct DiskFigures {
    pub(super) requests: u64,
    pub(super) syncs: u64,
    /// Time at work of all drives together.
    pub(super) busy: Duration,
    /// Time of all requests together, by the model.
    pub(super) modelled: Duration,
    /// Time after the modelled completion of all requests and syncs together.
    pub(super) late: Duration,
    /// Times after the modelled completion, of requests and syncs.
    pub(super) late_times: LatencyHistogram,
    /// Times by which the device took longer than the model, where it did.
    pub(super) outrun_times: LatencyHistogram,
}

impl DiskFigures {
    /// Mean number of requests that waited or were served, by Little's law.
    pub(super) fn inside(&self, over: Duration) -> f64 {
        ratio(self.modelled, over)
    }

    /// Mean number of drives at work.
    pub(super) fn at_work(&self, over: Duration) -> f64 {
        ratio(self.busy, over)
    }
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}

/// Prints them.
pub(super) fn run(arguments: &StatsArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let over = arguments.over.as_ref().and_then(|text| time("--over", text, &mut faults));
    let over = faults.settle(arguments.json, Some(over))?;
    let figures =
        figures(arguments, over).map_err(|error| output::failure(arguments.json, Exit::Failure, &error.to_string()))?;
    let text = if arguments.json { stats_json::of(&figures) } else { stats_text::of(&figures) };
    Ok(output::conclude(arguments.json, &text, Exit::Good))
}

fn figures(arguments: &StatsArguments, over: Option<Duration>) -> Result<PoolFigures, proofload_tier::Error> {
    let client = ControlClient::connect(&arguments.control)?;
    let first = client.reading()?;
    let Some(over) = over else { return Ok(between(None, &first)) };
    SystemClock.sleep(over);
    Ok(between(Some(&first), &client.reading()?))
}

/// What was counted between two readings, or since the opening.
pub(super) fn between(first: Option<&PoolReading>, last: &PoolReading) -> PoolFigures {
    let begin = first.map_or(Duration::ZERO, |first| first.pool.since_open);
    let volumes = last.pool.volumes.iter().enumerate().map(|(place, volume)| {
        let before = first.and_then(|first| first.pool.volumes.get(place));
        let latency = |class| {
            let now = volume.latencies(class).clone();
            (class, before.map_or_else(|| now.clone(), |before| now.since(before.latencies(class))))
        };
        VolumeFigures {
            now: volume.clone(),
            counters: before.map_or(volume.counters, |before| volume.counters.since(&before.counters)),
            latencies: [LatencyClass::Hit, LatencyClass::Miss, LatencyClass::Flush].map(latency),
        }
    });
    let disks = last.disks.iter().enumerate();
    PoolFigures {
        over: last.pool.since_open.saturating_sub(begin),
        since_open: first.is_none(),
        status: last.pool.status,
        flush_delay: last.pool.flush_times.delay,
        volumes: volumes.collect(),
        disks: disks.map(|(place, disk)| disk_between(first.and_then(|first| first.disks.get(place)), disk)).collect(),
    }
}

fn disk_between(first: Option<&DiskReading>, last: &DiskReading) -> DiskFigures {
    let time = |of: fn(&DiskReading) -> Duration| of(last).saturating_sub(first.map_or(Duration::ZERO, of));
    let number = |of: fn(&DiskReading) -> u64| of(last).saturating_sub(first.map_or(0, of));
    let times = |of: fn(&DiskReading) -> &LatencyHistogram| {
        first.map_or_else(|| of(last).clone(), |first| of(last).since(of(first)))
    };
    DiskFigures {
        requests: number(DiskReading::requests),
        syncs: number(|disk| disk.syncs),
        busy: time(|disk| disk.busy),
        modelled: time(|disk| disk.modelled),
        late: time(|disk| disk.late_sum),
        late_times: times(|disk| &disk.late),
        outrun_times: times(|disk| &disk.outrun),
    }
}
