//! What a hit, a miss, a write and a sample of the references cost in process, and how long a warm restart takes.
//!
//! `cargo bench -p proofload-tier`. Each figure is the median of several rounds of the calling thread's CPU time, with
//! the fastest and the slowest round beside it. The goals are 2 µs per hit of 8 KiB, 40 bytes of memory per line, and a
//! restart of 16 million lines in 10 s: `PROOFLOAD_TIER_LINES=16000000` measures that many, 1 million otherwise.

#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::hint::black_box;
use std::io;
use std::sync::{Arc, LazyLock, RwLock};
use std::time::{Duration, Instant};

use proofload_tier::device::{Device, FileDevice, MachineClock, PageCache};
use proofload_tier::forecast::SampleSettings;
use proofload_tier::layout::{Geometry, Identity};
use proofload_tier::machine::{CacheMode, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
use proofload_tier::policy::PolicyChoice;
use proofload_tier::tier::{FormatSettings, Tier, TierDevices};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(300);
const BLOCK: u64 = 8192;
const LINES: u32 = 16_384;

fn main() {
    println!("{ROUNDS} rounds each, median [fastest, slowest], by {}", clock_name());
    bench_requests();
    bench_restart();
}

fn clock() -> Arc<MachineClock> {
    Arc::new(MachineClock::new())
}

fn settings() -> PoolSettings {
    PoolSettings {
        policy: PolicyChoice::TinyLfu,
        volumes: vec![VolumeSettings { class: VolumeClass::Data, mode: CacheMode::WriteBack, quota_lines: None }],
        cleaner: CleanerSettings::usual(),
        verify_every_read: false,
    }
}

fn format(devices: &TierDevices, lines: u32) {
    let settings = FormatSettings {
        line_bytes: 8192,
        most_lines: Some(lines),
        journal_blocks: None,
        active_lines: None,
        cache: Identity([1; 16]),
        origins: vec![Identity([2; 16])],
    };
    Tier::format(devices, &settings).expect("the devices fit");
}

fn bench_requests() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let geometry = Geometry::new(8192, LINES).expect("it fits");
    let file = |name: &str, bytes| {
        let made = FileDevice::create(&folder.path().join(name), bytes, PageCache::Used);
        Arc::new(made.expect("the folder is empty"))
    };
    let origin_bytes = u64::from(LINES) * BLOCK + 4096;
    let devices = TierDevices { cache: file("cache", geometry.bytes()), origins: vec![file("origin", origin_bytes)] };
    let raw = devices.cache.clone();
    format(&devices, LINES);
    let tier = Tier::open(devices, settings(), clock()).expect("it was formatted");
    let set = u64::from(LINES) / 2;
    let mut bytes = vec![7; 8192];
    for block in 0..set {
        tier.write(0, block * BLOCK, &bytes).expect("the files work");
    }
    tier.flush(0).expect("the files work");
    let mut random = 1_u64;
    let mut next = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % set * BLOCK
    };
    report("file alone, read of 8 KiB", || raw.read_at(next(), black_box(&mut bytes)).expect("the files work"));
    report("file alone, write of 8 KiB", || {
        raw.write_at(geometry.byte_of_line(0) + next(), black_box(&bytes)).expect("the files work")
    });
    report("hit, read of 8 KiB", || tier.read(0, next(), black_box(&mut bytes)).expect("the files work"));
    report("hit, read of 4 KiB", || tier.read(0, next(), black_box(&mut bytes[..4096])).expect("the files work"));
    report("hit, write of 8 KiB", || tier.write(0, next(), black_box(&bytes)).expect("the files work"));
    report("hit, write of 512 B", || tier.write(0, next(), black_box(&bytes[..512])).expect("the files work"));
    for (what, rate) in [("hit, a tenth of blocks sampled", 0.1), ("hit, all blocks sampled", 1.0)] {
        tier.sample(SampleSettings { rate, data_lines: u64::from(LINES) });
        report(what, || tier.read(0, next(), black_box(&mut bytes)).expect("the files work"));
    }
}

/// A device that keeps its first bytes and its label, and elsewhere reads zeros and forgets.
struct HollowDevice {
    bytes: u64,
    kept: RwLock<Vec<u8>>,
    label: RwLock<Vec<u8>>,
}

impl HollowDevice {
    fn new(bytes: u64, kept: u64) -> Arc<Self> {
        Arc::new(Self { bytes, kept: RwLock::new(vec![0; kept as usize]), label: RwLock::new(vec![0; 4096]) })
    }
}

impl Device for HollowDevice {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let kept = self.kept.read().expect("nobody panics");
        let (at, label) = (at as usize, (self.bytes - 4096) as usize);
        if at + into.len() <= kept.len() {
            into.copy_from_slice(&kept[at..at + into.len()]);
        } else if at == label {
            into.copy_from_slice(&self.label.read().expect("nobody panics"));
        } else {
            into.fill(0);
        }
        Ok(())
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        let mut kept = self.kept.write().expect("nobody panics");
        let (at, label) = (at as usize, (self.bytes - 4096) as usize);
        if at + from.len() <= kept.len() {
            kept[at..at + from.len()].copy_from_slice(from);
        } else if at == label {
            self.label.write().expect("nobody panics").copy_from_slice(from);
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn bench_restart() {
    let asked = std::env::var("PROOFLOAD_TIER_LINES").ok().and_then(|text| text.parse().ok());
    let lines: u32 = asked.unwrap_or(1_000_000);
    let geometry = Geometry::new(8192, lines).expect("it fits");
    let devices = TierDevices {
        cache: HollowDevice::new(geometry.bytes(), geometry.byte_of_line(0)),
        origins: vec![HollowDevice::new(u64::from(lines) * BLOCK + 4096, 0)],
    };
    format(&devices, lines);
    let tier = Tier::open(devices.clone(), settings(), clock()).expect("it was formatted");
    let mut bytes = vec![0; 1 << 20];
    let begin = cpu_time();
    for at in (0..u64::from(lines) * 95 / 100 * BLOCK).step_by(1 << 20) {
        let length = bytes.len().min((u64::from(lines) * BLOCK - at) as usize);
        tier.read(0, at, &mut bytes[..length]).expect("nothing fails");
        if at % (1 << 30) == 0 {
            tier.tend().expect("nothing fails");
        }
    }
    let warm = tier.lines_of(0).0;
    println!("miss with promotion          {:8.0} ns each", (cpu_time() - begin).as_nanos() as f64 / f64::from(warm));
    tier.close().expect("nothing fails");
    let begin = Instant::now();
    let tier = Tier::open(devices, settings(), clock()).expect("it was closed");
    let passed = begin.elapsed();
    assert_eq!(tier.lines_of(0).0, warm, "the restart is warm");
    println!("restart of {lines} lines, {warm} of them warm: {:.2} s on the clock", passed.as_secs_f64());
    let by_count = tier.status().memory_bytes as f64 / f64::from(lines);
    println!("memory: {by_count:.1} bytes per line");
}

/// Prints nanoseconds per call.
fn report(what: &str, mut work: impl FnMut()) {
    const BATCH: u64 = 2_000;
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let (start, mut done) = (cpu_time(), 0);
            loop {
                (0..BATCH).for_each(|_| work());
                done += BATCH;
                let spent = cpu_time() - start;
                if spent >= ROUND {
                    break spent.as_nanos() as f64 / done as f64;
                }
            }
        })
        .collect();
    rounds.sort_unstable_by(f64::total_cmp);
    let [fastest, median, slowest] = [0, ROUNDS / 2, ROUNDS - 1].map(|place| rounds[place]);
    println!("{what:<28} {median:8.0} ns [{fastest:.0}, {slowest:.0}]");
}

/// CPU time of this thread; where the system does not tell it, time that has passed.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    scheduled_time().unwrap_or_else(|| START.elapsed())
}

fn clock_name() -> &'static str {
    if scheduled_time().is_some() { "CPU time" } else { "the clock on the wall" }
}

/// The first number of Linux's schedstat: nanoseconds on a core.
fn scheduled_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
