//! What the relay between two instances adds and takes: round trips through it beside what was asked, the rate of one stream without a
//! limit, and the CPU time of its threads.
//!
//! `cargo bench -p proofload-testbed --bench relay`, with `ONLY=trips` or `ONLY=stream` before it for one part. Both ends are Unix sockets
//! of this process. Percentiles stand beside their interval by order statistics, 95 %; `+` says that the largest trip ends it, so that it
//! has no upper end. The stream is the median of several rounds, with the least and the most. Wall times hold on a quiet machine only. Judges
//! nothing.

#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use proofload_model::time::{Clock, Moment, WallTime};
use proofload_testbed::BareRelay;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Round trips asked for, µs, and how many of each are measured.
const ASKED: [(u64, usize); 6] =
    [(0, 20_000), (200, 10_000), (1_000, 4_000), (5_000, 1_000), (20_000, 400), (100_000, 150)];

/// Round trips before the first that counts.
const WARM_UP: usize = 10;

/// What the relay may add where no delay is asked for. Source: the goals of this program, as the two below.
const ADDED_AT_MOST: Duration = Duration::from_micros(60);

/// How far the median may be off: a share of what was asked, and at least a time.
const OFF_AT_MOST: f64 = 0.05;
const OFF_FLOOR: Duration = Duration::from_micros(100);

/// Rate of a stream that is the goal, MB/s.
const STREAM_GOAL: f64 = 500.0;

const GIB: u64 = 1 << 30;
const ROUNDS: usize = 5;

/// Bytes that the ends of a stream write and read at once.
const AT_ONCE: usize = 1 << 20;

/// The machine's monotonic clock.
struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Moment {
        Moment(u64::try_from(self.0.elapsed().as_nanos()).expect("500 years have not gone by"))
    }

    fn wall(&self) -> WallTime {
        WallTime(1_767_225_600_000_000)
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Two ends, and what is between them.
struct Wire {
    near: UnixStream,
    far: UnixStream,
    relay: Option<BareRelay>,
    folder: Option<TempDir>,
}

impl Wire {
    /// One socket pair: what the ends themselves take.
    fn direct() -> Self {
        let (near, far) = UnixStream::pair().expect("a pair of sockets");
        Self { near, far, relay: None, folder: None }
    }

    fn relayed(rtt: Duration) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [at, to] = ["relay", "server"].map(|name| folder.path().join(name));
        let server = UnixListener::bind(&to).expect("a socket in the folder");
        let relay = BareRelay::start(&at, &to, rtt, Arc::new(RealClock(Instant::now()))).expect("the relay starts");
        let near = UnixStream::connect(&at).expect("the relay listens");
        let (far, _) = server.accept().expect("the relay leads to the server");
        Self { near, far, relay: Some(relay), folder: Some(folder) }
    }
}

fn main() {
    let only = std::env::var("ONLY").unwrap_or_default();
    assert!(matches!(only.as_str(), "" | "trips" | "stream"), "ONLY={only} is neither trips nor stream");
    if only != "stream" {
        report_trips();
    }
    if only != "trips" {
        report_stream();
    }
}

fn report_trips() {
    let direct = trips(Wire::direct(), ASKED[0].1);
    println!("round trips of one byte, ms: percentile [95 % interval]; off: median less what was asked");
    println!("   asked      n  p50                          p99                              off, µs  allowed");
    let of_ends = quantile(&direct, 0.5);
    row("direct", &direct, "");
    for (asked, count) in ASKED {
        let asked = Duration::from_micros(asked);
        let found = trips(Wire::relayed(asked), count);
        // Without a delay, the ends themselves are no part of what is added.
        let wanted = if asked.is_zero() { of_ends } else { asked };
        let off = (quantile(&found, 0.5).as_secs_f64() - wanted.as_secs_f64()) * 1e6;
        let allowed = if asked.is_zero() { ADDED_AT_MOST } else { asked.mul_f64(OFF_AT_MOST).max(OFF_FLOOR) };
        let allowed = allowed.as_secs_f64() * 1e6;
        let word = if off.abs() <= allowed { "within" } else { "beyond" };
        row(&milliseconds(asked), &found, &format!("{off:>9.1}  {allowed:.0}, {word}"));
    }
}

fn row(asked: &str, trips: &[Duration], rest: &str) {
    println!("{asked:>8} {:>6}  {:<28} {:<30} {rest}", trips.len(), percentile(trips, 0.5), percentile(trips, 0.99));
}

/// Times of so many round trips, sorted.
fn trips(wire: Wire, count: usize) -> Vec<Duration> {
    let Wire { mut near, mut far, relay, folder } = wire;
    let echo = std::thread::spawn(move || {
        let mut byte = [0];
        while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
    });
    let mut byte = [1];
    let mut trip = || {
        let sent = Instant::now();
        near.write_all(&byte).and_then(|()| near.read_exact(&mut byte)).expect("the byte comes back");
        sent.elapsed()
    };
    for _ in 0..WARM_UP {
        let _warm = trip();
    }
    let mut found: Vec<Duration> = (0..count).map(|_| trip()).collect();
    drop(near);
    drop(relay);
    echo.join().expect("the echo ends with its socket");
    drop(folder);
    found.sort_unstable();
    found
}

fn quantile(sorted: &[Duration], share: f64) -> Duration {
    sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)]
}

/// A percentile with its interval, whose ranks are those between which a share of so many falls in 95 of 100 cases.
fn percentile(sorted: &[Duration], share: f64) -> String {
    let count = sorted.len() as f64;
    let half = 1.96 * (count * share * (1.0 - share)).sqrt();
    let low = (share * count - half).floor().max(0.0) as usize;
    let high = (share * count + half).ceil() as usize;
    let open = if high >= sorted.len() { "+" } else { "" };
    let high = high.min(sorted.len() - 1);
    let [middle, low, high] = [quantile(sorted, share), sorted[low], sorted[high]].map(milliseconds);
    format!("{middle} [{low}, {high}{open}]")
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

fn report_stream() {
    let Wire { mut near, far, relay, folder } = Wire::relayed(Duration::ZERO);
    let relay = relay.expect("it has a relay");
    let mut far = Some(far);
    let mut rates = Vec::new();
    let mut costs = Vec::new();
    // The first round is the warm-up.
    for round in 0..=ROUNDS {
        let before = relay.cpu();
        let begun = Instant::now();
        let end = std::thread::scope(|scope| {
            let mut end = far.take().expect("it is given back");
            let sink = scope.spawn(move || {
                take(&mut end);
                end
            });
            give(&mut near);
            sink.join().expect("the sink ends")
        });
        far = Some(end);
        let (took, cpu) = (begun.elapsed(), relay.cpu().saturating_sub(before));
        if round > 0 {
            rates.push(GIB as f64 / 1e6 / took.as_secs_f64());
            costs.push(cpu.as_secs_f64());
        }
    }
    let [rate, cpu] = [rates, costs].map(middle_of);
    let word = if rate[1] >= STREAM_GOAL { "reached" } else { "missed" };
    println!("one stream of 1 GiB without a delay, n = {ROUNDS}: median [least, most]");
    println!("rate        {:8.0} [{:.0}, {:.0}] MB/s; goal {STREAM_GOAL:.0}, {word}", rate[1], rate[0], rate[2]);
    println!("CPU time    {:8.3} [{:.3}, {:.3}] s per GiB, all threads of the relay", cpu[1], cpu[0], cpu[2]);
    drop((near, far));
    drop(relay);
    drop(folder);
}

/// Writes 1 GiB and waits for the word that it has arrived.
fn give(near: &mut UnixStream) {
    let content = vec![0x5a; AT_ONCE];
    for _ in 0..GIB / AT_ONCE as u64 {
        near.write_all(&content).expect("the relay takes it");
    }
    near.read_exact(&mut [0]).expect("the word comes back");
}

/// Reads 1 GiB and says so.
fn take(far: &mut UnixStream) {
    let mut content = vec![0; AT_ONCE];
    let mut left = GIB as usize;
    while left > 0 {
        let count = far.read(&mut content[..AT_ONCE.min(left)]).expect("the relay gives it");
        assert!(count > 0, "the stream ended before its end");
        left -= count;
    }
    far.write_all(&[1]).expect("the relay takes the word");
}

/// The least, the median and the most.
fn middle_of(mut found: Vec<f64>) -> [f64; 3] {
    found.sort_unstable_by(f64::total_cmp);
    [found[0], found[found.len() / 2], found[found.len() - 1]]
}
