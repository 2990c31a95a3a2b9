//! What the sections of a warehouse study share.

use crate::blocks::Cell;
use crate::findings::warehouse::{Rating, rating};
use crate::findings::{Findings, PointFindings};
use crate::metrics::MetricName;
use crate::sections::charts::measured_cell;
use proofload_analysis::quantity::{Interval, Quantity, Unit};

/// Points with a finished run, and their ratings.
pub(super) fn rated<'f>(findings: &'f Findings<'_>) -> Vec<(&'f PointFindings, Rating)> {
    findings.points.iter().filter_map(|point| Some((point, rating(findings, point)?))).collect()
}

/// A point's name as the first cell of a row.
pub(super) fn point_cell(point: &PointFindings) -> Cell {
    Cell::datum(point.label())
}

/// A metric of a point as a cell.
pub(super) fn metric(point: &PointFindings, metric: MetricName) -> Cell {
    measured_cell(point.metric(metric.key()))
}

/// A number without an interval, and why it has none.
pub(super) fn plain(value: f64, unit: &'static str, n: u64, why: &str) -> Cell {
    Cell::Quantity(Quantity::new(value, Unit::named(unit), n, Interval::none(why)))
}
