//! What a figure may claim where the kernel hides what others do, and where others use the device.

use crate::support::{Shape, json_of, observe, record};
use proofload_model::series;
use proofload_record::Record;
use proofload_report::findings::{Estimand, PointFindings, evaluate};
use proofload_report::{Format, render};

fn point(record: &Record) -> PointFindings {
    evaluate(record).points.remove(0)
}

/// A record of one point on a host that shows neither steal nor other processes, with what the spin probe told.
fn spun(ratio: f64) -> Record {
    let mut record = record(&Shape::memory(1));
    let attempt = &mut record.attempts[0];
    observe(attempt, series::spin::RATIO, "", |_| ratio);
    observe(attempt, series::spin::RATIO_MAX, "", |_| 2.0 * ratio);
    observe(attempt, series::spin::PIECES, "", |_| 10.0);
    record
}

/// Shows that nobody took any CPU.
fn shown(record: &mut Record) {
    for core in ["0", "1"] {
        observe(&mut record.attempts[0], series::cores::STEAL, core, |_| 0.0);
    }
    observe(&mut record.attempts[0], series::foreign::CPU, "", |_| 0.0);
}

#[test]
fn a_host_that_hides_others_is_quiet_by_the_spin_probe_alone() {
    assert_eq!(point(&record(&Shape::memory(1))).estimand, Some(Estimand::AsGiven), "nobody looked");
    let free = spun(1.01);
    let found = point(&free);
    assert_eq!((&found.estimand, found.others()), (&Some(Estimand::QuietBySpin), None));
    let json = json_of(&free);
    let told = &json["points"][0];
    assert_eq!(
        (&told["estimand"]["name"], &told["estimand"]["text"]),
        (&"quiet host".into(), &"quiet host, by the spin probe".into())
    );
    assert_eq!(told["runs"][0]["host"]["spin"]["whole"], true, "{told}");
    let page = render(&free, Format::Markdown).unwrap().replace('\u{a0}', " ");
    assert!(page.contains("Figures are those of a quiet host, by the spin probe"), "{page}");
}

#[test]
fn a_thread_that_is_kept_from_its_core_makes_the_figures_as_given() {
    let crowded = spun(1.25);
    let found = point(&crowded);
    assert_eq!(found.estimand, Some(Estimand::AsGiven));
    let told = found.others().expect("it is told");
    assert!(told.contains("was kept from its core for 20 % of its time, by others or by the load itself"), "{told}");
    let json = json_of(&crowded);
    assert_eq!(json["points"][0]["runs"][0]["host"]["as_given_since"], told.as_str(), "{json}");
    let page = render(&crowded, Format::Markdown).unwrap().replace('\u{a0}', " ");
    assert!(page.contains("Figures are as given by this host, where the spin probe"), "{page}");
    let host = found.runs[0].host.as_ref().expect("it is told");
    assert_eq!(host.text(), None, "nobody is blamed: the load keeps a thread from its core as well");
}

#[test]
fn a_second_that_the_spin_probe_did_not_read_may_not_be_called_quiet() {
    let mut record = spun(1.01);
    let attempt = &mut record.attempts[0];
    let (from, to) = attempt.window().expect("it was measured");
    let unread = (from + to) as f64 / 2.0;
    // In a second without a piece of computing the probe tells the number alone.
    let ratios = attempt.series.iter_mut().filter(|series| series::spin::RATIO.is_of(&series.probe, &series.name));
    ratios.for_each(|series| series.samples.retain(|(at, ..)| (at.as_seconds() - unread).abs() > 1.0));
    let found = point(&record);
    assert_eq!(found.estimand, Some(Estimand::AsGiven));
    assert!(found.others().is_some_and(|told| told.contains("did not read every second")), "{:?}", found.others());
}

#[test]
fn where_others_are_seen_the_spin_probe_decides_nothing() {
    let mut record = spun(1.25);
    shown(&mut record);
    assert_eq!(point(&record).estimand, Some(Estimand::QuietHost));
}

/// A record of one point beside whose reads others read, on a device that is busy for some of the time, in per cent.
fn beside_reads(own: f64, busy: f64) -> Record {
    let mut record = record(&Shape::memory(1));
    shown(&mut record);
    let attempt = &mut record.attempts[0];
    attempt.series.retain(|series| series.probe != series::device::PROBE);
    observe(attempt, series::device::READS, "vda", |_| 1_000.0);
    observe(attempt, series::device::BUSY, "vda", |_| busy);
    observe(attempt, series::group::READS, "vda", |_| own);
    record
}

#[test]
fn others_who_read_from_a_busy_device_make_the_figures_as_given() {
    let estimand = |own: f64, busy: f64| point(&beside_reads(own, busy)).estimand;
    assert_eq!(estimand(1_000.0, 50.0), Some(Estimand::QuietHost));
    assert_eq!(estimand(600.0, 5.0), Some(Estimand::QuietHost), "a device that does next to nothing");
    let beside = beside_reads(600.0, 50.0);
    let found = point(&beside);
    assert_eq!(found.estimand, Some(Estimand::AsGiven));
    let told = found.others().expect("it is told");
    assert!(told.contains("others made 40 % of the reads to the device"), "{told}");
    let page = render(&beside, Format::Markdown).unwrap().replace('\u{a0}', " ");
    assert!(page.contains("Figures are as given by this host, where others made 40 % of the reads"), "{page}");
}

#[test]
fn writes_of_a_journal_say_nothing_of_others() {
    let mut record = beside_reads(1_000.0, 80.0);
    let attempt = &mut record.attempts[0];
    observe(attempt, series::device::WRITES, "vda", |_| 1_000.0);
    observe(attempt, series::group::WRITES, "vda", |_| 100.0);
    assert_eq!(point(&record).estimand, Some(Estimand::QuietHost));
}
