//! Sessions of MariaDB and MySQL on a real server: what they are told at first, and statements that are sent together.

use super::statement;
use super::support::Place;
use proofload_engine::{AnySession, Control, Flight, OwnedValue, Session as _, StatementId, Value};
use proofload_model::samples::Fact;

/// What each session is told at first gives way to what a study asks for, at a local instance as well.
pub(super) async fn check_what_sessions_are_told(place: &Place) {
    let wait = "SELECT CAST(@@lock_wait_timeout AS SIGNED)";
    let seconds = |rows: &[Vec<OwnedValue>]| rows[0][0].as_value().integer();
    let mut session = place.connect().await;
    assert_eq!(seconds(&session.query(wait).await.expect("reads")), Some(10));
    let mut target = place.target.clone();
    for (name, value) in [("transaction_isolation", "SERIALIZABLE"), ("lock_wait_timeout", "86400")] {
        target.place.settings.push((name.to_owned(), value.to_owned()));
    }
    let mut session = place.engine.connect(&target).await.expect("connects");
    assert_eq!(seconds(&session.query(wait).await.expect("reads")), Some(86_400));
    let facts = place.engine.verify_settings(&target).await.expect("reads settings");
    let level = facts.iter().find(|fact: &&Fact| fact.name == "transaction_isolation").expect("it was asked for");
    assert_eq!((level.effective.as_deref(), level.holds), (Some("SERIALIZABLE"), Some(true)), "{level:?}");
    assert_eq!(proofload_model::facts::engine::ISOLATION.text(&facts), Some("SERIALIZABLE"));
    target.place.settings.push(("query_cache_type".to_owned(), "ON".to_owned()));
    let error = place.engine.connect(&target).await.expect_err("it would not be measured").to_string();
    assert!(error.contains("query_cache_type"), "{error}");
}

/// Statements that are sent together have one answer in a transaction, and are refused outside of one.
pub(super) async fn check_several_statements(session: &mut AnySession) {
    let both = "INSERT INTO noted VALUES (:n); SELECT n, ';' FROM noted WHERE n = :n -- not ; here\n; DELETE FROM noted WHERE n = :n;";
    session.prepare(&[statement(both, &["n"], 2)]).await.expect("prepares");
    let mut flight = Flight::new();
    flight.call(StatementId(0), &[Value::Integer(77)]);
    let error = session.fly(&mut flight).await.expect_err("others would see what is between").to_string();
    assert!(error.contains("in a transaction only"), "{error}");
    flight.clear();
    flight.control(Control::Begin);
    let first = flight.call(StatementId(0), &[Value::Integer(77)]);
    let second = flight.call(StatementId(0), &[Value::Integer(78)]);
    flight.control(Control::Commit);
    session.fly(&mut flight).await.expect("runs");
    for (call, n) in [(first, 77), (second, 78)] {
        assert_eq!((flight.rows(call), flight.row(call, 0).expect("a row").value(0)), (1, Value::Integer(n)));
    }
    flight.clear();
    flight.control(Control::Begin);
    flight.call(StatementId(0), &[Value::Integer(77)]);
    flight.call(StatementId(0), &[Value::Integer(10)]);
    flight.control(Control::Commit);
    let error = session.fly(&mut flight).await.expect_err("its first statement fails");
    assert_eq!(error.code(), "1062", "{error}");
}
