//! Studies with standbys by the program itself, with real PostgreSQL servers.

mod support;

use proofload_model::commit_levels::CommitLevel;
use proofload_model::deployment::InstanceName;
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::replication::ReplicationMode;
use proofload_model::series::{relay, replication, sessions, threads};
use proofload_record::Attempt;
use proofload_report::findings::{Void, VoidClass, evaluate};
use support::{Bench, postgresql_here, small_study, text};

const MODES: &str = r#"
[replication]
rtt = "3ms"
[[factor]]
setting = "replication.mode"
levels = ["async", "remote_apply"]
"#;

fn proof(attempt: &Attempt) -> ReplicationProof {
    let found = attempt.last_event(|event| match event {
        RunEvent::ReplicationProved(proof) => Some(*proof),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("attempt {} was not proved: {:?}", attempt.id, attempt.events))
}

#[test]
fn modes_are_proved_watched_measured_and_told_and_nothing_is_left() {
    if !postgresql_here("replication-modes") {
        return;
    }
    let bench = Bench::new("replication-modes");
    bench.study(&small_study("postgresql", MODES, 1));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    // A window of two seconds may be too short to say anything, and a busy host makes a relay late, in the median of its round trips too;
    // everything else must hold.
    let told = text(&done.stderr);
    assert!(matches!(done.status.code(), Some(0 | 5 | 6)), "{}{told}", text(&done.stdout));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let is_of_host = |void: &Void| {
        ["the relay to standby-1 was late", "link.rtt.p50: "].iter().any(|words| void.text.contains(words))
    };
    let findings = evaluate(&record);
    let voids = findings.points.iter().flat_map(|point| &point.runs).flat_map(|run| &run.voids);
    let other: Vec<&Void> = voids.filter(|void| void.class == VoidClass::Verification && !is_of_host(void)).collect();
    assert!(other.is_empty(), "{other:?}{told}");
    assert_eq!(record.attempts.len(), 2);
    for attempt in &record.attempts {
        let proof = proof(attempt);
        let waits = proof.mode == ReplicationMode::RemoteApply;
        assert_eq!((proof.waited_for_link, proof.waited_for_apply), (waits, waits), "{proof:?}");
        assert_eq!((proof.seen_waiting, proof.count_proved), (waits.then_some(true), false), "{proof:?}");
        let has = |instance: &InstanceName, probe: &str, component: &str| {
            let of = |series: &&proofload_record::SeriesPoint| series.probe == probe && series.component == component;
            attempt.series.iter().filter(of).any(|series| series.instance == *instance)
        };
        let standby = InstanceName::standby(1);
        assert!(has(&InstanceName::primary(), threads::PROBE, "walsender"));
        assert!(has(&standby, threads::PROBE, "startup") && has(&standby, threads::PROBE, "walreceiver"));
        assert!(has(&InstanceName::primary(), replication::PROBE, "standby-1"));
        assert!(["to_primary", "to_standby"].iter().all(|direction| has(&standby, relay::PROBE, direction)));
        assert!(has(&InstanceName::primary(), sessions::PROBE, "client") && !has(&standby, sessions::PROBE, "client"));
        let trip = attempt.facts.iter().find(|fact| fact.name == "link.rtt").expect("the link was measured");
        assert_eq!(trip.instance, standby);
        assert!(trip.number.is_some_and(|milliseconds| (2.7..=3.3).contains(&milliseconds)), "{trip:?}");
    }
    let calibrated = record.events.iter().filter_map(|event| match &event.event {
        RunEvent::CommitsCalibrated(found) => Some(found),
        _ => None,
    });
    let [calibrated] = &calibrated.collect::<Vec<_>>()[..] else { panic!("{:?}", record.events) };
    // A busy host makes any commit longer and none shorter.
    let (flushed, off) = (calibrated.times(CommitLevel::RemoteFlush), calibrated.times(CommitLevel::Off));
    assert!(flushed.len() >= 3 && flushed.iter().all(|time| *time > 2.5e6), "3 ms of round trip: {flushed:?}");
    assert!(off.iter().any(|time| *time < 2.5e6), "those that do not wait have none: {off:?}");
    let page = bench.run(&["report", "x.proof", "--format", "markdown"]);
    let page = text(&page.stdout);
    assert!(page.contains("What protection costs") && page.contains("through Proofload's relay"), "{page}");
    bench.expect_no_process();
    let sockets = bench.path("data/small");
    let mut left = Vec::new();
    for study in std::fs::read_dir(&sockets).expect("the study's folder").flatten() {
        left.extend(std::fs::read_dir(study.path().join("link")).into_iter().flatten().flatten());
    }
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_study_with_standbys_that_cannot_be_is_refused_before_anything_is_built() {
    let bench = Bench::new("replication-refused");
    bench.study(&small_study("sqlite", "[replication]\nmode = \"remote_flush\"\nconfirm = \"any 2\"\n", 1));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{told}");
    for part in ["sqlite does not support standbys", "any 2 standbys cannot confirm when there are 1"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!bench.path("x.proof").exists() && !bench.path("data").exists());
}

#[test]
fn too_few_warehouses_for_a_study_of_modes_are_remarked_and_not_refused() {
    let bench = Bench::new("replication-advice");
    bench.study(&small_study("postgresql", "[replication]\nmode = \"remote_flush\"\n", 1));
    let told = |warehouses: &str, users: &str| {
        let set = [format!("workload.warehouses={warehouses}"), format!("workload.virtual_users={users}")];
        let done = bench.run(&["validate", "study.toml", "--set", &set[0], "--set", &set[1]]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        text(&done.stderr)
    };
    assert!(
        told("4", "2").contains("note: workload.warehouses = 4 with workload.virtual_users = 2"),
        "{}",
        told("4", "2")
    );
    assert_eq!(told("8", "2"), "");
}
