//! The host role with real servers: made, limited, watched, stopped, copied, killed, swept.
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_engine::{Session as _, Target};
use proofload_model::replication::LinkAsked;
use proofload_model::units::{Bytes, BytesPerSecond, CpuRate};
use proofload_model::wire::host::{
    Create, Detach, DropPageCache, HostService as _, LabelSnapshot, MountVolume, PrepareLimits, ReadUsage, Release,
    SaveSnapshot, StartLink, StartProbes, Stop, StopProbes, Sweep, Verify,
};
use proofload_model::wire::{DataLocation, Event, LimitsAsked, ScrapeSpec};
use proofload_testbed::HostRole;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Bench, LONG, alone, of, one, restored};

/// A bench with an instance of PostgreSQL made; `None` where there is none.
fn bench(settings: &[(&str, &str)]) -> Option<(Bench, DataLocation)> {
    bench_of("postgresql", settings)
}

/// The same of any engine that has a server.
fn bench_of(engine: &str, settings: &[(&str, &str)]) -> Option<(Bench, DataLocation)> {
    if let Err(error) = proofload_engine::engine(engine).expect("it is built in").locate() {
        println!("SKIPPED: {error}");
        return None;
    }
    let mut bench = Bench::new();
    let place = bench.place(engine, settings);
    bench.ask(Create { instance: one(), place: place.clone() });
    bench.attach(&place);
    Some((bench, place))
}

fn limit(bench: &mut Bench, memory: u64) -> bool {
    limit_all(bench, LimitsAsked { memory: Some(Bytes::mebi(memory)), cores: Some(1), ..LimitsAsked::default() })
}

fn limit_all(bench: &mut Bench, limits: LimitsAsked) -> bool {
    let prepared = bench.role.prepare_limits(PrepareLimits { instance: one(), limits });
    prepared.map_err(|error| println!("SKIPPED: no such limit here: {error}")).is_ok()
}

#[track_caller]
fn start(bench: &mut Bench, place: &DataLocation) -> u32 {
    let facts = bench.start(place);
    of(&facts, "instance.process").0.expect("it is told").parse().expect("a number")
}

/// What a build does first.
#[track_caller]
fn make_database(bench: &Bench, place: &DataLocation) {
    let target = Target::new(place.clone(), bench.address.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let engine = proofload_engine::engine(&place.engine).expect("it is built in");
    runtime.block_on(engine.create_database(&target)).unwrap_or_else(|error| panic!("{error}"));
}

fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[track_caller]
fn expect_gone(process: u32) {
    let begun = Instant::now();
    while runs(process) {
        assert!(begun.elapsed() < LONG, "process {process} lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_limited_server_is_verified_watched_stopped_and_copied() {
    check_limited("postgresql", &[("shared_buffers", "32MB"), ("work_mem", "1MB")]);
}

#[test]
fn a_limited_mariadb_is_verified_watched_stopped_and_copied() {
    check_limited("mariadb", &[("innodb_buffer_pool_size", "32MiB"), ("innodb_log_file_size", "96MiB")]);
}

#[test]
#[ignore = "issue 17: a quarter of a minute; run where MySQL is"]
fn a_limited_mysql_is_verified_watched_stopped_and_copied() {
    check_limited("mysql", &[("innodb_buffer_pool_size", "32MiB"), ("innodb_redo_log_capacity", "96MiB")]);
}

fn check_limited(engine: &str, settings: &[(&str, &str)]) {
    let Some((mut bench, place)) = bench_of(engine, settings) else { return };
    if !limit(&mut bench, 256) {
        return;
    }
    let process = start(&mut bench, &place);
    assert_eq!(of(&bench.ask(Verify { instance: one() }), "settings").1, Some(false), "there is no database to ask");
    make_database(&bench, &place);
    let facts = bench.ask(Verify { instance: one() });
    let limits = ["memory.max", "memory.swap.max", "memory.members", "cores"];
    for name in limits.into_iter().chain(settings.iter().map(|(name, _)| *name)) {
        assert_eq!(of(&facts, name).1, Some(true), "{name}: {facts:#?}");
    }
    let error = bench.refused(SaveSnapshot { instance: one(), place: place.clone() });
    assert!(error.contains("still serves the data"), "{error}");
    let origin = bench.clock.now();
    bench.ask(StartProbes {
        instance: one(),
        origin,
        place: place.clone(),
        pid: None,
        scraped: ScrapeSpec::default(),
        session_looks: 0,
    });
    for probe in ["threads", "memory", "engine"] {
        bench.expect_event(probe, |event| matches!(event, Event::Telemetry(told) if told.probe == probe));
    }
    bench.ask(StopProbes { instance: one() });
    bench.ask(Release { instance: one() });
    assert!(runs(process), "released, not stopped");
    bench.ask(Stop { instance: one() });
    expect_gone(process);
    bench.ask(SaveSnapshot { instance: one(), place: place.clone() });
    bench.ask(LabelSnapshot { place: place.clone(), label: "x".to_owned() });
    bench.ask(restored(one(), place.clone(), &place.folder));
    bench.ask(DropPageCache { place: place.clone() });
    let again = start(&mut bench, &place);
    assert!(!bench.events.lock().expect("no panic").iter().any(|event| matches!(event, Event::InstanceEnded { .. })));
    drop(bench);
    expect_gone(again);
}

#[test]
fn a_server_is_born_under_limits_of_every_controller() {
    let Some((mut bench, place)) = bench(&[("shared_buffers", "32MB")]) else { return };
    let rate = Some(BytesPerSecond(1 << 30));
    let limits = LimitsAsked {
        memory: Some(Bytes::mebi(256)),
        cores: None,
        cpu: Some(CpuRate::from_seconds(1.5)),
        thread: None,
        read_bandwidth: rate,
        write_bandwidth: rate,
        read_iops: Some(100_000),
        write_iops: Some(100_000),
        cores_before: 0,
        without_precedence: false,
    };
    if !limit_all(&mut bench, limits) {
        return;
    }
    let process = start(&mut bench, &place);
    make_database(&bench, &place);
    let facts = bench.ask(Verify { instance: one() });
    let rates = ["cpu", "read_bandwidth", "write_bandwidth", "read_iops", "write_iops"];
    for name in rates.iter().chain(&["memory.members", "cpu.members", "io.members"]) {
        assert_eq!(of(&facts, name).1, Some(true), "{name}: {facts:#?}");
    }
    let origin = bench.clock.now();
    bench.ask(StartProbes {
        instance: one(),
        origin,
        place,
        pid: None,
        scraped: ScrapeSpec::default(),
        session_looks: 0,
    });
    let told =
        bench.expect_event("the group", |event| matches!(event, Event::Telemetry(told) if told.probe == "group"));
    let Event::Telemetry(told) = told else { unreachable!("it was looked for") };
    for series in ["cpu", "read_bytes", "write_bytes"] {
        assert!(told.readings.iter().any(|reading| reading.name == series), "{series}: {told:?}");
    }
    let usage = bench.ask(ReadUsage { instance: one() });
    for name in ["cpu.time", "cpu.throttled_periods", "io.written"] {
        assert!(of(&usage, name).0.is_some(), "{name}: {usage:#?}");
    }
    bench.ask(Release { instance: one() });
    let facts = bench.ask(Verify { instance: one() });
    assert!(rates.iter().all(|name| of(&facts, name) == (Some("none"), Some(false))), "lifted: {facts:#?}");
    assert!(runs(process), "released, not stopped");
    bench.ask(Stop { instance: one() });
    expect_gone(process);
}

/// Users of a server that nobody follows come by its relay, of either family.
#[test]
fn users_of_a_server_alone_come_by_its_relay() {
    for engine in ["postgresql", "mariadb"] {
        let Some((mut bench, place)) = bench_of(engine, &[]) else { continue };
        start(&mut bench, &place);
        make_database(&bench, &place);
        let rtt = Duration::from_millis(40);
        let upstream = bench.address.clone().expect("it runs");
        let link = LinkAsked { rtt, bandwidth: None };
        let address = bench.ask(StartLink { instance: one(), place: place.clone(), upstream, link });
        let target = Target::new(place.clone(), Some(address));
        let of_kind = proofload_engine::engine(engine).expect("it is built in");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let took = runtime.block_on(async {
            let mut session = of_kind.connect(&target).await.unwrap_or_else(|error| panic!("{engine}: {error}"));
            let begun = Instant::now();
            session.query("SELECT 1").await.expect("it answers");
            begun.elapsed()
        });
        assert!(took >= rtt, "{engine}: {took:?}");
    }
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let Some((mut bench, place)) = bench(&[("max_connections", "-3")]) else { return };
    let error = bench.refused(alone(place.clone()));
    assert!(error.contains("exited at once") && error.contains("max_connections"), "{error}");
    let mut missing = place;
    missing.folder.push_str("-missing");
    bench.attach(&missing);
    let error = bench.refused(alone(missing));
    assert!(error.contains("no instance exists in"), "{error}");
}

#[test]
fn a_limit_that_is_too_small_for_the_server_is_named() {
    let Some((mut bench, place)) = bench(&[("shared_buffers", "128MB")]) else { return };
    if limit(&mut bench, 2) {
        let error = bench.refused(alone(place));
        assert!(error.contains("killed by the memory limit"), "{error}");
    }
}

#[test]
fn a_server_that_dies_during_the_load_is_told() {
    let Some((mut bench, place)) = bench(&[]) else { return };
    let process = start(&mut bench, &place);
    let killed = Command::new("kill").args(["-9", &process.to_string()]).status().expect("there is a kill");
    assert!(killed.success());
    let event = bench.expect_event("the death", |event| matches!(event, Event::InstanceEnded { .. }));
    let Event::InstanceEnded { instance, reason } = event else { unreachable!("it was looked for") };
    assert!(instance == one() && reason.contains("signal: 9"), "{instance}: {reason}");
    let error = bench.refused(Stop { instance: one() });
    assert!(error.contains("had already exited"), "{error}");
    bench.ask(Stop { instance: one() });
}

/// Segments of shared memory by name: files of `/dev/shm` that a process has mapped, and numbers of System V segments.
struct SharedMemory(Vec<String>);

impl SharedMemory {
    /// Reads those of a server of PostgreSQL. Format: proc_pid_maps(5); the inode of a System V segment is its number.
    fn of(process: u32) -> Self {
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).expect("the server runs");
        let named = maps.lines().filter_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(4);
            let (inode, path) = (fields.next()?, fields.next()?);
            path.starts_with("/dev/shm/PostgreSQL")
                .then(|| path.to_owned())
                .or_else(|| path.starts_with("/SYSV").then(|| inode.to_owned()))
        });
        let found = Self(named.collect());
        assert_eq!(found.left(), found.0, "they are seen while it runs");
        assert!(found.0.len() >= 2, "{:?}", found.0);
        found
    }

    /// Reads which of them are there. Format of `/proc/sysvipc/shm`: the number is the second column.
    fn left(&self) -> Vec<String> {
        let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        let numbers: Vec<&str> = segments.lines().filter_map(|line| line.split_ascii_whitespace().nth(1)).collect();
        let is_there = |name: &&String| Path::new(name.as_str()).exists() || numbers.contains(&name.as_str());
        self.0.iter().filter(is_there).cloned().collect()
    }
}

/// Kills its first process; the others end when they see that.
fn kill(process: u32) {
    let killed = Command::new("kill").args(["-9", &process.to_string()]).status().expect("there is a kill");
    assert!(killed.success());
    expect_gone(process);
}

#[test]
fn a_killed_server_leaves_no_shared_memory() {
    let Some((mut bench, place)) = bench(&[]) else { return };
    let process = start(&mut bench, &place);
    let memory = SharedMemory::of(process);
    kill(process);
    assert_eq!(memory.left(), memory.0, "a kill frees nothing");
    let _it_had_exited = bench.refused(Stop { instance: one() });
    assert_eq!(memory.left(), memory.0, "a start on the same data comes first");
    bench.ask(Detach { instance: one() });
    assert_eq!(memory.left(), [""; 0], "freed with the storage");
    bench.attach(&place);
    let process = start(&mut bench, &place);
    let memory = SharedMemory::of(process);
    kill(process);
    // As after the death of an agent: nobody has noted anything.
    let study = bench.folder.path().join("study").display().to_string();
    bench.ask(Sweep { folder: study });
    assert_eq!(memory.left(), [""; 0], "freed by a sweep");
    bench.expect_event("it", |event| matches!(event, Event::Log { text, .. } if text.contains("freed what a killed")));
}

#[test]
fn what_was_begun_to_be_freed_by_one_who_died_is_freed_by_the_next() {
    let Some((mut bench, place)) = bench(&[]) else { return };
    let process = start(&mut bench, &place);
    let memory = SharedMemory::of(process);
    kill(process);
    let _it_had_exited = bench.refused(Stop { instance: one() });
    let kept = Path::new(&place.folder).join("after-kill.pid");
    std::fs::rename(Path::new(&place.folder).join("data/postmaster.pid"), &kept).expect("a killed server leaves it");
    bench.ask(Detach { instance: one() });
    assert_eq!(memory.left(), [""; 0]);
    assert!(!kept.exists());
}

/// A volume for a place.
fn volume(place: &DataLocation, size: Bytes) -> MountVolume {
    MountVolume { instance: one(), place: place.clone(), size }
}

/// A bench with an instance of PostgreSQL on a volume of its own; `None` where there is none, or no right to mount.
fn bench_on_volume() -> Option<(Bench, DataLocation)> {
    if let Err(error) = proofload_engine::engine("postgresql").expect("it is built in").locate() {
        println!("SKIPPED: {error}");
        return None;
    }
    let mut bench = Bench::new();
    let place = bench.place("postgresql", &[]);
    if let Err(error) = bench.handle(volume(&place, Bytes::mebi(256))) {
        println!("SKIPPED: {error}");
        return None;
    }
    bench.ask(Create { instance: one(), place: place.clone() });
    bench.attach(&place);
    Some((bench, place))
}

#[test]
fn a_server_killed_on_a_volume_leaves_no_shared_memory_when_that_goes() {
    let Some((mut bench, place)) = bench_on_volume() else { return };
    let process = start(&mut bench, &place);
    let memory = SharedMemory::of(process);
    kill(process);
    let _it_had_exited = bench.refused(Stop { instance: one() });
    bench.ask(Detach { instance: one() });
    assert_eq!(memory.left(), [""; 0], "freed with the storage");
    bench.attach(&place);
    let process = start(&mut bench, &place);
    let memory = SharedMemory::of(process);
    let running = bench.refused(volume(&place, Bytes::mebi(128)));
    assert!(running.contains("still serves the data"), "{running}");
    kill(process);
    let _it_had_exited = bench.refused(Stop { instance: one() });
    let other = bench.refused(volume(&place, Bytes::mebi(128)));
    assert!(other.contains("delete it, or set storage.volume"), "{other}");
    assert!(!Path::new(&place.folder).join("data").exists(), "the volume is unmounted");
    assert_eq!(memory.left(), [""; 0], "freed before that");
}

/// Runs a program of the system to its end; the first line of its output.
#[track_caller]
fn run(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output().expect("the program starts");
    assert!(done.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).lines().next().unwrap_or_default().to_owned()
}

/// Mounts the volume of a folder from another device than before, as soon as nobody works on it.
fn mount_elsewhere(folder: &str) {
    let file = format!("{folder}.volume");
    let device = || std::fs::metadata(folder).expect("it is there").dev();
    let before = device();
    let begun = Instant::now();
    while !Command::new("umount").arg(folder).output().expect("the program starts").status.success() {
        assert!(begun.elapsed() < LONG, "processes of the server live on");
        std::thread::sleep(Duration::from_millis(20));
    }
    let is_before = |node: &String| std::fs::metadata(node).expect("it is there").rdev() == before;
    let nodes = [(); 2].map(|()| run("losetup", &["--find", "--show", &file]));
    let other = nodes.iter().find(|node| !is_before(node)).expect("they are two");
    run("mount", &[other, folder]);
    // The one that is mounted goes when it is unmounted.
    nodes.iter().for_each(|node| drop(run("losetup", &["--detach", node])));
    assert_ne!(device(), before);
}

#[test]
fn a_sweep_frees_the_memory_of_a_server_whose_volume_is_another_device_by_now() {
    let Some((mut bench, place)) = bench_on_volume() else { return };
    let process = start(&mut bench, &place);
    let memory = SharedMemory::of(process);
    kill(process);
    // As after the death of an agent: nobody has noted anything.
    let told = Arc::clone(&bench.events);
    let role =
        HostRole::new(Arc::clone(&bench.clock), Arc::new(move |event| told.lock().expect("no panic").push(event)));
    std::mem::forget(std::mem::replace(&mut bench.role, role));
    mount_elsewhere(&place.folder);
    let study = bench.folder.path().join("study").display().to_string();
    bench.ask(Sweep { folder: study });
    assert!(!Path::new(&place.folder).join("data").exists(), "the volume is unmounted");
    // What has a name in /dev/shm is told by the segment alone, which counts as that of other data.
    let (named, numbered): (Vec<_>, Vec<_>) = memory.left().into_iter().partition(|name| name.starts_with('/'));
    named.iter().for_each(|name| std::fs::remove_file(name).expect("it is there"));
    assert_eq!(numbered, [""; 0], "freed by its number");
}

#[test]
fn a_server_left_by_a_dead_agent_is_swept() {
    let Some((mut bench, place)) = bench(&[]) else { return };
    let process = start(&mut bench, &place);
    let study = bench.folder.path().join("study").display().to_string();
    bench.ask(Sweep { folder: study });
    expect_gone(process);
    bench.expect_event("the sweep", |event| matches!(event, Event::Log { text, .. } if text.contains("ended process")));
    assert!(!Path::new(&place.folder).join("data/postmaster.pid").exists(), "it ended in order");
}

#[test]
fn an_abandoned_server_is_killed_from_outside() {
    let Some((mut bench, place)) = bench(&[]) else { return };
    if !limit(&mut bench, 256) {
        return;
    }
    let process = start(&mut bench, &place);
    let memory = SharedMemory::of(process);
    let facts = bench.ask(Verify { instance: one() });
    let group = of(&facts, "group").0.expect("it is told").to_owned();
    (bench.role.abandon())();
    expect_gone(process);
    let begun = Instant::now();
    while Path::new(&group).exists() && begun.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!Path::new(&group).exists(), "the group went with it");
    assert_eq!(memory.left(), [""; 0], "its shared memory too");
}
