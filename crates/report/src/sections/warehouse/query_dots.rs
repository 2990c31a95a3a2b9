//! The times of all queries as rows of dots, a dot for each point, sorted by how far the points lie apart.

use super::queries::{Totals, title};
use crate::blocks::{Axis, Cell, Chart, Column, DotRows, Figure, Group, Table, prose};
use crate::findings::PointFindings;
use crate::findings::warehouse::{Class, QueryTotals};
use crate::numbers::short;

/// Points that are told apart in one figure.
const MOST_POINTS: usize = 6;

/// The figure; `None` where no query has a time.
pub(super) fn figure(totals: &[Totals<'_>]) -> Option<Figure> {
    let totals = &totals[..totals.len().min(MOST_POINTS)];
    let mut rows: Vec<Group> = kinds(totals).into_iter().map(|kind| group(totals, &kind)).collect();
    rows.retain(|row| row.values.iter().any(Option::is_some));
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| apart(b).total_cmp(&apart(a)));
    let names: Vec<String> = totals.iter().map(|(point, _)| point.label()).collect();
    let told = |row: &Group| {
        let values = row.values.iter().map(|value| value.map_or("no time".to_owned(), |(value, _)| short(value)));
        format!("{} {}", row.label, values.collect::<Vec<_>>().join(" and "))
    };
    let alt = format!(
        "Dot chart of the mean time of each query in s, {}. {}.",
        names.join(" and "),
        rows.iter().map(told).collect::<Vec<_>>().join("; ")
    );
    let data = table(&rows, totals);
    Some(Figure {
        id: "figure-queries",
        caption: prose![
            "Mean time of each query's valid executions, logarithmic",
            if names.len() > 1 { "; the queries that differ most between the points first." } else { "." }
        ],
        alt,
        chart: Chart::Dots(DotRows { axis: Axis::logarithmic("Mean time", "s"), names, rows, rule: None, band: None }),
        data,
    })
}

fn kinds(totals: &[Totals<'_>]) -> Vec<String> {
    let all = totals.iter().flat_map(|(_, classes)| classes.iter().flat_map(|class| &class.queries));
    let mut kinds: Vec<String> = all.map(|query| query.kind.clone()).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

fn group(totals: &[Totals<'_>], kind: &str) -> Group {
    let value = |(_, classes): &(&PointFindings, Vec<Class>)| {
        let query = classes.iter().flat_map(|class| &class.queries).find(|query| query.kind == kind)?;
        query.mean_s().filter(|seconds| *seconds > 0.0).map(|seconds| (seconds, interval(query)))
    };
    Group { label: title(kind), values: totals.iter().map(value).collect() }
}

fn interval(query: &QueryTotals) -> Option<(f64, f64)> {
    query.mean().ok().and_then(|mean| mean.interval().bounds())
}

/// The largest ratio between two points.
fn apart(row: &Group) -> f64 {
    let values = || row.values.iter().flatten().map(|(value, _)| *value);
    values().fold(0.0, f64::max) / values().fold(f64::INFINITY, f64::min)
}

fn table(rows: &[Group], totals: &[Totals<'_>]) -> Table {
    let cells = |row: &Group| {
        let value = |value: &Option<(f64, Option<(f64, f64)>)>| {
            value.map_or(Cell::Gap("no valid execution".to_owned()), |(value, _)| Cell::datum(short(value)))
        };
        std::iter::once(Cell::datum(row.label.clone())).chain(row.values.iter().map(value)).collect()
    };
    let heads = totals.iter().map(|(point, _)| Column::counts(point.label()));
    Table {
        columns: std::iter::once(Column::words("Query")).chain(heads).collect(),
        rows: rows.iter().map(cells).collect(),
        ..Table::default()
    }
}
