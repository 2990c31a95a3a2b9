//! Query by query: how much slower or faster each was, where the work is made of queries.

use crate::blocks::{Axis, Block, Chart, DotRows, Figure, Group, Table, cells, columns, prose};
use crate::findings::comparison::{Comparison, QueryPair};
use crate::numbers::short;

/// Pairs of points that are told apart in the figure.
const MOST_POINTS: usize = 6;

/// The figure with its data; `None` where no query stands on both sides.
pub(crate) fn figure(comparison: &Comparison<'_>) -> Option<Block> {
    let queries: Vec<&QueryPair> = comparison.queries.iter().filter(|query| query.pair < MOST_POINTS).collect();
    let mut pairs: Vec<usize> = queries.iter().map(|query| query.pair).collect();
    pairs.dedup();
    let mut rows: Vec<Group> = Vec::new();
    for query in &queries {
        let place = pairs.iter().position(|pair| *pair == query.pair)?;
        let title = query.kind.replacen('q', "Q", 1);
        let row = match rows.iter().position(|row| row.label == title) {
            Some(row) => row,
            None => {
                rows.push(Group { label: title, values: vec![None; pairs.len()] });
                rows.len() - 1
            }
        };
        rows[row].values[place] = Some((query.ratio(), None));
    }
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| first(a).total_cmp(&first(b)));
    let names: Vec<String> = pairs.iter().map(|pair| comparison.label(*pair).to_owned()).collect();
    let told = rows.iter().map(|row| format!("{} {}", row.label, short(first(row)))).collect::<Vec<_>>().join(", ");
    Some(Block::Figure(Box::new(Figure {
        id: "figure-queries",
        caption: prose![
            "Time ratio B/A of each query over all valid executions, smallest first; at the dashed line both are \
             equal. Single queries have no interval."
        ],
        alt: format!("Dot chart of the ratio B/A by query. {told}."),
        chart: Chart::Dots(DotRows {
            axis: Axis::logarithmic("Ratio B/A", ""),
            names,
            rows,
            rule: Some(1.0),
            band: None,
        }),
        data: data(comparison),
    })))
}

/// The ratio at the first point that has one.
fn first(row: &Group) -> f64 {
    row.values.iter().flatten().map(|(value, _)| *value).next().unwrap_or(f64::INFINITY)
}

fn data(comparison: &Comparison<'_>) -> Table {
    let row = |query: &QueryPair| {
        cells! {
            comparison.label(query.pair).to_owned(), query.kind.replacen('q', "Q", 1), short(query.baseline_s),
            short(query.candidate_s), short(query.ratio())
        }
    };
    Table {
        columns: columns![words("Point"), words("Query"), counts("A, s"), counts("B, s"), counts("B/A")],
        rows: comparison.queries.iter().map(row).collect(),
        ..Table::default()
    }
}
