//! Ledgers of drawn histories, with losses, phantoms, holes and two primaries planted in them.

use super::super::scripted_service::{Answer, operation};
use super::*;
use proofload_model::ledger::WriteClass;
use proofload_model::time::Offset;
use std::time::Duration;

pub(in super::super) fn write(number: u64, outcome: ProbeOutcome, node: usize) -> ProbeOperation {
    let one = operation(number, Answer::After(2.0));
    ProbeOperation { sent: one.sent.filter(|_| outcome != ProbeOutcome::Failed), outcome, node, ..one }
}

/// A history of `count` writes on one node, then as many on another.
fn history(count: u64) -> Vec<ProbeOperation> {
    (0..2 * count).map(|number| write(number, ProbeOutcome::Acknowledged, usize::from(number >= count))).collect()
}

fn present(writes: &[ProbeOperation]) -> Vec<i64> {
    writes.iter().rev().map(ProbeOperation::key).collect()
}

/// The ledger of writes beside numbers that the second node has.
fn found_of(writes: &[ProbeOperation], numbers: Vec<i64>, seen: &[i64]) -> Ledger {
    ledger(&observed(writes, &[read_of(seen)]), &Ok(Present { node: 1, numbers }), Moment(0))
}

fn observed<'a>(writes: &'a [ProbeOperation], reads: &'a [ProbeRead]) -> ProberAnswers<'a> {
    ProberAnswers { writes, reads, claims: &[], period: Duration::from_millis(5), paces: ProberPaces::default() }
}

/// A read that was sent before any write.
fn read_of(numbers: &[i64]) -> ProbeRead {
    ProbeRead { node: 0, connected: Moment(0), sent: Moment(0), numbers: numbers.to_vec() }
}

#[test]
fn planted_losses_are_counted_exactly() {
    let mut state: u64 = 7;
    for _ in 0..40 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let planted = 1 + (state >> 33) % 10_000;
        let writes = history(10_500);
        let fork = 10_500 - planted;
        let kept: Vec<_> = writes.iter().filter(|one| one.number < fork || one.number >= 10_500).copied().collect();
        let found = found_of(&writes, present(&kept), &[]);
        assert_eq!((found.lost, found.holes, found.kept), (planted, 0, 21_000 - planted));
        assert_eq!(found.lost_numbers.first(), Some(&fork));
        let [range] = found.ranges.as_slice() else { panic!("one stretch is lost: {:?}", found.ranges.len()) };
        assert_eq!((range.first, range.took_us.len() as u64, range.node), (fork, planted, 0));
        assert_eq!(found.oldest_lost, Some(Offset(i64::try_from(fork * 5_000_000 + 2_000_000).unwrap())));
    }
}

/// A history of three lives, of the first node, of another and of the first node again, each of 100 writes over connections of its own.
fn history_of_lives(nodes: [usize; 3]) -> Vec<ProbeOperation> {
    let of_life = |(life, node): (u64, usize)| {
        let made = Moment(life * 100 * 5_000_000);
        let one = move |number| ProbeOperation { connected: made, ..write(number, ProbeOutcome::Acknowledged, node) };
        (100 * life..100 * (life + 1)).map(one)
    };
    (0..).zip(nodes).flat_map(of_life).collect()
}

#[test]
fn a_tail_lost_by_a_restart_is_no_hole() {
    // The same server started again, and one that leads again after another.
    for nodes in [[0, 0, 0], [0, 1, 0]] {
        let writes = history_of_lives(nodes);
        let without = |lost: std::ops::Range<i64>| -> Vec<i64> {
            present(&writes).into_iter().filter(|number| !lost.contains(number)).collect()
        };
        let tail = found_of(&writes, without(80..100), &[]);
        assert_eq!((tail.lost, tail.holes, tail.kept), (20, 0, 280), "{nodes:?}");
        let middle = found_of(&writes, without(70..90), &[]);
        assert_eq!((middle.lost, middle.holes), (20, 20), "later ones of the same life are there: {nodes:?}");
    }
}

#[test]
fn one_loss_in_a_million_is_found_and_none_is_none() {
    let whole = history(50_000);
    assert_eq!(found_of(&whole, present(&whole), &[]).lost, 0);
    let writes = history(500_000);
    let without: Vec<i64> = present(&writes).into_iter().filter(|number| *number != 499_999).collect();
    let found = found_of(&writes, without, &[]);
    assert_eq!((found.lost, found.holes, found.lost_numbers.as_slice()), (1, 0, &[499_999][..]));
}

#[test]
fn every_class_is_named_rightly() {
    let mut writes = history(100);
    let mut held = present(&writes);
    let mut plant = |place: usize, outcome: ProbeOutcome, warned: bool, there: bool| {
        writes[place].outcome = outcome;
        writes[place].warned = warned;
        if !there {
            held.retain(|number| *number != place as i64);
        }
    };
    plant(10, ProbeOutcome::Acknowledged, false, false); // a hole: later ones of the same node are there
    plant(97, ProbeOutcome::Failed, false, true); // a phantom
    plant(98, ProbeOutcome::Unknown, false, true);
    plant(99, ProbeOutcome::Unknown, false, false);
    plant(96, ProbeOutcome::Acknowledged, true, false);
    writes[110].node = 0; // the old primary, after the new one
    let found = found_of(&writes, held, &[99]);
    let counts = [found.lost, found.holes, found.phantoms, found.unknown_present, found.unknown_absent];
    assert_eq!(counts, [1, 1, 1, 1, 1]);
    assert_eq!((found.lost_as_warned, found.seen_and_lost), (1, 1));
    let classes: Vec<_> = found.ranges.iter().map(|range| (range.first, range.class)).collect();
    let expected = [
        (10, WriteClass::Hole),
        (96, WriteClass::LostAsWarned),
        (97, WriteClass::Phantom),
        (98, WriteClass::UnknownPresent),
        (99, WriteClass::SeenAndLost),
    ];
    assert_eq!(classes, expected);
    let leaders: Vec<_> = found.leaders.iter().map(|leader| leader.node).collect();
    assert_eq!((leaders.as_slice(), found.read_from), (&[0, 1, 0, 1][..], Some(1)), "110 was the old primary's");
    assert!((found.two_primaries_seconds - 0.05).abs() < 1e-9, "{}", found.two_primaries_seconds);
}

#[test]
fn a_number_that_is_there_twice_or_was_refused_as_a_duplicate_is_a_double_and_no_phantom() {
    let mut writes = history(20);
    let mut held = present(&writes);
    held.push(7);
    (writes[9].outcome, writes[9].is_duplicate) = (ProbeOutcome::Failed, true);
    (writes[11].outcome, writes[11].is_duplicate) = (ProbeOutcome::Failed, true);
    held.retain(|number| *number != 11);
    let found = found_of(&writes, held, &[]);
    assert_eq!((found.doubles, found.phantoms, found.lost, found.kept), (3, 0, 0, 38));
    let classes: Vec<_> = found.ranges.iter().map(|range| (range.first, range.class)).collect();
    assert_eq!(classes, [(7, WriteClass::Double), (9, WriteClass::Double)]);
}

/// A history in which instances lead one after the other, each from a time in milliseconds until another, with a write each 5 ms.
fn led(turns: &[(usize, u64, u64)]) -> Ledger {
    let of_turn = |(node, from, to): &(usize, u64, u64)| {
        let node = *node;
        (from / 5..to / 5).map(move |number| write(number, ProbeOutcome::Acknowledged, node))
    };
    let writes: Vec<_> = turns.iter().flat_map(of_turn).collect();
    found_of(&writes, present(&writes), &[])
}

#[test]
fn a_failback_is_a_second_failover_and_only_turns_are_two_primaries() {
    let failback = led(&[(0, 0, 1_000), (1, 1_200, 30_000), (0, 36_000, 40_000)]);
    assert_eq!((failback.leaders.len(), failback.two_primaries_seconds), (3, 0.0));
    let again = led(&[(0, 0, 1_000), (1, 1_200, 2_000), (0, 2_100, 3_000), (1, 3_200, 4_000)]);
    assert_eq!((again.leaders.len(), again.two_primaries_seconds), (4, 0.0));
    // The old one went on beside the new one, to which clients came for a second.
    let split = led(&[(0, 0, 1_000), (1, 1_200, 2_200), (0, 2_200, 10_000)]);
    assert!((split.two_primaries_seconds - 0.995).abs() < 1e-9, "{}", split.two_primaries_seconds);
}

#[test]
fn sums_add_up_whatever_happens() {
    let mut state: u64 = 99;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..300 {
        let outcomes = [ProbeOutcome::Acknowledged, ProbeOutcome::Failed, ProbeOutcome::Unknown];
        let writes: Vec<_> =
            (0..200).map(|number| write(number, outcomes[draw(3) as usize], draw(2) as usize)).collect();
        let held: Vec<i64> = (0..200).filter(|_| draw(2) == 0).collect();
        let found = found_of(&writes, held, &[]);
        let of = |outcome| writes.iter().filter(|one| one.outcome == outcome).count() as u64;
        assert_eq!(found.kept + found.lost, of(ProbeOutcome::Acknowledged));
        assert_eq!(found.unknown_present + found.unknown_absent, of(ProbeOutcome::Unknown));
        let mut listed: std::collections::HashMap<WriteClass, u64> = std::collections::HashMap::new();
        for range in &found.ranges {
            *listed.entry(range.class).or_default() += range.took_us.len() as u64;
        }
        let listed = |class| listed.get(&class).copied().unwrap_or(0);
        assert_eq!(listed(WriteClass::Lost) + listed(WriteClass::Hole), found.lost);
        assert_eq!(listed(WriteClass::Hole), found.holes);
        assert_eq!(listed(WriteClass::UnknownPresent), found.unknown_present);
        assert_eq!(listed(WriteClass::UnknownAbsent) + listed(WriteClass::SeenAndLost), found.unknown_absent);
        assert_eq!(listed(WriteClass::Phantom), found.phantoms);
        assert!(found.phantoms <= of(ProbeOutcome::Failed) && found.holes <= found.lost);
    }
}

#[test]
fn a_database_that_cannot_be_asked_leaves_nothing_counted_as_lost() {
    let found = ledger(&observed(&history(10), &[]), &Err("no host answered".to_owned()), Moment(0));
    assert_eq!((found.sent, found.kept, found.lost, found.read_from), (20, 0, 0, None));
    assert_eq!(found.unread.as_deref(), Some("no host answered"));
}

#[test]
fn a_thousand_histories_without_a_loss_are_never_called_lossy() {
    let mut state: u64 = 5;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..1000 {
        let fork = draw(300);
        // What was in flight at the fault is unknown, what came while nobody led failed; each may or may not be there.
        let outcome = |number: u64, drawn: u64| match number {
            _ if number < fork => ProbeOutcome::Acknowledged,
            _ if number < fork + 3 => ProbeOutcome::Unknown,
            _ if number < fork + 20 && drawn == 0 => ProbeOutcome::Failed,
            _ if number < fork + 20 => ProbeOutcome::Unknown,
            _ => ProbeOutcome::Acknowledged,
        };
        let writes: Vec<_> =
            (0..400).map(|number| write(number, outcome(number, draw(2)), usize::from(number >= fork))).collect();
        let may_be_there = |one: &&ProbeOperation| one.outcome == ProbeOutcome::Unknown;
        let held = writes.iter().filter(|one| one.is_acknowledged() || (may_be_there(one) && one.number % 2 == 0));
        let found = found_of(&writes, held.map(|one| one.key()).collect(), &[]);
        assert_eq!((found.lost, found.holes, found.phantoms, found.lost_as_warned), (0, 0, 0, 0), "fork {fork}");
    }
}
