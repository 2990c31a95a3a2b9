//! Acknowledged writes must be there: no later operation of the same user wrote the field, and what stands in it is not
//! older.
//!
//! A user's own operations follow one another, so a value that one of its earlier operations wrote, or the load, after
//! a later one was acknowledged, is a lost update. A value of another user may be older or newer; nothing can be said
//! of it.

use super::read_back::Checker;
use crate::workloads::ycsb::store::BlockingStore;
use crate::workloads::ycsb::tally::{AcknowledgedWrite, Tally};
use proofload_gen::ycsb::Plan;
use proofload_model::error::Error;
use proofload_model::samples::{Check, CheckOutcome};
use std::collections::BTreeSet;

/// Checks the latest acknowledged writes of all users.
pub(super) fn check(session: &mut BlockingStore, plan: &Plan, tallies: &[Tally], users: u32) -> Result<Check, Error> {
    let mut checker = Checker::new(plan);
    let (mut checked, mut offenders) = (0u64, Vec::new());
    for tally in tallies {
        for write in current(tally) {
            checked += 1;
            if let Some(fault) = lost(&mut checker, session, write, u64::from(users))? {
                offenders.push(fault);
            }
        }
    }
    let lost = offenders.len();
    offenders.truncate(10);
    Ok(Check {
        group: "acknowledged".to_owned(),
        name: "latest writes".to_owned(),
        rule: "the latest acknowledged writes of each user are stored, or a later write of another user".to_owned(),
        found: format!("{lost} of {checked} are lost"),
        outcome: match (lost, checked) {
            (0, 0) => CheckOutcome::NotApplicable,
            (0, _) => CheckOutcome::Met,
            _ => CheckOutcome::Failed,
        },
        offenders,
        sample: None,
        lost: Some(lost as u64),
    })
}

/// A user's writes that no later one of its own replaced.
fn current(tally: &Tally) -> Vec<AcknowledgedWrite> {
    let mut seen = BTreeSet::new();
    let mut writes: Vec<AcknowledgedWrite> = tally.latest().collect();
    writes.reverse();
    writes.retain(|write| !seen.contains(&(write.record, None)) && seen.insert((write.record, write.field)));
    writes
}

/// The way in which a write was lost; `None` when it was not.
fn lost(
    checker: &mut Checker<'_>,
    session: &mut BlockingStore,
    write: AcknowledgedWrite,
    users: u64,
) -> Result<Option<String>, Error> {
    let AcknowledgedWrite { record, field, index } = write;
    let values = checker.values();
    let (key, found) = checker.read(session, record)?;
    let Some(found) = found.get(0) else {
        return Ok(Some(format!("{key}: operation {index} was acknowledged, but the record is missing")));
    };
    for (place, value) in found.values().filter(|(place, _)| field.is_none_or(|field| field == *place)) {
        let older = match values.check(record, place, value) {
            Ok(0) => Some("the load".to_owned()),
            Ok(writer) if writer <= index && (index + 1 - writer).is_multiple_of(users) => {
                Some(format!("operation {}", writer - 1))
            }
            Ok(_) => None,
            Err(fault) => Some(format!("nobody: {fault}")),
        };
        if let Some(older) = older {
            return Ok(Some(format!(
                "{key}, field {place}: operation {index} was acknowledged, but the value is from {older}"
            )));
        }
    }
    Ok(None)
}
