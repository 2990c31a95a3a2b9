//! The PostgreSQL back end, for demonstrations: its index of keys, without which every find reads the whole table.

use proofload_engine::{AnySession, OwnedValue, Session as _, Target, engine};
use proofload_model::wire::DataLocation;

/// A session with the PostgreSQL server itself.
pub(crate) async fn connect(url: &str) -> AnySession {
    let url = Some(url.to_owned());
    let place =
        DataLocation { engine: "postgresql".to_owned(), folder: String::new(), url, settings: Vec::new(), tier: None };
    let postgresql = engine("postgresql").expect("it is registered");
    postgresql.connect(&Target::new(place, None)).await.expect("connects to PostgreSQL")
}

/// Makes the index that a find by key can use; once for each collection, which must exist. Its filter asks whether a key is
/// contained, which the unique index of FerretDB's own cannot answer. Returns the collection's table.
pub(crate) async fn index_keys(session: &mut AnySession, database: &str, collection: &str) -> String {
    let metadata = format!(
        "SELECT _jsonb->>'table' FROM \"{database}\"._ferretdb_database_metadata WHERE _jsonb->>'_id' = '{collection}'"
    );
    let rows = session.query(&metadata).await.expect("finds the table");
    let [OwnedValue::Text(table)] = &rows.first().expect("a row for the collection")[..] else {
        panic!("no name of a table: {rows:?}")
    };
    let table = format!("\"{database}\".\"{table}\"");
    let index = format!("CREATE INDEX ON {table} USING gin ((_jsonb->'_id') jsonb_path_ops); ANALYZE {table}");
    session.script(&index).await.expect("makes the index");
    table
}
