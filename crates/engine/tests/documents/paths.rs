//! What only the official driver shows: agreement of both client paths, its pool, its errors.

use crate::op_msg_server::Behaviour;
use crate::places::{Place, run};
use proofload_engine::engines::mongodb::self_check;
use proofload_engine::{Documents as _, ErrorClass};

#[test]
fn both_paths_agree_on_every_server() {
    let (place, _server) = Place::lean(Behaviour::default(), &[]);
    assert_eq!(run(self_check(&place.target)).expect("a comparison"), None, "test server");
    match Place::ferretdb("lean") {
        Ok(place) => assert_eq!(run(self_check(&place.target)).expect("a comparison"), None, "FerretDB"),
        Err(reason) => eprintln!("SKIPPED: FerretDB: {reason}"),
    }
}

#[test]
fn sessions_of_a_thread_share_a_client_with_a_connection_for_each() {
    let (place, server) = Place::lean(Behaviour::default(), &[("path", "driver")]);
    run(async {
        let mut sessions = Vec::new();
        for _ in 0..20 {
            sessions.push(place.session("usertable").await);
        }
        // One for each, and those with which the driver watches the server.
        let connections = server.connections();
        assert!((21..=22).contains(&connections), "{connections} connections");
        for session in &mut sessions {
            assert_eq!(session.count().await.expect("counts"), 0);
        }
        assert_eq!(server.connections(), connections);
    });
}

#[test]
fn a_server_that_is_not_there_is_told_by_address() {
    let settings = [("path", "driver")];
    let url = "mongodb://127.0.0.1:1/proofload?serverSelectionTimeoutMS=200".to_owned();
    let place = Place::new("mongodb", Some(url), &settings, Box::new(()));
    let error = run(place.engine.connect_documents(&place.target)).expect_err("nobody listens there");
    let text = error.to_string();
    assert_eq!(error.class(), ErrorClass::ConnectionLost, "{text}");
    assert!(text.contains("proofload on 127.0.0.1 port 1"), "{text}");
}
