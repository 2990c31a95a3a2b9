//! Two records whose studies were measured with each other, in turns or at once: which runs make blocks, and what is said of the others.

use crate::support::{Shape, let_rise, record};
use proofload_analysis::contrast::Spread;
use proofload_model::duet_check::{CheckRatio, CheckRecord, DuetCheck, DuetCheckOutcome};
use proofload_model::events::RunEvent;
use proofload_model::samples::Fact;
use proofload_model::settings::Value;
use proofload_model::time::WallTime;
use proofload_record::{AttemptEvent, Record};
use proofload_report::findings::comparison::{
    Comparison, ComparisonFilter, GateOutcome, NamedRecord, NotInTurns, Policy, Rules, compare, duet_check, gate,
};
use proofload_report::{ComparisonFormat, render_comparison, render_gate};
use std::collections::BTreeMap;

fn compared<'r>(baseline: &'r Record, candidate: &'r Record, metrics: &[&str]) -> Comparison<'r> {
    let named = |file: &str, record: &'r Record| NamedRecord { file: file.to_owned(), sha256: file.to_owned(), record };
    let metrics = metrics.iter().map(|name| (*name).to_owned()).collect();
    let chosen = ComparisonFilter { metrics, levels: Vec::new() };
    compare(named("base.proof", baseline), named("new.proof", candidate), &chosen).expect("comparable")
}

/// Six repetitions of one point.
fn in_turns(speed: f64, token: &str) -> Record {
    let mut record = record(&Shape { speed, repetitions: 6, ..Shape::memory(1) });
    record.events.push(AttemptEvent::new(
        WallTime(0),
        RunEvent::InTurns { with: "the other".to_owned(), token: token.to_owned(), at_once: false },
    ));
    record
}

#[test]
fn records_measured_in_turns_are_compared_inside_blocks() {
    let (baseline, candidate) = (in_turns(1.0, "t"), in_turns(0.9, "t"));
    let comparison = compared(&baseline, &candidate, &["tpm"]);
    let (ratio, contrast) = (&comparison.rows[0].ratio, &comparison.rows[0].contrast);
    assert_eq!((contrast.spread, ratio.n()), (Spread::InsideBlocks, 6));
    assert!((0.88..0.92).contains(&ratio.value()), "{ratio:?}");
    assert!(!comparison.warnings.iter().any(|text| text.contains("in turns")), "{:?}", comparison.warnings);
    let estimand = |comparison: &Comparison<'_>| {
        let json = render_comparison(comparison, ComparisonFormat::Json);
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        json["comparisons"][0]["estimand"].clone()
    };
    let given = |ratio| serde_json::json!({ "baseline": "as given", "candidate": "as given", "ratio": ratio });
    assert_eq!(estimand(&comparison), given(Some("ratio")));
    let text = render_comparison(&comparison, ComparisonFormat::Text).replace('\n', " ");
    assert!(text.contains("Estimands: A and B as given; B/A ratio."), "{text}");
    let other = in_turns(0.9, "another day");
    let apart = compared(&baseline, &other, &["tpm"]);
    assert_eq!(apart.rows[0].contrast.spread, Spread::BetweenRuns);
    assert_eq!(estimand(&apart), given(None));
}

/// The same measured at once with another one.
fn at_once(speed: f64) -> Record {
    let mut record = in_turns(speed, "t");
    record.study.settings.0.insert("limits.cores".to_owned(), Value::Integer(2));
    for event in &mut record.events {
        if let RunEvent::InTurns { at_once, .. } = &mut event.event {
            *at_once = true;
        }
    }
    record
}

#[test]
fn records_measured_at_once_are_compared_over_the_same_seconds() {
    let (baseline, candidate) = (at_once(1.0), at_once(0.9));
    let comparison = compared(&baseline, &candidate, &["tpm", "nopm", "response_ns_p99.all"]);
    for row in &comparison.rows[..2] {
        assert_eq!(row.contrast.spread, Spread::AtOnce, "{}", row.metric.key);
        assert!((160..=180).contains(&row.ratio.n()), "six windows of 30 s at most: {:?}", row.ratio);
        assert!((0.88..0.92).contains(&row.ratio.value()), "{:?}", row.ratio);
    }
    assert_eq!(comparison.rows[2].contrast.spread, Spread::InsideBlocks, "a percentile has no value each second");
    assert!(comparison.warnings.iter().any(|text| text.contains("contention")), "{:?}", comparison.warnings);
    let told = render_comparison(&comparison, ComparisonFormat::Text);
    assert!(told.contains("Both were measured at the same time, in 6 runs each that swapped places"), "{told}");
    // They were so, too, where no throughput is shown.
    let of_percentile = compared(&baseline, &candidate, &["response_ns_p99.all"]);
    let told = render_comparison(&of_percentile, ComparisonFormat::Text);
    assert!(told.contains("Both were measured at the same time: ") && !told.contains("in turns"), "{told}");
}

/// A duet whose true ratio is known, with the interval that it read.
fn known_duet(expected: f64, (low, high): (f64, f64)) -> DuetCheck {
    let record = |side: &str| CheckRecord { file: format!("{side}.proof"), sha256: String::new() };
    let ratios = vec![CheckRatio { point: String::new(), value: f64::midpoint(low, high), low, high }];
    DuetCheck { expected, records: [record("x"), record("y")], ratios, missing: 0 }
}

#[test]
fn what_duets_with_known_ratios_read_comes_first() {
    let told = |known: (f64, f64)| {
        let both = [1.0, 0.9].map(|speed| {
            let mut record = at_once(speed);
            let checks = vec![known_duet(1.0, (0.97, 1.06)), known_duet(0.9, known)];
            record.events.push(AttemptEvent::new(WallTime(0), RunEvent::DuetChecked(checks)));
            record
        });
        let comparison = compared(&both[0], &both[1], &["tpm"]);
        assert!(!comparison.warnings.iter().any(|text| text.contains("contention")), "{:?}", comparison.warnings);
        [ComparisonFormat::Text, ComparisonFormat::Markdown, ComparisonFormat::Json]
            .map(|format| render_comparison(&comparison, format))
    };
    let [text, markdown, json] = told((0.89, 0.94));
    assert!(text.starts_with("Contention was not seen to bias this duet"), "{text}");
    let text = text.replace('\n', " ");
    assert!(text.contains("with 0.9 of its CPU time read 0.915 [0.890, 0.940] (x.proof, y.proof)."), "{text}");
    assert!(markdown.contains("Duets with known ratios"), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["duet_checks"][1]["outcome"], "met");
    let [text, ..] = told((0.92, 0.95));
    assert!(text.starts_with("This duet is biased"), "{text}");
    let [text, ..] = told((0.85, 1.05));
    assert!(text.starts_with("Whether contention biases this duet is not known"), "{text}");
}

/// Which of two studies built its data is no difference between them where the comparison itself built them before.
#[test]
fn data_that_the_comparison_built_itself_are_no_difference() {
    let names = |name: &str, is_beside: bool, checks: &[DuetCheck]| {
        let mut both = [at_once(1.0), at_once(0.9)];
        for record in &mut both {
            record.events.push(AttemptEvent::new(WallTime(0), RunEvent::DuetChecked(checks.to_vec())));
        }
        both[1].study.settings.0.insert("study.name".to_owned(), Value::Text(name.to_owned()));
        both[1].attempts[0].facts.push(Fact::observed("data", "rows.stock", "400000", "manifest"));
        if !is_beside {
            both[0].events.retain(|event| !matches!(event.event, RunEvent::InTurns { .. }));
        }
        let comparison = compared(&both[0], &both[1], &["tpm"]);
        comparison.differences.iter().map(|difference| difference.name.clone()).collect::<Vec<_>>()
    };
    let checks = [known_duet(1.0, (0.97, 1.06)), known_duet(0.9, (0.89, 0.94))];
    assert_eq!(names("other", true, &checks), Vec::<String>::new(), "a check built the baseline's data");
    assert_eq!(names("memory-sweep", true, &[]), Vec::<String>::new(), "both studies share their data");
    assert_eq!(names("other", true, &[]), ["data"]);
    assert_eq!(names("memory-sweep", false, &[]), ["data"], "they were not measured with each other");
}

#[test]
fn a_duet_with_a_known_ratio_is_read_over_the_same_seconds_only() {
    let (baseline, candidate) = (at_once(1.0), at_once(0.9));
    let check = duet_check(0.9, &compared(&baseline, &candidate, &["tpm"]));
    let [ratio] = check.ratios.as_slice() else { panic!("one point: {check:?}") };
    assert!((0.88..0.92).contains(&ratio.value) && ratio.low < ratio.value && ratio.value < ratio.high, "{check:?}");
    assert_eq!((check.missing, check.records[0].file.as_str()), (0, "base.proof"));
    let comparison = compared(&baseline, &candidate, &["tpm"]);
    let halved = comparison.rows[0].contrast.bounds(0.025);
    assert_eq!((ratio.low, ratio.high), halved, "two checks share the level of 0.05");
    let apart = duet_check(0.9, &compared(&in_turns(1.0, "one"), &in_turns(0.9, "another"), &["tpm"]));
    assert_eq!((apart.missing, apart.outcome()), (1, DuetCheckOutcome::Undecided), "{apart:?}");
}

/// Runs at once whose windows lie so among their seconds.
fn with_window(speed: f64, (first, behind): (u64, u64)) -> Record {
    let mut record = at_once(speed);
    for event in record.attempts.iter_mut().flat_map(|attempt| &mut attempt.events) {
        if let RunEvent::Window { from, to } = &mut event.event {
            (*from, *to) = (first, behind);
        }
    }
    record
}

/// Whoever reads a comparison takes its first figure for throughput.
#[test]
fn throughput_that_could_not_be_compared_is_told_before_any_percentile() {
    let told = |[ours, theirs]: [(u64, u64); 2], why: &str| {
        let (baseline, candidate) = (with_window(1.0, ours), with_window(0.5, theirs));
        let comparison = compared(&baseline, &candidate, &["tpm", "response_ns_p99.all"]);
        let keys: Vec<String> = comparison.rows.iter().map(|row| row.metric.key.to_string()).collect();
        assert_eq!(keys, ["response_ns_p99.all"], "{:?} {:?}", comparison.left_out, comparison.void);
        let text = render_comparison(&comparison, ComparisonFormat::Text).replace('\n', " ");
        assert!(text.starts_with(&format!("Throughput (TPM) could not be compared: {why}")), "{text}");
        let page = render_comparison(&comparison, ComparisonFormat::Markdown);
        let place = |words: &str| page.find(words).expect("it is there");
        assert!(place(&format!("could not be compared: {why}")) < place("p99"), "{page}");
    };
    told([(16, 24); 2], "A: its window has 8 s, and an interval needs 10 s or more");
    told([(16, 31), (31, 46)], "the windows of A and B have no second in common");
    // How many there are depends on what is cut off at the start.
    told([(16, 31), (26, 46)], "the windows of A and B have ");
    let whole = render_comparison(&compared(&at_once(1.0), &at_once(0.5), &["tpm"]), ComparisonFormat::Text);
    assert!(!whole.contains("could not be compared"), "{whole}");
}

/// Nothing is swapped without cores of their own.
#[test]
fn a_duet_on_all_cores_does_not_say_that_places_were_swapped() {
    let mut both = [at_once(1.0), at_once(0.9)];
    for record in &mut both {
        record.study.settings.0.remove("limits.cores");
    }
    let told = render_comparison(&compared(&both[0], &both[1], &["tpm"]), ComparisonFormat::Text);
    assert!(told.contains("in 6 runs each that did not swap"), "{told}");
}

/// Attempts that were made again a day later, by their places.
fn again_alone(mut record: Record, places: &[usize]) -> Record {
    for place in places {
        let mut again = record.attempts[*place].clone();
        again.id = record.attempts.len() as i64 + 1;
        let later = 24 * 3_600_000_000;
        again.started.0 += later;
        again.events.iter_mut().for_each(|event| event.at.0 += later);
        record.attempts.push(again);
    }
    record
}

#[track_caller]
fn expect_warning(comparison: &Comparison<'_>, wanted: &str) {
    assert!(comparison.warnings.iter().any(|text| text.contains(wanted)), "{wanted}: {:?}", comparison.warnings);
}

#[test]
fn a_void_run_leaves_its_repetition_out_of_the_ratio() {
    let (mut baseline, candidate) = (in_turns(1.0, "t"), in_turns(0.9, "t"));
    baseline.attempts[2].series.iter_mut().for_each(|series| drop(series.samples.drain(25..30)));
    let comparison = compared(&baseline, &candidate, &["tpm"]);
    assert!(comparison.void.is_empty(), "{:?}", comparison.void);
    let row = &comparison.rows[0];
    assert_eq!((row.contrast.spread, row.ratio.n(), row.runs), (Spread::InsideBlocks, 5, (5, 5)));
    expect_warning(&comparison, "repetition 3 is left out of the ratio");
    expect_warning(&comparison, "void are 1 of 6 runs in A; its figures are not results on their own");
    // Of records that were not measured with each other the point is left out whole.
    let alone = in_turns(0.9, "another day");
    assert_eq!(compared(&baseline, &alone, &["tpm"]).void.len(), 1);
}

#[test]
fn a_run_that_was_measured_again_alone_is_in_no_block() {
    let (baseline, candidate) = (again_alone(in_turns(1.0, "t"), &[2]), in_turns(0.9, "t"));
    let comparison = compared(&baseline, &candidate, &["tpm"]);
    let row = &comparison.rows[0];
    assert_eq!((row.contrast.spread, row.ratio.n(), row.runs), (Spread::InsideBlocks, 5, (5, 5)));
    expect_warning(
        &comparison,
        "repetition 3 is left out of the ratio, because the runs of A and B were not measured right after each other",
    );
    assert!(render_comparison(&comparison, ComparisonFormat::Text).contains("within 5 repetitions"));
    let baseline = again_alone(in_turns(1.0, "t"), &[0, 1, 2, 3, 4]);
    let comparison = compared(&baseline, &candidate, &["tpm"]);
    assert_eq!(comparison.rows[0].contrast.spread, Spread::BetweenRuns);
    assert!(!comparison.alternated(&comparison.rows[0]));
    expect_warning(&comparison, "are compared as runs that did not alternate");
    let told = render_comparison(&comparison, ComparisonFormat::Text);
    assert!(!told.contains("same neighbours"), "{told}");
}

/// What is measured right after its partner once more is still beside it.
#[test]
fn a_run_that_was_measured_again_at_once_stays_in_its_block() {
    let (mut baseline, candidate) = (in_turns(1.0, "t"), in_turns(0.9, "t"));
    let mut again = baseline.attempts[5].clone();
    again.id += 1;
    again.started.0 += 60_000_000;
    again.events.iter_mut().for_each(|event| event.at.0 += 60_000_000);
    baseline.attempts.push(again);
    let comparison = compared(&baseline, &candidate, &["tpm"]);
    assert_eq!(comparison.rows[0].runs, (6, 6), "{:?}", comparison.warnings);
}

/// Places fall out only where both repetitions of a swap are left.
#[test]
fn a_duet_loses_a_swap_with_a_run_that_was_measured_again_alone() {
    let (baseline, candidate) = (at_once(1.0), again_alone(at_once(0.9), &[3]));
    let comparison = compared(&baseline, &candidate, &["tpm", "response_ns_p99.all"]);
    let spreads: Vec<_> = comparison.rows.iter().map(|row| (row.contrast.spread, row.runs)).collect();
    assert_eq!(spreads, [(Spread::AtOnce, (4, 4)), (Spread::InsideBlocks, (4, 4))]);
    expect_warning(&comparison, "repetitions 3, 4 are left out of the ratio");
    let mut odd = [at_once(1.0), at_once(0.9)];
    for record in &mut odd {
        let last = record.attempts.last().expect("there are some").run;
        record.attempts.retain(|attempt| attempt.run != last);
    }
    let comparison = compared(&odd[0], &odd[1], &["tpm"]);
    assert_eq!((comparison.rows[0].contrast.spread, comparison.rows[0].runs), (Spread::AtOnce, (4, 4)));
    expect_warning(&comparison, "repetition 5 is left out of the ratio");
    let all: Vec<usize> = (0..6).collect();
    let apart = compared(&baseline, &again_alone(at_once(0.9), &all), &["tpm"]).rows[0].contrast.spread;
    assert_eq!(apart, Spread::BetweenRuns);
}

#[test]
fn records_that_did_not_alternate_are_compared_with_a_warning_that_is_true() {
    let (baseline, mut candidate) = (record(&Shape::memory(2)), record(&Shape::memory(2)));
    let warning = |one: &Record, other: &Record| {
        let mut warnings = compared(one, other, &["tpm"]).warnings.into_iter();
        warnings.find(|text| text.starts_with("A and B were not measured in turns")).expect("it is warned")
    };
    assert!(warning(&baseline, &candidate).contains("their times overlap, but no run had a partner"));
    for attempt in &mut candidate.attempts {
        attempt.started.0 += 3_600_000_000;
    }
    for (one, other) in [(&baseline, &candidate), (&candidate, &baseline)] {
        assert!(warning(one, other).contains("do not include changes of the host between them"));
    }
}

/// A gate may refuse to judge runs that did not alternate, in either direction; by default it says so.
#[test]
fn a_gate_says_that_runs_did_not_alternate_and_may_refuse_to_judge_them() {
    let rules = |not_in_turns| Rules {
        tolerance: Some(0.03),
        of_metric: BTreeMap::new(),
        undecided: Policy::Fail,
        void: Policy::Fail,
        not_in_turns,
        lost: None,
    };
    let baseline = in_turns(1.0, "t");
    for (speed, usual) in [(1.1, GateOutcome::Passed), (0.8, GateOutcome::Failed)] {
        let (apart, turned) = (in_turns(speed, "another day"), in_turns(speed, "t"));
        let outcome = |candidate: &Record, policy| {
            let (comparison, rules) = (compared(&baseline, candidate, &["tpm"]), rules(policy));
            let judged = gate(&comparison, &rules).expect("throughput has a direction");
            let told = [ComparisonFormat::Text, ComparisonFormat::Json]
                .map(|format| render_gate(&comparison, &judged, &rules, format));
            (judged.outcome, judged.passes, told)
        };
        let (found, passes, [text, json]) = outcome(&apart, NotInTurns::Warn);
        assert_eq!((found, passes), (usual, usual == GateOutcome::Passed));
        assert!(text.replace('\n', " ").contains("the runs of A and B did not alternate"), "{text}");
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!((&json["gate"]["not_in_turns"], &json["gate"]["not_alternated"]), (&"warn".into(), &1.into()));
        assert_eq!(json["comparisons"][0]["alternated"], false);
        let (found, passes, [text, _]) = outcome(&apart, NotInTurns::Undecided);
        assert_eq!((found, passes), (GateOutcome::Undecided, false), "{text}");
        assert!(text.replace('\n', " ").contains("the runs of A and B did not alternate"), "{text}");
        let (found, _, [text, _]) = outcome(&turned, NotInTurns::Undecided);
        assert_eq!(found, usual);
        assert!(!text.contains("did not alternate"), "{text}");
    }
}

fn rising(speed: f64, token: &str) -> Record {
    let mut record = in_turns(speed, token);
    let_rise(&mut record);
    record
}

/// Only blocks make a ratio of points that moved.
#[test]
fn points_that_moved_are_compared_in_turns_only() {
    let (baseline, candidate, other) = (rising(1.0, "t"), rising(0.9, "t"), rising(0.9, "another day"));
    let turned = compared(&baseline, &candidate, &["tpm"]);
    assert!((0.88..0.92).contains(&turned.rows[0].ratio.value()), "{:?}", turned.rows[0].ratio);
    assert!(
        turned.warnings.iter().any(|text| text.starts_with("throughput moved within runs")),
        "{:?}",
        turned.warnings
    );
    let runs = &turned.findings.1.points[0].runs;
    let ahead = runs.iter().map(|run| run.judged.as_ref().map_or(0.0, |judged| judged.mean.ahead / judged.mean.value));
    let ahead = ahead.sum::<f64>() / runs.len() as f64;
    let (_, high) = turned.rows[0].contrast.bounds(0.05);
    assert!(ahead > 0.001 && (high / turned.rows[0].ratio.value()).ln() >= 0.999 * ahead, "{ahead} {high}");
    let apart = compared(&baseline, &other, &["tpm"]);
    assert!(apart.rows.is_empty() && apart.void.len() == 2, "{:?}", apart.void);
    let mut single = [rising(1.0, "t"), rising(0.9, "t")];
    for record in &mut single {
        let first = record.attempts[0].run;
        record.attempts.retain(|attempt| attempt.run == first);
    }
    let [one, another] = &single;
    let alone = compared(one, another, &["tpm"]);
    assert!(
        alone.rows.is_empty() && alone.left_out[0].why.contains("at least two shared blocks"),
        "{:?}",
        alone.left_out
    );
    let rules = Rules {
        tolerance: Some(0.03),
        of_metric: BTreeMap::new(),
        undecided: Policy::Fail,
        void: Policy::Pass,
        not_in_turns: NotInTurns::Warn,
        lost: None,
    };
    let reasons = gate(&alone, &rules).expect("every metric has a direction").reasons;
    assert!(reasons.iter().any(|reason| reason == "nothing could be compared"), "{reasons:?}");
    assert!(!reasons.iter().any(|reason| reason.contains("cannot exclude")), "told once: {reasons:?}");
}
