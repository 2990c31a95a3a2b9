//! The rows of the tables of experiments: one for each visit, and one for each resource in a visit. From both a reader finds every elasticity
//! again.

use super::selection::Extract;
use crate::findings::attribution::{VisitResult, visit_results};
use proofload_model::intervention::{Change, InterventionVisit, ResourceReading};
use proofload_record::Attempt;

/// Every visit, with its number in the attempt, and whether its block is complete.
pub(super) fn visits(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, u64, VisitResult, bool)> {
    of.experiments().flat_map(|attempt| {
        let results = (0_u64..).zip(visit_results(attempt));
        results.map(move |(place, (result, is_complete))| (attempt, place, result, is_complete))
    })
}

/// Kind of a visit's change, and the resource that it changed.
pub(super) fn change_of(visit: &InterventionVisit) -> (&'static str, Option<&str>) {
    match &visit.change {
        Change::Nothing => ("nothing", None),
        Change::One(name) => ("one", Some(name.as_str())),
        Change::AllBut(name) => ("all_but", Some(name.as_str())),
        Change::Raised(name) => ("raised", Some(name.as_str())),
    }
}

/// Readings of every visit, with the visit's number and its block.
pub(super) fn visit_readings(of: Extract<'_>) -> impl Iterator<Item = (&Attempt, u64, u32, ResourceReading)> {
    visits(of).flat_map(|(attempt, place, result, _)| {
        let block = result.visit.block;
        result.visit.readings.into_iter().map(move |reading| (attempt, place, block, reading))
    })
}

/// Class of a resource, as the plan of the experiment has it.
pub(super) fn class_of(attempt: &Attempt, resource: &str) -> Option<&'static str> {
    let plan = attempt.experiment()?.resources.iter().find(|plan| plan.name == resource)?;
    Some(plan.class.word())
}
