//! Row store against column store: this study's pairs, and published ones beside them. Only ratios are drawn together, as machine
//! and size differ.

use super::parts::metric;
use crate::blocks::{Axis, Bars, Block, Cell, Chart, Column, Figure, Group, Inline, Notice, Table, prose};
use crate::findings::warehouse::{Pairing, pairings, published_pairings};
use crate::findings::{Findings, PointFindings};
use crate::metrics::{
    CPU, DATABASE_CPU, IO_THROUGHPUT, MetricName, QUERIES_PER_HOUR_PER_TB, SCAN_LOGICAL, SCAN_PHYSICAL,
};
use crate::numbers::short;
use proofload_analysis::quantity::{NO_UPPER_BOUND, is_unbounded_above};
use proofload_import::{Reference, ReferencePoint};

/// Largest number of this study's pairs that are drawn.
const MOST_PAIRS: usize = 4;

/// What is shown; published figures have the same names.
const SHOWN: &[MetricName] =
    &[QUERIES_PER_HOUR_PER_TB.headed(), SCAN_PHYSICAL, SCAN_LOGICAL, IO_THROUGHPUT.headed(), DATABASE_CPU.headed()];

/// Places in [`SHOWN`] whose ratios are drawn: those that both stores of a publication print.
const DRAWN: &[usize] = &[0, 1, 4];

type Published<'f> = (&'f Reference, &'f ReferencePoint, &'f ReferencePoint);

/// Whether this section draws published results beside the study's.
pub(in super::super) fn drawn_beside(findings: &Findings<'_>) -> bool {
    !published_pairings(findings).is_empty()
}

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let (pairs, published) = (pairings(findings), published_pairings(findings));
    if pairs.is_empty() && published.is_empty() {
        return Vec::new();
    }
    let mut blocks = Vec::new();
    if pairs.is_empty() {
        let why = "no two points of this study differ only in row and column store.";
        blocks.push(Block::Notice(Notice::Gap, prose![why]));
    }
    blocks.push(Block::Table(stores(&pairs, &published)));
    let figure = figure(&pairs, &published);
    if let Chart::Bars(bars) = &figure.chart
        && bars.groups.iter().any(|group| group.values.iter().any(Option::is_some))
    {
        blocks.push(Block::Figure(Box::new(figure)));
    }
    blocks
}

fn own_name(pair: &Pairing<'_>) -> String {
    if pair.label.is_empty() { "this study".to_owned() } else { format!("this study, {}", pair.label) }
}

/// Ratings have the host to themselves and print one CPU figure.
fn published_name(metric: &MetricName) -> &'static str {
    if metric.name == DATABASE_CPU.name { CPU.name } else { metric.name }
}

/// A published figure as a cell.
fn printed(point: &ReferencePoint, metric: &MetricName) -> Cell {
    point.metrics.get(published_name(metric)).map_or(Cell::Empty, |figure| Cell::datum(short(figure.value)))
}

fn stores(pairs: &[Pairing<'_>], published: &[Published<'_>]) -> Table {
    let mut rows = Vec::new();
    for pair in pairs {
        rows.push(own_row(own_name(pair), "row store", pair.rows));
        rows.push(own_row(own_name(pair), "column store", pair.columns));
        let ratios = SHOWN.iter().map(|shown| multiple(pair, shown));
        rows.push(
            [Cell::datum(own_name(pair)), Cell::Prose(prose!["column ÷ row"])].into_iter().chain(ratios).collect(),
        );
    }
    for (reference, row_store, column_store) in published {
        for (words, point) in [("row store", row_store), ("column store", column_store)] {
            let cells = SHOWN.iter().map(|shown| printed(point, shown));
            let head = [Cell::code(reference.id.clone()), Cell::Prose(prose![words])];
            rows.push(head.into_iter().chain(cells).collect());
        }
    }
    let heads = SHOWN.iter().map(Column::metric);
    Table {
        id: "table-layouts",
        caption: prose![
            "Row store and column store of this study, and published results as printed. TPC-H-derived, not a TPC \
             result."
        ],
        columns: [Column::words("Results"), Column::words("Store")].into_iter().chain(heads).collect(),
        rows,
        note: prose![
            "Machine, size, data and queries differ between studies: compare ratios, not figures. Empty cells were \
             not published, or one of the two is missing."
        ],
    }
}

fn own_row(name: String, words: &'static str, point: &PointFindings) -> Vec<Cell> {
    let cells = SHOWN.iter().map(|shown| metric(point, *shown));
    [Cell::datum(name), Cell::Prose(prose![words])].into_iter().chain(cells).collect()
}

/// A ratio in a column of another unit is words.
fn multiple(pair: &Pairing<'_>, metric: &MetricName) -> Cell {
    match pair.ratio(metric.key()) {
        Ok(ratio) => Cell::datum(ratio_words(ratio.value(), ratio.interval().bounds())),
        Err(_) => Cell::Empty,
    }
}

fn ratio_words(value: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        Some(bounds @ (low, _)) if is_unbounded_above(value, bounds) => {
            format!("{}\u{a0}× [{}, {NO_UPPER_BOUND}]", short(value), short(low))
        }
        Some((low, high)) => format!("{}\u{a0}× [{}, {}]", short(value), short(low), short(high)),
        None => format!("{}\u{a0}×", short(value)),
    }
}

fn figure(pairs: &[Pairing<'_>], published: &[Published<'_>]) -> Figure {
    let pairs = &pairs[..pairs.len().min(MOST_PAIRS)];
    let bars = bars(pairs, published);
    let words = bars.groups.iter().map(|group| {
        let values = group
            .values
            .iter()
            .zip(&bars.names)
            .filter_map(|(value, name)| value.map(|(value, _)| format!("{name} {} ×", short(value))));
        format!("{}: {}.", group.label, values.collect::<Vec<_>>().join(", "))
    });
    let alt =
        format!("Bar chart of the column store in multiples of the row store. {}", words.collect::<Vec<_>>().join(" "));
    Figure {
        id: "figure-layouts",
        caption: prose! {
            "The column store in multiples of the row store, with 95 % confidence intervals if both stores have one; \
             published ratios are computed from printed figures. All figures are in ",
            Inline::Reference("table-layouts"), "."
        },
        alt,
        data: data(&bars),
        chart: Chart::Bars(bars),
    }
}

fn bars(pairs: &[Pairing<'_>], published: &[Published<'_>]) -> Bars {
    let group = |shown: &MetricName| {
        let own =
            pairs.iter().map(|pair| pair.ratio(shown.key()).ok().map(|ratio| (ratio.value(), ratio.drawn_bounds())));
        let theirs = published.iter().map(|(_, row_store, column_store)| {
            let of = |point: &ReferencePoint| point.metrics.get(published_name(shown)).map(|figure| figure.value);
            Some((of(column_store)? / of(row_store)?, None))
        });
        Group { label: shown.title.to_owned(), values: own.chain(theirs).collect() }
    };
    let names = pairs.iter().map(own_name).chain(published.iter().map(|(reference, ..)| reference.title.clone()));
    Bars {
        axis: Axis::linear("Column store", "multiples of the row store"),
        names: names.collect(),
        groups: DRAWN.iter().filter_map(|place| SHOWN.get(*place)).map(group).collect(),
        observed: Vec::new(),
    }
}

fn data(bars: &Bars) -> Table {
    let names = bars.names.iter().map(|name| Column::quantities(name.clone(), "×"));
    let cell = |value: &Option<(f64, Option<(f64, f64)>)>| match value {
        Some((value, interval)) => Cell::datum(ratio_words(*value, *interval)),
        None => Cell::Gap("missing for one of the stores".to_owned()),
    };
    let row =
        |group: &Group| [Cell::datum(group.label.clone())].into_iter().chain(group.values.iter().map(cell)).collect();
    Table {
        caption: prose!["The column store in multiples of the row store."],
        columns: [Column::words("Figure")].into_iter().chain(names).collect(),
        rows: bars.groups.iter().map(row).collect(),
        ..Table::default()
    }
}
