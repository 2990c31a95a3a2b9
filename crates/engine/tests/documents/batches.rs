//! Limits of messages and batches on the lean path: insertions are divided, replies put together, cursors left to nobody.

use crate::op_msg_server::{Behaviour, Server};
use crate::places::{Place, run};
use proofload_engine::{DocumentBuffer, Documents, ErrorClass, Fields};

/// Documents `0..count` of a value of so many bytes.
fn documents(count: u32, bytes: usize) -> DocumentBuffer {
    let mut batch = DocumentBuffer::new();
    for index in 0..count {
        batch.begin(&format!("user{index:04}"));
        batch.put_with(0, bytes, |value| value.fill(b'x'));
    }
    batch
}

fn check(behaviour: Behaviour, messages: u64) {
    let (place, server) = Place::lean(behaviour, &[]);
    run(async {
        let mut session = place.session("usertable").await;
        let inserted = session.insert(&documents(20, 100)).await.expect("inserts");
        assert_eq!((inserted.count, inserted.refused.len()), (20, 0));
        assert_eq!(session.count().await.expect("counts"), 20);
    });
    assert_eq!((server.seen("insert"), server.documents("proofload.usertable")), (messages, 20));
}

#[test]
fn insertions_are_divided_as_the_server_wants_them() {
    check(Behaviour::default(), 1);
    check(Behaviour { batch_documents: 7, ..Behaviour::default() }, 3);
    check(Behaviour { batch_documents: 20, ..Behaviour::default() }, 1);
    // A message of 1,000 bytes holds the command and some six documents of 135 bytes.
    check(Behaviour { message_bytes: 1_000, ..Behaviour::default() }, 4);
    // No document fits beside the command: each goes alone.
    check(Behaviour { message_bytes: 10, ..Behaviour::default() }, 20);
}

#[test]
fn a_document_that_is_too_large_is_refused_and_the_others_arrive() {
    let (place, server) =
        Place::lean(Behaviour { document_bytes: 200, batch_documents: 2, ..Behaviour::default() }, &[]);
    run(async {
        let mut session = place.session("usertable").await;
        let mut batch = documents(2, 10);
        for (key, bytes) in [("large", 400), ("small", 10), ("larger", 500), ("user0000", 10)] {
            batch.begin(key);
            batch.put_with(0, bytes, |value| value.fill(b'x'));
        }
        let inserted = session.insert(&batch).await.expect("inserts");
        let mut refused: Vec<_> =
            inserted.refused.iter().map(|(place, error)| (*place, error.code().to_owned())).collect();
        refused.sort();
        let refused: Vec<_> = refused.iter().map(|(place, code)| (*place, code.as_str())).collect();
        assert_eq!(refused, [(2, "10334"), (4, "10334"), (5, "11000")]);
        assert!(inserted.refused.iter().all(|(_, error)| error.class() == ErrorClass::Data));
        assert_eq!((inserted.count, server.documents("proofload.usertable")), (3, 3));
        assert_eq!(session.insert(&documents(1, 500)).await.expect("sends nothing").refused.len(), 1);
    });
}

fn check_scan(server: &Server, place: &Place, limit: u32, more: u64) {
    let before = server.seen("getMore");
    run(async {
        let mut found = DocumentBuffer::new();
        place.session("usertable").await.scan("user0010", limit, Fields::All, &mut found).await.expect("scans");
        assert_eq!(found.len(), limit.min(40) as usize);
        assert!(found.iter().map(|document| document.key().to_owned()).is_sorted());
    });
    assert_eq!((server.seen("getMore") - before, server.open_cursors()), (more, 0), "limit {limit}");
}

#[test]
fn scans_go_on_where_the_server_divides_them_and_leave_no_cursor() {
    let (place, server) = Place::lean(Behaviour { reply_documents: 10, ..Behaviour::default() }, &[]);
    run(async { place.session("usertable").await.insert(&documents(50, 10)).await }).expect("inserts");
    check_scan(&server, &place, 1, 0);
    check_scan(&server, &place, 10, 0);
    check_scan(&server, &place, 11, 1);
    check_scan(&server, &place, 1_000, 3);
}

#[test]
fn a_reply_larger_than_the_memory_for_it_arrives_whole() {
    let (place, _server) = Place::lean(Behaviour::default(), &[]);
    run(async {
        let mut session = place.session("usertable").await;
        session.insert(&documents(3, 3_000_000)).await.expect("inserts 9 MB");
        let mut found = DocumentBuffer::new();
        session.scan("user", 3, Fields::All, &mut found).await.expect("scans 9 MB");
        assert!(found.iter().all(|document| document.value(0).is_some_and(|value| value.len() == 3_000_000)));
        found.clear();
        session.find("user0001", Fields::All, &mut found).await.expect("finds");
        assert_eq!(found.len(), 1);
    });
}
