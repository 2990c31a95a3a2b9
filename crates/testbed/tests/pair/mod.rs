//! A primary with standbys, PostgreSQL's unless another engine is named, for tests of the host role.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::print_stdout,
    reason = "each test binary uses its own part; a skipped test says so"
)]

use super::support::{Bench, alone, of, one, restored};
use proofload_engine::{Engine, Target};
use proofload_model::deployment::{InstanceName, StoragePlan};
use proofload_model::replication::{
    Confirmation, HeldPart, LinkAsked, ReplicationAsked, ReplicationMode, ReplicationPart, ReplicationReading,
};
use proofload_model::wire::host::{
    Attach, BeginCommit, Create, EndCommit, HoldStandby, LabelSnapshot, PrepareLimits, ReadReplication, SaveSnapshot,
    SeeCommitWait, Start, StartLink, StartProbes, Stop, StopProbes,
};
use proofload_model::wire::{DataLocation, Event, LimitsAsked, ScrapeSpec};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const SHORT: Duration = Duration::from_millis(400);
pub const LONG: Duration = super::support::LONG;

pub fn postgresql() -> &'static dyn Engine {
    proofload_engine::engine("postgresql").expect("it is built in")
}

/// Waits until something holds.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A bench with a snapshot of an instance; `None` where there is no PostgreSQL.
pub fn bench() -> Option<(Bench, DataLocation)> {
    bench_of("postgresql", &[("shared_buffers", "16MB")])
}

/// The same of another engine; `None` where it is not installed.
pub fn bench_of(kind: &str, settings: &[(&str, &str)]) -> Option<(Bench, DataLocation)> {
    let engine = proofload_engine::engine(kind).expect("it is built in");
    if let Err(error) = engine.locate() {
        let required = format!("PROOFLOAD_REQUIRE_{}", kind.to_ascii_uppercase());
        assert!(std::env::var_os(&required).is_none(), "{required} is set: {error}");
        println!("SKIPPED: {error}");
        return None;
    }
    let mut bench = Bench::new();
    let place = bench.place(kind, settings);
    bench.ask(Create { instance: one(), place: place.clone() });
    bench.attach(&place);
    let address = bench.ask(alone(place.clone())).address;
    let target = Target::new(place.clone(), Some(address));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(engine.create_database(&target)).unwrap_or_else(|error| panic!("{error}"));
    bench.ask(Stop { instance: one() });
    bench.ask(SaveSnapshot { instance: one(), place: place.clone() });
    bench.ask(LabelSnapshot { place: place.clone(), label: "x".to_owned() });
    Some((bench, place))
}

/// A primary with its standbys, all running.
pub struct Pair {
    pub bench: Bench,
    /// Process of each standby.
    pub standbys: Vec<(InstanceName, u32)>,
    pub address: String,
    /// Address of each standby.
    pub standby_addresses: Vec<String>,
}

impl Pair {
    pub fn start(
        bench: Bench,
        place: &DataLocation,
        mode: ReplicationMode,
        confirmation: Confirmation,
        count: u32,
    ) -> Self {
        Self::start_through(None, bench, place, (mode, confirmation, count))
    }

    /// Watches the primary and the first standby meanwhile.
    pub fn probed(&mut self, place: &DataLocation, meanwhile: impl FnOnce(&Self)) {
        let (origin, nodes) = (self.bench.clock.now(), [one(), InstanceName::standby(1)]);
        for instance in nodes.clone() {
            let (place, scraped) = (place.clone(), ScrapeSpec::default());
            self.bench.ask(StartProbes { instance, origin, place, pid: None, scraped, session_looks: 0 });
        }
        meanwhile(self);
        nodes.into_iter().for_each(|instance| self.bench.ask(StopProbes { instance }));
    }

    /// Waits until a probe tells a series of an instance.
    #[track_caller]
    pub fn told(&self, instance: InstanceName, probe: &str, name: &str, component: &str) {
        self.bench.expect_event(&format!("{probe} {name} {component} of {instance}"), |event| {
            matches!(event, Event::Telemetry(told) if told.instance == instance && told.probe == probe
                && told.readings.iter().any(|one| one.name == name && one.component == component))
        });
    }

    pub fn start_through(
        link: Option<LinkAsked>,
        mut bench: Bench,
        place: &DataLocation,
        (mode, confirmation, count): (ReplicationMode, Confirmation, u32),
    ) -> Self {
        let names: Vec<InstanceName> = (1..=count).map(InstanceName::standby).collect();
        let asked = ReplicationAsked { mode, standbys: names.clone(), confirmation, presented_as: Vec::new() };
        let mut primary = place.clone();
        let facet = proofload_engine::engine(&place.engine).and_then(|engine| engine.replication());
        let facet = facet.expect("it has standbys");
        primary.settings.extend(facet.primary_settings(&asked));
        let mut follows = place.clone();
        follows.settings.extend(facet.standby_settings(&asked));
        let (_, address) = up(&mut bench, &one(), primary, &place.folder, ReplicationPart::Primary(asked), None);
        let standby = |name: &InstanceName| {
            let folder = format!("{}.{name}", place.folder);
            let part = ReplicationPart::Standby { upstream: address.clone() };
            let at = DataLocation { folder, ..follows.clone() };
            let (process, address) = up(&mut bench, name, at, &place.folder, part, link);
            ((name.clone(), process), address)
        };
        let (standbys, standby_addresses) = names.iter().map(standby).unzip();
        Self { bench, standbys, address, standby_addresses }
    }

    /// Stops all of them; the snapshot stays.
    pub fn end(mut self) -> Bench {
        for name in std::iter::once(one()).chain(self.standbys.iter().map(|(name, _)| name.clone())) {
            self.bench.ask(Stop { instance: name });
        }
        self.bench
    }

    /// Address of the first standby.
    pub fn standby_address(&self, place: &DataLocation) -> String {
        let folder = format!("{}.standby-1/data", place.folder);
        let port = std::fs::read_to_string(format!("{folder}/postmaster.pid")).expect("it runs");
        let port = port.lines().nth(3).expect("the fourth line is the port").to_owned();
        format!("host='{folder}/pg_stat_tmp' port={port} user=proofload")
    }

    pub fn read(&mut self) -> ReplicationReading {
        self.bench.ask_until_answered(ReadReplication { instance: one() })
    }

    /// Waits until the mode is in force, or out of it for a reason.
    #[track_caller]
    pub fn expect(&mut self, why: Option<&str>) {
        let begun = Instant::now();
        loop {
            let found = self.read().out_of_force;
            let fits = match (&found, why) {
                (None, None) => true,
                (Some(found), Some(why)) => found.contains(why),
                _ => false,
            };
            if fits {
                return;
            }
            assert!(begun.elapsed() < LONG, "{why:?} was expected, and it is {found:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn hold(&mut self, part: HeldPart, held: bool) {
        for (name, _) in self.standbys.clone() {
            self.bench.ask(HoldStandby { instance: name, part, held });
        }
    }

    /// Whether a commit waits while a part is held; afterwards it must end. One that is not expected to wait has the time of a slow disk.
    #[track_caller]
    pub fn waits(&mut self, part: HeldPart, expected: bool) -> bool {
        self.hold(part, true);
        let within = if expected { SHORT } else { LONG };
        let ended = self.bench.ask(BeginCommit { instance: one(), within });
        if !ended {
            // A busy disk makes a commit long before it waits.
            let listed = || self.bench.ask(SeeCommitWait { instance: one() }) == Some(true);
            until("the server lists the commit as one that waits for a standby", listed);
        }
        self.hold(part, false);
        assert!(self.bench.ask(EndCommit { instance: one(), within: LONG }), "a commit waits for ever");
        !ended
    }

    /// Runs a statement on the primary as its super-user.
    pub fn sql(&self, statement: &str) {
        self.try_sql(statement).unwrap_or_else(|error| panic!("{error}"));
    }

    /// The same; what `psql` says where it fails.
    pub fn try_sql(&self, statement: &str) -> Result<(), String> {
        let done = self.spawn_sql(statement).wait_with_output().expect("it ends");
        if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
    }

    /// Begins a statement as a session of the load would.
    pub fn spawn_sql(&self, statement: &str) -> Child {
        self.psql(&["-c", statement]).spawn().expect("psql is installed with the server")
    }

    /// Begins many statements, each a transaction.
    pub fn spawn_script(&self, statements: &str) -> Child {
        let path = std::env::temp_dir().join(format!("proofload-test-{}.sql", std::process::id()));
        std::fs::write(&path, statements).expect("the folder takes a file");
        let file = std::fs::File::open(&path).expect("it was written");
        let _unlinked = std::fs::remove_file(&path);
        self.psql(&["-f", "-"]).stdin(file).spawn().expect("psql is installed with the server")
    }

    /// The child of a process with this role in its title.
    pub fn child(&self, parent: u32, role: &str) -> u32 {
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).expect("it lives");
        let title = |child: &u32| std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        let mut numbers = children.split_ascii_whitespace().filter_map(|number| number.parse::<u32>().ok());
        numbers.find(|child| title(child).contains(role)).unwrap_or_else(|| panic!("{role} is no child of {parent}"))
    }

    fn psql(&self, arguments: &[&str]) -> Command {
        let (host, port) = self.address.split_once("' port=").expect("an address of a socket");
        let host = host.trim_start_matches("host='");
        let port = port.split(' ').next().expect("a port");
        let mut command = Command::new("psql");
        command.args(["-h", host, "-p", port, "-U", "proofload", "-d", "proofload", "-X", "-q"]).args(arguments);
        command.env("PGAPPNAME", "proofload").stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

/// Restores, attaches and starts an instance; its process and address.
pub fn up(
    bench: &mut Bench,
    name: &InstanceName,
    place: DataLocation,
    from: &str,
    mut part: ReplicationPart,
    link: Option<LinkAsked>,
) -> (u32, String) {
    bench.ask(restored(name.clone(), place.clone(), from));
    bench.ask(Attach { instance: name.clone(), place: place.clone(), storage: StoragePlan::directory() });
    bench.ask(PrepareLimits { instance: name.clone(), limits: LimitsAsked::default() });
    if let (ReplicationPart::Standby { upstream }, Some(link)) = (&mut part, link) {
        let ask = StartLink { instance: name.clone(), place: place.clone(), upstream: upstream.clone(), link };
        *upstream = bench.ask(ask);
    }
    let started = bench.ask(Start { instance: name.clone(), place, part });
    let process = of(&started.facts, "instance.process").0.expect("it is told").parse().expect("a number");
    (process, started.address)
}
