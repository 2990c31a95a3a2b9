//! Waits by event, as an observer reads them of a real server that keeps them: totals that work moves. A server that does not keep them tells none.

mod support;

use proofload_engine::{Observation, Session as _, engine};
use support::{Place, Special};

/// The event of every row that is read or written.
const ROWS: &str = "wait/io/table/sql/handler";
/// The event of every lock of a table.
const LOCKS: &str = "wait/lock/table/sql/handler";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// The totals of a series, by event.
fn totals<'o>(seen: &'o [Observation], name: &str) -> Vec<(&'o str, f64)> {
    let of_name = seen.iter().filter(|one| one.reading.name == name);
    of_name
        .map(|one| {
            assert!(one.cumulative, "{one:?}");
            (one.reading.component.as_str(), one.reading.value)
        })
        .collect()
}

/// A total of an event.
fn total(seen: &[Observation], name: &str, event: &str) -> f64 {
    totals(seen, name).into_iter().find(|(known, _)| *known == event).map_or(0.0, |(_, value)| value)
}

/// What holds of a server; the error says why there is none here.
fn check(name: &str, kept: &str) -> Result<(), String> {
    let of_name = engine(name).expect("it is registered");
    let place = Place::new(of_name, &[("performance_schema", kept)], &Special::default())?;
    runtime().block_on(place.engine.create_database(&place.target)).expect("creates the database");
    let mut observer = place.engine.observer(&place.target).expect("an observer").expect("a server has one");
    let before = observer.observe().expect("observes");
    runtime().block_on(async {
        let mut session = place.connect().await;
        session.script("CREATE TABLE waited (n integer PRIMARY KEY)").await.expect("creates a table");
        for n in 0..20 {
            session.script(&format!("INSERT INTO waited VALUES ({n})")).await.expect("inserts a row");
        }
    });
    let after = observer.observe().expect("observes");
    if kept == "OFF" {
        assert!(totals(&after, "waits").is_empty() && totals(&after, "wait_time").is_empty());
        return Ok(());
    }
    for event in [ROWS, LOCKS] {
        assert!(
            totals(&before, "waits").iter().any(|(known, _)| *known == event),
            "{event} is told before its first wait"
        );
    }
    let counted = ["waits", "wait_time"].map(|series| (total(&before, series, ROWS), total(&after, series, ROWS)));
    assert!(counted[0].1 >= counted[0].0 + 20.0, "20 rows were written: {counted:?}");
    assert!(counted[1].1 > counted[1].0, "that took time: {counted:?}");
    for series in ["waits", "wait_time"] {
        for (event, value) in totals(&before, series) {
            assert!(event != "idle" && total(&after, series, event) >= value, "{series} of {event} falls");
        }
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn check_or_skip(name: &str, kept: &str) {
    if let Err(reason) = check(name, kept) {
        let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
        assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
        eprintln!("SKIPPED: {reason}");
    }
}

#[test]
fn mariadb_tells_waits_where_it_keeps_them() {
    check_or_skip("mariadb", "ON");
    check_or_skip("mariadb", "OFF");
}

#[test]
fn mysql_tells_waits_where_it_keeps_them() {
    check_or_skip("mysql", "ON");
    check_or_skip("mysql", "OFF");
}
