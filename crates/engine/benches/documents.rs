//! What a session of documents costs its client: CPU microseconds per operation and resident memory, half finds of ten fields of
//! 100 bytes, half updates of one, by 8 to 1,024 connections on one thread. The server is the null target, in a process of its own.
//! Beside them stands what bare sockets cost: one blocking call to send, one to receive, no session.
//!
//! Run: `cargo bench -p proofload-engine --bench documents`, with `--features mongodb-driver` for both client paths;
//! `OPERATIONS=1000000` before it for more than 200,000 of each, `REPETITIONS=5` for more than one round, `ONLY=lean` for
//! one of `bare`, `lean` and `driver`.
//! Prints one line per figure; judges nothing.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../tests/support/op_msg_server/mod.rs"]
mod op_msg_server;

use op_msg_server::{Bare, Behaviour, Process, serve_if_asked};
use proofload_engine::{AnyDocuments, Collection, DocumentBuffer, Documents, Fields, Target, engine};
use proofload_model::wire::DataLocation;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;
use tokio::task::LocalSet;

/// Client paths, as in `engine.path`.
const PATHS: &[&str] = if cfg!(feature = "mongodb-driver") { &["lean", "driver"] } else { &["lean"] };
/// Connections on the one client thread.
const CONNECTIONS: &[usize] = &[8, 64, 256, 1_024];

fn main() {
    if serve_if_asked(Behaviour::null_target()) {
        return;
    }
    let operations = std::env::var("OPERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let repetitions = std::env::var("REPETITIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let only = std::env::var("ONLY").unwrap_or_default();
    assert!(only.is_empty() || only == "bare" || PATHS.contains(&only.as_str()), "ONLY={only} is not built in");
    let paths = |path: &&&str| only.is_empty() || only == **path;
    for connections in CONNECTIONS.iter().cycle().take(CONNECTIONS.len() * repetitions) {
        if only.is_empty() || only == "bare" {
            measure_bare(&Process::start(&[]), *connections, operations);
        }
        for path in PATHS.iter().filter(paths) {
            let server = Process::start(&[]);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let work = measure(path, &server, *connections, operations);
            LocalSet::new().block_on(&runtime, work);
        }
    }
}

async fn measure(path: &str, server: &Process, connections: usize, operations: u64) {
    let settings = vec![("path".to_owned(), path.to_owned())];
    let url = Some(server.url.clone());
    let place = DataLocation { engine: "mongodb".to_owned(), folder: String::new(), url, settings, tier: None };
    let target = Target::new(place, None);
    let mut sessions = Vec::new();
    for _ in 0..connections {
        sessions.push(connect(&target).await);
    }
    run(&mut sessions, operations / 10).await;
    let costs = Costs::begin(server);
    run(&mut sessions, operations).await;
    costs.tell(&format!("{path}, {connections} connections"), operations);
}

fn measure_bare(server: &Process, connections: usize, operations: u64) {
    let mut bare = Bare::connect(&server.url, connections);
    bare.run(operations / 10);
    let costs = Costs::begin(server);
    let done = bare.run(operations);
    costs.tell(&format!("bare sockets, {connections} connections"), done);
}

/// What had been used when a measurement began.
struct Costs<'a> {
    server: &'a Process,
    started: Instant,
    client_ns: f64,
    server_ticks: f64,
}

impl<'a> Costs<'a> {
    fn begin(server: &'a Process) -> Self {
        let server_ticks = process_cpu_ticks(server.id());
        Self { server, started: Instant::now(), client_ns: thread_cpu_ns(), server_ticks }
    }

    fn tell(self, what: &str, operations: u64) {
        let seconds = self.started.elapsed().as_secs_f64();
        let each = |nanos: f64| nanos / operations as f64 / 1_000.0;
        println!(
            "{what}: {:.2} us client CPU, {:.1} us server CPU per operation, {:.0} operations/s, {:.1} MB resident",
            each(thread_cpu_ns() - self.client_ns),
            each((process_cpu_ticks(self.server.id()) - self.server_ticks) * 1e7),
            operations as f64 / seconds,
            resident_bytes() / 1e6,
        );
    }
}

async fn connect(target: &Target) -> AnyDocuments {
    let engine = engine("mongodb").expect("it is registered");
    let mut session = engine.connect_documents(target).await.expect("connects");
    let fields = (0..10).map(|field| format!("field{field}")).collect();
    session.open(&Collection { name: "usertable".to_owned(), fields }).await.expect("opens");
    session
}

/// Lets every session work as a virtual user until so many operations are done.
async fn run(sessions: &mut Vec<AnyDocuments>, operations: u64) {
    let left = Rc::new(Cell::new(operations));
    let spawn = |(session, user)| tokio::task::spawn_local(work(session, user, Rc::clone(&left)));
    let users: Vec<_> = sessions.drain(..).zip(0..).map(spawn).collect();
    for user in users {
        sessions.push(user.await.expect("no panic"));
    }
}

async fn work(mut session: AnyDocuments, user: u64, left: Rc<Cell<u64>>) -> AnyDocuments {
    let (mut found, mut change, mut random) = (DocumentBuffer::new(), DocumentBuffer::new(), user * 2 + 1);
    let mut key = String::new();
    while left.get() > 0 {
        left.set(left.get() - 1);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        key.clear();
        std::fmt::Write::write_fmt(&mut key, format_args!("user{random:020}")).expect("a string takes all text");
        if random >> 63 == 0 {
            found.clear();
            session.find(&key, Fields::All, &mut found).await.expect("finds");
            assert_eq!(found.get(0).map(|document| document.values().count()), Some(10));
        } else {
            change.clear();
            change.begin(&key);
            change.put_with((random >> 40) as u16 % 10, 100, |value| value.fill(b'x'));
            let matched = session.update(change.get(0).expect("one document")).await.expect("updates");
            assert_eq!(matched, 1);
        }
    }
    session
}

/// Nanoseconds that this thread has run, user and system: the first field of its `schedstat`.
fn thread_cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux keeps it");
    text.split(' ').next().and_then(|field| field.parse().ok()).expect("a number")
}

/// Hundredths of a second that a process has run, user and system: fields 14 and 15 of its `stat`.
fn process_cpu_ticks(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it lives");
    let fields = text.rsplit(") ").next().expect("a name in brackets").split(' ').skip(11).take(2);
    fields.map(|field| field.parse::<f64>().expect("a number")).sum()
}

/// Memory of this process that is resident, bytes.
fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux keeps it");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.split_whitespace().next().and_then(|field| field.parse::<f64>().ok()).expect("a number") * 1024.0
}
