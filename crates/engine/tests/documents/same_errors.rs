//! Faults of the wire and errors of the server: both client paths say the same class and code.

use crate::op_msg_server::{Behaviour, Fault, Server};
use crate::places::{Place, run};
use proofload_engine::{AnyDocuments, DocumentBuffer, Documents as _, Error, Fields};
use std::rc::Rc;

/// Time-out of a session whose server answers.
const PATIENT: &str = "30s";

/// A path to a server that has a document; without the driver's repetitions.
async fn session(path: &str, timeout: &str) -> (AnyDocuments, Rc<Server>) {
    let server = Rc::new(Server::start(Behaviour::default()));
    let url = format!("{}?retryReads=false&retryWrites=false", server.url("proofload"));
    let settings = [("path", path), ("timeout", timeout)];
    let place = Place::new("mongodb", Some(url), &settings, Box::new(Rc::clone(&server)));
    let mut session = place.session("usertable").await;
    session.insert(&documents(0..1)).await.expect("inserts");
    (session, server)
}

fn documents(range: std::ops::Range<u32>) -> DocumentBuffer {
    let mut batch = DocumentBuffer::new();
    for index in range {
        batch.begin(&format!("user{index}"));
        batch.put(0, b"value");
    }
    batch
}

fn word(error: &Error) -> String {
    format!("{:?} {}", error.class(), error.code())
}

async fn outcome(session: &mut AnyDocuments, command: &str) -> String {
    match command {
        "find" => {
            let mut found = DocumentBuffer::new();
            let outcome = session.find("user0", Fields::All, &mut found).await;
            outcome.map_or_else(|error| word(&error), |()| format!("{} found", found.len()))
        }
        "update" => {
            let outcome = session.update(documents(0..1).get(0).expect("one")).await;
            outcome.map_or_else(|error| word(&error), |matched| format!("{matched} matched"))
        }
        _ => match session.insert(&documents(1..8)).await {
            Ok(inserted) => {
                let refused: Vec<_> =
                    inserted.refused.iter().map(|(at, error)| format!("{at} {}", word(error))).collect();
                format!("{} inserted, refused: {refused:?}", inserted.count)
            }
            Err(error) => word(&error),
        },
    }
}

async fn check(command: &str, fault: Fault, expected: &str) {
    // Only a silent server is waited for; the others answer, however slowly on a busy host.
    let timeout = if fault == Fault::Silence { "2s" } else { PATIENT };
    for path in ["lean", "driver"] {
        let (mut session, server) = session(path, timeout).await;
        server.fault(command, fault.clone());
        assert_eq!(outcome(&mut session, command).await, expected, "{command} by {path}: {fault:?}");
    }
}

#[test]
fn both_paths_say_the_same_of_a_fault() {
    run(async {
        for command in ["find", "update", "insert"] {
            check(command, Fault::Close, "ConnectionLost ").await;
            check(command, Fault::ShortFrame, "ConnectionLost ").await;
            check(command, Fault::Silence, "ConnectionLost ").await;
            check(command, Fault::Error(112), "Retryable 112").await;
            check(command, Fault::Error(14_031), "OutOfSpace 14031").await;
            check(command, Fault::Error(13), "Other 13").await;
        }
        check("update", Fault::Unconfirmed(64), "ConnectionLost 64").await;
        check("insert", Fault::Unconfirmed(64), "ConnectionLost 64").await;
        check("insert", Fault::Unconfirmed(100), "Other 100").await;
    });
}

#[test]
fn both_paths_say_which_documents_were_refused() {
    run(async {
        let fault = Fault::RefuseEvery { every: 3, code: 11_000 };
        let mut answers = Vec::new();
        for path in ["lean", "driver"] {
            let (mut session, server) = session(path, PATIENT).await;
            server.fault("insert", fault.clone());
            answers.push(outcome(&mut session, "insert").await);
        }
        assert_eq!(answers[0], answers[1]);
        assert!(answers[0].contains("Data 11000"), "{answers:?}");
    });
}
