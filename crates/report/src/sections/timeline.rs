//! Throughput second by second: warm-up shaded, window marked.

use super::section::{Section, a_finished_run};
use crate::blocks::{
    Axis, Band, BandKind, Block, Cell, Chart, Column, Figure, Inline, Panel, Role, Rule, Sample, Series, Table, prose,
};
use crate::findings::{Findings, PointFindings, RunFindings, Window};
use crate::numbers::short;
use crate::workloads::Work;
use proofload_analysis::quantity::{Interval, Quantity, Unit};

/// The section.
pub(super) const SECTION: Section =
    Section { id: "timeline", title: "Second by second", level: 3, numbered: true, needs: a_finished_run, render };

/// Most panels that are drawn; of more runs only the first of each point is.
const MOST_PANELS: usize = 12;

/// Most places on a line; longer runs are drawn as means of several seconds.
const MOST_PLACES: usize = 600;

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let all: usize = findings.points.iter().map(|point| point.runs.len()).sum();
    let shown = |run: &&RunFindings| all <= MOST_PANELS || run.run.repetition == 0;
    let top = findings.points.iter().flat_map(|point| &point.runs).flat_map(|run| run.per_second.iter().copied());
    let top = top.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let mut panels = Vec::new();
    for point in &findings.points {
        for run in point.runs.iter().filter(shown).filter(|run| !run.per_second.is_empty()) {
            panels.push(panel(findings.workload.work, point, run, top));
        }
    }
    let alt = panels.iter().map(|panel| format!("{}: {}", panel.title, panel.alt)).collect::<Vec<_>>().join(" ");
    let mut caption = prose![
        findings.workload.work.many_capital,
        " in each second from the start of the load. Warm-up is shaded first, the measured window second; the dashed line is the mean of the window. All panels share one scale."
    ];
    if all > MOST_PANELS {
        caption.extend(prose![" Of each point the first repetition is drawn."]);
    }
    vec![
        Block::Paragraph(prose![
            "The figures above are means over the measured windows. ",
            Inline::Reference("figure-timeline"),
            " shows every second that was recorded, so that a reader can judge the windows, which the detector chose and not the author."
        ]),
        Block::Figure(Box::new(Figure {
            id: "figure-timeline",
            caption,
            alt,
            chart: Chart::Panels(panels),
            data: data(findings),
        })),
    ]
}

fn title(point: &PointFindings, run: &RunFindings) -> String {
    let repetition = if point.planned > 1 { format!(", run {}", run.run.repetition + 1) } else { String::new() };
    let verdict = if run.voids.is_empty() { "" } else { " · void" };
    format!("{}{repetition}{verdict}", point.label())
}

fn panel(work: Work, point: &PointFindings, run: &RunFindings, top: f64) -> Panel {
    let step = run.per_second.len().div_ceil(MOST_PLACES).max(1);
    let place = |(index, seconds): (usize, &[f64])| {
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        Sample { x: (index * step) as f64 + seconds.len() as f64 / 2.0, y: mean, interval: None }
    };
    let samples: Vec<Sample> = run.per_second.chunks(step).enumerate().map(place).collect();
    let mean = run.throughput().value();
    let mut bands = Vec::new();
    let warm_up_rounds = run.whole.as_ref().and_then(|whole| whole.stretch).filter(|(from, _)| *from > 0.0);
    if let Some((to, _)) = warm_up_rounds {
        bands.push(Band { from: 0.0, to, kind: BandKind::WarmUp, label: "warm-up".to_owned() });
    }
    if let Some(warm_up) = &run.warm_up {
        bands.push(Band { from: 0.0, to: warm_up.seconds as f64, kind: BandKind::WarmUp, label: "warm-up".to_owned() });
    }
    if let Some((from, to)) = run.window.map(Window::span) {
        bands.push(Band { from, to, kind: BandKind::Window, label: "measured".to_owned() });
    }
    let rules = run.window.filter(|_| mean.is_finite()).map(|window| Rule {
        y: mean,
        span: Some(window.span()),
        label: String::new(),
    });
    let unit = if step == 1 { "1/s".to_owned() } else { format!("1/s, means of {step} s") };
    Panel {
        title: title(point, run),
        alt: description(work, run, mean),
        x: Axis { from_zero: true, up_to: Some(run.per_second.len() as f64), ..Axis::linear("Time", "s") },
        y: Axis { up_to: Some(1.15 * top), ..Axis::linear(work.many_capital, &unit) },
        bands,
        rules: rules.into_iter().collect(),
        series: vec![Series { name: "throughput".to_owned(), role: Role::Trace(0), samples }],
    }
}

fn description(work: Work, run: &RunFindings, mean: f64) -> String {
    let warm_up = run.warm_up.as_ref().map_or_else(
        || run.whole.as_ref().map_or("no verdict on the warm-up", |_| "rated whole, by its rounds").to_owned(),
        |warm_up| format!("warm-up of {} s, {}", warm_up.seconds, warm_up.end.text()),
    );
    let window = run.window.map_or_else(
        || "no measured window".to_owned(),
        |Window { from, to }| {
            format!("window from second {from} to {to} with a mean of {} {} per second", short(mean), work.many)
        },
    );
    format!("Line chart of {} per second: {warm_up}; {window}.", work.many)
}

fn data(findings: &Findings<'_>) -> Table {
    let mut rows = Vec::new();
    for point in &findings.points {
        for run in &point.runs {
            let mean = run.throughput();
            let extreme = |pick: fn(f64, f64) -> f64| {
                let value = run.measured().iter().copied().reduce(pick).unwrap_or(f64::NAN);
                Quantity::new(
                    value,
                    Unit::PER_SECOND,
                    run.measured().len() as u64,
                    Interval::none("an extreme has no interval"),
                )
            };
            rows.push(vec![
                Cell::datum(title(point, run)),
                match &run.warm_up {
                    _ if run.whole.is_some() => super::rounds::warm_up(run),
                    None => Cell::Gap("no verdict".to_owned()),
                    Some(warm_up) => Cell::Count(warm_up.seconds),
                },
                run.window.map_or(Cell::Gap("no window".to_owned()), |Window { from, to }| {
                    Cell::datum(format!("{from} to {to}"))
                }),
                Cell::Quantity(mean),
                Cell::Quantity(extreme(f64::min)),
                Cell::Quantity(extreme(f64::max)),
            ]);
        }
    }
    Table {
        caption: prose![
            "Windows of all runs. Every second is in the record; ",
            Inline::Code("proofload export".to_owned()),
            " or the CSV form gives the figures."
        ],
        columns: vec![
            Column::words("Run"),
            Column::counts("Warm-up, s"),
            Column::words("Window, s"),
            Column::quantities("Mean", "1/s"),
            Column::quantities("Smallest second", "1/s"),
            Column::quantities("Largest second", "1/s"),
        ],
        rows,
        ..Table::default()
    }
}
