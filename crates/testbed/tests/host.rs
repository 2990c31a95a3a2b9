//! The host role with an embedded engine: folder, snapshot, limits on a process that joins, probes, sweep.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_model::deployment::InstanceName;
use proofload_model::settings::{Settings, Value};
use proofload_model::tier::tier_plan;
use proofload_model::tier_warming::WARM;
use proofload_model::units::{Bytes, CpuRate};
use proofload_model::wire::host::{
    CheckQuiet, Create, DropPageCache, FindSnapshot, HostService as _, JoinLimits, LabelSnapshot, LimitProcess,
    Precondition, PreconditioningResult, PrepareLimits, ReadUsage, Release, SaveSnapshot, StartProbes, Stop,
    StopProbes, Sweep, Verify,
};
use proofload_model::wire::{DataLocation, Event, LimitsAsked, Preconditioning, ScrapeSpec};
use proofload_testbed::quiet_check::check_quiet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use support::{Bench, of, one, restored};

/// A process that dies with the test.
struct Sleeper(Child);

impl Sleeper {
    fn new() -> Self {
        Self(Command::new("sleep").arg("3600").spawn().expect("there is a sleep"))
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _dead = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn can_limit(bench: &mut Bench) -> bool {
    let place = bench.place("null", &[]);
    let limits = LimitsAsked { memory: Some(Bytes::mebi(64)), cores: Some(1), ..LimitsAsked::default() };
    bench.attach(&place);
    match bench.role.prepare_limits(PrepareLimits { instance: one(), limits }) {
        Ok(_) => true,
        Err(error) => {
            println!("SKIPPED: no memory limit here: {error}");
            false
        }
    }
}

#[test]
fn data_is_made_saved_found_restored_and_dropped_from_the_cache() {
    let mut bench = Bench::new();
    let place = bench.place("sqlite", &[]);
    let here = || place.clone();
    let label = || "sqlite w=1".to_owned();
    let find = || FindSnapshot { place: here(), label: label() };
    assert!(!bench.ask(find()));
    bench.ask(Create { instance: one(), place: here() });
    let file = Path::new(&place.folder).join("data/proofload.sqlite");
    std::fs::write(&file, "rows").unwrap();
    bench.ask(Stop { instance: one() });
    let copied = bench.ask(SaveSnapshot { instance: one(), place: here() });
    assert_eq!(copied.bytes, Bytes(4));
    bench.ask(LabelSnapshot { place: here(), label: label() });
    assert!(bench.ask(find()));
    std::fs::write(&file, "other").unwrap();
    bench.ask(restored(one(), here(), &place.folder));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "rows");
    bench.ask(DropPageCache { place: here() });
    bench.ask(Create { instance: one(), place: here() });
    assert!(!file.exists(), "a new instance is empty");
    assert!(bench.ask(find()), "and the snapshot stays until it is replaced");
}

#[test]
fn data_whose_cache_has_no_list_to_be_filled_from_are_not_begun() {
    let mut bench = Bench::new();
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("lines").display().to_string();
    let text = |text: &str| Value::Text(text.to_owned());
    let given = [("storage.kind", text("tier")), ("storage.cache.percent", Value::Integer(30)), (WARM, text(&list))];
    let given = given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect();
    let tier = tier_plan(&Settings(given)).unwrap().map(Box::new);
    let place = DataLocation { tier, ..bench.place("sqlite", &[]) };
    let error = bench.refused(Create { instance: one(), place: place.clone() });
    assert!(error.contains("storage.cache.warm: failed to read the list of lines") && error.contains(&list), "{error}");
    assert!(!Path::new(&place.folder).join("data").exists(), "nothing was begun");
    std::fs::write(&list, "{\"form\":1,\"volumes\":[]}\n{\"volume\":0,\"at\":0}\n").unwrap();
    bench.ask(Create { instance: one(), place });
}

#[test]
fn a_folder_of_somebody_else_is_refused() {
    let mut bench = Bench::new();
    let place = bench.place("sqlite", &[]);
    std::fs::create_dir_all(&place.folder).unwrap();
    std::fs::write(Path::new(&place.folder).join("thesis"), "x").unwrap();
    let error = bench.refused(Create { instance: one(), place: place.clone() });
    assert!(error.contains("not empty and was not created by Proofload"), "{error}");
    let error = bench.refused(restored(one(), place.clone(), &place.folder));
    assert!(error.contains("was not created by Proofload"), "{error}");
}

#[test]
fn a_process_joins_the_limits_is_verified_watched_and_released() {
    let mut bench = Bench::new();
    if !can_limit(&mut bench) {
        return;
    }
    let sleeper = Sleeper::new();
    let pid = sleeper.0.id();
    bench.ask(JoinLimits { instance: one(), pid });
    let facts = bench.ask(Verify { instance: one() });
    for name in ["memory.max", "memory.swap.max", "memory.members", "cores"] {
        assert_eq!(of(&facts, name).1, Some(true), "{facts:#?}");
    }
    let (origin, place) = (bench.clock.now(), bench.place("null", &[]));
    bench.ask(StartProbes {
        instance: one(),
        origin,
        place,
        pid: Some(pid),
        scraped: ScrapeSpec::default(),
        session_looks: 0,
    });
    for probe in ["cores", "memory", "pressure", "device"] {
        bench.expect_event(probe, |event| matches!(event, Event::Telemetry(told) if told.probe == probe));
    }
    bench.ask(StopProbes { instance: one() });
    let usage = bench.ask(ReadUsage { instance: one() });
    assert!(of(&usage, "memory.peak").0.is_some() && of(&usage, "pressure.machine.cpu.some").0.is_some(), "{usage:#?}");
    bench.ask(Release { instance: one() });
    assert_eq!(of(&bench.ask(Verify { instance: one() }), "cores").1, Some(false), "no longer in force");
}

#[test]
fn what_is_lost_is_freed_from_outside() {
    let mut bench = Bench::new();
    if !can_limit(&mut bench) {
        return;
    }
    let sleeper = Sleeper::new();
    bench.ask(JoinLimits { instance: one(), pid: sleeper.0.id() });
    let facts = bench.ask(Verify { instance: one() });
    let group = of(&facts, "group").0.unwrap().to_owned();
    assert!(Path::new(&group).exists());
    (bench.role.abandon())();
    assert!(!Path::new(&group).exists(), "the group is gone");
    assert!(Path::new(&format!("/proc/{}", sleeper.0.id())).exists(), "who is no child of ours goes on");
}

#[test]
fn a_load_generator_goes_before_others_where_it_can_and_is_left_alone_where_it_cannot() {
    let mut bench = Bench::new();
    let clients = InstanceName::clients;
    let ask = |pid, cpu| {
        let limits = LimitsAsked { cpu, ..LimitsAsked::default() };
        LimitProcess { instance: InstanceName::clients(), pid, limits }
    };
    // No process has this number: it enters no group.
    let facts = bench.ask(ask(u32::MAX, None));
    let [told] = facts.as_slice() else { panic!("one fact says so: {facts:#?}") };
    assert_eq!((told.name.as_str(), &told.instance, told.effective.as_deref()), ("cpu.weight", &clients(), None));
    assert!(told.source.contains("control group") || told.source.contains("failed to"), "{told:?}");
    bench.ask(Release { instance: clients() });
    assert!(!bench.refused(ask(u32::MAX, Some(CpuRate::from_seconds(0.5)))).is_empty(), "a limit that is asked for");
    let nothing = bench.refused(Verify { instance: clients() });
    assert!(nothing.contains("no limits were prepared"), "no group stays: {nothing}");

    let sleeper = Sleeper::new();
    let facts = bench.ask(ask(sleeper.0.id(), None));
    let Some(weight) = of(&facts, "cpu.weight").0 else {
        println!("SKIPPED: no weight of CPU time here: {facts:#?}");
        return;
    };
    assert!(weight.starts_with("10000 (100") || weight.starts_with("262144 (1024"), "{weight}");
    assert_eq!(of(&bench.ask(Verify { instance: clients() }), "cpu.weight").0, Some(weight));
    let group = of(&facts, "group.cpu").0.unwrap().to_owned();
    let members = std::fs::read_to_string(Path::new(&group).join("cgroup.procs")).unwrap();
    assert_eq!(members.trim(), sleeper.0.id().to_string());
    (bench.role.abandon())();
    assert!(!Path::new(&group).exists(), "the group is gone");
    assert!(Path::new(&format!("/proc/{}", sleeper.0.id())).exists(), "the load generator is not");
}

#[test]
fn a_sweep_of_nothing_says_nothing_and_drafts_are_removed() {
    let mut bench = Bench::new();
    let study = bench.folder.path().join("study").display().to_string();
    bench.ask(Sweep { folder: study.clone() });
    let place = bench.place("sqlite", &[]);
    bench.ask(Create { instance: one(), place: place.clone() });
    let draft = Path::new(&place.folder).join("data.draft");
    std::fs::create_dir(&draft).unwrap();
    bench.ask(Sweep { folder: study });
    assert!(!draft.exists());
    bench.expect_event("the removal", |event| matches!(event, Event::Log { text, .. } if text.contains("data.draft")));
}

#[test]
fn storage_is_preconditioned_by_a_file_that_goes() {
    if let Err(error) = Command::new("fio").arg("--version").output() {
        println!("SKIPPED: fio: {error}");
        return;
    }
    let mut bench = Bench::new();
    let place = bench.place("sqlite", &[]);
    let how = Preconditioning {
        device: None,
        device_confirmed: None,
        size: Bytes::mebi(4),
        sequential_fills: 1,
        random_passes: 1,
        round: Duration::from_millis(100),
        rounds_at_most: 1,
    };
    let PreconditioningResult { documents, facts } =
        bench.ask(Precondition { instance: one(), place: place.clone(), how });
    assert!(documents.len() >= 3 && documents.iter().all(|(_, body)| body.contains("jobs")), "{documents:?}");
    assert!(!facts.is_empty());
    bench.expect_event("progress", |event| matches!(event, Event::Progress { what, .. } if what.contains("fio")));
    bench.ask(Create { instance: one(), place });
}

/// Serves one text to whoever asks, until the test ends; the address.
fn exporter(text: impl Fn(u32) -> String + Send + 'static) -> String {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = format!("http://{}/metrics", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        for (asked, stream) in (0..).zip(listener.incoming()) {
            let mut stream = stream.expect("someone asks");
            let lines = BufReader::new(stream.try_clone().expect("it has two sides")).lines();
            let _request = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).count();
            let body = text(asked);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _gone = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    address
}

#[test]
fn a_host_of_exporters_is_read_through_them_alone() {
    let mut bench = Bench::new();
    let text = |asked| {
        format!(
            "node_cpu_seconds_total{{cpu=\"7\",mode=\"user\"}} {asked}\n\
             node_disk_read_bytes_total{{device=\"sda\"}} {}\n# TYPE calls counter\ncalls {asked}\n",
            asked * 1_000_000
        )
    };
    let nobody = "http://127.0.0.1:1/metrics".to_owned();
    let scraped =
        ScrapeSpec { endpoints: vec![exporter(text), nobody], device: None, series: vec!["calls".to_owned()] };
    let (origin, place) = (bench.clock.now(), bench.place("null", &[]));
    bench.ask(StartProbes { instance: one(), origin, place, pid: None, scraped, session_looks: 0 });
    let has = |event: &Event, probe: &str, name: &str, component: &str| match event {
        Event::Telemetry(told) if told.probe == probe => {
            told.readings.iter().any(|each| each.name == name && each.component == component && each.value > 0.0)
        }
        _ => false,
    };
    bench.expect_event("the other one does not answer", |event| {
        matches!(event, Event::Log { text, .. } if text.contains("127.0.0.1:1") && text.contains("is the exporter running"))
    });
    bench.expect_event("cores", |event| has(event, "cores", "busy", "7"));
    bench.expect_event("device", |event| has(event, "device", "read_bytes", "sda"));
    bench.expect_event("scraped", |event| has(event, "scraped", "calls", ""));
    bench.ask(StopProbes { instance: one() });
    let events = bench.events.lock().unwrap();
    assert!(
        !events.iter().any(|event| matches!(event, Event::Telemetry(told) if told.probe == "pressure")),
        "not this host"
    );
}

#[test]
fn a_busy_neighbour_is_seen_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let stranger = folder.path().join("pl-neighbour");
    std::fs::copy("/bin/sh", &stranger).expect("it can be copied");
    let script = format!("setsid {} -c 'while :; do :; done' & echo $!", stranger.display());
    let started = Command::new("/bin/sh").args(["-c", &script]).stdout(Stdio::null()).status();
    assert!(started.is_ok_and(|status| status.success()));
    let bench = Bench::new();
    let missing = folder.path().join("missing/too").display().to_string();
    let ask = CheckQuiet { folder: missing, time: Duration::from_secs(3), cores: Some(1), cores_before: 0 };
    let found = check_quiet(&ask, &*bench.clock);
    let _ended = Command::new("pkill").args(["-9", "-f", &stranger.to_string_lossy()]).status();
    let found = found.expect("/proc is there");
    assert!(found.cores == 1 && found.cores_of_host > 0, "{found:?}");
    assert!(found.seconds.len() >= 2 && found.sync_p99.is_some(), "{found:?}");
    assert!(found.processes.iter().any(|process| process.name == "pl-neighbour"), "{found:?}");
}
