//! DuckDB against its real library: types, bulk loads, limits that are met, sessions that share one file. What needs no library
//! stands beside the code. Without a library each test says SKIPPED, or fails when `PROOFLOAD_REQUIRE_DUCKDB` is set.

mod support;

use proofload_engine::{
    AnySession, Column, ColumnKind, Control, Decimal, Error, ErrorClass, Flight, OwnedRow, OwnedValue, RowSource,
    Session, Statement, StatementId, Table, Target, Value, engine,
};
use support::{Place, Special};

/// Runs `check` on a new database with these settings, if there is a library.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn with_library(settings: &[(&str, &str)], check: impl AsyncFnOnce(&Place)) {
    let duckdb = engine("duckdb").expect("built in");
    let place = match Place::new(duckdb, settings, &Special { prefix: "proofload-duckdb-", ..Special::default() }) {
        Ok(place) => place,
        Err(reason) => {
            assert!(std::env::var_os("PROOFLOAD_REQUIRE_DUCKDB").is_none(), "duckdb is required: {reason}");
            return eprintln!("SKIPPED: duckdb: {reason}");
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        duckdb.create_database(&place.target).await.expect("creates the database");
        check(&place).await;
    });
}

async fn rows(session: &mut AnySession, sql: &str) -> Vec<OwnedRow> {
    session.query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

async fn refused(session: &mut AnySession, sql: &str) -> Error {
    session.query(sql).await.expect_err(sql)
}

fn decimal(units: i64, scale: u8) -> OwnedValue {
    OwnedValue::Decimal(Decimal { units, scale })
}

#[test]
fn every_type_is_read_exactly_or_refused() {
    with_library(&[], async |place| {
        let mut session = place.connect().await;
        for (sql, expected) in [
            ("true", OwnedValue::Integer(1)),
            ("(-128)::TINYINT", OwnedValue::Integer(-128)),
            ("(-32768)::SMALLINT", OwnedValue::Integer(-32768)),
            ("2147483647", OwnedValue::Integer(2_147_483_647)),
            ("(-9223372036854775808)::BIGINT", OwnedValue::Integer(i64::MIN)),
            ("255::UTINYINT", OwnedValue::Integer(255)),
            ("65535::USMALLINT", OwnedValue::Integer(65_535)),
            ("4294967295::UINTEGER", OwnedValue::Integer(4_294_967_295)),
            ("9223372036854775807::UBIGINT", OwnedValue::Integer(i64::MAX)),
            ("(-9223372036854775808)::HUGEINT", OwnedValue::Integer(i64::MIN)),
            ("1.25::DECIMAL(4,2)", decimal(125, 2)),
            ("(-12345.67)::DECIMAL(9,2)", decimal(-1_234_567, 2)),
            ("1234567890123.45::DECIMAL(15,2)", decimal(123_456_789_012_345, 2)),
            ("(-1.5)::DECIMAL(38,10)", decimal(-15_000_000_000, 10)),
            ("0.5::FLOAT", decimal(5, 1)),
            ("avg(x) FROM (VALUES (1), (2)) t(x)", decimal(15, 1)),
            ("100.0::DECIMAL(15,2) / 3", decimal(33_333_333_333_333_336, 15)),
            ("'short'", OwnedValue::Text("short".to_owned())),
            ("'twelve bytes'", OwnedValue::Text("twelve bytes".to_owned())),
            ("'thirteen byte' || 's'", OwnedValue::Text("thirteen bytes".to_owned())),
            ("DATE '1969-12-31'", OwnedValue::Time(-86_400_000_000)),
            ("TIMESTAMP '1970-01-01 00:00:01.5'", OwnedValue::Time(1_500_000)),
            ("TIMESTAMP_S '1970-01-01 00:00:02'", OwnedValue::Time(2_000_000)),
            ("TIMESTAMP_MS '1970-01-01 00:00:00.25'", OwnedValue::Time(250_000)),
            ("TIMESTAMP_NS '1970-01-01 00:00:00.000001'", OwnedValue::Time(1)),
            ("NULL", OwnedValue::Null),
            ("NULL::DECIMAL(38,2)", OwnedValue::Null),
        ] {
            assert_eq!(rows(&mut session, &format!("SELECT {sql}")).await, [[expected]], "{sql}");
        }
        for sql in [
            "SELECT 9223372036854775808::HUGEINT",
            "SELECT 18446744073709551615::UBIGINT",
            "SELECT 'nan'::DOUBLE",
            "SELECT 1e300::DOUBLE",
            "SELECT DATE 'infinity'",
            "SELECT TIMESTAMP_NS '1970-01-01 00:00:00.000000001'",
            "SELECT [1, 2]",
            "SELECT INTERVAL 1 DAY",
        ] {
            assert_eq!(refused(&mut session, sql).await.class(), ErrorClass::Data, "{sql}");
        }
    });
}

#[test]
fn results_of_many_chunks_come_whole_and_in_order() {
    with_library(&[], async |place| {
        let mut session = place.connect().await;
        let sql =
            "SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE 'text of row ' || i END FROM range(10000) t(i) ORDER BY i";
        let found = rows(&mut session, sql).await;
        assert_eq!(found.len(), 10_000);
        for (place, row) in found.iter().enumerate() {
            let text = OwnedValue::Text(format!("text of row {place}"));
            let text = if place % 3 == 0 { OwnedValue::Null } else { text };
            assert_eq!(row, &[OwnedValue::Integer(place as i64), text]);
        }
    });
}

/// Gives these rows once.
struct Given<'a>(std::vec::IntoIter<Vec<Value<'a>>>);

impl RowSource for Given<'_> {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        self.0.next().map(|row| sink(&row)).is_some()
    }
}

const WIDE: Table = Table {
    name: "wide",
    columns: &[
        Column { name: "day", kind: ColumnKind::Time },
        Column { name: "small", kind: ColumnKind::Integer { bits: 16 } },
        Column { name: "price", kind: ColumnKind::Decimal { scale: 2 } },
        Column { name: "note", kind: ColumnKind::Text },
    ],
};

async fn append(session: &mut AnySession, rows: Vec<Vec<Value<'_>>>) -> Result<u64, Error> {
    session.append(&WIDE, &mut Given(rows.into_iter())).await
}

#[test]
fn a_bulk_load_converts_to_the_columns_own_types_or_leaves_nothing() {
    with_library(&[], async |place| {
        let mut session = place.connect().await;
        let columns = "price DECIMAL(38,4), extra INTEGER DEFAULT 7, note VARCHAR, day DATE, small SMALLINT";
        session.script(&format!("CREATE TABLE wide ({columns})")).await.expect("creates");
        let row = |day, small, price, note| vec![Value::Time(day), Value::Integer(small), price, Value::Text(note)];
        let price = |units| Value::Decimal(Decimal { units, scale: 2 });
        let day = 86_400_000_000;
        let good =
            vec![row(day, -1, price(-150), "x"), row(0, 32_767, Value::Null, "a note of more than twelve bytes")];
        assert_eq!(append(&mut session, good).await.expect("appends"), 2);
        let sql = "SELECT small, price, extra, note, day FROM wide ORDER BY small";
        let found = rows(&mut session, sql).await;
        let text = |text: &str| OwnedValue::Text(text.to_owned());
        let (integer, time) = (OwnedValue::Integer, OwnedValue::Time);
        assert_eq!(found[0], [integer(-1), decimal(-15_000, 4), integer(7), text("x"), time(day)]);
        assert_eq!(found[1][..2], [integer(32_767), OwnedValue::Null]);
        assert_eq!(found[1][3..], [text("a note of more than twelve bytes"), time(0)]);
        for (bad, column) in [
            (row(day, 32_768, price(1), "x"), "small"),
            (row(day + 1, 1, price(1), "x"), "day"),
            (vec![Value::Null, Value::Text("x"), Value::Null, Value::Null], "small"),
        ] {
            let error = append(&mut session, vec![row(0, 1, price(1), "kept out"), bad]).await.expect_err(column);
            assert!(error.class() == ErrorClass::Data && error.to_string().contains(column), "{error}");
        }
        let short = append(&mut session, vec![vec![Value::Null]]).await.expect_err("a row of one value");
        assert!(short.to_string().contains("a row needs 4 values, but has 1"), "{short}");
        assert_eq!(rows(&mut session, "SELECT count(*) FROM wide").await, [[integer(2)]]);
        let absent = Table { name: "absent", columns: WIDE.columns };
        session.append(&absent, &mut Given(Vec::new().into_iter())).await.expect_err("there is no such table");
    });
}

/// A sort that wants more than 64 MiB and, spilled, more than 4 MiB.
const LARGE: &str = "SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY md5(i::VARCHAR), i) AS r \
                     FROM range(2000000) t(i)) WHERE r > 5";

fn check_room(settings: &[(&str, &str)], words: &str) {
    with_library(settings, async |place| {
        let mut session = place.connect().await;
        let error = refused(&mut session, LARGE).await;
        assert!(error.class() == ErrorClass::OutOfSpace && error.to_string().contains(words), "{error}");
        assert_eq!(rows(&mut session, "SELECT 1").await, [[OwnedValue::Integer(1)]], "the session goes on");
    });
}

#[test]
fn memory_that_is_too_small_is_out_of_space() {
    check_room(&[("memory_limit", "16MiB"), ("threads", "2")], "16.0 MiB");
}

#[test]
fn a_full_temporary_folder_is_out_of_space() {
    let settings = [("memory_limit", "64MiB"), ("max_temp_directory_size", "4MiB"), ("threads", "2")];
    check_room(&settings, "failed to offload");
}

#[test]
fn what_does_not_fit_memory_spills_beside_the_data() {
    with_library(&[("memory_limit", "64MiB"), ("threads", "2")], async |place| {
        let mut session = place.connect().await;
        assert_eq!(rows(&mut session, LARGE).await.len(), 1);
        let facts = place.engine.verify_settings(&place.target).await.expect("reads back");
        let folder = facts.iter().find(|fact| fact.name == "temp_directory").expect("a fact");
        assert!(folder.effective.as_deref().is_some_and(|path| path.starts_with(&place.target.place.folder)));
    });
}

const ENDLESS: &str = "SELECT count(*) FROM range(1000000000) a(i), range(1000000000) b(j) WHERE (i * j) % 7 = 3";

#[test]
fn a_statement_that_takes_too_long_is_interrupted_and_the_next_is_not() {
    with_library(&[("statement_timeout", "2s"), ("threads", "1")], async |place| {
        let mut session = place.connect().await;
        let statement =
            |sql: &str| Statement { name: "s".to_owned(), sql: sql.to_owned(), parameters: Vec::new(), columns: 1 };
        session.prepare(&[statement(ENDLESS), statement("SELECT 1")]).await.expect("prepares");
        for _ in 0..2 {
            let error = refused(&mut session, ENDLESS).await;
            assert_eq!((error.class(), error.code()), (ErrorClass::Other, "statement_timeout"), "{error}");
            let mut flight = Flight::new();
            flight.control(Control::Begin);
            flight.call(StatementId(0), &[]);
            flight.control(Control::Commit);
            let error = session.fly(&mut flight).await.expect_err("it takes too long");
            assert_eq!(error.code(), "statement_timeout", "{error}");
            flight.clear();
            flight.control(Control::Rollback);
            let quick = flight.call(StatementId(1), &[]);
            session.fly(&mut flight).await.expect("the next one is quick");
            assert_eq!(flight.rows(quick), 1);
        }
        let facts = place.engine.verify_settings(&place.target).await.expect("reads back");
        assert!(facts.iter().any(|fact| fact.name == "statement_timeout" && fact.holds == Some(true)));
    });
}

#[test]
fn sessions_share_one_handle_that_is_checkpointed_with_the_last() {
    with_library(&[], async |place| {
        let (mut one, mut other) = (place.connect().await, place.connect().await);
        one.script("CREATE TABLE t AS SELECT i FROM range(1000) t(i)").await.expect("writes");
        assert_eq!(rows(&mut other, "SELECT count(*) FROM t").await, [[OwnedValue::Integer(1000)]]);
        let different = asking(&place.target, "threads", "1");
        let error = place.engine.connect(&different).await.expect_err("it is open otherwise").to_string();
        assert!(error.contains("other settings"), "{error}");
        let log = std::path::Path::new(&place.target.place.folder).join("data/proofload.duckdb.wal");
        assert!(log.exists());
        drop(one);
        assert!(log.exists(), "a session is left");
        drop(other);
        assert!(!log.exists(), "the log was moved into the file");
        drop(place.engine.connect(&different).await.expect("it is closed now"));
    });
}

#[test]
fn sessions_of_many_threads_open_work_and_close_at_once() {
    with_library(&[("threads", "2"), ("statement_timeout", "1m")], async |place| {
        place.connect().await.script("CREATE TABLE t (i BIGINT)").await.expect("creates");
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || work(&place.target, thread));
            }
        });
        let found = rows(&mut place.connect().await, "SELECT count(*), count(DISTINCT i) FROM t").await;
        assert_eq!(found, [[OwnedValue::Integer(160), OwnedValue::Integer(160)]]);
    });
}

/// Opens a session anew for each of 20 inserts, so that the handle is opened and closed under the feet of others.
fn work(target: &Target, thread: i64) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for turn in 0..20 {
            let mut session = engine("duckdb").expect("built in").connect(target).await.expect("connects");
            session.script(&format!("INSERT INTO t VALUES ({})", thread * 20 + turn)).await.expect("inserts");
        }
    });
}

fn asking(target: &Target, name: &str, value: &str) -> Target {
    let mut target = target.clone();
    target.place.settings.push((name.to_owned(), value.to_owned()));
    target
}

#[test]
fn wrong_settings_and_libraries_are_one_line() {
    with_library(&[], async |place| {
        for (name, value, words) in [
            ("library", "/nowhere/libduckdb.so", "make duckdb"),
            ("no_such_option", "1", "no_such_option"),
            ("threads", "many", "threads"),
            ("memory_limit", "plenty", "memory_limit"),
        ] {
            let error = place.engine.connect(&asking(&place.target, name, value)).await.expect_err(name).to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{error}");
        }
        drop(place.engine.connect(&asking(&place.target, "enable_progress_bar", "false")).await.expect("of a session"));
    });
}
