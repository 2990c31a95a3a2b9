//! The cache tier under the data, by its control socket: reads and writes with their hits, lines, cleaning, times of requests, and the modelled
//! drives. A tier that is not open has no reading.

use super::miniatures::Miniatures;
use super::probe::{OpenedProbe, Probe, Subject};
use super::rates::Rates;
use super::tier_latency::TierLatencies;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{SeriesName, tier};
use proofload_model::tier::{CONTROL_SOCKET, CachePlan};
use proofload_model::wire::DataLocation;
use proofload_tier::control::{ControlClient, DiskReading, PoolReading};
use proofload_tier::stats::VolumeCounters;
use proofload_tier::tier::LatencyHistogram;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a sector, by which promotions are counted. Source: `proofload_tier::block`.
const SECTOR: f64 = 4096.0;

/// A tier to be watched.
#[derive(Debug, Clone)]
pub struct WatchedTier {
    socket: PathBuf,
    /// Drives of its slow medium.
    drives: f64,
    cache: CachePlan,
    /// Whether it is served to a server, through which everything reads.
    is_served: bool,
}

impl WatchedTier {
    /// The tier of a place; `None` where its data lie on none. `served`: socket of one that is served to it, else that of its own process.
    pub fn of(place: &DataLocation, served: Option<PathBuf>) -> Option<Self> {
        let plan = place.tier.as_ref()?;
        let is_served = served.is_some();
        let socket = served.unwrap_or_else(|| Path::new(&place.folder).join(CONTROL_SOCKET));
        Some(Self { socket, drives: f64::from(plan.slow.count()), cache: plan.cache.clone(), is_served })
    }
}

struct TierProbe {
    tier: WatchedTier,
    rates: Rates,
    /// The modelled medium at the reading before.
    disk: Option<DiskReading>,
    latencies: TierLatencies,
    miniatures: Miniatures,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let probe = |tier: WatchedTier| {
        let miniatures = Miniatures::new(tier.cache.clone(), tier.is_served);
        let (rates, latencies) = (Rates::default(), TierLatencies::default());
        Box::new(TierProbe { tier, rates, disk: None, latencies, miniatures }) as Box<dyn Probe>
    };
    Ok(subject.tier.take().map(probe))
}

impl Probe for TierProbe {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        // It is open only while sessions are.
        let Ok(client) = ControlClient::connect(&self.tier.socket) else {
            self.rates.turn(span);
            self.miniatures.turn(span);
            self.disk = None;
            self.latencies.forget();
            return Ok(Vec::new());
        };
        let reading =
            client.reading().map_err(|error| Error::new(format!("failed to read the cache tier: {error}")))?;
        self.rates.turn(span);
        let mut readings = self.readings(&reading, span);
        readings.extend(self.latencies.readings(reading.pool.volumes, span));
        readings.extend(self.miniatures.read(&client, span));
        Ok(readings)
    }
}

/// A count of a volume in the unit of its series.
type Count = fn(&VolumeCounters) -> f64;

/// Counters of a volume with the series of their rates.
const COUNTERS: &[(&SeriesName, Count)] = &[
    (&tier::READS, |counters| counters.reads as f64),
    (&tier::READ_HITS, |counters| counters.read_hits as f64),
    (&tier::READ_PARTIAL_HITS, |counters| counters.read_partial_hits as f64),
    (&tier::READ_BYTES, |counters| counters.read_bytes as f64),
    (&tier::WRITES, |counters| counters.writes as f64),
    (&tier::WRITE_HITS, |counters| counters.write_hits as f64),
    (&tier::WRITES_ABSORBED, |counters| counters.writes_absorbed as f64),
    (&tier::WRITES_BYPASSED, |counters| counters.writes_bypassed as f64),
    (&tier::WRITE_BYTES, |counters| counters.write_bytes as f64),
    (&tier::FLUSHES, |counters| counters.flushes as f64),
    (&tier::PROMOTED, |counters| counters.promoted_sectors as f64 * SECTOR),
    (&tier::EVICTIONS, |counters| counters.evictions as f64),
    (&tier::CLEANED, |counters| counters.cleaned_bytes as f64),
    (&tier::CLEAN_WRITES, |counters| counters.clean_runs as f64),
    (&tier::ERRORS, |counters| (counters.cache_errors + counters.origin_errors) as f64),
];

impl TierProbe {
    fn readings(&mut self, reading: &PoolReading, span: Option<Duration>) -> Vec<Reading> {
        let mut readings = Vec::new();
        let line = f64::from(reading.pool.status.line_bytes);
        for volume in &reading.pool.volumes {
            let name = volume.class.name();
            for (series, count) in COUNTERS {
                let key = format!("{name} {}", series.name);
                let rate = self.rates.per_second(&key, count(&volume.counters));
                readings.extend(rate.map(|rate| series.reading(name, rate)));
            }
            readings.push(tier::IN_USE.reading(name, f64::from(volume.lines) * line));
            readings.push(tier::DIRTY.reading(name, f64::from(volume.dirty_lines) * line));
        }
        let status = &reading.pool.status;
        readings.extend(status.tunes_depth.then(|| tier::CLEAN_DEPTH.reading("", f64::from(status.clean_depth))));
        readings.extend(reading.disks.first().map(|disk| self.disk(disk, span)).unwrap_or_default());
        readings
    }

    /// What the modelled drives did since the reading before. Requests under way are the sum of their times by the time that has passed
    /// (Little's law).
    fn disk(&mut self, disk: &DiskReading, span: Option<Duration>) -> Vec<Reading> {
        let mut readings = Vec::new();
        let busy = self.rates.per_second("busy", disk.busy.as_secs_f64());
        readings.extend(busy.map(|busy| tier::DISK_BUSY.reading("", 100.0 * busy / self.tier.drives)));
        // One that was made again counts from 0.
        let before = self.disk.replace(disk.clone()).filter(|before| before.late.count() <= disk.late.count());
        let (Some(before), Some(span)) = (before, span.filter(|span| !span.is_zero())) else { return readings };
        let requests = disk.requests().saturating_sub(before.requests()) as f64;
        let took = disk.modelled.saturating_sub(before.modelled);
        let late = disk.late_sum.saturating_sub(before.late_sum);
        readings.push(tier::DISK_REQUESTS.reading("", requests / span.as_secs_f64()));
        readings.push(tier::DISK_QUEUE.reading("", took.as_secs_f64() / span.as_secs_f64()));
        if requests > 0.0 {
            readings.push(tier::DISK_RESPONSE.reading("", 1e3 * took.as_secs_f64() / requests));
        }
        readings.push(tier::DISK_LATE.reading("", late.as_secs_f64() / span.as_secs_f64()));
        let syncs = disk.syncs.saturating_sub(before.syncs) as f64;
        readings.push(tier::DISK_SYNCS.reading("", syncs / span.as_secs_f64()));
        let (late, outrun) = (disk.late.since(&before.late), disk.outrun.since(&before.outrun));
        readings.extend(percentiles(&late, [tier::DISK_LATE_P50, tier::DISK_LATE_P99]));
        readings.push(tier::DISK_OUTRUN.reading("", outrun.count() as f64 / span.as_secs_f64()));
        readings.extend(percentiles(&outrun, [tier::DISK_OUTRUN_P50, tier::DISK_OUTRUN_P99]));
        readings
    }
}

/// The median and the 99th percentile of times, ms; nothing where there are none.
fn percentiles(times: &LatencyHistogram, series: [SeriesName; 2]) -> Vec<Reading> {
    let found = series.into_iter().zip([0.5, 0.99]);
    let found = found.filter_map(|(series, share)| Some((series, times.quantile(share)?)));
    found.map(|(series, time)| series.reading("", time.as_secs_f64() * 1e3)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::tier::{
        CachePlan, CacheSize, DriveModel, DriveScheduling, EvictionPolicy, RaidLevel, RequestClass, SlowMedium, Stroke,
        TierPlan, TierVolume, TimedRequests, WriteMode,
    };
    use proofload_model::tier_cleaning::CleaningPlan;
    use proofload_model::units::Bytes;
    use proofload_tier::control::{ControlServer, ControlSubject};
    use proofload_tier::device::{Clock, FileDevice, MachineClock, PageCache};
    use proofload_tier::disk::{ArrayLayout, DiskArray, DriveProfile, ModelledDisk, Scheduling};
    use proofload_tier::layout::Identity;
    use proofload_tier::machine::{CacheMode, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
    use proofload_tier::policy::PolicyChoice;
    use proofload_tier::tier::{FormatSettings, Tier, TierDevices};
    use std::sync::Arc;

    /// A pool of one volume on a modelled drive.
    fn pool(folder: &Path) -> (Arc<Tier>, Arc<ModelledDisk>) {
        let clock: Arc<dyn Clock> = Arc::new(MachineClock::new());
        let file = |name: &str, bytes| FileDevice::create(&folder.join(name), bytes, PageCache::Used).expect("makes");
        let array = DiskArray::new(ArrayLayout::Single, 1, DriveProfile::RPM_15K, Scheduling::Fcfs, 0);
        let disk = Arc::new(ModelledDisk::new(Arc::new(file("slow", 4 << 20)), array, Arc::clone(&clock)));
        let devices = TierDevices { cache: Arc::new(file("fast", 4 << 20)), origins: vec![disk.clone()] };
        let settings = FormatSettings {
            line_bytes: 8192,
            most_lines: Some(64),
            journal_blocks: None,
            active_lines: None,
            cache: Identity([1; 16]),
            origins: vec![Identity([2; 16])],
        };
        Tier::format(&devices, &settings).expect("formats");
        let pool = PoolSettings {
            policy: PolicyChoice::Lru,
            volumes: vec![VolumeSettings { class: VolumeClass::Data, mode: CacheMode::WriteBack, quota_lines: None }],
            cleaner: CleanerSettings { tunes_depth: true, ..CleanerSettings::usual() },
            verify_every_read: false,
        };
        (Arc::new(Tier::open(devices, pool, clock).expect("opens")), disk)
    }

    fn place(folder: &Path) -> DataLocation {
        let slow = SlowMedium {
            drive: DriveModel::Rpm15k,
            raid: RaidLevel::Single,
            drives: 1,
            write_cache: Bytes(0),
            stroke: Stroke::default(),
            scheduling: DriveScheduling::default(),
        };
        let cache = CachePlan {
            size: CacheSize::PercentOfData(0),
            mode: WriteMode::WriteBack,
            policy: EvictionPolicy::Lru,
            cleaning: CleaningPlan::usual(),
            line: Bytes(8192),
            accelerate: Vec::new(),
            quotas: Vec::new(),
            prewarm: false,
            warm: None,
            folder: None,
        };
        let (engine, folder) = ("sqlite".to_owned(), folder.display().to_string());
        let tier = TierPlan { slow, cache, flush_delay: None };
        DataLocation { engine, folder, url: None, settings: Vec::new(), tier: Some(Box::new(tier)) }
    }

    #[test]
    fn how_late_a_disk_was_and_how_far_a_file_was_behind_it_are_told_apart() {
        let place = place(Path::new("/nowhere"));
        let tier = WatchedTier::of(&place, None).expect("it has a tier");
        let miniatures = Miniatures::new(tier.cache.clone(), false);
        let (rates, latencies) = (Rates::default(), TierLatencies::default());
        let mut probe = TierProbe { tier, rates, disk: None, latencies, miniatures };
        let times = |all: &[u64]| {
            let mut times = LatencyHistogram::default();
            all.iter().for_each(|time| times.record(Duration::from_micros(*time)));
            times
        };
        let disk = |late: &[u64], outrun: &[u64], syncs| DiskReading {
            busy: Duration::ZERO,
            syncs,
            modelled: Duration::from_millis(10 * late.len() as u64),
            late_sum: Duration::from_micros(late.iter().sum()),
            late: times(late),
            outrun: times(outrun),
        };
        let second = Some(Duration::from_secs(2));
        probe.disk(&disk(&[90_000], &[80_000], 0), None);
        let readings = probe.disk(&disk(&[90_000, 100, 100, 9_000, 100], &[80_000, 8_000], 1), second);
        let value = |series: &SeriesName| {
            let found = readings.iter().find(|reading| reading.name == series.name);
            found.unwrap_or_else(|| panic!("{} in {readings:?}", series.name)).value
        };
        let near = |series: &SeriesName, wanted: f64| (value(series) / wanted - 1.0).abs() < 0.02;
        assert!(near(&tier::DISK_LATE_P50, 0.1) && near(&tier::DISK_LATE_P99, 9.0), "{readings:?}");
        assert!(near(&tier::DISK_OUTRUN_P50, 8.0) && near(&tier::DISK_OUTRUN_P99, 8.0), "{readings:?}");
        assert_eq!([value(&tier::DISK_OUTRUN), value(&tier::DISK_SYNCS), value(&tier::DISK_REQUESTS)], [0.5, 0.5, 1.5]);
        let idle = probe.disk(&disk(&[90_000, 100, 100, 9_000, 100], &[80_000, 8_000], 1), second);
        assert!(idle.iter().all(|reading| !reading.name.ends_with("_p99")), "nothing was late: {idle:?}");
    }

    #[test]
    fn hits_and_the_drives_become_rates_and_a_closed_tier_has_no_reading() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = place(folder.path());
        let mut subject = Subject { tier: WatchedTier::of(&place, None), ..Subject::default() };
        let mut probe = open(&mut subject).expect("opens").expect("there is a tier");
        assert_eq!(probe.read(None).expect("nobody listens"), []);
        let (tier, disk) = pool(folder.path());
        std::fs::create_dir(folder.path().join("tier")).expect("makes");
        let (stops, _none) = std::sync::mpsc::sync_channel(1);
        let subject = ControlSubject { tier: Arc::clone(&tier), disks: vec![disk], stops };
        let server = ControlServer::start(&folder.path().join(CONTROL_SOCKET), subject).expect("listens");
        probe.read(None).expect("the base of rates");
        let mut bytes = [0; 8192];
        // Ten misses, ten hits, five writes of which two meet a line.
        for block in (0..10).chain(0..10) {
            tier.read(0, block * 8192, &mut bytes).expect("reads");
        }
        for block in 8..13 {
            tier.write(0, block * 8192, &bytes).expect("writes");
        }
        tier.flush(0).expect("flushes");
        let second = Duration::from_millis(500);
        let readings = probe.read(Some(second)).expect("reads");
        let value = |series: &SeriesName| {
            let found = readings.iter().find(|reading| reading.name == series.name);
            found.unwrap_or_else(|| panic!("{} in {readings:?}", series.name)).value
        };
        assert_eq!([value(&tier::READS), value(&tier::READ_HITS)], [40.0, 20.0]);
        assert_eq!([value(&tier::WRITES), value(&tier::WRITE_HITS), value(&tier::WRITES_ABSORBED)], [10.0, 4.0, 10.0]);
        assert_eq!([value(&tier::PROMOTED), value(&tier::IN_USE)], [163_840.0, 13.0 * 8192.0]);
        assert_eq!(value(&tier::DISK_REQUESTS), 20.0);
        assert_eq!(value(&tier::CLEAN_DEPTH), 8.0);
        // Reads of one drive, one after the other: at work for about as long as they took.
        let (queue, response) = (value(&tier::DISK_QUEUE), value(&tier::DISK_RESPONSE));
        assert!((queue - 20.0 * response / 1e3).abs() < 1e-6 && response > 0.05, "{queue} {response}");
        assert!(value(&tier::DISK_BUSY) > 0.0 && value(&tier::DISK_LATE) > 0.0);
        // How late each was: the median of ten is at most twice their mean.
        let (half, most) = (value(&tier::DISK_LATE_P50), value(&tier::DISK_LATE_P99));
        assert!(half > 0.0 && half <= most, "{half} {most}");
        assert!(half <= 1.02 * 2.0 * 1e3 * value(&tier::DISK_LATE) / 20.0, "{half}: {readings:?}");
        assert!(value(&tier::DISK_OUTRUN) >= 0.0 && value(&tier::DISK_SYNCS) >= 0.0);
        // Reads and writes that the cache served, reads that waited for the drive, each with the end of a bucket.
        let latencies: Vec<(TimedRequests, f64)> = readings
            .iter()
            .filter(|reading| reading.name == tier::LATENCY.name)
            .map(|reading| (TimedRequests::parse(&reading.component).expect("a component"), reading.value))
            .collect();
        let rate = |class: RequestClass| {
            let of_class = latencies.iter().filter(|(of, _)| of.class == class && of.volume == TierVolume::Data);
            of_class.map(|(_, rate)| rate).sum::<f64>()
        };
        let rates = [RequestClass::Hit, RequestClass::Miss, RequestClass::Flush].map(rate);
        assert_eq!(rates, [30.0, 20.0, 2.0], "{latencies:?}");
        let mut misses = latencies.iter().filter(|(of, _)| of.class == RequestClass::Miss);
        assert!(misses.any(|(of, _)| of.up_to_ns > 50_000), "the drive took longer than that: {latencies:?}");
        drop(server);
        assert_eq!(probe.read(Some(second)).expect("closed again"), []);
    }
}
