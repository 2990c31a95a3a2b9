//! What a pool and its modelled disks are at one instant, as values and as bytes. It asks, and changes nothing.

use std::time::Duration;

use super::frame::{ContentReader, Frame, FrameFault, nanoseconds};
use super::message::READING;
use crate::disk::{ModelledDisk, Overshoot};
use crate::error::Error;
use crate::machine::{CacheMode, CleanerMarks, VolumeClass};
use crate::policy::PolicyChoice;
use crate::stats::VolumeCounters;
use crate::tier::{FlushTimes, LatencyHistogram, PoolSnapshot, PoolStatus, Tier, VolumeSnapshot};

/// Bytes of a reading at most: four volumes and sixteen disks with every bucket in use have 1.7 MB.
pub(super) const MOST_BYTES: usize = 2 << 20;
/// Disks of a reading, at most.
pub(super) const MOST_DISKS: usize = 16;
/// Volumes of a pool, at most.
const MOST_VOLUMES: usize = 4;

const CLASSES: [VolumeClass; 3] = [VolumeClass::Data, VolumeClass::Log, VolumeClass::Temp];
const MODES: [CacheMode; 4] = [CacheMode::Pass, CacheMode::WriteAround, CacheMode::WriteThrough, CacheMode::WriteBack];

/// A modelled disk since it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskReading {
    /// Time at work of all drives together.
    pub busy: Duration,
    /// Syncs among what `late` counts.
    pub syncs: u64,
    /// Modelled time of all requests; syncs are none.
    pub modelled: Duration,
    /// Sum of all times after the modelled completion, of requests and syncs.
    pub late_sum: Duration,
    /// Times after the modelled completion, of requests and syncs.
    pub late: LatencyHistogram,
    /// Times by which the real device took longer than the model, of those requests and syncs that it did.
    pub outrun: LatencyHistogram,
}

impl DiskReading {
    fn of(disk: &ModelledDisk) -> Self {
        let (busy, overshoot) = (disk.busy(), disk.overshoot());
        let Overshoot { late, outrun, syncs, modelled, late_sum } = overshoot;
        Self { busy, syncs, modelled, late_sum, late, outrun }
    }

    /// Number of requests that were handed back, without syncs.
    pub fn requests(&self) -> u64 {
        self.late.count().saturating_sub(self.syncs)
    }
}

/// A pool at one instant, and its modelled disks just after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolReading {
    /// The pool and its volumes.
    pub pool: PoolSnapshot,
    /// The modelled disks in the order in which the owner named them.
    pub disks: Vec<DiskReading>,
}

impl PoolReading {
    /// Reads a pool and its disks, of which only the first 16 are read.
    pub fn of<'a>(tier: &Tier, disks: impl IntoIterator<Item = &'a ModelledDisk>) -> Self {
        let pool = tier.snapshot();
        Self { pool, disks: disks.into_iter().take(MOST_DISKS).map(DiskReading::of).collect() }
    }

    /// The reading as bytes, which begin with the version of the format. Times are in whole nanoseconds.
    pub fn encode(&self) -> Vec<u8> {
        let mut content = Vec::new();
        content.extend(nanoseconds(self.pool.since_open));
        put_status(&mut content, &self.pool.status);
        put_flush_times(&mut content, &self.pool.flush_times);
        content.push(u8::try_from(self.pool.volumes.len()).expect("four at most"));
        self.pool.volumes.iter().for_each(|volume| put_volume(&mut content, volume));
        content.push(u8::try_from(self.disks.len()).expect("sixteen at most"));
        self.disks.iter().for_each(|disk| put_disk(&mut content, disk));
        Frame { kind: READING, content }.encode()
    }

    /// The reading that these bytes are.
    ///
    /// # Errors
    ///
    /// When they are no reading of this version ([`Error::frame_fault`] tells why).
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let frame = Frame::decode(bytes, MOST_BYTES).and_then(|frame| match frame.kind {
            READING => Self::from_content(&frame.content),
            _ => Err(FrameFault::Content),
        });
        frame.map_err(|fault| Error::frame("decoded", "a reading of a pool", fault))
    }

    pub(super) fn from_content(content: &[u8]) -> Result<Self, FrameFault> {
        let mut reader = ContentReader::new(content);
        let (since_open, status) = (reader.time()?, take_status(&mut reader)?);
        let flush_times = take_flush_times(&mut reader)?;
        let volumes = take_list(&mut reader, MOST_VOLUMES, take_volume)?;
        let disks = take_list(&mut reader, MOST_DISKS, take_disk)?;
        reader.end()?;
        Ok(Self { pool: PoolSnapshot { since_open, status, flush_times, volumes }, disks })
    }
}

fn take_list<T>(
    reader: &mut ContentReader<'_>,
    most: usize,
    take: fn(&mut ContentReader<'_>) -> Result<T, FrameFault>,
) -> Result<Vec<T>, FrameFault> {
    let count = usize::from(reader.u8()?);
    if count > most {
        return Err(FrameFault::Content);
    }
    (0..count).map(|_| take(reader)).collect()
}

fn put_status(content: &mut Vec<u8>, status: &PoolStatus) {
    content.extend(status.line_bytes.to_le_bytes());
    content.extend(status.active_lines.to_le_bytes());
    content.extend(status.dirty_lines.to_le_bytes());
    let policy = PolicyChoice::ALL.iter().position(|policy| *policy == status.policy);
    content.push(policy.and_then(|place| u8::try_from(place).ok()).expect("six policies"));
    content.extend(status.clean_depth.to_le_bytes());
    content.push(u8::from(status.tunes_depth));
    let CleanerMarks { target, urgent_from, urgent_to, bypass_from } = status.marks;
    [target, urgent_from, urgent_to, bypass_from].iter().for_each(|mark| content.extend(mark.to_le_bytes()));
    content.extend(nanoseconds(status.idle_after));
    content.extend(nanoseconds(status.age_limit));
    content.extend(status.memory_bytes.to_le_bytes());
    content.push(u8::from(status.after_crash));
}

fn take_status(reader: &mut ContentReader<'_>) -> Result<PoolStatus, FrameFault> {
    Ok(PoolStatus {
        line_bytes: reader.u32()?,
        active_lines: reader.u32()?,
        dirty_lines: reader.u32()?,
        policy: *PolicyChoice::ALL.get(usize::from(reader.u8()?)).ok_or(FrameFault::Content)?,
        clean_depth: reader.u32()?,
        tunes_depth: reader.flag()?,
        marks: CleanerMarks {
            target: reader.u32()?,
            urgent_from: reader.u32()?,
            urgent_to: reader.u32()?,
            bypass_from: reader.u32()?,
        },
        idle_after: reader.time()?,
        age_limit: reader.time()?,
        memory_bytes: reader.u64()?,
        after_crash: reader.flag()?,
    })
}

fn put_flush_times(content: &mut Vec<u8>, times: &FlushTimes) {
    content.extend(nanoseconds(times.delay));
    content.extend(times.flushes.to_le_bytes());
    content.extend(nanoseconds(times.took));
    content.extend(nanoseconds(times.delayed));
}

fn take_flush_times(reader: &mut ContentReader<'_>) -> Result<FlushTimes, FrameFault> {
    let (delay, flushes) = (reader.time()?, reader.u64()?);
    Ok(FlushTimes { delay, flushes, took: reader.time()?, delayed: reader.time()? })
}

fn put_volume(content: &mut Vec<u8>, volume: &VolumeSnapshot) {
    content.extend([volume.class as u8, volume.mode as u8, u8::from(volume.failed)]);
    content.extend(volume.bytes.to_le_bytes());
    content.extend(volume.lines.to_le_bytes());
    content.extend(volume.dirty_lines.to_le_bytes());
    content.push(u8::from(volume.quota_lines.is_some()));
    content.extend(volume.quota_lines.unwrap_or(0).to_le_bytes());
    volume.counters.list().iter().for_each(|(_, value)| content.extend(value.to_le_bytes()));
    volume.all_latencies().iter().for_each(|histogram| put_histogram(content, histogram));
}

fn take_volume(reader: &mut ContentReader<'_>) -> Result<VolumeSnapshot, FrameFault> {
    let class = CLASSES.get(usize::from(reader.u8()?)).ok_or(FrameFault::Content)?;
    let mode = MODES.get(usize::from(reader.u8()?)).ok_or(FrameFault::Content)?;
    let mut volume = VolumeSnapshot::empty(*class, *mode);
    volume.failed = reader.flag()?;
    (volume.bytes, volume.lines, volume.dirty_lines) = (reader.u64()?, reader.u32()?, reader.u32()?);
    let (has_quota, quota) = (reader.flag()?, reader.u32()?);
    if !has_quota && quota != 0 {
        return Err(FrameFault::Content);
    }
    volume.quota_lines = has_quota.then_some(quota);
    let mut outcome = Ok(0);
    let counters = VolumeCounters::from_values(|| {
        outcome = reader.u64();
        outcome.ok()
    });
    outcome?;
    volume.counters = counters.ok_or(FrameFault::Content)?;
    Ok(volume.with_latencies([take_histogram(reader)?, take_histogram(reader)?, take_histogram(reader)?]))
}

fn put_disk(content: &mut Vec<u8>, disk: &DiskReading) {
    content.extend(nanoseconds(disk.busy));
    content.extend(disk.syncs.to_le_bytes());
    content.extend(nanoseconds(disk.modelled));
    content.extend(nanoseconds(disk.late_sum));
    put_histogram(content, &disk.late);
    put_histogram(content, &disk.outrun);
}

fn take_disk(reader: &mut ContentReader<'_>) -> Result<DiskReading, FrameFault> {
    let (busy, syncs, modelled, late_sum) = (reader.time()?, reader.u64()?, reader.time()?, reader.time()?);
    let (late, outrun) = (take_histogram(reader)?, take_histogram(reader)?);
    Ok(DiskReading { busy, syncs, modelled, late_sum, late, outrun })
}

/// Writes the buckets that are not empty.
fn put_histogram(content: &mut Vec<u8>, histogram: &LatencyHistogram) {
    let count = u16::try_from(histogram.buckets().count()).expect("3,776 at most");
    content.extend(count.to_le_bytes());
    for (bucket, count) in histogram.buckets() {
        content.extend(bucket.to_le_bytes());
        content.extend(count.to_le_bytes());
    }
}

fn take_histogram(reader: &mut ContentReader<'_>) -> Result<LatencyHistogram, FrameFault> {
    let count = reader.u16()?;
    let mut next = 0;
    let mut buckets = Vec::new();
    for _ in 0..count {
        let (bucket, count) = (reader.u16()?, reader.u64()?);
        if bucket < next || count == 0 {
            return Err(FrameFault::Content);
        }
        next = bucket.saturating_add(1);
        buckets.push((bucket, count));
    }
    LatencyHistogram::from_buckets(buckets.into_iter()).ok_or(FrameFault::Content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::mix;

    fn histogram(seed: u64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        (0..20).for_each(|step| histogram.record(Duration::from_nanos(mix(seed + step) >> (step * 3))));
        histogram
    }

    fn reading() -> PoolReading {
        let status = PoolStatus {
            line_bytes: 8192,
            active_lines: 64,
            dirty_lines: 3,
            policy: PolicyChoice::Arc,
            clean_depth: 16,
            tunes_depth: true,
            marks: CleanerMarks { target: 1, urgent_from: 3, urgent_to: 2, bypass_from: 10_000 },
            idle_after: Duration::from_secs(1),
            age_limit: Duration::from_secs(600),
            memory_bytes: 1 << 40,
            after_crash: true,
        };
        let volumes = CLASSES.map(|class| {
            let mut seed = class as u64;
            let mut volume = VolumeSnapshot::empty(class, MODES[class as usize + 1]);
            volume.counters = VolumeCounters::from_values(|| {
                seed += 1;
                Some(mix(seed))
            })
            .unwrap();
            (volume.failed, volume.bytes, volume.lines, volume.dirty_lines) = (true, 5 << 33, 9, 3);
            volume.quota_lines = (class == VolumeClass::Log).then_some(12);
            volume.with_latencies([histogram(1), histogram(2), LatencyHistogram::default()])
        });
        let time = Duration::from_nanos;
        let (late, outrun) = (histogram(3), histogram(5));
        let disk = DiskReading { busy: time(7), syncs: 2, modelled: time(9), late_sum: time(4), late, outrun };
        let flush_times = FlushTimes { delay: time(5), flushes: 3, took: time(21), delayed: time(16) };
        let since_open = Duration::new(100, 7);
        let pool = PoolSnapshot { since_open, status, flush_times, volumes: volumes.to_vec() };
        PoolReading { pool, disks: vec![disk.clone(), disk] }
    }

    #[test]
    fn a_reading_is_what_it_was() {
        let reading = reading();
        assert_eq!(PoolReading::decode(&reading.encode()).unwrap(), reading);
        assert_eq!(reading.pool.dirty_bytes(0), 3 * 8192);
        assert_eq!((reading.pool.dirty_bytes(9), reading.disks[0].requests()), (0, 18));
    }

    #[test]
    fn every_shorter_or_longer_reading_is_refused_and_none_panics() {
        let bytes = reading().encode();
        let content = Frame::decode(&bytes, MOST_BYTES).unwrap().content;
        for length in 0..content.len() {
            let fault = PoolReading::from_content(&content[..length]).unwrap_err();
            assert!(matches!(fault, FrameFault::Truncated { .. }), "{length}: {fault}");
            assert!(PoolReading::decode(&bytes[..length]).is_err());
        }
        let longer = [&content[..], &[0]].concat();
        assert!(matches!(PoolReading::from_content(&longer), Err(FrameFault::TooLong { .. })));
    }

    #[test]
    fn garbage_with_a_right_checksum_does_not_panic() {
        let content = Frame::decode(&reading().encode(), MOST_BYTES).unwrap().content;
        for at in 0..content.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = content.clone();
                changed[at] = value;
                // A changed number may be a reading too: then all that is asked of it must be answered.
                if let Ok(reading) = PoolReading::from_content(&changed) {
                    assert_eq!(PoolReading::decode(&reading.encode()).unwrap(), reading);
                    assert!(reading.disks.iter().all(|disk| disk.late.quantile(1.0).is_some()));
                }
            }
        }
    }

    #[test]
    fn a_changed_format_needs_a_new_version() {
        let mut empty = reading();
        empty.pool.volumes = vec![VolumeSnapshot::empty(VolumeClass::Data, CacheMode::Pass)];
        empty.disks.truncate(0);
        // 25 counters of 8 bytes are in it; change VERSION with this length.
        assert_eq!((super::super::frame::VERSION, empty.encode().len()), (7, 347));
    }
}
