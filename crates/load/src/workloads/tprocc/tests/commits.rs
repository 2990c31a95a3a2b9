//! A client that is killed while its COMMIT is under way: its step becomes permanent after the next build has looked. The step is held
//! open by a second session, which commits when the build waits for it.

use super::build::{draws, kept};
use super::case::Case;
use crate::workload::WorkloadRun as _;
use crate::workloads::blocking_session::{BlockingSession, integer, text};
use crate::workloads::tprocc::build::{Manifest, add_chunk, add_entry, wanted};
use proofload_gen::tprocc::population::Chunk;
use proofload_model::error::Error;
use std::time::Duration;

/// Begins a build, commits what is held when the build waits for it, and returns how the build ended.
fn build_beside(case: &Case, held: &mut BlockingSession) -> Result<(), Error> {
    let run = case.workload_run();
    let mut watch = case.session();
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    std::thread::scope(|scope| {
        let build = scope.spawn(|| run.build().map(drop));
        while integer(&watch.one_row(waiting).unwrap(), 0).unwrap() == 0 {
            assert!(!build.is_finished(), "the build ended without waiting: {:?}", build.join());
            std::thread::yield_now();
        }
        held.script("COMMIT").unwrap();
        build.join().expect("the build does not panic")
    })
}

/// A step that becomes permanent late is done, and the data are those that were drawn.
fn check(hold: impl FnOnce(&Case, &mut BlockingSession)) {
    let Some(case) = Case::new("postgresql", &[]) else { return };
    crate::workloads::blocking_session::runtime()
        .unwrap()
        .block_on(case.request.engine.create_database(&case.request.target))
        .unwrap();
    let mut held = case.session();
    hold(&case, &mut held);
    build_beside(&case, &mut held).unwrap();
    assert_eq!(kept(&case), draws(&case));
    case.workload_run().check_data().unwrap();
}

/// Loads a chunk and notes it, and leaves the transaction open.
fn hold_chunk(case: &Case, held: &mut BlockingSession) {
    let build = case.build();
    build.begin().unwrap();
    let chunk = build.chunks().nth(3).unwrap();
    held.script("BEGIN").unwrap();
    let parts = build.load_rows(held, chunk, &mut |_| {}).unwrap();
    held.script(&add_chunk(&case.dialect, chunk, &parts).unwrap()).unwrap();
}

#[test]
fn tables_committed_late_are_taken_as_made() {
    check(|case, held| {
        let statement = |name| case.dialect.suite.statement(name).unwrap().sql.clone();
        held.script(&format!("BEGIN; {}; {};", statement("schema"), statement("manifest_schema"))).unwrap();
        for (name, value) in wanted(&case.settings, &case.settings.population(&case.request.spec)) {
            held.script(&add_entry(&case.dialect, name, &value).unwrap()).unwrap();
        }
    });
}

#[test]
fn a_chunk_committed_late_is_taken_as_loaded() {
    check(hold_chunk);
}

#[test]
fn an_index_committed_late_is_taken_as_made() {
    check(|case, held| {
        let build = case.build();
        build.begin().unwrap();
        build.load(&build.chunks().collect::<Vec<Chunk>>(), &Manifest::default()).unwrap();
        let name = &case.dialect.suite.names_in("indexes.sql")[0];
        let sql = &case.dialect.suite.statement(name).unwrap().sql;
        let note = add_entry(&case.dialect, &format!("index {name}"), "yes").unwrap();
        held.script(&format!("BEGIN; {sql}; {note}")).unwrap();
    });
}

#[test]
fn an_end_committed_late_is_taken_as_noted() {
    check(|case, held| {
        case.workload_run().build().unwrap();
        let end = "entry = 'complete' OR entry LIKE 'total %'";
        held.script(&format!(
            "CREATE TEMP TABLE held AS SELECT * FROM proofload_manifest WHERE {end}; \
             DELETE FROM proofload_manifest WHERE {end}"
        ))
        .unwrap();
        held.script("BEGIN; INSERT INTO proofload_manifest SELECT * FROM held").unwrap();
    });
}

#[test]
fn a_chunk_noted_late_with_other_content_is_an_error() {
    let Some(case) = Case::new("postgresql", &[]) else { return };
    case.build().begin().unwrap();
    let mut held = case.session();
    hold_chunk(&case, &mut held);
    held.script("UPDATE proofload_manifest SET content = '0' WHERE entry LIKE 'rows %'").unwrap();
    let error = build_beside(&case, &mut held).unwrap_err().to_string();
    assert!(error.contains("duplicate key"), "{error}");
}

/// A build on MariaDB that meets the locks of a killed client, whose session holds its rows until the server notices.
#[test]
fn a_chunk_held_by_a_session_that_ends_later_is_tried_again() {
    let Some(case) = Case::new("mariadb", &[]) else { return };
    case.build().begin().unwrap();
    let mut held = case.session();
    held.script("SET GLOBAL innodb_lock_wait_timeout = 1").unwrap();
    hold_chunk(&case, &mut held);
    let run = case.workload_run();
    let mut watch = case.session();
    let failed = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'";
    let waits =
        |watch: &mut BlockingSession| -> u64 { text(&watch.one_row(failed).unwrap(), 1).unwrap().parse().unwrap() };
    let before = waits(&mut watch);
    std::thread::scope(|scope| {
        let build = scope.spawn(|| run.build().map(drop));
        // The second wait begins after the first has timed out.
        while waits(&mut watch) < before + 2 {
            assert!(!build.is_finished(), "the build ended without waiting: {:?}", build.join());
            std::thread::sleep(Duration::from_millis(20));
        }
        held.roll_back();
        build.join().expect("the build does not panic").unwrap();
    });
    // The server's own default, for the tests that have it next.
    held.script("SET GLOBAL innodb_lock_wait_timeout = 50").unwrap();
    assert_eq!(kept(&case), draws(&case));
}
