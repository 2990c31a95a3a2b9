//! Flights: what leaves, in which messages, and what an error leaves behind.

use crate::places::{after_login, connect, deadlock, fly, integers, runtime, statement};
use crate::tds_server::{ColumnForm, Datum, Misbehaviour, Parameter, Part, Setup, TdsServer};
use proofload_engine::{AnySession, Control, Error, ErrorClass, Flight, Session as _, StatementId, Value};

const READ: u16 = 0;
const WRITE: u16 = 1;
const CALL: u16 = 2;

/// Reads answer 7 and their parameter, writes touch one row; a write of 13 meets a deadlock.
fn script(sql: &str, parameters: &[Parameter]) -> Vec<Part> {
    match (sql, parameters) {
        ("UPDATE t SET a = @p1 WHERE a = @p1", [one]) if one.value == Datum::Integer(13) => vec![deadlock()],
        ("UPDATE t SET a = @p1 WHERE a = @p1", _) => vec![Part::Count(1)],
        ("SELECT 7, @p1", [one]) => match one.value {
            Datum::Integer(number) => integers(&[&[7, number]]),
            _ => vec![Part::Columns(vec![ColumnForm::Integer(8); 2]), Part::Count(0)],
        },
        ("EXEC pay", [_, _]) => integers(&[&[1], &[2]]),
        _ => vec![Part::Error { number: 208, severity: 16, procedure: "", line: 1, message: "Invalid object name." }],
    }
}

async fn prepared(server: &TdsServer) -> AnySession {
    let mut session = connect(server).await;
    let statements = [
        statement("read", "SELECT 7, :number", &["number"], 2),
        statement("write", "UPDATE t SET a = :a WHERE a = :a", &["a"], 0),
        statement("pay", "EXEC pay :who, :amount", &["who", "amount"], 1),
    ];
    session.prepare(&statements).await.expect("prepares");
    session
}

#[test]
fn a_flight_is_prepared_by_its_first_call_and_then_one_message() {
    let server = TdsServer::start(Setup::default(), script);
    runtime().block_on(async {
        let mut session = prepared(&server).await;
        let calls: &[(u16, &[Value<'_>])] =
            &[(READ, &[Value::Integer(1)]), (WRITE, &[Value::Integer(5)]), (READ, &[Value::Integer(2)])];
        for round in 0..2 {
            let flight = fly(&mut session, calls, Control::Commit).await.expect("flies");
            let values = |call| flight.row(call, 0).map(|row| [row.value(0).integer(), row.value(1).integer()]);
            assert_eq!([values(1), values(3)], [Some([Some(7), Some(1)]), Some([Some(7), Some(2)])]);
            assert_eq!([1, 2, 3].map(|call| flight.answer(call).affected()), [1, 1, 1]);
            let log = server.log();
            let asked = after_login(&log);
            let calls = ["call SELECT 7, @p1 [Integer(1)]", "call UPDATE t SET a = @p1 WHERE a = @p1 [Integer(5)]"];
            let calls = [calls[0], calls[1], "call SELECT 7, @p1 [Integer(2)]"];
            if round == 0 {
                assert_eq!(
                    asked,
                    [
                        "batch SET IMPLICIT_TRANSACTIONS ON",
                        "prepare 100 (@p1 int) SELECT 7, @p1",
                        calls[0],
                        "prepare 1101 (@p1 int) UPDATE t SET a = @p1 WHERE a = @p1",
                        calls[1],
                        calls[2],
                        "batch COMMIT TRANSACTION"
                    ]
                );
            } else {
                assert_eq!(asked, [calls[0], calls[1], calls[2], "batch COMMIT TRANSACTION"]);
            }
        }
        // Nothing was begun, so there is nothing to end.
        fly(&mut session, &[], Control::Commit).await.expect("flies");
        assert_eq!(server.log(), [""; 0]);
    });
}

#[test]
fn types_widen_and_the_old_statement_is_forgotten() {
    let server = TdsServer::start(Setup::default(), script);
    runtime().block_on(async {
        let mut session = prepared(&server).await;
        for value in [Value::Null, Value::Integer(1), Value::Integer(1 << 40), Value::Integer(2)] {
            let mut flight = Flight::new();
            flight.call(StatementId(READ), &[value]);
            session.fly(&mut flight).await.expect("flies");
        }
        let log = server.log();
        let prepares: Vec<&str> = after_login(&log).into_iter().filter(|line| line.starts_with("prepare")).collect();
        assert_eq!(prepares.len(), 3, "{prepares:?}");
        let types = ["(@p1 varchar(8000))", "(@p1 int)", "(@p1 bigint)"];
        assert!(prepares.iter().zip(types).all(|(line, kind)| line.contains(kind)), "{prepares:?}");
    });
}

#[test]
fn a_procedure_is_called_by_its_name_outside_of_a_transaction() {
    let server = TdsServer::start(Setup::default(), script);
    runtime().block_on(async {
        let mut session = prepared(&server).await;
        let mut flight = Flight::new();
        flight.call(StatementId(CALL), &[Value::Text("ä"), Value::Null]);
        session.fly(&mut flight).await.expect("flies");
        assert_eq!((flight.rows(0), flight.row(0, 1).expect("a row").value(0)), (2, Value::Integer(2)));
        assert_eq!(after_login(&server.log()), ["call EXEC pay [Text(\"ä\"), Null]"]);
        // After a transaction, a call is its own again.
        fly(&mut session, &[(READ, &[Value::Integer(1)])], Control::Rollback).await.expect("flies");
        flight.clear();
        flight.call(StatementId(CALL), &[Value::Text("b"), Value::Integer(1)]);
        session.fly(&mut flight).await.expect("flies");
        let log = server.log();
        assert!(log.contains(&"batch IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION".to_owned()), "{log:?}");
        assert_eq!(
            log[log.len() - 2..],
            ["batch SET IMPLICIT_TRANSACTIONS OFF", "call EXEC pay [Text(\"b\"), Integer(1)]"]
        );
    });
}

/// Whether a server runs what follows a deadlock or not: nothing is committed, and the session goes on.
fn check_deadlock(stops_at_error: bool) {
    let misbehaviour = Misbehaviour { stops_at_error, ..Misbehaviour::default() };
    let server = TdsServer::start(Setup { misbehaviour, ..Setup::default() }, script);
    runtime().block_on(async {
        let mut session = prepared(&server).await;
        let good: &[(u16, &[Value<'_>])] = &[(READ, &[Value::Integer(1)]), (WRITE, &[Value::Integer(5)])];
        fly(&mut session, good, Control::Commit).await.expect("flies");
        server.log();
        let calls: &[(u16, &[Value<'_>])] = &[
            (WRITE, &[Value::Integer(5)]),
            (WRITE, &[Value::Integer(13)]),
            (WRITE, &[Value::Integer(6)]),
            (READ, &[Value::Integer(1)]),
        ];
        let error = fly(&mut session, calls, Control::Commit).await.expect_err("a deadlock");
        assert_eq!((error.class(), error.code()), (ErrorClass::Retryable, "1205"), "{error}");
        assert!(error.to_string().starts_with("write: "), "the statement is named: {error}");
        let log = server.log();
        assert!(!log.iter().any(|line| line.contains("COMMIT")), "{log:?}");
        let ran_on = log.iter().filter(|line| line.starts_with("call")).count();
        assert_eq!(ran_on, if stops_at_error { 2 } else { 4 });
        assert_eq!(log.last().map(String::as_str), Some("batch IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"));
        let refused = fly_commit(&mut session).await.expect_err("there is nothing left to commit");
        assert!(refused.to_string().contains("roll back"), "{refused}");
        let mut flight = Flight::new();
        flight.control(Control::Rollback);
        session.fly(&mut flight).await.expect("rolls back");
        fly(&mut session, good, Control::Commit).await.expect("the session goes on");
        assert_eq!(server.log().last().map(String::as_str), Some("batch COMMIT TRANSACTION"));
    });
}

async fn fly_commit(session: &mut AnySession) -> Result<(), Error> {
    let mut flight = Flight::new();
    flight.control(Control::Commit);
    session.fly(&mut flight).await
}

#[test]
fn a_deadlock_in_a_flight_leaves_nothing_where_the_server_runs_on() {
    check_deadlock(false);
}

#[test]
fn a_deadlock_in_a_flight_leaves_nothing_where_the_server_stops() {
    check_deadlock(true);
}

#[test]
fn wrong_calls_are_refused_before_they_leave() {
    let server = TdsServer::start(Setup::default(), script);
    runtime().block_on(async {
        let mut session = prepared(&server).await;
        server.log();
        let mut flight = Flight::new();
        flight.call(StatementId(9), &[]);
        session.fly(&mut flight).await.expect_err("nothing is prepared");
        flight.clear();
        flight.call(StatementId(READ), &[]);
        let error = session.fly(&mut flight).await.expect_err("a parameter is missing").to_string();
        assert!(error.contains("read"), "{error}");
        let long = "x".repeat(70_000);
        flight.clear();
        flight.call(StatementId(CALL), &[Value::Text(&long), Value::Time(i64::MAX)]);
        let error = session.fly(&mut flight).await.expect_err("no such time");
        assert_eq!(error.class(), ErrorClass::Data, "{error}");
        assert_eq!(server.log(), [""; 0]);
        flight.clear();
        flight.call(StatementId(CALL), &[Value::Text(&long), Value::Time(0)]);
        session.fly(&mut flight).await.expect("the session goes on");
        for (name, sql, columns) in [("absent", "SELECT a FROM absent", 1), ("unlisted", "SELECT :a", 1)] {
            let error = session.prepare(&[statement(name, sql, &[], columns)]).await.expect_err(name).to_string();
            assert!(error.contains(name), "{error}");
        }
    });
}
