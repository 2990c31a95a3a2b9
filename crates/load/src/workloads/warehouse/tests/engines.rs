//! What holds on every engine, over one load of each: rows, answers, a power run, threads of a query, and what a run
//! must bear or refuse.

use super::answers::{check_golden, check_large_sums};
use super::bad_input::{check_cap, check_other_data, check_room, check_wrong_answers};
use super::case::Case;
use super::data::check_files;
use super::layouts::check_parallelism;
use super::runs::{check_power_run, check_probes};

fn check_engine(engine: &str) {
    let Some(case) = Case::built(engine, &[]) else { return };
    check_files(&case);
    check_golden(&case);
    // SQLite's decimals are integers, and its largest sums do not leave 64 bits before its data are no use there.
    if engine != "sqlite" {
        check_large_sums(&case);
    }
    check_power_run(&case);
    check_cap(&case);
    check_probes(&case);
    check_parallelism(&case, "1", "1");
    check_parallelism(&case, "3", "3");
    // PostgreSQL has 8 helpers for all its sessions unless it is told otherwise.
    check_parallelism(&case, "40", if engine == "postgresql" { "9" } else { "40" });
    check_room(&case);
    check_other_data(&case);
    check_wrong_answers(&case);
}

#[test]
fn sqlite_has_the_official_rows_and_all_answers() {
    check_engine("sqlite");
}

#[test]
fn postgresql_has_the_official_rows_and_all_answers() {
    check_engine("postgresql");
}

#[test]
fn mariadb_has_the_official_rows_and_all_answers() {
    check_engine("mariadb");
}

#[test]
#[ignore = "issue 17: a minute; run where MySQL is"]
fn mysql_has_the_official_rows_and_all_answers() {
    check_engine("mysql");
}

#[test]
fn duckdb_has_the_official_rows_and_all_answers() {
    check_engine("duckdb");
}
