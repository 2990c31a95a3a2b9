//! One run of one client: its transactions, its CPU and memory, the server's CPU.

use super::peer::{Load, Peer};
use super::processes::ended_children;
use super::server::Server;
use std::io::Read as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// What one run came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) transactions: u64,
    pub(crate) seconds: f64,
    /// User and system time of the client's process, ms for each transaction.
    pub(crate) client_ms: f64,
    /// The same of all the server's processes.
    pub(crate) server_ms: f64,
    /// The most memory that the client had resident, MB.
    pub(crate) memory_mb: f64,
}

/// Runs a client to its end.
pub(crate) fn run(peer: &dyn Peer, server: &Server, load: Load) -> Measured {
    let (server_before, client_before) = (server.cpu(), ended_children());
    let started = Instant::now();
    let mut command = peer.command(server, load);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("starting {command:?}: {error}"));
    let reader = |mut stream: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut text = String::new();
            let _rest_is_lost = stream.read_to_string(&mut text);
            text
        })
    };
    let out = reader(Box::new(child.stdout.take().expect("it is piped")));
    let err = reader(Box::new(child.stderr.take().expect("it is piped")));
    let memory_mb = most_memory(&mut child);
    let status = child.wait().expect("a child can be waited for");
    let (out, err) = (out.join().expect("reads"), err.join().expect("reads"));
    let output = out + &err;
    assert!(status.success(), "{command:?}: {status}\n{output}");
    let seconds = started.elapsed().as_secs_f64();
    let transactions = peer.transactions(&output);
    assert!(transactions > 0, "{}: no transactions\n{output}", peer.name());
    let each = |cpu_seconds: f64| cpu_seconds * 1e3 / transactions as f64;
    Measured {
        transactions,
        seconds,
        client_ms: each(ended_children() - client_before),
        server_ms: each(server.cpu() - server_before),
        memory_mb,
    }
}

/// Looks at the child's high-water mark until it has ended, MB.
fn most_memory(child: &mut Child) -> f64 {
    let mut most = 0.0;
    while child.try_wait().expect("a child can be asked").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        most = kib.map_or(most, |kib| f64::max(most, kib * 1024.0 / 1e6));
        std::thread::sleep(Duration::from_millis(100));
    }
    most
}
