//! Losses of drills: that one against a promise is told first though its drill is void, which losses break a promise, and what nobody looked at.

use crate::drills::{changed, drills, drills_in, lose_ten, read, seconds, voids};
use proofload_model::drill::StandbyReach;
use proofload_model::events::RunEvent;
use proofload_model::ledger::{LedgerRange, WriteClass};
use proofload_model::manager::ManagerKind;
use proofload_model::series;
use proofload_model::settings::Value;
use proofload_record::Record;
use proofload_report::findings::drills::drilled;
use proofload_report::findings::evaluate;
use proofload_report::{Format, render};

fn page(record: &Record) -> String {
    render(record, Format::Markdown).expect("it is rendered").replace('\n', " ")
}

#[track_caller]
fn check_told(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_broken_promise_is_told_first_though_its_drill_is_void() {
    let mut record = drills("remote_flush", &[0.5, 0.6, 0.7]);
    for event in &mut record.attempts[1].events {
        if let RunEvent::Drilled(report) = &mut event.event {
            lose_ten(report);
        }
    }
    let findings = evaluate(&record);
    let point = &drilled(&findings)[0];
    assert_eq!((point.drills.len(), point.void, point.ledgers.len()), (2, 1, 3));
    assert_eq!((point.lost(), point.losing(), point.lost_against_promise()), (10, 1, 10));
    let page = page(&record);
    check_told(&page, &["10 of 29,970 acknowledged writes were lost, 10 of them although the mode promises no loss"]);
    check_told(&page, &["| 1 of 3 |"]);
    assert!(!page.contains("one of 29,970 acknowledged writes"), "{page}");
}

#[test]
fn no_loss_has_its_bound_and_an_outage_by_hand_its_missing_detection() {
    let page = page(&drills("remote_flush", &[0.5, 0.6, 0.7]));
    check_told(
        &page,
        &["None of 29,970 acknowledged writes were lost (per drill at most 63.2 %).", " s without detection"],
    );
    check_told(
        &page,
        &["bound of losses is that of 3 drills", "(0 of 3 drills: at most 63.2 % of drills lose any, 95 % confidence)"],
    );
}

#[test]
fn a_loss_that_too_few_standbys_leave_open_breaks_no_promise() {
    let mut record = drills("remote_flush", &[0.5]);
    changed(&mut record, |report| {
        lose_ten(report);
        report.reach = Some(StandbyReach { reached: 2, of: 3, holds_all: false });
    });
    assert_eq!(voids(&record), Vec::<String>::new());
    let page = page(&record);
    check_told(&page, &["which its mode does not exclude where too few standbys answer", "does not exclude a loss"]);
    assert!(!page.contains("promises no loss"), "{page}");
}

#[test]
fn only_losses_that_count_are_named() {
    let mut record = drills("remote_flush", &[0.5]);
    changed(&mut record, |report| {
        let ledger = &mut report.prober.ledger;
        (ledger.lost, ledger.kept) = (20, ledger.kept - 20);
        ledger.lost_numbers = (100..110).chain(2_400..2_410).collect();
        let range = |first| LedgerRange { class: WriteClass::Lost, node: 0, first, took_us: vec![2000; 10] };
        ledger.ranges = vec![range(100), range(2_400)];
    });
    // The first ten were acknowledged around 0.5 s, in seconds in which commits did not wait.
    read(&mut record.attempts[0], series::replication::UNPROTECTED, "again", 1.2, 1.0);
    let found = voids(&record);
    assert!(found.len() == 1, "{found:?}");
    check_told(&found[0], &["10 of 10000 writes were acknowledged and lost; none may be lost: 2400, 2401"]);
}

#[test]
fn the_age_of_the_oldest_lost_write_is_in_the_table() {
    let mut record = drills("async", &[0.5, 0.6]);
    changed(&mut record, |report| {
        lose_ten(report);
        report.prober.ledger.oldest_lost = Some(seconds(report.fault_at - 0.25));
    });
    check_told(&page(&record), &["Oldest lost", "| 250 ms |"]);
}

#[test]
fn nobody_looks_at_the_protection_of_a_primary_that_was_left_alone() {
    let mut record = drills("remote_flush", &[0.5]);
    let is_asked = |record: &Record| {
        let findings = evaluate(record);
        let points = drilled(&findings);
        points[0].asks_for_protection(&points[0].drills[0])
    };
    assert!(is_asked(&record), "the other standby follows");
    changed(&mut record, |report| report.manager = Some(ManagerKind::Patroni));
    assert!(!is_asked(&record), "a drill starts nothing again that crashed");
    changed(&mut record, |report| {
        (report.manager, report.protected_again_at) = (None, None);
        report.reach = Some(StandbyReach { reached: 1, of: 1, holds_all: true });
    });
    assert!(!is_asked(&record), "there is no other standby");
    let told = page(&record);
    check_told(&told, &["so whether it was protected again was not asked", "| not asked |"]);
    assert!(!told.contains("never in"), "{told}");
    changed(&mut record, |report| report.rejoin_asked_at = Some(report.fault_at + 1.0));
    assert!(is_asked(&record), "the old primary was told to follow");
    assert!(page(&record).contains("never in 1"));
    check_told(&page(&record), &["the failed primary was rewound and followed the new one"]);
    changed(&mut record, |report| report.manager = Some(ManagerKind::Patroni));
    assert!(is_asked(&record), "its program was started again");
    check_told(&page(&record), &["the program of the failover manager was started again on the failed node"]);
}

#[test]
fn a_load_at_a_rate_shows_no_cost_of_a_mode() {
    let mut record = drills_in(&["async", "remote_flush"], &[0.5, 0.6]);
    let drawn = page(&record);
    check_told(&drawn, &["Throughput before the fault, relative to that of async"]);
    // Less than the users did, so that they kept up.
    record.study.settings.0.insert("workload.rate".to_owned(), Value::Number(1.0));
    let told = page(&record);
    check_told(&told, &["the load came at a rate", "`studies/quick/availability.toml`"]);
    assert!(!told.contains("Throughput before the fault, relative"), "{told}");
}
