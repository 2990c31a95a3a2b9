//! A drill under a failover manager by the program itself: nothing is lost under a mode that promises it, the record says who detected, and holds no
//! password. Run where the programs are found.

mod support;

use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::manager::ManagerKind;
use std::path::Path;
use support::{Bench, expect_a_verdict, paced_study, postgresql_here, text};

const MANAGED: &str = r#"
[replication]
mode = "remote_flush"
manager = "patroni"
[replication.manager_settings]
ttl = 20
loop_wait = 2
retry_timeout = 3
[drill]
fault = "switchover"
within = "120s"
[prober]
rate = "50/s"
"#;

/// Whether Patroni and etcd are installed here; says so where not.
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn patroni_here() -> bool {
    let found = ["patroni", "patronictl", "etcd"].iter().all(|program| Path::new("/usr/bin").join(program).exists());
    if !found {
        println!("SKIPPED: Patroni or etcd is not installed: apt-get install patroni etcd-server");
    }
    found
}

#[test]
fn a_pair_under_patroni_is_switched_over_and_loses_nothing() {
    if !postgresql_here("managers") || !patroni_here() {
        return;
    }
    let bench = Bench::new("managers");
    bench.study(&paced_study(100, MANAGED));
    let done = bench.run(&["run", "study.toml", "-o", "x.proof"]);
    expect_a_verdict(&done);
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let attempt = record.attempts.last().expect("one attempt");
    let report = attempt.last_event(|event| match event {
        RunEvent::Drilled(report) => Some(report.as_ref()),
        _ => None,
    });
    let report = report.unwrap_or_else(|| panic!("no drill: {:?}", attempt.events));
    assert_eq!(
        (report.manager, report.promoted.as_ref()),
        (Some(ManagerKind::Patroni), Some(&InstanceName::standby(1)))
    );
    assert!(report.promoted_at >= report.detected_at && report.detected_at.is_some(), "{report:?}");
    let ledger = &report.prober.ledger;
    assert!(ledger.kept > 20, "{ledger:?}");
    assert_eq!((ledger.lost, ledger.lost_as_warned, ledger.phantoms, ledger.holes), (0, 0, 0, 0), "{ledger:?}");
    let ttl = attempt.facts.iter().find(|fact| fact.name == "manager.ttl").expect("settings are facts");
    assert_eq!((ttl.effective.as_deref(), ttl.holds), (Some("20"), Some(true)));
    let held = std::fs::read(bench.path("x.proof")).expect("the record");
    assert!(!held.windows(b"password: ".len()).any(|bytes| bytes == b"password: "), "the record names a password");
}

#[test]
fn what_a_manager_does_not_do_is_refused_before_anything_runs() {
    let bench = Bench::new("managers-refused");
    let refused = |managed: &str, expected: &str| {
        bench.study(&paced_study(100, managed));
        let done = bench.run(&["plan", "study.toml"]);
        let said = format!("{}{}", text(&done.stdout), text(&done.stderr));
        assert!(!done.status.success() && said.contains(expected), "{expected}: {said}");
    };
    refused(&MANAGED.replace("manager = \"patroni\"", ""), "switchover\" needs a failover manager");
    refused(&MANAGED.replace("[replication]", "[replication]\nrtt = \"1ms\""), "remove replication.rtt");
    refused(&MANAGED.replace("[replication]", "[replication]\nstandbys = 2"), "must be 1 with a failover manager");
    refused(&MANAGED.replace("within =", "promote_after = \"1s\"\nwithin ="), "detects failures itself");
    refused(&MANAGED.replace("remote_flush", "none"), "needs a standby");
}

#[test]
fn studies_of_managers_draw_when_a_node_fails_and_one_that_does_not_is_remarked() {
    let bench = Bench::new("managers-phase");
    let told = |study: &str, set: &[&str]| {
        let path = format!("{}/../../studies/quick/{study}.toml", env!("CARGO_MANIFEST_DIR"));
        let done = bench.run(&[&["validate", path.as_str()][..], set].concat());
        let told = text(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{told}");
        told
    };
    for (study, period) in
        [("availability-patroni", "loop_wait"), ("availability-pg-auto-failover", "health_check_period")]
    {
        assert_eq!(told(study, &[]), "");
        let remarked = told(study, &["--set", "drill.phase=0s"]);
        assert!(remarked.contains("drill.fault = \"crash primary\"") && remarked.contains(period), "{remarked}");
        assert!(!remarked.contains("switchover"), "{remarked}");
    }
}
