//! What a hit of 8 KiB over FUSE costs the server, beside a service that does nothing.
//!
//! `cargo bench -p proofload-tier --features fuse --bench fuse`. A figure is the CPU time of the server's threads per
//! request, by Linux's schedstat, the median of several rounds with the least and the most beside it; rounds of both
//! services alternate. The clients are threads of the same process, whose time does not count, and, where it is installed,
//! fio with 32 requests at once. Pool and origin are files
//! in `PROOFLOAD_TIER_FOLDER`, in the system's memory (`/dev/shm`) otherwise. The goal is 12 µs per hit.

#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proofload_tier::Error;
use proofload_tier::device::{Clock, FileDevice, PageCache};
use proofload_tier::export::{BlockService, FuseServer, FuseVolume, TierVolume};
use proofload_tier::layout::{Geometry, Identity};
use proofload_tier::machine::{CacheMode, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
use proofload_tier::policy::PolicyChoice;
use proofload_tier::tier::{FormatSettings, Tier, TierDevices};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(700);
const BLOCK: u64 = 8192;
const LINES: u32 = 16_384;
/// Blocks that are read and written: half of the lines.
const SET: u64 = 8_192;

struct RealTime(Instant);

impl Clock for RealTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, time: Duration) {
        std::thread::sleep(time.saturating_sub(self.now()));
    }
}

/// A service that counts requests.
struct CountingService {
    service: Arc<dyn BlockService>,
    requests: AtomicU64,
}

impl CountingService {
    fn new(service: Arc<dyn BlockService>) -> Arc<Self> {
        Arc::new(Self { service, requests: AtomicU64::new(0) })
    }

    fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }
}

impl BlockService for CountingService {
    fn bytes(&self) -> u64 {
        self.service.bytes()
    }

    fn reads_quickly(&self, at: u64, length: u64) -> bool {
        self.service.reads_quickly(at, length)
    }

    fn writes_quickly(&self, at: u64, length: u64) -> bool {
        self.service.writes_quickly(at, length)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Error> {
        self.count();
        self.service.read(at, into)
    }

    fn write(&self, at: u64, from: &[u8]) -> Result<(), Error> {
        self.count();
        self.service.write(at, from)
    }

    fn flush(&self) -> Result<(), Error> {
        self.service.flush()
    }

    fn discard(&self, at: u64, length: u64) -> Result<(), Error> {
        self.service.discard(at, length)
    }
}

/// A service that answers at once: what is left is FUSE itself.
struct NullService;

impl BlockService for NullService {
    fn bytes(&self) -> u64 {
        u64::from(LINES) * BLOCK
    }

    fn reads_quickly(&self, _at: u64, _length: u64) -> bool {
        true
    }

    fn writes_quickly(&self, _at: u64, _length: u64) -> bool {
        true
    }

    fn read(&self, _at: u64, _into: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }

    fn write(&self, _at: u64, _from: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn flush(&self) -> Result<(), Error> {
        Ok(())
    }

    fn discard(&self, _at: u64, _length: u64) -> Result<(), Error> {
        Ok(())
    }
}

fn main() {
    let folder = std::env::var_os("PROOFLOAD_TIER_FOLDER").map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
    let folder = tempfile::tempdir_in(folder).expect("a temporary folder");
    let mount = tempfile::tempdir().expect("a temporary folder");
    let volume = |name: &str, service| FuseVolume { name: name.to_owned(), service };
    let tier = warm_tier(folder.path());
    let counters = [
        CountingService::new(Arc::new(NullService)),
        CountingService::new(Arc::new(TierVolume::new(Arc::new(tier), 0))),
    ];
    let services = ["null", "tier"].into_iter().zip(&counters).map(|(name, service)| volume(name, service.clone()));
    let server = match FuseServer::start(mount.path(), services.collect()) {
        Ok(server) => server,
        Err(error) => return println!("SKIPPED: {error}"),
    };
    let open = |name| OpenOptions::new().read(true).write(true).open(server.folder().join(name)).expect("it is there");
    let (null, tier) = (open("null"), open("tier"));
    println!("{ROUNDS} rounds each, alternating: µs of server CPU per request of 8 KiB, median [least, most]");
    for clients in [1, 8] {
        for (what, write) in [("read", false), ("write", true)] {
            let mut rounds = [Vec::new(), Vec::new()];
            for _ in 0..ROUNDS {
                for (file, found) in [&null, &tier].into_iter().zip(&mut rounds) {
                    found.push(round(file, clients, write));
                }
            }
            for (name, found) in ["null", "hit"].into_iter().zip(&mut rounds) {
                report(&format!("{what}, {clients} clients, {name}"), found);
            }
        }
    }
    drop((null, tier));
    by_fio(server.folder(), &counters);
    drop(counters);
    server.stop().expect("nobody uses it");
}

/// Rounds by fio, which keeps 32 requests at the server.
fn by_fio(folder: &Path, counters: &[Arc<CountingService>; 2]) {
    for what in ["read", "write"] {
        let mut rounds = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for ((name, counter), found) in ["null", "tier"].into_iter().zip(counters).zip(&mut rounds) {
                match fio_round(&folder.join(name), counter, what) {
                    Some(round) => found.push(round),
                    None => return println!("SKIPPED: fio does not run"),
                }
            }
        }
        for (name, found) in ["null", "hit"].into_iter().zip(&mut rounds) {
            report(&format!("{what}, fio depth 32, {name}"), found);
        }
    }
}

fn fio_round(file: &Path, counter: &CountingService, what: &str) -> Option<(f64, f64)> {
    let requests = || counter.requests.load(Ordering::Relaxed);
    let (begin, cpu, before) = (Instant::now(), server_cpu(), requests());
    let mut fio = Command::new("fio");
    fio.arg(format!("--filename={}", file.display())).arg(format!("--rw=rand{what}"));
    fio.args(["--name=hit", "--bs=8k", "--size=64M", "--direct=1", "--ioengine=libaio", "--iodepth=32"]);
    fio.args(["--time_based", "--runtime=1", "--allow_file_create=0"]).stdout(Stdio::null()).stderr(Stdio::null());
    let done = fio.status().is_ok_and(|status| status.success());
    let count = (requests() - before) as f64;
    let per_request = |time: Duration| time.as_secs_f64() * 1e6 / count;
    (done && count > 0.0).then(|| (per_request(server_cpu() - cpu), per_request(begin.elapsed())))
}

fn warm_tier(folder: &Path) -> Tier {
    let file = |name: &str, bytes| {
        Arc::new(FileDevice::create(&folder.join(name), bytes, PageCache::Used).expect("the folder is empty"))
    };
    let geometry = Geometry::new(8192, LINES).expect("it fits");
    let origin = file("origin", u64::from(LINES) * BLOCK + 4096);
    let devices = TierDevices { cache: file("cache", geometry.bytes()), origins: vec![origin] };
    let settings = FormatSettings {
        line_bytes: 8192,
        most_lines: Some(LINES),
        journal_blocks: None,
        active_lines: None,
        cache: Identity([1; 16]),
        origins: vec![Identity([2; 16])],
    };
    Tier::format(&devices, &settings).expect("the devices fit");
    let settings = PoolSettings {
        policy: PolicyChoice::S3Fifo1,
        volumes: vec![VolumeSettings { class: VolumeClass::Data, mode: CacheMode::WriteBack, quota_lines: None }],
        cleaner: CleanerSettings::usual(),
        verify_every_read: false,
    };
    let tier = Tier::open(devices, settings, Arc::new(RealTime(Instant::now()))).expect("it was formatted");
    for block in 0..SET {
        tier.write(0, block * BLOCK, &[7; BLOCK as usize]).expect("the files work");
    }
    tier.flush(0).expect("the files work");
    tier
}

/// Requests of some clients over a time; CPU time of the server and time on the clock per request, µs.
fn round(file: &File, clients: u64, write: bool) -> (f64, f64) {
    let (begin, before) = (Instant::now(), server_cpu());
    let done: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|client| scope.spawn(move || requests(file, client, write))).collect();
        threads.into_iter().map(|thread| thread.join().expect("nothing fails")).sum()
    });
    let cpu = (server_cpu() - before).as_secs_f64() * 1e6 / done as f64;
    (cpu, begin.elapsed().as_secs_f64() * 1e6 * clients as f64 / done as f64)
}

fn requests(file: &File, client: u64, write: bool) -> u64 {
    let (begin, mut done, mut random) = (Instant::now(), 0, client + 1);
    let mut bytes = vec![7; BLOCK as usize];
    while begin.elapsed() < ROUND {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (random >> 33) % SET * BLOCK;
        match write {
            true => file.write_all_at(&bytes, at).expect("the server works"),
            false => file.read_exact_at(&mut bytes, at).expect("the server works"),
        }
        done += 1;
    }
    done
}

/// CPU time of all threads of the server, by their names.
fn server_cpu() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux tells it").flatten();
    let of_server = tasks.filter(|task| {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.starts_with("fuser-") || name.starts_with("fuse-slow")
    });
    let time = |path: PathBuf| std::fs::read_to_string(path).ok()?.split(' ').next()?.parse().ok();
    of_server.filter_map(|task| time(task.path().join("schedstat"))).map(Duration::from_nanos).sum()
}

fn report(what: &str, rounds: &mut [(f64, f64)]) {
    rounds.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let [least, median, most] = [0, ROUNDS / 2, ROUNDS - 1].map(|place| rounds[place].0);
    let mut times: Vec<f64> = rounds.iter().map(|round| round.1).collect();
    times.sort_unstable_by(f64::total_cmp);
    println!("{what:<24} {median:6.2} [{least:.2}, {most:.2}]; on the clock {:.1} µs a request", times[ROUNDS / 2]);
}
