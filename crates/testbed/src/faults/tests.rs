//! Every fault of the list at a server that does nothing: refused where its injection or its end does nothing, else made and undone.

use super::super::fault::Replay;
use super::super::process::Process;
use super::*;
use crate::agents::EventSink;
use crate::host::InstanceRemains;
use crate::instances::{self, Server};
use crate::limits::{AppliedLimits, Controller};
use crate::network::Cable;
use crate::relay::{LinkLaw, Relay};
use crate::storages::{Devices, Volume};
use crate::sys;
use crate::test_clock::TestClock;
use proofload_engine::{CommandLine, Error as EngineError, FileToWrite, ServerRecipe, SocketPlace, StandbyFiles};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::{FAULT_WORDS, FaultAsked};
use proofload_model::fault_strength::FaultStrength;
use proofload_model::time::Clock;
use proofload_model::units::{Bytes, BytesPerSecond};
use proofload_model::wire::LimitsAsked;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

/// A time in which an injection that does nothing is found out.
const SHORT: Duration = Duration::from_millis(300);

/// A server of three processes that wait.
struct Waiting;

impl ServerRecipe for Waiting {
    fn unprivileged_users(&self) -> &'static [&'static str] {
        &[]
    }
    fn create(&self, _: &Path) -> Result<Vec<CommandLine>, EngineError> {
        Ok(Vec::new())
    }
    fn configure(&self, _: &Path, _: &[(String, String)], _: u16) -> Result<Vec<FileToWrite>, EngineError> {
        Ok(Vec::new())
    }
    fn start(&self, _: &Path) -> Result<CommandLine, EngineError> {
        let script = "sleep 600 & a=$!; sleep 600 & trap \"kill $a $!; exit\" TERM; wait";
        let arguments = ["-c", script].map(str::to_owned).to_vec();
        Ok(CommandLine { program: "/bin/sh".into(), arguments, environment: Vec::new() })
    }
    fn address(&self, _: &Path, _: u16) -> String {
        String::new()
    }
    fn probe(&self, _: &str) -> Result<(), EngineError> {
        Ok(())
    }
    fn stop_signals(&self) -> (i32, i32, Duration) {
        (15, 15, Duration::from_secs(2))
    }
    fn log_file(&self) -> PathBuf {
        "log".into()
    }
    fn running_pid(&self, _: &Path) -> Option<u32> {
        None
    }
}

#[derive(Default)]
struct Switch(AtomicBool);

impl Replay for Switch {
    fn pause(&self, paused: bool) -> Result<(), Error> {
        self.0.store(paused, Ordering::Relaxed);
        Ok(())
    }
    fn is_paused(&self) -> Result<bool, Error> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

/// An instance that waits, with all that a fault may be made at.
struct Bench {
    clock: Arc<dyn Clock>,
    data: PathBuf,
    server: Server,
    processes: Vec<Process>,
    relay: Relay,
    replay: Switch,
    limits: AppliedLimits,
    /// The order of a failover manager, which ends the server.
    order: Box<dyn Fn() -> Result<(), Error>>,
    _upstream: UnixListener,
}

impl Bench {
    fn start(place: &Path) -> Self {
        let data = place.join("data");
        std::fs::create_dir_all(&data).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(TestClock::new());
        // Control groups are named after process and instance.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let instance = InstanceName::new(format!("faults-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        let mut limits = AppliedLimits::prepare(&instance, LimitsAsked::default(), Devices::under(&data)).unwrap();
        let events: EventSink = Arc::new(|_| {});
        let (server, _) = instances::start(instances::Start {
            instance: &instance,
            recipe: &Waiting,
            data: data.clone(),
            port: None,
            settings: &[],
            standby: StandbyFiles::default(),
            reached: None,
            limits: Some(&mut limits),
            clock: &clock,
            events: &events,
            remains: &Arc::<InstanceRemains>::default(),
        })
        .unwrap();
        // The shell has its children a moment after it answers.
        let mut processes = Process::of_server(&server);
        while processes.len() < 3 {
            std::thread::sleep(Duration::from_millis(5));
            processes = Process::of_server(&server);
        }
        let (at, to) = (place.join("link"), place.join("upstream"));
        let _left = std::fs::remove_file(&to);
        let upstream = UnixListener::bind(&to).unwrap();
        let law = LinkLaw { delay: Duration::ZERO, rate: None };
        let relay = Relay::start(&SocketPlace::File(at), SocketPlace::File(to), law, Arc::clone(&clock)).unwrap();
        let all = processes.clone();
        let order = Box::new(move || {
            all.iter().for_each(|process| process.kill());
            while all.iter().any(|process| process.is_running()) {
                std::thread::sleep(Duration::from_millis(5));
            }
            Ok(())
        });
        Self { clock, data, server, processes, relay, replay: Switch::default(), limits, order, _upstream: upstream }
    }

    fn site(&self, kind: FaultKind, by_group: bool) -> FaultSite<'_> {
        FaultSite {
            clock: &*self.clock,
            strength: match kind {
                FaultKind::Latency => FaultStrength::Rtt(Duration::from_millis(40)),
                FaultKind::Bandwidth => FaultStrength::Bandwidth(BytesPerSecond(1 << 20)),
                FaultKind::SlowDisk => FaultStrength::WriteIops(20),
                _ => FaultStrength::Whole,
            },
            server: Some(&self.server),
            first: self.processes.first().copied(),
            processes: &self.processes,
            group: self.limits.group().dir(Controller::Freezer).ok().filter(|_| by_group),
            limits: Some(&self.limits),
            data: &self.data,
            relay: Some(&self.relay),
            cable: None,
            replay: Some(&self.replay),
            switch_over: Some(&*self.order),
        }
    }
}

/// A fault of which one step does nothing.
struct Without<'a> {
    fault: &'a dyn FaultMaker,
    injection: bool,
}

impl FaultMaker for Without<'_> {
    fn kind(&self) -> FaultKind {
        self.fault.kind()
    }
    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        if self.injection { Ok(()) } else { self.fault.make(site) }
    }
    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        self.fault.expect_in_force(site)
    }
    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        if self.injection { self.fault.undo(site) } else { Ok(()) }
    }
    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        self.fault.expect_undone(site)
    }
}

/// Walks the list on a volume of its own; `by_group`: whether processes are halted by their control group.
fn walk(by_group: bool) {
    if !sys::is_root() {
        println!("SKIPPED: only root has volumes and control groups for sure");
        return;
    }
    let study = tempfile::tempdir_in("/var/tmp").unwrap();
    let place = study.path().join("place");
    let clock: Arc<dyn Clock> = Arc::new(TestClock::new());
    let volume = Volume::mount(&place, Bytes(64 << 20), &clock).unwrap();
    for fault in FAULTS.iter().copied() {
        let (kind, bench) = (fault.kind(), Bench::start(&place));
        let site = bench.site(kind, by_group);
        if matches!(kind, FaultKind::SlowDisk | FaultKind::DiskStall)
            && let Err(error) = site.limits().unwrap().group().dir(Controller::Io)
        {
            println!("SKIPPED: {kind:?}: {error}");
            continue;
        }
        let nothing = Without { fault, injection: true };
        let refused = make_within(&nothing, &site, SHORT).unwrap_err().to_string();
        assert!(refused.contains("did not take effect") && refused.contains("the drill is void"), "{refused}");
        // What is undone by an end of the instance has ended the one before.
        let bench = if kind.ends_the_server() {
            drop(bench);
            Bench::start(&place)
        } else {
            bench
        };
        let site = bench.site(kind, by_group);
        let made = make_within(fault, &site, fault.patience()).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert!(made.after <= made.at, "{kind:?}");
        if kind == FaultKind::Switchover {
            // What a manager has changed is not ours to undo.
            continue;
        }
        if !kind.ends_the_server() {
            let goes_on = undo_within(&Without { fault, injection: false }, &site, SHORT).unwrap_err().to_string();
            assert!(goes_on.contains("is still in force"), "{goes_on}");
        }
        undo_within(fault, &site, fault.patience()).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert_eq!(kind.ends_the_server(), site.left().count() == 0, "{kind:?}");
        clear(kind, &site);
        assert!(left_files(&bench.data).is_empty(), "{kind:?}");
    }
    drop(volume);
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(&*place.to_string_lossy()), "something still works on the volume");
}

#[test]
fn a_fault_whose_injection_does_nothing_is_refused_and_so_is_one_that_goes_on() {
    walk(true);
}

#[test]
fn faults_are_made_by_signals_where_no_group_halts() {
    walk(false);
}

/// A listener in a network namespace of its own, behind a device that leads nowhere else.
struct Far {
    namespace: String,
    cable: Cable,
    listener: Option<Child>,
}

impl Far {
    /// `None` where this user may have no namespaces.
    fn make() -> Option<Self> {
        let namespace = format!("faults-test-{}", std::process::id());
        ip(&format!("netns add {namespace}")).then_some(())?;
        let device = format!("plt{}", std::process::id());
        // From here on, whatever fails, it is taken down.
        let peer = ([198, 18, 255, 1], 4000).into();
        let mut far =
            Self { cable: Cable { device: device.clone(), peer }, namespace: namespace.clone(), listener: None };
        for words in [
            format!("link add {device} type veth peer name far netns {namespace}"),
            format!("addr add 198.18.255.2/30 dev {device}"),
            format!("link set dev {device} up"),
            format!("-n {namespace} addr add 198.18.255.1/30 dev far"),
            format!("-n {namespace} link set dev far up"),
            // Where the way is cut, no gateway of this machine may answer instead.
            "route add blackhole 198.18.255.0/30 metric 4096".to_owned(),
        ] {
            assert!(ip(&words), "ip {words}");
        }
        let listen = "my $l = IO::Socket::INET->new(LocalAddr => '198.18.255.1', LocalPort => 4000, Listen => 4096) or die; \
                      while ($l->accept) {}";
        let command = ["netns", "exec", &namespace, "perl", "-MIO::Socket::INET", "-e", listen];
        far.listener = Some(Command::new("ip").args(command).spawn().unwrap());
        let begun = Instant::now();
        while !far.cable.answers(SHORT) {
            assert!(begun.elapsed() < Duration::from_secs(60), "the listener does not answer");
        }
        Some(far)
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        let _ended = self.listener.as_mut().map(|listener| listener.kill().and_then(|()| listener.wait()));
        ip("route del blackhole 198.18.255.0/30 metric 4096");
        ip(&format!("netns del {}", self.namespace));
    }
}

fn ip(words: &str) -> bool {
    Command::new("ip").args(words.split(' ')).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[test]
fn a_cable_that_is_not_cut_is_no_partition_and_one_that_stays_cut_is_not_undone() {
    let Some(far) = Far::make() else {
        println!("SKIPPED: no namespace can be made");
        return;
    };
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let bench = Bench::start(place.path());
    let fault = of(FaultKind::Partition).unwrap();
    let site = FaultSite { cable: Some(&far.cable), relay: None, ..bench.site(FaultKind::Partition, false) };
    let refused = make_within(&Without { fault, injection: true }, &site, SHORT).unwrap_err().to_string();
    assert!(
        refused.contains("did not take effect") && refused.contains("198.18.255.1:4000 still answers"),
        "{refused}"
    );
    make_within(fault, &site, fault.patience()).unwrap();
    assert!(!far.cable.answers(SHORT));
    let goes_on = undo_within(&Without { fault, injection: false }, &site, SHORT).unwrap_err().to_string();
    assert!(goes_on.contains("is still in force"), "{goes_on}");
    undo_within(fault, &site, fault.patience()).unwrap();
    assert!(far.cable.answers(SHORT));
}

#[test]
fn every_word_has_a_maker() {
    for fault in FAULT_WORDS.iter().filter_map(|words| FaultAsked::of(words).flatten()) {
        // Servers that were not started here are told so by their engine.
        assert_eq!(of(fault.kind).is_ok(), fault.kind != FaultKind::ForcedFailover, "{fault}");
    }
}

#[test]
fn a_link_that_is_slow_by_itself_is_not_taken_for_the_fault() {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let bench = Bench::start(place.path());
    let (fault, site) = (of(FaultKind::Latency).unwrap(), bench.site(FaultKind::Latency, false));
    bench.relay.set_law(LinkLaw { delay: Duration::from_millis(30), rate: None });
    let refused = fault.expect_in_force(&site).unwrap_err().to_string();
    assert!(refused.contains("the link has") && refused.contains("20ms"), "{refused}");
    bench.relay.set_law(LinkLaw { delay: Duration::from_millis(20), rate: None });
    fault.expect_in_force(&site).unwrap();
}

#[test]
fn a_disk_that_others_use_is_neither_stalled_nor_filled() {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let bench = Bench::start(place.path());
    for (kind, why) in [(FaultKind::FullDisk, "storage.volume"), (FaultKind::DiskStall, "storage.volume")] {
        if kind == FaultKind::DiskStall && bench.limits.group().dir(Controller::Io).is_err() {
            continue;
        }
        let refused = make(kind, &bench.site(kind, true)).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
        assert!(bench.processes.iter().all(|process| process.is_running()));
    }
}
