//! Studies with standbys: what a mode keeps, what voids it, and that figures of the database are those of the primary.

mod support;

use proofload_model::deployment::InstanceName;
use proofload_model::events::{ReplicationProof, RunEvent};
use proofload_model::replication::ReplicationMode;
use proofload_model::samples::Fact;
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::Value;
use proofload_model::study::Factor;
use proofload_model::time::WallTime;
use proofload_record::{Attempt, AttemptEvent, Record, SeriesPoint};
use proofload_report::export::{Selection, write_openmetrics};
use proofload_report::findings::{VoidClass, evaluate};
use proofload_report::{Format, render};
use support::{Shape, record};

const MODE: &str = "replication.mode";

/// A record of two points, alone and with a standby that flushes.
fn replicated() -> Record {
    let mut record = record(&Shape::memory(2));
    let levels = ["none", "remote_flush"].map(|word| Value::Text(word.to_owned()));
    for (point, level) in record.plan.points.iter_mut().zip(&levels) {
        point.levels.remove("limits.memory");
        point.levels.insert(MODE.to_owned(), level.clone());
    }
    record.study.factors = vec![Factor { setting: MODE.to_owned(), levels: levels.to_vec() }];
    let with_standby = record.attempts.iter_mut().filter(|attempt| attempt.run.point == 1);
    for attempt in with_standby {
        observe(attempt, &InstanceName::primary(), series::replication::OUT_OF_FORCE, "", |_| 0.0);
        observe(attempt, &InstanceName::primary(), series::replication::LOG, "", |_| 5e6);
        observe(attempt, &InstanceName::primary(), series::replication::UNAPPLIED, "standby-1", |_| 2e6);
        role(attempt, &InstanceName::primary(), "walsender", 1, 97.0);
        role(attempt, &InstanceName::primary(), "proofload proofload", 8, 300.0);
        role(attempt, &InstanceName::standby(1), "walreceiver", 1, 20.0);
        let proof = ReplicationProof {
            mode: ReplicationMode::RemoteFlush,
            in_force_after: 0.05,
            waited_for_link: true,
            waited_for_apply: false,
        };
        attempt.events.push(AttemptEvent::new(WallTime(0), RunEvent::ReplicationProved(proof)));
    }
    record
}

/// Adds a series of an instance with the seconds of the cores' series.
fn observe(
    attempt: &mut Attempt,
    of: &InstanceName,
    wanted: SeriesName,
    component: &str,
    value: impl Fn(usize) -> f64,
) {
    let like = attempt.series.iter().find(|series| series::cores::BUSY.is_of(&series.probe, &series.name));
    let mut added: SeriesPoint = like.expect("cores are observed").clone();
    (added.probe, added.name) = (wanted.probe.to_owned(), wanted.name.to_owned());
    (added.component, added.instance) = (component.to_owned(), of.clone());
    added.samples.iter_mut().enumerate().for_each(|(second, sample)| sample.2 = value(second));
    attempt.series.push(added);
}

fn role(attempt: &mut Attempt, of: &InstanceName, role: &str, threads: u32, percent: f64) {
    observe(attempt, of, series::threads::ROLE, role, |_| percent);
    observe(attempt, of, series::threads::ROLE_THREADS, role, |_| f64::from(threads));
}

#[test]
fn what_a_mode_keeps_and_which_thread_pays_is_the_answer() {
    let record = replicated();
    let page = render(&record, Format::Markdown).unwrap();
    let summary = page.split("## 1 ").next().unwrap();
    assert!(summary.contains("Of the throughput without standbys, **remote\\_flush** keeps "), "{summary}");
    assert!(
        summary.contains("One thread can do no more: walsender of primary at remote\\_flush, with 97"),
        "{summary}"
    );
    assert!(page.contains("What protection costs"), "{page}");
    assert!(page.contains("walreceiver 20") && page.contains("client sessions (8 threads) 300"), "{page}");
    assert!(page.contains("a commit waited more than 0.5 s in 1 run and"), "{page}");
    assert!(page.contains("connected directly"), "{page}");
    let single = render(&support::record(&Shape::memory(2)), Format::Markdown).unwrap();
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
    assert!(text.starts_with("replication was out of force in 1 readings from second "), "{text}");
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
