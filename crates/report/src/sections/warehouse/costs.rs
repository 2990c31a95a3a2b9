//! What queries cost in the calibration, each once, and whether a class costs what it says.

use super::parts::plain;
use super::queries::{Totals, class_words, title};
use crate::blocks::{Block, Cell, Notice, Prose, Table, TableOf, cells, columns, prose};
use crate::findings::Findings;
use crate::findings::warehouse::{Class, Cost, QueryTotals};

const CPU: fn(&Cost) -> Option<f64> = |cost| cost.cpu_s;
const DEVICE: fn(&Cost) -> Option<f64> = |cost| cost.device_mb;
const ONCE: &str = "one run of the query";

/// Points that share what their queries cost, under the labels of all.
type Shared<'f> = (Vec<String>, &'f [Class]);

/// Costs of classes and of queries, and a caution about classes; nothing where no query was calibrated.
pub(super) fn blocks(findings: &Findings<'_>, totals: &[Totals<'_>]) -> Vec<Block> {
    let shared = shared(totals);
    if shared.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(by_class(findings, &shared))];
    blocks.extend(misfits(&shared).map(|words| Block::Notice(Notice::Caution, words)));
    let tables = shared.iter().map(|(labels, classes)| {
        Block::Fold(prose!["Cost of each query: ", labels.join("; ")], vec![Block::Table(one_by_one(classes))])
    });
    blocks.extend(tables);
    blocks
}

fn shared<'f>(totals: &'f [Totals<'_>]) -> Vec<Shared<'f>> {
    let costs = |classes: &[Class]| -> Vec<(String, Option<Cost>)> {
        let queries = classes.iter().flat_map(|class| &class.queries);
        queries.map(|query| (query.kind.clone(), query.cost)).collect()
    };
    let mut found: Vec<Shared<'f>> = Vec::new();
    for (point, classes) in totals {
        let own = costs(classes);
        if own.iter().all(|(_, cost)| cost.is_none()) {
            continue;
        }
        match found.iter_mut().find(|(_, other)| costs(other) == own) {
            Some((labels, _)) => labels.push(point.label()),
            None => found.push((vec![point.label()], classes)),
        }
    }
    found
}

fn share(part: Option<f64>, whole: Option<f64>, n: u64) -> Cell {
    match part.zip(whole.filter(|whole| *whole > 0.0)) {
        Some((part, whole)) => plain(100.0 * part / whole, "%", n, "a share of a sum"),
        None => Cell::Gap("not calibrated".to_owned()),
    }
}

fn amount(value: Option<f64>, unit: &'static str, n: u64) -> Cell {
    value.map_or_else(|| Cell::Gap("not calibrated".to_owned()), |value| plain(value, unit, n, ONCE))
}

fn sum(classes: &[Class], of: fn(&Cost) -> Option<f64>) -> Option<f64> {
    let known: Vec<f64> = classes.iter().filter_map(|class| class.cost(of)).collect();
    (!known.is_empty()).then(|| known.iter().sum())
}

fn by_class(findings: &Findings<'_>, shared: &[Shared<'_>]) -> Table {
    let rows = shared.iter().flat_map(|(labels, classes)| {
        classes.iter().map(move |class| {
            let n = class.queries.iter().filter(|query| query.cost.is_some()).count() as u64;
            cells! {
                labels.join("; "), class_words(&class.name), Cell::Count(n), amount(class.cost(CPU), "CPU s", n),
                share(class.cost(CPU), sum(classes, CPU), n), amount(class.cost(DEVICE), "MB", n),
                share(class.cost(DEVICE), sum(classes, DEVICE), n), amount(class.median_cost(CPU), "CPU s", n)
            }
        })
    });
    Table {
        id: "table-class-costs",
        caption: prose![
            "Cost of the queries of each class in the calibration. Each query ran once, under the limits of the runs \
             except the memory limit."
        ],
        columns: columns! {
            point(findings), words("Class"), counts("Queries"), quantities("CPU", "CPU s"),
            quantities("Share of CPU", "%"), quantities("Read from the device", "MB"),
            quantities("Share of reads", "%"), quantities("Median of the queries", "CPU s")
        },
        rows: rows.collect(),
        note: prose![
            "The page cache was dropped before each query. An embedded engine was restarted; a server kept its own \
             cache from earlier queries, so it reads less than on a cold start. Queries that failed or hit their cap \
             have no cost."
        ],
    }
}

/// A simple query that costs more CPU than the middle one of the complex.
fn misfits(shared: &[Shared<'_>]) -> Option<Prose> {
    let of_point = |(labels, classes): &Shared<'_>| {
        let class = |name: &str| classes.iter().find(|class| class.name == name);
        let limit = class("complex")?.median_cost(CPU)?;
        let over = |query: &QueryTotals| {
            let cpu = query.cost?.cpu_s.filter(|cpu| *cpu > limit)?;
            Some(format!("{} with {} CPU s", title(&query.kind), crate::numbers::short(cpu)))
        };
        let names: Vec<String> = class("simple")?.queries.iter().filter_map(over).collect();
        let limit = crate::numbers::short(limit);
        (!names.is_empty()).then(|| format!("{} against {limit} CPU s ({})", names.join(", "), labels.join("; ")))
    };
    let found: Vec<String> = shared.iter().filter_map(of_point).collect();
    (!found.is_empty()).then(|| {
        prose! {
            "declared simple, but costs more CPU time than the median of the complex queries: ", found.join("; "), "."
        }
    })
}

fn one_by_one(classes: &[Class]) -> Table {
    let (cpu, device) = (sum(classes, CPU), sum(classes, DEVICE));
    let mut queries: Vec<&QueryTotals> = classes.iter().flat_map(|class| &class.queries).collect();
    queries.sort_by(|one, other| one.kind.cmp(&other.kind));
    let of = |query: &QueryTotals, what: fn(&Cost) -> Option<f64>| what(&query.cost?);
    TableOf::new("", prose!["Cost of each query in the calibration, one run each. TPC-H-derived."], queries)
        .words("Query", |query| title(&query.kind))
        .words("Class", |query| class_words(&query.class))
        .quantities("CPU", "CPU s", |query| amount(of(query, CPU), "CPU s", 1))
        .quantities("Share of CPU", "%", |query| share(of(query, CPU), cpu, 1))
        .quantities("Read from the device", "MB", |query| amount(of(query, DEVICE), "MB", 1))
        .quantities("Share of reads", "%", |query| share(of(query, DEVICE), device, 1))
        .table()
}
