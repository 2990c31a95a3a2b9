//! Drills by the program itself, with real PostgreSQL servers: outages are told, losses are counted, promises are judged.

mod support;

use proofload_model::drill::{DrillReport, ProbeKind};
use proofload_model::events::RunEvent;
use proofload_record::{Attempt, Record};
use support::{Bench, postgresql_here, small_study, text};

/// Through a link of 512 KiB/s an asynchronous standby falls behind from the first second on.
const DRILLS: &str = r#"
[replication]
mode = "async"
bandwidth = "512KiB"
[drill]
within = "30s"
lasts = "2s"
[prober]
rate = "100/s"
[[factor]]
setting = "drill.fault"
levels = ["none", "crash primary", "partition link-1"]
"#;

fn report(attempt: &Attempt) -> &DrillReport {
    let found = attempt.last_event(|event| match event {
        RunEvent::Drilled(report) => Some(report.as_ref()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("attempt {} was no drill: {:?}", attempt.id, attempt.events))
}

fn level(record: &Record, attempt: &Attempt) -> String {
    record.plan.points[attempt.run.point as usize].levels["drill.fault"].to_string()
}

fn study(more: &str) -> String {
    let study = small_study("postgresql", more, 1);
    study.replacen("[workload]\n", "[workload]\ndeadline = \"1s\"\nreconnect_wait = \"50ms\"\n", 1)
}

#[test]
fn a_late_standby_loses_what_it_never_received_and_the_ledger_says_what() {
    if !postgresql_here("drills") {
        return;
    }
    let bench = Bench::new("drills");
    bench.study(&study(DRILLS));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    // A window of two seconds may be too short to say anything; everything else must hold.
    assert!(matches!(done.status.code(), Some(0 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    assert_eq!(record.attempts.len(), 3);
    for attempt in &record.attempts {
        let report = report(attempt);
        let ledger = &report.prober.ledger;
        let told = format!("{}: {report:?}", level(&record, attempt));
        assert!(ledger.kept > 100 && ledger.sent >= ledger.kept + ledger.lost, "{told}");
        assert_eq!((ledger.phantoms, ledger.holes, ledger.lost_as_warned), (0, 0, 0), "{told}");
        assert_eq!(report.prober.kinds.len(), 3, "{told}");
        let writes = report.prober.kinds.iter().find(|one| one.kind == ProbeKind::Write).expect("writes");
        let away = writes.outages.iter().any(|outage| outage.to.is_none_or(|to| to.as_seconds() > report.fault_after));
        match level(&record, attempt).as_str() {
            "crash primary" => {
                assert!(ledger.lost > 0 && ledger.lost_numbers.len() as u64 == ledger.lost.min(1000), "{told}");
                assert!(away && report.promoted_at.is_some_and(|at| at > report.fault_after), "{told}");
                assert!(ledger.oldest_lost.is_some_and(|at| at.as_seconds() < report.fault_at), "{told}");
            }
            "partition link-1" => assert!(ledger.lost == 0 && report.undone_at.is_some(), "{told}"),
            _ => assert_eq!(ledger.lost, 0, "{told}"),
        }
    }
    let page = bench.run(&["report", "x.proof", "--format", "markdown"]);
    let page = text(&page.stdout);
    assert!(page.contains("What protection buys") && page.contains("acknowledged writes were lost"), "{page}");
    bench.expect_no_process();
}

#[test]
fn a_drill_that_cannot_be_is_refused_before_anything_is_built() {
    let bench = Bench::new("drills-refused");
    let more = "[drill]\nfault = \"crash primary\"\n";
    bench.study(&small_study("postgresql", more, 1));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{told}");
    for part in ["a drill needs a standby", "workload.deadline"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!bench.path("x.proof").exists());
}
