//! A server that sends the client on to another one, as a listener does with those that only read; names with several addresses.

use crate::encryption::Certificates;
use crate::places::{integers, runtime, sqlserver, target};
use crate::tds_server::{Encrypts, Misbehaviour, Setup, TdsServer};
use proofload_engine::{Error, ErrorClass, OwnedValue, Session as _};

/// A server that answers every query with its number.
fn server(setup: Setup, number: i64) -> TdsServer {
    TdsServer::start(setup, move |_, _| integers(&[&[number]]))
}

fn sends_on(server: &str, port: u16) -> Setup {
    Setup { sends_on: Some((server.to_owned(), port)), ..Setup::default() }
}

/// The number of the server that lets us in.
async fn number(url: String) -> Result<i64, Error> {
    let mut session = sqlserver().connect(&target(url, &[])).await?;
    match session.query("SELECT number").await?.concat()[..] {
        [OwnedValue::Integer(number)] => Ok(number),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn those_that_only_read_follow_to_the_secondary() {
    let second = server(Setup::default(), 2);
    let first = server(Setup { keeps_writers: true, ..sends_on(r"localhost\SALES", second.port()) }, 1);
    runtime().block_on(async {
        assert_eq!(number(first.url("encrypt=none")).await.expect("writers stay"), 1);
        assert_eq!(second.log(), [""; 0]);
        first.log();
        assert_eq!(number(first.url("encrypt=none&intent=readonly")).await.expect("it follows"), 2);
    });
    let (first, second) = (first.log(), second.log());
    assert!(!first.iter().any(|line| line.starts_with("batch")), "{first:?}");
    // The second is told by which name it was reached.
    let named = format!("login at {:?}, only reads: true", r"localhost\SALES");
    assert!(second.contains(&named), "{second:?}");
}

#[test]
fn a_route_in_a_circle_ends() {
    let circle = server(sends_on("localhost", 0), 1);
    let error = runtime().block_on(number(circle.url("encrypt=none"))).expect_err("it does not end");
    assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
    assert!(error.to_string().contains("and so did 4 others"), "{error}");
    assert_eq!(circle.log().iter().filter(|line| line.starts_with("login of")).count(), 5);
}

#[test]
fn a_server_that_is_not_there_is_told_with_the_way_to_it() {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr()).expect("a port");
    let first = server(sends_on("127.0.0.1", free.port()), 1);
    let error = runtime().block_on(number(first.url("encrypt=none"))).expect_err("nobody is there").to_string();
    let way = format!("go where the server sent us, to 127.0.0.1 port {}", free.port());
    assert!(error.contains(&way) && error.contains("connect to shop on localhost"), "{error}");
}

#[test]
fn the_certificate_is_that_of_the_server_at_the_end_of_the_route() {
    let made = Certificates::make();
    let encrypted = |setup: Setup| Setup { encrypts: Encrypts::On, identity: made.identity(), ..setup };
    let second = server(encrypted(Setup::default()), 2);
    let options = format!("certificate-authority={}", made.path("root.crt"));
    let to = |host: &str| server(encrypted(sends_on(host, second.port())), 1);
    runtime().block_on(async {
        // The URL says by which name the first one is proved; the second has its own.
        let first = to("localhost").url(&format!("{options}&host-name-in-certificate=localhost"));
        assert_eq!(number(first.replace("localhost:", "127.0.0.1:")).await.expect("both are proved"), 2);
        let error = number(to("127.0.0.1").url(&options)).await.expect_err("it has no such name").to_string();
        assert!(error.contains("TLS handshake") && error.contains("to 127.0.0.1 port"), "{error}");
    });
    let log = second.log();
    assert_eq!(log.iter().filter(|line| line.starts_with("login of")).count(), 1, "{log:?}");
}

#[test]
fn a_route_that_ends_at_any_byte_is_told_as_lost() {
    let second = server(Setup::default(), 2);
    let runtime = runtime();
    let mut whole = None;
    for end in 1.. {
        let misbehaviour = Misbehaviour { ends_after: Some(end), ..Misbehaviour::default() };
        let first = server(Setup { misbehaviour, ..sends_on("localhost", second.port()) }, 1);
        match runtime.block_on(number(first.url("encrypt=none"))) {
            Err(error) => assert_eq!(error.class(), ErrorClass::ConnectionLost, "after {end} bytes: {error}"),
            Ok(found) => {
                assert_eq!(found, 2, "after {end} bytes");
                whole = Some(end);
                break;
            }
        }
    }
    let whole = whole.expect("all bytes suffice");
    assert!(whole > 200, "{whole} places were cut");
}

/// The name of this host may have an address at which nobody listens.
#[test]
fn a_name_with_several_addresses_is_dialled_at_all_of_them() {
    let listener = server(Setup::default(), 1);
    let url = listener.url("encrypt=none&multi-subnet-failover=true");
    assert_eq!(runtime().block_on(number(url)).expect("one address answers"), 1);
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr()).expect("a port");
    let url = format!("sqlserver://me@localhost:{}/shop?encrypt=none&multi-subnet-failover=true", free.port());
    let error = runtime().block_on(number(url)).expect_err("no address answers");
    assert_eq!(error.class(), ErrorClass::ConnectionLost, "{error}");
}
