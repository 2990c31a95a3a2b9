//! A server that is slow, silent, goes away or talks nonsense; a caller that goes away.

use crate::places::{after_login, connect, integers, open, runtime, sqlserver, statement, target};
use crate::tds_server::{Misbehaviour, Part, Setup, TdsServer};
use proofload_engine::{ErrorClass, Flight, OwnedValue, Session as _, StatementId, Value};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Logs on, queries, calls: what came of each.
async fn visit(server: &TdsServer) -> Result<(), proofload_engine::Error> {
    let mut session = open(server).await?;
    session.query("SELECT 1").await?;
    session.prepare(&[statement("one", "SELECT :a", &["a"], 1)]).await?;
    let mut flight = Flight::new();
    flight.call(StatementId(0), &[Value::Integer(1)]);
    session.fly(&mut flight).await
}

fn misbehaving(misbehaviour: Misbehaviour, answer: Vec<Part>) -> TdsServer {
    TdsServer::start(Setup { misbehaviour, ..Setup::default() }, move |_, _| answer.clone())
}

#[test]
fn answers_may_come_byte_by_byte() {
    for piece in [1, 3] {
        let server = misbehaving(Misbehaviour { piece: Some(piece), ..Misbehaviour::default() }, integers(&[&[1]]));
        runtime().block_on(visit(&server)).expect("it is only slow");
    }
}

#[test]
fn a_connection_that_ends_at_any_byte_is_told_as_lost() {
    let runtime = runtime();
    let mut whole = None;
    for end in 1.. {
        let server = misbehaving(Misbehaviour { ends_after: Some(end), ..Misbehaviour::default() }, integers(&[&[1]]));
        match runtime.block_on(visit(&server)) {
            Err(error) => assert_eq!(error.class(), ErrorClass::ConnectionLost, "after {end} bytes: {error}"),
            Ok(()) => {
                whole = Some(end);
                break;
            }
        }
    }
    let whole = whole.expect("all bytes suffice");
    assert!(whole > 400, "{whole} places were cut");
}

#[test]
fn a_silent_server_is_not_waited_for_beyond_its_time() {
    let server = misbehaving(Misbehaviour { silent: true, ..Misbehaviour::default() }, Vec::new());
    let started = Instant::now();
    let target = target(server.url("encrypt=none&connect-timeout=1"), &[]);
    let error = runtime().block_on(async { sqlserver().connect(&target).await.err() }).expect("nobody answers");
    assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
    assert!(error.to_string().contains("within 1s"), "{error}");
    // Without a time in the URL it would be 30 s.
    assert!(started.elapsed() < Duration::from_secs(25));
}

/// A query that its caller gives up is stopped at the server, and the next one has its own answer.
#[test]
fn a_query_that_is_given_up_is_stopped_at_the_server() {
    let server = TdsServer::start(Setup::default(), |sql, _| match sql {
        "SELECT slow" => integers(&[&[1]]).into_iter().take(2).chain([Part::Silence]).collect(),
        _ => integers(&[&[2]]),
    });
    runtime().block_on(async {
        let mut session = connect(&server).await;
        for _ in 0..2 {
            tokio::time::timeout(Duration::from_millis(500), session.query("SELECT slow"))
                .await
                .expect_err("it does not end");
            assert_eq!(session.query("SELECT quick").await.expect("reads"), [[OwnedValue::Integer(2)]]);
        }
        let log = server.log();
        let once = ["batch SELECT slow", "attention", "batch SELECT quick"];
        assert_eq!(after_login(&log), [once, once].concat());
    });
}

/// A server whose answers to what is late have ended when it hears that it should stop.
fn late(stops: &Arc<AtomicBool>) -> TdsServer {
    let setup = Setup { stops: Arc::clone(stops), ..Setup::default() };
    TdsServer::start(setup, |sql, _| match sql {
        "SELECT late" | "EXEC late" => integers(&[&[1], &[7]]).into_iter().chain([Part::Late]).collect(),
        _ => integers(&[&[2]]),
    })
}

/// The end of an answer and the request to stop meet on their way: the word of stopping comes after the end, and is no part of the next answer.
#[test]
fn an_answer_that_ended_before_the_server_heard_to_stop_is_passed_over_whole() {
    let server = late(&Arc::new(AtomicBool::new(true)));
    runtime().block_on(async {
        let mut session = connect(&server).await;
        for _ in 0..2 {
            tokio::time::timeout(Duration::from_millis(100), session.query("SELECT late"))
                .await
                .expect_err("its end comes when it is asked to stop");
            for _ in 0..2 {
                assert_eq!(session.query("SELECT quick").await.expect("reads"), [[OwnedValue::Integer(2)]]);
            }
        }
        let once = ["batch SELECT late", "attention", "batch SELECT quick", "batch SELECT quick"];
        assert_eq!(after_login(&server.log()), [once, once].concat());
        session.prepare(&[statement("late", "EXEC late :a", &["a"], 1)]).await.expect("prepares");
        let mut flight = Flight::new();
        flight.call(StatementId(0), &[Value::Integer(1)]);
        tokio::time::timeout(Duration::from_millis(100), session.fly(&mut flight)).await.expect_err("it does not end");
        assert_eq!(session.query("SELECT quick").await.expect("reads"), [[OwnedValue::Integer(2)]]);
    });
}

/// Whoever waits for the word of stopping goes away as well, when the answer has ended: the word is still owed, and asked for once.
#[test]
fn a_word_of_stopping_that_nobody_waited_for_is_no_answer_to_the_next_query() {
    let stops = Arc::new(AtomicBool::new(false));
    let server = late(&stops);
    runtime().block_on(async {
        let mut session = connect(&server).await;
        for given_up in ["SELECT late", "SELECT quick", "SELECT quick"] {
            tokio::time::timeout(Duration::from_millis(300), session.query(given_up))
                .await
                .expect_err("the server does not say that it has stopped");
        }
        stops.store(true, Ordering::Release);
        for _ in 0..2 {
            assert_eq!(session.query("SELECT quick").await.expect("reads"), [[OwnedValue::Integer(2)]]);
        }
        let log = server.log();
        assert_eq!(
            after_login(&log),
            ["batch SELECT late", "attention", "batch SELECT quick", "batch SELECT quick"],
            "what waited behind it was not sent"
        );
    });
}

/// A query or a call beyond `statement_timeout` is stopped at the server and told under the code of every engine; the session goes on.
#[test]
fn what_takes_longer_than_it_may_is_stopped_and_told() {
    let server = TdsServer::start(Setup::default(), |sql, _| match sql {
        "SELECT slow" | "EXEC slow" => vec![Part::Silence],
        _ => integers(&[&[2]]),
    });
    let limited = target(server.url("encrypt=none"), &[("statement_timeout", "1s")]);
    runtime().block_on(async {
        let mut session = sqlserver().connect(&limited).await.expect("connects");
        session.prepare(&[statement("slow", "EXEC slow :a", &["a"], 1)]).await.expect("prepares");
        let error = session.query("SELECT slow").await.expect_err("it does not end");
        assert_eq!((error.class(), error.code()), (ErrorClass::Other, "statement_timeout"), "{error}");
        assert_eq!(error.to_string(), "run a query: the statement was stopped after 1s (statement_timeout)");
        assert_eq!(session.query("SELECT quick").await.expect("reads"), [[OwnedValue::Integer(2)]]);
        assert_eq!(after_login(&server.log()), ["batch SELECT slow", "attention", "batch SELECT quick"]);
        let mut flight = Flight::new();
        flight.call(StatementId(0), &[Value::Integer(1)]);
        let error = session.fly(&mut flight).await.expect_err("it does not end");
        assert_eq!((error.class(), error.code()), (ErrorClass::Other, "statement_timeout"), "{error}");
        assert!(error.to_string().starts_with("slow: "), "the call is named: {error}");
        assert_eq!(session.query("SELECT quick").await.expect("reads"), [[OwnedValue::Integer(2)]]);
        assert!(server.log().contains(&"attention".to_owned()));
    });
    let wrong = target(server.url("encrypt=none"), &[("statement_timeout", "soon")]);
    let error = runtime().block_on(async { sqlserver().connect(&wrong).await.err() }).expect("it is no time");
    assert!(error.to_string().contains("statement_timeout"), "{error}");
}

/// The caller of a flight goes away: what it began is rolled back before anything else.
#[test]
fn a_flight_that_is_given_up_is_rolled_back() {
    let server = TdsServer::start(Setup::default(), |sql, _| match sql {
        "SELECT @p1" => integers(&[&[1]]),
        _ => vec![Part::Silence],
    });
    runtime().block_on(async {
        let mut session = connect(&server).await;
        let statements = [statement("one", "SELECT :a", &["a"], 1), statement("slow", "WAIT :a", &["a"], 0)];
        session.prepare(&statements).await.expect("prepares");
        let mut flight = Flight::new();
        flight.control(proofload_engine::Control::Begin);
        flight.call(StatementId(0), &[Value::Integer(1)]);
        flight.call(StatementId(1), &[Value::Integer(1)]);
        tokio::time::timeout(Duration::from_millis(500), session.fly(&mut flight)).await.expect_err("it does not end");
        session.script("SELECT @p1").await.expect("the session goes on");
        let log = server.log();
        let after: Vec<&str> = log.iter().map(String::as_str).skip_while(|line| *line != "attention").collect();
        assert_eq!(
            after,
            [
                "attention",
                "batch SET IMPLICIT_TRANSACTIONS OFF",
                "batch IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION",
                "batch SELECT @p1"
            ]
        );
    });
}

#[test]
fn errors_tell_their_number_state_and_line() {
    let answer = Part::Error {
        number: 50_001,
        severity: 16,
        procedure: "tprocc_payment",
        line: 12,
        message: "no such customer",
    };
    let fatal = Part::Error { number: 823, severity: 24, procedure: "", line: 1, message: "I/O error" };
    let server = TdsServer::start(Setup::default(), move |sql, _| match sql {
        "SELECT fatal" => vec![fatal.clone(), Part::Close],
        _ => vec![answer.clone()],
    });
    runtime().block_on(async {
        let mut session = connect(&server).await;
        let error = session.query("SELECT 1").await.expect_err("an error");
        assert_eq!(error.class(), ErrorClass::Data);
        let text = "run a query: no such customer; state 3, severity 16, tprocc_payment line 12 (50001)";
        assert_eq!(error.to_string(), text);
        assert!(!session.has_ended());
        let error = session.query("SELECT fatal").await.expect_err("it ends the session");
        assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
        assert!(session.has_ended());
        session.query("SELECT 1").await.expect_err("there is no connection");
    });
    let wrong = TdsServer::start(Setup { password: "other", ..Setup::default() }, |_, _| Vec::new());
    let error = runtime().block_on(open(&wrong)).expect_err("the password is wrong").to_string();
    assert!(error.contains("SQLCMDPASSWORD") && error.contains("Login failed"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nonsense_is_survived(
        firsts in proptest::collection::vec(proptest::sample::select(vec![0xD1u8, 0xD2, 0xFD, 0xFE, 0xFF, 0x81, 0xAA, 0xAB, 0xE3, 0xAC, 0xAE, 0xE4, 0x79]), 1..6),
        body in proptest::collection::vec(any::<u8>(), 0..30),
    ) {
        let answer: Vec<Part> = firsts.iter().map(|first| Part::Raw([vec![*first], body.clone()].concat())).collect();
        let server = misbehaving(Misbehaviour::default(), answer);
        let end = async { tokio::time::timeout(Duration::from_millis(30), visit(&server)).await };
        // An error, an answer, or a server that is waited for: no panic, no endless loop.
        let _any = runtime().block_on(end);
    }
}
