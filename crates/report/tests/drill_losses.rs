//! Losses of drills: that one against a promise is told first though its drill is void, which losses break a promise, and what nobody looked at;
//! and which readings say whether the mode was in force.

use crate::drills::{changed, drills, drills_in, lose_ten, read, seconds, slow_link, voids};
use proofload_model::drill::{LogFork, StandbyReach};
use proofload_model::events::RunEvent;
use proofload_model::facts::engine::DURABLE_COMMITS;
use proofload_model::ledger::{LedgerPage, LedgerRange, WriteClass, WriteOutcome};
use proofload_model::manager::ManagerKind;
use proofload_model::prober::{PaceCause, PaceChange, ProberPace, ProberPaces};
use proofload_model::samples::{Check, CheckOutcome};
use proofload_model::series;
use proofload_model::settings::Value;
use proofload_model::time::WallTime;
use proofload_model::units::Bytes;
use proofload_record::{AttemptEvent, Record};
use proofload_report::findings::drill_losses::{LossShare, losses};
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
    let point = &findings.drilled[0];
    assert_eq!((point.drills.len(), point.void, point.ledgers.len()), (2, 1, 3));
    assert_eq!((point.lost(), point.losing(), point.lost_against_promise()), (10, 1, 10));
    let page = page(&record);
    check_told(&page, &["10 of 29,970 acknowledged writes were lost, 10 of them although the mode promises no loss"]);
    check_told(&page, &["| 1 of 3 |"]);
    assert!(!page.contains("one of 29,970 acknowledged writes"), "{page}");
}

#[test]
fn drills_whose_ledger_nobody_read_are_told_beside_the_losses() {
    let mut record = drills("remote_flush", &[0.5, 0.6, 0.7]);
    let unknown = "1 drill the ledger was not read, so losses are unknown there";
    assert!(!page(&record).contains(unknown));
    for event in &mut record.attempts[1].events {
        if let RunEvent::Drilled(report) = &mut event.event {
            report.prober.ledger.unread = Some("refused".to_owned());
        }
    }
    let findings = evaluate(&record);
    let point = &findings.drilled[0];
    assert_eq!((point.ledgers.len(), point.unread), (2, 1));
    check_told(&page(&record), &[unknown]);
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
    check_told(&page, &["in 1 drill too few standbys answered"]);
    assert!(!page.contains("promises no loss"), "{page}");
}

#[test]
fn whether_a_primary_that_stays_may_lose_a_write_is_what_its_engine_said() {
    let mut record = slow_link();
    changed(&mut record, lose_ten);
    let is_broken = |record: &Record| voids(record).iter().any(|void| void.contains("none may be lost"));
    let promised = |record: &Record| evaluate(record).drilled[0].promises_none_lost;
    let said = |durable: bool| {
        let mut record = record.clone();
        let fact = DURABLE_COMMITS.observed(durable, "the server");
        record.attempts.iter_mut().for_each(|attempt| attempt.facts.push(fact.clone()));
        record
    };
    // A spelling that only the server knows.
    assert!(!is_broken(&said(false)) && !promised(&said(false)));
    assert!(is_broken(&said(true)) && promised(&said(true)));
    // Records from before engines said it have the settings of the study alone.
    assert!(is_broken(&record) && promised(&record));
    let mut before = record.clone();
    let off = Value::Text("off".to_owned());
    before.study.settings.0.insert("engine.settings.synchronous_commit".to_owned(), off);
    assert!(!is_broken(&before) && !promised(&before));
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
        let points = &findings.drilled;
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
    check_told(&page(&record), &["Told to rejoin"]);
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

/// A drill of an asynchronous pair that was acknowledged a write each 5 ms until the fault, 2 ms after it was due, and lost those of the
/// last 250 ms.
fn lost_the_last_quarter(fork: Option<LogFork>) -> Record {
    let mut record = drills("async", &[0.5]);
    let mut acknowledged = 0;
    changed(&mut record, |report| {
        let ledger = &mut report.prober.ledger;
        let end = (report.fault_at * 200.0).round() as u64;
        (ledger.lost, ledger.kept) = (50, end - 50);
        ledger.ranges =
            vec![LedgerRange { class: WriteClass::Lost, node: 0, first: end - 50, took_us: vec![2000; 50] }];
        report.fork = fork;
    });
    for event in &record.attempts[0].events {
        if let RunEvent::Drilled(report) = &event.event {
            acknowledged = report.prober.ledger.kept + report.prober.ledger.lost;
        }
    }
    let mut page = LedgerPage::from(0);
    (0..acknowledged).for_each(|_| page.add(WriteOutcome::Acknowledged, 0, 2000));
    record.attempts[0].events.push(AttemptEvent::new(WallTime(0), RunEvent::LedgerPage(page)));
    record
}

#[test]
fn a_loss_is_told_with_its_share_its_times_and_the_fork_of_the_log() {
    let fork = LogFork { timeline_before: 1, timeline: 2, at: Bytes(0x15A_8B20), old_end: Some(Bytes(0x15A_91B0)) };
    let record = lost_the_last_quarter(Some(fork));
    let findings = evaluate(&record);
    let found = losses(&findings);
    assert_eq!((found.len(), found[0].lost, found[0].fork), (1, 50, Some(fork)));
    assert_eq!(
        found[0].share,
        Some(LossShare {
            seconds: 1,
            lost: 50,
            acknowledged: 200,
            lost_at_full_pace: 50,
            acknowledged_at_full_pace: 200
        })
    );
    let ages = [found[0].oldest, found[0].newest].map(|age| age.map(|age| (1e3 * age).round()));
    assert_eq!(ages, [Some(248.0), Some(3.0)], "due 250 and 5 ms before the fault, and acknowledged 2 ms later");
    let page = page(&record);
    check_told(&page, &["Losses in detail", "50 of 200 in 1 s (25 %)", "248 ms to 3 ms"]);
    check_told(&page, &["| 1 to 2 | 0/15A8B20 | 0/15A91B0 | 1,680 |"]);
}

#[test]
fn the_share_of_a_loss_is_one_of_equal_times_whatever_the_pace() {
    let mut record = drills("async", &[0.5]);
    let mut end = 0;
    for event in &record.attempts[0].events {
        if let RunEvent::Drilled(report) = &event.event {
            end = (report.fault_at * 200.0).round() as u64;
        }
    }
    // The last second before the fault has 200 writes, and each before it 20. What was acknowledged in the last 1.5 s is lost.
    let (calm, full) = ((0..end - 200).step_by(10), end - 200..end);
    let mut ranges = Vec::new();
    for number in calm.clone().filter(|number| *number >= end - 300).chain(full.clone()) {
        LedgerRange::add(&mut ranges, (WriteClass::Lost, 0), number, 2000);
    }
    changed(&mut record, |report| {
        let change = |at: f64, pace, cause| PaceChange { from: seconds(at), pace, cause };
        let changes = vec![
            change(0.0, ProberPace::Calm, PaceCause::Begin),
            change(report.fault_at - 1.0, ProberPace::Full, PaceCause::Order),
        ];
        let ledger = &mut report.prober.ledger;
        ledger.paces = ProberPaces { calm_step: 10, changes };
        (ledger.lost, ledger.ranges) = (210, ranges.clone());
    });
    let mut pages = [LedgerPage::from(0), LedgerPage::from(end - 200)];
    calm.for_each(|number| pages[0].add_number(number, WriteOutcome::Acknowledged, (0, 2000)));
    full.for_each(|number| pages[1].add_number(number, WriteOutcome::Acknowledged, (0, 2000)));
    for page in pages {
        record.attempts[0].events.push(AttemptEvent::new(WallTime(0), RunEvent::LedgerPage(page)));
    }
    let share = losses(&evaluate(&record))[0].share.expect("times were kept");
    assert_eq!((share.seconds, share.lost, share.acknowledged), (2, 210, 220));
    assert_eq!((share.lost_at_full_pace, share.acknowledged_at_full_pace), (300, 400));
    let counts_as = "a write of the calm pace counts as those of the full pace";
    check_told(&page(&record), &["210 of 220 in 2 s (75 %)", counts_as]);
    assert!(!page(&lost_the_last_quarter(None)).contains(counts_as));
}

#[test]
fn an_old_log_that_cannot_be_read_is_no_loss_of_nought_bytes() {
    let fork = LogFork { timeline_before: 1, timeline: 2, at: Bytes(0x15A_8B20), old_end: None };
    let page = page(&lost_the_last_quarter(Some(fork)));
    check_told(&page, &["| 1 to 2 | 0/15A8B20 |", "it could not be read"]);
    assert!(!page.contains("0/15A8B20 | 0/"), "{page}");
}

#[test]
fn a_loss_without_a_fork_has_no_columns_of_one_and_none_has_no_table() {
    let told = page(&lost_the_last_quarter(None));
    check_told(&told, &["Losses in detail", "248 ms to 3 ms"]);
    assert!(!told.contains("End of the old log |"), "{told}");
    assert!(!page(&drills("async", &[0.5])).contains("Losses in detail"));
}

/// A check of acknowledged orders that failed.
fn of_orders(name: &str, offenders: &[&str], lost: Option<u64>) -> Check {
    Check {
        group: "acknowledged".to_owned(),
        name: name.to_owned(),
        rule: "every acknowledged order is in the database".to_owned(),
        found: "400 acknowledged, 42 lost".to_owned(),
        outcome: CheckOutcome::Failed,
        offenders: offenders.iter().map(|offender| (*offender).to_owned()).collect(),
        sample: None,
        lost,
    }
}

#[test]
fn orders_that_the_load_lost_have_a_row_of_their_own() {
    let mut record = lost_the_last_quarter(None);
    let lost = "w_id 1, d_id 2, o_id 3";
    record.attempts[0]
        .checks
        .extend([of_orders("orders lost", &[lost], Some(42)), of_orders("orders unasked", &[lost], None)]);
    let findings = evaluate(&record);
    let names: Vec<&str> = losses(&findings)[0].checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["orders lost"]);
    check_told(&page(&record), &["| work of the load: orders lost | 42 |"]);
    record.attempts[0].checks = vec![of_orders("orders lost", &[], Some(0))];
    assert!(losses(&evaluate(&record))[0].checks.is_empty(), "keys that are too large to store are no loss");
}

#[test]
fn a_check_counts_its_losses_whatever_its_name_and_older_records_name_theirs() {
    let mut record = lost_the_last_quarter(None);
    let checks = |record: &Record| losses(&evaluate(record))[0].checks.len();
    record.attempts[0].checks = vec![of_orders("documents lost", &[], Some(3))];
    assert_eq!(checks(&record), 1);
    record.attempts[0].checks =
        vec![of_orders("orders lost", &["w_id 1"], None), of_orders("documents lost", &["1"], None)];
    assert_eq!(checks(&record), 1);
    check_told(&page(&record), &["| work of the load: orders lost | 400 acknowledged, 42 lost |"]);
    record.attempts[0].checks = vec![of_orders("orders lost", &[], None)];
    assert_eq!(checks(&record), 0, "keys that are too large to store are no loss");
}

#[test]
fn orders_that_a_mode_may_lose_void_no_drill() {
    let failed = |mode: &str, group: &str| {
        let mut record = drills(mode, &[0.5]);
        let check = Check { group: group.to_owned(), ..of_orders("orders lost", &["w_id 1"], Some(42)) };
        record.attempts[0].checks.push(check);
        voids(&record)
    };
    for group in ["acknowledged", "conservation", "agreement"] {
        assert_eq!(failed("async", group), Vec::<String>::new(), "{group}");
        let found = failed("remote_flush", group);
        assert!(found.len() == 1 && found[0].contains("orders lost: 400 acknowledged"), "{group}: {found:?}");
    }
    assert_eq!(failed("async", "consistency").len(), 1, "the twelve conditions hold whatever is lost");
}

#[test]
fn records_from_before_times_were_kept_tell_the_oldest_alone() {
    let mut record = drills("async", &[0.5]);
    changed(&mut record, |report| {
        lose_ten(report);
        report.prober.ledger.ranges.clear();
        report.prober.ledger.oldest_lost = Some(seconds(report.fault_at - 0.25));
    });
    let findings = evaluate(&record);
    let found = &losses(&findings)[0];
    assert_eq!((found.newest, found.share), (None, None));
    check_told(&page(&record), &["from 250 ms on"]);
}

/// A state is that of the moment of its reading: one that saw the fault says nothing of the time before it.
#[test]
fn a_reading_after_the_fault_says_nothing_of_the_mode_before_it() {
    let mut record = drills("remote_flush", &[0.5]);
    let attempt = &mut record.attempts[0];
    let begun = attempt.events.iter().find_map(|event| match &event.event {
        RunEvent::Drilled(report) => Some(report.fault_after),
        _ => None,
    });
    let after = begun.expect("it is a drill") + 0.3;
    read(attempt, series::replication::OUT_OF_FORCE, "standby-1 does not stream", after, 1.0);
    let of_reading = attempt.series.last_mut().expect("it was read");
    for sample in of_reading.samples.iter_mut().filter(|sample| sample.2 > 0.0) {
        sample.1 = 1_000_000_000;
    }
    assert_eq!(voids(&record), [""; 0]);
}
