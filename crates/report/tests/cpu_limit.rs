//! What a reached limit of CPU time may claim, by what was seen of others beside it.

use crate::support::{Shape, json_of, observe, record};
use proofload_model::facts::limit;
use proofload_model::samples::Fact;
use proofload_model::series;
use proofload_record::{Attempt, Record};
use proofload_report::findings::{Estimand, evaluate};

const QUOTA: f64 = 0.4;

/// Lets an attempt reach its limit of CPU time in every second.
fn bind(attempt: &mut Attempt) {
    let fact = Fact::observed("limit", &limit::CPU.name, QUOTA.to_string(), "test");
    attempt.facts.push(Fact { number: Some(QUOTA), ..fact });
    observe(attempt, series::group::CPU, "", |second| if second % 2 == 0 { 0.397 } else { 0.399 });
}

/// A record of one point whose limit of CPU time was always reached.
fn bound() -> Record {
    let mut record = record(&Shape::memory(1));
    bind(&mut record.attempts[0]);
    record
}

/// Lets the work of ten seconds in twenty be a fifth more.
fn make_uneven(record: &mut Record) {
    for interval in &mut record.attempts[0].intervals {
        let faster = if (interval.index / 10).is_multiple_of(2) { 1.2 } else { 1.0 };
        for counts in &mut interval.counts {
            counts.done = (counts.done as f64 * faster) as u64;
        }
    }
}

fn show_steal(attempt: &mut Attempt) {
    for core in ["0", "1"] {
        observe(attempt, series::cores::STEAL, core, |_| 0.0);
    }
}

fn claim(record: &Record) -> Option<Estimand> {
    evaluate(record).points.remove(0).estimand
}

const BOUND: Option<Estimand> = Some(Estimand::BoundBy("limits.cpu"));

/// What is hidden may have varied as the work did.
#[test]
fn where_others_are_hidden_only_steady_work_is_that_of_a_quiet_host() {
    type Shown = fn(&mut Attempt);
    let seen: [(&str, Shown); 4] = [
        ("nothing is shown", |_| ()),
        ("steal is hidden", |attempt| observe(attempt, series::foreign::CPU, "", |_| 0.0)),
        ("processes are hidden", show_steal),
        ("what varies is shown, and steal is hidden", |attempt| {
            observe(attempt, series::foreign::CPU, "", |second| if (second / 7).is_multiple_of(2) { 0.0 } else { 0.6 });
        }),
    ];
    for (what, show) in seen {
        let mut record = bound();
        show(&mut record.attempts[0]);
        assert_eq!(claim(&record), BOUND, "{what}, and the work is steady");
        make_uneven(&mut record);
        assert_eq!(claim(&record), Some(Estimand::AsGiven), "{what}, and the work is not steady");
    }
}

#[test]
fn a_thread_that_had_its_cores_tells_for_hidden_others_also_under_a_limit() {
    let spun = |ratio: f64| {
        let mut record = bound();
        observe(&mut record.attempts[0], series::spin::RATIO, "", |_| ratio);
        make_uneven(&mut record);
        claim(&record)
    };
    assert_eq!((spun(1.01), spun(1.25)), (BOUND, Some(Estimand::AsGiven)));
}

/// A slope within the tolerance says nothing against a host that is quiet without the limit.
#[test]
fn a_host_that_is_quiet_without_the_limit_is_quiet_with_it() {
    let with = |is_bound: bool| {
        let mut record = if is_bound { bound() } else { record(&Shape::memory(1)) };
        make_uneven(&mut record);
        let attempt = &mut record.attempts[0];
        show_steal(attempt);
        // Others take up to 4 % when the work is less.
        observe(attempt, series::foreign::CPU, "", |second| if (second / 10).is_multiple_of(2) { 0.0 } else { 0.08 });
        claim(&record)
    };
    assert_eq!((with(false), with(true)), (Some(Estimand::QuietHost), BOUND));
}

/// Six repetitions of two points, all at their limit; others take ever more from run to run.
#[test]
fn runs_at_a_limit_of_cpu_time_are_held_against_what_others_were_seen_to_take() {
    let mut record = record(&Shape { repetitions: 6, ..Shape::memory(2) });
    for (place, attempt) in record.attempts.iter_mut().enumerate() {
        bind(attempt);
        show_steal(attempt);
        observe(attempt, series::foreign::CPU, "", |_| 0.1 * place as f64);
    }
    assert_eq!(claim(&record), BOUND, "no slope is shown within a run");
    let blocks = &json_of(&record)["blocks"];
    let power = blocks["effect_of_others"]["power"].as_f64().expect("what others took varies between runs");
    assert!(power < 0.3, "work per CPU second is the same in all of them: {blocks}");
}
