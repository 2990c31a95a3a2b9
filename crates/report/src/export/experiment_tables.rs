//! The rows of the tables of experiments: one for each visit, and one for each resource in a visit. From both a reader finds every elasticity
//! again.

use super::Selection;
use super::column::{self, ExportColumn};
use super::table::{Cell, Emit};
use crate::findings::attribution::{VisitResult, visit_results};
use proofload_model::intervention::Change;
use proofload_record::{Attempt, Record};
use std::io::Result;

/// Columns of [`visits`].
pub(super) const VISITS: &[ExportColumn] = &[
    column::integer("attempt"),
    column::integer("run"),
    column::integer("point"),
    column::integer("block"),
    column::boolean("block_complete"),
    column::integer("visit"),
    column::text("change"),
    column::text("resource"),
    column::integer("from_s"),
    column::integer("to_s"),
    column::number("switched_ms"),
    column::number("per_s"),
    column::number("response_p99_ns"),
    column::number("stolen"),
];

/// Columns of [`readings`].
pub(super) const READINGS: &[ExportColumn] = &[
    column::integer("attempt"),
    column::integer("run"),
    column::integer("block"),
    column::integer("visit"),
    column::text("resource"),
    column::text("kind"),
    column::number("in_force"),
    column::number("used_per_s"),
];

fn number(value: Option<f64>) -> Cell<'static> {
    value.filter(|value| value.is_finite()).map_or(Cell::Empty, Cell::Number)
}

fn whole(number: u64) -> Cell<'static> {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
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

pub(super) fn readings(record: &Record, selection: &Selection, emit: &mut Emit<'_>) -> Result<()> {
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
