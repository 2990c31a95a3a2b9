//! Paced loads as a report tells them: efficiency, limits of response times, what was done later.

use crate::support::{Shape, histogram, record};
use proofload_model::samples::{Fact, OperationCounts};
use proofload_record::Record;
use proofload_report::findings::evaluate;
use proofload_report::metrics::{MetricKey, PACED_EFFICIENCY};
use proofload_report::{Format, render};

/// A paced and a saturated point. In each second of the paced one a Delivery that took so long was done later.
fn paced(deferred_ns: u64) -> Record {
    let factors = "[[factor]]\nsetting = \"workload.pacing\"\nlevels = [\"saturated\", \"paced\"]\n".to_owned();
    let mut record = record(&Shape { factors, ..Shape::memory(1) });
    let runs: Vec<u32> = record.plan.runs.iter().filter(|run| run.point == 1).map(|run| run.index).collect();
    for attempt in record.attempts.iter_mut().filter(|attempt| runs.contains(&attempt.run.index)) {
        for (name, value) in [
            ("virtual_users", "40000"),
            ("connections", "100"),
            ("delivery_workers", "4"),
            ("ceiling_per_minute", "50420"),
        ] {
            attempt.facts.push(Fact::observed("client", name, value, "load agent"));
        }
        for interval in &mut attempt.intervals {
            let kind = "deferred_delivery".to_owned();
            interval.histograms.push(histogram(kind.clone(), deferred_ns));
            interval.counts.push(OperationCounts { kind, due: 1, done: 1, ..OperationCounts::default() });
        }
    }
    record
}

#[test]
fn what_is_done_later_is_no_throughput_and_nobody_waits_for_it() {
    let record = paced(79_000_000_000);
    let findings = evaluate(&record);
    let value = |name: &str| {
        let key: MetricKey = name.parse().unwrap();
        findings.points[1].metric(key).expect("it was measured").value()
    };
    let by_kind: u64 = record.attempts.iter().find(|attempt| attempt.run.point == 1).map_or(0, |attempt| {
        let inside = attempt.intervals.iter().filter(|interval| (16..46).contains(&interval.index));
        inside.flat_map(|interval| &interval.counts[..5]).map(|counts| counts.done + counts.rolled_back).sum()
    });
    assert!((value("throughput") * 30.0 - by_kind as f64).abs() < 1e-6);
    assert!(value("response_ns_p999.all") < 1e9, "79 s are not among what users waited for");
    assert!(value("response_ns_p99.deferred_delivery") > 78e9);
    let new_orders = value("paced_per_minute");
    assert!((value("efficiency_percent") - 100.0 * new_orders / 50_420.0).abs() < 1e-9);
    assert!((value("paced_per_minute_and_scale") - new_orders / 4.0).abs() < 1e-6);
    assert!(new_orders > value("nopm"), "those rolled back count");
    assert!(findings.points[0].metric(PACED_EFFICIENCY).is_err(), "a saturated load has no ceiling");
    assert_eq!(findings.points[1].verdict.word(), "valid");
}

#[test]
fn a_missed_limit_voids_the_run_and_is_shown() {
    let record = paced(81_000_000_000);
    let findings = evaluate(&record);
    let voids: Vec<String> = findings.points[1].runs[0].voids.iter().map(ToString::to_string).collect();
    let [only] = &voids[..] else { panic!("{voids:?}") };
    assert!(
        only.starts_with("a response time limit of paced users was exceeded: 90 % of deferred_delivery took up to 81"),
        "{only}"
    );
    let text = render(&record, Format::Markdown).expect("the record has points");
    let section = text.split("Pacing\n").nth(1).expect("it has the section");
    for part in ["Delivery, deferred part", "✗ **missed**", "✓ kept", "40,000", "50,420"] {
        assert!(section.contains(part), "{part} is missing in {section}");
    }
    let saturated = render(&record_of_saturated(), Format::Markdown).expect("the record has points");
    assert!(!saturated.contains("Shared sessions"));
}

fn record_of_saturated() -> Record {
    record(&Shape::memory(2))
}
