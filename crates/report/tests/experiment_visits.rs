//! Visits that count for an experiment: those in which users were as many as asked for, on the host of the last attempt.

use crate::experiments::{
    CPU, CPU_BOUND, FULL, READS, System, carry_out, experiment_of, is_lowered, studied, tested, text_of, words,
};
use proofload_model::events::RunEvent;
use proofload_model::facts::host;
use proofload_model::intervention::{Change, USERS};
use proofload_record::{Attempt, Record};
use proofload_report::findings::attribution::{NextBlock, attributions, next_block};

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

/// Throughput falls by 15 % from block to block.
const DRIFTING: System = System { drift: |block| 0.85_f64.powi(block as i32), ..CPU_BOUND };

#[test]
fn after_an_attempt_that_moved_a_calm_one_makes_its_blocks_and_confirms() {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    carry_out(&mut record, &experiment, &DRIFTING, usize::MAX);
    let found = attributions(&record).remove(0);
    assert!(found.has_moved() && found.moved.is_empty() && found.ended.is_some(), "{:?}", found.movement);
    let first = found.made;
    carry_out(&mut record, &experiment, &System { drift: |_| 0.6, ..CPU_BOUND }, usize::MAX);
    let found = attributions(&record).remove(0);
    assert!(!found.has_moved() && found.made >= 6, "{found:?}");
    assert_eq!(found.moved.iter().map(|(_, blocks)| *blocks).collect::<Vec<_>>(), [first]);
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"));
    let text = text_of(&record);
    assert!(
        text.contains(&format!("An attempt of {first} blocks does not count: the untouched point moved by −")),
        "{text}"
    );
}

#[test]
fn an_attempt_that_moves_takes_nothing_from_a_calm_one_before_it() {
    let mut record = studied();
    let (few, more) = (experiment_of(&record, 3), experiment_of(&record, 12));
    carry_out(&mut record, &few, &CPU_BOUND, usize::MAX);
    carry_out(&mut record, &more, &DRIFTING, usize::MAX);
    let found = attributions(&record).remove(0);
    assert_eq!((found.made, found.moved.len(), found.has_moved()), (3, 1, false), "{:?}", found.movement);
    assert!(found.wants_another(), "the last one moved, once");
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"));
}

#[test]
fn calm_attempts_at_different_levels_count_together() {
    let mut record = studied();
    let (few, more) = (experiment_of(&record, 4), experiment_of(&record, 12));
    carry_out(&mut record, &few, &CPU_BOUND, usize::MAX);
    carry_out(&mut record, &more, &System { drift: |_| 0.5, ..CPU_BOUND }, usize::MAX);
    let found = attributions(&record).remove(0);
    assert!(found.made > 5 && found.moved.is_empty() && !found.has_moved(), "{:?}", found.movement);
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"));
}

/// Has a resource read back as this in the visit of a block in which CPU time is lowered.
fn read_back(record: &mut Record, in_block: u32, resource: &str, in_force: Option<f64>) {
    for event in record.experiments.iter_mut().flat_map(|attempt| &mut attempt.events) {
        let RunEvent::Visited(visit) = &mut event.event else { continue };
        if visit.block == in_block && visit.change == Change::One(CPU.to_owned()) {
            visit.readings.iter_mut().filter(|one| one.name == resource).for_each(|one| one.in_force = in_force);
        }
    }
}

#[test]
fn a_block_in_which_a_limit_was_not_as_asked_is_left_out_for_it_alone() {
    // Both bind, so that both are visited in every block.
    let both = System {
        throughput: |change, low| {
            if is_lowered(change, CPU) || is_lowered(change, READS) { low } else { 1.0 }
        },
        ..FULL
    };
    for wrong in [None, Some(400.0)] {
        let mut record = tested(&both);
        let before = attributions(&record).remove(0);
        read_back(&mut record, 1, READS, wrong);
        let found = attributions(&record).remove(0);
        let blocks = [0, 1].map(|of| found.resources[of].throughput.as_ref().map_or(0, |one| one.blocks));
        // A value that is known to be another one spoils the visit that it was in; one that could not be read only itself.
        let of_cpu = before.blocks - usize::from(wrong.is_some());
        assert_eq!(blocks, [of_cpu, before.blocks - 1], "{wrong:?}");
        assert_eq!(found.resources[1].left_out.as_ref().map(|(blocks, _)| *blocks), Some(1));
        assert_eq!(words(&record)[1], (READS.to_owned(), "confirmed"));
        let text = text_of(&record);
        assert!(text.contains("Read IOPS: 1 block is left out, since "), "{text}");
    }
}

#[test]
fn a_limit_that_was_not_restored_spoils_the_untouched_visit_for_all() {
    let mut record = tested(&CPU_BOUND);
    let before = attributions(&record).remove(0);
    for event in record.experiments.iter_mut().flat_map(|attempt| &mut attempt.events) {
        let RunEvent::Visited(visit) = &mut event.event else { continue };
        if visit.block == 1 && visit.change == Change::Nothing {
            visit.readings.iter_mut().filter(|one| one.name == READS).for_each(|one| one.in_force = Some(400.0));
        }
    }
    let found = attributions(&record).remove(0);
    let blocks = found.resources[0].throughput.as_ref().map_or(0, |one| one.blocks);
    assert_eq!(blocks, before.blocks - 1, "CPU time is compared with that visit, too");
}

#[test]
fn an_attempt_with_too_few_blocks_to_be_judged_hides_none_that_moved() {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    carry_out(&mut record, &experiment, &CPU_BOUND, 5);
    carry_out(&mut record, &experiment, &DRIFTING, usize::MAX);
    let found = attributions(&record).remove(0);
    assert!(found.has_moved() && found.wants_another(), "{:?}", found.movement);
}

#[test]
fn too_few_blocks_that_are_left_test_nothing_and_one_that_fails_is_tried_again() {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    // A block has five visits.
    carry_out(&mut record, &experiment, &CPU_BOUND, 5);
    read_back(&mut record, 0, READS, None);
    assert_eq!(words(&record)[1], (READS.to_owned(), "not tested"), "no block is left");
    let again = next_block(&record, 0, &experiment);
    let reads = Change::One(READS.to_owned());
    assert!(matches!(&again, NextBlock::Visit { order, .. } if order.contains(&reads)), "{again:?}");
    carry_out(&mut record, &experiment, &CPU_BOUND, usize::MAX);
    assert_eq!(words(&record)[1], (READS.to_owned(), "refuted"));
}
