//! Invariant: killed at any instant, `resume` loses no finished run and doubles none, and nothing stays behind.
//!
//! `PROOFLOAD_KILLS` sets how many kills each test does; `cargo xtask crash` does 1,000 in all.

#![expect(clippy::print_stdout, reason = "the number of kills is part of the result")]

mod support;

use proofload_record::{Record, State};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};
use support::waiting::wait_for;
use support::{Bench, groups_of, kill, kill_gently, orphaned_groups, postgresql_here, small_study, text};

/// Taken for reading while a test kills, and for writing while it counts control groups without an owner: those of another test are
/// there until it resumes.
static KILLING: RwLock<()> = RwLock::new(());

/// The process that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Conductor,
    Agent,
    Server,
}

/// Kills per test: the default, or what the environment asks.
fn kills(default: u32) -> u32 {
    std::env::var("PROOFLOAD_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A small generator: kills should be spread, and the same in each test run.
struct Instants(u64);

impl Instants {
    /// Draws a duration up to `longest`, uniform.
    fn next(&mut self, longest: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        longest.mul_f64((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// What must never change about a finished run: its attempt, its seconds, its seal.
fn finished(record: &Record) -> BTreeMap<u32, (i64, usize)> {
    let mut runs = BTreeMap::new();
    for attempt in record.attempts.iter().filter(|attempt| attempt.state == State::Finished) {
        assert_eq!(attempt.seal_holds, Some(true), "the rows of run {} were changed", attempt.run.index);
        let doubled = runs.insert(attempt.run.index, (attempt.id, attempt.intervals.len()));
        assert_eq!(doubled, None, "run {} was finished twice", attempt.run.index);
    }
    runs
}

/// Runs studies to their end, one after another, through so many kills in all.
fn check(name: &str, study: &str, victim: Victim, kills: u32, longest: Duration) {
    let mut instants = Instants(0x9E37_79B9_7F4A_7C15 ^ u64::from(kills));
    let mut left = kills;
    while left > 0 {
        let bench = Bench::new(name);
        bench.study(study);
        let killed = {
            let _killing = KILLING.read().unwrap_or_else(PoisonError::into_inner);
            run_through(&bench, victim, left, longest, &mut instants)
        };
        assert!(killed > 0, "no kill hit");
        left -= killed;
        bench.expect_no_process();
        let _alone = KILLING.write().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(orphaned_groups(), Vec::<std::path::PathBuf>::new(), "control groups were left behind");
    }
    println!("{name}: {kills} kills");
}

/// Runs one study to its end through at most so many kills; says how many hit.
fn run_through(bench: &Bench, victim: Victim, kills: u32, longest: Duration, instants: &mut Instants) -> u32 {
    let record = bench.path("x.proof");
    let mut before = BTreeMap::new();
    let mut killed = 0;
    for _ in 0..kills * 4 + 20 {
        let mut child = begin(bench, &record);
        let struck = killed < kills && strike(bench, &mut child, victim, instants.next(longest));
        killed += u32::from(struck);
        let ended = child.wait_with_output().expect("the conductor ends");
        if !record.exists() {
            continue;
        }
        let read = proofload_record::read(&record).expect("the record is readable after a kill");
        let now = finished(&read);
        for (run, what) in &before {
            assert_eq!(now.get(run), Some(what), "finished run {run} was lost or replaced after {killed} kills");
        }
        before = now;
        // A point that is void hides that a run of another was struck.
        let is_whole = before.len() == read.plan.runs.len();
        if is_whole && ended.status.code().is_some_and(|code| code != 1 && code != 75) {
            break;
        }
        assert!(struck || ended.status.code() != Some(1), "undisturbed after {killed} kills: {}", text(&ended.stderr));
    }
    let read = proofload_record::read(&record).expect("the record is readable");
    assert_eq!(before.len(), read.plan.runs.len(), "the study came to its end: {:?}", read.logs.last());
    killed
}

/// `run`, or `resume` once there is a record.
fn begin(bench: &Bench, record: &Path) -> Child {
    if record.exists() {
        bench.spawn(&["resume", "x.proof"])
    } else {
        bench.spawn(&["run", "study.toml", "-o", "x.proof"])
    }
}

/// Waits, then kills the victim if it lives; the instant counts from the victim's birth.
fn strike(bench: &Bench, child: &mut Child, victim: Victim, after: Duration) -> bool {
    let begun = Instant::now();
    loop {
        if child.try_wait().expect("the child is ours").is_some() {
            return false;
        }
        if let Some(pid) = find(bench, child, victim) {
            std::thread::sleep(after);
            if child.try_wait().expect("the child is ours").is_some() {
                return false;
            }
            kill(pid);
            return true;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn find(bench: &Bench, child: &Child, victim: Victim) -> Option<u32> {
    let matches = |line: &str| match victim {
        Victim::Conductor => false,
        Victim::Agent => line.contains("proofload agent"),
        Victim::Server => line.contains("postgres -D") || line.contains("postgres  -D"),
    };
    match victim {
        Victim::Conductor => Some(child.id()),
        Victim::Agent | Victim::Server => {
            bench.processes().into_iter().filter(|(_, line)| matches(line)).map(|(pid, _)| pid).max()
        }
    }
}

/// Six runs on the null engine.
fn null_study() -> String {
    small_study("null", "[[factor]]\nsetting = \"limits.cores\"\nlevels = [1, 2]\n", 2)
}

#[test]
fn the_conductor_is_killed_on_the_null_engine() {
    check("kill-null", &null_study(), Victim::Conductor, kills(3), Duration::from_secs(5));
}

#[test]
fn an_agent_is_killed_on_the_null_engine() {
    check("kill-agent", &null_study(), Victim::Agent, kills(2), Duration::from_secs(4));
}

#[test]
fn the_conductor_is_killed_on_sqlite() {
    let study = small_study("sqlite", "[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"128MiB\"]\n", 2);
    check("kill-sqlite", &study, Victim::Conductor, kills(2), Duration::from_secs(7));
}

#[test]
fn the_conductor_is_killed_on_postgresql() {
    if postgresql_here("kill-postgresql") {
        check(
            "kill-postgresql",
            &small_study("postgresql", "", 2),
            Victim::Conductor,
            kills(2),
            Duration::from_secs(10),
        );
    }
}

#[test]
fn the_server_is_killed() {
    if postgresql_here("kill-server") {
        check("kill-server", &small_study("postgresql", "", 2), Victim::Server, kills(2), Duration::from_secs(4));
    }
}

#[test]
fn the_conductor_is_killed_beside_a_standby() {
    if postgresql_here("kill-standby") {
        let study = small_study("postgresql", "[replication]\nmode = \"remote_apply\"\n", 2);
        check("kill-standby", &study, Victim::Conductor, kills(2), Duration::from_secs(12));
    }
}

#[test]
fn an_agent_with_a_relay_is_killed() {
    if postgresql_here("kill-relay") {
        let study = small_study("postgresql", "[replication]\nmode = \"remote_flush\"\nrtt = \"2ms\"\n", 2);
        check("kill-relay", &study, Victim::Agent, kills(2), Duration::from_secs(8));
    }
}

#[test]
fn an_agent_that_is_told_to_stop_releases_what_it_limits() {
    let bench = Bench::new("kill-told");
    bench.study(&small_study("sqlite", "[limits]\nmemory = \"64MiB\"\n", 2));
    // Groups of another test have no owner between its kill and what it begins next.
    let _alone = KILLING.write().unwrap_or_else(PoisonError::into_inner);
    let child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let agents = wait_for("an agent makes a control group", || {
        let processes = bench.processes().into_iter();
        let agents = processes.filter(|(_, line)| line.contains("proofload agent")).map(|(pid, _)| pid);
        let agents: Vec<u32> = agents.collect();
        (!groups_of(&|owner| agents.contains(&owner)).is_empty()).then_some(agents)
    });
    agents.into_iter().for_each(kill_gently);
    let ended = child.wait_with_output().expect("the conductor ends");
    assert!(!ended.status.success(), "the study was cut short: {}", text(&ended.stderr));
    bench.expect_no_process();
    assert_eq!(orphaned_groups(), Vec::<std::path::PathBuf>::new(), "control groups were left behind");
}

/// Drills of a primary that is frozen, behind relays: what a fault has stopped must not outlive its conductor or its agent.
fn drill_study() -> String {
    let more = "[replication]\nmode = \"remote_flush\"\nrtt = \"0s\"\n[drill]\nfault = \"freeze primary\"\nwithin = \"120s\"\n\
         [prober]\nrate = \"20/s\"\n";
    let study = small_study("postgresql", more, 1);
    study.replacen("[workload]\n", "[workload]\ndeadline = \"1s\"\nreconnect_wait = \"50ms\"\n", 1)
}

#[test]
fn the_conductor_is_killed_in_a_drill() {
    if postgresql_here("kill-drill") {
        check("kill-drill", &drill_study(), Victim::Conductor, kills(1), Duration::from_secs(20));
    }
}

#[test]
fn an_agent_is_killed_in_a_drill() {
    if postgresql_here("kill-drill-agent") {
        check("kill-drill-agent", &drill_study(), Victim::Agent, kills(1), Duration::from_secs(16));
    }
}
