//! What only a real server of MariaDB or MySQL shows: URLs with a password, TLS, lost connections, errors in the middle of what was sent together.

#[path = "support/much.rs"]
mod much;
#[path = "support/mysql_sessions.rs"]
mod mysql_sessions;
mod support;

use proofload_engine::{
    AnySession, Column, ColumnKind, Control, ErrorClass, Flight, RowSource, Session as _, Statement, StatementId,
    Table, Target, Value, engine, free_port,
};
use proofload_model::samples::Fact;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::task::Poll;
use support::{Place, Special};

/// Names the URL to the test that visits it, in a process whose environment the parent has set.
const URL: &str = "PROOFLOAD_TEST_MARIADB_URL";

/// What one server has otherwise than the other.
struct ServerWords {
    engine: &'static str,
    settings: &'static [(&'static str, &'static str)],
    /// Inserts a number, and returns it where the server can.
    insert: (&'static str, u16),
    /// Number of the error that a row breaks a condition.
    broken_condition: &'static str,
    /// Thread of the session that asks, at the kernel.
    own_thread: &'static str,
    /// What threads of sessions are called there.
    thread_names: &'static [&'static str],
    /// Whether a password itself is asked for once, before the server knows its hash.
    asks_for_passwords: bool,
}

const MARIADB: ServerWords = ServerWords {
    engine: "mariadb",
    settings: &[("innodb_lock_wait_timeout", "5")],
    insert: ("INSERT INTO noted VALUES (:n) RETURNING n", 1),
    broken_condition: "4025",
    own_thread: "SELECT tid FROM information_schema.processlist WHERE id = connection_id()",
    thread_names: &["mariadbd", "one_connection"],
    asks_for_passwords: false,
};

const MYSQL: ServerWords = ServerWords {
    engine: "mysql",
    settings: &[("innodb_lock_wait_timeout", "5"), ("performance_schema", "ON"), ("innodb_redo_log_capacity", "96MiB")],
    insert: ("INSERT INTO noted VALUES (:n)", 0),
    broken_condition: "3819",
    own_thread: "SELECT thread_os_id FROM performance_schema.threads WHERE processlist_id = connection_id()",
    thread_names: &["connection"],
    asks_for_passwords: true,
};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A server's certificate for `localhost` alone, made by openssl; the server must be able to read it.
fn certificate() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("others may look");
    let arguments = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                     -keyout server.key -out server.crt";
    let output = Command::new("openssl").args(arguments.split_whitespace()).current_dir(folder.path()).output();
    let output = output.expect("openssl is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::set_permissions(folder.path().join("server.key"), std::fs::Permissions::from_mode(0o644)).expect("ours");
    folder
}

#[test]
fn a_server_is_reached_by_a_long_path_and_by_url() {
    if let Err(reason) = check_server(&MARIADB) {
        eprintln!("SKIPPED: {reason}");
    }
}

#[test]
fn a_mysql_is_reached_by_a_long_path_and_by_url() {
    if let Err(reason) = check_server(&MYSQL) {
        eprintln!("SKIPPED: {reason}");
    }
}

/// All that holds of one server; the error says why there is none here.
fn check_server(words: &ServerWords) -> Result<(), String> {
    let port = free_port(Ipv4Addr::LOCALHOST.into()).expect("a port");
    let certificate = certificate();
    let file = |name: &str| certificate.path().join(name).display().to_string();
    let network = format!(
        "skip_networking = 0\nbind_address = 127.0.0.1\nport = {port}\nssl_cert = {}\nssl_key = {}\n",
        file("server.crt"),
        file("server.key")
    );
    let long = format!("{}-", "long-name".repeat(12));
    let name = words.engine;
    let of_name = engine(name).expect("it is registered");
    let added = [("my.cnf", network)];
    let place = match Place::new(of_name, words.settings, &Special { prefix: &long, added: &added, port, kept: false })
    {
        Ok(place) => place,
        Err(reason) => {
            let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
            assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
            return Err(reason);
        }
    };
    runtime().block_on(async {
        place.engine.create_database(&place.target).await.expect("creates the database");
        check_lost_connection(&place).await;
        check_read_only(&place).await;
        check_callers_that_go_away(&place).await;
        check_much_both_ways(&place).await;
        check_errors_outside_a_transaction(&place, words).await;
        check_errors_inside_a_transaction(&place).await;
        check_a_deadlock_in_a_flight(&place).await;
        check_rollback_of_nothing(&place).await;
        check_refused_rows(&place, words).await;
        check_results_of_a_routine(&place).await;
        check_threads(&place, words).await;
        mysql_sessions::check_what_sessions_are_told(&place).await;
        place.connect().await.script(ACCOUNTS).await.expect("makes accounts and a database");
        check_missing_database(&place, port).await;
        check_tls(&place, port, &file("server.crt")).await;
        check_other_engine(&place, port).await;
    });
    much::check(of_name, at_url(&place, format!("{name}://encrypted@localhost:{port}/shop?ssl-mode=required")));
    let visit_at = |password: &str, url: String| {
        Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "visits_by_url", "--nocapture"])
            .env("MYSQL_PWD", password)
            .env(URL, url)
            .output()
            .map(|end| (end.status.success(), String::from_utf8_lossy(&[end.stdout, end.stderr].concat()).into_owned()))
            .expect("starts")
    };
    let visit =
        |password: &str, options: &str| visit_at(password, format!("{name}://visitor@127.0.0.1:{port}/shop{options}"));
    let socket = place.target.address().and_then(|url| url.split_once('?')).expect("it has a socket").1;
    let (success, text) = visit_at("s3cret", format!("{name}://visitor@localhost/shop?{socket}"));
    assert!(success, "by its socket: {text}");
    if words.asks_for_passwords {
        let (success, text) = visit("s3cret", "");
        assert!(!success && text.contains("ssl-mode=required") && !text.contains("s3cret"), "{text}");
        let (success, text) = visit("s3cret", "?ssl-mode=required");
        assert!(success, "{text}");
    }
    let (success, text) = visit("s3cret", "");
    assert!(success, "{text}");
    let (success, text) = visit("wr0ng", "?ssl-mode=preferred");
    assert!(!success && text.contains("set MYSQL_PWD or write ~/.my.cnf") && !text.contains("wr0ng"), "{text}");
    Ok(())
}

/// A database, and accounts for each way to it.
const ACCOUNTS: &str = "CREATE DATABASE shop; CREATE USER visitor@'127.0.0.1' IDENTIFIED BY 's3cret'; GRANT ALL ON shop.* TO visitor@'127.0.0.1'; \
     CREATE USER visitor@localhost IDENTIFIED BY 's3cret'; GRANT ALL ON shop.* TO visitor@localhost; CREATE USER open@'127.0.0.1'; \
     CREATE USER encrypted@'127.0.0.1' REQUIRE SSL; GRANT ALL ON shop.* TO encrypted@'127.0.0.1'; GRANT ALL ON shop.* TO open@'127.0.0.1'";

/// The place by a URL.
fn at_url(place: &Place, url: String) -> Target {
    let mut location = place.target.place.clone();
    location.url = Some(url);
    Target::new(location, None)
}

/// Connects by a URL: whether the session is encrypted, or why there is none.
async fn visit(place: &Place, url: &str) -> Result<bool, String> {
    let target = at_url(place, url.to_owned());
    let mut session = place.engine.connect(&target).await.map_err(|error| error.to_string())?;
    // More than any buffer on the way holds, in both directions at once.
    let long = format!("SELECT length('{}'), repeat('y', 3000000)", "x".repeat(2_000_000));
    let rows = session.query(&long).await.map_err(|error| error.to_string())?;
    assert_eq!(rows[0][0].as_value().integer(), Some(2_000_000));
    let rows = session.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'").await.map_err(|error| error.to_string())?;
    Ok(rows[0][1].as_value() != Value::Text(""))
}

/// A server without the study's database says so, and gets it from a build.
async fn check_missing_database(place: &Place, port: u16) {
    place.connect().await.script("GRANT ALL ON later.* TO open@'127.0.0.1'").await.expect("grants");
    let target = at_url(place, format!("{}://open@127.0.0.1:{port}/later", place.engine.facts().name));
    assert!(!place.engine.has_database(&target).await.expect("asks"));
    let error = place.engine.connect(&target).await.expect_err("there is none");
    assert_eq!(error.code(), "1049", "{error}");
    place.engine.create_database(&target).await.expect("makes it");
    assert!(place.engine.has_database(&target).await.expect("asks"));
}

/// Each way of TLS where it holds and where it must not.
async fn check_tls(place: &Place, port: u16, authority: &str) {
    let cases: [(&str, &str, String, Result<bool, &str>); 7] = [
        ("localhost", "open", String::new(), Ok(false)),
        ("localhost", "open", "ssl-mode=preferred".to_owned(), Ok(true)),
        ("localhost", "encrypted", "ssl-mode=disabled".to_owned(), Err("MYSQL_PWD")),
        ("localhost", "encrypted", "ssl-mode=required".to_owned(), Ok(true)),
        ("localhost", "encrypted", format!("ssl-mode=verify_identity&ssl-ca={authority}"), Ok(true)),
        ("127.0.0.1", "encrypted", format!("ssl-mode=verify_identity&ssl-ca={authority}"), Err("not valid for name")),
        ("localhost", "encrypted", "ssl-mode=verify_ca".to_owned(), Err("ssl-ca")),
    ];
    for (host, user, options, expected) in cases {
        let name = place.engine.facts().name;
        let url = format!("{name}://{user}@{host}:{port}/shop?connect-timeout=20&{options}");
        match (visit(place, &url).await, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{url}"),
            (Err(text), Err(part)) => assert!(text.contains(part), "{url}: {text}"),
            (found, _) => panic!("{url}: {found:?}, not {expected:?}"),
        }
    }
}

/// The engine of the other server is refused, whether its name stands in the study or in the URL.
async fn check_other_engine(place: &Place, port: u16) {
    let ours = place.engine.facts().name;
    let theirs = if ours == "mysql" { "mariadb" } else { "mysql" };
    let mut location = place.target.place.clone();
    location.url = Some(format!("{theirs}://open@localhost:{port}/shop"));
    let error = place.engine.connect(&Target::new(location.clone(), None)).await.expect_err("it is the other's URL");
    assert!(error.to_string().contains(&format!("choose engine.kind = \"{theirs}\"")), "{error}");
    location.engine = theirs.to_owned();
    let other = engine(theirs).expect("it is registered");
    let error = other.connect(&Target::new(location, None)).await.expect_err("another server answers");
    assert!(error.to_string().contains(&format!("choose engine.kind = \"{ours}\"")), "{error}");
}

/// The session that loses its server says so by class, in flight, idle and after.
async fn check_lost_connection(place: &Place) {
    for idle in [false, true] {
        let (mut one, mut other) = (place.connect().await, place.connect().await);
        let rows = one.query("SELECT connection_id()").await.expect("asks");
        let id = rows[0][0].as_value().integer().expect("a session");
        if idle {
            other.script(&format!("KILL {id}")).await.expect("ends the session");
        } else {
            let sleeping =
                format!("SELECT 1 FROM information_schema.processlist WHERE id = {id} AND state = 'User sleep'");
            let (lost, ()) = futures_util::future::join(one.query("SELECT sleep(60)"), async {
                while other.query(&sleeping).await.expect("asks").is_empty() {}
                other.script(&format!("KILL {id}")).await.expect("ends the session");
            })
            .await;
            let lost = lost.expect_err("its session is gone");
            // A server that says first that the statement was interrupted may end the session a moment later.
            assert!(lost.class() == ErrorClass::ConnectionLost || lost.code() == "1317", "{lost}");
        }
        let error = one.query("SELECT 1").await.expect_err("it stays gone");
        assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
        assert!(one.has_ended());
    }
}

fn statement(sql: &str, parameters: &[&str], columns: u16) -> Statement {
    let parameters = parameters.iter().map(|&name| name.to_owned()).collect();
    Statement { name: "statement".to_owned(), sql: sql.to_owned(), parameters, columns }
}

/// What a server said before it refused to serve is told, and not only that the connection is gone.
async fn check_read_only(place: &Place) {
    let mut owner = place.connect().await;
    owner
        .script(
            "CREATE TABLE closed (n integer); CREATE USER weak@localhost; GRANT ALL ON proofload.* TO weak@localhost",
        )
        .await
        .expect("makes both");
    let mut target = place.target.clone();
    target.endpoints = target.address().map(|address| address.replace("root@", "weak@")).into();
    let mut weak = place.engine.connect(&target).await.expect("connects");
    weak.prepare(&[statement("INSERT INTO closed VALUES (:n)", &["n"], 0)]).await.expect("prepares");
    owner.script("SET GLOBAL read_only = ON").await.expect("closes the server for writes");
    let mut flight = Flight::new();
    flight.control(Control::Begin);
    flight.call(StatementId(0), &[Value::Integer(1)]);
    flight.control(Control::Commit);
    let error = weak.fly(&mut flight).await.expect_err("the server takes no writes");
    assert_eq!((error.class(), error.code()), (ErrorClass::ConnectionLost, "1290"), "{error}");
    owner.script("SET GLOBAL read_only = OFF").await.expect("opens it again");
    assert_eq!(count(&mut owner, "closed").await, 0);
}

/// A future that is dropped before its answer has come leaves nothing behind: the next answer is the next caller's, and what was open is
/// rolled back.
async fn check_callers_that_go_away(place: &Place) {
    let mut session = place.connect().await;
    session.script("CREATE TABLE left_over (n integer)").await.expect("creates a table");
    let statements = [
        statement("SELECT CAST(:n AS signed) FROM (SELECT sleep(0.05)) AS slow", &["n"], 1),
        statement("INSERT INTO left_over VALUES (:n)", &["n"], 0),
    ];
    session.prepare(&statements).await.expect("prepares");
    for round in 0..12i64 {
        let mut flight = Flight::new();
        flight.control(Control::Begin);
        flight.call(StatementId(1), &[Value::Integer(-1)]);
        flight.call(StatementId(0), &[Value::Integer(-1)]);
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
        flight.control(Control::BeginReadOnly);
        let call = flight.call(StatementId(0), &[Value::Integer(round)]);
        flight.control(Control::Commit);
        session.fly(&mut flight).await.expect("flies");
        assert_eq!(flight.row(call, 0).expect("a row").value(0), Value::Integer(round));
        drop(session.query("SELECT 1"));
        assert_eq!(session.query("SELECT 2").await.expect("asks")[0][0].as_value(), Value::Integer(2));
    }
    assert_eq!(count(&mut session, "left_over").await, 0);
}

async fn count(session: &mut AnySession, table: &str) -> i64 {
    let rows = session.query(&format!("SELECT count(*) FROM {table}")).await.expect("counts");
    rows[0][0].as_value().integer().expect("a count")
}

/// Neither side waits for the other when both have more to send than the socket holds.
async fn check_much_both_ways(place: &Place) {
    let mut session = place.connect().await;
    session.prepare(&[statement("SELECT concat(:text, :text)", &["text"], 1)]).await.expect("prepares");
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
async fn check_errors_outside_a_transaction(place: &Place, words: &ServerWords) {
    let mut session = place.connect().await;
    session.script("CREATE TABLE noted (n integer PRIMARY KEY)").await.expect("creates a table");
    let (insert, columns) = words.insert;
    session.prepare(&[statement(insert, &["n"], columns)]).await.expect("prepares");
    let mut flight = Flight::new();
    for value in [Value::Integer(10), Value::Null, Value::Integer(5), Value::Integer(2), Value::Integer(5)] {
        flight.call(StatementId(0), &[value]);
    }
    let error = session.fly(&mut flight).await.expect_err("one is null, one comes twice");
    assert_eq!((error.class(), error.code()), (ErrorClass::Data, "1048"), "{error}");
    if columns > 0 {
        assert_eq!(flight.row(0, 0).expect("before the error").value(0), Value::Integer(10));
    } else {
        mysql_sessions::check_several_statements(&mut session).await;
    }
    assert_eq!(count(&mut session, "noted").await, 3);
}

/// Inside a transaction nothing stays of what stood around a statement that failed, whatever followed it.
async fn check_errors_inside_a_transaction(place: &Place) {
    let mut session = place.connect().await;
    session.script("CREATE TABLE kept_whole (n integer PRIMARY KEY)").await.expect("creates a table");
    session.prepare(&[statement("INSERT INTO kept_whole VALUES (:n)", &["n"], 0)]).await.expect("prepares");
    for end in [Control::Commit, Control::Rollback] {
        let mut flight = Flight::new();
        flight.control(Control::Begin);
        for n in [1, 1, 2] {
            flight.call(StatementId(0), &[Value::Integer(n)]);
        }
        flight.control(end);
        let error = session.fly(&mut flight).await.expect_err("a key comes twice");
        assert_eq!(error.code(), "1062", "{error}");
        assert_eq!(count(&mut session, "kept_whole").await, 0, "{end:?}");
    }
    // A call of the transaction that was rolled back would commit by itself: it is refused.
    let mut flight = Flight::new();
    flight.control(Control::Begin);
    flight.call(StatementId(0), &[Value::Null]);
    session.fly(&mut flight).await.expect_err("null");
    flight.clear();
    flight.call(StatementId(0), &[Value::Integer(7)]);
    session.fly(&mut flight).await.expect_err("the transaction is spoilt");
    flight.clear();
    flight.control(Control::Rollback);
    flight.control(Control::Begin);
    flight.call(StatementId(0), &[Value::Integer(8)]);
    flight.control(Control::Commit);
    flight.call(StatementId(0), &[Value::Integer(9)]);
    session.fly(&mut flight).await.expect("two transactions and what commits itself");
    assert_eq!(count(&mut session, "kept_whole").await, 2);
}

/// The server ends a transaction that is chosen in a deadlock; what was sent behind the statement leaves no row, also with its commit.
async fn check_a_deadlock_in_a_flight(place: &Place) {
    let (mut one, mut other) = (place.connect().await, place.connect().await);
    one.script("CREATE TABLE crossed (n integer PRIMARY KEY, v integer); INSERT INTO crossed VALUES (1, 0), (2, 0)")
        .await
        .expect("creates a table");
    one.script("CREATE TABLE traces (n integer)").await.expect("creates a table");
    let statements = [
        statement("UPDATE crossed SET v = v + 1 WHERE n = :n", &["n"], 0),
        statement("INSERT INTO traces VALUES (:n)", &["n"], 0),
    ];
    for session in [&mut one, &mut other] {
        session.prepare(&statements).await.expect("prepares");
    }
    for round in 0..5 {
        let mut flights = [Flight::new(), Flight::new()];
        for (flight, n) in flights.iter_mut().zip([1, 2]) {
            flight.control(Control::Begin);
            flight.call(StatementId(0), &[Value::Integer(n)]);
        }
        let [first, second] = &mut flights;
        one.fly(first).await.expect("takes the first row");
        other.fly(second).await.expect("takes the second");
        for (flight, n) in flights.iter_mut().zip([2, 1]) {
            flight.clear();
            flight.call(StatementId(0), &[Value::Integer(n)]);
            flight.call(StatementId(1), &[Value::Integer(n)]);
            flight.control(Control::Commit);
        }
        let [first, second] = &mut flights;
        let ended = futures_util::future::join(one.fly(first), other.fly(second)).await;
        let errors: Vec<_> = [ended.0.err(), ended.1.err()].into_iter().flatten().collect();
        assert!(errors.len() == 1 && errors[0].is_retryable() && errors[0].code() == "1213", "{errors:?}");
        assert_eq!(count(&mut one, "traces").await, round + 1, "one transaction of two");
        let rows = one.query("SELECT sum(v) FROM crossed").await.expect("sums");
        assert_eq!(rows[0][0].as_value().integer(), Some(2 * (round + 1)));
        for session in [&mut one, &mut other] {
            let mut flight = Flight::new();
            flight.control(Control::Rollback);
            session.fly(&mut flight).await.expect("rolls back, also what is over");
        }
    }
}

/// A rollback where nothing is open does nothing, and one after a script ends what that has begun.
async fn check_rollback_of_nothing(place: &Place) {
    let mut session = place.connect().await;
    session.script("CREATE TABLE undone (n integer)").await.expect("creates a table");
    let mut flight = Flight::new();
    flight.control(Control::Rollback);
    session.fly(&mut flight).await.expect("nothing to do");
    session.script("BEGIN; INSERT INTO undone VALUES (1)").await.expect("begins");
    session.fly(&mut flight).await.expect("rolls back what a script has begun");
    assert_eq!(count(&mut session, "undone").await, 0);
}

/// Rows that the server takes otherwise than they are and rows that we refuse leave nothing, and the session goes on.
async fn check_refused_rows(place: &Place, words: &ServerWords) {
    let mut session = place.connect().await;
    session.script("CREATE TABLE taken (n bigint CHECK (n <> 7), t varchar(3))").await.expect("creates a table");
    let columns =
        [Column { name: "n", kind: ColumnKind::Integer { bits: 64 } }, Column { name: "t", kind: ColumnKind::Text }];
    let table = Table { name: "taken", columns: &columns };
    let rows = |next, end, odd| Numbers { next, end, odd };
    let refused = session.append(&table, &mut rows(0, 300_000, None)).await.expect_err("7 is refused");
    assert_eq!((refused.class(), refused.code()), (ErrorClass::Data, words.broken_condition), "{refused}");
    let long = session.append(&table, &mut rows(8, 100_000, Some((50_000, Value::Text("long"))))).await;
    assert_eq!(long.expect_err("a text is cut").class(), ErrorClass::Data);
    let misfit = session.append(&table, &mut rows(8, 100_000, Some((50_000, Value::Time(1))))).await;
    assert_eq!(misfit.expect_err("a time is no text").class(), ErrorClass::Data);
    assert_eq!(count(&mut session, "taken").await, 0);
    session.script("BEGIN; INSERT INTO taken VALUES (1, 'a')").await.expect("begins");
    session.append(&table, &mut rows(7, 20, None)).await.expect_err("7 is refused");
    assert_eq!(session.append(&table, &mut rows(8, 20, Some((9, Value::Text("\t\\\n"))))).await.expect("12 rows"), 12);
    session.script("COMMIT").await.expect("commits what stood before and after");
    assert_eq!(count(&mut session, "taken").await, 13);
    let rows = session.query("SELECT t FROM taken WHERE n = 9").await.expect("asks");
    assert_eq!(rows[0][0].as_value(), Value::Text("\t\\\n"));
}

/// Rows of a number and a text, one of them odd.
struct Numbers {
    next: i64,
    end: i64,
    odd: Option<(i64, Value<'static>)>,
}

impl RowSource for Numbers {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.end {
            return false;
        }
        let odd = self.odd.filter(|(place, _)| *place == self.next).map(|(_, value)| value);
        sink(&[Value::Integer(self.next), odd.unwrap_or(Value::Text("x"))]);
        self.next += 1;
        true
    }
}

/// Threads of sessions are told from all others, which have the same name.
async fn check_threads(place: &Place, words: &ServerWords) {
    let mut session = place.connect().await;
    let rows = session.query(words.own_thread).await;
    let thread = rows.expect("asks")[0][0].as_value().integer().expect("a thread");
    let (target, engine) = (place.target.clone(), place.engine);
    let seen = std::thread::spawn(move || {
        let mut observer = engine.observer(&target).expect("an observer").expect("a server has one");
        observer.observe().expect("observes");
        observer.thread_roles().to_vec()
    });
    let roles = seen.join().expect("observes without a panic");
    let role = roles.iter().find(|(id, _)| i64::from(*id) == thread).map(|(_, role)| role.as_str());
    assert_eq!(role, Some("session"), "{roles:?}");
    assert!(roles.iter().any(|(_, role)| role == "observer"), "{roles:?}");
    let comm = std::fs::read_to_string(format!("/proc/{thread}/comm")).expect("the thread lives on this host");
    assert!(words.thread_names.contains(&comm.trim()), "{comm}");
}

/// The results of a routine are one answer; an error after a result is the call's, and another width is told when it is seen.
async fn check_results_of_a_routine(place: &Place) {
    let mut session = place.connect().await;
    let routine = "CREATE PROCEDURE several(fails integer) BEGIN SELECT 1, 'a'; SELECT 2, 'b' UNION ALL SELECT 3, 'c'; \
                   IF fails THEN SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'as asked'; END IF; END";
    session.script(routine).await.expect("creates a routine");
    session
        .prepare(&[statement("CALL several(:fails)", &["fails"], 2), statement("CALL several(:fails)", &["fails"], 3)])
        .await
        .expect("prepares");
    let mut flight = Flight::new();
    for _ in 0..3 {
        flight.clear();
        flight.call(StatementId(0), &[Value::Integer(0)]);
        session.fly(&mut flight).await.expect("calls");
        let found: Vec<_> = (0..flight.rows(0)).map(|row| flight.row(0, row).expect("a row").value(0)).collect();
        assert_eq!(found, [1, 2, 3].map(Value::Integer));
    }
    flight.clear();
    flight.call(StatementId(0), &[Value::Integer(1)]);
    flight.call(StatementId(0), &[Value::Integer(0)]);
    let error = session.fly(&mut flight).await.expect_err("it fails as asked");
    assert_eq!((error.class(), error.to_string().contains("as asked")), (ErrorClass::Data, true), "{error}");
    assert_eq!(flight.rows(1), 3, "the next call has its own answer");
    flight.clear();
    flight.call(StatementId(1), &[Value::Integer(0)]);
    let error = session.fly(&mut flight).await.expect_err("another width").to_string();
    assert!(error.contains("returns 2 columns where 3 are declared"), "{error}");
}

/// Runs only in the process that the test above starts.
#[test]
fn visits_by_url() {
    let Ok(url) = std::env::var(URL) else { return };
    let name = url.split("://").next().unwrap_or_default().to_owned();
    let of_name = engine(&name).expect("it is registered");
    let mut target = Target {
        place: proofload_model::wire::DataLocation {
            engine: name,
            folder: String::new(),
            url: Some(url),
            settings: vec![
                ("sort_buffer_size".to_owned(), "3MiB".to_owned()),
                ("innodb_buffer_pool_size".to_owned(), "1GiB".to_owned()),
                ("transaction_isolation".to_owned(), "REPEATABLE-READ".to_owned()),
            ],
            tier: None,
        },
        endpoints: None.into(),
    };
    runtime().block_on(async {
        of_name.create_database(&target).await.expect("an empty database becomes ours");
        of_name.create_database(&target).await.expect("and stays so");
        let mut session = of_name.connect(&target).await.expect("connects with the password of the environment");
        session.script("CREATE TABLE IF NOT EXISTS t (id integer); INSERT INTO t VALUES (1)").await.expect("writes");
        let facts = of_name.verify_settings(&target).await.expect("reads settings");
        let holds = |name: &str| facts.iter().find(|fact: &&Fact| fact.name == name).and_then(|fact| fact.holds);
        assert_eq!(holds("sort_buffer_size"), Some(true), "a session may set it");
        assert_eq!(holds("transaction_isolation"), Some(true), "by whichever name the server has");
        assert_eq!(holds("innodb_buffer_pool_size"), Some(false), "the server's owner sets it");
        assert_eq!(proofload_model::facts::engine::DURABLE_COMMITS.text(&facts), Some("true"));
        assert_eq!(proofload_model::facts::engine::ISOLATION.text(&facts), Some("REPEATABLE READ"));
        assert!(proofload_model::facts::engine::POWER_SAFE_COMMITS.text(&facts).is_some());
        of_name.after_build(&target).await.expect("settles");
        target.place.url = target.place.url.map(|url| url.replace("/shop", "/no_such_database"));
        let error = of_name.connect(&target).await.expect_err("there is none");
        assert!(error.to_string().contains("no_such_database"), "{error}");
    });
}
