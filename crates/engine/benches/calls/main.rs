//! What a call costs its client by TDS and by PostgreSQL's protocol: CPU nanoseconds of the client thread per prepared call with three
//! parameters that returns one row of two columns. Each server is a thread that answers every call with the same bytes, over loopback.
//!
//! Run: `cargo bench -p proofload-engine --bench calls`; `ROUNDS=20` before it for more than 16 rounds, `CALLS=50000` for more than 10,000
//! calls in each of the four parts of a round. Both sessions live in one thread, and a round is PostgreSQL, TDS, TDS, PostgreSQL, so that
//! what drifts meets both. Prints one line per figure; judges nothing.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod postgresql_server;
mod ratio;
mod tds_replay;
#[path = "../../tests/support/tds_server/mod.rs"]
mod tds_server;

use proofload_engine::{AnySession, Flight, Session as _, Statement, StatementId, Target, Value, engine};
use proofload_model::secret::Secret;
use proofload_model::wire::DataLocation;

/// Rounds unless `ROUNDS` asks for more, and the fewest that are measured.
const ROUNDS: usize = 16;
const FEWEST_ROUNDS: usize = 12;
/// Calls in each part of a round unless `CALLS` asks for others.
const CALLS: u32 = 10_000;
/// What every row holds.
const NUMBER: i32 = 4_711;
const TEXT: &str = "abcdefghijklmnopqrstuvwx";

fn main() {
    let rounds = asked("ROUNDS").map_or(ROUNDS, |rounds| rounds as usize);
    assert!(rounds >= FEWEST_ROUNDS, "ROUNDS={rounds} is below {FEWEST_ROUNDS}: too few for an interval");
    let calls = asked("CALLS").unwrap_or(CALLS).max(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let pairs = runtime.block_on(measure(rounds, calls));
    let count = rounds * 2 * calls as usize;
    for (name, all) in [
        ("postgresql", pairs.iter().map(|pair| pair.postgresql).collect::<Vec<f64>>()),
        ("sqlserver", pairs.iter().map(|pair| pair.tds).collect()),
    ] {
        let (low, high) = (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
        let median = ratio::median(&all);
        let range = format!("{low:.0} to {high:.0}");
        println!("{name}: {median:.0} ns client CPU per call, median of {rounds} rounds ({range}), {count} calls");
    }
    let ratio = ratio::of_pairs(pairs.iter().map(|pair| (pair.tds, pair.postgresql)));
    println!("sqlserver / postgresql: {ratio}, geometric mean of {rounds} rounds and its 95 % interval");
}

/// A number of the environment.
fn asked(name: &str) -> Option<u32> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// CPU nanoseconds per call in one round.
struct RoundCosts {
    postgresql: f64,
    tds: f64,
}

async fn measure(rounds: usize, calls: u32) -> Vec<RoundCosts> {
    let mut postgresql = connect("postgresql", postgresql_server::start(NUMBER, TEXT)).await;
    let mut tds = connect("sqlserver", tds_replay::start(NUMBER, TEXT)).await;
    for session in [&mut postgresql, &mut tds] {
        check(session).await;
        cost(session, calls.min(CALLS)).await;
    }
    let mut pairs = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let mut round = RoundCosts { postgresql: 0.0, tds: 0.0 };
        round.postgresql += cost(&mut postgresql, calls).await / 2.0;
        round.tds += cost(&mut tds, calls).await / 2.0;
        round.tds += cost(&mut tds, calls).await / 2.0;
        round.postgresql += cost(&mut postgresql, calls).await / 2.0;
        pairs.push(round);
    }
    pairs
}

async fn connect(name: &str, url: String) -> AnySession {
    let place = DataLocation {
        engine: name.to_owned(),
        folder: String::new(),
        url: Some(url),
        settings: Vec::new(),
        tier: None,
    };
    let mut target = Target::new(place, None);
    target.endpoints = target.endpoints.with_password(Some(Secret::of(b"s3cret")));
    let mut session = engine(name).expect("it is registered").connect(&target).await.expect("connects");
    let statement = Statement {
        name: "line".to_owned(),
        sql: "SELECT ol_i_id, ol_dist_info FROM order_line WHERE ol_o_id = :o AND ol_number = :n AND ol_k = :k"
            .to_owned(),
        parameters: ["o", "n", "k"].map(str::to_owned).to_vec(),
        columns: 2,
    };
    session.prepare(&[statement]).await.expect("prepares");
    session
}

/// Calls `index` of the statement. The types of its parameters are the same in every call, so that TDS prepares it once.
async fn call(session: &mut AnySession, flight: &mut Flight, index: u32) {
    flight.clear();
    let parameters = [
        Value::Integer(i64::from(index * 37 % 50_000)),
        Value::Integer(i64::from(index % 10)),
        Value::Text("ordinary"),
    ];
    flight.call(StatementId(0), &parameters);
    session.fly(flight).await.expect("flies");
    assert_eq!(flight.rows(0), 1);
}

/// Checks that what is measured is read: the row, in the first call, in the second, and in those that follow.
async fn check(session: &mut AnySession) {
    let mut flight = Flight::new();
    for index in 0..5 {
        call(session, &mut flight, index).await;
        let row = flight.row(0, 0).expect("one row");
        assert_eq!((row.value(0), row.value(1)), (Value::Integer(NUMBER.into()), Value::Text(TEXT)));
    }
}

/// CPU nanoseconds of this thread per call.
async fn cost(session: &mut AnySession, calls: u32) -> f64 {
    let mut flight = Flight::new();
    let before = thread_cpu_ns();
    for index in 0..calls {
        call(session, &mut flight, index).await;
    }
    (thread_cpu_ns() - before) / f64::from(calls)
}

/// Nanoseconds that this thread has run, user and system: the first field of its `schedstat`.
fn thread_cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux keeps it");
    text.split(' ').next().and_then(|field| field.parse().ok()).expect("a number")
}
