//! Queries by class and one by one: how many counted, how long they took, and whether a class holds what it says.

use super::parts::{plain, point_cell};
use crate::blocks::{Block, Cell, Column, Inline, Notice, Prose, Table, TableOf, cells, columns, prose};
use crate::findings::warehouse::{Class, QueryTotals, query_totals};
use crate::findings::{Findings, PointFindings};
use crate::sections::charts::measured_cell;

/// Largest number of points beside each other.
const MOST_BESIDE: usize = 4;

pub(super) type Totals<'f> = (&'f PointFindings, Vec<Class>);

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let totals: Vec<Totals<'_>> = findings.points.iter().filter_map(|point| totals(findings, point)).collect();
    if totals.is_empty() {
        return vec![Block::Notice(Notice::Gap, prose!["no query has completed."])];
    }
    let mut blocks = vec![Block::Table(by_class(findings, &totals))];
    blocks.extend(invalid(&totals).map(|words| Block::Notice(Notice::Caution, words)));
    blocks.extend(misfits(&totals).map(|words| Block::Notice(Notice::Caution, words)));
    blocks.extend(super::query_dots::figure(&totals).map(|figure| Block::Figure(Box::new(figure))));
    blocks.extend(super::costs::blocks(findings, &totals));
    for (number, chunk) in totals.chunks(MOST_BESIDE).enumerate() {
        let label = chunk.iter().map(|(point, _)| point.label()).collect::<Vec<_>>().join("; ");
        let table = one_by_one(chunk);
        let table = if number > 0 { Table { id: "", ..table } } else { table };
        blocks.push(Block::Fold(prose!["Each query: ", label], vec![Block::Table(table)]));
    }
    blocks
}

fn totals<'f>(findings: &'f Findings<'_>, point: &'f PointFindings) -> Option<Totals<'f>> {
    let attempts: Vec<_> = point.runs.iter().filter_map(|run| findings.finished(run.run.index)).collect();
    let classes = query_totals(&attempts);
    (!classes.is_empty()).then_some((point, classes))
}

pub(super) fn class_words(name: &str) -> String {
    if name.is_empty() { "not declared".to_owned() } else { name.to_owned() }
}

fn by_class(findings: &Findings<'_>, totals: &[Totals<'_>]) -> Table {
    let rows = totals.iter().flat_map(|(point, classes)| {
        let all: f64 = classes.iter().map(Class::sum_s).sum();
        classes.iter().map(move |class| class_row(point, class, all))
    });
    Table {
        id: "table-classes",
        caption: prose!["Queries by class, all runs of a point together. TPC-H-derived."],
        columns: columns! {
            point(findings), words("Class"), counts("Queries"), counts("Valid"), counts("Not valid"),
            quantities("Mean", "s"), quantities("Median of the queries", "s"), quantities("Share of the time", "%")
        },
        rows: rows.collect(),
        note: prose![
            "Not valid: the answer was wrong, the query failed, or it hit its cap. Such queries do not count and have \
             no time. The share refers to the response times of all valid queries. For CPU and reads of each class, \
             set workload.calibrate = \"queries\"."
        ],
    }
}

fn class_row(point: &PointFindings, class: &Class, all_s: f64) -> Vec<Cell> {
    let sum = |of: fn(&QueryTotals) -> u64| class.queries.iter().map(of).sum::<u64>();
    let valid = sum(|query| query.valid);
    let none = || Cell::Gap("no valid query".to_owned());
    let seconds = |value: Option<f64>| value.map_or_else(none, |value| plain(value, "s", valid, "an exact mean"));
    cells! {
        point_cell(point), class_words(&class.name), Cell::Count(class.queries.len() as u64), Cell::Count(valid),
        Cell::Count(sum(|query| query.failed)), seconds((valid > 0).then(|| class.sum_s() / valid as f64)),
        seconds(class.median_s()),
        if all_s > 0.0 { plain(100.0 * class.sum_s() / all_s, "%", valid, "a share of a sum") } else { none() }
    }
}

/// Queries of which some or all runs do not count.
fn invalid(totals: &[Totals<'_>]) -> Option<Prose> {
    let words = |point: &PointFindings, query: &QueryTotals| {
        let (failed, all, codes) = (query.failed, query.valid + query.failed, query.codes.join(", "));
        format!("{} at {} ({failed} of {all}, {codes})", title(&query.kind), point.label())
    };
    let mut found = Vec::new();
    for (point, classes) in totals {
        let queries = classes.iter().flat_map(|class| &class.queries).filter(|query| query.failed > 0);
        found.extend(queries.map(|query| words(point, query)));
    }
    (!found.is_empty()).then(|| prose!["queries with invalid executions: ", found.join("; "), "."])
}

/// A simple query that takes longer than the middle one of the complex: its class says the wrong thing here.
fn misfits(totals: &[Totals<'_>]) -> Option<Prose> {
    let of_point = |(point, classes): &Totals<'_>| {
        let class = |name: &str| classes.iter().find(|class| class.name == name);
        let limit = class("complex")?.median_s()?;
        let over = |query: &&QueryTotals| query.mean_s().is_some_and(|mean| mean > limit);
        let names: Vec<String> = class("simple")?.queries.iter().filter(over).map(|query| title(&query.kind)).collect();
        (!names.is_empty()).then(|| format!("{} at {}", names.join(", "), point.label()))
    };
    let found: Vec<String> = totals.iter().filter_map(of_point).collect();
    (!found.is_empty()).then(|| {
        prose! {
            "declared simple, but slower than the median of the complex queries: ", found.join("; "),
            ". Shares by class (", Inline::Reference("table-classes"),
            ") refer to the declared classes, not to the cost."
        }
    })
}

/// `q01` as `Q1`.
pub(super) fn title(kind: &str) -> String {
    match kind.strip_prefix('q').and_then(|number| number.parse::<u32>().ok()) {
        Some(number) => format!("Q{number}"),
        None => kind.to_owned(),
    }
}

fn one_by_one(totals: &[Totals<'_>]) -> Table {
    let mut queries: Vec<&QueryTotals> = Vec::new();
    for query in totals.iter().flat_map(|(_, classes)| classes.iter().flat_map(|class| &class.queries)) {
        if !queries.iter().any(|known| known.kind == query.kind) {
            queries.push(query);
        }
    }
    queries.sort_by(|one, other| one.kind.cmp(&other.kind));
    TableOf::new("table-queries", prose!["Mean response time of each query's valid runs. TPC-H-derived."], queries)
        .words("Query", |query| match query.title.as_str() {
            "" => title(&query.kind),
            words => format!("{}, {words}", title(&query.kind)),
        })
        .words("Class", |query| class_words(&query.class))
        .each(
            totals,
            |(point, _)| Column::quantities(point.label(), "s"),
            |query, (_, classes)| query_cell(classes, &query.kind),
        )
        .table()
}

fn query_cell(classes: &[Class], kind: &str) -> Cell {
    let found = classes.iter().flat_map(|class| &class.queries).find(|query| query.kind == kind);
    let Some(query) = found else { return Cell::Gap("did not run".to_owned()) };
    measured_cell(query.mean())
}
