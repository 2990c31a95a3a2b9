//! A flight of the engine `sqlserver` allocates nothing of ours once its memory has grown. A binary of its own, because the allocator counts a
//! process; the server of the tests is another process, this binary again.

#[path = "support/tds_server/mod.rs"]
mod tds_server;

use proofload_engine::{Control, Flight, Session as _, Statement, StatementId, Target, Value, engine};
use proofload_model::wire::DataLocation;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use tds_server::{ColumnForm, Datum, Part, Setup, TdsServer};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Flights counted.
const FLIGHTS: usize = 200;
/// Set for the process that serves.
const SERVES: &str = "PROOFLOAD_TEST_TDS_SERVES";

/// Serves until nobody reads its output any more; does nothing in the process that tests.
#[test]
fn serve_if_asked() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    let server = TdsServer::start(Setup { packet_size: 4096, ..Setup::default() }, |sql, _| match sql {
        "SELECT @p1, @p2" => {
            let columns =
                vec![ColumnForm::Integer(4), ColumnForm::Wide(40), ColumnForm::Decimal(12, 2), ColumnForm::Moment(6)];
            let row = || {
                Part::Row(vec![
                    Datum::Integer(1),
                    Datum::text("a text ä"),
                    Datum::Decimal(5, 2),
                    Datum::Moment(719_162, 1),
                ])
            };
            vec![Part::Columns(columns), row(), row(), Part::Count(2)]
        }
        _ => vec![Part::Count(1)],
    });
    println!("\nURL {}", server.url("encrypt=none"));
    std::thread::sleep(std::time::Duration::from_secs(300));
}

#[test]
fn a_flight_allocates_nothing_of_ours() {
    if std::env::var_os(SERVES).is_some() {
        return;
    }
    let program = std::env::current_exe().expect("a test has a program");
    let mut child = Command::new(program)
        .args(["serve_if_asked", "--exact", "--nocapture"])
        .env(SERVES, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts again");
    let lines = BufReader::new(child.stdout.take().expect("it is ours")).lines();
    let url = lines.map(|line| line.expect("text")).find_map(|line| line.strip_prefix("URL ").map(str::to_owned));
    let place =
        DataLocation { engine: "sqlserver".to_owned(), folder: String::new(), url, settings: Vec::new(), tier: None };
    let mut target = Target::new(place, None);
    target.endpoints = target.endpoints.with_password(Some(proofload_model::secret::Secret::of(b"s3cret")));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let allocations = runtime.block_on(count(&target));
    child.kill().expect("it still serves");
    child.wait().expect("it is our child");
    assert_eq!(allocations, 0, "in {FLIGHTS} flights of 5 calls");
}

async fn count(target: &Target) -> usize {
    let mut session = engine("sqlserver").expect("it is registered").connect(target).await.expect("connects");
    let statement = |sql: &str, parameters: &[&str], columns| Statement {
        name: "statement".to_owned(),
        sql: sql.to_owned(),
        parameters: parameters.iter().map(|name| (*name).to_owned()).collect(),
        columns,
    };
    let statements = [
        statement("UPDATE t SET a = :a", &["a"], 0),
        statement("SELECT :a, :b", &["a", "b"], 4),
        statement("EXEC pay :who, :items", &["who", "items"], 0),
        statement("EXEC enter :who, /* table lines */ :items, :counts", &["who", "items", "counts"], 0),
    ];
    session.prepare(&statements).await.expect("prepares");
    let mut flight = Flight::new();
    let fly = |flight: &mut Flight| {
        flight.clear();
        flight.control(Control::Begin);
        flight.call(StatementId(0), &[Value::Integer(5)]);
        flight.call(StatementId(1), &[Value::Integer(1), Value::Text("another text")]);
        flight.call(StatementId(1), &[Value::Null, Value::Text("a third")]);
        flight.call(StatementId(2), &[Value::Time(1), Value::Integers(&[1, 2, 3])]);
        flight.call(StatementId(3), &[Value::Integer(1), Value::Integers(&[1, 2, 3]), Value::Integers(&[4, 5, 6])]);
        flight.control(Control::Commit);
    };
    for _ in 0..20 {
        fly(&mut flight);
        session.fly(&mut flight).await.expect("flies");
    }
    let region = Region::new(ALLOCATOR);
    for _ in 0..FLIGHTS {
        fly(&mut flight);
        session.fly(&mut flight).await.expect("flies");
    }
    region.change().allocations
}
