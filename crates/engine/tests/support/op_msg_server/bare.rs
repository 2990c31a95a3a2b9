//! The least work that a client of sockets can do: ready requests are sent and answers received by one blocking call each, nothing is
//! read or made. What a session costs beyond this is ours; what this costs is the kernel's.

use super::build::{array, binary, document, int, nested, text};
use super::canned::message;
use super::raw;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Connections with nothing of a session.
#[derive(Debug)]
pub(crate) struct Bare {
    streams: Vec<TcpStream>,
    /// A find of one document and an update of one field of 100 bytes.
    requests: [Vec<u8>; 2],
    answer: Vec<u8>,
}

impl Bare {
    /// Connects so often to the null target at this URL.
    pub(crate) fn connect(url: &str, connections: usize) -> Self {
        let address = url.trim_start_matches("mongodb://").split('/').next().expect("a host and a port");
        let connect = |_| {
            let stream = TcpStream::connect(address).expect("the server listens");
            stream.set_nodelay(true).expect("a socket takes it");
            stream
        };
        Self { streams: (0..connections).map(connect).collect(), requests: requests(), answer: vec![0; 8192] }
    }

    /// Does at least so many operations, finds and updates in turns, each connection one at a time.
    pub(crate) fn run(&mut self, operations: u64) -> u64 {
        let mut done = 0;
        while done < operations {
            let request = &self.requests[(done / self.streams.len() as u64 % 2) as usize];
            for stream in &mut self.streams {
                stream.write_all(request).expect("the server takes it");
            }
            for stream in &mut self.streams {
                receive(stream, &mut self.answer);
                done += 1;
            }
        }
        done
    }
}

/// Receives one message.
fn receive(stream: &mut TcpStream, into: &mut [u8]) {
    let mut filled = 0;
    while filled < 4 || filled < raw::length(into) {
        let count = stream.read(&mut into[filled..]).expect("the server answers");
        assert!(count > 0, "the server stays");
        filled += count;
    }
}

fn requests() -> [Vec<u8>; 2] {
    let key = document(&[text("_id", "user00000000000000000000")]);
    let database = text("$db", "proofload");
    let find = document(&[text("find", "usertable"), nested("filter", &key), int("limit", 1), database.clone()]);
    let set = document(&[nested("$set", &document(&[binary("field0", &[b'x'; 100])]))]);
    let updates = array("updates", &[document(&[nested("q", &key), nested("u", &set)])]);
    let update = document(&[text("update", "usertable"), updates, database]);
    [message(&find), message(&update)]
}
