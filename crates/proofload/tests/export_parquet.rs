//! `export --format parquet`, read back by DuckDB: the same values as in CSV and JSON, and units beside them. Without DuckDB's library the
//! tests say SKIPPED.

mod support;

use proofload_engine::{AnySession, OwnedValue, Session, Target};
use proofload_model::wire::DataLocation;
use proofload_report::export::{CellKind, ExportTable, TABLES};
use serde_json::Value as Json;
use support::synthetic::Synthetic;
use support::{Bench, small_study, text};

/// Exports the record of a bench and hands DuckDB to the check, where its library is.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn with_duckdb(bench: &Bench, check: impl AsyncFnOnce(&mut AnySession)) {
    let duckdb = proofload_engine::engine("duckdb").expect("built in");
    if let Err(error) = duckdb.locate() {
        return println!("SKIPPED: export_parquet: {error}");
    }
    let place = DataLocation::in_folder("duckdb", bench.path("").display().to_string());
    let target = Target::new(place, None);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        duckdb.create_database(&target).await.expect("creates the database");
        check(&mut duckdb.connect(&target).await.expect("connects")).await;
    });
}

/// Rows of a query whose columns are all text; `None` is null.
async fn rows(session: &mut AnySession, sql: &str) -> Vec<Vec<Option<String>>> {
    let found = session.query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let cell = |value| match value {
        OwnedValue::Null => None,
        OwnedValue::Text(text) => Some(text),
        other => panic!("{sql}: {other:?} is no text"),
    };
    found.into_iter().map(|row| row.into_iter().map(cell).collect()).collect()
}

/// Whether this is the value of the JSON export. The parser of JSON may be off by the last bit of a number; the field of CSV is not.
fn same(kind: CellKind, found: Option<&str>, value: &Json) -> bool {
    let Some(found) = found else { return value.is_null() };
    match kind {
        CellKind::Text => value.as_str() == Some(found),
        CellKind::Integer => value.as_i64().is_some_and(|value| found == value.to_string()),
        CellKind::Number => value
            .as_f64()
            .zip(found.parse().ok())
            .is_some_and(|(value, found): (f64, f64)| (value - found).abs() <= f64::EPSILON * value.abs()),
        CellKind::Boolean => value.as_bool().is_some_and(|value| found == value.to_string()),
    }
}

/// Whether this is the field of the CSV export. Empty there is null or an empty text, and a formula has an apostrophe before it.
fn same_field(kind: CellKind, found: Option<&str>, field: Option<&str>) -> bool {
    let (found, field) = (found.unwrap_or_default(), field.unwrap_or_default());
    found == field
        || field.strip_prefix('\'') == Some(found)
        || kind == CellKind::Number && found.parse::<f64>().is_ok_and(|found| field.parse() == Ok(found))
}

async fn check_table(session: &mut AnySession, bench: &Bench, table: &ExportTable, json: &Json) {
    let file = |ending: &str| bench.path(&format!("{ending}/{}.{ending}", table.name)).display().to_string();
    let names: Vec<String> = table.columns.iter().map(|column| format!("\"{}\"::VARCHAR", column.name)).collect();
    let names = names.join(", ");
    let found = rows(session, &format!("SELECT {names} FROM read_parquet('{}')", file("parquet"))).await;
    let options = "header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"', new_line = '\\r\\n', \
                   max_line_size = 100000000, parallel = false";
    let fields = rows(session, &format!("SELECT {names} FROM read_csv('{}', {options})", file("csv"))).await;
    let values = json["tables"][table.name].as_array().expect("a table");
    assert_eq!((found.len(), fields.len()), (values.len(), values.len()), "{}", table.name);
    for (number, row) in found.iter().enumerate() {
        for (place, column) in table.columns.iter().enumerate() {
            let (cell, value, field) =
                (row[place].as_deref(), &values[number][column.name], fields[number][place].as_deref());
            let where_ = format!("{}.{} in row {number}: {cell:?}, {value}, {field:?}", table.name, column.name);
            assert!(same(column.kind, cell, value) && same_field(column.kind, cell, field), "{where_}");
        }
    }
}

/// Types and units, as DuckDB shows them.
async fn check_schema(session: &mut AnySession, bench: &Bench, table: &ExportTable) {
    let file = bench.path(&format!("parquet/{}.parquet", table.name)).display().to_string();
    let described = format!("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet('{file}'))");
    let wanted = |kind| match kind {
        CellKind::Text => "VARCHAR",
        CellKind::Integer => "BIGINT",
        CellKind::Number => "DOUBLE",
        CellKind::Boolean => "BOOLEAN",
    };
    let columns: Vec<_> = table
        .columns
        .iter()
        .map(|column| vec![Some(column.name.to_owned()), Some(wanted(column.kind).to_owned())])
        .collect();
    assert_eq!(rows(session, &described).await, columns, "{}", table.name);
    let said = format!(
        "SELECT decode(key), decode(value) FROM parquet_kv_metadata('{file}') WHERE decode(key) LIKE 'unit.%' ORDER BY 1"
    );
    let mut units: Vec<_> = table
        .columns
        .iter()
        .filter_map(|column| Some(vec![Some(format!("unit.{}", column.name)), Some(column.unit()?.to_owned())]))
        .collect();
    units.sort();
    assert_eq!(rows(session, &said).await, units, "{}", table.name);
}

fn export(bench: &Bench, format: &str) -> Json {
    let (folder, document) = (bench.path(format), bench.path("x.json"));
    let to = if format == "json" { &document } else { &folder };
    let output = bench.run(&["export", "x.proof", "--format", format, "-o", &to.display().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let read = || serde_json::from_slice(&std::fs::read(&document).expect("written")).expect("JSON");
    if format == "json" { read() } else { Json::Null }
}

fn check_record(bench: &Bench) {
    for format in ["csv", "parquet"] {
        export(bench, format);
    }
    let json = export(bench, "json");
    with_duckdb(bench, async |session| {
        for table in TABLES {
            check_table(session, bench, table, &json).await;
            check_schema(session, bench, table).await;
        }
        let file = bench.path("parquet/latencies.parquet").display().to_string();
        let unit = format!(
            "SELECT DISTINCT decode(key_value_metadata['unit'::BLOB]) FROM parquet_metadata('{file}') \
             WHERE path_in_schema = 'p99_ns'"
        );
        assert_eq!(rows(session, &unit).await, [[Some("ns".to_owned())]]);
        let about =
            format!("SELECT decode(value) FROM parquet_kv_metadata('{file}') WHERE decode(key) = 'proofload.row'");
        assert_eq!(rows(session, &about).await, [[Some("a kind of operation and a clock in a second".to_owned())]]);
    });
}

#[test]
fn duckdb_reads_every_table_as_csv_and_json_have_it() {
    let bench = Bench::new("parquet");
    Synthetic { repetitions: 1, scheduled: true, ..Synthetic::of(400.0, 1) }.write(&bench.path("x.proof"));
    check_record(&bench);
    let again = bench.run(&["export", "x.proof", "--format", "parquet", "--table", "operations"]);
    let file = std::fs::read(bench.path("parquet/operations.parquet")).expect("written");
    assert!(
        again.stdout == file && file.starts_with(b"PAR1") && file.ends_with(b"PAR1"),
        "equal bytes on standard output"
    );
}

/// A real run, for the tables that a simulation leaves empty.
#[test]
fn duckdb_reads_a_study_that_was_run() {
    let bench = Bench::new("parquet-real");
    bench.study(&small_study("sqlite", "", 1));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    check_record(&bench);
}
