//! Runs of one point that vary too much for an interval of their own: what the spread between them is good for.

use crate::support::{Shape, record};
use proofload_record::Record;
use proofload_report::findings::{Verdict, evaluate, summarise};

fn repeated(repetitions: u32, varied: &[u32]) -> Record {
    record(&Shape { repetitions, varied: varied.to_vec(), ..Shape::memory(1) })
}

fn verdict(record: &Record) -> Verdict {
    evaluate(record).points.remove(0).verdict
}

fn void_runs(record: &Record) -> usize {
    evaluate(record).points[0].runs.iter().filter(|run| !run.voids.is_empty()).count()
}

#[test]
fn a_run_that_varied_is_one_draw_among_three_or_more() {
    let Verdict::Void(reasons) = verdict(&repeated(1, &[0])) else { panic!("alone it says nothing") };
    assert!(reasons.len() == 1 && reasons[0].text.contains("varied so much"), "{reasons:?}");
    let three = repeated(3, &[1]);
    assert_eq!(verdict(&three), Verdict::Wide);
    assert_eq!(void_runs(&three), 0, "no run of a valid point is void");
}

#[test]
fn two_runs_do_not_tell_how_runs_differ() {
    assert!(matches!(verdict(&repeated(2, &[1])), Verdict::Void(_)));
}

#[test]
fn runs_that_differ_too_much_leave_the_point_void() {
    let speeds = vec![1.0, 1.0, 0.4];
    let record = record(&Shape { repetitions: 3, varied: vec![1], speeds, ..Shape::memory(1) });
    assert!(matches!(verdict(&record), Verdict::Void(_)), "{:?}", verdict(&record));
    assert_eq!(void_runs(&record), 1, "the one that varied is measured again");
}

#[test]
fn a_line_about_a_run_says_wide_where_others_are_planned() {
    let told = |repetitions| {
        let record = repeated(repetitions, &[0]);
        let settings = record.plan.settings(&record.study, 0);
        summarise(&record.attempts[0], &settings).verdict()
    };
    assert_eq!((told(1), told(2), told(3)), ("void", "void", "valid, wide"));
}
