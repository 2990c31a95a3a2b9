//! TLS with a real PostgreSQL server and certificates made for the test: each `sslmode` where it holds and where it must not.

#[path = "support/much.rs"]
mod much;
mod support;

use proofload_engine::{Endpoints, Session as _, Target, engine, free_port};
use proofload_model::secret::Secret;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Place, Special};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Certificates in a folder, made by openssl.
struct Certificates(tempfile::TempDir);

impl Certificates {
    /// An authority, a server's certificate of it for `localhost` alone, a client's of it for the role `certified`, and an authority that signed
    /// nothing.
    fn make() -> Self {
        let made = Self(tempfile::tempdir().expect("a temporary folder"));
        for authority in ["root", "other"] {
            made.openssl(&format!(
                "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={authority} -keyout {authority}.key -out {authority}.crt"
            ));
        }
        // Without an extension openssl makes certificates of version 1, which rustls does not take.
        for (file, text) in [("names", "subjectAltName=DNS:localhost\n"), ("uses", "extendedKeyUsage=clientAuth\n")] {
            std::fs::write(made.path(file), text).expect("the folder takes a file");
        }
        for (name, subject, extension) in
            [("server", "localhost", "-extfile names"), ("client", "certified", "-extfile uses")]
        {
            made.openssl(&format!(
                "req -newkey rsa:2048 -nodes -subj /CN={subject} -keyout {name}.key -out {name}.csr"
            ));
            made.openssl(&format!(
                "x509 -req -in {name}.csr -CA root.crt -CAkey root.key -CAcreateserial -days 2 -out {name}.crt {extension}"
            ));
        }
        made
    }

    fn openssl(&self, arguments: &str) {
        let output = Command::new("openssl").args(arguments.split_whitespace()).current_dir(self.0.path()).output();
        let output = output.expect("openssl is there");
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Lets the server write a file of its own, which only it may read.
async fn give(place: &Place, from: &Path, name: &str) {
    let text = std::fs::read_to_string(from).expect("it was made");
    let file = Path::new(&place.target.place.folder).join("instance").join(name);
    let copy = format!("COPY (SELECT unnest(string_to_array('{}', E'\\n'))) TO '{}'", text.trim_end(), file.display());
    place.connect().await.script(&copy).await.expect("the server writes a file");
    // A private key that others may read is refused.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("we may change its mode");
}

/// Connects by a URL: whether the session is encrypted, or why there is none.
async fn visit(place: &Place, url: &str) -> Result<bool, String> {
    let mut location = place.target.place.clone();
    location.url = Some(url.to_owned());
    let target = Target::new(location, None);
    let mut session = place.engine.connect(&target).await.map_err(|error| error.to_string())?;
    // More than any buffer on the way holds, in both directions at once.
    let long = format!("SELECT length('{}'), repeat('y', 3000000)", "x".repeat(2_000_000));
    let rows = session.query(&long).await.map_err(|error| error.to_string())?;
    assert_eq!(rows[0][0].as_value().integer(), Some(2_000_000));
    let rows = session.query("SELECT ssl::int FROM pg_stat_ssl WHERE pid = pg_backend_pid()").await;
    Ok(rows.expect("asks")[0][0].as_value().integer() == Some(1))
}

/// A server that listens on a port without TLS, with a role for each way in.
fn server(port: u16) -> Option<Place> {
    let admitted = "hostssl all encrypted 127.0.0.1/32 trust\nhostnossl all bare 127.0.0.1/32 trust\n\
                    host all either 127.0.0.1/32 trust\nhostssl all keyed 127.0.0.1/32 scram-sha-256\n\
                    hostssl all certified 127.0.0.1/32 cert\n";
    let added =
        [("postgresql.conf", "listen_addresses = '127.0.0.1'\n".to_owned()), ("pg_hba.conf", admitted.to_owned())];
    let postgresql = engine("postgresql").expect("it is registered");
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    let skipped = |reason: &dyn std::fmt::Display| eprintln!("SKIPPED: {reason}");
    let place = Place::new(postgresql, &[], &Special { prefix: "proofload-tls-", added: &added, port, kept: false });
    place
        .inspect_err(|reason| {
            assert!(std::env::var_os("PROOFLOAD_REQUIRE_POSTGRESQL").is_none(), "PostgreSQL is required: {reason}");
            skipped(reason);
        })
        .ok()
}

/// Lets the server speak TLS by its certificate.
async fn begin_tls(place: &Place, made: &Certificates) {
    for name in ["server.crt", "server.key", "root.crt"] {
        give(place, &made.path(name), name).await;
    }
    for statement in
        ["ALTER SYSTEM SET ssl_ca_file = 'root.crt'", "ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"]
    {
        place.connect().await.script(statement).await.expect("the server takes it");
    }
}

/// Host, role, options, and whether the session is encrypted or why there is none.
type Case = (&'static str, &'static str, String, Result<bool, &'static str>);

fn cases(made: &Certificates) -> Vec<Case> {
    let file = |name: &str| made.path(name).display().to_string();
    let [root, other, own] =
        ["root", "other", "server"].map(|name| format!("&sslrootcert={}", file(&format!("{name}.crt"))));
    let certificate = format!("&sslcert={}&sslkey={}", file("client.crt"), file("client.key"));
    vec![
        ("localhost", "either", String::new(), Ok(false)),
        ("localhost", "either", "&sslmode=disable".to_owned(), Ok(false)),
        ("localhost", "encrypted", "&sslmode=disable".to_owned(), Err("no encryption")),
        ("localhost", "either", "&sslmode=allow".to_owned(), Ok(false)),
        ("localhost", "encrypted", "&sslmode=allow".to_owned(), Ok(true)),
        ("localhost", "bare", "&sslmode=prefer".to_owned(), Ok(false)),
        ("localhost", "encrypted", "&sslmode=prefer".to_owned(), Ok(true)),
        ("localhost", "encrypted", "&sslmode=require".to_owned(), Ok(true)),
        ("localhost", "bare", "&sslmode=require".to_owned(), Err("no pg_hba.conf entry")),
        ("localhost", "encrypted", format!("&sslmode=require{other}"), Err("UnknownIssuer")),
        ("127.0.0.1", "encrypted", format!("&sslmode=verify-ca{root}"), Ok(true)),
        ("localhost", "encrypted", format!("&sslmode=verify-ca{other}"), Err("UnknownIssuer")),
        ("localhost", "encrypted", "&sslmode=verify-ca".to_owned(), Err("sslrootcert")),
        ("localhost", "encrypted", format!("&sslmode=verify-full{root}"), Ok(true)),
        ("localhost", "encrypted", format!("&sslmode=verify-full{own}"), Ok(true)),
        ("127.0.0.1", "encrypted", format!("&sslmode=verify-full{root}"), Err("not valid for name")),
        ("localhost", "certified", format!("&sslmode=verify-full{root}{certificate}"), Ok(true)),
        ("localhost", "certified", format!("&sslmode=verify-full{root}"), Err("certificate")),
        ("localhost", "encrypted", format!("&sslmode=require&sslcert={}", file("client.crt")), Err("sslkey")),
    ]
}

/// Connects in this way, for a session and for work beside the load.
async fn check(place: &Place, url: &str, expected: Result<bool, &str>) {
    let found = visit(place, url).await;
    match (&found, expected) {
        (Ok(found), Ok(expected)) => assert_eq!(*found, expected, "{url}"),
        (Err(text), Err(part)) => assert!(text.contains(part), "{url}: {text}"),
        _ => panic!("{url}: {found:?}, not {expected:?}"),
    }
    let beside = place.engine.server().expect("it has a recipe").probe(url).map_err(|error| error.to_string());
    match (beside, expected) {
        (Ok(()), Ok(_)) => {}
        (Err(text), Err(part)) => assert!(text.contains(part), "{url}: {text}"),
        (beside, _) => panic!("{url}: {beside:?}, not {expected:?}"),
    }
}

/// A password goes by the way without channel binding, which the server offers as well.
async fn check_password(place: &Place, url: String) {
    let secret = Secret::of(b"chance");
    let role = format!("CREATE ROLE keyed LOGIN PASSWORD '{}'", secret.reveal());
    place.connect().await.script(&role).await.expect("makes a role");
    let endpoints = Endpoints::from(Some(url)).with_password(Some(secret));
    let target = Target { place: place.target.place.clone(), endpoints };
    let mut session = place.engine.connect(&target).await.expect("connects");
    session.query("SELECT 1").await.expect("asks");
}

#[test]
fn each_mode_holds_what_it_says() {
    let port = free_port(Ipv4Addr::LOCALHOST.into()).expect("a port");
    let Some(place) = server(port) else { return };
    let made = Certificates::make();
    let url = |host: &str, role: &str, options: &str| {
        format!("postgresql://{role}@{host}:{port}/proofload?connect_timeout=20{options}")
    };
    runtime().block_on(async {
        place.engine.create_database(&place.target).await.expect("creates the database");
        for role in ["encrypted", "bare", "either", "certified"] {
            place.connect().await.script(&format!("CREATE ROLE {role} LOGIN")).await.expect("makes a role");
        }
        check(&place, &url("localhost", "either", "&sslmode=prefer"), Ok(false)).await;
        check(&place, &url("localhost", "either", "&sslmode=require"), Err("does not support TLS")).await;
        begin_tls(&place, &made).await;
        let begun = Instant::now();
        while visit(&place, &url("localhost", "encrypted", "&sslmode=require")).await.is_err() {
            assert!(begun.elapsed() < Duration::from_secs(180), "the server does not begin to speak TLS");
        }
        for (host, role, options, expected) in cases(&made) {
            check(&place, &url(host, role, &options), expected).await;
        }
        let root = made.path("root.crt").display().to_string();
        check_password(&place, url("localhost", "keyed", &format!("&sslmode=verify-full&sslrootcert={root}"))).await;
    });
    let mut location = place.target.place.clone();
    location.url = Some(url("localhost", "encrypted", "&sslmode=require"));
    much::check(place.engine, Target::new(location, None));
}
