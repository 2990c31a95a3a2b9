//! Visits that count for an experiment: those in which users were as many as asked for, on the host of the last attempt.

use crate::experiments::{CPU, CPU_BOUND, System, carry_out, experiment_of, studied, tested, text_of, words};
use proofload_model::events::RunEvent;
use proofload_model::facts::host;
use proofload_model::intervention::{Change, USERS};
use proofload_record::Attempt;
use proofload_report::findings::attribution::attributions;

#[test]
fn users_that_no_gate_held_are_not_tested_and_never_refuted() {
    let ignored = System { in_force: |name, _| (name == USERS).then_some(10.0), ..CPU_BOUND };
    let record = tested(&ignored);
    assert_eq!(words(&record)[2], (USERS.to_owned(), "not tested"));
    let why = attributions(&record)[0].resources[2].throughput.clone().unwrap_err();
    assert!(why.contains("10 was in force in a visit that asked for 8"), "{why}");
    let never_let_go = System { in_force: |name, _| (name == USERS).then_some(8.0), ..CPU_BOUND };
    assert_eq!(words(&tested(&never_let_go))[2].1, "not tested");
    // One of ten waits in one operation for a whole visit now and then.
    let waiting = System {
        in_force: |name, change| match change {
            Change::One(lowered) if name == USERS && lowered == USERS => Some(7.0),
            Change::One(lowered) if name == USERS && lowered == CPU => Some(9.0),
            _ => None,
        },
        ..CPU_BOUND
    };
    assert_eq!(words(&tested(&waiting))[2].1, "refuted");
}

/// Has an attempt tell this processor of its host.
fn on_host(attempt: &mut Attempt, cpu: &str) {
    attempt.facts.retain(|fact| !host::CPU.is_of(fact));
    attempt.facts.push(host::CPU.observed(cpu, "a test"));
}

#[test]
fn an_experiment_on_another_host_than_its_runs_names_the_difference() {
    let mut record = tested(&CPU_BOUND);
    record.attempts.iter_mut().for_each(|attempt| on_host(attempt, "Xeon"));
    on_host(&mut record.experiments[0], "EPYC");
    let text = text_of(&record);
    assert!(text.contains("on another host than the runs (CPU: Xeon, then EPYC)"), "{text}");
    on_host(&mut record.experiments[0], "Xeon");
    assert!(!text_of(&record).contains("another host"), "{}", text_of(&record));
}

#[test]
fn blocks_that_were_made_on_another_host_do_not_count() {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    // A block has five visits: two blocks, and two visits of the third.
    carry_out(&mut record, &experiment, &CPU_BOUND, 12);
    on_host(&mut record.experiments[0], "Xeon");
    record.attempts.iter_mut().for_each(|attempt| on_host(attempt, "EPYC"));
    carry_out(&mut record, &experiment, &CPU_BOUND, 5);
    let found = attributions(&record).remove(0);
    assert_eq!((found.made, found.attempts), (1, 2));
    let begun = record.experiments[1].events.iter().find_map(|event| match &event.event {
        RunEvent::BlockBegun { number, .. } => Some(*number),
        _ => None,
    });
    assert_eq!(begun, Some(3), "no number of a block is used again");
    let text = text_of(&record);
    assert!(text.contains("made on another host (CPU: Xeon, then EPYC): their blocks do not count"), "{text}");
    on_host(&mut record.experiments[0], "EPYC");
    assert_eq!(attributions(&record).remove(0).made, 3);
}
