//! Values go in and come back as they were, in flights of any size, lists included.

use super::bench::{BUMP, Bench, INSERT, SELECT, UPDATE, cents, fly, statement};
use super::checks::CheckResult;
use super::expect::{equal, refused_as, some};
use crate::contract::{Control, Error, ErrorClass, Flight, Session as _, StatementId, Value};
use crate::engines::AnySession;

pub(super) async fn round_trip(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    bench.make_tables().await?;
    let mut session = bench.prepared().await?;
    let first = [
        Value::Text("äöü ' \" :id 漢"),
        Value::Integer(1),
        Value::Integer(i64::MAX),
        cents(-123_456),
        Value::Time(1_700_000_000_123_456),
    ];
    let second = [Value::Null, Value::Integer(2), Value::Null, Value::Null, Value::Null];
    let third = [Value::Text(""), Value::Integer(3), Value::Integer(i64::MIN), cents(0), Value::Time(-1)];
    fly(&mut session, &[(INSERT, &first), (INSERT, &second), (INSERT, &third)], Control::Commit).await?;
    let mut flight = Flight::new();
    for _ in 0..2 {
        read_back(&mut session, &mut flight).await?;
    }
    let calls: &[(StatementId, &[Value<'_>])] = &[
        (BUMP, &[Value::Integer(1), Value::Integer(-7)]),
        (UPDATE, &[Value::Integer(0), Value::Integer(1)]),
        (UPDATE, &[Value::Integer(2), Value::Integer(0)]),
    ];
    let flight = fly(&mut session, calls, Control::Commit).await?;
    let returned = some("the row of a returning update", flight.row(1, 0))?;
    equal("what an update returns", returned.value(0), Value::Integer(i64::MAX - 7))?;
    equal("rows affected", [1, 2, 3].map(|call| flight.answer(call).affected()), [1, 0, 2])?;
    Ok(CheckResult::Kept)
}

async fn read_back(session: &mut AnySession, flight: &mut Flight) -> Result<(), Error> {
    flight.clear();
    flight.control(Control::BeginReadOnly);
    let call = flight.call(SELECT, &[Value::Integer(1)]);
    let none = flight.call(SELECT, &[Value::Integer(100)]);
    flight.control(Control::Commit);
    session.fly(flight).await?;
    equal("numbers of rows", (flight.rows(call), flight.rows(none)), (3, 0))?;
    let row = |number: usize| some("a row", flight.row(call, number));
    let (first, second, third) = (row(0)?, row(1)?, row(2)?);
    equal("integers", (first.value(0), first.value(1)), (Value::Integer(1), Value::Integer(i64::MAX)))?;
    equal(
        "a decimal and a text",
        (first.value(2).units(2), first.value(3)),
        (Some(-123_456), Value::Text("äöü ' \" :id 漢")),
    )?;
    equal("a time", first.value(4).integer(), Some(1_700_000_000_123_456))?;
    equal("nulls", [1, 2, 3, 4].map(|column| second.value(column)), [Value::Null; 4])?;
    equal("ends of ranges", (third.value(1).integer(), third.value(2).units(2)), (Some(i64::MIN), Some(0)))?;
    equal(
        "an empty text and a time before 1970",
        (third.value(3), third.value(4).integer()),
        (Value::Text(""), Some(-1)),
    )
}

/// More calls than any engine sends at once; each answer is its own call's.
pub(super) async fn large_flight(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let mut session = bench.prepared().await?;
    let mut flight = Flight::new();
    flight.control(Control::BeginReadOnly);
    for index in 0..2_000 {
        flight.call(SELECT, &[Value::Integer(index % 4 + 1)]);
    }
    flight.control(Control::Commit);
    session.fly(&mut flight).await?;
    for index in 0..2_000usize {
        let expected = 3 - index % 4;
        equal(&format!("rows of call {index}"), flight.rows(index + 1), expected)?;
        let first = flight.row(index + 1, 0).and_then(|row| row.value(0).integer());
        equal(&format!("the first row of call {index}"), first, (expected > 0).then_some(index as i64 % 4 + 1))?;
    }
    Ok(CheckResult::Kept)
}

/// Lists arrive as they were given, also empty, and are refused where the engine has none.
pub(super) async fn lists(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let mut session = bench.connect().await?;
    let sql = bench.words.of_list.as_deref();
    session.prepare(&[statement("of list", sql.unwrap_or("SELECT :list, 1"), &["list"], 2)]).await?;
    let lists: [&[i32]; 4] = [&[7], &[1, 2, i32::MIN, i32::MAX], &[], &[0; 300]];
    let mut flight = Flight::new();
    for list in lists {
        flight.call(StatementId(0), &[Value::Integers(list)]);
    }
    let flown = session.fly(&mut flight).await;
    if sql.is_none() {
        refused_as("a list where the dialect has none", flown, ErrorClass::Data)?;
        return Ok(CheckResult::Kept);
    }
    flown?;
    for (call, list) in lists.iter().enumerate() {
        let row = some("a row of a list", flight.row(call, 0))?;
        let last = list.last().map_or(Value::Null, |last| Value::Integer((*last).into()));
        equal("the end and length of a list", (row.value(0), row.value(1)), (last, Value::Integer(list.len() as i64)))?;
    }
    Ok(CheckResult::Kept)
}
