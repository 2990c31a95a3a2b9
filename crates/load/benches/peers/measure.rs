//! One run of one client: its transactions, its CPU and memory, the server's CPU. The load begins with the first
//! New-Order that the database has; what client and server used before that is told apart.

use super::peer::{Completed, Load, Peer};
use super::processes::{cpu, ended_children, family, most_memory};
use super::server::Server;
use super::watch::Watch;
use std::io::Read as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// What one run came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) transactions: u64,
    /// Orders that the database has more than before.
    pub(crate) new_orders: i64,
    /// Transactions a second by the client's own clock.
    pub(crate) per_second: f64,
    /// Seconds from start to end of the process.
    pub(crate) seconds: f64,
    /// User and system time of the client's processes until the load began, s.
    pub(crate) start_s: f64,
    /// The same from there to their end, ms for each transaction.
    pub(crate) client_ms: f64,
    /// CPU time of all the server's processes meanwhile.
    pub(crate) server_ms: f64,
    /// The most memory that the client had resident, MB.
    pub(crate) memory_mb: f64,
}

/// What a client printed and what its database counted.
pub(crate) struct Ran {
    pub(crate) output: String,
    /// Transactions that the database ended during the run, those of connecting included.
    pub(crate) transactions: i64,
}

/// How often the child is looked at: until the load begins, and then.
const UNTIL_THE_LOAD: Duration = Duration::from_millis(20);
const FROM_THEN_ON: Duration = Duration::from_millis(100);

/// How long the server may keep the counts of a session that has ended.
const COUNTS_ARRIVE: Duration = Duration::from_millis(1_200);

/// CPU times so far, s.
#[derive(Clone, Copy)]
struct Used {
    client: f64,
    server: f64,
}

/// Runs a client to its end; the error says why there is no figure of it.
pub(crate) fn run(peer: &dyn Peer, server: &Server, load: Load) -> Result<Measured, String> {
    server.tidy(peer.database())?;
    let mut watch = Watch::open(server, peer.database(), &peer.districts(server.kind))?;
    let (transactions, orders) = (watch.transactions()?, watch.orders()?);
    let before = Used { client: ended_children(), server: server.cpu() };
    let started = Instant::now();
    let mut command = peer.command(server, load);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("starting {command:?}: {error}"))?;
    let reader = |mut stream: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _rest_is_lost = stream.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = reader(Box::new(child.stdout.take().expect("it is piped")));
    let err = reader(Box::new(child.stderr.take().expect("it is piped")));
    let seen = look(&mut child, server, &mut watch, orders);
    let status = child.wait().expect("a child can be waited for");
    let seconds = started.elapsed().as_secs_f64();
    let after = Used { client: ended_children(), server: server.cpu() };
    let output = out.join().expect("reads") + &err.join().expect("reads");
    if !status.success() {
        return Err(format!("{command:?}: {status}\n{output}"));
    }
    let (begun, memory_mb) = seen.map_err(|error| format!("{error}\n{output}"))?;
    std::thread::sleep(COUNTS_ARRIVE);
    let ran = Ran { transactions: watch.transactions()? - transactions, output };
    let Completed { transactions, per_second } =
        peer.completed(&ran, load).ok_or_else(|| format!("{command:?} tells no transactions\n{}", ran.output))?;
    let each = |cpu_seconds: f64| cpu_seconds * 1e3 / transactions as f64;
    Ok(Measured {
        transactions,
        new_orders: watch.orders()? - orders,
        per_second,
        seconds,
        start_s: begun.client,
        client_ms: each(after.client - before.client - begun.client),
        server_ms: each(after.server - begun.server),
        memory_mb,
    })
}

/// Looks at a child until it has ended: CPU times when its load began, which is when there are more orders than before;
/// the most memory that it had, MB.
fn look(child: &mut Child, server: &Server, watch: &mut Watch, orders: i64) -> Result<(Used, f64), String> {
    let (mut begun, mut memory_mb) = (None, 0.0);
    let mut relatives = Relatives::of(child.id());
    while child.try_wait().expect("a child can be asked").is_none() {
        if begun.is_none() && watch.orders()? > orders {
            begun = Some(Used { client: cpu(&family(child.id())), server: server.cpu() });
        }
        memory_mb = f64::max(memory_mb, most_memory(relatives.now()));
        std::thread::sleep(if begun.is_none() { UNTIL_THE_LOAD } else { FROM_THEN_ON });
    }
    Ok((begun.ok_or("it ended without an order")?, memory_mb))
}

/// The processes of a client, looked for each second: that takes reading all of `/proc`.
struct Relatives {
    first: u32,
    found: Vec<u32>,
    at: Instant,
}

impl Relatives {
    fn of(first: u32) -> Self {
        Self { first, found: vec![first], at: Instant::now() }
    }

    fn now(&mut self) -> &[u32] {
        if self.at.elapsed() > Duration::from_secs(1) {
            *self = Self { found: family(self.first), at: Instant::now(), ..*self };
        }
        &self.found
    }
}
