//! What TPROC-C costs the client, beside other clients on the same server: CPU of client and server for each transaction, throughput, memory.
//!
//! `cargo bench -p proofload-load --bench peers -- [rounds=5] [seconds=20] [warehouses=10] [users=4] [only=procedures,pgbench]`; better
//! `cargo xtask perf oltp`, which keeps the result. One PostgreSQL is started and built once. In every round each client runs once, in an
//! order that turns round after round, so that what drifts meets all alike. CPU is that of the whole client process, connecting included, and
//! of all the server's processes. `build` and `client`, with the words of `Work`, build and load a server that is there, for a profiler. `bulk [rounds=5] [warehouses=10]` compares the build with `psql \copy`. A client that is not on the PATH is left out and named. It judges nothing.

#![expect(clippy::print_stdout, reason = "a bench tells its numbers on standard output")]

mod bulk;
mod client;
mod go_tpc;
mod measure;
mod ours;
mod peer;
mod pgbench;
mod processes;
mod ratio;
mod report;
mod server;

#[path = "../../../engine/tests/support/mod.rs"]
#[expect(dead_code, reason = "the conformance suite uses more of it")]
mod support;

use measure::Measured;
use peer::{Load, Peer};
use server::Server;

/// What the command line asks for.
#[derive(Debug, Clone)]
struct Asked {
    rounds: usize,
    load: Load,
    /// Names of the clients to run; all when empty.
    only: Vec<String>,
}

fn asked(words: &[String]) -> Asked {
    let find = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let number = |name: &str, otherwise: u32| find(name).map_or(otherwise, |text| text.parse().expect("a number"));
    Asked {
        rounds: number("rounds", 5) as usize,
        load: Load { seconds: number("seconds", 20), warehouses: number("warehouses", 10), users: number("users", 4) },
        only: find("only").map(|list| list.split(',').map(str::to_owned).collect()).unwrap_or_default(),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.first().map(String::as_str) {
        Some(client::WORD) => return client::run(&words[1..]),
        Some("build") => return client::build(&client::Work::of(&words[1..])),
        _ => {}
    }
    let asked = asked(&words);
    if words.first().is_some_and(|word| word == bulk::WORD) {
        return bulk::run(asked.rounds, asked.load.warehouses);
    }
    let server = match Server::start() {
        Ok(server) => server,
        Err(reason) => {
            println!("left out: {reason}");
            return;
        }
    };
    let (peers, left_out) = peers(&server, &asked);
    for line in &left_out {
        println!("left out: {line}");
    }
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); peers.len()];
    for round in 0..asked.rounds {
        let mut order: Vec<usize> = (0..peers.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            let found = measure::run(peers[place].as_ref(), &server, asked.load);
            println!("round {}: {}: {}", round + 1, peers[place].name(), report::line(&found));
            measured[place].push(found);
        }
    }
    let versions: Vec<(String, String)> =
        peers.iter().map(|peer| (peer.name().to_owned(), peer.version().to_owned())).collect();
    report::tell(&asked, &server, &versions, &measured, &left_out);
}

/// The clients that can be run, their data built; and why the others are left out.
fn peers(server: &Server, asked: &Asked) -> (Vec<Box<dyn Peer>>, Vec<String>) {
    let (mut peers, mut left_out) = (Vec::new(), Vec::new());
    for (name, find) in peer::PEERS {
        if !asked.only.is_empty() && !asked.only.iter().any(|only| only == name) {
            continue;
        }
        match find(server, asked.load) {
            Ok(peer) => peers.push(peer),
            Err(reason) => left_out.push(format!("{name}: {reason}")),
        }
    }
    (peers, left_out)
}
