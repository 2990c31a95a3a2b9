//! Studies that search, as a user meets them: plan, run, kill, resume, status, exit code, and the same path however often it was killed.

mod support;

use proofload_model::events::RunEvent;
use proofload_record::{AttemptEvent, Record, State};
use proofload_report::findings::{SearchState, searches};
use std::collections::BTreeMap;
use std::time::Duration;
use support::{Bench, kill, small_study, text};

/// A search over the users of the null engine, a few seconds a point.
fn study(search: &str) -> String {
    small_study("null", &format!("[search]\nsetting = \"workload.virtual_users\"\n{search}\n"), 1)
        .replace("virtual_users = 2\n", "")
}

fn record(bench: &Bench) -> Record {
    proofload_record::read(&bench.path("x.proof")).expect("the record is readable")
}

/// What was chosen, in order: point and why.
fn steps(record: &Record) -> Vec<(u64, String)> {
    let step = |event: &AttemptEvent| match &event.event {
        RunEvent::SearchStep { point, why, .. } => Some((*point, why.clone())),
        _ => None,
    };
    record.events.iter().filter_map(step).collect()
}

/// The record as it was when so many steps had been taken and their runs were finished: one a step, or side by side two but for the first.
fn after(record: &Record, steps: usize) -> Record {
    let mut early = record.clone();
    let runs = if record.plan.has_blocks() { 2 * steps - 1 } else { steps };
    early.plan.runs.truncate(runs);
    let points = early.plan.runs.iter().map(|run| run.point as usize + 1).max().unwrap_or(0);
    early.plan.points.truncate(points);
    early.attempts.retain(|attempt| (attempt.run.index as usize) < runs);
    early
}

/// Every choice of the record is the one that its results lead to.
#[track_caller]
fn expect_choices_that_follow_from_results(record: &Record) {
    let chosen = steps(record);
    let runs = if record.plan.has_blocks() { 2 * chosen.len() - 1 } else { chosen.len() };
    assert_eq!(runs, record.plan.runs.len(), "{chosen:?}");
    for (taken, (point, why)) in chosen.iter().enumerate().skip(1) {
        let search = &searches(&after(record, taken))[0];
        let SearchState::Next(next) = &search.state else { panic!("step {taken} was taken after {:?}", search.state) };
        let level = &record.plan.points[*point as usize].levels["workload.virtual_users"];
        let beside = search.beside(next, &record.plan).map(|(load, _)| load);
        assert_eq!((level.to_string(), why), (next.load.to_string(), &search.why(next, beside)), "step {taken}");
    }
    let state = &searches(record)[0].state;
    assert!(matches!(state, SearchState::Ended(_)), "{state:?}");
    let ends = record.events.iter().filter(|event| matches!(event.event, RunEvent::SearchEnded { .. })).count();
    assert_eq!(ends, 1, "the end is told once");
}

/// Attempts of finished runs, checking that each run finished once.
fn finished(record: &Record) -> BTreeMap<u32, i64> {
    let mut runs = BTreeMap::new();
    for attempt in record.attempts.iter().filter(|attempt| attempt.state == State::Finished) {
        assert_eq!(runs.insert(attempt.run.index, attempt.id), None, "run {} was finished twice", attempt.run.index);
    }
    runs
}

#[test]
fn a_killed_search_goes_on_with_the_same_path() {
    let bench = Bench::new("search-kill");
    bench.study(&study("find = \"max\"\nfrom = 1\nto = 64\npoints = 5\nplateau = 0.2"));
    let (mut done, mut path, mut kills) = (BTreeMap::new(), Vec::new(), [1_500u64, 6_000, 3_300, 4_700].into_iter());
    for _ in 0..20 {
        let begun = bench.path("x.proof").exists();
        let arguments: &[&str] = if begun { &["resume", "x.proof"] } else { &["run", "study.toml", "-o", "x.proof"] };
        let child = bench.spawn(arguments);
        if let Some(after) = kills.next() {
            std::thread::sleep(Duration::from_millis(after));
            kill(child.id());
        }
        let ended = child.wait_with_output().expect("the conductor ends");
        if !bench.path("x.proof").exists() {
            continue;
        }
        let now = record(&bench);
        let (runs, steps) = (finished(&now), steps(&now));
        assert!(
            done.iter().all(|(run, attempt)| runs.get(run) == Some(attempt)),
            "a finished run was lost or replaced"
        );
        assert!(steps.starts_with(&path), "what was chosen stays chosen: {path:?}, {steps:?}");
        (done, path) = (runs, steps);
        if let Some(code) = ended.status.code() {
            assert!(matches!(code, 0 | 5 | 6), "{code}: {}", text(&ended.stderr));
            assert!(text(&ended.stderr).contains("search: "), "{}", text(&ended.stderr));
            break;
        }
    }
    let record = record(&bench);
    expect_choices_that_follow_from_results(&record);
    assert!(record.attempts.len() > finished(&record).len(), "a kill hit a run");
    bench.expect_no_process();
}

#[test]
fn a_search_without_an_answer_says_why_and_is_no_result() {
    let bench = Bench::new("search-nothing");
    bench.study(&study("find = { p50 = \"10s\" }\nfrom = 1\nto = 2"));
    let output = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let words = text(&output.stderr).replace("\n  ", " ");
    assert!(matches!(output.status.code(), Some(5 | 6)), "{words}");
    if words.contains("search: No answer: the limit") && output.status.code() == Some(6) {
        assert!(
            words.contains("search: No answer: the limit is still met at 2 virtual users, the largest load"),
            "{words}"
        );
        let status = text(&bench.run(&["status", "x.proof"]).stdout);
        assert!(status.contains("search: No answer") && !status.contains("proofload resume"), "{status}");
        let again = bench.run(&["resume", "x.proof"]);
        assert_eq!(again.status.code(), Some(6));
        assert!(text(&again.stderr).contains("search without an answer (1)"), "{}", text(&again.stderr));
        let accepted = bench.run(&["resume", "x.proof", "--void", "ok"]);
        assert_eq!(accepted.status.code(), Some(0), "{}", text(&accepted.stderr));
    }
    expect_choices_that_follow_from_results(&record(&bench));
}

#[test]
fn what_is_known_of_a_search_beforehand_is_planned() {
    let bench = Bench::new("search-plan");
    bench.study(&study("find = { p99 = \"5ms\" }\noperation = \"payment\"\nfrom = 1\nto = 100\npoints = 9"));
    let plan = text(&bench.run(&["plan", "study.toml"]).stdout);
    assert!(
        plan.contains(
            "a search over workload.virtual_users from 1 to 100: the largest with p99 of payment at most 5 ms"
        ),
        "{plan}"
    );
    assert!(plan.contains("at most 9 runs in total") && plan.contains("load: 3 s to 27 s"), "{plan}");
    let json: serde_json::Value =
        serde_json::from_slice(&bench.run(&["plan", "study.toml", "--json"]).stdout).expect("JSON");
    assert_eq!((&json["search"]["runs_at_most"], &json["load_s"]["at_most"]), (&9.into(), &27.0.into()));
    let valid = text(&bench.run(&["validate", "study.toml"]).stdout);
    assert!(valid.contains("valid, 1 point, and a search of at most 9 runs"), "{valid}");
    bench.study(&study("find = { p99 = \"5ms\" }\noperation = \"paiment\"\nfrom = 1\nto = 100"));
    let faults = bench.run(&["validate", "study.toml"]);
    let words = text(&faults.stderr);
    assert!(faults.status.code() == Some(3) && words.contains("known: new_order, payment"), "{words}");
}
