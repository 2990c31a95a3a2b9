//! Runs of one point that vary too much for an interval of their own: what the spread between them is good for.

use crate::support::{Shape, record};
use proofload_record::{Attempt, Record};
use proofload_report::findings::{Verdict, evaluate, summarise};

/// Level of each stretch of 3 s, as a share of the mean: back and forth with a memory of some stretches, so that nothing moves on.
const LEVELS: [f64; 20] =
    [0.2, 1.8, 1.8, 0.2, 0.2, 0.2, 1.8, 1.8, 1.8, 0.2, 1.8, 0.2, 0.2, 1.8, 1.8, 1.8, 0.2, 0.2, 1.8, 0.2];

/// Lets the throughput of an attempt go back and forth in its window.
fn let_vary(attempt: &mut Attempt) {
    let (from, _) = attempt.window().expect("it has a window");
    for interval in attempt.intervals.iter_mut().filter(|interval| interval.index >= from) {
        let stretch = (interval.index - from) as usize / 3 % LEVELS.len();
        for counts in &mut interval.counts {
            counts.done = (counts.done as f64 * LEVELS[stretch]) as u64;
        }
    }
}

fn repeated(repetitions: u32, varied: &[usize]) -> Record {
    let mut record = record(&Shape { repetitions, ..Shape::memory(1) });
    varied.iter().for_each(|&which| let_vary(&mut record.attempts[which]));
    record
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
    assert!(reasons[0].text.contains("varied so much"), "{reasons:?}");
    let three = repeated(3, &[1]);
    assert!(verdict(&three).is_valid(), "{:?}", verdict(&three));
    assert_eq!(void_runs(&three), 0, "no run of a valid point is void");
    let alone = evaluate(&repeated(3, &[])).points[0].throughput.clone().expect("an estimate");
    let together = evaluate(&three).points[0].throughput.clone().expect("an estimate");
    assert!(together.relative_half_width() < 0.30, "{together:?}");
    assert!((together.value / alone.value - 1.0).abs() < 0.10, "{together:?} and {alone:?}");
}

#[test]
fn two_runs_do_not_tell_how_runs_differ() {
    assert!(matches!(verdict(&repeated(2, &[1])), Verdict::Void(_)));
}

#[test]
fn runs_that_differ_too_much_leave_the_point_void() {
    let mut record = repeated(3, &[1]);
    for interval in &mut record.attempts[2].intervals {
        interval.counts.iter_mut().for_each(|counts| counts.done /= 4);
    }
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
