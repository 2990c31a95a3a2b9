//! Wrong servers, wrong addresses and servers without what is needed: an error of the right class that says what to do.

use crate::op_msg_server::Behaviour;
use crate::places::{Place, run};
use proofload_engine::{Error, ErrorClass};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

fn connect(place: &Place) -> Error {
    run(place.engine.connect_documents(&place.target)).expect_err("no session")
}

fn check(error: &Error, class: ErrorClass, parts: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.class(), class, "{text}");
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

fn by_url(url: &str, settings: &[(&str, &str)]) -> Error {
    connect(&Place::new("mongodb", Some(url.to_owned()), settings, Box::new(())))
}

/// A server of one connection that says something else.
fn impostor(says: &'static [u8]) -> Error {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("mongodb://{}", listener.local_addr().expect("an address"));
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(says);
    });
    let error = by_url(&url, &[]);
    thread.join().expect("the impostor ends");
    error
}

#[test]
fn other_servers_are_told_from_mongodb() {
    check(
        &impostor(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        ErrorClass::Other,
        &["HTTP/1.1 400", "is this a MongoDB server"],
    );
    check(&impostor(b"-ERR unknown\r\n"), ErrorClass::Other, &["-ERR unknown", "is this a MongoDB server"]);
    // PostgreSQL closes the connection without a word; so does a server that wants TLS.
    check(&impostor(b""), ErrorClass::ConnectionLost, &["closed the connection", "TLS needs engine.path"]);
}

#[test]
fn an_unreachable_server_is_named() {
    // Bound, so that nobody else gets the port, and not listening, so that it refuses.
    let socket = run(async { tokio::net::TcpSocket::new_v4() }).expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let address = socket.local_addr().expect("an address");
    let port = format!("port {}", address.port());
    check(&by_url(&format!("mongodb://{address}"), &[]), ErrorClass::ConnectionLost, &["127.0.0.1", &port, "running"]);
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("mongodb://{}", silent.local_addr().expect("an address"));
    check(
        &by_url(&url, &[("timeout", "100ms")]),
        ErrorClass::ConnectionLost,
        &["no answer within 100ms", "is this a MongoDB server"],
    );
}

#[test]
fn servers_of_other_times_are_refused() {
    for wire_versions in [(0, 6), (30, 40)] {
        let (place, _server) = Place::lean(Behaviour { wire_versions, ..Behaviour::default() }, &[]);
        check(&connect(&place), ErrorClass::Other, &["wire versions", "MongoDB 4.2"]);
    }
    let (place, server) = Place::lean(Behaviour { knows_hello: false, ..Behaviour::default() }, &[]);
    run(place.engine.create_database(&place.target)).expect("the older greeting works too");
    assert!(server.seen("isMaster") > 0);
}

fn refusal(behaviour: Behaviour, settings: &[(&str, &str)]) -> Option<String> {
    let (place, _server) = Place::lean(behaviour, settings);
    run(place.engine.create_database(&place.target)).err().map(|error| error.to_string())
}

#[test]
fn a_server_without_what_is_asked_for_is_refused() {
    let secondary = refusal(Behaviour { writable: false, ..Behaviour::default() }, &[]).expect("refused");
    assert!(secondary.contains("does not accept writes"), "{secondary}");
    let wanted = [("replica_set", "true")];
    let standalone = refusal(Behaviour::default(), &wanted).expect("refused");
    assert!(standalone.contains("cannot run transactions"), "{standalone}");
    assert_eq!(refusal(Behaviour { set_name: Some("rs0"), ..Behaviour::default() }, &wanted), None);
}

#[test]
fn settings_and_urls_that_the_path_cannot_serve_are_refused() {
    let driver = "engine.path = \"driver\"";
    check(&by_url("mongodb://db1,db2/shop", &[]), ErrorClass::Other, &["several servers", driver]);
    check(&by_url("mongodb+srv://db1/shop", &[]), ErrorClass::Other, &["in DNS", driver]);
    check(&by_url("mongodb://db1/shop?tls=true", &[]), ErrorClass::Other, &["tls=true", driver]);
    check(&by_url("mongodb://db1", &[("write_concern", "0")]), ErrorClass::Other, &["no response time"]);
    check(&by_url("mongodb://db1", &[("path", "fast")]), ErrorClass::Other, &["\"lean\""]);
}
