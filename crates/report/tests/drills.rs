//! Drills: what voids one, what breaks a promise, and that both are told wherever drills are: report, export, comparison, gate.

use crate::support::{Shape, record};
use proofload_model::deployment::InstanceName;
use proofload_model::drill::{
    DrillReport, FaultAsked, Ledger, Outage, ProbeKind, ProbeReport, ProbeTenth, ProberReport, StandbyReach,
};
use proofload_model::events::RunEvent;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::ledger::{Leader, LedgerPage, LedgerRange, WriteClass, WriteOutcome};
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::Value;
use proofload_model::study::Factor;
use proofload_model::time::{Offset, WallTime};
use proofload_record::{Attempt, AttemptEvent, Record, State};
use proofload_report::export::{NoHistory, Selection, TABLES, history, write_csv};
use proofload_report::findings::comparison::{
    Comparison, ComparisonFilter, GateOutcome, NamedRecord, NotInTurns, Policy, Rules, Verdict, compare, gate,
};
use proofload_report::findings::{VoidClass, evaluate};
use proofload_report::metrics::WRITES_AWAY;
use proofload_report::{Format, render};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::time::Duration;

const FAULT: &str = "drill.fault";
const PERIOD_NS: u64 = 5_000_000;

pub(super) fn seconds(at: f64) -> Offset {
    Offset((at * 1e9) as i64)
}

/// A drill of a primary that crashes at the end of the window, with writes away for so long.
fn report_after(window_ends: f64, away: f64) -> DrillReport {
    let fault_at = window_ends + 0.5;
    let (from, to) = (fault_at + 0.01, fault_at + 0.01 + away);
    let tenths = (0..((to + 12.0) * 10.0) as usize).map(|place| {
        let gone = (from..to).contains(&((place as f64 + 0.5) / 10.0));
        ProbeTenth { acknowledged: if gone { 0 } else { 20 }, failed: if gone { 20 } else { 0 }, unknown: 0 }
    });
    let kind = |kind| ProbeReport {
        kind,
        due: 1000,
        lag_p99_ms: 1.0,
        outages: vec![Outage { from: seconds(from), to: Some(seconds(to)), failed: 20 }],
        blips: 0,
        tenths: tenths.clone().collect(),
    };
    let leader = |node, from: f64, to: f64| Leader { node, from: seconds(from), to: seconds(to) };
    DrillReport {
        fault: FaultAsked::of("crash primary").flatten(),
        strength: FaultStrength::Whole,
        phase: 0.0,
        fault_begun: None,
        fault_after: fault_at - 0.01,
        fault_at,
        manager: None,
        detected_at: None,
        promote_asked_at: Some(fault_at),
        rejoin_asked_at: None,
        rejoined_at: None,
        promoted_at: Some(fault_at + 0.1),
        promoted: None,
        undone_at: None,
        before: 100.0,
        recovered_at: Some(to.ceil()),
        work_missed: away,
        protected_again_at: Some(fault_at + 2.0),
        reach: Some(StandbyReach { reached: 2, of: 2, holds_all: true }),
        fork: None,
        prober: ProberReport {
            kinds: [ProbeKind::Write, ProbeKind::Read, ProbeKind::Connect].map(kind).to_vec(),
            ledger: Ledger {
                sent: 10_000,
                kept: 9_990,
                period_ns: PERIOD_NS,
                leaders: vec![leader(0, 0.0, fault_at), leader(1, to, to + 12.0)],
                read_from: Some(1),
                ..Ledger::default()
            },
        },
    }
}

/// A record of one point in a mode, whose runs are drills with these outages.
pub(super) fn drills(mode: &str, outages: &[f64]) -> Record {
    drills_in(&[mode], outages)
}

/// A record of a point in each mode, whose runs are drills with these outages, over all points.
pub(super) fn drills_in(modes: &[&str], outages: &[f64]) -> Record {
    let (repetitions, points) = (outages.len() / modes.len(), modes.len());
    let [repetitions, points] = [repetitions, points].map(|count| u32::try_from(count).expect("a few"));
    let mut record = record(&Shape { repetitions, ..Shape::memory(points) });
    let word = |word: &str| Value::Text(word.to_owned());
    for (point, mode) in record.plan.points.iter_mut().zip(modes) {
        let levels = [(FAULT, "crash primary"), ("replication.mode", *mode)];
        point.levels = levels.iter().map(|(at, level)| ((*at).to_owned(), word(level))).collect();
    }
    let factor = |setting: &str, words: &[&str]| Factor {
        setting: setting.to_owned(),
        levels: words.iter().map(|level| word(level)).collect(),
    };
    record.study.factors = vec![factor(FAULT, &["crash primary"]), factor("replication.mode", modes)];
    for (attempt, away) in record.attempts.iter_mut().zip(outages) {
        let ends = attempt.window().expect("it was measured").1 as f64;
        read(attempt, series::replication::OUT_OF_FORCE, "", ends, 0.0);
        read(attempt, series::replication::UNPROTECTED, "", ends, 0.0);
        attempt.events.push(AttemptEvent::new(WallTime(0), RunEvent::Drilled(Box::new(report_after(ends, *away)))));
    }
    record
}

/// Adds a series of the primary: 0 in each second, and another reading at a time.
pub(super) fn read(attempt: &mut Attempt, wanted: SeriesName, component: &str, at: f64, value: f64) {
    let like = attempt.series.iter().find(|series| series::cores::BUSY.is_of(&series.probe, &series.name));
    let mut added = like.expect("cores are observed").clone();
    (added.probe, added.name) = (wanted.probe.to_owned(), wanted.name.to_owned());
    added.component = component.to_owned();
    added.samples.iter_mut().for_each(|sample| sample.2 = 0.0);
    added.samples.push((seconds(at), 0, value));
    added.samples.sort_by_key(|sample| sample.0);
    attempt.series.push(added);
}

pub(super) fn changed(record: &mut Record, change: impl Fn(&mut DrillReport)) {
    for event in record.attempts.iter_mut().flat_map(|attempt| &mut attempt.events) {
        if let RunEvent::Drilled(report) = &mut event.event {
            change(report);
        }
    }
}

/// Loses the writes 100 to 109, acknowledged 2 ms after they were due.
pub(super) fn lose_ten(report: &mut DrillReport) {
    let ledger = &mut report.prober.ledger;
    (ledger.lost, ledger.kept) = (10, ledger.kept - 10);
    ledger.lost_numbers = (100..110).collect();
    ledger.ranges = vec![LedgerRange { class: WriteClass::Lost, node: 0, first: 100, took_us: vec![2000; 10] }];
}

pub(super) fn voids(record: &Record) -> Vec<String> {
    let findings = evaluate(record);
    let voids = findings.points[0].runs.iter().flat_map(|run| &run.voids);
    voids.map(|void| format!("{:?}: {}", void.class, void.text)).collect()
}

/// A changed drill is void for one reason, and for no other.
#[track_caller]
fn check_void(change: impl Fn(&mut DrillReport), expected: &str) {
    let mut record = drills("remote_flush", &[0.5]);
    assert_eq!(voids(&record), Vec::<String>::new(), "the drill as it is counts");
    changed(&mut record, change);
    let found = voids(&record);
    assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
}

#[test]
fn what_makes_a_drill_none_is_said() {
    check_void(|report| report.fault = FaultAsked::of("kill primary").flatten(), "study asked for crash primary");
    let early = |report: &mut DrillReport| (report.fault_after, report.fault_at) = (report.fault_after - 1.0, 5.0);
    check_void(early, "not in force after the measured window");
    let late = |report: &mut DrillReport| {
        (report.fault_after, report.fault_at) = (report.fault_at + 5.0, report.fault_at + 5.0)
    };
    check_void(late, "no reading in the 3 s before");
    check_void(|report| report.prober.kinds[0].lag_p99_ms = 51.0, "the prober was 51 ms late");
    check_void(|report| report.prober.kinds.retain(|kind| kind.kind != ProbeKind::Write), "the prober wrote nothing");
    check_void(|report| report.prober.ledger.unread = Some("refused".to_owned()), "the ledger was not read");
    check_void(
        |report| report.prober.ledger.read_from = Some(0),
        "read from instance 0, but instance 1 acknowledged last",
    );
    let again = |report: &mut DrillReport| {
        let last = *report.prober.ledger.leaders.last().unwrap();
        report.prober.ledger.leaders.push(Leader { node: 2, ..last });
        report.prober.ledger.read_from = Some(2);
    };
    check_void(again, "a second failover");
    check_void(|report| report.prober.ledger.two_primaries_seconds = 0.5, "two primaries accepted writes for 0.500 s");
    check_void(|report| report.prober.ledger.two_claimed_seconds = 2, "in 2 s an instance said that it takes writes");
    check_void(
        |report| report.prober.ledger.phantoms = 2,
        "2 of 10000 writes that had definitely failed are in the database",
    );
    check_void(|report| report.prober.ledger.doubles = 1, "are in the database twice or were refused as duplicates");
    check_void(lose_ten, "10 of 10000 writes were acknowledged and lost; none may be lost: 100, 101");
}

#[test]
fn a_mode_that_is_out_of_force_at_the_fault_is_no_drill() {
    let mut record = drills("remote_flush", &[0.5]);
    let ends = record.attempts[0].window().unwrap().1 as f64;
    read(&mut record.attempts[0], series::replication::OUT_OF_FORCE, "standby-1 does not stream", ends + 0.2, 1.0);
    let found = voids(&record);
    assert_eq!(found, ["Verification: the mode was not in force at the fault: standby-1 does not stream"]);
}

#[test]
fn a_level_before_the_fault_that_moves_is_no_drill() {
    let mut record = drills("remote_flush", &[0.5]);
    let (from, to) = record.attempts[0].window().unwrap();
    for interval in record.attempts[0].intervals.iter_mut().filter(|one| (from..to).contains(&one.index)) {
        let share = (interval.index - from) as f64 / (to - from) as f64;
        for counts in &mut interval.counts {
            counts.done = (counts.done as f64 * (1.0 - 0.8 * share)) as u64;
        }
    }
    let found = evaluate(&record);
    let classes: Vec<VoidClass> = found.points[0].runs[0].voids.iter().map(|void| void.class).collect();
    assert!(classes.contains(&VoidClass::NotSteady), "{classes:?}");
}

#[test]
fn a_ledger_that_does_not_add_up_to_its_pages_is_no_drill() {
    let mut record = drills("remote_flush", &[0.5]);
    let page = |acknowledged: u64| {
        let mut page = LedgerPage::from(0);
        (0..acknowledged).for_each(|_| page.add(WriteOutcome::Acknowledged, 0, 2000));
        page.add(WriteOutcome::Unknown, 0, 1_000_000);
        AttemptEvent::new(WallTime(0), RunEvent::LedgerPage(page))
    };
    record.attempts[0].events.push(page(9_990));
    assert_eq!(voids(&record), Vec::<String>::new());
    record.attempts[0].events.push(page(1));
    assert!(
        voids(&record)[0].contains("the ledger pages of each second have 9991 acknowledged writes"),
        "{:?}",
        voids(&record)
    );
}

#[test]
fn a_loss_under_a_mode_that_promises_none_is_a_result() {
    let mut record = drills("async", &[0.5]);
    changed(&mut record, lose_ten);
    assert_eq!(voids(&record), Vec::<String>::new());
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("10 of 9,990 acknowledged writes were lost"), "{page}");
}

#[test]
fn what_is_lost_while_unprotected_is_a_class_of_its_own_and_in_the_headline() {
    let mut record = drills("remote_flush", &[0.5]);
    changed(&mut record, |report| {
        lose_ten(report);
        // Acknowledged in the middle of the window, in a second in which commits did not wait.
        report.prober.ledger.ranges[0].first = 2_400;
    });
    assert_eq!(voids(&record).len(), 1);
    read(&mut record.attempts[0], series::replication::UNPROTECTED, "again", 12.0, 1.0);
    assert_eq!(voids(&record), Vec::<String>::new());
    let findings = evaluate(&record);
    let (unprotected, _) = &findings.drilled[0].aftermath[0];
    assert_eq!((unprotected.stretches.as_slice(), unprotected.lost), (&[(11.5, 12.5)][..], 10));
    assert_eq!(unprotected.acknowledged, 200);
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("acknowledged writes were lost, 10 of them with a warning or while unprotected"), "{page}");
}

#[test]
fn a_primary_alone_is_unprotected_until_the_other_has_rejoined() {
    let mut record = drills("remote_flush", &[0.5]);
    changed(&mut record, |report| {
        report.reach = Some(StandbyReach { reached: 1, of: 1, holds_all: true });
        report.protected_again_at = report.promoted_at.map(|at| at + 2.0);
    });
    let findings = evaluate(&record);
    let points = &findings.drilled;
    let (unprotected, _) = &points[0].aftermath[0];
    let report = points[0].drills[0].report;
    assert_eq!(unprotected.stretches, [(report.promoted_at.unwrap(), report.protected_again_at.unwrap())]);
}

#[test]
fn a_primary_without_a_standby_says_so() {
    let mut record = drills("remote_flush", &[0.5]);
    changed(&mut record, |report| {
        report.protected_again_at = None;
        report.reach = Some(StandbyReach { reached: 1, of: 2, holds_all: false });
    });
    let page = render(&record, Format::Markdown).unwrap();
    for part in ["protected again was not asked", "does not exclude a loss", "commits did not wait for a standby"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// The drills of a link that becomes slow, each after a wait of its own.
pub(super) fn slow_link() -> Record {
    let mut record = drills("async", &[0.5, 0.7]);
    let rtt = Duration::from_millis(150);
    let levels = [
        (FAULT, Value::Text("latency link-1".to_owned())),
        ("drill.rtt", Value::Duration(rtt)),
        ("drill.phase", Value::Duration(Duration::from_secs(8))),
    ];
    for point in &mut record.plan.points {
        point.levels.extend(levels.iter().map(|(at, level)| ((*at).to_owned(), level.clone())));
    }
    changed(&mut record, |report| {
        (report.fault, report.strength) = (FaultAsked::of("latency link-1").flatten(), FaultStrength::Rtt(rtt));
        report.phase = 3.25;
        report.promoted_at = None;
        let ledger = &mut report.prober.ledger;
        ledger.read_from = Some(0);
        let ends = ledger.leaders.last().expect("there are two").to;
        ledger.leaders.truncate(1);
        ledger.leaders[0].to = ends;
    });
    assert_eq!(voids(&record), Vec::<String>::new());
    record
}

#[test]
fn a_promoted_instance_that_acknowledged_nothing_is_a_long_outage() {
    let mut record = drills("remote_flush", &[100.0]);
    changed(&mut record, |report| {
        report.prober.ledger.leaders.truncate(1);
        report.promoted = Some(InstanceName::standby(1));
    });
    assert_eq!(voids(&record), Vec::<String>::new());
    let wrong = |record: &Record| {
        let found = voids(record);
        assert!(found.len() == 1 && found[0].contains("read from instance 1"), "{found:?}");
    };
    let mut other = record.clone();
    changed(&mut other, |report| report.promoted = Some(InstanceName::standby(2)));
    wrong(&other);
    changed(&mut record, |report| {
        let first = report.prober.ledger.leaders[0];
        report.prober.ledger.leaders.push(Leader { node: 2, ..first });
    });
    wrong(&record);
}

#[test]
fn the_strength_of_a_fault_and_the_wait_before_it_are_told() {
    let record = slow_link();
    let page = render(&record, Format::Markdown).unwrap();
    for part in ["at 150ms round trip writes were unavailable", "a random time of up to 8 s", "| 3.25 |"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let rows = exported(&record, "drills");
    let (head, row): (Vec<&str>, Vec<&str>) = (rows[0].split(',').collect(), rows[1].split(',').collect());
    let of = |column: &str| row[head.iter().position(|name| *name == column).expect("it is a column")];
    assert_eq!(["strength", "strength_unit", "phase_s"].map(of), ["0.15", "s", "3.25"]);
    let whole = render(&drills("async", &[0.5]), Format::Markdown).unwrap();
    assert!(!whole.contains("at 150ms round trip") && !whole.contains("a random time"), "{whole}");
}

/// 200 writes a second beside the users' throughput.
#[test]
fn the_share_of_the_prober_is_told_with_what_follows_from_a_large_one() {
    let mut drilled = drills("remote_flush", &[1.0, 2.0]);
    let told = |record: &Record| render(record, Format::Markdown).unwrap().replace('\n', " ");
    let text = told(&drilled);
    assert!(
        text.contains("Its writes were 67 % of all transactions before the faults, so the users' figures"),
        "{text}"
    );
    changed(&mut drilled, |report| report.before = 3800.0);
    let text = told(&drilled);
    assert!(text.contains("Its writes were 5 % of all transactions before the faults. "), "{text}");
}

#[test]
fn seconds_in_which_nothing_was_read_are_hatched() {
    let hatched = |record: &Record| {
        let page = render(record, Format::Html).unwrap();
        [r#"class="hatch""#, "it is unknown whether commits waited", "Hatched: "].map(|part| page.contains(part))
    };
    let mut record = drills("remote_flush", &[0.5]);
    let attempt = &mut record.attempts[0];
    let (_, ends) = attempt.window().expect("it was measured");
    let wanted = series::replication::UNPROTECTED;
    let series =
        attempt.series.iter_mut().find(|series| wanted.is_of(&series.probe, &series.name)).expect("it is read");
    series.samples = (0..ends + 12).map(|second| (seconds(second as f64), 0, 0.0)).collect();
    attempt.intervals.truncate(usize::try_from(ends + 12).expect("it is short"));
    assert_eq!(hatched(&record), [false; 3]);
    // Another instance that is read just after the primary makes no gap.
    let mut both = record.clone();
    let all = &mut both.attempts[0].series;
    let primary = all.iter().find(|series| wanted.is_of(&series.probe, &series.name)).expect("it is read");
    let mut standby = primary.clone();
    standby.component = "standby".to_owned();
    standby.samples.iter_mut().for_each(|sample| sample.0.0 += 20_000_000);
    all.push(standby);
    assert_eq!(hatched(&both), [false; 3]);
    let series = record.attempts[0].series.iter_mut().find(|series| wanted.is_of(&series.probe, &series.name));
    series.expect("it is read").samples.retain(|(at, ..)| !(ends as f64..ends as f64 + 5.0).contains(&at.as_seconds()));
    assert_eq!(hatched(&record), [true; 3]);
}

#[test]
fn outages_of_two_kinds_are_told_as_such() {
    let page = render(&drills("async", &[0.11, 0.12, 0.13, 0.12, 5.1, 0.14, 5.2, 0.12]), Format::Markdown).unwrap();
    assert!(page.contains("outages fall into two groups, 6 of 0.11 to 0.14 s and 2 of 5.1 to 5.2 s"), "{page}");
    let page = render(&drills("async", &[0.11, 0.12, 0.13, 0.12, 0.12, 0.14, 0.15, 0.12]), Format::Markdown).unwrap();
    assert!(!page.contains("two groups"), "{page}");
}

fn exported(record: &Record, table: &str) -> Vec<String> {
    let table = TABLES.iter().find(|known| known.name == table).expect("it is exported");
    let mut page = Vec::new();
    write_csv(record, &Selection::default(), table, &mut page).expect("memory takes it");
    String::from_utf8(page).expect("it is text").lines().map(str::to_owned).collect()
}

#[test]
fn drills_and_every_write_that_is_not_kept_are_exported() {
    let mut record = drills("async", &[0.5, 0.7]);
    changed(&mut record, lose_ten);
    let rows = exported(&record, "drills");
    assert_eq!(rows.len(), 3);
    let cells = |row: &str| row.split(',').map(str::to_owned).collect::<Vec<_>>();
    let named: BTreeMap<String, String> = cells(&rows[0]).into_iter().zip(cells(&rows[1])).collect();
    for (column, value) in [("fault", "crash primary"), ("mode", "async"), ("lost", "10"), ("ledger_read", "true")] {
        assert_eq!(named[column], value, "{column}");
    }
    let away: f64 = named["writes_away_s"].parse().unwrap();
    assert!((away - 0.5).abs() < 1e-6, "{away}");
    let ledger = exported(&record, "ledger");
    assert_eq!(ledger.len(), 21);
    assert_eq!(ledger[0], "attempt,run,number,class,node,due_ns,ended_ns");
    assert_eq!(ledger[1], "1,0,100,lost,0,500000000,502000000");
    changed(&mut record, |report| report.prober.ledger.ranges.clear());
    assert_eq!(exported(&record, "ledger")[1], "1,0,100,lost,,,", "a record from before ranges were kept");
}

/// A drill whose writes 0 to 9 were told within 7 ms of a period of 5 ms: 2 is unknown and there, 3 unknown and absent, 4 failed, 5 lost.
fn told(record: &mut Record) {
    let mut page = LedgerPage::from(0);
    for number in 0..10 {
        let outcome = match number {
            2 | 3 => WriteOutcome::Unknown,
            4 => WriteOutcome::Failed,
            _ => WriteOutcome::Acknowledged,
        };
        page.add(outcome, 0, 7_000);
    }
    record.attempts[0].events.push(AttemptEvent::new(WallTime(0), RunEvent::LedgerPage(page)));
    changed(record, |report| {
        let range = |class, first| LedgerRange { class, node: 0, first, took_us: vec![7_000] };
        report.prober.ledger.ranges =
            vec![range(WriteClass::UnknownPresent, 2), range(WriteClass::UnknownAbsent, 3), range(WriteClass::Lost, 5)];
    });
}

#[test]
fn the_writes_of_a_drill_are_exported_as_a_history() {
    let mut record = drills("async", &[0.5]);
    told(&mut record);
    let mut page = Vec::new();
    history(&record, &Selection::default()).expect("there is one").write(&mut page).expect("memory takes it");
    let text = String::from_utf8(page).expect("it is text");
    // A reader of JSON takes one value of a file, so that lines of their own would be the first alone.
    let lines: Vec<Json> = serde_json::from_str(&text).expect("it is one array");
    assert_eq!((lines.len(), text.lines().count()), (22, 24), "an object a line, and two of brackets: {text}");
    assert_eq!(text.lines().nth(1), Some(r#"{"index":0,"type":"invoke","process":0,"f":"add","value":0,"time":0},"#));
    let times: Vec<i64> = lines.iter().map(|line| line["time"].as_i64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(lines[21]["value"], serde_json::json!([0, 1, 2, 6, 7, 8, 9]));
    // A process does one thing at a time, and nothing more once an outcome is unknown.
    let mut busy: BTreeMap<i64, bool> = BTreeMap::new();
    let mut gone = Vec::new();
    for line in &lines {
        let process = line["process"].as_i64().unwrap();
        assert!(!gone.contains(&process), "{line}");
        let begins = line["type"] == "invoke";
        assert_eq!(busy.insert(process, begins).unwrap_or(false), !begins, "{line}");
        if line["type"] == "info" {
            gone.push(process);
        }
    }
    assert_eq!((gone.len(), busy.len()), (2, 4), "two at a time, and two that are gone");
}

#[test]
fn a_history_has_one_drill_with_its_times() {
    let all = Selection::default();
    let mut record = drills("async", &[0.5, 0.7]);
    assert_eq!(history(&record, &all), Err(NoHistory::Several(vec![0, 1])));
    let text = NoHistory::Several(vec![0, 1]).to_string();
    assert!(text.ends_with("choose one with --run 1, --run 2"), "as the command line counts: {text}");
    let one = Selection { runs: vec![0] };
    assert_eq!(history(&record, &one), Err(NoHistory::NoTimes));
    told(&mut record);
    assert!(history(&record, &one).is_ok());
    changed(&mut record, |report| report.prober.ledger.unread = Some("refused".to_owned()));
    assert_eq!(history(&record, &one), Err(NoHistory::Unread("refused".to_owned())));
    let other = self::record(&Shape::memory(1));
    assert_eq!(history(&other, &all), Err(NoHistory::NoDrill));
}

fn side<'r>(file: &str, record: &'r Record) -> NamedRecord<'r> {
    NamedRecord { file: file.to_owned(), sha256: file.to_owned(), record }
}

fn compared<'r>(baseline: &'r Record, candidate: &'r Record, metrics: &[&str]) -> Comparison<'r> {
    let metrics = metrics.iter().map(|name| (*name).to_owned()).collect();
    let filter = ComparisonFilter { metrics, levels: Vec::new() };
    compare(side("a", baseline), side("b", candidate), &filter).expect("they can be compared")
}

fn rules(tolerance: f64, void: Policy, lost: Option<u64>) -> Rules {
    let not_in_turns = NotInTurns::Warn;
    let tolerance = Some(tolerance);
    Rules { tolerance, of_metric: BTreeMap::new(), undecided: Policy::Fail, void, not_in_turns, lost }
}

#[test]
fn outages_are_compared_by_ranks_and_judged_by_a_gate() {
    let baseline = drills("async", &[0.20, 0.21, 0.22, 0.23, 0.24, 0.25]);
    let slower = drills("async", &[0.40, 0.42, 0.44, 0.46, 0.48, 0.50]);
    let comparison = compared(&baseline, &slower, &["writes_away_s"]);
    let row = &comparison.rows[0];
    assert!((row.ratio.value() - 2.0).abs() < 0.05 && row.verdict == Verdict::Slower, "{row:?}");
    assert!((row.p - 2.0 / 924.0).abs() < 1e-3, "the smallest p value of six against six: {}", row.p);
    assert_eq!(gate(&comparison, &rules(0.5, Policy::Fail, None)).unwrap().outcome, GateOutcome::Failed);
    assert_eq!(gate(&comparison, &rules(0.99, Policy::Fail, None)).unwrap().outcome, GateOutcome::Undecided);
    let same = compared(&baseline, &baseline, &["writes_away_s"]);
    assert_eq!(same.rows[0].verdict, Verdict::NotShown);
    assert_eq!(gate(&same, &rules(0.5, Policy::Fail, None)).unwrap().outcome, GateOutcome::Passed);
    let all = compared(&baseline, &slower, &[]);
    assert!(all.rows.iter().any(|row| row.metric.key == WRITES_AWAY), "drills are compared unasked");
    let few = drills("async", &[0.2, 0.2, 0.2]);
    assert!(compared(&baseline, &few, &["writes_away_s"]).left_out[0].why.contains("too few for a rank test"));
}

#[test]
fn a_gate_fails_on_a_write_that_was_lost_against_a_promise_whatever_the_tolerance() {
    let outages = [0.20, 0.21, 0.22, 0.23, 0.24, 0.25];
    let baseline = drills("remote_flush", &outages);
    let mut losing = drills("remote_flush", &outages);
    changed(&mut losing, lose_ten);
    let judge = |candidate: &Record, lost| {
        let comparison = compared(&baseline, candidate, &["writes_away_s"]);
        let found = gate(&comparison, &rules(0.99, Policy::Pass, lost)).unwrap();
        (found.outcome, found.reasons.first().cloned().unwrap_or_default())
    };
    assert_eq!(judge(&baseline, Some(0)).0, GateOutcome::Passed);
    let (outcome, reason) = judge(&losing, Some(0));
    assert_eq!(outcome, GateOutcome::Failed);
    assert!(
        reason.starts_with("60 acknowledged writes were lost in B under modes that promise no loss; 0 are allowed"),
        "{reason}"
    );
    assert!(!judge(&losing, Some(60)).1.contains("acknowledged"), "as many as are allowed");
    let mut result = drills("async", &outages);
    changed(&mut result, lose_ten);
    let asynchronous = drills("async", &outages);
    let comparison = compared(&asynchronous, &result, &["writes_away_s"]);
    assert_eq!(gate(&comparison, &rules(0.99, Policy::Fail, Some(0))).unwrap().outcome, GateOutcome::Passed);
    let none = record(&Shape::memory(1));
    let comparison = compared(&none, &none, &[]);
    let found = gate(&comparison, &rules(0.99, Policy::Pass, Some(0))).unwrap();
    assert!(found.reasons[0].contains("has no drill") && found.outcome == GateOutcome::Failed, "{found:?}");
}

#[test]
fn a_gate_fails_on_drills_whose_losses_nobody_read() {
    let outages = [0.20, 0.21, 0.22, 0.23, 0.24, 0.25];
    let reasons = |mode: &str, allowed: u64| {
        let baseline = drills(mode, &outages);
        let mut unread = baseline.clone();
        for event in &mut unread.attempts[1].events {
            if let RunEvent::Drilled(report) = &mut event.event {
                report.prober.ledger.unread = Some("refused".to_owned());
            }
        }
        unread.attempts[4].state = State::Failed { reason: "the load agent died".to_owned() };
        let found =
            gate(&compared(&baseline, &unread, &["writes_away_s"]), &rules(0.99, Policy::Pass, Some(allowed))).unwrap();
        (found.outcome, found.reasons.join("; "))
    };
    for allowed in [0, 60] {
        let (outcome, reasons) = reasons("remote_flush", allowed);
        let told = "2 drills of B that may lose no write have no ledger that was read and adds up, so losses are";
        assert!(outcome == GateOutcome::Failed && reasons.starts_with(told), "{outcome:?}: {reasons}");
    }
    let (_, reasons) = reasons("async", 0);
    assert!(!reasons.contains("may lose no write"), "nothing is promised: {reasons}");
}

#[test]
fn a_drill_without_an_outage_has_one_of_nought() {
    let mut record = drills("remote_flush", &[0.5]);
    changed(&mut record, |report| report.prober.kinds.iter_mut().for_each(|kind| kind.outages.clear()));
    let rows = exported(&record, "drills");
    assert!(rows.iter().all(|row| !row.split(',').any(|cell| cell == "-0")), "{rows:?}");
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("writes were unavailable for 0 s"), "{page}");
}
