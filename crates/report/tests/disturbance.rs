//! What others did on the host: what a figure may claim then, and what records from before said of it.

use crate::support::{Shape, json_of, judged_before, observe, record, replicated, unsettled};
use proofload_model::deployment::InstanceName;
use proofload_model::facts::{FactName, limit};
use proofload_model::samples::{ErrorCount, Fact, PAST_DEADLINE};
use proofload_model::series;
use proofload_model::settings::Value;
use proofload_record::{Record, SeriesPoint};
use proofload_report::findings::comparison::{Comparison, ComparisonFilter, NamedRecord, compare};
use proofload_report::findings::{
    Estimand, PointFindings, Verdict, Void, VoidClass, disturbed_from_outside, evaluate, judge_again,
};
use proofload_report::{ComparisonFormat, Format, render, render_comparison};

/// A record of one point on a host where others use this share of both cores and nothing is stolen.
fn beside(share: f64) -> Record {
    let mut record = record(&Shape::memory(1));
    for core in ["0", "1"] {
        observe(&mut record.attempts[0], series::cores::STEAL, core, |_| 0.0);
    }
    observe(&mut record.attempts[0], series::foreign::CPU, "", |_| 2.0 * share);
    observe(&mut record.attempts[0], series::foreign::PROCESS, "cc1", |_| 2.0 * share);
    record
}

/// A limit that was read back.
fn limited(record: &mut Record, name: &FactName, rate: f64) {
    let fact = Fact { number: Some(rate), ..Fact::observed("limit", &name.name, rate.to_string(), "test") };
    record.attempts[0].facts.push(fact);
}

fn point(record: &Record) -> PointFindings {
    evaluate(record).points.remove(0)
}

#[test]
fn a_figure_says_of_which_host_it_is() {
    let quiet = point(&beside(0.01));
    assert_eq!((quiet.estimand, quiet.verdict), (Some(Estimand::QuietHost), Verdict::Valid));
    let busy = beside(0.4);
    let found = point(&busy);
    assert_eq!((&found.estimand, &found.verdict), (&Some(Estimand::AsGiven), &Verdict::Valid));
    assert_eq!(found.others().as_deref(), Some("others took 40 % of the CPU (cc1 0.8 cores)"));
    let (text, page) = (render(&busy, Format::Text).unwrap(), render(&busy, Format::Markdown).unwrap());
    assert!(text.contains("64 MiB is as given: others took 40 % of the CPU (cc1 0.8 cores)"), "{text}");
    assert!(
        page.contains("Figures are as given by this host, where other load took up to 40 % of the CPU")
            && page.contains("cc1 0.80 cores"),
        "{page}"
    );
    assert!(page.contains("limit of the study was always reached. Here they are as given by this host."), "{page}");
    let page = render(&beside(0.01), Format::Markdown).unwrap();
    assert!(page.contains("Figures are those of a quiet host."), "{page}");
    assert!(page.contains("Here they are those of a quiet host.") && !page.contains("as given by this host"), "{page}");
    let json = &json_of(&busy)["points"][0];
    assert_eq!(
        (&json["estimand"]["name"], &json["runs"][0]["host"]["processes"][0]["name"]),
        (&"as given".into(), &"cc1".into())
    );
    let blind = point(&record(&Shape::memory(1)));
    assert_eq!((blind.estimand.clone(), blind.others()), (Some(Estimand::AsGiven), None), "nobody looked");
}

/// A record of three points on a host where others use two fifths of both cores while the first is measured, and next to nothing later.
fn beside_the_first() -> Record {
    let mut record = record(&Shape::memory(3));
    for attempt in &mut record.attempts {
        let share = if attempt.run.point == 0 { 0.4 } else { 0.01 };
        for core in ["0", "1"] {
            observe(attempt, series::cores::STEAL, core, |_| 0.0);
        }
        observe(attempt, series::foreign::CPU, "", |_| 2.0 * share);
    }
    record
}

#[test]
fn points_of_one_study_that_are_not_of_the_same_host_are_named() {
    let record = beside_the_first();
    let page = render(&record, Format::Markdown).unwrap();
    let claim =
        "As given by this host, where other load took up to 40 % of the CPU: 64 MiB; quiet host: 128 MiB, 256 MiB.";
    assert!(page.replace('\u{a0}', " ").contains(claim), "{page}");
    assert!(page.contains(" | Estimand | Verdict |"), "{page}");
    let typst = render(&record, Format::Typst).unwrap();
    let html = render(&record, Format::Html).unwrap();
    // The paper has no table of results: its opening names the points.
    assert!(typst.replace('\u{a0}', " ").contains("128 MiB, 256 MiB"), "{typst}");
    assert!(html.contains("Estimand") && html.contains("as given"), "{html}");
    let csv = render(&record, Format::Csv).unwrap();
    for (point, name) in ["as given", "quiet host", "quiet host"].iter().enumerate() {
        let told: Vec<&str> = csv.lines().filter(|line| line.starts_with(&format!("{point},"))).collect();
        assert!(!told.is_empty() && told.iter().all(|line| line.contains(&format!(",{name},"))), "{csv}");
    }
    let points = render(&record, Format::Points).unwrap();
    let told = |name: &str| points.lines().filter(|line| line.contains(&format!(",{name},valid"))).count();
    assert!(points.contains(",Estimand,Verdict") && (told("as given"), told("quiet host")) == (1, 2), "{points}");
}

#[test]
fn figures_of_void_points_are_not_claimed_with_those_of_valid_ones() {
    let mut record = beside_the_first();
    let disturbed = record.attempts.iter_mut().find(|attempt| attempt.run.point == 0).expect("it ran");
    disturbed.seal_holds = Some(false);
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("Figures of valid points are those of a quiet host."), "{page}");
    assert!(!page.contains("Figures are those of a quiet host"), "the table has one that is as given: {page}");
}

fn compared<'r>(baseline: &'r Record, candidate: &'r Record) -> Comparison<'r> {
    let named = |file: &str, record: &'r Record| NamedRecord { file: file.to_owned(), sha256: file.to_owned(), record };
    let chosen = ComparisonFilter { metrics: vec!["tpm".to_owned()], levels: Vec::new() };
    compare(named("a.proof", baseline), named("b.proof", candidate), &chosen).expect("comparable")
}

#[test]
fn a_comparison_says_where_the_two_are_not_figures_of_the_same_host() {
    let (quiet, busy) = (beside(0.01), beside(0.4));
    let warning = |baseline: &Record, candidate: &Record| {
        let comparison = compared(baseline, candidate);
        let text = render_comparison(&comparison, ComparisonFormat::Text).replace(['\n', '\u{a0}'], " ");
        let page = render_comparison(&comparison, ComparisonFormat::Markdown);
        let found = comparison.warnings.iter().find(|warning| warning.contains("a quiet-host figure")).cloned();
        (found.map(|found| found.replace('\u{a0}', " ")), text, page)
    };
    let (found, text, page) = warning(&quiet, &busy);
    let at = "database memory 64 MiB";
    let expected = format!("A is a quiet-host figure, B as given ({at}): the ratio holds for what each host gave");
    assert_eq!(found, Some(expected));
    assert!(text.contains("Estimands: A quiet host, B as given."), "{text}");
    assert!(page.contains("| A quiet host, B as given |"), "{page}");
    let expected = format!("B is a quiet-host figure, A as given ({at}): the ratio holds for what each host gave");
    assert_eq!(warning(&busy, &quiet).0, Some(expected));
    assert_eq!(warning(&quiet, &beside(0.02)).0, None);
}

#[test]
fn a_table_of_results_names_no_estimand_where_none_was_told() {
    let mut record = record(&Shape::memory(1));
    judged_before(&mut record, |_| ());
    assert_eq!(point(&record).estimand, None);
    assert!(!render(&record, Format::Markdown).unwrap().contains("| Estimand |"));
}

/// A record of one point whose database may use core 0 alone of two, uses this share of it, and has busy neighbours on another core.
fn beside_on_another_core(used: f64) -> Record {
    let mut record = record(&Shape::memory(1));
    let attempt = &mut record.attempts[0];
    attempt.facts.retain(|fact| fact.name != "cores");
    attempt.facts.push(Fact::observed("limit", "cores", "1 (0)", "sched_getaffinity of every thread"));
    for core in ["0", "1"] {
        observe(attempt, series::cores::STEAL, core, |_| 0.0);
    }
    for series in attempt.series.iter_mut().filter(|series| series::cores::BUSY.is_of(&series.probe, &series.name)) {
        series.samples.iter_mut().for_each(|sample| sample.2 = 95.0);
    }
    observe(attempt, series::group::CPU, "", |_| used);
    observe(attempt, series::foreign::CPU, "", |_| 0.9);
    observe(attempt, series::foreign::CLIENT_CPU, "", |_| 0.3);
    observe(attempt, series::foreign::CLIENT_CPU_THERE, "", |_| 0.05);
    record
}

#[test]
fn only_the_cores_that_the_database_may_use_count() {
    let elsewhere = point(&beside_on_another_core(0.9));
    assert_eq!(elsewhere.estimand, Some(Estimand::QuietHost), "{:?}", elsewhere.others());
    let there = beside_on_another_core(0.5);
    let found = point(&there);
    assert_eq!(found.estimand, Some(Estimand::AsGiven));
    let host = found.runs[0].host.as_ref().expect("it was observed");
    assert!((host.taken() - 0.4).abs() < 1e-9, "{:?}", host.disturbance);
    let retried = disturbed_from_outside(&there.attempts[0], &there.study.settings).expect("the retries say the same");
    assert!(retried.contains("others took 40 %"), "{retried}");
    assert_eq!(disturbed_from_outside(&beside_on_another_core(0.9).attempts[0], &there.study.settings), None);
    let share = json_of(&there)["points"][0]["metrics"]["database_cpu_percent"]["value"].as_f64();
    assert!(share.is_some_and(|share| (share - 50.0).abs() < 1e-6), "the database's own part: {share:?}");
}

/// The probe tells no steal on a guest whose counters have stood at 0 since boot.
#[test]
fn a_host_that_shows_no_steal_is_not_called_quiet() {
    let mut record = beside(0.0);
    record.attempts[0].series.retain(|series| !series::cores::STEAL.is_of(&series.probe, &series.name));
    assert_eq!(point(&record).estimand, Some(Estimand::AsGiven));
    let page = render(&record, Format::Markdown).unwrap();
    assert!(page.contains("other guests not observed"), "{page}");
    assert!(page.contains("Figures are as given by this host, where the load of other guests"), "{page}");
}

#[test]
fn requests_of_a_standby_on_the_same_host_are_ours() {
    let foreign = |elsewhere: bool| {
        let mut record = beside(0.01);
        let attempt = &mut record.attempts[0];
        attempt.series.retain(|series| series.probe != series::device::PROBE);
        for (wanted, requests) in [(series::device::READS, 1_000.0), (series::device::WRITES, 1_000.0)] {
            observe(attempt, wanted, "vda", |_| requests);
        }
        let primary = InstanceName::default();
        for (instance, each) in [(&primary, 600.0), (&InstanceName::standby(1), 300.0)] {
            for wanted in [series::group::READS, series::group::WRITES] {
                replicated::observe(attempt, instance, wanted, "vda", |_| each);
            }
        }
        if elsewhere {
            let hosts = Value::List(vec!["db2=10.0.0.2".to_owned()]);
            record.study.settings.0.insert("agents.standby_hosts".to_owned(), hosts);
            record.study.settings.0.insert("agents.address".to_owned(), Value::Text("10.0.0.1".to_owned()));
            let command = Value::List(vec!["ssh".to_owned(), "{host}".to_owned()]);
            record.study.settings.0.insert("agents.standby".to_owned(), command);
        }
        point(&record).runs[0].host.as_ref().and_then(|host| host.foreign_requests).expect("it was observed")
    };
    assert!((foreign(false) - 0.1).abs() < 1e-9, "{}", foreign(false));
    assert!((foreign(true) - 0.4).abs() < 1e-9, "a device of that name on another host: {}", foreign(true));
}

#[test]
fn a_limit_that_was_reached_all_the_time_makes_the_host_irrelevant() {
    let with = |used: fn(usize) -> f64| {
        let mut record = beside(0.4);
        limited(&mut record, &limit::CPU, 0.4);
        observe(&mut record.attempts[0], series::group::CPU, "", used);
        point(&record).estimand
    };
    assert_eq!(with(|_| 0.398), Some(Estimand::BoundBy("limits.cpu")));
    assert_eq!(with(|second| if second % 3 == 0 { 0.2 } else { 0.398 }), Some(Estimand::AsGiven));
    let mut reads = beside(0.4);
    limited(&mut reads, &limit::READ_IOPS, 500.0);
    observe(&mut reads.attempts[0], series::group::READS, "vda", |_| 499.0);
    assert_eq!(point(&reads).estimand.unwrap().to_string(), "quiet host, bound by limits.read_iops");
    // Others took 40 %: nobody may read that the host was quiet.
    let page = render(&reads, Format::Html).unwrap();
    assert!(page.contains("a limit was always reached") && !page.contains("the host was quiet"), "{page}");
    assert!(page.contains("Here such a limit was always reached."), "{page}");
}

/// Makes throughput fall by and by.
fn let_fall(record: &mut Record) {
    for interval in &mut record.attempts[0].intervals {
        let slower = 1.0 - 0.015 * interval.index as f64;
        for counts in &mut interval.counts {
            counts.done = (counts.done as f64 * slower.max(0.1)) as u64;
        }
    }
}

/// Why a record is void whose throughput is made to fall.
fn falling(mut record: Record) -> Void {
    let_fall(&mut record);
    fall_of(&record)
}

fn fall_of(record: &Record) -> Void {
    let Verdict::Void(reasons) = point(record).verdict else { panic!("it moves") };
    reasons.into_iter().find(|reason| reason.text.contains("still falling")).expect("that is said")
}

/// Why a record is void in each second of which one operation fails with this code.
fn failing(mut record: Record, code: &str) -> Void {
    for interval in &mut record.attempts[0].intervals {
        let counts =
            interval.counts.iter_mut().find(|counts| counts.done > 0).expect("something is done in each second");
        counts.done -= 1;
        counts.failed += 1;
        let (kind, code, text) = (counts.kind.clone(), code.to_owned(), "no answer within 1s".to_owned());
        interval.errors.push(ErrorCount { kind, code, text, count: 1 });
    }
    let Verdict::Void(reasons) = point(&record).verdict else { panic!("operations failed") };
    reasons.into_iter().find(|reason| reason.text.contains("operations failed (")).expect("that is said")
}

/// An operation that nobody answered in time beside others may be in time without them; one that was refused was refused.
#[test]
fn deadlines_that_were_missed_beside_others_may_be_measured_again() {
    let late = failing(beside(0.4), PAST_DEADLINE);
    assert_eq!(late.class, VoidClass::Host, "{}", late.text);
    for part in
        [" of them without an answer within workload.deadline; ", "; meanwhile others took 40 % of the CPU (cc1"]
    {
        assert!(late.text.contains(part), "{}", late.text);
    }
    for (share, code) in [(0.0, PAST_DEADLINE), (0.4, "40001"), (0.0, "40001")] {
        let failed = failing(beside(share), code);
        assert_eq!(failed.class, VoidClass::Verification, "{share}, {code}: {}", failed.text);
    }
    let mut stood = beside(0.0);
    let (from, to) = stood.attempts[0].window().expect("it has one");
    let second = stood.attempts[0].intervals.iter_mut().find(|interval| interval.index == u64::midpoint(from, to));
    second.expect("it is recorded").client.paused_ns = 2_000_000_000;
    let stood = failing(stood, PAST_DEADLINE);
    assert!(
        stood.class == VoidClass::Host && stood.text.contains("; meanwhile the load generator stood still"),
        "{}",
        stood.text
    );
}

/// The same movement is the host's fault where others were seen at work, and otherwise the system's.
#[test]
fn movement_beside_others_may_be_measured_again() {
    let (alone, beside) = (falling(beside(0.0)), falling(beside(0.4)));
    assert_eq!((alone.class, beside.class), (VoidClass::NotSteady, VoidClass::Host));
    assert!(beside.text.ends_with("; meanwhile others took 40 % of the CPU (cc1 0.8 cores)"), "{}", beside.text);
}

/// A record beside others whose limit of CPU time, or of reads, was reached all the time.
fn bound(share: f64, by_device: bool) -> Record {
    let mut record = beside(share);
    limited(&mut record, &limit::CPU, 0.4);
    observe(&mut record.attempts[0], series::group::CPU, "", |second| if second % 2 == 0 { 0.397 } else { 0.399 });
    if by_device {
        limited(&mut record, &limit::READ_IOPS, 500.0);
        observe(&mut record.attempts[0], series::group::READS, "vda", |_| 499.0);
    }
    record
}

/// Caches and sibling threads are shared whatever CPU time a group gets, so that only a limit of the device excuses others.
#[test]
fn a_reached_limit_of_cpu_time_excuses_nobody() {
    // What others take varies, and the fall does not follow it.
    let mut varying = bound(0.8, false);
    let of_others = |series: &&mut SeriesPoint| series::foreign::CPU.is_of(&series.probe, &series.name);
    for series in varying.attempts[0].series.iter_mut().filter(of_others) {
        let taken = |second: usize| if (second / 10).is_multiple_of(2) { 1.7 } else { 1.5 };
        series.samples.iter_mut().enumerate().for_each(|(second, sample)| sample.2 = taken(second));
    }
    let_fall(&mut varying);
    assert_eq!(point(&varying).estimand, Some(Estimand::BoundBy("limits.cpu")));
    assert_eq!(fall_of(&varying).class, VoidClass::Host);
    assert_eq!(point(&bound(0.8, false)).estimand, Some(Estimand::BoundBy("limits.cpu")));
    let beside = falling(bound(0.8, false));
    assert_eq!(beside.class, VoidClass::Host, "{}", beside.text);
    assert!(beside.text.contains("; meanwhile others took 80 % of the CPU"), "{}", beside.text);
    assert_eq!(falling(bound(0.04, false)).class, VoidClass::NotSteady, "no more than is tolerated");
    assert_eq!(falling(bound(0.8, true)).class, VoidClass::NotSteady, "bound by the device");
    let repeated = |share: f64, by_device: bool| {
        let record = bound(share, by_device);
        disturbed_from_outside(&record.attempts[0], &record.study.settings)
    };
    assert!(repeated(0.8, false).is_some_and(|why| why.starts_with("others took 80 % of the CPU")));
    assert_eq!((repeated(0.04, false), repeated(0.8, true)), (None, None));
}

/// Others who always take the same explain nothing by their variation: work that varies then may be theirs.
#[test]
fn work_per_cpu_second_is_told_and_decides_what_a_limit_of_cpu_time_may_claim() {
    let json = json_of(&bound(0.8, false));
    let metrics = &json["points"][0]["metrics"];
    let value = |name: &str| metrics[name]["value"].as_f64().expect("it was observed");
    assert!((value("work_per_cpu_s") / (value("throughput") / 0.398) - 1.0).abs() < 1e-3, "{metrics}");
    assert!(metrics["work_per_cpu_s"]["ci95"].is_array(), "{metrics}");
    assert!(json_of(&beside(0.8))["points"][0]["metrics"].get("work_per_cpu_s").is_none(), "no group was seen");
    let page = render(&bound(0.8, false), Format::Markdown).expect("the record has points");
    assert!(page.replace('\u{a0}', " ").contains("Work per CPU second"), "{page}");
    let uneven = |share: f64, lost: bool| {
        let mut record = bound(share, false);
        let attempt = &mut record.attempts[0];
        for interval in &mut attempt.intervals {
            let faster = if (interval.index / 10).is_multiple_of(2) { 1.2 } else { 1.0 };
            for counts in &mut interval.counts {
                counts.done = (counts.done as f64 * faster) as u64;
            }
        }
        if lost {
            let (from, _) = attempt.window().expect("it was measured");
            let of_group = |series: &&mut SeriesPoint| series::group::CPU.is_of(&series.probe, &series.name);
            let used = attempt.series.iter_mut().filter(of_group);
            used.for_each(|series| series.samples.retain(|(at, ..)| at.as_seconds().floor() as u64 != from + 3));
        }
        point(&record).estimand
    };
    assert_eq!(uneven(0.8, false), Some(Estimand::AsGiven));
    assert_eq!(uneven(0.8, true), Some(Estimand::AsGiven), "a reading that is lost shifts no other");
    assert_eq!(uneven(0.0, false), Some(Estimand::BoundBy("limits.cpu")), "nobody else was there");
}

/// Core 0 alone may be used; of core 1's steal nothing is the database's.
fn stolen(record: &mut Record, percent: f64) {
    let attempt = &mut record.attempts[0];
    attempt.facts.retain(|fact| fact.name != "cores");
    attempt.facts.push(Fact::observed("limit", "cores", "1 (0-0)", "sched_getaffinity of every thread"));
    let busy: Vec<SeriesPoint> =
        attempt.series.iter().filter(|series| series.probe == "cores" && series.name == "busy").cloned().collect();
    for mut series in busy {
        let value = if series.component == "0" { percent } else { 99.0 };
        series.name = "steal".to_owned();
        series.samples.iter_mut().for_each(|sample| sample.2 = value);
        attempt.series.push(series);
    }
}

#[test]
fn steal_is_shown_warned_of_and_named_where_a_run_was_not_steady() {
    let with = |percent: f64, settled: bool| {
        let mut record = record(&Shape::memory(1));
        stolen(&mut record, percent);
        judged_before(&mut record, |_| ());
        if !settled {
            unsettled(&mut record);
        }
        record
    };
    let markdown = |record: &Record| render(record, Format::Markdown).expect("the record has points");
    let (quiet, beside) = (markdown(&with(1.5, true)), markdown(&with(17.0, true)));
    assert!(quiet.contains("Steal") && !quiet.contains("other guests, at most"), "{quiet}");
    assert!(
        beside.contains("in 1 of 1 runs the hypervisor gave more than 2 % of the CPU to other guests, at most 17 %")
    );
    assert_eq!(json_of(&with(17.0, true))["points"][0]["metrics"]["cpu_steal_percent"]["value"], 17.0);
    for (percent, tolerated, verdict) in [(9.0, None, "valid"), (17.0, None, "void"), (17.0, Some(0.2), "valid")] {
        let mut record = with(percent, true);
        let tolerated = tolerated.map(Value::Number);
        record.study.settings.0.extend(tolerated.map(|share| ("procedure.steal_tolerance".to_owned(), share)));
        let point = &json_of(&record)["points"][0];
        assert_eq!(point["verdict"], verdict, "{percent} %");
        let reason = "other guests of the host took 17 % of the CPU in the measured window; 10 % are tolerated";
        assert_eq!(point["reasons"].to_string().contains(reason), verdict == "void", "{point}");
    }
    assert!(!markdown(&record(&Shape::memory(1))).contains("Steal"), "not observed, not a column");
    for (percent, expected) in [(17.0, true), (1.5, false)] {
        let json = json_of(&with(percent, false));
        let reasons = json["points"][0].to_string();
        let named = reasons.contains("of warm-up; meanwhile other guests of the host took 17 % of the CPU");
        assert_eq!(named, expected, "{reasons}");
    }
}

#[test]
fn a_record_from_before_is_judged_again_only_when_asked() {
    let mut record = record(&Shape::memory(1));
    stolen(&mut record, 17.0);
    judged_before(&mut record, unsettled);
    let before = render(&record, Format::Markdown).unwrap();
    assert!(matches!(point(&record).verdict, Verdict::Void(_)));
    assert!(
        before.contains("judged by the rule in force when it was made")
            && json_of(&record).get("judged_again").is_none()
    );
    judge_again(&mut record);
    let found = point(&record);
    assert_eq!((found.verdict, found.estimand), (Verdict::Valid, Some(Estimand::AsGiven)));
    assert!(render(&record, Format::Markdown).unwrap().contains("judged again by it, as requested"));
    assert_eq!(json_of(&record)["judged_again"], true);
    let mut todays = crate::support::record(&Shape::memory(1));
    judge_again(&mut todays);
    assert!(!todays.judged_again, "it was judged by today's rule anyway");
}

/// Six repetitions of two points; others take ever more of the processor.
fn in_blocks() -> Record {
    let mut record = record(&Shape { repetitions: 6, ..Shape::memory(2) });
    for (place, attempt) in record.attempts.iter_mut().enumerate() {
        for core in ["0", "1"] {
            observe(attempt, series::cores::STEAL, core, |_| 0.0);
        }
        observe(attempt, series::foreign::CPU, "", |_| 0.1 * place as f64);
    }
    record
}

#[test]
fn ratios_are_formed_inside_repetitions() {
    let mut record = in_blocks();
    let json = json_of(&record);
    let blocks = &json["blocks"];
    assert_eq!((&blocks["count"], &blocks["left_out"]), (&6.into(), &0.into()));
    let power = blocks["effect_of_others"]["power"].as_f64().expect("what others took varies");
    assert!(power < 0.3, "these points do not depend on the neighbours: {power}");
    let relative = &json["points"][0]["metrics"]["relative_percent"];
    assert!(
        relative["ci95_method"].as_str().is_some_and(|method| method.starts_with("ratios inside blocks")),
        "{relative}"
    );
    assert_eq!(relative["n"], 6);
    let page = render(&record, Format::Markdown).unwrap();
    assert!(
        page.contains(
            "ratios formed within 6 repetitions, each of which measured every point once, in a new random order each time"
        ),
        "{page}"
    );
    assert!(page.contains("6 runs each; ratios were formed within repetitions"), "{page}");
    // A run that was measured again was not beside the others of its repetition.
    let mut again = record.attempts[3].clone();
    again.id = record.attempts.len() as i64 + 1;
    record.attempts.push(again);
    let blocks = &json_of(&record)["blocks"];
    assert_eq!((&blocks["count"], &blocks["left_out"]), (&5.into(), &1.into()));
    judged_before(&mut record, |_| ());
    assert!(json_of(&record).get("blocks").is_none(), "records from before keep their figures");
}

/// Takes five seconds of telemetry out of a run of the first point.
fn silence(record: &mut Record, repetition: u32) {
    let is_it = |run: &proofload_model::plan::Run| run.point == 0 && run.repetition == repetition;
    let attempt = record.attempts.iter_mut().find(|attempt| is_it(&attempt.run)).expect("it was run");
    attempt.series.iter_mut().for_each(|series| drop(series.samples.drain(25..30)));
}

#[test]
fn a_void_visit_leaves_out_its_repetition_and_not_its_point() {
    let mut record = in_blocks();
    silence(&mut record, 2);
    let json = json_of(&record);
    assert_eq!(json["points"][0]["verdict"], "void", "on its own it is no result");
    assert_eq!((&json["blocks"]["count"], &json["blocks"]["left_out"]), (&5.into(), &1.into()));
    let ratio = evaluate(&record).blocks.and_then(|blocks| blocks.ratio(0, 1));
    assert_eq!(ratio.map(|ratio| ratio.n()), Some(5));
    let page = render(&record, Format::Markdown).unwrap();
    for words in ["formed within 5 of 6 repetitions", "1 repetition was left out", "1 of 6) are included with"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // A limit that did not hold once is a reason against every run of the point.
    let mut broken = in_blocks();
    let first = broken.attempts.iter_mut().find(|attempt| attempt.run.point == 0).expect("it was run");
    first.facts[1].holds = Some(false);
    let found = evaluate(&broken).points.remove(0);
    assert!(!found.verdict.is_valid() && !found.has_void_visits(), "{:?}", found.verdict);
    // Where too many are void, the point leaves and the other points keep their repetitions.
    silence(&mut record, 4);
    assert!(!evaluate(&record).points[0].has_void_visits());
}

#[test]
fn one_repetition_is_no_block() {
    let once = record(&Shape::memory(3));
    assert_eq!(evaluate(&once).blocks, None);
}

#[test]
fn seconds_in_which_the_generator_stood_still_are_a_gap_that_measuring_again_may_mend() {
    let mut record = beside(0.01);
    let (from, _) = record.attempts[0].window().unwrap();
    for interval in &mut record.attempts[0].intervals {
        interval.client.paused_ns = match interval.index {
            second if second == from + 20 => 600_000_000,
            second if second == from + 21 => 1_000_000_000,
            _ => 0,
        };
    }
    let Verdict::Void(reasons) = point(&record).verdict else { panic!("the point is valid") };
    let expected = format!("the load generator stood still for 1.6 s (2 seconds from second {})", from + 20);
    assert!(reasons[0].text.starts_with(&expected), "{reasons:?}");
    assert!(reasons.iter().all(|reason| reason.class == VoidClass::Host), "{reasons:?}");
}

#[test]
fn quiet_seconds_are_told_or_why_there_are_too_few() {
    let mut record = beside(0.0);
    let loud = |second: usize| if second.is_multiple_of(9) { 1.0 } else { 0.0 };
    record.attempts[0].series.retain(|series| series.probe != series::foreign::CPU.probe);
    observe(&mut record.attempts[0], series::foreign::CPU, "", loud);
    let found = point(&record);
    let host = found.runs[0].host.as_ref().expect("it was observed");
    assert_eq!(host.estimand, Estimand::AsGiven);
    let why = host.quiet.as_ref().expect("it was looked for").as_ref().expect_err("30 s are too few");
    assert!(why.contains("quiet stretches"), "{why}");
    assert!(point(&beside(0.01)).runs[0].host.as_ref().is_some_and(|host| host.quiet.is_none()), "all are quiet");
}
