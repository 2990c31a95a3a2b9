//! What the load generator itself adds to an open load, on the null engine: the largest rate that it keeps up with, and
//! the send lag at a share of that rate. For numbers in prose.
//!
//! `cargo bench -p proofload-load --bench pacing -- <workload> <seconds> [workload.setting=value …]`, such as `ycsb 10
//! workload.records=1000000 workload.virtual_users=64 workload.arrivals=poisson`. With `workload.rate` that rate alone
//! is run.

#![expect(clippy::print_stdout, reason = "a bench tells its numbers on standard output")]

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use proofload_load::LoadRole;
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{IntervalSample, LatencyClock};
use proofload_model::settings::{STANDARD, Settings};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::load::{Connect, LoadService as _, Open, Start, Stop};
use proofload_model::wire::{DataLocation, Event, LoadSpec};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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

/// What the command line asks for.
struct Asked {
    workload: String,
    seconds: u64,
    settings: Vec<(String, String)>,
}

fn asked() -> Asked {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let settings: Vec<String> = words.extract_if(.., |word| word.contains('=')).collect();
    let pairs = settings.iter().filter_map(|word| word.split_once('='));
    Asked {
        workload: words.first().cloned().unwrap_or_else(|| "ycsb".to_owned()),
        seconds: words.get(1).map_or(10, |word| word.parse().expect("the second word is a number of seconds")),
        settings: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    }
}

fn spec(asked: &Asked, rate: Option<f64>) -> LoadSpec {
    let workload = proofload_load::workload(&asked.workload).expect("there is such a workload");
    let rate = rate.map(|rate| ("workload.rate".to_owned(), rate.to_string()));
    let given: Vec<_> = asked.settings.iter().cloned().chain(rate).collect();
    let mut settings = Settings::default();
    for spec in workload.facts().settings.iter().chain(STANDARD) {
        let text = given.iter().rev().find(|(name, _)| name == spec.path).map(|(_, value)| value.as_str());
        if let Some(text) = text.or(spec.default) {
            settings.0.insert(spec.path.to_owned(), spec.kind.read_text(text).expect("the value is lawful"));
        }
    }
    let service = asked.settings.iter().find(|(name, _)| name == "service_time").cloned();
    let place = DataLocation {
        engine: "null".to_owned(),
        folder: String::new(),
        url: None,
        settings: service.into_iter().collect(),
        tier: None,
    };
    let load_time = WallTime(1_767_225_600_000_000);
    LoadSpec {
        workload: asked.workload.clone(),
        settings,
        place,
        endpoints: Vec::new(),
        data_seed: 1,
        input_seed: 2,
        load_time,
        part: LoadShare::default(),
    }
}

/// What a run showed, its first second left out.
struct Shown {
    per_second: f64,
    offered_per_second: f64,
    waiting: u64,
    /// CPU of all client threads, share of one core.
    cpu: f64,
    resident_bytes: u64,
    lag: Histogram<u64>,
}

fn run(spec: LoadSpec, seconds: u64) -> Shown {
    let clock = Arc::new(RealClock(Instant::now()));
    let kept: Arc<Mutex<Vec<IntervalSample>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let events = Arc::new(move |event: Event| match event {
        Event::Interval(sample) => keep.lock().expect("nobody panics").push(*sample),
        Event::LoadFailed { error } => println!("  FAILED: {error}"),
        _ => {}
    });
    let mut role = LoadRole::new(clock.clone(), events);
    role.open(Open { spec: Box::new(spec) }).expect("the role answers");
    role.connect(Connect {}).expect("the role answers");
    role.start(Start { at: clock.now() + Duration::from_millis(100) }).expect("it starts");
    clock.sleep(Duration::from_secs(seconds + 1) + Duration::from_millis(600));
    role.stop(Stop {}).expect("it stops");
    let kept = kept.lock().expect("nobody panics");
    let inside = &kept[1..=seconds as usize];
    let over = |sum: u64| sum as f64 / seconds as f64;
    let mut lag = Histogram::<u64>::new(3).expect("three digits");
    for part in inside.iter().flat_map(|second| &second.histograms).filter(|part| part.clock == LatencyClock::SendLag) {
        let part: Histogram<u64> = Deserializer::new().deserialize(&mut part.payload.as_slice()).expect("readable");
        lag.add(part).expect("it fits");
    }
    let counts = || inside.iter().flat_map(|second| &second.counts);
    let offered = || inside.iter().filter_map(|second| second.client.offered);
    Shown {
        per_second: over(counts().map(|counts| counts.done + counts.rolled_back).sum()),
        offered_per_second: over(offered().map(|offered| offered.due).sum()),
        waiting: offered().next_back().map_or(0, |offered| offered.waiting),
        cpu: over(inside.iter().flat_map(|second| &second.client.thread_cpu_ns).sum()) / 1e9,
        resident_bytes: inside.last().map_or(0, |second| second.client.resident_bytes),
        lag,
    }
}

fn tell(name: &str, shown: &Shown) {
    let lag = |share: f64| shown.lag.value_at_quantile(share) as f64 / 1e3;
    println!(
        "{name}: {:.0}/s done of {:.0}/s offered, {} waiting at the end, {:.1} % of a core, {:.1} MB resident",
        shown.per_second,
        shown.offered_per_second,
        shown.waiting,
        100.0 * shown.cpu,
        shown.resident_bytes as f64 / 1e6
    );
    if !shown.lag.is_empty() {
        println!(
            "  send lag of {} operations whose user was free: p50 {:.1}, p90 {:.1}, p99 {:.1}, p99.9 {:.1}, max {:.1} µs",
            shown.lag.len(),
            lag(0.5),
            lag(0.9),
            lag(0.99),
            lag(0.999),
            lag(1.0)
        );
    }
}

fn main() {
    let asked = asked();
    if asked.settings.iter().any(|(name, _)| name == "workload.rate" || name == "workload.pacing") {
        return tell("as asked", &run(spec(&asked, None), asked.seconds));
    }
    let saturated = run(spec(&asked, None), asked.seconds);
    tell("saturated", &saturated);
    // The largest rate of which 99 % is achieved, to 5 %.
    let (mut kept_up, mut too_much) = (0.0, saturated.per_second);
    while too_much - kept_up > 0.05 * too_much {
        let rate = ((kept_up + too_much) / 2.0f64).round();
        let shown = run(spec(&asked, Some(rate)), 2);
        tell(&format!("{rate}/s"), &shown);
        if shown.per_second >= 0.99 * shown.offered_per_second { kept_up = rate } else { too_much = rate }
    }
    println!("rated load: {kept_up}/s");
    for share in [0.8, 0.5, 0.1, 0.01] {
        let rate = (share * kept_up).round();
        tell(&format!("{} % of it, {rate}/s", 100.0 * share), &run(spec(&asked, Some(rate)), asked.seconds));
    }
}
