//! Standbys on hosts of their own by the program itself: two agents on this machine, and two in network namespaces where they can be made.

mod support;

use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::samples::Fact;
use proofload_record::{Attempt, Record, State};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::waiting::wait_beside;
use support::{Bench, drill_report, kill, paced_study, postgresql_here, small_study, text};

/// Digits of a password of ours.
const DIGITS: usize = 48;

const PROGRAM: &str = env!("CARGO_BIN_EXE_proofload");

/// Hexadecimal digits as a message has them: after their number, 48, which is the digit 0 as a letter.
fn passwords(bytes: &[u8]) -> BTreeSet<String> {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let runs = bytes.split(|byte| !is_digit(byte)).filter(|run| run.len() == DIGITS + 1 && run[0] == b'0');
    runs.map(|run| text(&run[1..])).collect()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let (folders, mut all): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.filter(|path| !path.is_symlink()).partition(|path| path.is_dir());
    all.extend(folders.iter().flat_map(|folder| files(folder)));
    all
}

fn events(attempt: &Attempt, wanted: fn(&RunEvent) -> bool) -> Vec<&InstanceName> {
    attempt.events.iter().filter(|event| wanted(&event.event)).map(|event| &event.instance).collect()
}

/// An agent at whose ear a file lies.
fn overheard(bench: &Bench) -> String {
    let heard = bench.path("heard").display().to_string();
    format!(r#"["sh", "-c", "tee -a {heard} | exec {PROGRAM} agent"]"#)
}

fn modes(agents: &str) -> String {
    format!(
        "[agents]\n{agents}\n[replication]\nrtt = \"3ms\"\n[[factor]]\nsetting = \"replication.mode\"\nlevels = [\"none\", \"remote_apply\"]\n"
    )
}

#[test]
fn standbys_on_hosts_of_their_own_come_by_a_password_that_is_left_nowhere() {
    if !postgresql_here("hosts") {
        return;
    }
    let bench = Bench::new("hosts");
    let agents =
        format!("standby_hosts = [\"db2=127.0.0.2\"]\naddress = \"127.0.0.1\"\nstandby = {}", overheard(&bench));
    bench.study(&paced_study(100, &modes(&agents)));
    let mut titles = BTreeSet::new();
    let done = run_and_look(&bench, "x.proof", &mut titles);
    // On a busy machine the copy, which takes a second or two, may end between two looks.
    let is_seen = |titles: &BTreeSet<String>| titles.iter().any(|title| title.contains("pg_basebackup"));
    let mut runs = 1;
    while !is_seen(&titles) && runs < 4 {
        runs += 1;
        lose_the_copy(&bench);
        run_and_look(&bench, &format!("x{runs}.proof"), &mut titles);
    }
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    expect_two_hosts(&record);
    let heard = std::fs::read(bench.path("heard")).expect("the agent was told something");
    let secrets = passwords(&heard);
    assert!((1..=2 * runs).contains(&secrets.len()), "at most one for each attempt was told to the standby's agent");
    assert!(is_seen(&titles), "{titles:?}");
    let page = bench.run(&["report", "x.proof", "--format", "markdown"]);
    let told: Vec<String> = titles.into_iter().chain([text(&done.stdout), text(&page.stdout)]).collect();
    let unread = |path: &PathBuf| *path != bench.path("heard");
    for secret in &secrets {
        assert!(told.iter().all(|text| !text.contains(secret)), "a password is told");
        for path in files(&bench.path("")).iter().filter(|path| unread(path)) {
            let content = std::fs::read(path).expect("it is ours to read");
            // Lossy text has every byte of ASCII that the file has.
            let holds = String::from_utf8_lossy(&content).contains(secret.as_str());
            assert!(!holds, "{} holds a password", path.display());
        }
    }
    bench.expect_no_process();
    reuse(&bench);
}

/// Runs the study, and notes the command lines of its processes.
#[track_caller]
fn run_and_look(bench: &Bench, name: &str, titles: &mut BTreeSet<String>) -> Output {
    let mut child =
        bench.command(&["run", "study.toml", "-o", name]).stdout(Stdio::piped()).spawn().expect("it starts");
    while child.try_wait().expect("it is ours").is_none() {
        titles.extend(bench.processes().into_iter().map(|(_, title)| title));
        std::thread::sleep(Duration::from_millis(50));
    }
    let done = child.wait_with_output().expect("it has ended");
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}", text(&done.stdout));
    done
}

/// Both hosts are described, the copy is made once, and each instance is restored on its host.
fn expect_two_hosts(record: &Record) {
    let standby = InstanceName::standby(1);
    let has =
        |instance: &InstanceName| record.facts.iter().any(|fact| fact.name == "cores" && fact.instance == *instance);
    assert!(has(&InstanceName::default()) && has(&standby), "{:?}", record.facts);
    let built: Vec<&InstanceName> = record
        .attempts
        .iter()
        .flat_map(|attempt| events(attempt, |event| matches!(event, RunEvent::Built(_))))
        .collect();
    let primary = InstanceName::primary();
    assert_eq!(built, [&primary, &primary, &standby], "built once, and copied once");
    for attempt in &record.attempts {
        assert_eq!(attempt.state, State::Finished, "{:?}", attempt.events);
        let restored = events(attempt, |event| matches!(event, RunEvent::Restored(_)));
        assert_eq!(
            restored.iter().any(|name| **name == standby),
            attempt.events.iter().any(|event| matches!(event.event, RunEvent::ReplicationProved(_)))
        );
    }
}

/// A second study of the same data copies nothing; where a host has lost its snapshot, all are made anew.
fn reuse(bench: &Bench) {
    let built = |name: &str| {
        // One of the modes says it.
        let one = ["--set", "factor.replication.mode=[\"remote_apply\"]"];
        let done = bench.run(&[&["run", "study.toml", "-o", name], &one[..]].concat());
        assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}", text(&done.stderr));
        let record = proofload_record::read(&bench.path(name)).expect("a record");
        let count = |attempt: &Attempt| events(attempt, |event| matches!(event, RunEvent::Built(_))).len();
        record.attempts.iter().map(count).sum::<usize>()
    };
    assert_eq!(built("y.proof"), 0);
    lose_the_copy(bench);
    assert_eq!(built("z.proof"), 2, "the primary's data are there and saved again with those of the standby");
    bench.expect_no_process();
}

/// Makes the standby's host forget its snapshot.
#[track_caller]
fn lose_the_copy(bench: &Bench) {
    let labels: Vec<PathBuf> =
        files(&bench.path("data/small@db2")).into_iter().filter(|path| path.ends_with("snapshot.label")).collect();
    let [label] = &labels[..] else { panic!("{labels:?}") };
    std::fs::remove_file(label).expect("it is ours");
}

/// The process of the agent that has a host's name in its environment.
#[track_caller]
fn agent_of(bench: &Bench, host: &str) -> u32 {
    let wanted = format!("HOST={host}");
    let is_it = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let agents: Vec<(u32, String)> =
        bench.processes().into_iter().filter(|(_, title)| title.contains(" agent")).collect();
    agents.iter().map(|(pid, _)| *pid).find(is_it).unwrap_or_else(|| panic!("{agents:?}"))
}

#[test]
fn an_agent_of_a_standby_that_is_lost_fails_its_run_and_the_next_goes_on() {
    if !postgresql_here("hosts-lost") {
        return;
    }
    let bench = Bench::new("hosts-lost");
    let agents = format!(
        "standby_hosts = [\"db2=127.0.0.2\"]\naddress = \"127.0.0.1\"\nstandby = [\"env\", \"HOST={{host}}\", \"{PROGRAM}\", \"agent\"]"
    );
    let study = paced_study(100, &format!("[agents]\n{agents}\n[replication]\nmode = \"remote_flush\"\n"));
    let study = study.replacen("repetitions = 1", "repetitions = 2", 1);
    bench.study(&study.replacen("measure = \"2s\"", "measure = \"4s\"", 1));
    let mut child =
        bench.command(&["run", "study.toml", "-o", "x.proof"]).stdout(Stdio::null()).spawn().expect("it starts");
    let proof = bench.path("x.proof");
    wait_beside(&mut child, "it measures", || {
        let record = proofload_record::read(&proof).ok()?;
        let first = record.attempts.first()?;
        first.events.iter().any(|event| matches!(event.event, RunEvent::LoadStarted(_))).then_some(())
    });
    let agent = agent_of(&bench, "db2");
    kill(agent);
    let _ended = child.wait().expect("it ends");
    let record = proofload_record::read(&proof).expect("a record");
    let told = format!("{:?}", record.attempts.first().map(|attempt| &attempt.events));
    assert!(told.contains("db2"), "{told}");
    assert!(record.attempts.iter().any(|attempt| attempt.state == State::Finished), "the other run goes on");
    bench.expect_no_process();
}

/// Freezes the agent of the host under test at some time of the second run: its stream stays open, as that of a host without power behind
/// `ssh` does. The attempt is lost, and another one repeats the run.
fn check_silent(name: &str, is_time: fn(&Attempt) -> bool) {
    let bench = Bench::new(name);
    let agents = format!("[agents]\nhost = [\"env\", \"HOST=tested\", \"{PROGRAM}\", \"agent\"]\n");
    // The load lasts longer than a busy machine keeps us from stopping its host.
    let study = small_study("sqlite", &format!("retries = 1\n{agents}"), 2);
    bench.study(&study.replacen("measure = \"2s\"", "measure = \"20s\"", 1));
    let mut child = bench
        .command(&["run", "study.toml", "-o", "x.proof", "--no-report"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let proof = bench.path("x.proof");
    wait_beside(&mut child, "the second run is under way", || {
        let record = proofload_record::read(&proof).ok()?;
        // Beside other work the first run may have been repeated.
        let (first, last) = (record.attempts.first()?, record.attempts.last()?);
        (last.run.index != first.run.index && is_time(last)).then_some(())
    });
    let stopped = Command::new("kill").args(["-STOP", &agent_of(&bench, "tested").to_string()]).status();
    assert!(stopped.is_ok_and(|status| status.success()));
    let ended = child.wait().expect("it ends");
    let record = proofload_record::read(&proof).expect("a record");
    let is_failed = |attempt: &&Attempt| matches!(attempt.state, State::Failed { .. });
    let lost = record.attempts.iter().find(is_failed).expect("an attempt was lost");
    let State::Failed { reason } = &lost.state else { panic!("{:?}", lost.state) };
    assert!(reason.contains("the host agent was lost: it has not answered for 60 s"), "{reason}");
    assert!(lost.events.iter().any(|event| matches!(event.event, RunEvent::AgentLost { .. })), "{:?}", lost.events);
    let again = record.finished(lost.run.index).expect("the run was repeated");
    assert!(again.id > lost.id);
    assert!(matches!(ended.code(), Some(0 | 5 | 6)), "{ended}");
    bench.expect_no_process();
}

#[test]
fn a_host_that_falls_silent_while_data_are_restored_is_lost() {
    check_silent("silent-restore", |_| true);
}

#[test]
fn a_host_that_falls_silent_before_limits_are_verified_is_lost() {
    check_silent("silent-verify", |attempt| {
        !events(attempt, |event| matches!(event, RunEvent::LoadStarted(_))).is_empty()
    });
}

#[test]
fn hosts_that_cannot_be_are_refused_before_anything_is_built() {
    let bench = Bench::new("hosts-refused");
    let agents = "[agents]\nstandby_hosts = [\"db2=10.0.0.2\", \"db2=10.0.0.3\"]\nstandby = [\"ssh\", \"db2\"]\n";
    bench.study(&small_study(
        "postgresql",
        &format!("{agents}[replication]\nmode = \"async\"\nmanager = \"patroni\"\n"),
        1,
    ));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{told}");
    for part in ["agents.address", "listed twice", "on one machine", "replication.standbys is 1", "on one host"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!bench.path("x.proof").exists() && !bench.path("data").exists());
}

/// Namespaces with an address each, joined by a bridge in one of their own. Dropping it removes them.
struct Network {
    token: String,
}

impl Network {
    /// Makes so many; `None`, with the reason, where that is not allowed.
    fn make(count: usize) -> Option<Self> {
        let network = Self { token: format!("plt{:x}", std::process::id()) };
        let made = network.wire(count);
        if let Err(reason) = made {
            skipped(&reason);
            return None;
        }
        Some(network)
    }

    fn name(&self, number: usize) -> String {
        format!("{}-{number}", self.token)
    }

    fn address(number: usize) -> String {
        format!("198.18.77.{number}")
    }

    fn wire(&self, count: usize) -> Result<(), String> {
        let middle = self.name(0);
        ip(&format!("netns add {middle}"))?;
        ip(&format!("-n {middle} link add br0 type bridge"))?;
        ip(&format!("-n {middle} link set br0 up"))?;
        for number in 1..=count {
            let own = self.name(number);
            ip(&format!("netns add {own}"))?;
            ip(&format!("link add eth0 netns {own} type veth peer name port{number} netns {middle}"))?;
            ip(&format!("-n {middle} link set port{number} master br0 up"))?;
            ip(&format!("-n {own} addr add {}/24 dev eth0", Self::address(number)))?;
            ip(&format!("-n {own} link set eth0 up"))?;
            ip(&format!("-n {own} link set lo up"))?;
        }
        Ok(())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for number in 0..=4 {
            let _there = ip(&format!("netns del {}", self.name(number)));
        }
    }
}

fn ip(arguments: &str) -> Result<(), String> {
    let done = Command::new("ip").args(arguments.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    if done.status.success() { Ok(()) } else { Err(format!("ip {arguments}: {}", text(&done.stderr))) }
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn skipped(reason: &str) {
    println!("SKIPPED: network namespaces cannot be made here: {reason}");
}

const DRILL: &str = r#"
[replication]
mode = "remote_flush"
standbys = 2
rtt = "2ms"
[drill]
rejoin = "rewind"
within = "120s"
lasts = "2s"
[prober]
rate = "50/s"
[[factor]]
setting = "drill.fault"
levels = ["crash primary", "crash standby-1"]
"#;

#[test]
fn drills_over_a_network_promote_a_standby_that_users_and_the_other_standby_reach() {
    if !postgresql_here("hosts-network") {
        return;
    }
    let Some(network) = Network::make(4) else { return };
    let bench = Bench::new("hosts-network");
    let within = |host: &str| format!("[\"ip\", \"netns\", \"exec\", \"{host}\", \"{PROGRAM}\", \"agent\"]");
    let standby = |number: usize| format!("\"{}={}\"", network.name(number), Network::address(number));
    let agents = format!(
        "[agents]\nhost = {}\naddress = \"{}\"\nload = {}\nstandby_hosts = [{}, {}]\nstandby = {}\n",
        within(&network.name(1)),
        Network::address(1),
        within(&network.name(4)),
        standby(2),
        standby(3),
        within("{host}")
    );
    bench.study(&paced_study(100, &format!("{agents}{DRILL}")));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    // Beside other work a drill may be void, which is said; what it lost and whether it came back is looked at below.
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let (mut promoted, mut undone) = (0, 0);
    for attempt in &record.attempts {
        let report = drill_report(attempt);
        let told = format!("{report:?}");
        assert_eq!((report.prober.ledger.lost, report.prober.ledger.phantoms), (0, 0), "{told}");
        promoted += usize::from(report.rejoined_at.is_some() && report.protected_again_at.is_some());
        undone += usize::from(report.undone_at.is_some() && report.protected_again_at.is_some());
    }
    assert_eq!((promoted, undone), (1, 1), "{:?}", record.attempts.len());
    bench.expect_no_process();
}

/// A block device on a file.
struct LoopDevice(String);

impl LoopDevice {
    /// Makes one; `None` where that is not allowed.
    fn on(file: &Path) -> Option<Self> {
        std::fs::File::create(file).and_then(|file| file.set_len(1 << 30)).expect("the folder takes a file");
        let made = Command::new("losetup").args(["--show", "-f"]).arg(file).output().ok()?;
        made.status.success().then(|| Self(text(&made.stdout).trim().to_owned()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _detached = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

#[test]
fn a_purge_on_both_hosts_keeps_the_snapshots_of_both() {
    if !postgresql_here("hosts-purge") {
        return;
    }
    let bench = Bench::new("hosts-purge");
    let devices = ["primary", "standby"].map(|name| LoopDevice::on(&bench.path(name)));
    let [Some(primary), Some(standby)] = &devices else {
        println!("SKIPPED: a purge on both hosts: loop devices are not allowed here");
        return;
    };
    let study = paced_study(100, "[agents]\nstandby_hosts = [\"db2\"]\n[replication]\nmode = \"remote_flush\"\n");
    let study = study.replacen("repetitions = 1", "repetitions = 2", 1);
    let storage =
        format!("path = \"data\"\npurge.device = \"{}\"\npurge.standby_devices = [\"{}\"]\n", primary.0, standby.0);
    bench.study(&study.replacen("path = \"data\"\n", &storage, 1));
    let yes = format!("{},{}", primary.0, standby.0);
    let done = bench.run(&["run", "study.toml", "-o", "x.proof", "--yes", &yes]);
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}", text(&done.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert_eq!(record.attempts.len(), 2);
    for attempt in &record.attempts {
        assert_eq!(attempt.state, State::Finished, "{:?}", attempt.events);
        let is_purged = |fact: &&Fact| {
            fact.name.ends_with("volume") && fact.effective.as_ref().is_some_and(|text| text.contains("purged"))
        };
        let volumes = attempt.facts.iter().filter(is_purged);
        let purged: BTreeSet<&InstanceName> = volumes.map(|fact| &fact.instance).collect();
        let restored = events(attempt, |event| matches!(event, RunEvent::Restored(_)));
        // The first run also brings the snapshot to the standby's host.
        assert_eq!(purged.len(), 2, "{:?}", attempt.facts);
        assert!(restored.len() >= 2, "{:?}", attempt.events);
    }
    let built = |attempt: &Attempt| events(attempt, |event| matches!(event, RunEvent::Built(_))).len();
    assert_eq!(built(&record.attempts[1]), 0, "the second run finds the snapshots of the first");
    bench.expect_no_process();
    let mounts = std::fs::read_to_string("/proc/mounts").expect("Linux has it");
    assert!(!mounts.contains(&bench.path("").display().to_string()), "{mounts}");
}
