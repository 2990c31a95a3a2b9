//! A server in front of the TDS server of the tests: it hands on what both say until a prepared statement has been called, and answers
//! every later call with the bytes of that answer. One thread for each connection.

use super::tds_server::{ColumnForm, Datum, Parameter, Part, Setup, TdsServer};
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Bytes in front of a packet: its type, its status, its length, which counts them, and what is of no interest here.
const HEAD: usize = 8;
/// The type of a packet of calls.
const CALLS: u8 = 3;
/// The bit of a status that ends a message.
const LAST: u8 = 1;

/// Starts one whose rows hold a number and a text; its URL.
pub(crate) fn start(number: i32, text: &'static str) -> String {
    let setup = Setup { packet_size: 4096, ..Setup::default() };
    let columns = vec![ColumnForm::Integer(4), ColumnForm::Text(24, true)];
    let answer = move |_: &str, _: &[Parameter]| {
        vec![
            Part::Columns(columns.clone()),
            Part::Row(vec![Datum::Integer(number.into()), Datum::text(text)]),
            Part::Count(1),
        ]
    };
    let url = TdsServer::start(setup, answer).url("encrypt=none");
    let behind = port_of(&url);
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The client goes.
            std::thread::spawn(move || drop(serve(&stream, behind)));
        }
    });
    url.replace(&format!(":{behind}/"), &format!(":{port}/"))
}

/// The port in a URL.
fn port_of(url: &str) -> u16 {
    let after = url.rsplit(':').next().expect("a URL has a colon");
    after.split('/').next().and_then(|port| port.parse().ok()).expect("a port")
}

fn serve(client: &TcpStream, behind: u16) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", behind))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut from_server) =
        (BufReader::with_capacity(64 << 10, client), BufReader::with_capacity(64 << 10, &server));
    let (mut to_client, mut to_server) = (client, &server);
    let (mut asked, mut answer) = (Vec::new(), Vec::new());
    // The first call prepares the statement as well, and its answer has the statement's number. From the second on there are only calls.
    let mut calls = 0;
    loop {
        receive(&mut from_client, &mut asked)?;
        calls += u32::from(asked[0] == CALLS);
        if asked[0] != CALLS || calls <= 2 {
            to_server.write_all(&asked)?;
            receive(&mut from_server, &mut answer)?;
        }
        to_client.write_all(&answer)?;
    }
}

/// Takes the packets of the next message, with what is in front of them.
fn receive(from: &mut BufReader<&TcpStream>, into: &mut Vec<u8>) -> io::Result<()> {
    into.clear();
    loop {
        let mut head = [0; HEAD];
        from.read_exact(&mut head)?;
        into.extend(head);
        let rest = usize::from(u16::from_be_bytes([head[2], head[3]])).saturating_sub(HEAD);
        let start = into.len();
        into.resize(start + rest, 0);
        from.read_exact(&mut into[start..])?;
        if head[1] & LAST == LAST {
            return Ok(());
        }
    }
}
