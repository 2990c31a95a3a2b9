//! Runs of streams through the load role, as an agent goes it: to their end by count, every answer validated.

use super::case::Case;
use crate::real_clock::RealClock;
use crate::{LoadRole, WorkloadRun as _};
use proofload_model::samples::{Check, CheckOutcome, ErrorCount, Fact, OperationCounts};
use proofload_model::time::Clock;
use proofload_model::wire::Event;
use proofload_model::wire::load::{Connect, LoadService as _, Open, Start, Stop, Verify};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a run left.
pub(super) struct Ran {
    facts: Vec<Fact>,
    pub(super) totals: Vec<OperationCounts>,
    pub(super) errors: Vec<ErrorCount>,
    checks: Vec<Check>,
}

impl Ran {
    pub(super) fn count(&self, of: impl Fn(&OperationCounts) -> u64) -> u64 {
        self.totals.iter().map(of).sum()
    }

    fn fact(&self, name: &str) -> &str {
        let found = self.facts.iter().find(|fact| fact.name == name).and_then(|fact| fact.effective.as_deref());
        found.unwrap_or_else(|| panic!("no fact {name}"))
    }

    pub(super) fn check(&self, name: &str) -> &Check {
        self.checks.iter().find(|check| check.name == name).unwrap()
    }
}

/// Runs until all streams are through.
pub(super) fn run(case: &Case, changes: &[(&str, &str)]) -> Ran {
    run_with(case, &[], changes)
}

/// The same, with settings of the engine that hold during the run only.
pub(super) fn run_with(case: &Case, engine_settings: &[(&str, &str)], changes: &[(&str, &str)]) -> Ran {
    let (sender, events) = channel();
    let sender = Mutex::new(sender);
    let hear = move |event: Event| {
        let _nobody_listens = sender.lock().unwrap().send(event);
    };
    let clock = Arc::new(RealClock(Instant::now()));
    let mut role = LoadRole::new(clock.clone(), Arc::new(hear));
    let mut spec = case.request.spec.clone();
    spec.settings = case.settings_with(changes);
    let more = engine_settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    spec.place.settings.extend(more);
    role.open(Open { spec: Box::new(spec) }).unwrap();
    let facts = role.connect(Connect {}).unwrap();
    role.start(Start { at: clock.now() + Duration::from_millis(100) }).unwrap();
    let mut errors = Vec::new();
    loop {
        match events.recv_timeout(Duration::from_secs(120)).expect("the load ends") {
            Event::Interval(sample) => errors.extend(sample.errors),
            Event::LoadEnded { .. } => break,
            Event::LoadFailed { error } => panic!("{error}"),
            _ => {}
        }
    }
    let totals = role.stop(Stop {}).unwrap().totals;
    let checks = role.verify(Verify { totals: totals.clone() }).unwrap();
    Ran { facts, totals, errors, checks }
}

#[test]
fn streams_end_by_count_and_every_answer_is_validated() {
    let Some(case) = Case::built("sqlite", &[]) else { return };
    let ran = run(&case, &[("streams", "2"), ("rounds", "2")]);
    assert_eq!((ran.count(|of| of.done), ran.count(|of| of.failed)), (88, 0), "{:?}", ran.errors);
    assert!(ran.totals.iter().all(|of| of.done == 4 || of.kind.starts_with("probe_")), "{:?}", ran.totals);
    assert_eq!(ran.check("golden answers").found, "88 right, 0 wrong, 0 not validated");
    assert_eq!(ran.check("agreement of streams").outcome, CheckOutcome::Met);
    assert_eq!(ran.fact("class_share.simple"), "2 of 22");
    assert_eq!(ran.fact("scale_factor"), "0.01");
    let compression: f64 = ran.fact("compression").parse().unwrap();
    let with_indexes: f64 = ran.fact("compression_with_indexes").parse().unwrap();
    assert!(0.5 < with_indexes && with_indexes < compression && compression < 1.5, "{compression} {with_indexes}");
    let bytes: f64 = ran.fact("raw_bytes").parse().unwrap();
    let expected = case.settings.expected_bytes().0 as f64;
    assert!((bytes / expected - 1.0).abs() < 0.06, "{bytes} bytes where {expected} were expected");

    let ran = run(&case, &[("streams", "2"), ("rounds", "1"), ("parameters", "seeded"), ("queries", "q01,probe_scan")]);
    assert_eq!(ran.count(|of| of.done), 4, "{:?}", ran.errors);
    assert_eq!(ran.check("golden answers").found, "0 right, 0 wrong, 4 not validated");
    assert_eq!(ran.check("golden answers").outcome, CheckOutcome::NotApplicable);
    assert_eq!(ran.fact("answers"), "0 of 2 queries validated");

    check_mix(&case);
}

/// Rounds by weights have so many queries of each class, the scan among the simple ones, and a run is so many of them.
fn check_mix(case: &Case) {
    let ran = run(case, &[("streams", "2"), ("rounds", "3"), ("mix", "70/20/10")]);
    assert_eq!((ran.count(|of| of.done), ran.count(|of| of.failed)), (120, 0), "{:?}", ran.errors);
    let done = |name: &str| ran.totals.iter().find(|of| of.kind == name).unwrap().done;
    assert_eq!([done("q01"), done("q06"), done("probe_scan")], [28; 3]);
    let average: u64 = ["q03", "q04", "q05", "q10", "q12", "q14", "q19"].into_iter().map(done).sum();
    assert_eq!(average, 24, "{:?}", ran.totals);
    let facts =
        ["mix", "queries", "queries_per_round", "class_share.simple", "class_share.average", "class_share.complex"];
    assert_eq!(facts.map(|name| ran.fact(name)), ["70/20/10", "23", "20", "14 of 20", "4 of 20", "2 of 20"]);
}

/// A power run under a cap that nothing meets: one stream, every query once.
pub(super) fn check_power_run(case: &Case) {
    let ran = run(case, &[("rounds", "1"), ("query_cap", "60s")]);
    assert_eq!((ran.count(|of| of.done), ran.count(|of| of.failed)), (22, 0), "{:?}", ran.errors);
}

/// Probe queries: the scan over and over in one session, the pages that it asked for, a cap, a query that is not there.
pub(super) fn check_probes(case: &Case) {
    let clock: Arc<dyn Clock> = Arc::new(RealClock(Instant::now()));
    let workload_run = case.workload_run();
    let error = workload_run.probe("probe_scan").unwrap_err().to_string();
    assert_eq!(error, "no session for probe queries is open");
    workload_run.open_probe(&clock).unwrap();
    for _ in 0..3 {
        let probed = workload_run.probe("probe_scan").unwrap();
        assert!(probed.failed.is_none() && probed.took > Duration::ZERO, "{probed:?}");
        // The table of lines at this scale factor: 60,175 rows of some 120 bytes.
        let counts = case.dialect.suite.find("logical_bytes").is_some();
        assert_eq!(
            probed.logical.map(|bytes| (7_000_000..12_000_000).contains(&bytes.0)),
            counts.then_some(true),
            "{probed:?}"
        );
    }
    assert!(workload_run.probe("q99").unwrap_err().to_string().contains("q99"));
    let capped = case.opened_with(&[("query_cap", "1ms")]);
    capped.open_probe(&clock).unwrap();
    let failed = capped.probe("q09").unwrap().failed.expect("it meets its cap");
    assert!(failed.starts_with("query_cap: "), "{failed}");
}

#[test]
fn a_query_that_is_not_there_is_named() {
    let case = Case::new("sqlite", &[]).unwrap();
    let mut request = case.request.clone();
    request.spec.settings = case.settings_with(&[("queries", "q01,q99")]);
    let error = crate::workload("warehouse").unwrap().open(request).err().unwrap().to_string();
    assert!(error.starts_with("workload.queries: unknown query \"q99\"; known: q01, "), "{error}");
    assert!(case.workload_run().counters().unwrap().is_empty());
}
