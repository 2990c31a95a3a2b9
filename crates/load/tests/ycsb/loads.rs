//! Loading: any number of records, batches and sessions gives the same data.

use super::case::{Case, failed};

#[track_caller]
fn check_load(engine: &str, changes: &[(&str, &str)]) {
    let Some(case) = Case::new(engine, changes) else { return };
    case.build().expect("loads");
    case.check_data().expect("fits");
    let mut changes = changes.to_vec();
    changes.push(("operations", "10"));
    let mut case = case;
    case.change(&changes);
    let ran = case.run(|_| {}).expect("runs");
    assert_eq!(failed(&ran.checks), [""; 0], "{changes:?}: {:?}", ran.checks);
}

#[test]
fn batches_and_sessions_of_any_size_load_the_same() {
    // A chunk has 10,000 records.
    for (records, batch, loaders) in
        [("1", "500", "1"), ("2000", "7", "3"), ("1501", "1", "1"), ("10001", "100000", "4")]
    {
        check_load("postgresql", &[("records", records), ("batch", batch), ("loaders", loaders), ("fields", "2")]);
    }
    check_load("sqlite", &[("records", "20001"), ("batch", "33"), ("fields", "1"), ("field_length", "12")]);
}

#[test]
fn a_load_that_has_ended_changes_nothing() {
    let case = Case::new("sqlite", &[]).expect("built in");
    case.build().expect("loads");
    let facts = case.build().expect("is there");
    let read = facts.iter().find(|fact| fact.name == "read back after the load").expect("it is told");
    assert_eq!(read.effective.as_deref(), Some("0, the load was already complete"));
}

/// A client killed with its COMMIT under way: the chunk becomes permanent while the next load waits for it.
#[test]
fn a_chunk_committed_late_is_taken_as_loaded() {
    let Some(case) = Case::new("postgresql", &[]) else { return };
    case.build().expect("loads");
    let notes = "entry = 'complete' OR entry LIKE 'chunk %'";
    case.script(&format!(
        "CREATE SCHEMA late; CREATE TABLE late.notes AS SELECT * FROM proofload_manifest WHERE {notes}"
    ));
    case.script(&format!("DELETE FROM proofload_manifest WHERE {notes}"));
    case.script("CREATE TABLE late.records AS SELECT * FROM usertable; DELETE FROM usertable");
    let again = "INSERT INTO usertable SELECT * FROM late.records; \
                 INSERT INTO proofload_manifest SELECT * FROM late.notes WHERE entry LIKE 'chunk %'";
    case.commit_late(again, || case.build()).expect("the chunk is there");
    case.check_data().expect("the load is complete");
}

#[test]
fn a_load_whose_count_is_wrong_is_not_complete() {
    let case = Case::new("sqlite", &[("records", "100")]).expect("built in");
    case.build().expect("loads");
    case.script("DELETE FROM proofload_manifest WHERE entry = 'complete'");
    case.script("DELETE FROM usertable WHERE ycsb_key = (SELECT max(ycsb_key) FROM usertable)");
    let error = case.check_data().unwrap_err().to_string();
    assert!(error.starts_with("the load of the data is incomplete"), "{error}");
    let error = case.build().unwrap_err().to_string();
    assert_eq!(error, "the load ended with 99 records, but 100 were sent; the load is not complete");
}
