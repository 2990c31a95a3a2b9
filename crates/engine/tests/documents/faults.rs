//! Faults of the wire on the lean path: each ends in an error of the right class that says what came back.

use crate::op_msg_server::{Behaviour, Fault, Server};
use crate::places::{Place, run};
use proofload_engine::{AnyDocuments, DocumentBuffer, Documents, Error, ErrorClass, Fields};
use std::time::Duration;

/// The silent server is waited for so long; it answers a session that begins, which a busy host may keep from it for a moment.
const TIMEOUT: (&str, &str) = ("timeout", "2s");

async fn find(session: &mut AnyDocuments) -> Result<usize, Error> {
    let mut found = DocumentBuffer::new();
    session.find("user1", Fields::All, &mut found).await.map(|()| found.len())
}

fn documents(count: u32) -> DocumentBuffer {
    let mut batch = DocumentBuffer::new();
    for index in 0..count {
        batch.begin(&format!("user{index}"));
        batch.put(0, b"value");
    }
    batch
}

async fn update(session: &mut AnyDocuments) -> Result<u64, Error> {
    session.update(documents(2).get(1).expect("two")).await
}

fn place() -> (Place, std::rc::Rc<Server>) {
    Place::lean(Behaviour::default(), &[])
}

/// A session that lost its connection is of no more use, says so at once, and a new one works.
async fn check_lost(fault: Fault, part: &str) {
    let (mut place, server) = place();
    place.session("usertable").await.insert(&documents(3)).await.expect("inserts");
    if fault == Fault::Silence {
        place.target.place.settings.push((TIMEOUT.0.to_owned(), TIMEOUT.1.to_owned()));
    }
    let mut session = place.session("usertable").await;
    place.target.place.settings.clear();
    server.fault("find", fault.clone());
    let error = find(&mut session).await.expect_err("a fault");
    assert_eq!(error.class(), ErrorClass::ConnectionLost, "{fault:?}: {error}");
    assert!(error.to_string().contains(part), "{fault:?}: {error}");
    let before = server.seen("find");
    let error = find(&mut session).await.expect_err("still lost");
    assert_eq!((error.class(), server.seen("find")), (ErrorClass::ConnectionLost, before), "{error}");
    assert_eq!(find(&mut place.session("usertable").await).await.expect("finds"), 1);
}

#[test]
fn a_connection_out_of_step_is_lost() {
    run(async {
        check_lost(Fault::Silence, "no answer within 2s (engine.timeout)").await;
        check_lost(Fault::Close, "closed the connection without an answer").await;
        check_lost(Fault::WrongResponseTo, "out of sync").await;
        check_lost(Fault::ShortFrame, "in the middle of an answer").await;
        check_lost(Fault::Damaged, "damaged").await;
        check_lost(Fault::MoreToCome, "more messages follow").await;
        check_lost(Fault::OtherKind, "not a message of MongoDB's wire protocol").await;
        check_lost(Fault::Twice, "bytes follow the reply").await;
    });
}

#[test]
fn an_operation_given_up_by_its_caller_leaves_no_reply_to_the_next_one() {
    run(async {
        let (place, server) = place();
        let mut session = place.session("usertable").await;
        server.fault("find", Fault::Slow(Duration::from_secs(5)));
        let given_up = tokio::time::timeout(Duration::from_millis(5), find(&mut session)).await;
        given_up.expect_err("the caller does not wait");
        let error = update(&mut session).await.expect_err("the connection is out of sync");
        assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
    });
}

#[test]
fn a_slow_answer_within_the_time_out_is_an_answer() {
    run(async {
        let (place, server) = place();
        let mut session = place.session("usertable").await;
        server.fault("find", Fault::Slow(Duration::from_millis(20)));
        assert_eq!(find(&mut session).await.expect("finds nothing"), 0);
        server.stall(Duration::from_millis(20));
        assert_eq!(update(&mut session).await.expect("matches nothing"), 0);
    });
}

/// An error of the server has its class, and the session goes on.
async fn check_error(fault: Fault, class: ErrorClass, part: &str) {
    let (place, server) = place();
    let mut session = place.session("usertable").await;
    session.insert(&documents(3)).await.expect("inserts");
    server.fault("update", fault);
    let error = update(&mut session).await.expect_err("a fault");
    assert_eq!(error.class(), class, "{error}");
    assert!(error.to_string().contains(part), "{error}");
    assert_eq!(update(&mut session).await.expect("updates"), 1);
}

#[test]
fn errors_of_the_server_have_classes() {
    run(async {
        check_error(Fault::Error(112), ErrorClass::Retryable, "(112)").await;
        check_error(Fault::Error(10107), ErrorClass::Retryable, "primary").await;
        check_error(Fault::Error(14031), ErrorClass::OutOfSpace, "(14031)").await;
        check_error(Fault::Error(13), ErrorClass::Other, "MONGODB_PASSWORD").await;
        check_error(Fault::Error(91), ErrorClass::ConnectionLost, "(91)").await;
        check_error(Fault::Unconfirmed(64), ErrorClass::ConnectionLost, "write concern was not fulfilled").await;
        check_error(Fault::Unconfirmed(100), ErrorClass::Other, "(100)").await;
    });
}

#[test]
fn documents_refused_in_a_batch_are_named_one_by_one() {
    run(async {
        let (place, server) = place();
        let mut session = place.session("usertable").await;
        server.fault("insert", Fault::RefuseEvery { every: 4, code: 112 });
        let inserted = session.insert(&documents(10)).await.expect("an answer");
        let refused: Vec<_> = inserted.refused.iter().map(|(place, error)| (*place, error.class())).collect();
        assert_eq!(refused, [(3, ErrorClass::Retryable), (7, ErrorClass::Retryable)]);
        assert_eq!((inserted.count, session.count().await.expect("counts")), (8, 8));
        server.fault("insert", Fault::Close);
        let error = session.insert(&documents(1)).await.expect_err("nothing can be said");
        assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
    });
}
