//! What a figure may claim where the kernel hides what others do, and where others use the device.

use crate::support::{Shape, json_of, observe, record};
use proofload_model::facts::limit;
use proofload_model::samples::Fact;
use proofload_model::series;
use proofload_record::{Attempt, Record};
use proofload_report::findings::{Estimand, PointFindings, disturbed_from_outside, evaluate};
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
    show(&mut record.attempts[0], 0.0);
}

/// Shows that others used this share of both cores.
fn show(attempt: &mut Attempt, share: f64) {
    for core in ["0", "1"] {
        observe(attempt, series::cores::STEAL, core, |_| 0.0);
    }
    observe(attempt, series::foreign::CPU, "", |_| 2.0 * share);
}

/// A record of one point for each of these: the share that others were seen to use; `None` where the spin probe alone tells of them.
fn told_by(points: &[Option<f64>]) -> Record {
    let mut record = record(&Shape::memory(points.len() as u32));
    for attempt in &mut record.attempts {
        match points[attempt.run.point as usize] {
            Some(share) => show(attempt, share),
            None => observe(attempt, series::spin::RATIO, "", |_| 1.01),
        }
    }
    record
}

/// What the spin probe alone tells is said of the points where it does.
#[test]
fn points_that_are_quiet_by_the_spin_probe_are_named() {
    let page = |points: &[Option<f64>]| {
        render(&told_by(points), Format::Markdown).expect("the record has points").replace('\u{a0}', " ")
    };
    let (some, all) = (page(&[None, Some(0.0)]), page(&[None, None]));
    let told = "Figures are those of a quiet host, by the spin probe for 64 MiB, where neither steal nor other processes can be seen.";
    assert!(some.contains(told), "{some}");
    assert!(all.contains("Figures are those of a quiet host, by the spin probe: neither steal"), "{all}");
    let mixed = page(&[Some(0.4), None, Some(0.0)]);
    let told = "took up to 40 % of the CPU: 64 MiB; quiet host: 256 MiB; quiet host, by the spin probe: 128 MiB.";
    assert!(mixed.contains(told), "{mixed}");
    let blind = page(&[Some(0.4), None]);
    assert!(blind.contains("of the CPU: 64 MiB; quiet host, by the spin probe: 128 MiB."), "{blind}");
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

/// What decides the class of a void point decides whether its run is repeated.
#[test]
fn a_run_beside_others_who_read_from_a_busy_device_is_repeated() {
    let repeated = |record: &Record| disturbed_from_outside(&record.attempts[0], &record.study.settings);
    let mut beside = beside_reads(600.0, 50.0);
    assert!(repeated(&beside).is_some_and(|why| why.starts_with("others made 40 % of the reads to the device")));
    assert_eq!(repeated(&beside_reads(1_000.0, 50.0)), None);
    assert_eq!(repeated(&beside_reads(600.0, 5.0)), None, "a device that does next to nothing");
    let read_back = Fact::observed("limit", &limit::READ_IOPS.name, "600".to_owned(), "test");
    beside.attempts[0].facts.push(Fact { number: Some(600.0), ..read_back });
    assert_eq!(repeated(&beside), None, "its own limit was reached all the time");
}
