//! What a pool and its volumes are at one instant. It changes nothing and does no input or output.

use std::time::Duration;

use super::flush_delay::FlushTimes;
use super::front::{PoolStatus, Tier};
use super::latency::{LatencyClass, LatencyHistogram};
use crate::machine::{CacheMode, VolumeClass};
use crate::stats::VolumeCounters;

/// A volume at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeSnapshot {
    /// Its content.
    pub class: VolumeClass,
    /// The way of its writes that is in force: `Pass` from a failure of the cache on that left nothing dirty behind.
    pub mode: CacheMode,
    /// Whether it has failed, and serves nothing until it is opened again.
    pub failed: bool,
    /// Bytes of the volume.
    pub bytes: u64,
    /// Lines that it holds.
    pub lines: u32,
    /// Lines of those that are dirty.
    pub dirty_lines: u32,
    /// Lines that it may hold at most; `None` when it may hold all.
    pub quota_lines: Option<u32>,
    /// Counts since the pool was opened.
    pub counters: VolumeCounters,
    /// Times of hits, misses and flushes since the pool was opened, ns.
    latencies: [LatencyHistogram; 3],
}

impl VolumeSnapshot {
    /// Times of one class since the pool was opened.
    pub fn latencies(&self, class: LatencyClass) -> &LatencyHistogram {
        &self.latencies[class as usize]
    }

    /// The times of hits, misses and flushes, in this order.
    pub(crate) fn all_latencies(&self) -> &[LatencyHistogram; 3] {
        &self.latencies
    }

    /// The same volume with other times.
    pub(crate) fn with_latencies(self, latencies: [LatencyHistogram; 3]) -> Self {
        Self { latencies, ..self }
    }

    /// A volume without a count.
    pub(crate) fn empty(class: VolumeClass, mode: CacheMode) -> Self {
        Self {
            class,
            mode,
            failed: false,
            bytes: 0,
            lines: 0,
            dirty_lines: 0,
            quota_lines: None,
            counters: VolumeCounters::default(),
            latencies: std::array::from_fn(|_| LatencyHistogram::default()),
        }
    }
}

/// A pool at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSnapshot {
    /// Time since the pool was opened, by its clock.
    pub since_open: Duration,
    /// Size and state of the pool.
    pub status: PoolStatus,
    /// What flushes are delayed by, and how long they took.
    pub flush_times: FlushTimes,
    /// Volumes in the order of their numbers.
    pub volumes: Vec<VolumeSnapshot>,
}

impl PoolSnapshot {
    /// Bytes of the lines of a volume that are dirty, each counted whole; 0 of a volume that does not exist.
    pub fn dirty_bytes(&self, volume: u8) -> u64 {
        let lines = self.volumes.get(usize::from(volume)).map_or(0, |volume| volume.dirty_lines);
        u64::from(lines) * u64::from(self.status.line_bytes)
    }
}

impl Tier {
    /// Time since the pool was opened, by its clock.
    pub fn since_open(&self) -> Duration {
        self.clock.now().saturating_sub(self.opened)
    }

    /// The pool and its volumes at one instant: no request ends in between.
    pub fn snapshot(&self) -> PoolSnapshot {
        let state = self.lock();
        let volumes = (0..self.volumes()).map(|volume| {
            let (lines, dirty_lines) = state.machine.lines_of(volume);
            let (class, mode) = state.machine.kind_of(volume);
            VolumeSnapshot {
                class,
                mode,
                failed: state.machine.has_failed(volume),
                bytes: self.volume_bytes(volume),
                lines,
                dirty_lines,
                quota_lines: state.machine.quota_of(volume),
                counters: state.machine.counters(volume),
                latencies: state.latencies[usize::from(volume)].clone(),
            }
        });
        let volumes = volumes.collect();
        let (since_open, status, flush_times) = (self.since_open(), self.status_of(&state), state.flush_times);
        PoolSnapshot { since_open, status, flush_times, volumes }
    }
}
