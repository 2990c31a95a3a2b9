//! Logging on by an access token: what is sent and repeated, to whom it is never sent, and that it is shown nowhere.

use crate::encryption::Certificates;
use crate::places::{integers, runtime, sqlserver, target};
use crate::tds_server::{Encrypts, Misbehaviour, Setup, TdsServer, TokenRule};
use proofload_engine::{Error, ErrorClass, OwnedValue, Session as _};

/// The token, as an agent hands over what it was given.
const TOKEN: &str = "733363726574";

fn rule() -> TokenRule {
    TokenRule { token: TOKEN, wants: Some(1), nonce: Some([9; 32]), acknowledges: None }
}

fn server(made: &Certificates, encrypts: Encrypts, rule: TokenRule) -> TdsServer {
    let setup = Setup { encrypts, identity: made.identity(), by_token: Some(rule), ..Setup::default() };
    TdsServer::start(setup, |_, _| integers(&[&[7]]))
}

fn options(made: &Certificates) -> String {
    format!("authentication=entra-token&certificate-authority={}", made.path("root.crt"))
}

async fn visit(url: String) -> Result<(), Error> {
    let mut session = sqlserver().connect(&target(url, &[])).await?;
    assert_eq!(session.query("SELECT 7").await?, [[OwnedValue::Integer(7)]]);
    Ok(())
}

/// Whether a token has left.
fn has_token(server: &TdsServer) -> bool {
    server.log().iter().any(|line| line.starts_with("login"))
}

#[test]
fn a_token_lets_in_and_the_number_of_the_server_comes_back() {
    let made = Certificates::make();
    let check = |encrypts, options: String, rule: TokenRule, expected: &str| {
        let server = server(&made, encrypts, rule);
        runtime().block_on(visit(server.url(&options))).expect("it is let in");
        let log = server.log();
        for line in ["first message says of tokens Some([1])", expected] {
            assert!(log.iter().any(|found| found == line), "{line}: {log:?}");
        }
        assert!(log.iter().any(|line| line.starts_with("login of  to \"shop\"")), "no account: {log:?}");
    };
    check(Encrypts::On, options(&made), rule(), "login by token, echoes: true, repeats 32 bytes");
    check(Encrypts::Required, options(&made), rule(), "login by token, echoes: true, repeats 32 bytes");
    let strict = format!("{}&encrypt=strict", options(&made));
    check(Encrypts::Strict, strict, rule(), "login by token, echoes: true, repeats 32 bytes");
    let plain = TokenRule { wants: None, nonce: None, ..rule() };
    check(Encrypts::On, options(&made), plain, "login by token, echoes: false, repeats 0 bytes");
    let unasked = TokenRule { wants: Some(0), ..rule() };
    check(Encrypts::On, options(&made), unasked, "login by token, echoes: false, repeats 32 bytes");
}

#[test]
fn a_token_that_is_refused_is_not_shown() {
    let made = Certificates::make();
    let server = server(&made, Encrypts::On, TokenRule { token: "another", ..rule() });
    let error = runtime().block_on(visit(server.url(&options(&made)))).expect_err("it is another token");
    let text = format!("{error} {error:?}");
    assert!(text.contains("Login failed") && text.contains("a new access token") && !text.contains(TOKEN), "{text}");
}

#[test]
fn a_token_never_leaves_without_encryption_and_proof() {
    let made = Certificates::make();
    let check = |encrypts, options: &str, part: &str| {
        let server = server(&made, encrypts, rule());
        let error = runtime().block_on(visit(server.url(options))).expect_err("no token is sent").to_string();
        assert!(error.contains(part) && !error.contains(TOKEN), "{encrypts:?} {options}: {error}");
        assert!(!has_token(&server), "{encrypts:?} {options}");
    };
    let trusted = options(&made);
    check(Encrypts::Off, &trusted, "the login alone where all was asked for");
    check(Encrypts::NotSupported, &trusted, "cannot encrypt");
    check(Encrypts::On, &format!("{trusted}&host-name-in-certificate=elsewhere"), "TLS handshake");
    check(Encrypts::On, &format!("{trusted}&trust-server-certificate=true"), "a proved server");
    check(Encrypts::On, &format!("{trusted}&encrypt=optional"), "a proved server");
    check(Encrypts::NotSupported, &format!("{trusted}&encrypt=none"), "a proved server");
    // A server that sends us on is followed to a proved server alone.
    let second = server(&made, Encrypts::On, rule());
    let sends_on = Some(("127.0.0.1".to_owned(), second.port()));
    let setup = Setup {
        encrypts: Encrypts::On,
        identity: made.identity(),
        by_token: Some(rule()),
        sends_on,
        ..Setup::default()
    };
    let first = TdsServer::start(setup, |_, _| integers(&[&[1]]));
    let error = runtime().block_on(visit(first.url(&trusted))).expect_err("it is not proved").to_string();
    assert!(error.contains("TLS handshake") && error.contains("127.0.0.1"), "{error}");
    assert!(!has_token(&second));
}

#[test]
fn an_acknowledgement_that_is_wrong_ends_the_connection() {
    let made = Certificates::make();
    let check = |acknowledges: Vec<u8>, part: &str| {
        let server = server(&made, Encrypts::On, TokenRule { acknowledges: Some(acknowledges), ..rule() });
        let error = runtime().block_on(visit(server.url(&options(&made)))).expect_err("it is not acknowledged");
        assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    check(Vec::new(), "does not acknowledge");
    check(vec![0xAE, 0x0A, 1, 0, 0, 0, 1, 0xFF], "does not acknowledge");
    check([&[0xAE, 2, 32, 0, 0, 0][..], &[9; 32], &[0xFF]].concat(), "though none was sent");
    check(vec![0xAE, 2, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0xFF], "0x05 that was not asked for");
}

#[test]
fn a_word_about_tokens_that_is_not_known_ends_the_connection() {
    let made = Certificates::make();
    let server = server(&made, Encrypts::On, TokenRule { wants: Some(2), ..rule() });
    let error = runtime().block_on(visit(server.url(&options(&made)))).expect_err("neither yes nor no").to_string();
    assert!(error.contains("logins by token"), "{error}");
    assert!(!has_token(&server));
}

#[test]
fn a_login_by_token_that_is_cut_is_told_as_lost() {
    let made = Certificates::make();
    let runtime = runtime();
    let url = format!("{}&encrypt=strict", options(&made));
    let mut cuts = 0;
    for end in (1..).step_by(13) {
        let misbehaviour = Misbehaviour { ends_after: Some(end), ..Misbehaviour::default() };
        let (identity, by_token) = (made.identity(), Some(rule()));
        let setup = Setup { encrypts: Encrypts::Strict, identity, by_token, misbehaviour, ..Setup::default() };
        let server = TdsServer::start(setup, |_, _| integers(&[&[7]]));
        match runtime.block_on(visit(server.url(&url))) {
            Err(error) => {
                assert_eq!(error.class(), ErrorClass::ConnectionLost, "after {end} bytes: {error}");
                assert!(!error.to_string().contains(TOKEN), "{error}");
            }
            Ok(()) => break,
        }
        cuts += 1;
    }
    assert!(cuts > 20, "{cuts} places were cut");
}

#[test]
fn a_token_that_is_missing_is_asked_for() {
    let made = Certificates::make();
    let mut target = target(format!("sqlserver://localhost/shop?{}", options(&made)), &[]);
    target.endpoints = target.endpoints.with_password(None);
    let error = runtime().block_on(async { sqlserver().connect(&target).await.err() }).expect("there is no token");
    assert!(error.to_string().contains("PROOFLOAD_SQLSERVER_TOKEN"), "{error}");
}

#[test]
fn a_session_does_not_show_its_token() {
    let made = Certificates::make();
    let server = server(&made, Encrypts::On, rule());
    let target = target(server.url(&options(&made)), &[]);
    let shown = runtime().block_on(async {
        let session = sqlserver().connect(&target).await.expect("it is let in");
        format!("{session:?} {target:?}")
    });
    // Neither as text, nor as the bytes that were sent: the numbers of its first letters.
    assert!(!shown.contains(TOKEN) && !shown.contains("55, 0, 51, 0, 51, 0, 51, 0"), "the token is shown");
}
