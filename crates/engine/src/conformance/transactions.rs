//! Transactions take effect whole or not at all, and who must try again is told so.

use super::bench::{BUMP, Bench, INSERT, SELECT, count, fly, statement};
use super::checks::CheckResult;
use super::expect::{equal, holds, refused, refused_as};
use crate::contract::{Control, Error, ErrorClass, Flight, Session as _, StatementId, Value};

pub(super) async fn rollback(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let mut session = bench.prepared().await?;
    let before = count(&mut session).await?;
    let row = [Value::Null, Value::Integer(50), Value::Null, Value::Null, Value::Null];
    fly(&mut session, &[(INSERT, &row)], Control::Rollback).await?;
    equal("rows after a rollback", count(&mut session).await?, before)?;
    Ok(CheckResult::Kept)
}

pub(super) async fn error_in_a_flight(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let mut session = bench.prepared().await?;
    let before = count(&mut session).await?;
    let fresh = [Value::Null, Value::Integer(60), Value::Null, Value::Null, Value::Null];
    let twice = [Value::Null, Value::Integer(1), Value::Null, Value::Null, Value::Null];
    let calls: &[(StatementId, &[Value<'_>])] = &[(INSERT, &fresh), (INSERT, &twice)];
    let error = refused_as("a key that is taken", fly(&mut session, calls, Control::Commit).await, ErrorClass::Data)?;
    holds(error.to_string().contains("insert"), || format!("the statement is not named: {error}"))?;
    let mut flight = Flight::new();
    flight.control(Control::Commit);
    refused("the commit of a failed transaction by a later flight", session.fly(&mut flight).await)?;
    for _ in 0..2 {
        flight.clear();
        flight.control(Control::Rollback);
        // The second time nothing is open.
        session.fly(&mut flight).await?;
    }
    equal("rows after a failed flight", count(&mut session).await?, before)?;
    Ok(CheckResult::Kept)
}

/// Two sessions take two rows in opposite order: one must be told to try again.
pub(super) async fn conflict(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let (mut one, mut other) = (bench.prepared().await?, bench.prepared().await?);
    let bump = |flight: &mut Flight, id| flight.call(BUMP, &[Value::Integer(id), Value::Integer(1)]);
    let mut flights = [Flight::new(), Flight::new()];
    for (flight, id) in flights.iter_mut().zip([1, 3]) {
        flight.control(Control::Begin);
        bump(flight, id);
    }
    one.fly(&mut flights[0]).await?;
    let mut errors = Vec::new();
    match other.fly(&mut flights[1]).await {
        Err(error) => errors.push(error),
        Ok(()) => {
            for (flight, id) in flights.iter_mut().zip([3, 1]) {
                flight.clear();
                bump(flight, id);
            }
            let [first, second] = &mut flights;
            let (first, second) = tokio::join!(one.fly(first), other.fly(second));
            errors.extend(first.err().into_iter().chain(second.err()));
        }
    }
    for session in [&mut one, &mut other] {
        let mut flight = Flight::new();
        flight.control(Control::Rollback);
        session.fly(&mut flight).await?;
    }
    let told = !errors.is_empty() && errors.iter().all(Error::is_retryable);
    holds(told, || format!("of two transactions that wait for each other none was told to try again: {errors:?}"))?;
    Ok(CheckResult::Kept)
}

pub(super) async fn wrong_statements(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let mut session = bench.connect().await?;
    let wrong = [
        statement("no table", "SELECT a FROM absent", &[], 1),
        statement("unlisted parameter", "SELECT id FROM kept WHERE id = :id", &[], 1),
        statement("width", "SELECT id FROM kept", &[], 2),
    ];
    for statement in wrong {
        let name = statement.name.clone();
        let error = refused(&name, session.prepare(&[statement]).await)?.to_string();
        holds(error.contains(&name), || format!("the statement is not named: {error}"))?;
    }
    let mut flight = Flight::new();
    flight.call(StatementId(99), &[]);
    refused("a statement that was not prepared", session.fly(&mut flight).await)?;
    let mut session = bench.prepared().await?;
    flight.clear();
    flight.call(SELECT, &[]);
    let error = refused("a call without its parameter", session.fly(&mut flight).await)?.to_string();
    holds(error.contains("select"), || format!("the statement is not named: {error}"))?;
    refused("a wrong query", session.query("SELECT nonsense").await)?;
    let rows = count(&mut session).await?;
    holds(rows > 0, || "the session does not go on after errors".to_owned())?;
    Ok(CheckResult::Kept)
}
