//! What only a real PostgreSQL server shows: long socket paths, servers by URL with a password, lost connections.

mod support;

use proofload_engine::{ErrorClass, Session as _, Target, engine};
use proofload_model::samples::Fact;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use support::{Place, Special};

/// Names the URL to the test that visits it, in a process whose environment the parent has set.
const URL: &str = "PROOFLOAD_TEST_URL";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

#[test]
fn a_server_is_reached_by_a_long_path_and_by_url() {
    let port = free_port();
    let added = [
        ("postgresql.conf", "listen_addresses = '127.0.0.1'\n".to_owned()),
        ("pg_hba.conf", "host all all 127.0.0.1/32 scram-sha-256\n".to_owned()),
    ];
    let long = format!("{}-", "long-name".repeat(12));
    let postgresql = engine("postgresql").expect("it is registered");
    let place = match Place::new(postgresql, &[], &Special { prefix: &long, added: &added, port }) {
        Ok(place) => place,
        Err(reason) => {
            assert!(std::env::var_os("PROOFLOAD_REQUIRE_POSTGRESQL").is_none(), "PostgreSQL is required: {reason}");
            eprintln!("SKIPPED: {reason}");
            return;
        }
    };
    runtime().block_on(async {
        place.engine.create_database(&place.target).await.expect("creates the database");
        let script = "CREATE ROLE visitor LOGIN PASSWORD 's3cret'; CREATE DATABASE shop OWNER visitor";
        for statement in script.split(';') {
            place.connect().await.script(statement).await.expect("makes a role and a database");
        }
        check_lost_connection(&place).await;
    });
    let file = std::path::Path::new(&place.target.place.folder).join("pgpass");
    std::fs::write(&file, format!("127.0.0.1:{port}:*:visitor:s3cret\n")).expect("writes a password file");
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

/// Runs only in the process that the test above starts.
#[test]
fn visits_by_url() {
    let Ok(url) = std::env::var(URL) else { return };
    let postgresql = engine("postgresql").expect("it is registered");
    let mut target = Target {
        place: proofload_model::wire::DataPlace {
            engine: "postgresql".to_owned(),
            folder: String::new(),
            url: Some(url),
            settings: vec![
                ("work_mem".to_owned(), "3MiB".to_owned()),
                ("shared_buffers".to_owned(), "1GiB".to_owned()),
            ],
        },
        address: None,
    };
    runtime().block_on(async {
        postgresql.create_database(&target).await.expect("creates the schema");
        let mut session = postgresql.connect(&target).await.expect("connects with the password of the file");
        session.script("CREATE TABLE t (id integer); INSERT INTO t VALUES (1)").await.expect("writes");
        let facts = postgresql.verify_settings(&target).await.expect("reads settings");
        let holds = |name: &str| facts.iter().find(|fact: &&Fact| fact.name == name).and_then(|fact| fact.holds);
        assert_eq!(holds("work_mem"), Some(true), "a session may set it");
        assert_eq!(holds("shared_buffers"), Some(false), "the server's owner sets it");
        postgresql.after_build(&target).await.expect("settles without the right to checkpoint");
        target.place.url = target.place.url.map(|url| url.replace("/shop", "/no_such_database"));
        let error = postgresql.connect(&target).await.expect_err("there is none");
        assert!(error.to_string().contains("no_such_database"), "{error}");
    });
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("it has an address").port()
}
