//! Layouts and threads of a query: what an engine cannot do is a fault of the study, what it can do is in force.

use super::case::Case;
use crate::WorkloadRun as _;
use crate::workloads::blocking_session::integer;
use proofload_model::settings::{Settings, Value as Setting};

/// The contradictions of these settings, one a line.
fn contradictions(settings: &Settings) -> String {
    let all = (crate::workload("warehouse").unwrap().facts().contradictions)(settings);
    all.iter().map(|found| format!("{}: {}\n", found.setting, found.reason)).collect()
}

#[test]
fn what_an_engine_cannot_do_is_a_fault_of_the_study() {
    let check = |engine: &str, changes: &[(&str, &str)], expected: &str| {
        assert_eq!(contradictions(&super::case::settings(engine, changes)), expected);
    };
    check("sqlite", &[("layout", "engine")], "");
    check("postgresql", &[("layout", "columns")], "");
    check(
        "sqlite",
        &[("layout", "columns"), ("mix", "1/1")],
        "workload.mix: \"1/1\" must be \"each\" or three whole numbers for simple, average and complex queries, such \
         as \"70/20/10\"\nworkload.layout: sqlite stores tables only by rows; use \"engine\" or \"rows\"\n",
    );
    let label = |layout| {
        let settings = super::case::settings("postgresql", &[("layout", layout)]);
        crate::workload("warehouse").unwrap().data_label(&settings, 1)
    };
    assert_eq!(label("engine"), label("rows"));
    assert_ne!(label("columns"), label("rows"));
    check("sqlserver", &[("layout", "columns"), ("column_order", "l_shipdate")], "");
    for (engine, layout, words) in [
        ("sqlserver", "rows", "sqlserver by rows"),
        ("duckdb", "columns", "duckdb by columns"),
        ("postgresql", "columns", "postgresql by columns"),
    ] {
        let expected =
            format!("workload.column_order: {words} keeps no order; remove it, or use sqlserver by columns\n");
        check(engine, &[("layout", layout), ("column_order", "l_shipdate")], &expected);
    }
    check("postgresql", &[("parallelism", "4")], "");
    check("sqlite", &[("parallelism", "1")], "workload.parallelism: sqlite runs each query on one thread; remove it\n");
    check(
        "null",
        &[],
        "engine.kind: the workload warehouse does not support the engine null; it supports duckdb, mariadb, mysql, postgresql, sqlite, sqlserver\n",
    );
}

#[test]
fn data_in_an_order_are_other_data_where_a_layout_has_orders() {
    let label = |engine, changes: &[(&str, &str)]| {
        crate::workload("warehouse").unwrap().data_label(&super::case::settings(engine, changes), 1)
    };
    let columns = ("layout", "columns");
    assert_ne!(label("sqlserver", &[columns]), label("sqlserver", &[columns, ("column_order", "l_shipdate")]));
    assert!(label("sqlserver", &[columns]).contains("column order none"));
    assert!(!label("duckdb", &[columns]).contains("column order"));
}

#[test]
fn threads_are_set_by_the_workload_or_by_the_engine_and_not_by_both() {
    let mut settings = super::case::settings("duckdb", &[("parallelism", "2")]);
    assert_eq!(contradictions(&settings), "");
    settings.0.insert("engine.threads".to_owned(), Setting::Integer(2));
    let expected = "workload.parallelism: engine.threads sets the same; remove one of the two\n";
    assert_eq!(contradictions(&settings), expected);
}

/// Checks that the threads asked for are in force, or the number that the engine has instead.
pub(super) fn check_parallelism(case: &Case, asked: &str, in_force: &str) {
    if case.dialect.suite.find("parallelism").is_none() {
        return;
    }
    let facts = case.opened_with(&[("parallelism", asked)]).begin().unwrap();
    let fact = facts.iter().find(|fact| fact.name == "parallelism").unwrap();
    let found = (fact.requested.as_deref(), fact.effective.as_deref(), fact.holds);
    assert_eq!(found, (Some(asked), Some(in_force), Some(asked == in_force)));
}

/// An access method of the name that the suite asks for; its tables are heaps in fact, so that no extension is needed.
const COLUMNAR: &str = "CREATE ACCESS METHOD columnar TYPE TABLE HANDLER heap_tableam_handler";

#[test]
fn columns_of_postgresql_need_an_access_method_and_are_in_force_after_the_load() {
    let Some(case) = Case::new("postgresql", &[("layout", "columns"), ("check_load", "counts")]) else { return };
    let error = case.workload_run().build().unwrap_err().to_string();
    assert!(error.starts_with("to store columns, the server needs the access method columnar: install"), "{error}");
    case.session().script(COLUMNAR).unwrap();
    let manifest = case.load().begin().unwrap();
    case.load().load_missing(&manifest).unwrap();
    case.session().script("ALTER TABLE region SET ACCESS METHOD heap").unwrap();
    let error = case.workload_run().build().unwrap_err().to_string();
    assert_eq!(error, "region should be stored by columns, but are not");
    case.session().script("ALTER TABLE region SET ACCESS METHOD columnar").unwrap();

    let facts = case.workload_run().build().unwrap();
    let fact = facts.iter().find(|fact| fact.name == "layout").and_then(|fact| fact.effective.as_deref());
    assert_eq!(fact, Some("columns"));
    let indexes =
        "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() AND tablename <> 'proofload_manifest'";
    assert_eq!(integer(&case.session().one_row(indexes).unwrap(), 0).unwrap(), 0);
    let error = case.opened_with(&[("layout", "rows")]).check_data().unwrap_err().to_string();
    assert!(error.contains("layout is columns, but the study needs rows"), "{error}");
}
