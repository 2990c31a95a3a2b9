//! Named instances: their ports come from the browser service of the host, and what that says is not believed blindly.

use crate::places::{integers, runtime, sqlserver, target};
use crate::tds_server::{Browser, Setup, TdsServer};
use proofload_engine::{Error, OwnedValue, Session as _};

fn instance(name: &'static str) -> TdsServer {
    TdsServer::start(Setup { instance: Some(name), ..Setup::default() }, |_, _| integers(&[&[7]]))
}

/// Asks the instance `SALES` of this host for a number.
async fn ask(browser: &Browser) -> Result<(), Error> {
    let url = format!(r"sqlserver://me@127.0.0.1\SALES/shop?encrypt=none&browser-port={}", browser.port());
    let mut session = sqlserver().connect(&target(url, &[])).await?;
    assert_eq!(session.query("SELECT 7").await?, [[OwnedValue::Integer(7)]]);
    Ok(())
}

#[track_caller]
fn check_refused(browser: &Browser, part: &str) {
    let error = runtime().block_on(ask(browser)).expect_err("it is not reached").to_string();
    assert!(error.contains(part) && error.contains(r"connect to shop on 127.0.0.1\SALES"), "{error}");
}

#[test]
fn an_instance_is_reached_at_the_port_that_the_browser_tells() {
    let server = instance("Sales");
    let port = server.port();
    let browser = Browser::start(move |_| Some(Browser::tells(&[("Sales", Some(port))])));
    runtime().block_on(ask(&browser)).expect("it is reached");
    // Once more where the first answer was late.
    let questions = browser.questions();
    assert!(questions.iter().all(|question| question == b"\x04SALES\0"), "{questions:?}");
    assert!(server.log().iter().any(|line| line.starts_with("login of me to \"shop\"")));
}

/// The port may have gone to another instance since the browser service was started.
#[test]
fn another_instance_at_the_port_is_refused_before_the_login() {
    let server = instance("OTHER");
    let port = server.port();
    let browser = Browser::start(move |_| Some(Browser::tells(&[("SALES", Some(port))])));
    check_refused(&browser, "another instance than SALES answers");
    let log = server.log();
    assert!(!log.iter().any(|line| line.starts_with("login")), "{log:?}");
}

#[test]
fn instances_that_are_unknown_or_without_tcp_are_told() {
    let others = Browser::start(|_| Some(Browser::tells(&[("ONE", Some(1)), ("TWO", None)])));
    check_refused(&others, "knows no instance SALES; it knows ONE, TWO");
    let by_pipe = Browser::start(|_| Some(Browser::tells(&[("SALES", None)])));
    check_refused(&by_pipe, "does not listen by TCP");
}

#[test]
fn answers_that_are_cut_or_none_are_refused() {
    let whole = Browser::tells(&[("SALES", Some(1433))]);
    let mut wrong: Vec<Vec<u8>> = [0, 1, 2, 3, 40, whole.len() - 1].map(|end| whole[..end].to_vec()).into();
    wrong.push(b"HTTP/1.1 400 Bad Request".to_vec());
    for answer in wrong {
        let browser = Browser::start(move |_| Some(answer.clone()));
        check_refused(&browser, "no answer, or is cut");
    }
}
