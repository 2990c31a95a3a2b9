//! Studies with standbys: what a mode keeps, what voids it, and that figures of the database are those of the primary.

use crate::support::replicated::{observe, replicated, replicated_often};
use crate::support::{Shape, let_rise};
use proofload_analysis::quantity::Quantity;
use proofload_model::deployment::InstanceName;
use proofload_model::samples::Fact;
use proofload_model::series;
use proofload_model::settings::Value;
use proofload_record::{Record, SeriesPoint};
use proofload_report::export::{Selection, write_openmetrics};
use proofload_report::findings::replication::replicated as replicated_points;
use proofload_report::findings::replication_lag::LagSource;
use proofload_report::findings::{VoidClass, disturbed_from_outside, evaluate};
use proofload_report::{Format, render};
use std::time::Duration;

#[test]
fn what_a_mode_keeps_and_which_thread_pays_is_the_answer() {
    let record = replicated();
    let page = render(&record, Format::Markdown).unwrap();
    let summary = page.split("## 1 ").next().unwrap();
    assert!(summary.contains("**Of the throughput without standbys, remote\\_flush keeps "), "{summary}");
    assert!(
        summary.contains("One thread is at its limit: walsender of primary at remote\\_flush, with 97"),
        "{summary}"
    );
    assert!(page.contains("What protection costs"), "{page}");
    assert!(
        page.contains("| standby-1 | walreceiver | 1 | 20") && page.contains("| client sessions | 8 | 300"),
        "{page}"
    );
    assert!(page.contains("a commit waited more than 0.5 s in 1 run and"), "{page}");
    assert!(page.contains("In 1 run the server itself listed each such commit as waiting"), "{page}");
    assert!(page.contains("is told by its settings alone") && !page.contains("some of several"), "{page}");
    assert!(page.contains("connected directly"), "{page}");
    let single = render(&crate::support::record(&Shape::memory(2)), Format::Markdown).unwrap();
    assert!(!single.contains("What protection costs"), "a study without standbys has no such section");
}

#[test]
fn the_network_is_told_as_it_was_measured() {
    let mut record = replicated();
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 1).unwrap();
    let name = proofload_model::facts::replication::RTT_P50;
    let measured = name.observed(1.25, "a test");
    attempt.facts.push(Fact { instance: InstanceName::standby(1), ..measured });
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("medians of 1.25 ms"), "{page}");
}

#[test]
fn a_standbys_host_stands_beside_the_primarys_and_is_never_taken_for_it() {
    let mut record = replicated();
    let cores = proofload_model::facts::host::CORES;
    record.facts.retain(|fact| !cores.is_of(fact));
    record.facts.push(cores.observed(48_u32, "a test"));
    record.facts.push(Fact { instance: InstanceName::standby(1), ..cores.observed(96_u32, "a test") });
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("Hosts of all nodes") && page.contains("| 48 | 96 |"), "{page}");
    assert!(page.contains("Each standby has its own host") && !page.contains("All nodes share this host"), "{page}");
    let machine = page.split("Hosts of all nodes").next().unwrap();
    assert!(!machine.contains("96 cores"), "{machine}");
    let together = render(&replicated(), Format::Markdown).unwrap();
    assert!(together.contains("All nodes share this host") && !together.contains("Hosts of all nodes"));
}

#[test]
fn a_second_out_of_force_voids_the_point() {
    let mut record = replicated();
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 1).unwrap();
    let (from, to) = attempt.window().unwrap();
    let middle = (from + to) as usize / 2;
    observe(
        attempt,
        &InstanceName::primary(),
        series::replication::OUT_OF_FORCE,
        "standby-1 does not stream",
        |second| f64::from(u8::from(second == middle)),
    );
    let findings = evaluate(&record);
    assert!(findings.points[0].verdict.is_valid());
    let voids = &findings.points[1].runs[0].voids;
    assert_eq!(voids.len(), 1, "{voids:?}");
    assert_eq!(voids[0].class, VoidClass::Verification);
    let text = &voids[0].text;
    assert!(text.starts_with("replication was not in force in 1 reading from second "), "{text}");
    assert!(text.ends_with(": standby-1 does not stream"), "{text}");
}

#[test]
fn figures_of_the_database_are_those_of_the_primary() {
    let mut record = replicated();
    let told = |record: &Record| {
        let findings = evaluate(record);
        let point = &findings.points[1];
        (point.metrics.clone(), point.verdict.clone(), format!("{:?}", findings.rankings))
    };
    let before = told(&record);
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 1).unwrap();
    let standby = InstanceName::standby(1);
    let copies: Vec<SeriesPoint> =
        attempt.series.iter().filter(|series| !series.instance.is_standby()).cloned().collect();
    for mut series in copies {
        series.instance = standby.clone();
        series.samples.iter_mut().for_each(|sample| sample.2 *= 10.0);
        attempt.series.push(series);
    }
    let facts: Vec<Fact> = attempt.facts.clone();
    attempt.facts.extend(facts.into_iter().map(|fact| Fact {
        instance: standby.clone(),
        effective: Some("another".to_owned()),
        number: None,
        ..fact
    }));
    assert_eq!(told(&record), before, "a standby changed what is said of the primary");
}

#[test]
fn exports_tell_a_standby_from_the_primary() {
    let record = replicated();
    let mut page = Vec::new();
    write_openmetrics(&record, &Selection::default(), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let of_receiver = page.lines().filter(|line| line.contains("\"walreceiver\""));
    assert!(
        of_receiver.clone().count() > 0 && of_receiver.clone().all(|line| line.contains("standby=\"standby-1\"")),
        "{page}"
    );
    assert!(page.lines().filter(|line| line.contains("\"walsender\"")).all(|line| !line.contains("standby=")));
}

#[test]
fn what_modes_keep_is_known_inside_repetitions_also_where_throughput_moved() {
    let still = what_it_keeps(&replicated_often(3)).expect("a ratio");
    let mut record = replicated_often(3);
    let_rise(&mut record);
    assert!(evaluate(&record).points.iter().all(|point| point.only_moved()));
    let moving = what_it_keeps(&record).expect("a ratio");
    assert!((moving.value() / still.value() - 1.0).abs() < 0.05, "{moving:?}, and at rest {still:?}");
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("their figures are not results on their own"), "{page}");
    let first = record.attempts[0].run.repetition;
    record.attempts.retain(|attempt| attempt.run.repetition == first);
    assert!(what_it_keeps(&record).is_err(), "one repetition is no block");
}

fn what_it_keeps(record: &Record) -> Result<Quantity, String> {
    let findings = evaluate(record);
    let kept = replicated_points(&findings).into_iter().find_map(|point| point.kept);
    kept.expect("a mode that waits")
}

#[test]
fn lag_is_that_of_the_standby_furthest_behind_and_no_sum() {
    let mut record = replicated();
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 1).unwrap();
    observe(attempt, &InstanceName::primary(), series::replication::UNAPPLIED, "standby-2", |_| 3e6);
    let findings = evaluate(&record);
    let points = replicated_points(&findings);
    let point = points.iter().find(|one| one.point == 1).unwrap();
    let lags = [&point.behind, &point.behind_p99, &point.most_behind].map(|lag| lag.as_ref().unwrap().value());
    assert!(lags.iter().all(|lag| (lag - 3.0).abs() < 1e-9), "standby-1 is 2 MB behind, standby-2 is 3: {lags:?}");
}

/// The lag in time of the point with standbys: its source, median and 99th percentile.
fn lag_in_time(record: &Record) -> (Option<LagSource>, [f64; 2]) {
    let findings = evaluate(record);
    let points = replicated_points(&findings);
    let lag = &points.iter().find(|one| one.point == 1).expect("it has standbys").lag;
    (lag.source, [&lag.median, &lag.p99].map(|lag| lag.as_ref().expect("it was observed").value()))
}

#[test]
fn lag_in_time_is_the_engines_or_else_from_the_rate_of_the_log() {
    let mut record = replicated();
    let (source, [median, p99]) = lag_in_time(&record);
    assert_eq!(source, Some(LagSource::LogRate));
    assert!((median - 0.4).abs() < 1e-9 && (p99 - 0.4).abs() < 1e-9, "2 MB at 5 MB/s: {median} and {p99}");
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("Lag in time, p99") && page.contains("| log rate |"), "{page}");
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 1).unwrap();
    observe(attempt, &InstanceName::primary(), series::replication::LAG, "standby-1", |_| 0.25);
    let tail = |second: usize| if second.is_multiple_of(10) { 3.0 } else { 0.5 };
    observe(attempt, &InstanceName::primary(), series::replication::LAG, "standby-2", tail);
    assert_eq!(lag_in_time(&record), (Some(LagSource::Engine), [0.5, 3.0]), "those of the later standby");
    assert!(render(&record, Format::Markdown).unwrap().contains("| engine |"));
}

#[test]
fn an_engine_that_seldom_tells_its_lag_does_not_tell_that_of_the_window() {
    let mut record = replicated();
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 1).unwrap();
    observe(attempt, &InstanceName::primary(), series::replication::LAG, "standby-1", |_| 0.25);
    let told = attempt.series.last_mut().unwrap();
    told.samples.retain(|sample| (sample.0.as_seconds() as u64).is_multiple_of(4));
    assert_eq!(lag_in_time(&record).0, Some(LagSource::LogRate));
}

#[test]
fn devices_of_standbys_are_shown() {
    let mut record = replicated();
    let of_devices = "Block devices under the data of each node";
    assert!(!render(&record, Format::Markdown).unwrap().contains(of_devices), "those of the primary stand elsewhere");
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 1).unwrap();
    for (wanted, value) in
        [(series::device::BUSY, 40.0), (series::device::QUEUE, 2.0), (series::device::WRITE_BYTES, 5e7)]
    {
        observe(attempt, &InstanceName::standby(1), wanted, "nvme1n1", |_| value);
    }
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains(of_devices) && page.contains("| standby-1 | nvme1n1 | 40"), "{page}");
}

/// The record of a link of 1 ms to the standby, whose relay is late by so much, ms: medians and 99th percentiles of each second.
fn behind_a_relay(late_p50: impl Fn(usize) -> f64, late_p99: f64) -> Record {
    let mut record = replicated();
    let trip = Value::Duration(Duration::from_millis(1));
    record.plan.points[1].levels.insert("replication.rtt".to_owned(), trip);
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 1).expect("point 1 was measured");
    let standby = InstanceName::standby(1);
    observe(attempt, &standby, series::relay::LATE_P50, "to_primary", |_| 0.02);
    observe(attempt, &standby, series::relay::LATE_P50, "to_standby", late_p50);
    observe(attempt, &standby, series::relay::LATE_P99, "to_standby", |_| late_p99);
    for direction in ["to_primary", "to_standby"] {
        observe(attempt, &standby, series::relay::CPU, direction, |_| 0.125);
    }
    let measured = proofload_model::facts::replication::RTT_P50.observed(1.1, "a test");
    attempt.facts.push(Fact { instance: standby, ..measured });
    record
}

#[test]
fn a_relay_that_is_late_in_most_seconds_voids_the_point_and_a_few_late_seconds_do_not() {
    let voids = |record: &Record| {
        let findings = evaluate(record);
        assert!(findings.points[0].verdict.is_valid(), "a point without standbys has no relay");
        findings.points[1].runs[0].voids.clone()
    };
    let kept = behind_a_relay(|second| if second % 3 == 0 { 40.0 } else { 0.06 }, 8.0);
    assert!(voids(&kept).is_empty(), "{:?}", voids(&kept));
    let late = voids(&behind_a_relay(|_| 0.4, 8.0));
    assert_eq!(late.len(), 1, "{late:?}");
    assert_eq!(late[0].class, VoidClass::Verification, "nobody else had the host");
    assert!(late[0].text.starts_with("the relay to standby-1 was late: the median of its releases was 0.40 ms"));
    let tail = voids(&behind_a_relay(|_| 0.06, 25.0));
    assert!(tail[0].text.contains("the 99th percentile of its releases was 25.00 ms"), "{tail:?}");
    let mut busy = behind_a_relay(|_| 0.4, 8.0);
    beside_others(&mut busy, 1);
    let voids = voids(&busy);
    assert_eq!(voids[0].class, VoidClass::Host, "{voids:?}");
    assert!(voids[0].text.contains("; meanwhile others took "), "{voids:?}");
}

/// Lets others take a large part of the host while a point is measured.
fn beside_others(record: &mut Record, point: u32) {
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == point).expect("it was measured");
    for core in ["0", "1"] {
        observe(attempt, &InstanceName::primary(), series::cores::STEAL, core, |_| 0.0);
    }
    observe(attempt, &InstanceName::primary(), series::foreign::CPU, "", |_| 0.8);
}

/// A record whose users come by a relay of 1 ms at its first point, which has no standby; the relay is late by so much, ms.
fn users_behind_a_relay(late_p50: f64, late_p99: f64) -> Record {
    let mut record = replicated();
    let trip = Value::Duration(Duration::from_millis(1));
    record.plan.points[0].levels.insert("clients.rtt".to_owned(), trip);
    let attempt = record.attempts.iter_mut().find(|attempt| attempt.run.point == 0).expect("point 0 was measured");
    let primary = InstanceName::primary();
    for direction in ["to_primary", "to_users"] {
        observe(attempt, &primary, series::relay::LATE_P50, direction, |_| late_p50);
        observe(attempt, &primary, series::relay::LATE_P99, direction, |_| late_p99);
        observe(attempt, &primary, series::relay::CPU, direction, |_| 0.125);
    }
    let measured = proofload_model::facts::replication::RTT_P50.observed(1.1, "a test");
    attempt.facts.push(Fact { instance: InstanceName::clients(), ..measured });
    record
}

#[test]
fn a_late_relay_of_the_users_voids_by_both_bounds_and_is_repeated_where_others_took_the_host() {
    let voids = |record: &Record| evaluate(record).points[0].runs[0].voids.clone();
    let kept = users_behind_a_relay(0.06, 8.0);
    assert!(voids(&kept).is_empty(), "{:?}", voids(&kept));
    for (late, what) in [((0.4, 8.0), "the median"), ((0.06, 25.0), "the 99th percentile")] {
        let found = voids(&users_behind_a_relay(late.0, late.1));
        assert_eq!((found.len(), found[0].class), (1, VoidClass::Verification), "{found:?}");
        assert!(found[0].text.starts_with(&format!("the relay of the users was late: {what}")), "{found:?}");
    }
    let outside = |record: &Record| {
        let attempt = record.attempts.iter().find(|attempt| attempt.run.point == 0).expect("point 0 was measured");
        disturbed_from_outside(attempt, &record.plan.settings(&record.study, 0))
    };
    let mut busy = users_behind_a_relay(0.4, 8.0);
    assert_eq!(outside(&busy), None, "nobody else had the host");
    beside_others(&mut busy, 0);
    let found = voids(&busy);
    assert_eq!(found[0].class, VoidClass::Host, "{found:?}");
    let repeated = outside(&busy).expect("it is repeated");
    assert!(
        repeated.starts_with("the relay of the users was late: ") && repeated.contains("others took"),
        "{repeated}"
    );
}

#[test]
fn the_link_of_the_users_has_a_row_with_and_without_standbys() {
    let page = render(&users_behind_a_relay(0.06, 8.0), Format::Markdown).unwrap();
    assert!(page.contains("| users | 1 | 1.1 | 0.06 | 8 | 0.25 |"), "{page}");
    assert!(page.contains("connected directly"), "standbys are: {page}");
    let mut record = crate::support::record(&Shape::memory(1));
    record.study.settings.0.insert("clients.rtt".to_owned(), Value::Duration(Duration::from_millis(2)));
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("Link between users and database, and the relay on it."), "{page}");
    assert!(page.contains("| users | 2 |"), "{page}");
}

#[test]
fn each_link_has_a_row_with_what_was_asked_and_what_its_relay_did() {
    let page = render(&behind_a_relay(|_| 0.06, 8.0), Format::Markdown).unwrap();
    assert!(page.contains("Link to each standby, and the relay on it"), "{page}");
    assert!(page.contains("| standby-1 | 1 | 1.1 | 0.06 | 8 | 0.25 |"), "{page}");
    assert!(!render(&replicated(), Format::Markdown).unwrap().contains("the relay on it"), "connected directly");
}
