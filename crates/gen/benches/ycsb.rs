//! What the key-value workload costs before anything is sent: CPU nanoseconds per operation.
//!
//! `cargo bench -p proofload-gen --bench ycsb`. Each figure is the median of several rounds of the calling thread's
//! CPU time, with the fastest and the slowest round beside it. The goal is 300 ns for operation, key, values and the
//! record of a response time together, on workload A.

#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proofload_gen::Seed;
use proofload_gen::ycsb::{
    Compatibility, InsertOrder, KeyChoice, Keys, Kind, LengthChoice, Mix, Plan, ScanLengths, Settings, Shape, Shares,
    Values,
};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(200);
const OPERATIONS: u64 = 100_000;
const RECORDS: u64 = 300_000_000;

fn main() {
    println!("{ROUNDS} rounds each, median [fastest, slowest], {RECORDS} records, by {}", clock_name());
    bench_start();
    bench_choices();
    bench_parts();
    bench_whole();
}

fn settings(letter: char) -> Settings {
    Settings {
        data_seed: Seed(42),
        input_seed: Seed(42),
        records: RECORDS,
        expected_operations: 2_000_000_000,
        mix: Mix::preset(letter).expect("a preset"),
        shape: Shape { fields: 10, length: 100, lengths: LengthChoice::Constant, least_length: 100 },
        key_choice: KeyChoice::preset(letter).expect("a preset"),
        compatibility: Compatibility::Exact,
        insert_order: InsertOrder::Hashed,
        zero_padding: 1,
        read_all_fields: true,
        write_all_fields: false,
        scan_lengths: ScanLengths { least: 1, most: 100, choice: LengthChoice::Uniform },
    }
}

fn plan(settings: Settings) -> Plan {
    Plan::new(settings).expect("the settings are sound")
}

fn bench_start() {
    report("plan of workload A", 1, || _ = black_box(plan(black_box(settings('a')))));
}

fn bench_choices() {
    let theta = 0.99;
    let choices = [
        ("uniform", KeyChoice::Uniform),
        ("zipfian 0.5", KeyChoice::Zipfian { theta: 0.5 }),
        ("zipfian 0.99", KeyChoice::Zipfian { theta }),
        ("zipfian 1.2", KeyChoice::Zipfian { theta: 1.2 }),
        ("latest", KeyChoice::Latest { theta }),
        ("hotspot", KeyChoice::Hotspot { set: 0.2, operations: 0.8 }),
        ("exponential", KeyChoice::Exponential { percentile: 95.0, share: 0.857_142_857_1 }),
        ("sequential", KeyChoice::Sequential),
    ];
    for (name, key_choice) in choices {
        report_operations(&format!("operation, {name}"), Settings { key_choice, ..settings('c') });
    }
    let ycsb = Settings { compatibility: Compatibility::Ycsb, ..settings('c') };
    report_operations("operation, zipfian of ycsb", ycsb);
    report_operations("operation, latest of ycsb", Settings { key_choice: KeyChoice::Latest { theta }, ..ycsb });
    for kind in Kind::ALL {
        let share = |of| f64::from(u8::from(of == kind));
        let shares = Shares {
            read: share(Kind::Read),
            update: share(Kind::Update),
            insert: share(Kind::Insert),
            scan: share(Kind::Scan),
            read_modify_write: share(Kind::ReadModifyWrite),
        };
        let mix = Mix::new(&shares).expect("one share of one");
        report_operations(&format!("operation, {}", kind.name()), Settings { mix, ..settings('a') });
    }
    report_operations("operation, workload D", settings('d'));
}

fn report_operations(what: &str, settings: Settings) {
    let plan = plan(settings);
    let mut keyspace = plan.keyspace();
    let mut index = 0;
    report(what, OPERATIONS, || {
        for _ in 0..OPERATIONS {
            keyspace.set(plan.readable_after(index));
            black_box(plan.operation(index, &keyspace));
            index += 1;
        }
    });
}

fn bench_parts() {
    let plan = plan(settings('a'));
    report_keys("key", plan.keys());
    let ycsb = Settings { compatibility: Compatibility::Ycsb, ..settings('a') };
    report_keys("key of ycsb", Plan::new(ycsb).expect("the settings are sound").keys());
    let (values, mut value) = (plan.values(), [0; 100]);
    report("value of 100 characters", OPERATIONS, || {
        (0..OPERATIONS).for_each(|record| write(&values, record, 3, &mut value));
    });
    values.fill(7, 3, 9, &mut value);
    report("check of 100 characters", OPERATIONS, || {
        (0..OPERATIONS).for_each(|_| _ = black_box(values.check(7, 3, black_box(&value))));
    });
    let mut histogram = Histogram::new();
    report("record of a response time", OPERATIONS, || {
        (0..OPERATIONS).for_each(|nanoseconds| histogram.record(black_box(nanoseconds * 1_000)));
    });
}

fn report_keys(what: &str, keys: Keys) {
    let mut key = String::with_capacity(Keys::MOST_CHARACTERS);
    report(what, OPERATIONS, || {
        for record in 0..OPERATIONS {
            keys.write(record, &mut key);
            black_box(&key);
        }
    });
}

fn write(values: &Values, record: u64, field: u16, value: &mut [u8]) {
    values.fill(record, field, record + 1, value);
    black_box(value);
}

/// Operation, key, the value of an update and the record of a response time.
fn bench_whole() {
    for (what, compatibility) in
        [("workload A, whole", Compatibility::Exact), ("workload A of ycsb, whole", Compatibility::Ycsb)]
    {
        let plan = plan(Settings { compatibility, ..settings('a') });
        let (keys, values, keyspace) = (plan.keys(), plan.values(), plan.keyspace());
        let (mut key, mut value) = (String::with_capacity(Keys::MOST_CHARACTERS), [0; 100]);
        let mut histogram = Histogram::new();
        let mut index = 0;
        report(what, OPERATIONS, || {
            for _ in 0..OPERATIONS {
                let operation = plan.operation(index, &keyspace);
                keys.write(operation.record, &mut key);
                black_box(&key);
                if let Some(field) = operation.field {
                    write(&values, operation.record, field, &mut value);
                }
                histogram.record(black_box(index & 0xfffff));
                index += 1;
            }
        });
        black_box(histogram);
    }
}

/// Stands for the histogram that the load generator keeps: one count per power of two and 1,024 parts of it.
struct Histogram {
    counts: Vec<u64>,
}

impl Histogram {
    fn new() -> Self {
        Self { counts: vec![0; 64 << 10] }
    }

    fn record(&mut self, nanoseconds: u64) {
        let magnitude = (nanoseconds | 1_023).ilog2() - 9;
        let part = (nanoseconds >> (magnitude - 1)) & 2_047;
        self.counts[((u64::from(magnitude) << 10) + part) as usize] += 1;
    }
}

/// Prints nanoseconds per operation of `work`, which does `operations` of them.
fn report(what: &str, operations: u64, mut work: impl FnMut()) {
    work();
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| round(operations, &mut work)).collect();
    rounds.sort_unstable_by(f64::total_cmp);
    let [fastest, median, slowest] = [0, ROUNDS / 2, ROUNDS - 1].map(|place| rounds[place]);
    println!("{what:<28} {median:8.1} ns [{fastest:.1}, {slowest:.1}]");
}

/// Repeats the work until the system's count of CPU time, some milliseconds coarse, has moved far.
fn round(operations: u64, work: &mut impl FnMut()) -> f64 {
    let (start, mut done) = (cpu_time(), 0);
    loop {
        let batch = ROUND.as_micros() as u64 / operations + 1;
        (0..batch.min(1_000)).for_each(|_| work());
        done += batch.min(1_000) * operations;
        let spent = cpu_time() - start;
        if spent >= ROUND {
            return spent.as_nanos() as f64 / done as f64;
        }
    }
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
