//! Invariant: killed at any instant, `resume` loses no finished run and doubles none, and nothing stays behind.
//!
//! `PROOFLOAD_KILLS` sets how many kills each test does; `cargo xtask crash` does 1,000 in all, `cargo xtask drills kills` those in a
//! drill.

#![expect(clippy::print_stdout, reason = "the number of kills is part of the result")]

mod support;

use proofload_model::manager::ManagerKind;
use proofload_model::wire::LimitsAsked;
use proofload_record::{Record, State};
use proofload_testbed::doctor::{find_manager, try_limits};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};
use support::left_behind::expect_nothing_left;
use support::waiting::wait_for;
use support::{Bench, groups_of, kill, kill_gently, orphaned_groups, paced_study, postgresql_here, small_study, text};

/// Taken for reading while a test kills, and for writing while it counts control groups without an owner: those of another test are
/// there until it resumes.
static KILLING: RwLock<()> = RwLock::new(());

/// The process that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Conductor,
    /// The agent that was started last: that of the load.
    Agent,
    /// The agent that was started first: that of the host, which makes the faults.
    HostAgent,
    Server,
}

/// What is killed, and when.
#[derive(Debug, Clone, Copy)]
struct Aim {
    victim: Victim,
    /// Whether the moment of the study has come from which the instant counts.
    is_time: fn(&Bench) -> bool,
    /// The latest instant.
    longest: Duration,
}

/// How long a study may take until it is time.
const PATIENCE: Duration = Duration::from_secs(180);

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
    let aim = Aim { victim, is_time: |_| true, longest };
    let mut left = kills;
    while left > 0 {
        let bench = Bench::new(name);
        bench.study(study);
        let killed = {
            let _killing = KILLING.read().unwrap_or_else(PoisonError::into_inner);
            run_through(&bench, aim, left, &mut instants)
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
fn run_through(bench: &Bench, aim: Aim, kills: u32, instants: &mut Instants) -> u32 {
    let record = bench.path("x.proof");
    let mut before = BTreeMap::new();
    let mut killed = 0;
    for _ in 0..kills * 4 + 20 {
        let mut child = begin(bench, &record);
        let struck = killed < kills && strike(bench, &mut child, aim, instants.next(aim.longest));
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

/// Waits, then kills the victim if it lives; the instant counts from when it is time and the victim is there.
fn strike(bench: &Bench, child: &mut Child, aim: Aim, after: Duration) -> bool {
    let begun = Instant::now();
    loop {
        if child.try_wait().expect("the child is ours").is_some() {
            return false;
        }
        if (aim.is_time)(bench)
            && let Some(pid) = find(bench, child, aim.victim)
        {
            std::thread::sleep(after);
            if child.try_wait().expect("the child is ours").is_some() {
                return false;
            }
            kill(pid);
            return true;
        }
        if begun.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn find(bench: &Bench, child: &Child, victim: Victim) -> Option<u32> {
    let matches = |line: &str| match victim {
        Victim::Conductor => false,
        Victim::Agent | Victim::HostAgent => line.contains("proofload agent"),
        Victim::Server => line.contains("postgres -D") || line.contains("postgres  -D"),
    };
    if victim == Victim::Conductor {
        return Some(child.id());
    }
    let found = bench.processes().into_iter().filter(|(_, line)| matches(line)).map(|(pid, _)| pid);
    if victim == Victim::HostAgent { found.min() } else { found.max() }
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

/// A fault in whose drill is killed, and what its study needs beside it.
struct DrillFault {
    words: &'static str,
    storage: &'static str,
    replication: &'static str,
    drill: &'static str,
    /// What this machine lacks for it.
    lacks: fn() -> Result<(), String>,
}

/// A pair behind a relay.
const RELAYED: &str = "mode = \"remote_flush\"\nrtt = \"0s\"\n";

/// A pair under Patroni, whose lease is as short as it may be.
const MANAGED: &str = "mode = \"remote_flush\"\nmanager = \"patroni\"\n\
     [replication.manager_settings]\nttl = 20\nloop_wait = 2\nretry_timeout = 3\n";

/// Faults of every kind of remains: processes, a link, a limit, a file on a volume, a manager's programs.
static DRILL_FAULTS: [DrillFault; 5] = [
    DrillFault { words: "freeze primary", storage: "", replication: RELAYED, drill: "", lacks: || Ok(()) },
    DrillFault {
        words: "partition link-1",
        storage: "",
        replication: RELAYED,
        drill: "lasts = \"6s\"\n",
        lacks: || Ok(()),
    },
    DrillFault {
        words: "slow disk primary",
        storage: "",
        replication: RELAYED,
        drill: "lasts = \"6s\"\nwrite_iops = 50\n",
        lacks: || {
            let asked = LimitsAsked { write_iops: Some(100_000), ..LimitsAsked::default() };
            try_limits(asked, &std::env::temp_dir()).map_err(|error| error.to_string())
        },
    },
    DrillFault {
        words: "full disk primary",
        storage: "volume = \"1GiB\"\n",
        replication: RELAYED,
        drill: "lasts = \"6s\"\n",
        lacks: may_mount_files,
    },
    DrillFault {
        words: "crash arbiter",
        storage: "",
        replication: MANAGED,
        drill: "lasts = \"6s\"\n",
        lacks: || find_manager(ManagerKind::Patroni).map_err(|error| error.to_string()),
    },
];

impl DrillFault {
    fn study(&self) -> String {
        let Self { words, storage, replication, drill, .. } = self;
        let more = format!(
            "[replication]\n{replication}[drill]\nfault = \"{words}\"\nwithin = \"120s\"\n{drill}[prober]\nrate = \"20/s\"\n"
        );
        paced_study(100, &more).replacen("path = \"data\"\n", &format!("path = \"data\"\n{storage}"), 1)
    }
}

/// Whether a file system in a file can be made and mounted.
fn may_mount_files() -> Result<(), String> {
    for (program, argument) in [("losetup", "--find"), ("mkfs.ext4", "-V"), ("debugfs", "-V")] {
        let done = Command::new(program).arg(argument).output().map_err(|error| format!("{program}: {error}"))?;
        if !done.status.success() {
            return Err(format!("{program} {argument}: {}", text(&done.stderr).trim()));
        }
    }
    Ok(())
}

/// Faults of so many drills after those of others: each that this machine allows comes before one comes again, in an order that is drawn
/// each time.
fn drawn(others: usize, count: u32) -> Vec<&'static DrillFault> {
    let mut allowed: Vec<&DrillFault> = Vec::new();
    for fault in &DRILL_FAULTS {
        match (fault.lacks)() {
            Ok(()) => allowed.push(fault),
            Err(why) => println!("SKIPPED: kills in a drill of {}: {why}", fault.words),
        }
    }
    let mut instants = Instants(0xD1B5_4A32_D192_ED03);
    let mut drawn = Vec::new();
    while drawn.len() < others + count as usize {
        let mut left = allowed.clone();
        while !left.is_empty() {
            let place = instants.next(Duration::from_secs(left.len() as u64)).as_secs() as usize;
            drawn.push(left.swap_remove(place.min(left.len() - 1)));
        }
    }
    drawn.drain(others..).take(count as usize).collect()
}

/// Whether users are at work: the fault comes three seconds later, and is undone six seconds after that.
fn is_loading(bench: &Bench) -> bool {
    let record = proofload_record::read(&bench.path("x.proof")).ok();
    record.is_some_and(|record| record.attempts.last().is_some_and(|attempt| !attempt.intervals.is_empty()))
}

/// Runs a study of one drill for each fault through a kill; what the fault has stopped, cut, filled or mounted must not outlive it.
fn check_drills(name: &str, victim: Victim, faults: &[&DrillFault]) {
    let aim = Aim { victim, is_time: is_loading, longest: Duration::from_secs(9) };
    let mut instants = Instants(0x9E37_79B9_7F4A_7C15 ^ faults.len() as u64);
    for fault in faults {
        // On a busy host a study may have come to its end before the instant.
        let hit = (0..3).any(|_| {
            let bench = Bench::new(name);
            bench.study(&fault.study());
            let killed = {
                let _killing = KILLING.read().unwrap_or_else(PoisonError::into_inner);
                run_through(&bench, aim, 1, &mut instants)
            };
            expect_nothing_left(&bench);
            let _alone = KILLING.write().unwrap_or_else(PoisonError::into_inner);
            assert_eq!(orphaned_groups(), Vec::<std::path::PathBuf>::new(), "control groups were left behind");
            killed > 0
        });
        assert!(hit, "no kill hit in a drill of {}", fault.words);
        println!("{name}: killed in a drill of {}", fault.words);
    }
}

#[test]
fn the_conductor_is_killed_in_a_drill() {
    if postgresql_here("kill-drill") {
        check_drills("kill-drill", Victim::Conductor, &drawn(0, kills(2)));
    }
}

#[test]
fn an_agent_is_killed_in_a_drill() {
    if postgresql_here("kill-drill-agent") {
        // In a short test run the faults are others than those of the conductor.
        check_drills("kill-drill-agent", Victim::HostAgent, &drawn(2, kills(2)));
    }
}
