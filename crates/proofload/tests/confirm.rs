//! Experiments with points as a user meets them: a limit that binds is found on a real database, a kill in the middle leaves nothing lowered,
//! the results of the record stay, and what cannot be tested is refused.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use proofload_analysis::latency::Sparse;
use proofload_model::events::RunEvent;
use proofload_model::intervention::{Change, InterventionVisit};
use proofload_model::samples::LatencyClock;
use proofload_record::{Record, State};
use std::process::Output;
use std::time::Duration;
use support::waiting::wait_until;
use support::{Bench, groups_of, kill, text};

/// A study of a few seconds on an embedded database.
fn study(limits: &str, users: u32, more: &str) -> String {
    format!(
        r#"
[study]
name = "small"
title = "Reads of a few seconds"
[workload]
kind = "ycsb"
mix = "c"
records = 2000
virtual_users = {users}
{more}
[engine]
kind = "sqlite"
[limits]
{limits}
[storage]
path = "data"
[procedure]
restore = "never"
warm_up = {{ at_least = "1s", at_most = "12s", round = "1s", tolerance = 0.5 }}
measure = "3s"
drift_tolerance = 1.0
steal_tolerance = 1.0
[confirm]
visit = "1s"
"#
    )
}

fn record(bench: &Bench) -> Record {
    proofload_record::read(&bench.path("small.proof")).expect("the record is readable")
}

/// Runs a study; false, with a message, where this machine does not allow its limits.
fn ran(bench: &Bench) -> bool {
    let output = bench.run(&["run", "study.toml", "--void", "ok", "--no-report"]);
    let said = text(&output.stderr);
    if output.status.code() == Some(3) || said.contains("does not allow") {
        println!("SKIPPED: {said}");
        return false;
    }
    assert!(matches!(output.status.code(), Some(0 | 5 | 6)), "{said}");
    true
}

fn visits(record: &Record) -> Vec<Change> {
    let events = record.experiments.iter().flat_map(|attempt| &attempt.events);
    let visited = events.filter_map(|event| match &event.event {
        RunEvent::Visited(visit) => Some(visit.change.clone()),
        _ => None,
    });
    visited.collect()
}

/// Processes of this test that may own control groups. Those of tests beside it may be without an owner for a moment.
fn owners(bench: &Bench) -> Vec<u32> {
    bench.processes().into_iter().map(|(process, _)| process).collect()
}

/// Finds that processes which were killed, and those that ended with them, have left neither a process nor a control group.
#[track_caller]
fn expect_nothing_of(bench: &Bench, ours: &[u32]) {
    bench.expect_no_process();
    let left = groups_of(&|owner| ours.contains(&owner));
    assert_eq!(left, Vec::<std::path::PathBuf>::new(), "a lowered limit was left behind");
}

#[track_caller]
fn refused(output: &Output, part: &str) {
    let said = text(&output.stderr);
    assert!(output.status.code() != Some(0) && said.contains(part), "{said}");
}

#[test]
fn a_killed_experiment_is_carried_on_and_the_limit_that_binds_is_found() {
    let bench = Bench::new("confirm");
    bench.study(&study("cpu = 0.3", 1, ""));
    if !ran(&bench) {
        return;
    }
    let before = record(&bench);
    let result = |record: &Record| record.finished(0).map(|attempt| (attempt.id, attempt.intervals.len()));
    let mut child = bench.spawn(&["confirm", "small.proof", "--blocks", "2", "--progress", "none", "--no-report"]);
    wait_until("a visit changes something", || visits(&record(&bench)).iter().any(|change| *change != Change::Nothing));
    let ours = owners(&bench);
    kill(child.id());
    child.wait().expect("it was killed");
    expect_nothing_of(&bench, &ours);
    let killed = record(&bench);
    assert_eq!((killed.experiments.len(), result(&killed)), (1, result(&before)));
    assert!(killed.faults.is_empty(), "{:?}", killed.faults);

    let output = bench.run(&["confirm", "small.proof", "--blocks", "2", "--progress", "plain"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let after = record(&bench);
    assert_eq!((after.experiments.len(), result(&after)), (2, result(&before)), "the result stays");
    assert!(after.faults.is_empty() && after.attempts.iter().all(|attempt| attempt.state == State::Finished));
    let facts = &after.experiments[1].facts;
    assert!(facts.iter().all(|fact| fact.holds != Some(false)), "limits are as before afterwards");
    let verified = bench.run(&["verify", "small.proof"]);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified.stderr));
    // A block in which this process was not let run does not count, and what others took of the host is noise: blocks are added until the
    // interval says as much as is asked below.
    let mut blocks = 2;
    let point = loop {
        let point = attribution(&bench);
        if half_width(&point["resources"][0]).is_some_and(|width| width < 0.7) || blocks == 16 {
            break point;
        }
        blocks += 2;
        let output = bench.run(&["confirm", "small.proof", "--blocks", &blocks.to_string(), "--progress", "plain"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    let cpu = &point["resources"][0];
    assert_eq!(cpu["name"].as_str(), Some("limits.cpu"), "{point}");
    // The host may take so much in these minutes that the untouched point itself moves: then nothing may be said, and nothing is.
    if cpu["why"].as_str().is_some_and(|why| why.starts_with("the untouched point moved")) {
        assert_eq!((cpu["verdict"].as_str(), cpu["E"]["x"].is_null()), (Some("not tested"), true), "{point}");
        return println!("SKIPPED: what is found of limits.cpu: {}", cpu["why"]);
    }
    // From the sixth block on, an experiment ends by itself once the limit is sure to bind.
    let made = point["blocks_made"].as_u64().expect("a number of blocks");
    let is_sure = made >= 6 && cpu["E"]["x"][1].as_f64() > Some(0.5);
    assert!(made == blocks || made < blocks && is_sure, "{made} of {blocks} blocks: {point}");
    assert!(
        cpu["visits"].as_u64() == Some(made) && cpu["n"].as_u64().is_some_and(|n| (2..=made).contains(&n)),
        "{point}"
    );
    // Short blocks on a shared host: that it follows is shown, how closely is not.
    let elasticity = cpu["E"]["x"][0].as_f64().unwrap_or_else(|| panic!("no estimate: {cpu}"));
    assert!((0.3..1.7).contains(&elasticity), "{cpu}");
    assert!((cpu["true"].as_f64().expect("a step") + 0.2).abs() < 0.01 && cpu["reached"].as_f64() > Some(0.8), "{cpu}");
}

/// Half the width of the interval of a resource's elasticity.
fn half_width(resource: &serde_json::Value) -> Option<f64> {
    let [low, high] = [1, 2].map(|place| resource["E"]["x"][place].as_f64());
    Some((high? - low?) / 2.0)
}

/// What the experiment says of the only point, as the report's JSON has it.
fn attribution(bench: &Bench) -> serde_json::Value {
    let told = bench.run(&["report", "small.proof", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&text(&told.stdout)).expect("JSON is JSON");
    json["attribution"][0].clone()
}

/// Tenth percentile of the response times of visits, ms.
fn quick_ms<'v>(record: &Record, visits: impl Iterator<Item = &'v InterventionVisit>) -> f64 {
    let spans: Vec<_> = visits.map(|visit| visit.from..visit.to).collect();
    let seconds = record.experiments.iter().flat_map(|attempt| &attempt.intervals);
    let inside = seconds.filter(|second| spans.iter().any(|span| span.contains(&second.index)));
    let parts = inside.flat_map(|second| &second.histograms).filter(|part| part.clock == LatencyClock::Response);
    let parts: Vec<Sparse> = parts.map(|part| Sparse::from_v2_deflate(&part.payload).expect("it is whole")).collect();
    // The fewest: on a busy machine most of those that end on time are woken late.
    Sparse::merged(&parts).percentile(0.02).expect("there are some") as f64 * 1e-6
}

#[test]
fn the_load_generator_and_its_network_are_lowered_at_a_server() {
    let bench = Bench::new("clients");
    let table = "[clients]\nrtt = \"20ms\"\n[limits]";
    let study = study("", 1, "").replace("kind = \"sqlite\"", "kind = \"postgresql\"").replace("[limits]", table);
    // Each record is read by the checks, a round trip each.
    let study = study.replace("records = 2000", "records = 100");
    bench.study(&study);
    if !ran(&bench) {
        return;
    }
    let measured = record(&bench);
    let link = measured.attempts[0].facts.iter().find(|fact| fact.name == "link.rtt").expect("it was measured");
    assert_eq!((link.requested.as_deref(), link.holds), (Some("20"), Some(true)), "{link:?}");
    // One block says it: the rest is left to the experiment that is killed above.
    let mut child = bench.spawn(&["confirm", "small.proof", "--progress", "none", "--no-report"]);
    wait_until("a block has its four visits", || visits(&record(&bench)).len() >= 4);
    std::thread::sleep(Duration::from_secs(1));
    let ours = owners(&bench);
    kill(child.id());
    child.wait().expect("it was killed");
    let record = record(&bench);
    let events = record.experiments.iter().flat_map(|attempt| &attempt.events);
    let visits: Vec<&InterventionVisit> = events
        .filter_map(|event| match &event.event {
            RunEvent::Visited(visit) if visit.block == 0 => Some(visit),
            _ => None,
        })
        .collect();
    assert_eq!(visits.len(), 4, "two of the untouched point, one of each resource");
    let of = |change: &Change| visits.iter().find(|visit| visit.change == *change).expect("it was made");
    let in_force = |change: &Change, name: &str| of(change).reading(name).and_then(|reading| reading.in_force);
    let (rtt, cpu) = (Change::One("clients.rtt".to_owned()), Change::One("clients.cpu".to_owned()));
    // Round trips per second: one of 20 ms, and of 25 ms.
    let close = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-6);
    assert!(close(in_force(&Change::Nothing, "clients.rtt"), 50.0) && close(in_force(&rtt, "clients.rtt"), 40.0));
    // How many are done says less on a busy machine than what the quick ones took.
    let quick = |change: &Change| quick_ms(&record, visits.iter().filter(|visit| visit.change == *change).copied());
    let (untouched, lowered) = (quick(&Change::Nothing), quick(&rtt));
    assert!((19.9..25.0).contains(&untouched), "a round trip takes 20 ms: {untouched}");
    assert!((24.9..40.0).contains(&lowered), "and a quarter more when it is lowered: {lowered}");
    // Where this machine lets control groups be made, as it did for the limits of the run.
    match in_force(&Change::Nothing, "clients.cpu") {
        None => println!("SKIPPED: no control group for the load generator"),
        Some(whole) => assert!(close(in_force(&cpu, "clients.cpu"), 0.8 * whole), "{whole}"),
    }
    expect_nothing_of(&bench, &ours);
}

#[test]
fn what_cannot_be_tested_is_refused_with_the_reason() {
    let bench = Bench::new("refused");
    bench.study(&study("", 1, ""));
    assert!(ran(&bench));
    refused(&bench.run(&["confirm", "small.proof"]), "point 1: it has nothing that can be lowered");
    refused(
        &bench.run(&["confirm", "small.proof", "--points", "limits.cpu=1"]),
        "no point has limits.cpu=1; nothing varies",
    );
    refused(&bench.run(&["confirm", "small.proof", "--points", "7"]), "no point \"7\" with a finished run");
    refused(&bench.run(&["confirm", "small.proof", "--step", "0.9"]), "is not between 0.05 and 0.5");
    refused(&bench.run(&["confirm", "none.proof"]), "no such record");
    let bench = Bench::new("plan");
    bench.study(&study("", 4, ""));
    assert!(ran(&bench));
    let plan = bench.run(&["confirm", "small.proof", "--plan"]);
    assert!(text(&plan.stdout).contains("point 1: lowers users by 20 % in up to 12 blocks"), "{}", text(&plan.stdout));
    assert!(record(&bench).experiments.is_empty());
    let bench = Bench::new("count");
    bench.study(&study("", 4, "operations = 2000"));
    assert!(ran(&bench));
    refused(&bench.run(&["confirm", "small.proof"]), "its load ends by itself");
}

#[test]
fn a_study_that_asks_for_experiments_is_refused_for_the_same_reasons() {
    let asks = |name: &str, users: u32, more: &str| {
        let bench = Bench::new(name);
        let wish = "[confirm]\npoints = \"largest\"\nblocks = 1\n";
        // Longer than a moment in which a busy machine lets nothing run.
        let study = study("", users, more).replace("measure = \"3s\"", "measure = \"10s\"");
        bench.study(&study.replace("[confirm]\n", wish));
        bench
    };
    let counted = asks("counted", 4, "operations = 2000");
    for command in ["validate", "plan", "run"] {
        refused(&counted.run(&[command, "study.toml"]), "its load ends by itself");
    }
    refused(&asks("alone", 1, "").run(&["validate", "study.toml"]), "has nothing that can be lowered");
    let rated = asks("rated", 4, "rate = 20");
    // Whether a rate is kept up with shows once it is measured.
    assert!(ran(&rated));
    let told = text(&rated.run(&["report", "small.proof", "--format", "text"]).stdout);
    if told.contains("offered load exceeds capacity") {
        println!("SKIPPED: this machine did not keep up with 20 operations per second");
        return;
    }
    assert!(record(&rated).experiments.is_empty(), "the load decides throughput itself");
    let part = "its load comes at 20 operations per second, which it keeps up with";
    let told = text(&rated.run(&["resume", "small.proof", "--no-report"]).stderr);
    assert!(told.contains("nothing is missing") && told.contains("\nrefused  no experiment (confirm.points"), "{told}");
    assert!(told.contains(part), "{told}");
    refused(&rated.run(&["confirm", "small.proof", "--plan"]), part);
}
