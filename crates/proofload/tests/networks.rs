//! Studies in network namespaces of their own by the program itself: made, cut, removed, swept. Skipped where they cannot be made.

mod support;

use proofload_record::State;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use support::waiting::wait_beside;
use support::{Bench, drill_report, paced_study, postgresql_here, small_study, text};

/// Whether namespaces can be made here.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn namespaces_here() -> bool {
    // Tests of one process ask at the same time.
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let probe = format!("plt{}-{}", std::process::id(), ASKED.fetch_add(1, Ordering::Relaxed));
    let ip =
        |words: &[&str]| Command::new("ip").args(words).stderr(Stdio::null()).status().is_ok_and(|done| done.success());
    let made = ip(&["netns", "add", &probe]);
    if made {
        ip(&["netns", "del", &probe]);
    } else {
        println!("SKIPPED: network namespaces cannot be made here");
    }
    made
}

/// Namespaces of a conductor by its process number.
fn namespaces_of(conductor: u32) -> Vec<String> {
    let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&format!("proofload-{conductor}-"))).collect()
}

fn study(more: &str) -> String {
    paced_study(100, &format!("[replication]\nnetwork = \"namespaces\"\n{more}"))
}

const DRILL: &str = r#"mode = "remote_flush"
[drill]
rejoin = "rewind"
within = "120s"
lasts = "2s"
[prober]
rate = "50/s"
[[factor]]
setting = "drill.fault"
levels = ["crash primary", "partition link-1"]
"#;

#[test]
fn a_device_that_is_down_parts_the_standby_and_nothing_of_the_network_is_left() {
    if !postgresql_here("networks") || !namespaces_here() {
        return;
    }
    let bench = Bench::new("networks");
    bench.study(&study(DRILL));
    let child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let conductor = child.id();
    let done = child.wait_with_output().expect("it ends");
    // Beside other work a drill may be void, which is said; what it lost and whether it came back is looked at below.
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    assert_eq!(namespaces_of(conductor), [""; 0]);
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert!(record.facts.iter().all(|fact| !fact.instance.is_standby()), "the standby has no machine of its own");
    let (mut promoted, mut parted) = (0, 0);
    for attempt in &record.attempts {
        let report = drill_report(attempt);
        let told = format!("{report:?}");
        assert_eq!((report.prober.ledger.lost, report.prober.ledger.phantoms), (0, 0), "{told}");
        promoted += usize::from(report.rejoined_at.is_some() && report.protected_again_at.is_some());
        // No commit ends while the only standby that confirms is away.
        let away = report
            .prober
            .kinds
            .iter()
            .flat_map(|kind| &kind.outages)
            .any(|outage| outage.to.is_some_and(|to| to.as_seconds() > report.fault_at + 1.0));
        parted += usize::from(report.undone_at.is_some() && report.protected_again_at.is_some() && away);
    }
    assert_eq!((promoted, parted), (1, 1), "{:?}", record.attempts.iter().map(drill_report).collect::<Vec<_>>());
    bench.expect_no_process();
}

#[test]
fn a_killed_study_leaves_namespaces_that_the_next_start_removes() {
    if !postgresql_here("networks-killed") || !namespaces_here() {
        return;
    }
    // Any study that starts meanwhile, a test's beside this one too, removes them, and then that one's record tells it. On a slow host that is
    // every second time.
    let told = (0..16).any(|_| next_start_tells_what_it_removed());
    assert!(told, "no record tells that namespaces were removed");
}

/// Kills a study in namespaces and resumes it; whether the record tells that its namespaces were removed.
fn next_start_tells_what_it_removed() -> bool {
    let bench = Bench::new("networks-killed");
    bench.study(&study("mode = \"async\"\n"));
    let mut child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let conductor = child.id();
    wait_beside(&mut child, "the study makes namespaces", || (namespaces_of(conductor).len() >= 4).then_some(()));
    // So that agents run inside.
    std::thread::sleep(Duration::from_secs(2));
    let made = namespaces_of(conductor);
    child.kill().expect("it is ours");
    let _ended = child.wait();
    assert_eq!(made.len(), 4, "a bridge, two nodes and a load agent");
    bench.expect_no_process();
    let resumed = bench.spawn(&["resume", "x.proof"]);
    let next = resumed.id();
    let done = resumed.wait_with_output().expect("it ends");
    // Where the host stood still, an operation may have missed its deadline of a second.
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    assert_eq!((namespaces_of(conductor), namespaces_of(next)), (Vec::new(), Vec::new()));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert!(record.attempts.iter().any(|attempt| attempt.state == State::Finished));
    record.logs.iter().any(|line| line.text.contains("whose owner is dead"))
}

/// Others left it, and the program that removes it is not on the path: no fault of a study without networks.
#[test]
fn a_network_of_another_that_cannot_be_removed_stops_no_study() {
    if !namespaces_here() {
        return;
    }
    let bench = Bench::new("networks-left");
    bench.study(&small_study("sqlite", "", 1));
    // A number that the kernel gives to nobody.
    let left = "proofload-4194304-1-0-host";
    let _left_before = Command::new("ip").args(["netns", "add", left]).status();
    let done = bench.command(&["run", "study.toml", "-o", "x.proof"]).env("PATH", bench.path("data")).output();
    let done = done.expect("the program starts");
    let _removed_by_another = Command::new("ip").args(["netns", "del", left]).stderr(Stdio::null()).status();
    assert!(matches!(done.status.code(), Some(0 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert_eq!(record.attempts.last().expect("an attempt").state, State::Finished);
}

#[test]
fn a_network_that_cannot_be_is_refused() {
    let bench = Bench::new("networks-refused");
    let agents = "[agents]\nhost = [\"ssh\", \"db1\"]\nstandby_hosts = [\"db2=10.0.0.2\"]\n";
    bench.study(&format!("{}{agents}", study("mode = \"async\"\nmanager = \"patroni\"\n")));
    let done = bench.run(&["validate", "study.toml"]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{told}");
    for part in
        ["agents.host: conflicts with", "agents.standby_hosts: conflicts with", "runs all instances on one host"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    if !namespaces_here() {
        return;
    }
    bench.study(&study("mode = \"async\"\n"));
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(bench.path(""), open).expect("the folder is ours");
    let copy = bench.path("proofload");
    std::fs::copy(env!("CARGO_BIN_EXE_proofload"), &copy).expect("the folder takes a file");
    let mut unprivileged = Command::new(copy);
    unprivileged.args(["run", "study.toml", "-o", "x.proof"]).current_dir(bench.path("")).uid(65534).gid(65534);
    let done = unprivileged.output().expect("it starts");
    let told = text(&done.stderr);
    assert!(!done.status.success() && told.contains("needs root"), "{told}");
}
