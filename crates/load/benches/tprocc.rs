//! Costs of TPROC-C on one engine, the whole way through the load role: build, run, verification. For numbers in prose.
//!
//! `cargo bench -p proofload-load --bench tprocc -- <engine> <warehouses> <users> <seconds> [setting=value …]`

#![expect(clippy::print_stdout, reason = "a bench tells its numbers on standard output")]

use proofload_engine::engine;
use proofload_load::LoadRole;
use proofload_model::samples::{Check, CheckOutcome, Fact};
use proofload_model::settings::{Settings, Value};
use proofload_model::time::{Clock, Moment, WallTime};
use proofload_model::wire::{Event, LoadRequest, LoadSpec, Reply};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

#[path = "../../engine/tests/support/mod.rs"]
#[expect(dead_code, reason = "the conformance suite uses more of it")]
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
    engine: String,
    warehouses: i64,
    users: i64,
    seconds: u64,
    settings: Vec<(String, String)>,
}

fn asked() -> Asked {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let settings = words.extract_if(.., |word| word.contains('='));
    let settings =
        settings.filter_map(|word| Some((word.split_once('=')?.0.to_owned(), word.split_once('=')?.1.to_owned())));
    let settings = settings.collect();
    let number =
        |place: usize, otherwise: i64| words.get(place).and_then(|word| word.parse().ok()).unwrap_or(otherwise);
    Asked {
        engine: words.first().cloned().unwrap_or_else(|| "sqlite".to_owned()),
        warehouses: number(1, 1),
        users: number(2, 4),
        seconds: number(3, 10).unsigned_abs(),
        settings,
    }
}

fn spec(asked: &Asked, place: &support::Place) -> LoadSpec {
    let mut settings = Settings::default();
    for spec in proofload_load::WORKLOADS.iter().flat_map(|workload| workload.facts().settings) {
        if let Some(default) = spec.default {
            settings.0.insert(spec.path.to_owned(), spec.kind.read_text(default).expect("defaults are lawful"));
        }
    }
    settings.0.insert("workload.warehouses".to_owned(), Value::Integer(asked.warehouses));
    settings.0.insert("workload.virtual_users".to_owned(), Value::Integer(asked.users));
    LoadSpec {
        workload: "tprocc".to_owned(),
        settings,
        place: place.target.place.clone(),
        address: place.target.address.clone(),
        data_seed: 1,
        input_seed: 2,
        load_time: WallTime(1_767_225_600_000_000),
    }
}

/// Asks and says how long it took.
fn timed(role: &mut LoadRole, name: &str, request: LoadRequest) -> Reply {
    let start = Instant::now();
    let reply = role.handle(request).unwrap_or_else(|error| panic!("{name}: {error}"));
    println!("{name}: {:.3} s", start.elapsed().as_secs_f64());
    reply
}

fn fact<'f>(facts: &'f [Fact], name: &str) -> &'f str {
    facts.iter().find(|fact| fact.name == name).and_then(|fact| fact.effective.as_deref()).unwrap_or("?")
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
        asked.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
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
        Event::Progress { what, done: 0, .. } => println!("  {:9.3} s {what}", said.elapsed().as_secs_f64()),
        Event::LoadFailed { error } => println!("  FAILED: {error}"),
        _ => {}
    });
    let mut role = LoadRole::new(clock.clone(), events);
    timed(&mut role, "open", LoadRequest::Open { spec: Box::new(spec(&asked, &place)) });
    if let Reply::Built { facts } = timed(&mut role, "build", LoadRequest::Build) {
        println!("  {} rows, {} bytes", fact(&facts, "rows"), fact(&facts, "bytes"));
    }
    timed(&mut role, "connect", LoadRequest::Connect);
    timed(&mut role, "start", LoadRequest::Start { after: Duration::ZERO });
    clock.sleep(Duration::from_secs(asked.seconds));
    if let Reply::Stopped { totals, .. } = timed(&mut role, "stop", LoadRequest::Stop) {
        let done: u64 = totals.iter().map(|counts| counts.done + counts.rolled_back).sum();
        let cpu_ms = cpu_ns.load(Ordering::Relaxed) as f64 / 1e6 / done.max(1) as f64;
        println!("  {done} transactions, {cpu_ms:.4} ms of the client threads' CPU each");
        for counts in &totals {
            let rate = (counts.done + counts.rolled_back) as f64 / asked.seconds as f64;
            println!(
                "  {}: {rate:.0}/s, {} rolled back, {} failed, {} retries",
                counts.kind, counts.rolled_back, counts.failed, counts.retries
            );
        }
    }
    if let Reply::Checked(checks) = timed(&mut role, "verify", LoadRequest::Verify) {
        report(&checks);
    }
}
