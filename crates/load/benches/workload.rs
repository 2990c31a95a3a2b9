//! Costs of a workload on one engine, the whole way through the load role: build, run, verification. For numbers in
//! prose.
//!
//! `cargo bench -p proofload-load --bench workload -- <workload> <engine> <seconds> [workload.setting=value …]
//! [setting=value …]`, such as `tprocc postgresql 10 workload.warehouses=2 workload.virtual_users=8
//! shared_buffers=1GiB` or `ycsb null 10 workload.records=300000000 workload.virtual_users=256`.

#![expect(clippy::print_stdout, reason = "a bench tells its numbers on standard output")]

use proofload_engine::engine;
use proofload_load::LoadRole;
use proofload_load::selftest::settings;
use proofload_model::load_share::LoadShare;
use proofload_model::samples::{Check, CheckOutcome};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::load::{Build, Connect, LoadService as _, Open, Start, Stop, Verify};
use proofload_model::wire::{Event, LoadSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

#[path = "../../engine/tests/support/mod.rs"]
mod support;

/// The machine's clocks.
struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Moment {
        Moment(u64::try_from(self.0.elapsed().as_nanos()).expect("500 years have not gone by"))
    }

    fn wall(&self) -> WallTime {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970");
        WallTime(i64::try_from(now.as_micros()).expect("it is before the year 290000"))
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// What the command line asks for.
struct Asked {
    workload: String,
    engine: String,
    seconds: u64,
    /// Settings of the workload by their whole path.
    workload_settings: Vec<(String, String)>,
    /// Settings of the engine.
    engine_settings: Vec<(String, String)>,
}

fn asked() -> Asked {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let settings: Vec<String> = words.extract_if(.., |word| word.contains('=')).collect();
    let pairs = settings
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let (workload_settings, engine_settings) = pairs.partition(|(name, _)| name.starts_with("workload."));
    let word = |place: usize, otherwise: &str| words.get(place).cloned().unwrap_or_else(|| otherwise.to_owned());
    Asked {
        workload: word(0, "tprocc"),
        engine: word(1, "null"),
        seconds: word(2, "10").parse().expect("the third word is a number of seconds"),
        workload_settings,
        engine_settings,
    }
}

fn spec(asked: &Asked, place: &support::Place) -> LoadSpec {
    let workload = proofload_load::workload(&asked.workload).expect("there is such a workload");
    let given = asked.workload_settings.iter();
    let given: Vec<_> = given.map(|(path, value)| (&path["workload.".len()..], value.as_str())).collect();
    let settings = settings(&workload.facts(), &asked.engine, &given).expect("the values are lawful");
    LoadSpec {
        workload: asked.workload.clone(),
        settings,
        place: place.target.place.clone(),
        endpoints: place.target.address().map(str::to_owned).into_iter().collect(),
        data_seed: 1,
        input_seed: 2,
        load_time: WallTime(1_767_225_600_000_000),
        part: LoadShare::default(),
    }
}

/// Asks and says how long it took.
fn timed<T>(name: &str, ask: impl FnOnce() -> Result<T, proofload_model::error::Error>) -> T {
    let start = Instant::now();
    let answer = ask().unwrap_or_else(|error| panic!("{name}: {error}"));
    println!("{name}: {:.3} s", start.elapsed().as_secs_f64());
    answer
}

fn report(checks: &[Check]) {
    for check in checks.iter().filter(|check| check.outcome != CheckOutcome::Met || check.group == "inputs") {
        println!("  {:?} {} / {}: {}", check.outcome, check.group, check.name, check.found);
    }
    let met = checks.iter().filter(|check| check.outcome == CheckOutcome::Met).count();
    println!("  {met} of {} checks are met", checks.len());
}

fn main() {
    let asked = asked();
    let of_name = engine(&asked.engine).expect("there is such an engine");
    let settings: Vec<(&str, &str)> =
        asked.engine_settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let place =
        support::Place::new(of_name, &settings, &support::Special { prefix: "proofload-bench-", ..Default::default() })
            .expect("the engine can be had");
    let clock = Arc::new(RealClock(Instant::now()));
    let said = Instant::now();
    let cpu_ns = Arc::new(AtomicU64::new(0));
    let cpu_of_clients = Arc::clone(&cpu_ns);
    let events = Arc::new(move |event: Event| match event {
        Event::Interval(second) => {
            cpu_of_clients.fetch_add(second.client.thread_cpu_ns.iter().sum(), Ordering::Relaxed);
        }
        Event::Progress { what, count } if count.is_none_or(|count| count.done == 0) => {
            println!("  {:9.3} s {what}", said.elapsed().as_secs_f64());
        }
        Event::LoadFailed { error } => println!("  FAILED: {error}"),
        _ => {}
    });
    let mut role = LoadRole::new(clock.clone(), events);
    timed("open", || role.open(Open { spec: Box::new(spec(&asked, &place)) }));
    let facts = timed("build", || role.build(Build {}));
    for fact in facts.iter().filter(|fact| fact.subject == "data") {
        println!("  {}: {}", fact.name, fact.effective.as_deref().unwrap_or("?"));
    }
    timed("connect", || role.connect(Connect {}));
    let at = clock.now() + Duration::from_millis(20);
    timed("start", || role.start(Start { at }));
    clock.sleep(Duration::from_secs(asked.seconds));
    let totals = timed("stop", || role.stop(Stop {})).totals;
    let done: u64 = totals.iter().map(|counts| counts.done + counts.rolled_back).sum();
    let cpu_us = cpu_ns.load(Ordering::Relaxed) as f64 / 1e3 / done.max(1) as f64;
    println!("  {done} operations, {cpu_us:.3} µs of the client threads' CPU each");
    for counts in &totals {
        let rate = (counts.done + counts.rolled_back) as f64 / asked.seconds as f64;
        println!(
            "  {}: {rate:.0}/s, {} rolled back, {} failed, {} retries",
            counts.kind, counts.rolled_back, counts.failed, counts.retries
        );
    }
    report(&timed("verify", || role.verify(Verify { totals })));
}
