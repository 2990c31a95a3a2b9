//! Failover managers with real PostgreSQL servers: data are adopted, a mode is in force, a fault is followed by another leader, nothing stays. Run
//! where the programs are found.
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod pair;
mod support;

use pair::{LONG, SHORT, bench, postgresql};
use proofload_model::deployment::{InstanceName, StoragePlan};
use proofload_model::drill::FaultKind;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::manager::{ClusterReading, ManagedNode, ManagerAsked, ManagerKind};
use proofload_model::replication::{Confirmation, HeldPart, ReplicationAsked, ReplicationMode, ReplicationPart};
use proofload_model::wire::host::{
    Attach, BeginCommit, Detach, Discard, EndCommit, HoldStandby, MakeFault, PrepareLimits, ReadCluster,
    ReadReplication, Start, StartArbiter, StartManaged, StartedInstance, Stop, StopArbiter,
};
use proofload_model::wire::{DataLocation, LimitsAsked};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Bench, one, restored, segments_of};

/// How long a manager may take for anything here, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

struct Cluster {
    bench: Bench,
    folder: String,
    started: Vec<StartedInstance>,
    nodes: Vec<ManagedNode>,
    /// Rows that were written and acknowledged.
    written: i64,
}

fn names() -> [InstanceName; 2] {
    [one(), InstanceName::standby(1)]
}

fn is_installed(kind: ManagerKind) -> bool {
    let programs: &[&str] = match kind {
        ManagerKind::Patroni => &["patroni", "patronictl", "etcd"],
        ManagerKind::PgAutoFailover => &["pg_autoctl"],
    };
    let missing = programs.iter().find(|program| !Path::new("/usr/bin").join(program).exists());
    if let Some(program) = missing {
        println!("SKIPPED: {kind}: there is no {program}; install the packages of scripts/install-test-needs.sh");
    }
    missing.is_none()
}

fn settings(kind: ManagerKind) -> Vec<(&'static str, &'static str)> {
    match kind {
        ManagerKind::Patroni => {
            vec![("ttl", "20"), ("loop_wait", "2"), ("retry_timeout", "9"), ("primary_start_timeout", "0")]
        }
        ManagerKind::PgAutoFailover => vec![("health_check_period", "1000")],
    }
}

/// A host role with the data of two nodes, the folder of the first, and what starts them.
fn prepared(kind: ManagerKind, mode: ReplicationMode) -> Option<(Bench, String, StartManaged)> {
    let (mut bench, place) = bench()?;
    let asked = ReplicationAsked {
        mode,
        standbys: vec![InstanceName::standby(1)],
        confirmation: Confirmation::Any(1),
        presented_as: Vec::new(),
    };
    let own = postgresql().replication().expect("it has standbys").managed_settings(&asked);
    let nodes: Vec<ManagedNode> = names()
        .into_iter()
        .map(|instance| {
            let folder = if instance == one() { place.folder.clone() } else { format!("{}.{instance}", place.folder) };
            let mut place = DataLocation { folder, ..place.clone() };
            place.settings.extend(own.clone());
            ManagedNode { instance, place }
        })
        .collect();
    for ManagedNode { instance, place: at } in &nodes {
        let (instance, at) = (instance.clone(), at.clone());
        bench.ask(restored(instance.clone(), at.clone(), &place.folder));
        bench.ask(Attach { instance: instance.clone(), place: at, storage: StoragePlan::directory() });
        bench.ask(PrepareLimits { instance, limits: LimitsAsked::default() });
    }
    let settings = settings(kind).into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let folder = place.folder;
    Some((bench, folder, StartManaged { manager: ManagerAsked { kind, settings }, asked, nodes }))
}

/// What is killed of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The service that initialises the server, which its program begins again.
    Service,
    /// Its program, once the server answers and still nobody leads.
    Program,
}

/// Kills a part of the first node of pg_auto_failover while it initialises its server, as happens by itself on slow hosts.
fn kill_when_it_initialises(folder: &str, victim: Victim) -> std::thread::JoinHandle<()> {
    let (log, server) = (format!("{folder}/manager/log"), format!("{folder}/data/postmaster.pid"));
    std::thread::spawn(move || {
        let says = |what: &str| {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            text.lines().find(|line| line.contains(what)).map(str::to_owned)
        };
        until(|| says("Initialising postgres as a primary").is_some() && Path::new(&server).exists());
        let line = says("Initialising postgres as a primary").expect("it said so");
        let service = line.split(' ').nth(1).expect("a process");
        if victim == Victim::Program {
            let status = std::fs::read_to_string(format!("/proc/{service}/status")).expect("it lives");
            let program = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("it has one").trim();
            signal("-STOP", service);
            until(|| says("Postgres is now serving").is_some());
            std::thread::sleep(Duration::from_secs(1));
            signal("-KILL", program);
        }
        // It may have ended already: by itself, or with its program.
        let _ended = is_signalled("-KILL", service);
    })
}

fn until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "it did not initialise");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn signal(signal: &str, process: &str) {
    assert!(is_signalled(signal, process));
}

fn is_signalled(signal: &str, process: &str) -> bool {
    Command::new("kill").args([signal, process]).status().expect("kill runs").success()
}

impl Cluster {
    /// Starts one; the initialisation of pg_auto_failover is broken off once.
    fn start(kind: ManagerKind, mode: ReplicationMode) -> Option<Self> {
        let (mut bench, folder, ask) = prepared(kind, mode)?;
        let killed = (kind == ManagerKind::PgAutoFailover).then(|| kill_when_it_initialises(&folder, Victim::Service));
        let nodes = ask.nodes.clone();
        let started = bench.ask(ask);
        killed.into_iter().for_each(|killed| killed.join().expect("it was killed"));
        Some(Self { bench, folder, started, nodes, written: 0 })
    }

    /// Waits until the cluster is as it should be.
    #[track_caller]
    fn until(&mut self, what: &str, holds: impl Fn(&ClusterReading) -> bool) -> (ClusterReading, Duration) {
        let begun = Instant::now();
        let mut last = None;
        while begun.elapsed() < PATIENCE {
            let seen = self.bench.handle(ReadCluster {});
            if let Some(seen) = seen.as_ref().ok().filter(|seen| holds(seen)) {
                return (seen.clone(), begun.elapsed());
            }
            last = Some(seen);
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{what}: {last:?}");
    }

    #[track_caller]
    fn until_in_force(&mut self) {
        let begun = Instant::now();
        loop {
            match self.bench.ask_until_answered(ReadReplication { instance: one() }).out_of_force {
                None => return,
                Some(why) => assert!(begun.elapsed() < PATIENCE, "{why}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks an instance, by the socket of its address.
    #[track_caller]
    fn sql(&self, node: usize, statement: &str) -> String {
        let address = &self.started[node].address;
        let folder = address.split('\'').nth(1).expect("an address of a socket");
        let port = address.split("port=").nth(1).and_then(|rest| rest.split(' ').next()).expect("a port");
        let done = Command::new("psql")
            .args([
                "-h",
                folder,
                "-p",
                port,
                "-U",
                "proofload",
                "-d",
                "proofload",
                "-X",
                "-q",
                "-A",
                "-t",
                "-c",
                statement,
            ])
            .output()
            .expect("psql is installed with the server");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    fn insert(&self, node: usize, number: i64) {
        self.sql(node, &format!("CREATE TABLE IF NOT EXISTS kept (id int); INSERT INTO kept VALUES ({number})"));
    }

    /// Rows at whoever leads.
    #[track_caller]
    fn rows(&mut self) -> i64 {
        let (seen, _) = self.until("one leads", |seen| seen.takes_writes);
        self.sql(usize::from(seen.leader != Some(one())), "SELECT count(*) FROM kept").parse().expect("a number")
    }

    /// Makes a fault of whoever leads; waits until another server takes writes, and until all follow where all live.
    #[track_caller]
    fn drill(&mut self, kind: ManagerKind, fault: FaultKind) -> (InstanceName, InstanceName) {
        let (before, _) = self.until("all follow", |seen| seen.is_protected && seen.takes_writes);
        let leader = before.leader.clone().expect("one leads");
        let made = self.bench.ask(MakeFault { instance: leader.clone(), kind: fault, strength: FaultStrength::Whole });
        assert!(made.after <= made.at);
        let (after, took) = self
            .until("another server leads", |seen| seen.takes_writes && seen.server.is_some() && seen.is_after(&before));
        let next = after.leader.expect("one leads");
        println!("MEASURED: {kind}, {fault:?} of {leader}: {:.1} s until {next} leads", took.as_secs_f64());
        self.written += 1;
        self.insert(usize::from(next != one()), self.written);
        (leader, next)
    }

    /// Starts the program of the node that does not lead again, whose fault has ended it, and waits until it follows.
    #[track_caller]
    fn come_back(&mut self, kind: ManagerKind) {
        let (seen, _) = self.until("one leads", |seen| seen.takes_writes);
        assert!(!seen.is_protected, "nobody has started the node again: {seen:?}");
        let failed = self.nodes.iter().find(|node| seen.leader.as_ref() != Some(&node.instance));
        let ManagedNode { instance, place } = failed.expect("there are two").clone();
        let part = ReplicationPart::Standby { upstream: String::new() };
        self.bench.ask(Start { instance: instance.clone(), place, part });
        let (_, took) = self.until("it follows again", |seen| seen.is_protected && seen.takes_writes);
        println!("MEASURED: {kind}: {instance} follows {:.1} s after its start", took.as_secs_f64());
        self.written += 1;
        self.insert(usize::from(instance == one()), self.written);
        assert_eq!(self.rows(), self.written, "an acknowledged row is lost");
    }

    /// Stops everything and looks that nothing stays.
    #[track_caller]
    fn end(mut self) {
        for instance in names().into_iter().rev() {
            self.bench.ask(Stop { instance });
        }
        self.expect_nothing_left();
    }

    /// Ends the nodes at once, whose data are discarded, and looks that nothing stays.
    #[track_caller]
    fn end_at_once(mut self) {
        let servers: Vec<u32> = self.nodes.iter().map(|node| server_of(&node.place)).collect();
        for server in &servers {
            assert!(segments_of(*server) > 0, "process {server} has made its shared memory");
        }
        for ManagedNode { instance, place } in self.nodes.clone().into_iter().rev() {
            self.bench.ask(Discard { instance: instance.clone(), place });
            self.bench.ask(Detach { instance });
        }
        for server in servers {
            assert_eq!(segments_of(server), 0, "the shared memory of process {server} is freed");
        }
        self.expect_nothing_left();
    }

    #[track_caller]
    fn expect_nothing_left(mut self) {
        self.bench.ask(StopArbiter {});
        until_none_is_left(&self.folder);
        let shown = format!("{:?}", self.started);
        assert!(!shown.contains("password"), "{shown}");
    }
}

/// First process of the server of a node, which its lock file says in its first line.
#[track_caller]
fn server_of(place: &DataLocation) -> u32 {
    let text = std::fs::read_to_string(format!("{}/data/postmaster.pid", place.folder)).expect("it runs");
    text.lines().next().and_then(|line| line.trim().parse().ok()).expect("a process")
}

/// Processes that work in the folders of a cluster.
fn left_in(folder: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let works_in = |entry: std::fs::DirEntry| std::fs::read_link(entry.path().join("cwd")).ok();
    let paths = all.filter_map(works_in).map(|path| path.display().to_string());
    paths.filter(|path| path.starts_with(folder)).collect()
}

/// Waits until no process works in the folders of a cluster: what was killed needs a moment to end.
#[track_caller]
fn until_none_is_left(folder: &str) {
    let begun = Instant::now();
    while !left_in(folder).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{:?}", left_in(folder));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Cuts the file that `pg_autoctl` writes in place, as a crash may that meets it there: seen on busy hosts, where the crash before may have cut
/// it already.
fn cut_what_is_rewritten(kind: ManagerKind, folder: &str) {
    if kind == ManagerKind::PgAutoFailover {
        let arbiter = format!("{folder}.arbiter");
        let path = format!("{arbiter}/manager/config/pg_autoctl{arbiter}/data/pg_autoctl.cfg");
        assert!(std::fs::exists(&path).expect("its folder can be read"), "{path} is not what it writes");
        std::fs::write(&path, "").expect("it can be cut");
    }
}

/// A pair that a manager runs through several faults: the mode holds, another leads after each, what was acknowledged is there, and nothing stays.
#[track_caller]
fn faults_of(kind: ManagerKind, faults: &[FaultKind]) -> Cluster {
    let begun = Instant::now();
    let mut cluster = Cluster::start(kind, ReplicationMode::RemoteFlush).expect("the programs were found");
    cluster.until_in_force();
    println!("MEASURED: {kind}: {:.1} s from the snapshot until in sync", begun.elapsed().as_secs_f64());
    for (part, waits) in [(HeldPart::Apply, false), (HeldPart::Link, true)] {
        cluster.bench.ask(HoldStandby { instance: InstanceName::standby(1), part, held: true });
        let ended = cluster.bench.ask(BeginCommit { instance: one(), within: if waits { SHORT } else { LONG } });
        cluster.bench.ask(HoldStandby { instance: InstanceName::standby(1), part, held: false });
        assert!(cluster.bench.ask(EndCommit { instance: one(), within: LONG }), "a commit waits for ever");
        assert_eq!(!ended, waits, "{part:?}");
    }
    cluster.bench.ask(MakeFault {
        instance: InstanceName::arbiter(),
        kind: FaultKind::Crash,
        strength: FaultStrength::Whole,
    });
    cut_what_is_rewritten(kind, &cluster.folder);
    cluster.bench.ask(StartArbiter {});
    for fault in faults {
        let (leader, next) = cluster.drill(kind, *fault);
        assert_ne!(leader, next, "{fault:?}");
    }
    assert_eq!(cluster.rows(), cluster.written, "an acknowledged row is lost");
    assert!(!left_in(&cluster.folder).is_empty());
    cluster
}

#[test]
fn patroni_replaces_a_leader_after_each_fault_and_is_gone_with_its_agent() {
    if !is_installed(ManagerKind::Patroni) {
        return;
    }
    let mut cluster = faults_of(ManagerKind::Patroni, &[FaultKind::Switchover, FaultKind::Kill, FaultKind::Crash]);
    cluster.come_back(ManagerKind::Patroni);
    let facts = &cluster.started[0].facts;
    let ttl = facts.iter().find(|fact| fact.name == "manager.ttl").expect("settings are read back");
    assert_eq!((ttl.effective.as_deref(), ttl.holds), (Some("20"), Some(true)), "{ttl:?}");
    cluster.bench.role.abandon()();
    until_none_is_left(&cluster.folder);
}

#[test]
fn pg_auto_failover_replaces_a_leader_and_ends_in_order() {
    if is_installed(ManagerKind::PgAutoFailover) {
        // Back again at once: the order waits until the nodes stand still.
        let twice = [FaultKind::Switchover, FaultKind::Switchover];
        let mut cluster = faults_of(ManagerKind::PgAutoFailover, &twice);
        // By a rewind, in seconds; a base backup would wait minutes for its checkpoint.
        let (_, took) = cluster.until("all follow again", |seen| seen.is_protected && seen.takes_writes);
        println!("MEASURED: pg_auto_failover: {:.1} s from the new leader until all follow", took.as_secs_f64());
        cluster.end();
    }
}

#[test]
fn pg_auto_failover_takes_back_a_node_that_crashed() {
    if is_installed(ManagerKind::PgAutoFailover) {
        let mut cluster = faults_of(ManagerKind::PgAutoFailover, &[FaultKind::Crash]);
        cluster.come_back(ManagerKind::PgAutoFailover);
        cluster.end_at_once();
    }
}

#[test]
fn a_node_whose_program_exits_is_not_waited_for() {
    if !is_installed(ManagerKind::PgAutoFailover) {
        return;
    }
    let (mut bench, folder, ask) =
        prepared(ManagerKind::PgAutoFailover, ReplicationMode::RemoteFlush).expect("the programs were found");
    let killed = kill_when_it_initialises(&folder, Victim::Program);
    let error = bench.handle(ask).expect_err("it was killed").to_string();
    killed.join().expect("it was killed");
    assert!(error.contains("its program exited; its log: "), "{error}");
    drop(bench);
    until_none_is_left(&folder);
}
