//! What is wrong is found: in the data before the run, in what is read, and in what is stored afterwards.

use super::case::{Case, failed};

/// A loaded case on SQLite.
fn loaded(changes: &[(&str, &str)]) -> Case {
    let case = Case::new("sqlite", changes).expect("SQLite is built in");
    case.build().expect("loads");
    case
}

#[track_caller]
fn check_refused(changes: &[(&str, &str)], difference: &str) {
    let mut case = loaded(&[]);
    case.change(changes);
    for refused in [case.check_data().err(), case.build().err()] {
        let error = refused.expect("refused");
        assert!(error.to_string().contains(difference), "{error}");
    }
}

#[test]
fn data_of_another_study_are_refused_field_by_field() {
    check_refused(&[("records", "1001")], "records is 1000, but the study needs 1001");
    check_refused(&[("fields", "9")], "fields is 10, but the study needs 9");
    check_refused(&[("field_length", "99")], "field length is 100, but the study needs 99");
    check_refused(&[("field_lengths", "uniform")], "field length is 100, but the study needs uniform 12..=100");
    check_refused(&[("insert_order", "ordered")], "keys is exact hashed, but the study needs exact ordered");
    check_refused(&[("key_mode", "ycsb")], "keys is exact hashed, but the study needs ycsb hashed padded to 1");
    let mut case = loaded(&[]);
    case.reseed(9);
    let error = case.check_data().unwrap_err().to_string();
    assert!(error.contains("seed is 1, but the study needs 9, hash of the first records is"), "{error}");
}

#[test]
fn a_database_with_other_tables_is_refused() {
    let case = Case::new("sqlite", &[]).expect("built in");
    case.build().expect("loads");
    case.script("DROP TABLE proofload_manifest");
    let error = case.build().unwrap_err().to_string();
    assert!(error.contains("it has usertable but no Proofload manifest; use an empty database"), "{error}");
    assert_eq!(
        case.check_data().unwrap_err().to_string(),
        "the database has no Proofload manifest; load the data first"
    );
}

#[test]
fn records_that_went_missing_stop_the_run_before_it_starts() {
    let case = loaded(&[("operations", "10")]);
    case.script("DELETE FROM usertable WHERE ycsb_key = (SELECT max(ycsb_key) FROM usertable)");
    let error = case.run(|_| {}).expect_err("refused").to_string();
    assert!(
        error.starts_with("usertable has 999 records, but workload.records is 1000: operations would look"),
        "{error}"
    );
}

#[test]
fn a_run_on_top_of_inserts_is_refused() {
    let case = loaded(&[("operations", "100"), ("mix", "d")]);
    case.run(|_| {}).expect("runs");
    let error = case.run(|_| {}).expect_err("refused").to_string();
    assert!(error.contains("an earlier run inserted some"), "{error}");
}

/// One changed byte of one value of one record.
const FLIP: &str = "UPDATE usertable SET field3 = substr(field3, 1, 50) || '!' || substr(field3, 52)
    WHERE ycsb_key = (SELECT min(ycsb_key) FROM usertable)";

#[test]
fn a_single_changed_byte_is_found_after_the_run() {
    let case = loaded(&[("operations", "100"), ("mix", "c")]);
    let ran = case.run(|case| case.script(FLIP)).expect("runs");
    assert_eq!(failed(&ran.checks), ["records read back"]);
    let check = ran.checks.iter().find(|check| check.name == "records read back").expect("it is there");
    assert_eq!(check.found, "1 of 1000 are missing or wrong");
    assert!(check.offenders[0].contains("field 3: character 50 of the value is '!'"), "{:?}", check.offenders);
}

#[test]
fn a_missing_and_a_foreign_record_are_found_after_the_run() {
    let case = loaded(&[("operations", "100"), ("mix", "c")]);
    let delete = "DELETE FROM usertable WHERE ycsb_key = (SELECT min(ycsb_key) FROM usertable)";
    let ran = case.run(|case| case.script(delete)).expect("runs");
    assert_eq!(failed(&ran.checks), ["records", "records read back"]);
    let case = loaded(&[("operations", "100"), ("mix", "c")]);
    let ran = case.run(|case| case.script("INSERT INTO usertable (ycsb_key) VALUES ('user')")).expect("runs");
    assert_eq!(failed(&ran.checks), ["records"]);
}

#[test]
fn a_lost_update_is_found() {
    let case = loaded(&[("operations", "200"), ("mix", "own"), ("update", "1"), ("keys", "uniform")]);
    let lose = "CREATE TABLE before AS SELECT * FROM usertable";
    case.script(lose);
    let undo = "UPDATE usertable SET field0 = (SELECT field0 FROM before WHERE before.ycsb_key = usertable.ycsb_key)";
    let ran = case.run(|case| case.script(undo)).expect("runs");
    assert_eq!(failed(&ran.checks), ["latest writes"]);
    let check = ran.checks.iter().find(|check| check.name == "latest writes").expect("it is there");
    assert!(check.lost.is_some_and(|lost| lost > 0), "{check:?}");
    assert!(check.offenders[0].ends_with("was acknowledged, but the value is from the load"), "{:?}", check.offenders);
}

#[test]
fn reads_of_wrong_values_and_missing_records_are_failures_of_their_own_class() {
    let case = loaded(&[("operations", "400"), ("mix", "c"), ("keys", "uniform"), ("records", "20")]);
    case.script(FLIP);
    let ran = case.run(|_| {}).expect("runs");
    let errors: Vec<_> = ran.seconds.iter().flat_map(|second| &second.errors).collect();
    assert!(errors.iter().all(|error| error.code == "wrong_value"), "{errors:?}");
    let failures: u64 = ran.totals.iter().map(|counts| counts.failed).sum();
    assert!(failures > 0, "one of twenty records is wrong");
    assert_eq!(errors.iter().map(|error| error.count).sum::<u64>(), failures);
}

#[test]
fn adopted_data_are_used_as_they_stand() {
    let case = loaded(&[("records", "50")]);
    case.script("DROP TABLE proofload_manifest");
    let mut adopting = case;
    adopting.change(&[("records", "50"), ("data", "adopted"), ("operations", "100")]);
    adopting.check_data().expect("it is there");
    let ran = adopting.run(|_| {}).expect("runs");
    assert_eq!(failed(&ran.checks), [""; 0]);
    let error = adopting.build().unwrap_err().to_string();
    assert!(error.starts_with("workload.data is \"adopted\""), "{error}");
}

#[test]
fn settings_that_nothing_can_be_drawn_from_are_refused() {
    for (changes, expected) in [
        (vec![("mix", "own"), ("read", "0.5")], "the shares of an own mix are"),
        (vec![("key_mode", "ycsb"), ("theta", "0.5")], "0.99, which YCSB has built in"),
        (
            vec![("form", "json")],
            "workload.form = \"json\" is for mariadb, mysql, postgresql, sqlserver; sqlite supports \"columns\"",
        ),
    ] {
        let case = Case::new("sqlite", &changes).expect("built in");
        let error = case.build().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
