//! What the generator costs: nanoseconds per input, megabytes of rows per CPU second.
//!
//! `cargo bench -p proofload-gen`. Each figure is the median of several rounds of the calling
//! thread's CPU time, with the fastest and the slowest round beside it. The goal is 90 MB per
//! CPU second; row bytes are those of TPC-C clause 4.2.2, without overhead.

#![expect(clippy::print_stdout, reason = "a bench prints its result")]

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proofload_gen::Seed;
use proofload_gen::tprocc::inputs::{Homes, InputPlan, InputSettings, Mix, Transaction, Weights};
use proofload_gen::tprocc::population::{Chunk, ContentHash, Population, Row, RowStream, StreamVisitor, Timestamp};
use proofload_gen::tprocc::{CLoad, Constants, Profile, Scale};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(300);
const INPUTS: u64 = 100_000;
const SEED: Seed = Seed(42);

fn main() {
    println!("{ROUNDS} rounds each, median [fastest, slowest], by {}", clock_name());
    bench_rows();
    bench_inputs();
}

fn bench_rows() {
    for chunk in Chunk::all(1) {
        report_rate(chunk.name(), || draw(&[chunk], Draw::default()));
    }
    let warehouse: Vec<Chunk> = Chunk::all(1).skip(1).collect();
    report_rate("one warehouse", || draw(&warehouse, Draw::default()));
    let hashed = || Draw { hash: Some(ContentHash::default()), ..Draw::default() };
    report_rate("one warehouse, hashed", || draw(&warehouse, hashed()));
}

/// Draws every row and does as little as possible with it.
#[derive(Default)]
struct Draw {
    bytes: u64,
    hash: Option<ContentHash>,
}

impl StreamVisitor for Draw {
    type Error = Infallible;

    fn visit<S: RowStream>(&mut self, mut rows: S) -> Result<(), Infallible> {
        while let Some(row) = rows.next_row() {
            match &mut self.hash {
                Some(hash) => hash.add_row(row),
                None => drop(black_box(row)),
            }
            self.bytes += S::Row::TABLE.row_bytes();
        }
        Ok(())
    }
}

/// The bytes of the rows of `chunks`.
fn draw(chunks: &[Chunk], mut visitor: Draw) -> u64 {
    let population = Population {
        seed: SEED,
        profile: Profile::SPEC,
        scale: Scale::FULL,
        c_load: CLoad::draw(SEED, &Profile::SPEC),
        loaded_at: Timestamp(1_767_225_600_000_000),
    };
    for chunk in chunks {
        let Ok(()) = population.visit(*chunk, &mut visitor);
    }
    black_box(visitor.hash);
    visitor.bytes
}

fn bench_inputs() {
    report_inputs("deck of 23 cards", Mix::Deck);
    report_inputs("10/10/1/1/1 of 23", Mix::Draw);
    for transaction in Transaction::ALL {
        let weight = |of| u32::from(of == transaction);
        let weights = Weights {
            new_order: weight(Transaction::NewOrder),
            payment: weight(Transaction::Payment),
            order_status: weight(Transaction::OrderStatus),
            delivery: weight(Transaction::Delivery),
            stock_level: weight(Transaction::StockLevel),
        };
        report_inputs(transaction.name(), Mix::Weights(weights));
    }
}

fn report_inputs(what: &str, mix: Mix) {
    let plan = InputPlan::new(InputSettings {
        seed: SEED,
        profile: Profile::SPEC,
        scale: Scale::FULL,
        c_load: CLoad::draw(SEED, &Profile::SPEC),
        constants: Constants::for_run(SEED, CLoad::draw(SEED, &Profile::SPEC), &Scale::FULL, &Profile::SPEC),
        warehouses: 10,
        users: 4,
        mix,
        homes: Homes::Fixed,
    })
    .expect("the settings are sound");
    let rounds = rounds(|| {
        let mut inputs = plan.user(0);
        for _ in 0..INPUTS {
            black_box(inputs.next_input());
        }
        INPUTS
    });
    let [median, fastest, slowest] = rounds.map(|(count, time)| time.as_nanos() as f64 / count as f64);
    println!("{what:<24} {median:8.1} ns per input [{fastest:.1}, {slowest:.1}]");
}

fn report_rate(what: &str, work: impl FnMut() -> u64) {
    let [median, fastest, slowest] = rounds(work).map(|(bytes, time)| bytes as f64 / 1e6 / time.as_secs_f64());
    println!("{what:<24} {median:8.1} MB per CPU second [{fastest:.1}, {slowest:.1}]");
}

/// The median, fastest and slowest round: how much was done in which CPU time. A round repeats
/// the work until the system's count of CPU time, some milliseconds coarse, has moved far.
fn rounds(mut work: impl FnMut() -> u64) -> [(u64, Duration); 3] {
    black_box(work());
    let mut rounds: Vec<(Duration, u64)> = (0..ROUNDS)
        .map(|_| {
            let start = cpu_time();
            let mut done = 0;
            loop {
                done += work();
                let spent = cpu_time() - start;
                if spent >= ROUND {
                    break (spent, done);
                }
            }
        })
        .collect();
    rounds.sort_unstable_by_key(|(time, done)| time.as_nanos() * 1_000_000 / u128::from(*done));
    [ROUNDS / 2, 0, ROUNDS - 1].map(|place| (rounds[place].1, rounds[place].0))
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
