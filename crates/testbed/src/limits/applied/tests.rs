//! Limits on real processes.

use super::*;
use crate::limits::usage;
use crate::sys;
use crate::test_clock::TestClock;
use proofload_model::units::{Bytes, BytesPerSecond, CpuRate};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One at a time: the group is named after the process.
static ALONE: Mutex<()> = Mutex::new(());

/// Limits; `None`, with a message, where this machine does not allow them.
pub(crate) fn enclose(asked: LimitsAsked) -> Option<(MutexGuard<'static, ()>, AppliedLimits)> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    match AppliedLimits::prepare(&InstanceName::primary(), asked, Devices::under(&std::env::temp_dir())) {
        Ok(applied) => Some((alone, applied.timed_by(Arc::new(TestClock::new())))),
        Err(error) => {
            println!("SKIPPED: this machine does not allow it: {error}");
            None
        }
    }
}

fn memory(mebibytes: u64) -> LimitsAsked {
    LimitsAsked { memory: Some(Bytes::mebi(mebibytes)), ..LimitsAsked::default() }
}

/// The folders of the group, one in each tree.
fn folders(applied: &AppliedLimits) -> Vec<PathBuf> {
    applied.group().dirs().iter().map(|dir| dir.folder().to_owned()).collect()
}

fn sleeper() -> Child {
    Command::new("sleep").arg("60").spawn().unwrap()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn holds(facts: &[Fact]) -> Vec<(&str, Option<&str>, Option<bool>)> {
    let asked = facts.iter().filter(|fact| fact.requested.is_some());
    asked.map(|fact| (fact.name.as_str(), fact.effective.as_deref(), fact.holds)).collect()
}

#[test]
fn limits_hold_for_who_joins_and_are_lifted_from_who_goes_on() {
    let asked = LimitsAsked { cores: Some(1), ..memory(64) };
    let Some((_alone, mut applied)) = enclose(asked) else { return };
    let child = sleeper();
    let before = sys::allowed_cores(Some(child.id())).unwrap();
    applied.join(child.id()).unwrap();
    let facts = applied.verify();
    let core = before[0];
    let cores = format!("1 ({core})");
    let expected = [
        ("memory.max", Some("64MiB"), Some(true)),
        ("memory.swap.max", Some("0B"), Some(true)),
        ("memory.members", Some("1 inside, 0 outside"), Some(true)),
        ("cores", Some(cores.as_str()), Some(true)),
    ];
    assert_eq!(holds(&facts), expected);
    let folders = folders(&applied);
    assert!(!folders.is_empty());
    applied.lift().unwrap();
    assert_eq!(sys::allowed_cores(Some(child.id())).unwrap(), before);
    assert!(!applied.verify().iter().any(|fact| fact.name == "memory.max" && fact.holds == Some(true)));
    assert!(sys::is_running(child.id()), "it goes on");
    drop(applied);
    assert!(sys::is_running(child.id()), "the process is not gone");
    assert!(folders.iter().all(|folder| !folder.exists()), "the group is, in every tree");
    end(child);
}

#[test]
fn a_process_that_never_joined_and_a_changed_limit_are_noticed() {
    let Some((_alone, mut applied)) = enclose(memory(64)) else {
        return;
    };
    let outside = sleeper();
    applied.born(outside.id());
    assert_eq!(holds(&applied.verify())[2], ("memory.members", Some("0 inside, 1 outside"), Some(false)));
    applied.join(outside.id()).unwrap();
    assert_eq!(holds(&applied.verify())[2].2, Some(true));
    let group = applied.group().dir(Controller::Memory).unwrap();
    let file = if group.has("memory.max") { "memory.max" } else { "memory.memsw.limit_in_bytes" };
    group.write(file, &(128 << 20).to_string()).unwrap();
    assert!(
        holds(&applied.verify()).iter().any(|(name, _, holds)| name.starts_with("memory.") && *holds == Some(false))
    );
    end(outside);
}

#[test]
fn who_takes_more_is_killed_and_the_kill_is_counted() {
    let Some((_alone, mut applied)) = enclose(memory(32)) else {
        return;
    };
    // Waits for a line, then keeps 256 MiB in memory, because tail must find the last line.
    let line = "read _; head -c 268435456 /dev/zero | tail";
    let mut child = Command::new("sh").args(["-c", line]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    applied.join(child.id()).unwrap();
    drop(child.stdin.take());
    assert!(!child.wait().unwrap().success());
    assert!(usage::kills(applied.group()) > Some(0));
    let peak = applied.usage().into_iter().find(|fact| fact.name == "memory.peak").unwrap();
    let peak = Bytes::parse(&peak.effective.unwrap()).unwrap();
    assert!(peak > Bytes::mebi(16) && peak <= Bytes::mebi(32), "peak {peak}");
    let hits = applied.usage().into_iter().find(|fact| fact.name == "memory.limit_hits");
    assert!(
        hits.is_none_or(|hits| hits.effective.as_deref() != Some("0")),
        "a group at its limit is not said never to be"
    );
}

#[test]
fn a_trial_leaves_nothing_behind() {
    let Some((_alone, applied)) = enclose(memory(64)) else {
        return;
    };
    assert!(["version 1", "version 2"].contains(&try_out(memory(64), Devices::under(&std::env::temp_dir())).unwrap()));
    let ours = format!("proofload-{}-", std::process::id());
    let left = || {
        let beside = std::fs::read_dir(folders(&applied)[0].parent().unwrap()).unwrap();
        beside.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&ours)).count()
    };
    // Groups of tests beside this one come and go, those of a walk of faults after a minute.
    for _ in 0..6_000 {
        if left() == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(left(), 1, "the group in use, and no other");
}

#[test]
fn more_cores_than_there_are_is_refused_with_their_number() {
    let Some((_alone, applied)) = enclose(LimitsAsked { cores: Some(1), ..LimitsAsked::default() }) else { return };
    drop(applied);
    let error = AppliedLimits::prepare(
        &InstanceName::primary(),
        LimitsAsked { cores: Some(100_000), ..LimitsAsked::default() },
        Devices::default(),
    )
    .unwrap_err()
    .to_string();
    assert!(error.contains("limits.cores") && error.contains("this agent may use only"), "{error}");
}

#[test]
fn groups_of_dead_owners_are_swept_with_what_lives_in_them() {
    let Some((_alone, applied)) = enclose(memory(64)) else { return };
    let mut child = sleeper();
    let orphans: Vec<PathBuf> =
        folders(&applied).iter().map(|folder| folder.with_file_name("proofload-4194304000-7")).collect();
    for orphan in &orphans {
        std::fs::create_dir(orphan).unwrap();
        std::fs::write(orphan.join("cgroup.procs"), child.id().to_string()).unwrap();
    }
    // As a drill leaves it whose agent was killed.
    for orphan in &orphans {
        for (file, word) in [("freezer.state", "FROZEN"), ("cgroup.freeze", "1")] {
            if orphan.join(file).exists() {
                std::fs::write(orphan.join(file), word).unwrap();
            }
        }
    }
    let (removed, kept) = super::super::orphans();
    for orphan in &orphans {
        assert!(removed.contains(orphan) && !orphan.exists(), "{orphan:?}: {removed:?} {kept:?}");
    }
    assert!(folders(&applied).iter().all(|folder| folder.exists()), "ours lives");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(9));
}

/// Bytes and requests per second that limits allow here.
const BYTES: u64 = 8 << 20;
const REQUESTS: u32 = 100;

/// A limit that needs a control group, beside that of memory.
struct Rate {
    asked: LimitsAsked,
    /// Name of its fact.
    name: &'static str,
    /// The rate in words.
    text: &'static str,
    controller: Controller,
    /// The files that hold it in version 1 and 2, with a line that sets another rate.
    others: [(&'static str, &'static str); 2],
}

fn rates() -> [Rate; 5] {
    let none = LimitsAsked::default;
    let (bytes, requests) = (Some(BytesPerSecond(BYTES)), Some(REQUESTS));
    let device = |asked, name, text, file, key| Rate {
        asked,
        name,
        text,
        controller: Controller::Io,
        others: [(file, "DEVICE 7"), ("io.max", key)],
    };
    [
        Rate {
            asked: LimitsAsked { cpu: Some(CpuRate::from_seconds(0.5)), ..none() },
            name: "cpu",
            text: "0.5 CPU s/s",
            controller: Controller::Cpu,
            others: [("cpu.cfs_quota_us", "90000"), ("cpu.max", "90000 100000")],
        },
        device(
            LimitsAsked { read_bandwidth: bytes, ..none() },
            "read_bandwidth",
            "8MiB/s",
            "blkio.throttle.read_bps_device",
            "DEVICE rbps=7",
        ),
        device(
            LimitsAsked { write_bandwidth: bytes, ..none() },
            "write_bandwidth",
            "8MiB/s",
            "blkio.throttle.write_bps_device",
            "DEVICE wbps=7",
        ),
        device(
            LimitsAsked { read_iops: requests, ..none() },
            "read_iops",
            "100 requests/s",
            "blkio.throttle.read_iops_device",
            "DEVICE riops=7",
        ),
        device(
            LimitsAsked { write_iops: requests, ..none() },
            "write_iops",
            "100 requests/s",
            "blkio.throttle.write_iops_device",
            "DEVICE wiops=7",
        ),
    ]
}

#[test]
fn each_rate_is_verified_joined_lifted_and_a_change_is_noticed() {
    for Rate { asked, name, text, controller, others } in rates() {
        let Some((_alone, mut applied)) = enclose(asked) else { continue };
        let members = if controller == Controller::Cpu { "cpu.members" } else { "io.members" };
        let child = sleeper();
        applied.born(child.id());
        let expected = |holds| [(name, Some(text), Some(true)), (members, Some(holds), Some(holds.starts_with('1')))];
        assert_eq!(holds(&applied.verify()), expected("0 inside, 1 outside"), "who never joined is outside");
        applied.join(child.id()).unwrap();
        assert_eq!(holds(&applied.verify()), expected("1 inside, 0 outside"));
        let dir = applied.group().dir(controller).unwrap();
        let (file, value) = others.iter().find(|(file, _)| dir.has(file)).unwrap();
        let device = crate::storages::device_of(&std::env::temp_dir()).and_then(|device| device.number());
        dir.write(file, &value.replace("DEVICE", &device.unwrap_or_default())).unwrap();
        assert_eq!(holds(&applied.verify())[0].2, Some(false), "{name} was changed behind our back");
        applied.lift().unwrap();
        assert_eq!(holds(&applied.verify())[0], (name, Some("none"), Some(false)));
        let folders = folders(&applied);
        drop(applied);
        assert!(folders.iter().all(|folder| !folder.exists()), "{name}: the group is gone");
        assert!(sys::is_running(child.id()), "{name}: the process is not");
        end(child);
    }
}

#[test]
fn who_has_an_allowance_of_cpu_time_has_precedence_until_it_is_lifted() {
    let asked = LimitsAsked { cpu: Some(CpuRate::from_seconds(0.5)), ..LimitsAsked::default() };
    let Some((_alone, mut applied)) = enclose(asked) else { return };
    let child = sleeper();
    let usual = sys::slice(child.id()).unwrap();
    applied.join(child.id()).unwrap();
    let facts = applied.verify();
    let weight = used(&facts, "cpu.weight").unwrap();
    assert!(weight.starts_with("10000 (100") || weight.starts_with("262144 (1024"), "{weight}");
    let slice = usual.map(|_| "100 µs".to_owned());
    assert_eq!(used(&facts, "cpu.slice"), slice);
    applied.lift().unwrap();
    assert_eq!(sys::slice(child.id()).unwrap(), usual);
    end(child);
}

#[test]
fn who_has_no_allowance_has_no_precedence() {
    let Some((_alone, mut unlimited)) = enclose(LimitsAsked::default()) else { return };
    let child = sleeper();
    let usual = sys::slice(child.id()).unwrap();
    unlimited.join(child.id()).unwrap();
    assert_eq!(sys::slice(child.id()).unwrap(), usual, "nothing bounds it");
    assert_eq!(used(&unlimited.verify(), "cpu.weight"), None);
    end(child);
}

#[test]
fn a_limit_without_its_controller_is_refused_and_others_are_not() {
    let devices = Devices::under(&std::env::temp_dir());
    for Rate { asked, name, text, controller, .. } in rates() {
        let state = |asked| LimitState { asked, devices: devices.clone(), ..LimitState::default() };
        let error = AppliedLimits::with(state(asked)).unwrap_err().to_string();
        let controller = format!("no mounted control group has the {} controller", controller.word());
        assert!(error.contains(&controller) && error.contains(text), "{name}: {error}");
        let applied = AppliedLimits::with(state(LimitsAsked::default())).unwrap();
        assert!(applied.verify().iter().all(|fact| fact.requested.is_none()));
    }
}

/// How much faster than its limit a process may be over two seconds. The kernel allows a part of the first slice at once.
const SLACK: f64 = 1.3;

/// Runs a shell line under limits; the time that it took. It waits for its order to start until it has joined.
fn took(asked: LimitsAsked, line: &str) -> Option<(Duration, Vec<Fact>)> {
    let (_alone, mut applied) = enclose(asked)?;
    let line = format!("read _; {line}");
    let mut child = Command::new("sh").args(["-c", &line]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    applied.join(child.id()).unwrap();
    assert!(applied.verify().iter().all(|fact| fact.holds != Some(false)));
    let begun = Instant::now();
    drop(child.stdin.take());
    child.wait().unwrap();
    let took = begun.elapsed();
    Some((took, applied.usage()))
}

fn used(facts: &[Fact], name: &str) -> Option<String> {
    facts.iter().find(|fact| fact.name == name)?.effective.clone()
}

/// A file of which nothing is cached.
pub(crate) fn cold_file(bytes: u64) -> tempfile::TempPath {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(7), bytes), &mut file.as_file()).unwrap();
    let path = file.into_temp_path();
    make_cold(&path);
    path
}

/// Lets the kernel forget what it has cached of a file, and which group wrote it, as a run does with its data.
fn make_cold(file: &std::path::Path) {
    sys::sync_file_system(file).unwrap();
    sys::drop_cached(&std::fs::File::open(file).unwrap()).unwrap();
    sys::forget_inodes();
}

#[test]
fn reads_and_writes_are_no_faster_than_their_limits() {
    let none = LimitsAsked::default;
    let rate = Some(BytesPerSecond(BYTES));
    let requests = Some(REQUESTS);
    let file = cold_file(2 * BYTES);
    let path = file.display();
    let count = 2 * REQUESTS;
    let reads = |how: &str| format!("dd if={path} of=/dev/null {how}");
    let writes = |how: &str| format!("dd if=/dev/zero of={path} conv=notrunc {how}");
    let whole = format!("bs=1M count={}", (2 * BYTES) >> 20);
    let read = || LimitsAsked { read_bandwidth: rate, ..none() };
    let write = || LimitsAsked { write_bandwidth: rate, ..none() };
    let cases = [
        ("buffered reads", read(), reads("bs=1M"), "io.read"),
        ("direct reads", read(), reads("bs=1M iflag=direct"), "io.read"),
        (
            "requests to read",
            LimitsAsked { read_iops: requests, ..none() },
            reads(&format!("bs=4k count={count} iflag=direct")),
            "io.reads",
        ),
        ("direct writes", write(), writes(&format!("{whole} oflag=direct")), "io.written"),
        ("own syncs", write(), writes(&whole).replace("notrunc", "notrunc,fsync"), "io.written"),
        (
            "requests to write",
            LimitsAsked { write_iops: requests, ..none() },
            writes(&format!("bs=4k count={count} oflag=direct")),
            "io.writes",
        ),
    ];
    for (what, asked, line, counter) in cases {
        make_cold(&file);
        let Some((took, facts)) = took(asked, &line) else { continue };
        assert!(took.as_secs_f64() > 2.0 / SLACK, "{what}: two seconds' worth in {took:?}");
        let found = used(&facts, counter).unwrap();
        let least = if counter.ends_with('s') { u64::from(count) } else { 2 * BYTES };
        let found = Bytes::parse(&found).map_or_else(|_| found.parse().unwrap(), |bytes| bytes.0);
        assert!(found >= least, "{what}: {counter} {found}");
    }
}

#[test]
fn a_process_gets_no_more_cpu_time_than_its_limit() {
    let asked = LimitsAsked { cpu: Some(CpuRate::from_seconds(0.5)), ..LimitsAsked::default() };
    // Killed by the kernel after one second of CPU time.
    let Some((took, facts)) = took(asked, "ulimit -t 1; while :; do :; done") else { return };
    let seconds = |name| used(&facts, name).unwrap().trim_end_matches('s').parse::<f64>().unwrap();
    let rate = seconds("cpu.time") / took.as_secs_f64();
    assert!(seconds("cpu.time") > 0.8 && rate < 0.5 * SLACK, "{rate} CPU s/s in {took:?}: {facts:#?}");
    // Where others want the cores it may seldom come to its limit; how often is told.
    assert!(seconds("cpu.throttled_time") >= 0.0, "{facts:#?}");
    let count = |name| used(&facts, name).unwrap().parse::<u64>().unwrap();
    assert!(count("cpu.periods") > 2 && count("cpu.throttled_periods") <= count("cpu.periods"), "{facts:#?}");
}

#[test]
fn who_waits_for_a_slow_device_is_swept_all_the_same() {
    let asked = LimitsAsked { read_bandwidth: Some(BytesPerSecond(64 << 10)), ..LimitsAsked::default() };
    let file = cold_file(8 << 20);
    let Some((_alone, mut applied)) = enclose(asked) else { return };
    let line = format!("read _; exec dd if={} of=/dev/null bs=1M", file.display());
    let mut child = Command::new("sh").args(["-c", &line]).stdin(Stdio::piped()).spawn().unwrap();
    applied.join(child.id()).unwrap();
    drop(child.stdin.take());
    // The kernel reads ahead; it now waits for minutes for what it asked for.
    while !is_waiting(child.id()) {
        std::thread::yield_now();
    }
    lift_stalls(applied.group());
    assert!(applied.group().kill_members(&[]), "it dies at once");
    child.wait().unwrap();
}

/// Whether a process is in the state in which no signal is heard: it waits for a device.
fn is_waiting(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('D'))
}
