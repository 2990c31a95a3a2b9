//! The conformance suite: every registered engine must keep the contract, as far as its capabilities reach.
//!
//! A new engine is found here by its line in the registry; only its words for types and two examples are to be added below.

mod support;

use proofload_engine::{
    AnySession, Column, ColumnKind, Control, Decimal, ENGINES, Engine, Error, ErrorClass, Flight, OwnedValue,
    RowSource, Session, Statement, StatementId, Table, Value,
};
use proofload_model::data_file::DataFile;
use support::{Place, Special};

/// What the tests have to know of an engine: the file `conformance.toml` of its folder.
struct Dialect {
    /// Types of integer, big integer, decimal with two digits, text, time.
    types: [String; 5],
    /// Settings to start with.
    settings: Vec<(String, String)>,
    /// A setting that is not in force, and cannot be for this place.
    not_in_force: (String, String),
    /// The last element and the number of a list's elements, where the dialect has lists.
    of_list: Option<String>,
    /// An update that returns what it left, where the dialect has no RETURNING.
    bump: Option<String>,
    /// How to make a database that is not ours.
    foreign: Vec<(String, String)>,
}

impl Dialect {
    fn settings(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn foreign(&self, key: &str) -> Option<&str> {
        self.foreign.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

fn dialect(engine: &dyn Engine) -> Dialect {
    let (name, keys) = (engine.facts().name, ["types", "of_list", "bump", "settings.*", "not_in_force.*", "foreign.*"]);
    if !engine.facts().capabilities.durable {
        let (types, not_in_force) = (Default::default(), (name.to_owned(), String::new()));
        return Dialect { types, settings: Vec::new(), not_in_force, of_list: None, bump: None, foreign: Vec::new() };
    }
    let path = format!("{}/src/engines/{name}/conformance.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file = DataFile::read(&path, &text, &keys).unwrap_or_else(|error| panic!("{error}"));
    let table = |key: &str| -> Vec<(String, String)> {
        let pairs = file.table(key).expect("texts");
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    let types = file.texts("types").expect("texts").expect("types");
    Dialect {
        types: types.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>().try_into().expect("five types"),
        settings: table("settings"),
        not_in_force: table("not_in_force").pop().expect("a setting that is not in force"),
        of_list: file.text("of_list").expect("a text").map(str::to_owned),
        bump: file.text("bump").expect("a text").map(str::to_owned),
        foreign: table("foreign"),
    }
}

/// Runs every check on every engine with SQL sessions that keeps data, the null engine's own on that.
#[test]
fn every_engine_keeps_the_contract() {
    for engine in ENGINES.iter().filter(|engine| engine.facts().capabilities.sql) {
        let name = engine.facts().name;
        let place = match Place::new(*engine, &dialect(*engine).settings(), &Special::default()) {
            Ok(place) => place,
            Err(reason) => {
                let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
                assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
                eprintln!("SKIPPED: {name}: {reason}");
                continue;
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            place.engine.create_database(&place.target).await.expect("creates the database");
            if engine.facts().capabilities.durable { check_durable(&place).await } else { check_null(&place).await }
        });
    }
}

async fn check_durable(place: &Place) {
    make_tables(place).await;
    check_round_trip(place).await;
    check_rollback(place).await;
    check_error_in_a_flight(place).await;
    check_conflict(place).await;
    check_large_flight(place).await;
    check_lists(place).await;
    check_bulk_append(place).await;
    check_append_is_atomic(place).await;
    check_wrong_statements(place).await;
    check_settings(place).await;
    check_reopening(place).await;
    check_foreign_database(place).await;
    check_observer(place).await;
}

const INSERT: StatementId = StatementId(0);
const SELECT: StatementId = StatementId(1);
const UPDATE: StatementId = StatementId(2);
const BUMP: StatementId = StatementId(3);
const COUNT: StatementId = StatementId(4);

fn statement(name: &str, sql: &str, parameters: &[&str], columns: u16) -> Statement {
    let parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
    Statement { name: name.to_owned(), sql: sql.to_owned(), parameters, columns }
}

fn statements(dialect: &Dialect) -> Vec<Statement> {
    let bump = dialect.bump.as_deref().unwrap_or("UPDATE kept SET big = big + :by WHERE id = :id RETURNING big, name");
    vec![
        statement(
            "insert",
            "INSERT INTO kept (id, big, amount, name, moment) VALUES (:id, :big, :amount, :name, :at)",
            &["name", "id", "big", "amount", "at"],
            0,
        ),
        statement("select", "SELECT id, big, amount, name, moment FROM kept WHERE id >= :low ORDER BY id", &["low"], 5),
        statement("update", "UPDATE kept SET big = big + :by WHERE id <= :high", &["high", "by"], 0),
        statement("bump", bump, &["id", "by"], 2),
        statement("count", "SELECT count(*) FROM kept", &[], 1),
    ]
}

async fn make_tables(place: &Place) {
    let [integer, big, decimal, text, time] = dialect(place.engine).types;
    let columns = format!("id {integer} NOT NULL PRIMARY KEY, big {big}, amount {decimal}, name {text}, moment {time}");
    let script = format!("CREATE TABLE kept ({columns}); CREATE TABLE bulk ({columns})");
    place.connect().await.script(&script).await.expect("creates tables");
}

async fn prepared(place: &Place) -> AnySession {
    let mut session = place.connect().await;
    session.prepare(&statements(&dialect(place.engine))).await.expect("prepares");
    session
}

/// Cents as this engine binds them.
fn cents(units: i64) -> Value<'static> {
    Value::Decimal(Decimal { units, scale: 2 })
}

async fn fly(session: &mut AnySession, calls: &[(StatementId, &[Value<'_>])], end: Control) -> Result<Flight, Error> {
    let mut flight = Flight::new();
    flight.control(Control::Begin);
    for (statement, parameters) in calls {
        flight.call(*statement, parameters);
    }
    flight.control(end);
    session.fly(&mut flight).await.map(|()| flight)
}

async fn count(session: &mut AnySession) -> i64 {
    let flight = fly(session, &[(COUNT, &[])], Control::Commit).await.expect("counts");
    flight.row(1, 0).expect("one row").value(0).integer().expect("a count")
}

async fn check_round_trip(place: &Place) {
    let mut session = prepared(place).await;
    let first = [
        Value::Text("äöü ' \" :id 漢"),
        Value::Integer(1),
        Value::Integer(i64::MAX),
        cents(-123_456),
        Value::Time(1_700_000_000_123_456),
    ];
    let second = [Value::Null, Value::Integer(2), Value::Null, Value::Null, Value::Null];
    let third = [Value::Text(""), Value::Integer(3), Value::Integer(i64::MIN), cents(0), Value::Time(-1)];
    fly(&mut session, &[(INSERT, &first), (INSERT, &second), (INSERT, &third)], Control::Commit)
        .await
        .expect("inserts");
    let mut flight = Flight::new();
    for _ in 0..2 {
        flight.clear();
        flight.control(Control::BeginReadOnly);
        let call = flight.call(SELECT, &[Value::Integer(1)]);
        let none = flight.call(SELECT, &[Value::Integer(100)]);
        flight.control(Control::Commit);
        session.fly(&mut flight).await.expect("selects");
        assert_eq!((flight.rows(call), flight.rows(none)), (3, 0));
        let row = flight.row(call, 0).expect("a row");
        assert_eq!((row.value(0), row.value(1)), (Value::Integer(1), Value::Integer(i64::MAX)));
        assert_eq!((row.value(2).units(2), row.value(3)), (Some(-123_456), Value::Text("äöü ' \" :id 漢")));
        assert_eq!(row.value(4).integer(), Some(1_700_000_000_123_456));
        let row = flight.row(call, 1).expect("a row");
        assert_eq!([1, 2, 3, 4].map(|column| row.value(column)), [Value::Null; 4]);
        let row = flight.row(call, 2).expect("a row");
        assert_eq!((row.value(1).integer(), row.value(2).units(2)), (Some(i64::MIN), Some(0)));
        assert_eq!((row.value(3), row.value(4).integer()), (Value::Text(""), Some(-1)));
    }
    let calls: &[(StatementId, &[Value<'_>])] = &[
        (BUMP, &[Value::Integer(1), Value::Integer(-7)]),
        (UPDATE, &[Value::Integer(0), Value::Integer(1)]),
        (UPDATE, &[Value::Integer(2), Value::Integer(0)]),
    ];
    let flight = fly(&mut session, calls, Control::Commit).await.expect("updates");
    assert_eq!(
        flight.row(1, 0).expect("a row").value(0),
        Value::Integer(i64::MAX - 7),
        "returning gives the new value"
    );
    assert_eq!([1, 2, 3].map(|call| flight.answer(call).affected()), [1, 0, 2]);
}

async fn check_rollback(place: &Place) {
    let mut session = prepared(place).await;
    let before = count(&mut session).await;
    let row = [Value::Null, Value::Integer(50), Value::Null, Value::Null, Value::Null];
    fly(&mut session, &[(INSERT, &row)], Control::Rollback).await.expect("rolls back");
    assert_eq!(count(&mut session).await, before);
}

async fn check_error_in_a_flight(place: &Place) {
    let mut session = prepared(place).await;
    let before = count(&mut session).await;
    let fresh = [Value::Null, Value::Integer(60), Value::Null, Value::Null, Value::Null];
    let twice = [Value::Null, Value::Integer(1), Value::Null, Value::Null, Value::Null];
    let calls: &[(StatementId, &[Value<'_>])] = &[(INSERT, &fresh), (INSERT, &twice)];
    let error = fly(&mut session, calls, Control::Commit).await.expect_err("the key is taken");
    assert_eq!(error.class(), ErrorClass::Data, "{error}");
    assert!(error.to_string().contains("insert"), "the statement is named: {error}");
    let mut flight = Flight::new();
    flight.control(Control::Commit);
    session.fly(&mut flight).await.expect_err("a failed transaction cannot be committed by a later flight");
    for _ in 0..2 {
        flight.clear();
        flight.control(Control::Rollback);
        session.fly(&mut flight).await.expect("rolls back, also when nothing is open");
    }
    assert_eq!(count(&mut session).await, before, "nothing of the failed flight is left");
}

/// Two sessions take two rows in opposite order: one must be told to try again.
async fn check_conflict(place: &Place) {
    let (mut one, mut other) = (prepared(place).await, prepared(place).await);
    let bump = |session: &mut Flight, id| session.call(BUMP, &[Value::Integer(id), Value::Integer(1)]);
    let mut flights = [Flight::new(), Flight::new()];
    for (flight, id) in flights.iter_mut().zip([1, 3]) {
        flight.control(Control::Begin);
        bump(flight, id);
    }
    one.fly(&mut flights[0]).await.expect("takes the first row");
    let mut errors = Vec::new();
    match other.fly(&mut flights[1]).await {
        Err(error) => errors.push(error),
        Ok(()) => {
            for (flight, id) in flights.iter_mut().zip([3, 1]) {
                flight.clear();
                bump(flight, id);
            }
            let [first, second] = &mut flights;
            let (first, second) = futures_util::future::join(one.fly(first), other.fly(second)).await;
            errors.extend(first.err().into_iter().chain(second.err()));
        }
    }
    assert!(!errors.is_empty() && errors.iter().all(Error::is_retryable), "{}: {errors:?}", place.engine.facts().name);
    for session in [&mut one, &mut other] {
        let mut flight = Flight::new();
        flight.control(Control::Rollback);
        session.fly(&mut flight).await.expect("rolls back");
    }
}

/// More calls than any engine sends at once; each answer is its own call's.
async fn check_large_flight(place: &Place) {
    let mut session = prepared(place).await;
    let mut flight = Flight::new();
    flight.control(Control::BeginReadOnly);
    for index in 0..2_000 {
        flight.call(SELECT, &[Value::Integer(index % 4 + 1)]);
    }
    flight.control(Control::Commit);
    session.fly(&mut flight).await.expect("flies");
    for index in 0..2_000usize {
        let expected = 3 - index % 4;
        assert_eq!(flight.rows(index + 1), expected, "rows of call {index}");
        let first = flight.row(index + 1, 0).and_then(|row| row.value(0).integer());
        assert_eq!(first, (expected > 0).then_some(index as i64 % 4 + 1));
    }
}

/// Lists arrive as they were given, also empty, and are refused where the engine has none.
async fn check_lists(place: &Place) {
    let mut session = place.connect().await;
    let asked = dialect(place.engine);
    let sql = asked.of_list.as_deref();
    session.prepare(&[statement("of list", sql.unwrap_or("SELECT :list, 1"), &["list"], 2)]).await.expect("prepares");
    let lists: [&[i32]; 4] = [&[7], &[1, 2, i32::MIN, i32::MAX], &[], &[0; 300]];
    let mut flight = Flight::new();
    for list in lists {
        flight.call(StatementId(0), &[Value::Integers(list)]);
    }
    let flown = session.fly(&mut flight).await;
    if sql.is_none() {
        assert_eq!(flown.expect_err("there are no lists").class(), ErrorClass::Data);
        return;
    }
    flown.expect("takes lists");
    for (call, list) in lists.iter().enumerate() {
        let row = flight.row(call, 0).expect("a row");
        let last = list.last().map_or(Value::Null, |last| Value::Integer((*last).into()));
        assert_eq!((row.value(0), row.value(1)), (last, Value::Integer(list.len() as i64)));
    }
}

const BULK: Table = Table {
    name: "bulk",
    columns: &[
        Column { name: "id", kind: ColumnKind::Integer { bits: 32 } },
        Column { name: "big", kind: ColumnKind::Integer { bits: 64 } },
        Column { name: "amount", kind: ColumnKind::Decimal { scale: 2 } },
        Column { name: "name", kind: ColumnKind::Text },
        Column { name: "moment", kind: ColumnKind::Time },
    ],
};

/// Rows `next..end`; every seventh has nulls.
struct Rows {
    next: i64,
    end: i64,
}

impl RowSource for Rows {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.end {
            return false;
        }
        let id = self.next;
        let name = format!("row {id} ä");
        if id % 7 == 0 {
            sink(&[Value::Integer(id), Value::Null, Value::Null, Value::Null, Value::Null]);
        } else {
            let amount = Value::Decimal(Decimal { units: id * 1001 - 5_000_000, scale: 2 });
            sink(&[Value::Integer(id), Value::Integer(-id), amount, Value::Text(&name), Value::Time(id * 1_000_003)]);
        }
        self.next += 1;
        true
    }
}

async fn check_bulk_append(place: &Place) {
    let mut session = place.connect().await;
    let appended = session.append(&BULK, &mut Rows { next: 0, end: 20_000 }).await.expect("appends");
    assert_eq!(appended, 20_000);
    let rows = session.query("SELECT count(*), count(name), sum(big), sum(amount) FROM bulk").await.expect("sums");
    let kept = (0..20_000i64).filter(|id| id % 7 != 0);
    let value = |column: usize| rows[0][column].as_value();
    assert_eq!(value(0).integer(), Some(20_000));
    assert_eq!(value(1).integer(), Some(kept.clone().count() as i64));
    assert_eq!(value(2).integer(), Some(-kept.clone().sum::<i64>()));
    assert_eq!(value(3).units(2), Some(kept.map(|id| id * 1001 - 5_000_000).sum()));
    let rows =
        session.query("SELECT id, name, moment FROM bulk WHERE id IN (4, 7) ORDER BY id").await.expect("selects");
    assert_eq!(rows[0][1], OwnedValue::Text("row 4 ä".to_owned()));
    assert_eq!(rows[0][2].as_value().integer(), Some(4_000_012));
    assert_eq!((&rows[1][1], &rows[1][2]), (&OwnedValue::Null, &OwnedValue::Null));
}

async fn check_append_is_atomic(place: &Place) {
    let mut session = place.connect().await;
    let error = session.append(&BULK, &mut Rows { next: 19_990, end: 20_010 }).await.expect_err("keys are taken");
    assert_eq!(error.class(), ErrorClass::Data, "{error}");
    session.script("BEGIN").await.expect("begins");
    assert_eq!(session.append(&BULK, &mut Rows { next: 30_000, end: 30_010 }).await.expect("appends"), 10);
    session.script("ROLLBACK").await.expect("rolls back");
    let rows = session.query("SELECT count(*) FROM bulk").await.expect("counts");
    assert_eq!(rows[0][0].as_value().integer(), Some(20_000));
}

async fn check_wrong_statements(place: &Place) {
    let mut session = place.connect().await;
    let wrong = [
        statement("no table", "SELECT a FROM absent", &[], 1),
        statement("unlisted parameter", "SELECT id FROM kept WHERE id = :id", &[], 1),
        statement("width", "SELECT id FROM kept", &[], 2),
    ];
    for statement in wrong {
        let name = statement.name.clone();
        let error = session.prepare(&[statement]).await.expect_err(&name).to_string();
        assert!(error.contains(&name), "{error}");
    }
    let mut flight = Flight::new();
    flight.call(StatementId(99), &[]);
    session.fly(&mut flight).await.expect_err("nothing is prepared");
    let mut session = prepared(place).await;
    flight.clear();
    flight.call(SELECT, &[]);
    let error = session.fly(&mut flight).await.expect_err("a parameter is missing").to_string();
    assert!(error.contains("select"), "{error}");
    session.query("SELECT nonsense").await.expect_err("a wrong query is an error");
    assert!(count(&mut session).await > 0, "the session goes on");
}

async fn check_settings(place: &Place) {
    let asked = dialect(place.engine);
    let facts = place.engine.verify_settings(&place.target).await.expect("reads settings");
    for (name, value) in &asked.settings {
        let fact = facts.iter().find(|fact| fact.name == *name).unwrap_or_else(|| panic!("no fact for {name}"));
        assert_eq!((fact.requested.as_deref(), fact.holds), (Some(value.as_str()), Some(true)), "{fact:?}");
        assert!(fact.effective.is_some());
    }
    let (name, value) = asked.not_in_force;
    let mut other = place.target.clone();
    other.place.settings.push((name.to_owned(), value.to_owned()));
    let facts = place.engine.verify_settings(&other).await.expect("reads settings");
    let fact = facts.iter().find(|fact| fact.name == name).expect("a fact");
    assert_eq!(fact.holds, Some(false), "{fact:?}");
    other.place.settings.push(("no_such; setting".to_owned(), "1".to_owned()));
    let answer = place.engine.verify_settings(&other).await;
    let refused = answer.is_err()
        || answer
            .is_ok_and(|facts| facts.iter().any(|fact| fact.name.contains("no_such") && fact.holds == Some(false)));
    assert!(refused, "an unknown setting does not pass");
}

async fn check_reopening(place: &Place) {
    let before = count(&mut prepared(place).await).await;
    place.engine.after_build(&place.target).await.expect("settles");
    place.engine.create_database(&place.target).await.expect("leaves what is ours");
    assert!(before > 0);
    assert_eq!(count(&mut prepared(place).await).await, before);
}

async fn check_foreign_database(place: &Place) {
    let mut other = place.target.clone();
    let asked = dialect(place.engine);
    let given = |key: &str| asked.foreign(key).unwrap_or_else(|| panic!("conformance.toml has no foreign.{key}"));
    if let Some(file) = asked.foreign("file") {
        let folder = std::path::Path::new(&place.target.place.folder).join("foreign");
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, "somebody's notes, not a database").expect("a file");
        other.place.folder = folder.display().to_string();
    } else {
        let mut session = place.connect().await;
        session.script(given("create_database")).await.expect("creates a database");
        let foreign = other.address().map(|address| address.replace(given("ours"), given("theirs")));
        other.endpoints = foreign.into();
        let mut session = place.engine.connect(&other).await.expect("connects");
        session.script(given("create_schema")).await.expect("creates a schema");
    }
    let error = place.engine.create_database(&other).await.expect_err("it is not ours");
    assert!(!error.is_retryable(), "{error}");
}

async fn check_observer(place: &Place) {
    let target = place.target.clone();
    let engine = place.engine;
    let seen = std::thread::spawn(move || {
        let observer = engine.observer(&target).expect("an observer or none");
        observer.map(|mut observer| observer.observe().expect("observes"))
    });
    let seen = seen.join().expect("observes without a panic");
    assert_eq!(seen.is_none(), engine.facts().capabilities.embedded);
    let Some(observations) = seen else { return };
    let commits = observations.iter().find(|observation| observation.reading.name == "commits").expect("commits");
    assert!(commits.cumulative && commits.reading.value > 0.0 && commits.reading.unit == "1/s");
}

async fn check_null(place: &Place) {
    let mut session = prepared(place).await;
    let mut flight = Flight::new();
    flight.control(Control::Begin);
    let call = flight.call(SELECT, &[Value::Integer(1)]);
    session.fly(&mut flight).await.expect("answers");
    let row = flight.row(call, 0).expect("one row");
    assert_eq!([0, 1, 2, 3, 4].map(|column| row.value(column)), [Value::Integer(1); 5]);
    assert_eq!((flight.rows(call), flight.answer(call).affected()), (1, 1));
    assert_eq!(session.append(&BULK, &mut Rows { next: 0, end: 12 }).await.expect("counts"), 12);
    assert!(session.query("anything").await.expect("nothing").is_empty());
}
