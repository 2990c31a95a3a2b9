//! Several load agents as a user meets them: merged without loss, begun together, one of them lost, too far away or of another version.

#![allow(clippy::print_stderr, reason = "a test that leaves something out says so")]

mod support;

use proofload_analysis::latency::Sparse;
use proofload_model::samples::{CheckOutcome, HistogramDelta, IntervalSample, LatencyClock};
use proofload_record::{Attempt, Record, State};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use support::waiting::wait_until;
use support::{Bench, kill, postgresql_here, small_study, text};

const PIPE: &str = "PROOFLOAD_TEST_PIPE_MS";

/// A way that takes its time: between the conductor and a real agent when [`PIPE`] is set, else nothing. The test harness prints before the
/// agent greets, as log-in scripts do.
#[test]
fn slow_way() {
    let Some(delay) = std::env::var(PIPE).ok().and_then(|text| text.parse().ok()).map(Duration::from_millis) else {
        return;
    };
    let mut agent = Command::new(env!("CARGO_BIN_EXE_proofload"))
        .arg("agent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the agent starts");
    let (to, from) = (agent.stdin.take().expect("a pipe"), agent.stdout.take().expect("a pipe"));
    let there = std::thread::spawn(move || carry(std::io::stdin(), to, delay));
    carry(from, std::io::stdout(), delay);
    drop(there);
    let _ended = agent.wait();
}

/// Passes bytes on `delay` after they came, as a long line does; no piece waits for another.
fn carry(mut from: impl Read, mut to: impl Write + Send + 'static, delay: Duration) {
    let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
    let writing = std::thread::spawn(move || {
        for (came, bytes) in receiver {
            std::thread::sleep((came + delay).saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    });
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || sender.send((Instant::now(), buffer[..count].to_vec())).is_err() {
            break;
        }
    }
    drop(sender);
    let _gone = writing.join();
}

/// The command of agents that tell their host in their environment, for finding them.
fn told_apart() -> String {
    format!("[\"env\", \"LOADER={{host}}\", \"{}\", \"agent\"]", env!("CARGO_BIN_EXE_proofload"))
}

/// A shell command; `{host}` in it is the agent's.
fn shell(line: &str) -> String {
    let line = line.replace("$AGENT", &format!("{} agent", env!("CARGO_BIN_EXE_proofload")));
    let way = std::env::current_exe().expect("the test has a file").display().to_string();
    let line = line.replace("$WAY", &format!("{way} --exact slow_way --nocapture"));
    format!("[\"sh\", \"-c\", {line:?}]")
}

fn study(workload: &str, engine: &str, hosts: &str, command: &str, measure: &str) -> String {
    format!(
        r#"
[study]
name = "small"
title = "A load of several agents"
[workload]
{workload}
[engine]
kind = "{engine}"
[storage]
path = "data"
[agents]
load_hosts = {hosts}
load = {command}
[procedure]
warm_up = {{ at_least = "1s", at_most = "3s", round = "1s", tolerance = 0.5 }}
measure = "{measure}"
drift_tolerance = 1.0
steal_tolerance = 1.0
"#
    )
}

const KEY_VALUE: &str = "kind = \"ycsb\"\nvirtual_users = 8\nrecords = 1000\nmix = \"b\"\nrate = 4000";
const WAREHOUSES: &str = "kind = \"tprocc\"\nwarehouses = 2\nscale = \"toy\"";

fn record(bench: &Bench) -> Record {
    proofload_record::read(&bench.path("small.proof")).expect("the record is readable")
}

/// Runs a study to its end; 6 and 7: a busy machine may void the point, what is merged is merged all the same.
fn ran(bench: &Bench, study: &str) -> Record {
    bench.study(study);
    let output = bench.run(&["run", "study.toml"]);
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{}", text(&output.stderr));
    bench.expect_no_process();
    record(bench)
}

fn json_of(attempt: &Attempt, event: &str) -> serde_json::Value {
    let found = attempt.events.iter().rev().find(|found| found.event.name() == event);
    let found = found.unwrap_or_else(|| panic!("there is an event {event}"));
    serde_json::from_str(&found.listed).expect("it is JSON")
}

#[track_caller]
fn expect_good_checks(attempt: &Attempt) {
    let wrong =
        |check: &&proofload_model::samples::Check| check.outcome == CheckOutcome::Failed && check.group != "inputs";
    let failed: Vec<String> = attempt
        .checks
        .iter()
        .filter(wrong)
        .map(|check| format!("{}: {} {:?}", check.name, check.found, check.offenders))
        .collect();
    assert_eq!(failed, [""; 0]);
    assert!(attempt.checks.iter().any(|check| check.name == "counts of each agent"));
}

/// The responses of all kinds in one.
fn merged<'a>(parts: impl Iterator<Item = &'a HistogramDelta>) -> Sparse {
    let parts: Vec<Sparse> = parts.map(|delta| Sparse::from_v2_deflate(&delta.payload).expect("it is whole")).collect();
    Sparse::merged(&parts)
}

/// What each agent did adds up to what was merged: in every second, and over the window bucket for bucket.
#[track_caller]
fn expect_sums(attempt: &Attempt) {
    let (from, to) = attempt.window().expect("a window");
    for second in &attempt.intervals {
        let own = || attempt.agents.seconds.iter().filter(|own| own.number == second.index);
        let completed: u64 = second.counts.iter().map(|counts| counts.completed()).sum();
        assert_eq!(own().map(|own| own.completed).sum::<u64>(), completed, "second {}", second.index);
        let threads: usize = own().map(|own| own.client.thread_cpu_ns.len()).sum();
        assert_eq!(threads, second.client.thread_cpu_ns.len());
    }
    let inside = attempt.intervals.iter().filter(|second| (from..to).contains(&second.index));
    let of_all = inside.flat_map(|second| &second.histograms);
    let of_all =
        merged(of_all.filter(|part| part.clock == LatencyClock::Response && !part.kind.starts_with("deferred_")));
    let of_agents = attempt.agents.histograms.iter().map(|of| &of.delta);
    let of_agents = merged(of_agents.filter(|part| part.clock == LatencyClock::Response));
    assert!(of_agents.buckets().eq(of_all.buckets()));
    assert!(of_all.count() > 0);
}

/// Three agents: one on a slow way, one in a time namespace whose monotonic clock is hours ahead, where the kernel and our rights allow it.
#[test]
fn three_agents_make_one_load() {
    let bench = Bench::new("three");
    let another_clock = "unshare --fork --time --monotonic 50000";
    let possible = Command::new("sh").args(["-c", &format!("{another_clock} true")]).stderr(Stdio::null()).status();
    let another_clock = if possible.is_ok_and(|status| status.success()) {
        another_clock
    } else {
        eprintln!("LEFT OUT: a clock of another machine: no time namespaces here");
        "exec"
    };
    let command = shell(&format!(
        "case {{host}} in far) {PIPE}=3 exec $WAY;; other) {another_clock} $AGENT;; *) exec $AGENT;; esac"
    ));
    let record = ran(&bench, &study(KEY_VALUE, "null", "[\"near\", \"far:2\", \"other\"]", &command, "4s"));
    let attempt = record.finished(0).expect("it went through");
    expect_good_checks(attempt);
    expect_sums(attempt);
    let agents = json_of(attempt, "load_agents");
    let told: Vec<(&str, u64)> = agents
        .as_array()
        .expect("a list")
        .iter()
        .map(|agent| (agent["name"].as_str().expect("a name"), agent["users"].as_u64().expect("a count")))
        .collect();
    assert_eq!(told, [("near", 2), ("far", 4), ("other", 2)]);
    let far = agents[1]["clock_bound_ns"].as_u64().expect("a bound");
    assert!((3_000_000..10_000_000).contains(&far), "the way there and back takes 6 ms: {far}");

    // Arrivals are dealt out by shares, each to one agent: after time zero all of them are somebody's, and no agent has more than its part.
    let offered = |agent: u32| -> u64 {
        let own =
            attempt.agents.seconds.iter().filter(|second| second.agent == agent && (1..4).contains(&second.number));
        own.map(|second| second.client.offered.expect("a rate was asked for").due).sum()
    };
    assert_eq!([offered(0), offered(1), offered(2)], [3_000, 6_000, 3_000]);
    let users: u64 = told.iter().map(|(_, users)| users).sum();
    let total = attempt.facts.iter().find(|fact| fact.name == "virtual_users").expect("it is told of all");
    assert_eq!(total.effective, Some(users.to_string()));
    let report = text(&bench.run(&["report", "small.proof", "--format", "markdown"]).stdout);
    assert!(report.contains("Load agents in the measured window") && report.contains("| far |"), "{report}");
}

#[test]
fn three_agents_on_postgresql_leave_a_database_that_adds_up() {
    if !postgresql_here("load-agents") {
        return;
    }
    let bench = Bench::new("three-postgresql");
    let workload = format!("{WAREHOUSES}\nvirtual_users = 7");
    let record = ran(&bench, &study(&workload, "postgresql", "[\"a\", \"b:2\", \"c\"]", &told_apart(), "3s"));
    let attempt = record.finished(0).expect("it went through");
    expect_good_checks(attempt);
    expect_sums(attempt);
    let lost = attempt.checks.iter().find(|check| check.name == "orders lost").expect("orders are looked for");
    let totals = json_of(attempt, "load_stopped");
    let new_orders = totals["totals"].as_array().expect("a list").iter().find(|of| of["kind"] == "new_order");
    let done = new_orders.and_then(|of| of["done"].as_u64()).expect("there are new orders");
    assert_eq!(lost.found, format!("{done} acknowledged, 0 lost"), "those of all three agents");
    let loaded = record.facts.iter().chain(&attempt.facts).find(|fact| fact.name == "loaded_by");
    assert_eq!(loaded.and_then(|fact| fact.effective.as_deref()), Some("3"), "each loaded its share");
}

/// Which records can be read depends on how far the users of all agents are: no user reads a record that is not there yet, and inserts add up.
#[test]
fn agents_insert_and_read_what_others_inserted() {
    if !postgresql_here("load-agents-inserts") {
        return;
    }
    let bench = Bench::new("three-inserts");
    let mix = "mix = \"own\"\nread = 0.4\ninsert = 0.5\nscan = 0.1\nkeys = \"latest\"";
    let workload = format!("kind = \"ycsb\"\nvirtual_users = 7\nrecords = 100\n{mix}");
    let record = ran(&bench, &study(&workload, "postgresql", "[\"a\", \"b:2\", \"c\"]", &told_apart(), "4s"));
    let attempt = record.finished(0).expect("it went through");
    expect_good_checks(attempt);
    expect_sums(attempt);
    let errors: Vec<_> = attempt.intervals.iter().flat_map(|second| &second.errors).collect();
    assert!(errors.is_empty(), "a record was read that was not there: {errors:?}");
    let inserted = |second: &IntervalSample| -> u64 {
        second.counts.iter().filter(|counts| counts.kind == "insert").map(|counts| counts.done).sum()
    };
    assert!(attempt.intervals.iter().map(inserted).sum::<u64>() > 100, "most of what can be read is new");
}

#[test]
fn streams_of_a_warehouse_are_divided_too() {
    if !postgresql_here("load-agents-warehouse") {
        return;
    }
    let bench = Bench::new("three-warehouse");
    let workload =
        "kind = \"warehouse\"\nscale_factor = 0.01\nstreams = 3\nrounds = 2\nqueries = [\"q01\", \"q06\", \"q14\"]";
    let text = study(workload, "postgresql", "[\"a\", \"b:2\"]", &told_apart(), "3s");
    let (before, after) = text.split_once("[procedure]").expect("it has a procedure");
    let after = after.lines().filter(|line| !line.starts_with("warm_up") && !line.starts_with("measure"));
    let record = ran(&bench, &format!("{before}[procedure]\n{}", after.collect::<Vec<_>>().join("\n")));
    let attempt = record.finished(0).expect("it went through");
    expect_good_checks(attempt);
    let rounds: serde_json::Value = json_of(attempt, "rounds");
    let mut users: Vec<u64> =
        rounds.as_array().expect("a list").iter().map(|round| round["user"].as_u64().expect("a stream")).collect();
    users.sort_unstable();
    assert_eq!(users, [0, 0, 1, 1, 2, 2], "each stream has its number in the whole load");
    let agreement = attempt.checks.iter().find(|check| check.name == "agreement of streams").expect("it is checked");
    assert!(agreement.found.starts_with("18 answers to"), "those of both agents: {}", agreement.found);
}

#[test]
fn paced_terminals_are_divided_too() {
    if !postgresql_here("load-agents-paced") {
        return;
    }
    let bench = Bench::new("three-paced");
    let workload = format!("{WAREHOUSES}\npacing = \"paced\"\nvirtual_users = 20\nconnections = 6");
    let record = ran(&bench, &study(&workload, "postgresql", "[\"a\", \"b\"]", &told_apart(), "3s"));
    let attempt = record.finished(0).expect("it went through");
    expect_good_checks(attempt);
    expect_sums(attempt);
    let documents: Vec<&String> = record.documents.keys().filter(|name| name.contains("deliveries-1")).collect();
    assert_eq!(documents, ["attempt-1/b/deliveries-1.csv", "attempt-1/deliveries-1.csv"]);
}

/// The process of an agent by its host.
fn agent_of(bench: &Bench, host: &str) -> Option<u32> {
    let wanted = format!("LOADER={host}");
    let is_it = |pid: u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    bench.processes().into_iter().map(|(pid, _)| pid).find(|pid| is_it(*pid))
}

/// Strikes agent b with a signal in the window; the point is void, the others end, `resume` does it again.
fn check_lost(name: &str, signal: &str, reason: &str) {
    let bench = Bench::new(name);
    bench.study(&study(KEY_VALUE, "null", "[\"a\", \"b\", \"c\"]", &told_apart(), "12s"));
    let run = bench.spawn(&["run", "study.toml"]);
    // The warm-up lasts a second.
    wait_until("the load begins", || {
        proofload_record::read(&bench.path("small.proof"))
            .is_ok_and(|record| record.attempts.first().is_some_and(|attempt| attempt.intervals.len() > 2))
    });
    let struck = agent_of(&bench, "b").expect("agent b runs");
    let _status = Command::new("kill").args([signal, &struck.to_string()]).status();
    let output = run.wait_with_output().expect("it ends");
    kill(struck);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let told = text(&output.stderr);
    assert!(told.contains("the b agent was lost") && told.contains(reason), "{told}");
    bench.expect_no_process();
    let first = record(&bench).attempts[0].clone();
    assert!(
        matches!(&first.state, State::Failed { reason: why } if why.contains("the b agent was lost")),
        "{:?}",
        first.state
    );
    let lost = json_of(&first, "agent_lost");
    assert!(lost["agent"] == "b" && lost["reason"].as_str().is_some_and(|why| why.contains(reason)), "{lost}");
    assert!(first.intervals.len() < 12, "the others were stopped");

    let again = bench.run(&["resume", "small.proof"]);
    assert!(matches!(again.status.code(), Some(0 | 5 | 6)), "{}", text(&again.stderr));
    let record = record(&bench);
    expect_good_checks(record.finished(0).expect("it went through the second time"));
    assert_eq!(record.attempts.len(), 2);
    bench.expect_no_process();
}

#[test]
fn an_agent_that_is_killed_voids_the_point_and_stops_the_others() {
    check_lost("killed", "-KILL", "its output ended");
}

#[test]
fn an_agent_that_falls_silent_is_lost() {
    check_lost("silent", "-STOP", "it has not answered for 15 s");
}

/// Bytes of all files below a folder.
fn bytes_below(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => bytes_below(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// One that is alone is frozen within a request that nobody bounds: the build, of which this is a small part.
#[test]
fn the_only_load_agent_is_lost_when_it_falls_silent() {
    let bench = Bench::new("silent-alone");
    let command = format!("[\"env\", \"LOADER=alone\", \"{}\", \"agent\"]", env!("CARGO_BIN_EXE_proofload"));
    let study = small_study("sqlite", &format!("[agents]\nload = {command}\n"), 1);
    bench.study(&study.replace("scale = \"toy\"\n", "").replace("warehouses = 1", "warehouses = 2"));
    let run = bench.spawn(&["run", "study.toml", "--no-report"]);
    wait_until("the build is under way", || bytes_below(&bench.path("data")) > 4 << 20);
    let struck = agent_of(&bench, "alone").expect("it builds");
    let _status = Command::new("kill").args(["-STOP", &struck.to_string()]).status();
    let output = run.wait_with_output().expect("it ends");
    kill(struck);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the load agent was lost: it has not answered for 60 s"), "{told}");
    bench.expect_no_process();
}

/// What is refused before any load, and why.
#[test]
fn ways_too_long_and_other_versions_are_refused() {
    let refused = |hosts: &str, engine: &str, command: &str, (code, expected): (i32, &str)| {
        let bench = Bench::new("refused");
        bench.study(&study(KEY_VALUE, engine, hosts, command, "2s"));
        let output = bench.run(&["run", "study.toml"]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
        bench.expect_no_process();
    };
    let slow = shell(&format!("case {{host}} in b) {PIPE}=12 exec $WAY;; *) exec $AGENT;; esac"));
    refused("[\"a\", \"b\"]", "null", &slow, (1, "the clock of the b agent can only be aligned to within"));
    let old = shell("case {host} in b) echo PROOFLOAD-AGENT 6 0.0.9;; *) exec $AGENT;; esac");
    refused("[\"a\", \"b\"]", "null", &old, (1, "the agent has a different version: \"PROOFLOAD-AGENT 6 0.0.9\""));
    refused("[\"a\", \"b\"]", "sqlite", &told_apart(), (3, "sqlite runs inside one load agent"));
    refused("[\"b\", \"a:1000\"]", "null", &told_apart(), (3, "b would get none of the 8 virtual users"));
}

/// Every agent is looked at; one that cannot take part is named, with its reason, and leaves nothing behind.
#[test]
fn agents_are_checked_before_a_run() {
    let bench = Bench::new("checked");
    bench.study(&study(KEY_VALUE, "null", "[\"a\", \"b\"]", &told_apart(), "2s"));
    let check = ["agents", "--check", "study.toml", "--json"];
    let output = bench.run(&[&check[..], &["--set", "limits.cores=1"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let agents = found["agents"].as_array().expect("agents");
    let names: Vec<&str> = agents.iter().map(|agent| agent["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["host", "a", "b"], "{found:#}");
    for agent in agents {
        // On this machine: a host that pauses makes it longer, but by less than a second.
        let known = |name: &str| agent[name].as_u64().is_some_and(|time| time < 1_000_000_000);
        assert!(known("round_trip_ns") && known("clock_within_ns") && agent["cores"].is_u64(), "{agent:#}");
        assert!(agent["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{agent:#}");
    }
    assert_eq!(agents[0]["limits"][0]["setting"], "limits.cores", "{found:#}");
    bench.expect_no_process();

    let old = shell("case {host} in b) echo PROOFLOAD-AGENT 6 0.0.9;; *) exec $AGENT;; esac");
    bench.study(&study(KEY_VALUE, "null", "[\"a\", \"b\"]", &old, "2s"));
    let output = bench.run(&check[..3]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.starts_with("1 of 3 agents is not ready\n") && told.contains("different version"), "{told}");
    bench.expect_no_process();
    assert!(!bench.path("data").exists(), "nothing was made");
}
