//! What only a real PostgreSQL server shows: long socket paths, servers by URL with a password, lost connections.

mod support;

use proofload_engine::{
    Column, ColumnKind, Control, ErrorClass, Flight, RowSource, Session as _, Statement, StatementId, Table, Target,
    Value, engine, free_port,
};
use proofload_model::samples::Fact;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::task::Poll;
use support::{Place, Special};

/// Names the URL to the test that visits it, in a process whose environment the parent has set.
const URL: &str = "PROOFLOAD_TEST_URL";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

#[test]
fn a_server_is_reached_by_a_long_path_and_by_url() {
    let port = free_port(Ipv4Addr::LOCALHOST.into()).expect("a port");
    let added = [
        ("postgresql.conf", "listen_addresses = '127.0.0.1'\n".to_owned()),
        ("pg_hba.conf", "host all all 127.0.0.1/32 scram-sha-256\n".to_owned()),
    ];
    let long = format!("{}-", "long-name".repeat(12));
    let postgresql = engine("postgresql").expect("it is registered");
    let place = match Place::new(postgresql, &[], &Special { prefix: &long, added: &added, port, kept: false }) {
        Ok(place) => place,
        Err(reason) => {
            assert!(std::env::var_os("PROOFLOAD_REQUIRE_POSTGRESQL").is_none(), "PostgreSQL is required: {reason}");
            eprintln!("SKIPPED: {reason}");
            return;
        }
    };
    runtime().block_on(async {
        place.engine.create_database(&place.target).await.expect("creates the database");
        let script = "CREATE ROLE visitor LOGIN PASSWORD 's3cret'; CREATE ROLE builder LOGIN CREATEDB PASSWORD 's3cret'; \
                      CREATE DATABASE shop OWNER visitor";
        for statement in script.split(';') {
            place.connect().await.script(statement).await.expect("makes a role and a database");
        }
        check_lost_connection(&place).await;
        check_lost_while_idle(&place).await;
        check_callers_that_go_away(&place).await;
        check_much_both_ways(&place).await;
        check_errors_outside_a_transaction(&place).await;
        check_what_comes_unasked(&place).await;
        check_rollback_of_nothing(&place).await;
        check_refused_rows(&place).await;
    });
    let file = std::path::Path::new(&place.target.place.folder).join("pgpass");
    std::fs::write(&file, format!("127.0.0.1:{port}:*:*:s3cret\n")).expect("writes a password file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("protects it");
    let visit = |password_file: &str| {
        Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "visits_by_url", "--nocapture"])
            .env_remove("PGPASSWORD")
            .env("PGPASSFILE", password_file)
            .env(URL, format!("postgresql://visitor@127.0.0.1:{port}/shop"))
            .output()
            .expect("starts")
    };
    let output = visit(&file.display().to_string());
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let output = visit("/nonexistent");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("set PGPASSWORD or write ~/.pgpass"), "{text}");
}

/// The session that loses its server says so by class, in flight and after.
async fn check_lost_connection(place: &Place) {
    let (mut one, mut other) = (place.connect().await, place.connect().await);
    let rows = one.query("SELECT pg_backend_pid()").await.expect("asks");
    let pid = rows[0][0].as_value().integer().expect("a process");
    let (lost, _) = futures_util::future::join(one.query("SELECT 1 FROM pg_sleep(60)"), async {
        while other
            .query(&format!("SELECT 1 FROM pg_stat_activity WHERE pid = {pid} AND state = 'active'"))
            .await
            .expect("asks")
            .is_empty()
        {}
        other.query(&format!("SELECT pg_terminate_backend({pid})")).await.expect("ends the session");
    })
    .await;
    assert_eq!(lost.expect_err("its server process is gone").class(), ErrorClass::ConnectionLost);
    assert_eq!(one.query("SELECT 1").await.expect_err("it stays gone").class(), ErrorClass::ConnectionLost);
}

/// What the server said before it closed an idle session is told by the next call.
async fn check_lost_while_idle(place: &Place) {
    let (mut one, mut other) = (place.connect().await, place.connect().await);
    let rows = one.query("SELECT pg_backend_pid()").await.expect("asks");
    let pid = rows[0][0].as_value().integer().expect("a process");
    other
        .query(&format!("SELECT pg_terminate_backend({pid}, 10000)"))
        .await
        .expect("ends the session and waits for it");
    let error = one.query("SELECT 1").await.expect_err("it is gone");
    assert_eq!((error.class(), error.code()), (ErrorClass::ConnectionLost, "57P01"), "{error}");
}

fn statement(sql: &str, parameters: &[&str], columns: u16) -> Statement {
    let parameters = parameters.iter().map(|&name| name.to_owned()).collect();
    Statement { name: "statement".to_owned(), sql: sql.to_owned(), parameters, columns }
}

/// A future that is dropped before its answer has come leaves nothing behind: the next answer is the next caller's.
async fn check_callers_that_go_away(place: &Place) {
    let mut session = place.connect().await;
    session.prepare(&[statement("SELECT :n::integer FROM pg_sleep(0.05)", &["n"], 1)]).await.expect("prepares");
    for round in 0..20i64 {
        let mut flight = Flight::new();
        flight.control(Control::Begin);
        flight.call(StatementId(0), &[Value::Integer(-1)]);
        flight.control(Control::Commit);
        {
            let mut leaving = std::pin::pin!(session.fly(&mut flight));
            for _ in 0..round % 4 {
                let polled = std::future::poll_fn(|context| Poll::Ready(leaving.as_mut().poll(context))).await;
                assert!(polled.is_pending());
                tokio::task::yield_now().await;
            }
        }
        flight.clear();
        flight.control(Control::Rollback);
        flight.control(Control::Begin);
        let call = flight.call(StatementId(0), &[Value::Integer(round)]);
        flight.control(Control::Commit);
        session.fly(&mut flight).await.expect("flies");
        assert_eq!(flight.row(call, 0).expect("a row").value(0), Value::Integer(round));
        drop(session.query("SELECT 1"));
        assert_eq!(session.query("SELECT 2").await.expect("asks")[0][0].as_value(), Value::Integer(2));
    }
}

/// Neither side waits for the other when both have more to send than the socket holds.
async fn check_much_both_ways(place: &Place) {
    let mut session = place.connect().await;
    session.prepare(&[statement("SELECT :text::text || :text::text", &["text"], 1)]).await.expect("prepares");
    let text = "0123456789".repeat(20_000);
    let mut flight = Flight::new();
    for _ in 0..40 {
        flight.call(StatementId(0), &[Value::Text(&text)]);
    }
    session.fly(&mut flight).await.expect("flies");
    for call in 0..40 {
        let Value::Text(found) = flight.row(call, 0).expect("a row").value(0) else { panic!("a text") };
        assert!(found.len() == 2 * text.len() && found.starts_with(&text) && found.ends_with(&text));
    }
}

/// Outside a transaction the calls after one that fails run, those before it have their answers, and the first error is told.
async fn check_errors_outside_a_transaction(place: &Place) {
    let mut session = place.connect().await;
    session.script("CREATE TABLE noted (n integer PRIMARY KEY)").await.expect("creates a table");
    let insert = statement("INSERT INTO noted SELECT 10 / :n::integer RETURNING n", &["n"], 1);
    session.prepare(&[insert]).await.expect("prepares");
    let mut flight = Flight::new();
    for n in [1, 0, 2, 5, 2] {
        flight.call(StatementId(0), &[Value::Integer(n)]);
    }
    let error = session.fly(&mut flight).await.expect_err("one divides by zero, one comes twice");
    assert_eq!(error.code(), "22012", "{error}");
    assert_eq!(flight.row(0, 0).expect("before the error").value(0), Value::Integer(10));
    let rows = session.query("SELECT count(*)::integer, sum(n)::integer FROM noted").await.expect("counts");
    assert_eq!((rows[0][0].as_value(), rows[0][1].as_value()), (Value::Integer(3), Value::Integer(17)));
    // A value that fits no parameter is found before anything is sent.
    flight.clear();
    flight.call(StatementId(0), &[Value::Integer(3)]);
    flight.call(StatementId(0), &[Value::Integer(i64::MAX)]);
    let error = session.fly(&mut flight).await.expect_err("it has 32 bits");
    assert_eq!(error.class(), ErrorClass::Data, "{error}");
    let rows = session.query("SELECT count(*)::integer FROM noted").await.expect("counts");
    assert_eq!(rows[0][0].as_value(), Value::Integer(3));
}

/// Notices, changed settings and notifications in the middle of answers are passed over.
async fn check_what_comes_unasked(place: &Place) {
    let mut session = place.connect().await;
    let noisy = "CREATE FUNCTION noisy(n integer) RETURNS integer LANGUAGE plpgsql AS $$
        BEGIN
            RAISE NOTICE 'n is %', n;
            PERFORM set_config('application_name', 'name ' || n, false);
            PERFORM pg_notify('noise', 'n is ' || n);
            RETURN n;
        END $$; LISTEN noise";
    session.script(noisy).await.expect("creates a function");
    session.prepare(&[statement("SELECT noisy(:n)", &["n"], 1)]).await.expect("prepares");
    let mut flight = Flight::new();
    for n in 0..50 {
        flight.call(StatementId(0), &[Value::Integer(n)]);
    }
    session.fly(&mut flight).await.expect("flies");
    for n in 0..50 {
        assert_eq!(flight.row(n, 0).expect("a row").value(0), Value::Integer(n as i64));
    }
}

/// A rollback where nothing is open is not sent: the server would warn in its log for each retry.
async fn check_rollback_of_nothing(place: &Place) {
    let mut session = place.connect().await;
    let mut flight = Flight::new();
    flight.control(Control::Rollback);
    session.fly(&mut flight).await.expect("nothing to do");
    session.script("BEGIN; CREATE TABLE undone (n integer)").await.expect("begins");
    session.fly(&mut flight).await.expect("rolls back what a script has begun");
    let found = session.query("SELECT 1 FROM pg_tables WHERE tablename = 'undone'").await.expect("asks");
    assert_eq!(found.len(), 0);
}

/// Rows that the server refuses early and rows that we refuse leave nothing, and the session goes on.
async fn check_refused_rows(place: &Place) {
    let mut session = place.connect().await;
    session.script("CREATE TABLE taken (n bigint CHECK (n <> 7))").await.expect("creates a table");
    let table = Table { name: "taken", columns: &[Column { name: "n", kind: ColumnKind::Integer { bits: 64 } }] };
    let refused = session.append(&table, &mut Numbers { next: 0, end: 3_000_000, odd: None }).await;
    assert_eq!(refused.expect_err("7 is refused").code(), "23514");
    let misfit = session.append(&table, &mut Numbers { next: 8, end: 100_000, odd: Some(50_000) }).await;
    assert_eq!(misfit.expect_err("a text is no number").class(), ErrorClass::Data);
    let taken = session.append(&table, &mut Numbers { next: 8, end: 20, odd: None }).await;
    assert_eq!(taken.expect("12 rows"), 12);
    let rows = session.query("SELECT count(*)::integer FROM taken").await.expect("counts");
    assert_eq!(rows[0][0].as_value(), Value::Integer(12));
}

/// Rows of one number each, one of them a text.
struct Numbers {
    next: i64,
    end: i64,
    odd: Option<i64>,
}

impl RowSource for Numbers {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.end {
            return false;
        }
        sink(&[if self.odd == Some(self.next) { Value::Text("odd") } else { Value::Integer(self.next) }]);
        self.next += 1;
        true
    }
}

/// Runs only in the process that the test above starts.
#[test]
fn visits_by_url() {
    let Ok(url) = std::env::var(URL) else { return };
    let postgresql = engine("postgresql").expect("it is registered");
    let mut target = Target {
        place: proofload_model::wire::DataLocation {
            engine: "postgresql".to_owned(),
            folder: String::new(),
            url: Some(url),
            settings: vec![
                ("work_mem".to_owned(), "3MiB".to_owned()),
                ("shared_buffers".to_owned(), "1GiB".to_owned()),
                ("Synchronous_Commit".to_owned(), "no".to_owned()),
            ],
            tier: None,
        },
        endpoints: None.into(),
    };
    runtime().block_on(async {
        postgresql.create_database(&target).await.expect("creates the schema");
        let mut session = postgresql.connect(&target).await.expect("connects with the password of the file");
        session.script("CREATE TABLE t (id integer); INSERT INTO t VALUES (1)").await.expect("writes");
        let facts = postgresql.verify_settings(&target).await.expect("reads settings");
        let holds = |name: &str| facts.iter().find(|fact: &&Fact| fact.name == name).and_then(|fact| fact.holds);
        assert_eq!(holds("work_mem"), Some(true), "a session may set it");
        assert_eq!(holds("shared_buffers"), Some(false), "the server's owner sets it");
        let durable = proofload_model::facts::engine::DURABLE_COMMITS.text(&facts);
        assert_eq!(durable, Some("false"), "whichever word and case the study has for it");
        assert_eq!(proofload_model::facts::engine::ISOLATION.text(&facts), Some("READ COMMITTED"));
        postgresql.after_build(&target).await.expect("settles without the right to checkpoint");
        target.place.url = target.place.url.map(|url| url.replace("/shop", "/later"));
        check_missing_database(target).await;
    });
}

/// A server without the study's database says so, and gets it from a build whose user may make it.
async fn check_missing_database(mut target: Target) {
    let postgresql = engine("postgresql").expect("it is registered");
    assert!(!postgresql.has_database(&target).await.expect("asks"));
    let error = postgresql.connect(&target).await.expect_err("there is none");
    assert!(error.code() == "3D000" && error.to_string().contains("later"), "{error}");
    let error = postgresql.create_database(&target).await.expect_err("its user may not");
    assert!(error.code() == "42501" && error.to_string().contains("the user needs CREATEDB"), "{error}");
    target.place.url = target.place.url.map(|url| url.replace("visitor@", "builder@"));
    postgresql.create_database(&target).await.expect("makes it");
    assert!(postgresql.has_database(&target).await.expect("asks"));
}
