//! The rows of the tables of experiments: one for each visit, and one for each resource in a visit. From both a reader finds every elasticity
//! again.

use super::Selection;
use super::table::{Cell, Emit, whole};
use crate::findings::attribution::{VisitResult, visit_results};
use proofload_model::intervention::Change;
use proofload_record::{Attempt, Record};
use std::io::Result;

fn number(value: Option<f64>) -> Cell<'static> {
    value.filter(|value| value.is_finite()).map_or(Cell::Empty, Cell::Number)
}

/// Every visit, with whether its block is complete, and its number in the attempt.
fn each_visit(
    record: &Record,
    selection: &Selection,
    mut row: impl FnMut(&Attempt, u64, &VisitResult, bool) -> Result<()>,
) -> Result<()> {
    for attempt in selection.experiments(record) {
        for (place, (result, is_complete)) in visit_results(attempt).iter().enumerate() {
            row(attempt, place as u64, result, *is_complete)?;
        }
    }
    Ok(())
}

pub(super) fn visits(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    each_visit(record, selection, |attempt, place, result, is_complete| {
        let visit = &result.visit;
        let (change, resource) = match &visit.change {
            Change::Nothing => ("nothing", Cell::Empty),
            Change::One(name) => ("one", Cell::Text(name.as_str())),
            Change::AllBut(name) => ("all_but", Cell::Text(name.as_str())),
            Change::Raised(name) => ("raised", Cell::Text(name.as_str())),
        };
        emit(&[
            Cell::Integer(attempt.id),
            Cell::Integer(i64::from(attempt.run.index)),
            Cell::Integer(i64::from(attempt.run.point)),
            Cell::Integer(i64::from(visit.block)),
            Cell::Boolean(is_complete),
            whole(place),
            Cell::Text(change),
            resource,
            whole(visit.from),
            whole(visit.to),
            Cell::Number(visit.switched_ms),
            number(Some(result.throughput)),
            number(Some(result.response_p99)),
            number(result.stolen),
        ])
    })
}

pub(super) fn visit_readings(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
    each_visit(record, selection, |attempt, place, result, _| {
        for reading in &result.visit.readings {
            let kind = attempt.experiment().and_then(|experiment| {
                let plan = experiment.resources.iter().find(|plan| plan.name == reading.name)?;
                Some(plan.class.word())
            });
            emit(&[
                Cell::Integer(attempt.id),
                Cell::Integer(i64::from(attempt.run.index)),
                Cell::Integer(i64::from(result.visit.block)),
                whole(place),
                Cell::Text(&reading.name),
                kind.map_or(Cell::Empty, Cell::Text),
                number(reading.in_force),
                number(reading.used),
            ])?;
        }
        Ok(())
    })
}
