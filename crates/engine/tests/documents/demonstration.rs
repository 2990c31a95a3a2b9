//! FerretDB on PostgreSQL, as it is used for demonstrations: finds go through the index of keys.

use crate::ferretdb::postgresql::{connect, index_keys};
use crate::ferretdb::{BackEnd, FerretDb};
use crate::places::{Place, run};
use proofload_engine::{DocumentBuffer, Documents as _, Fields, Session as _};

/// Names the PostgreSQL database, `postgresql://user@host/database`, encoded in UTF-8.
const POSTGRESQL: &str = "PROOFLOAD_TEST_POSTGRESQL";

#[test]
#[ignore = "issue 3: a demonstration on the database that PROOFLOAD_TEST_POSTGRESQL names"]
fn keys_are_found_by_their_index() {
    let url = std::env::var(POSTGRESQL).expect("the URL of a database");
    let server = FerretDb::start(BackEnd::Postgresql(&url)).expect("FerretDB");
    let place = Place::new("mongodb", Some(server.database("demonstration")), &[], Box::new(server));
    run(async {
        let mut session = place.session("usertable").await;
        let mut batch = DocumentBuffer::new();
        for index in 0..5_000 {
            batch.begin(&format!("user{index}"));
            batch.put(0, &[b'x'; 100]);
        }
        session.insert(&batch).await.expect("inserts");
        let mut postgresql = connect(&url).await;
        let table = index_keys(&mut postgresql, "demonstration", "usertable").await;
        let explain = format!("EXPLAIN SELECT _jsonb FROM {table} WHERE _jsonb->'_id' @> '\"user77\"'");
        let plan = format!("{:?}", postgresql.query(&explain).await.expect("explains"));
        assert!(plan.contains("Bitmap Index Scan"), "{plan}");
        let mut found = DocumentBuffer::new();
        for index in 0..500 {
            session.find(&format!("user{index}"), Fields::All, &mut found).await.expect("finds");
        }
        assert_eq!(found.len(), 500);
    });
}
