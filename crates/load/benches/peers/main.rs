//! What TPROC-C costs the client, beside other clients on the same server: CPU of client and server for each
//! transaction, throughput, memory.
//!
//! `cargo bench -p proofload-load --bench peers -- [engine=mariadb] [rounds=5] [seconds=20] [warehouses=10] [users=4]
//! [only=compatible,hammerdb]`; better `cargo xtask perf oltp`, which keeps the result. One server is started. Each
//! client that is found gets its data built once, ours and those of pgbench together; `compatible` is ours by the rules of
//! HammerDB, with data of its own. In every round each client runs
//! once, in an order that turns round after round, so that what drifts meets all alike. All load without waits.
//!
//! CPU is that of all the client's processes, and of all the server's, from the first New-Order that the database has
//! until the client has ended, its own report included. What the client used before, to start (a virtual machine, its
//! parts) and to connect, is told in a column of its own: it is paid once, whatever the run's length. What a virtual
//! machine still compiles when the load has begun is its client's CPU. Transactions are those of the whole load, by the
//! client's own count where it tells one; beside it each round tells how many of them are orders in the database, which
//! is 43 to 45 % in every client's mix. A rate is what the client says of the time in which it counts.
//!
//! Found are `pgbench`, `mariadb-slap`, `hammerdbcli`, `go-tpc` and `sysbench` on the PATH; BENCHBASE names the folder with
//! `benchbase.jar`, SYSBENCH_TPCC the one with `tpcc.lua`. A client that is not there, or that fails, is left out and
//! named; when ours fails the bench does. Before each run the server vacuums and analyses the client's database and
//! makes a checkpoint; neither happens by itself during a run. They are not one workload: each has its own schema and
//! its own departures from the clauses. `build` and `client`, with the words of `Work`, build and load a server that is
//! there, for a profiler. `bulk [rounds=5] [warehouses=10]` compares the build with `psql \copy`. It judges nothing.

#![expect(clippy::print_stdout, reason = "a bench tells its numbers on standard output")]

mod benchbase;
mod bulk;
mod client;
mod go_tpc;
mod hammerdb;
mod mariadb_slap;
mod measure;
mod ours;
mod peer;
mod pgbench;
mod processes;
mod ratio;
mod report;
mod server;
mod sysbench;
mod watch;

#[path = "../../../engine/tests/support/mod.rs"]
mod support;

use measure::Measured;
use peer::{Load, Peer};
use server::{Server, ServerKind};
use std::process::ExitCode;
use std::time::Instant;

/// What the command line asks for.
#[derive(Debug, Clone)]
struct Asked {
    kind: ServerKind,
    rounds: usize,
    load: Load,
    /// Names of the clients to run; all when empty.
    only: Vec<String>,
}

fn asked(words: &[String]) -> Asked {
    let find = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let number = |name: &str, otherwise: u32| find(name).map_or(otherwise, |text| text.parse().expect("a number"));
    Asked {
        kind: find("engine")
            .map_or(ServerKind::PostgreSql, |name| ServerKind::named(name).expect("postgresql or mariadb")),
        rounds: number("rounds", 5) as usize,
        load: Load { seconds: number("seconds", 20), warehouses: number("warehouses", 10), users: number("users", 4) },
        only: find("only").map(|list| list.split(',').map(str::to_owned).collect()).unwrap_or_default(),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.first().map(String::as_str) {
        Some(client::WORD) => {
            client::run(&words[1..]);
            return ExitCode::SUCCESS;
        }
        Some("build") => {
            client::build(&client::Work::of(&words[1..]));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let asked = asked(&words);
    if words.first().is_some_and(|word| word == bulk::WORD) {
        bulk::run(asked.rounds, asked.load.warehouses);
        return ExitCode::SUCCESS;
    }
    let server = match Server::start(asked.kind) {
        Ok(server) => server,
        Err(reason) => {
            println!("left out: {reason}");
            return ExitCode::SUCCESS;
        }
    };
    let (peers, mut left_out) = peers(&server, &asked);
    for line in &left_out {
        println!("left out: {line}");
    }
    // None of a client that has failed: rows are compared by rounds, so it is left out whole.
    let mut measured: Vec<Option<Vec<Measured>>> = vec![Some(Vec::new()); peers.len()];
    for round in 0..asked.rounds {
        let mut order: Vec<usize> = (0..peers.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            let Some(runs) = &mut measured[place] else { continue };
            match measure::run(peers[place].as_ref(), &server, asked.load) {
                Ok(found) => {
                    println!("round {}: {}: {}", round + 1, peers[place].name(), report::line(&found));
                    runs.push(found);
                }
                Err(reason) => {
                    println!("left out: {}: {reason}", peers[place].name());
                    left_out.push(format!("{}: {}", peers[place].name(), peer::end(&reason)));
                    measured[place] = None;
                }
            }
        }
    }
    let rows: Vec<report::Row> = peers
        .iter()
        .zip(measured)
        .filter_map(|(peer, runs)| {
            Some(report::Row { name: peer.name().to_owned(), version: peer.version().to_owned(), runs: runs? })
        })
        .collect();
    report::tell(&asked, &server, &rows, &left_out);
    let ours_failed = left_out.iter().any(|line| line.starts_with(ours::NAME));
    if ours_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The clients that can be run, their data built; and why the others are left out.
fn peers(server: &Server, asked: &Asked) -> (Vec<Box<dyn Peer>>, Vec<String>) {
    let (mut peers, mut left_out) = (Vec::new(), Vec::new());
    for (name, kinds, find) in peer::PEERS {
        if !kinds.contains(&asked.kind) {
            left_out.push(format!("{name}: not driven on {}", asked.kind.product()));
            continue;
        }
        if !asked.only.is_empty() && !asked.only.iter().any(|only| only == name) {
            continue;
        }
        let started = Instant::now();
        match find(server, asked.load) {
            Ok(peer) => {
                println!("{name}: its data are there after {:.0} s", started.elapsed().as_secs_f64());
                peers.push(peer);
            }
            Err(reason) => left_out.push(format!("{name}: {reason}")),
        }
    }
    (peers, left_out)
}
