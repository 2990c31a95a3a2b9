//! Encryption as the server and the URL have it: nothing, the login, all, all from the first byte on; certificates that are proved or not.

use crate::places::{runtime, sqlserver, target};
use crate::tds_server::{Encrypts, Setup, TdsServer};
use proofload_engine::{OwnedValue, Session as _};
use std::path::PathBuf;
use std::process::Command;

/// A certificate for `localhost` and its authority, made by openssl.
pub(crate) struct Certificates(tempfile::TempDir);

impl Certificates {
    pub(crate) fn make() -> Self {
        let made = Self(tempfile::tempdir().expect("a temporary folder"));
        std::fs::write(made.0.path().join("names"), "subjectAltName=DNS:localhost\n").expect("a file");
        made.openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=root -keyout root.key -out root.crt");
        made.openssl("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr");
        made.openssl("x509 -req -in server.csr -CA root.crt -CAkey root.key -CAcreateserial -days 2 -out server.crt -extfile names");
        made
    }

    fn openssl(&self, arguments: &str) {
        let output = Command::new("openssl").args(arguments.split_whitespace()).current_dir(self.0.path()).output();
        let output = output.expect("openssl is there");
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Files of the server's certificate and its key.
    pub(crate) fn identity(&self) -> Option<(PathBuf, PathBuf)> {
        Some((self.path("server.crt").into(), self.path("server.key").into()))
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

#[test]
fn what_is_encrypted_follows_from_both_sides() {
    let made = Certificates::make();
    let trusted = format!("certificate-authority={}", made.path("root.crt"));
    let check = |encrypts, options: &str, expected: Result<&str, &str>| {
        let identity = made.identity();
        let server = TdsServer::start(Setup { encrypts, identity, ..Setup::default() }, |sql, _| match sql {
            "SELECT long" => crate::places::integers(&vec![&[1; 40][..]; 2_000]),
            _ => crate::places::integers(&[&[7]]),
        });
        let target = target(server.url(options), &[]);
        let outcome = runtime().block_on(async {
            let mut session = sqlserver().connect(&target).await?;
            // More than any buffer on the way holds, in both directions.
            assert_eq!(session.query("SELECT long").await?.len(), 2_000);
            session.query(&format!("SELECT '{}'", "x".repeat(300_000))).await
        });
        let log = server.log().join("; ");
        match (outcome, expected) {
            (Ok(rows), Ok(word)) => {
                assert_eq!(rows, [[OwnedValue::Integer(7)]]);
                assert!(log.contains(word), "{encrypts:?} {options}: {log}");
            }
            (Err(error), Err(word)) => assert!(error.to_string().contains(word), "{encrypts:?} {options}: {error}"),
            (outcome, _) => panic!("{encrypts:?} {options}: {outcome:?}; {log}"),
        }
    };
    check(Encrypts::NotSupported, "encrypt=none", Ok("encryption 2"));
    check(Encrypts::Off, "encrypt=none", Ok("encryption 2"));
    check(Encrypts::Off, "encrypt=optional", Ok("encryption 0"));
    check(Encrypts::Required, "encrypt=optional", Ok("encryption 0"));
    check(Encrypts::On, &trusted, Ok("encryption 1"));
    check(Encrypts::On, "trust-server-certificate=true", Ok("encryption 1"));
    check(Encrypts::Strict, &format!("encrypt=strict&{trusted}"), Ok("tls carries Some(\"tds/8.0\")"));
    check(Encrypts::Required, "encrypt=none", Err("set encrypt=optional"));
    check(Encrypts::NotSupported, "encrypt=optional", Err("cannot encrypt"));
    check(Encrypts::On, &format!("{trusted}&host-name-in-certificate=elsewhere"), Err("TLS handshake"));
    let other = format!("certificate-authority={}", made.path("server.crt"));
    check(Encrypts::On, &format!("{other}&host-name-in-certificate=elsewhere"), Err("TLS handshake"));
    check(
        Encrypts::Strict,
        &format!("encrypt=strict&{trusted}&host-name-in-certificate=elsewhere"),
        Err("TLS handshake"),
    );
}

#[test]
fn the_login_says_who_and_where() {
    let server = TdsServer::start(Setup::default(), |_, _| Vec::new());
    let target = target(server.url("encrypt=none"), &[]);
    runtime().block_on(async { sqlserver().connect(&target).await.map(drop) }).expect("connects");
    let log = server.log();
    assert_eq!(
        log[1],
        "login of me to \"shop\" as \"proofload\" with version 74000004, packets of 32767, features [10]"
    );
}
