//! Ledgers of drawn histories, with losses, phantoms, holes and two primaries planted in them.

use super::*;
use proofload_model::time::Offset;
use std::time::Duration;

fn write(number: u64, outcome: ProbeOutcome, node: usize) -> ProbeOperation {
    let due = Moment(number * 5_000_000);
    ProbeOperation {
        number,
        due,
        lag: Duration::ZERO,
        sent: (outcome != ProbeOutcome::Failed).then_some(due),
        ended: due + Duration::from_millis(2),
        outcome,
        warned: false,
        node,
        seen: None,
    }
}

/// A history of `count` writes on one node, then as many on another.
fn history(count: u64) -> Vec<ProbeOperation> {
    (0..2 * count).map(|number| write(number, ProbeOutcome::Acknowledged, usize::from(number >= count))).collect()
}

fn present(writes: &[ProbeOperation]) -> Vec<i64> {
    writes.iter().rev().map(number).collect()
}

#[test]
fn planted_losses_are_counted_exactly() {
    let mut state: u64 = 7;
    for _ in 0..200 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let planted = 1 + (state >> 33) % 10_000;
        let writes = history(10_500);
        let fork = 10_500 - planted;
        let kept: Vec<_> = writes.iter().filter(|one| one.number < fork || one.number >= 10_500).copied().collect();
        let found = ledger(&writes, present(&kept), &[], Moment(0));
        assert_eq!((found.lost, found.holes, found.kept), (planted, 0, 21_000 - planted));
        assert_eq!(found.lost_numbers.first(), Some(&fork));
        assert_eq!(found.oldest_lost, Some(Offset(i64::try_from(fork * 5_000_000 + 2_000_000).unwrap())));
    }
}

#[test]
fn one_loss_in_a_million_is_found_and_none_is_none() {
    let writes = history(500_000);
    let all = present(&writes);
    assert_eq!(ledger(&writes, all.clone(), &[], Moment(0)).lost, 0);
    let without: Vec<i64> = all.into_iter().filter(|number| *number != 499_999).collect();
    let found = ledger(&writes, without, &[], Moment(0));
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
    let found = ledger(&writes, held, &[99], Moment(0));
    let counts = [found.lost, found.holes, found.phantoms, found.unknown_present, found.unknown_absent];
    assert_eq!(counts, [1, 1, 1, 1, 1]);
    assert_eq!((found.lost_as_warned, found.seen_and_lost), (1, 1));
    assert!((found.two_primaries_seconds - 0.05).abs() < 1e-9, "{}", found.two_primaries_seconds);
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
        let found = ledger(&writes, held, &[], Moment(0));
        let of = |outcome| writes.iter().filter(|one| one.outcome == outcome).count() as u64;
        assert_eq!(found.kept + found.lost, of(ProbeOutcome::Acknowledged));
        assert_eq!(found.unknown_present + found.unknown_absent, of(ProbeOutcome::Unknown));
        assert!(found.phantoms <= of(ProbeOutcome::Failed) && found.holes <= found.lost);
    }
}
