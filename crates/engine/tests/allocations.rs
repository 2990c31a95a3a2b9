//! A flight allocates nothing of ours once its memory has grown. A binary of its own, because the allocator counts a process.

mod support;

use proofload_engine::{AnySession, Control, ENGINES, Flight, Session, Statement, StatementId, Value};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use support::{Place, Special};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Flights counted together.
const FLIGHTS: usize = 50;
/// Counts, of which the least tells: another thread allocates now and then, as the test harness does once a test has run for a minute.
const COUNTS: i64 = 4;

#[test]
fn a_flight_allocates_nothing_of_ours() {
    for engine in ENGINES.iter().filter(|engine| engine.facts().capabilities.sql) {
        let name = engine.facts().name;
        let place = match Place::new(*engine, &[], &Special::default()) {
            Ok(place) => place,
            Err(reason) => {
                eprintln!("SKIPPED: {name}: {reason}");
                continue;
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let per_flight = runtime.block_on(count(&place));
        eprintln!("{name}: {per_flight} allocations per flight of 4 calls");
        assert_eq!(per_flight, 0, "{name}");
    }
}

async fn count(place: &Place) -> usize {
    place.engine.create_database(&place.target).await.expect("creates the database");
    let mut session = place.connect().await;
    session.script("CREATE TABLE t (id integer NOT NULL PRIMARY KEY, name text)").await.expect("creates a table");
    let statement = |sql: &str, parameters: &[&str], columns| Statement {
        name: "statement".to_owned(),
        sql: sql.to_owned(),
        parameters: parameters.iter().map(|name| (*name).to_owned()).collect(),
        columns,
    };
    let statements = [
        statement("INSERT INTO t VALUES (:id, :name)", &["id", "name"], 0),
        statement("SELECT id, name FROM t WHERE id <= :id", &["id"], 2),
    ];
    session.prepare(&statements).await.expect("prepares");
    let mut flight = Flight::new();
    for id in 0..20 {
        fly(&mut session, &mut flight, id).await;
    }
    let (mut least, flights) = (usize::MAX, FLIGHTS as i64);
    for number in 0..COUNTS {
        let first = 20 + number * flights;
        let region = Region::new(ALLOCATOR);
        for id in first..first + flights {
            fly(&mut session, &mut flight, id).await;
        }
        let change = region.change();
        least = least.min((change.allocations + change.reallocations).div_ceil(FLIGHTS));
    }
    least
}

async fn fly(session: &mut AnySession, flight: &mut Flight, id: i64) {
    flight.clear();
    flight.control(Control::Begin);
    flight.call(StatementId(0), &[Value::Integer(id), Value::Text("some text that is kept")]);
    let read = flight.call(StatementId(1), &[Value::Integer(4)]);
    flight.control(Control::Commit);
    session.fly(flight).await.expect("flies");
    assert!(flight.rows(read) >= 1);
}
