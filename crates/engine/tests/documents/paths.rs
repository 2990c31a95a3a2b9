//! What only the official driver shows: agreement of both client paths, its pool, its errors.

use crate::op_msg_server::Behaviour;
use crate::places::{Place, fields, run};
use proofload_engine::engines::mongodb::self_check;
use proofload_engine::{AnyDocuments, DocumentBuffer, Documents as _, ErrorClass, Fields};

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
fn what_one_path_loads_the_other_counts_and_finds_on_ferretdb() {
    let place = match Place::ferretdb("lean") {
        Ok(place) => place,
        Err(reason) => {
            eprintln!("SKIPPED: FerretDB: {reason}");
            return;
        }
    };
    run(async {
        let mut lean = place.session("usertable").await;
        let mut driver = by_driver(&place).await;
        for first in (0..3_000).step_by(500) {
            let batch = batch(first..first + 500);
            let inserted = if first % 1_000 == 0 { lean.insert(&batch).await } else { driver.insert(&batch).await };
            assert_eq!(inserted.expect("inserts").count, 500);
        }
        assert_eq!((lean.count().await.expect("counts"), driver.count().await.expect("counts")), (3_000, 3_000));
        for index in [0, 499, 500, 1_234, 2_999] {
            let (mut one, mut other) = (DocumentBuffer::new(), DocumentBuffer::new());
            lean.find(&key(index), Fields::All, &mut one).await.expect("finds");
            driver.find(&key(index), Fields::All, &mut other).await.expect("finds");
            for found in [one, other] {
                let value = found.get(0).and_then(|document| document.value(0)).map(<[u8]>::to_vec);
                assert_eq!(value, Some(key(index).into_bytes()));
            }
        }
    });
}

/// A session of the driver at the same place.
async fn by_driver(place: &Place) -> AnyDocuments {
    let mut target = place.target.clone();
    target.place.settings.push(("path".to_owned(), "driver".to_owned()));
    let mut session = place.engine.connect_documents(&target).await.expect("connects");
    session.open(&fields("usertable")).await.expect("opens");
    session
}

fn key(index: u32) -> String {
    format!("user{index}")
}

fn batch(range: std::ops::Range<u32>) -> DocumentBuffer {
    let mut batch = DocumentBuffer::new();
    for index in range {
        batch.begin(&key(index));
        batch.put(0, key(index).as_bytes());
    }
    batch
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
