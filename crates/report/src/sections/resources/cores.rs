//! The use of each core over time, as heat maps.

use crate::blocks::{Block, Chart, Figure, Heat, Inline, Table, cells, columns, prose};
use crate::findings::{Findings, PointFindings, Trace, traces, within_the_whole};
use crate::numbers::short;
use proofload_analysis::bootstrap::mean_of;
use proofload_analysis::quantity::Unit;
use proofload_model::series;

/// Most cells of all maps together, so that the page stays small.
const MOST_CELLS: usize = 12_000;

/// A point with the traces of its cores, cut to the window.
struct Cores<'a> {
    point: &'a PointFindings,
    window: (f64, f64),
    traces: Vec<Trace>,
}

fn observed<'a>(findings: &'a Findings<'_>) -> Vec<Cores<'a>> {
    let cores = |point: &'a PointFindings| {
        let run = point.runs.first()?;
        let window = run.window_seconds()?;
        let attempt = findings.finished(run.run.index)?;
        let traces: Vec<Trace> =
            traces(attempt, series::cores::BUSY).iter().map(|trace| trace.within(window)).collect();
        (!traces.is_empty()).then_some(Cores { point, window, traces })
    };
    findings.points.iter().filter_map(cores).collect()
}

pub(crate) fn needs(findings: &Findings<'_>) -> Result<(), String> {
    if observed(findings).is_empty() { Err("per-core utilization was not observed".to_owned()) } else { Ok(()) }
}

pub(crate) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let cores = observed(findings);
    let rows: usize = cores.iter().map(|cores| cores.traces.len()).sum();
    let heats: Vec<Heat> = cores.iter().map(|cores| heat(cores, heat_columns(rows))).collect();
    let alt = heats.iter().map(|heat| heat.alt.clone()).collect::<Vec<_>>().join(" ");
    let figure = Figure {
        id: "figure-cores",
        caption: prose![
            "Utilization of each core of the host in the measured window of each point's first run, in per cent; \
             outlined cells were not observed."
        ],
        alt,
        chart: Chart::Heats(heats),
        data: data(&cores),
    };
    vec![
        Block::Paragraph(prose! {
            "The mean over all cores can hide a single core at its limit. ", Inline::Reference("figure-cores"),
            " shows every core."
        }),
        Block::Figure(Box::new(figure)),
    ]
}

fn heat(cores: &Cores<'_>, columns: usize) -> Heat {
    let (from, to) = cores.window;
    let columns = columns.min((to - from).max(1.0) as usize).max(1);
    let width = (to - from) / columns as f64;
    let cells = cores.traces.iter().map(|trace| binned(trace, from, width, columns)).collect();
    let means: Vec<f64> =
        cores.traces.iter().map(|trace| proofload_analysis::distribution::mean(&trace.values())).collect();
    let (low, high) = means.iter().fold((f64::INFINITY, 0.0f64), |(low, high), mean| (low.min(*mean), high.max(*mean)));
    let ticks = [0, columns / 2].into_iter().map(|column| (column, short((from + width * column as f64).round())));
    Heat {
        title: cores.point.label(),
        alt: format!(
            "Heat map of {} cores at {}: means over the window between {} % and {} %.",
            cores.traces.len(),
            cores.point.label(),
            short(low.round()),
            short(high.round())
        ),
        x_title: "Time, s".to_owned(),
        x_ticks: ticks.collect(),
        rows: cores.traces.iter().map(|trace| trace.instance.clone()).collect(),
        cells,
        full: 100.0,
        legend: "% of the core".to_owned(),
        labelled: false,
    }
}

/// Columns of heat maps that have so many rows together.
pub(crate) fn heat_columns(rows: usize) -> usize {
    (MOST_CELLS / rows.max(1)).clamp(10, 90)
}

/// Means of a trace in columns of a width from a second on; a column without samples has none.
pub(crate) fn binned(trace: &Trace, from: f64, width: f64, columns: usize) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0u32); columns];
    for (at, value) in &trace.samples {
        let column = (((at - from) / width) as usize).min(columns - 1);
        sums[column] = (sums[column].0 + value, sums[column].1 + 1);
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

fn data(cores: &[Cores<'_>]) -> Table {
    let rows = cores.iter().flat_map(|cores| {
        cores.traces.iter().map(|trace| {
            let mean = within_the_whole(mean_of(&trace.values()).quantity(Unit::PERCENT));
            cells![cores.point.label(), trace.instance.clone(), mean]
        })
    });
    Table {
        caption: prose!["Mean utilization of each core in the measured window."],
        columns: columns![words("Point"), words("Core"), quantities("Mean utilization", "% of the core")],
        rows: rows.collect(),
        ..Table::default()
    }
}
