//! Every second of each point's first run: throughput, response times, the drive, memory and others, below each other on one axis.

pub(super) mod seconds;
pub(super) mod stalls;

use super::charts::{shown_of, spread};
use crate::blocks::{
    Axis, Band, BandKind, Block, Cell, Chart, Figure, Inline, Panel, Role, Rule, Sample, Series, Strips, Table, cells,
    columns, prose,
};
use crate::findings::{Findings, PointFindings, RunFindings, Window};
use crate::numbers::short;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use seconds::{SecondTrace, checkpoints, seconds_of};

/// Most places on a line; longer runs are drawn as means of several seconds.
const MOST_PLACES: usize = 240;

/// Points that are drawn; the record has the seconds of all.
const MOST_POINTS: usize = 6;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let with_seconds = |run: &&RunFindings| !run.per_second.is_empty();
    let all = findings.points.iter().filter_map(|point| Some((point, point.runs.iter().find(with_seconds)?)));
    let all: Vec<(&PointFindings, &RunFindings)> = all.collect();
    let count = all.len();
    let drawn = spread(all, MOST_POINTS);
    if drawn.is_empty() {
        return Vec::new();
    }
    let traces: Vec<Vec<SecondTrace>> = drawn.iter().map(|(_, run)| seconds_of(findings, run)).collect();
    let tops = tops(&traces);
    let stack = |((point, run), traces): (&(&PointFindings, &RunFindings), &Vec<SecondTrace>)| Strips {
        title: title(point, run),
        panels: traces.iter().map(|trace| panel(findings, run, trace, &tops)).collect(),
    };
    let stacks: Vec<Strips> = drawn.iter().zip(&traces).map(stack).collect();
    let alt = stacks.iter().filter_map(|stack| Some(format!("{}: {}", stack.title, stack.panels.first()?.alt)));
    let alt = alt.collect::<Vec<_>>().join(" ");
    let mut caption = prose![
        "Every second from the start of the load: warm-up (first shading), measured window (second shading), its mean \
         (dashed) and stalls (vertical lines). Each quantity has the same scale at all points."
    ];
    if drawn.iter().any(|(_, run)| !checkpoints(findings, run).is_empty()) {
        caption.extend(prose![" Wide lines: the engine started a checkpoint."]);
    }
    if findings.points.iter().any(|point| point.runs.len() > 1) {
        caption.extend(prose![" The first run of each point is shown."]);
    }
    caption.extend(prose![shown_of(drawn.len(), count)]);
    let chart = Chart::Strips(stacks);
    let figure = Block::Figure(Box::new(Figure { id: "figure-timeline", caption, alt, chart, data: data(findings) }));
    // A drill has a figure of its own seconds.
    vec![if findings.drilled.is_empty() { figure } else { Block::Fold(prose!["The measured windows"], vec![figure]) }]
}

/// The largest value of each quantity at all points.
fn tops(traces: &[Vec<SecondTrace>]) -> Vec<(&'static str, f64)> {
    let mut tops: Vec<(&'static str, f64)> = Vec::new();
    for trace in traces.iter().flatten() {
        let top = trace.samples.iter().map(|(_, value)| *value).filter(|value| value.is_finite()).fold(0.0, f64::max);
        match tops.iter_mut().find(|(title, _)| *title == trace.title) {
            Some((_, known)) => *known = known.max(top),
            None => tops.push((trace.title, top)),
        }
    }
    tops
}

fn title(point: &PointFindings, run: &RunFindings) -> String {
    let repetition = if point.planned > 1 { format!(", run {}", run.run.repetition + 1) } else { String::new() };
    let verdict = if run.voids.is_empty() { "" } else { " · void" };
    format!("{}{repetition}{verdict}", point.label())
}

fn panel(findings: &Findings<'_>, run: &RunFindings, trace: &SecondTrace, tops: &[(&'static str, f64)]) -> Panel {
    let step = trace.samples.len().div_ceil(MOST_PLACES).max(1);
    let mean = |part: &[(f64, f64)]| {
        let count = part.len() as f64;
        let (x, y) = part.iter().fold((0.0, 0.0), |(x, y), (at, value)| (x + at / count, y + value / count));
        Sample { x, y, interval: None }
    };
    let top = tops.iter().find(|(title, _)| *title == trace.title).map_or(1.0, |(_, top)| *top);
    let is_throughput = trace.title == findings.workload.work.many_capital;
    let rule = run.window.filter(|_| is_throughput && run.throughput().value().is_finite());
    let unit = if step == 1 { trace.unit.to_owned() } else { format!("{}, means of {step} s", trace.unit) };
    let end = run.per_second.len() as f64;
    Panel {
        title: String::new(),
        alt: description(findings, run, trace),
        x: Axis { from_zero: true, up_to: Some(end), ..Axis::linear("Time", "s") },
        y: Axis { up_to: Some(if top > 0.0 { 1.1 * top } else { 1.0 }), ..Axis::linear(trace.title, &unit) },
        bands: [bands(run, is_throughput), checkpoint_bands(findings, run)].concat(),
        rules: rule
            .map(|window| Rule { y: run.throughput().value(), span: Some(window.span()), label: String::new() })
            .into_iter()
            .collect(),
        series: vec![Series {
            name: String::new(),
            role: Role::Trace(trace.colour),
            samples: trace.samples.chunks(step).map(mean).collect(),
        }],
    }
}

/// Warm-up, window and stalls; named in the first strip only.
fn bands(run: &RunFindings, named: bool) -> Vec<Band> {
    let label = |text: &str| if named { text.to_owned() } else { String::new() };
    let mut bands = Vec::new();
    let of_rounds = run.whole.as_ref().and_then(|whole| whole.stretch).filter(|(from, _)| *from > 0.0);
    let warm_up = of_rounds.map(|(to, _)| to).or(run.warm_up.as_ref().map(|warm_up| warm_up.seconds as f64));
    bands.extend(warm_up.map(|to| Band { from: 0.0, to, kind: BandKind::WarmUp, label: label("warm-up") }));
    let window = run.window.map(Window::span);
    bands.extend(window.map(|(from, to)| Band { from, to, kind: BandKind::Window, label: label("measured") }));
    let start = run.window.map_or(0.0, |window| window.from as f64);
    let slow = run.stalls.found.iter().filter(|stall| stall.slow_seconds > 0);
    bands.extend(slow.map(|stall| {
        let at = start + stall.from as f64;
        Band { from: at, to: at, kind: BandKind::Instant, label: String::new() }
    }));
    bands
}

/// Lines where the engine began a checkpoint.
fn checkpoint_bands(findings: &Findings<'_>, run: &RunFindings) -> Vec<Band> {
    let line = |at: f64| Band { from: at, to: at, kind: BandKind::Checkpoint, label: String::new() };
    checkpoints(findings, run).into_iter().map(line).collect()
}

fn description(findings: &Findings<'_>, run: &RunFindings, trace: &SecondTrace) -> String {
    let work = findings.workload.work;
    if trace.title != work.many_capital {
        let within = trace.samples.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
        let (low, high) = within.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let range = if low <= high { format!("{} to {}", short(low), short(high)) } else { "no value".to_owned() };
        return format!("Line chart of {} per second of the run, {}: {range}.", trace.title.to_lowercase(), trace.unit);
    }
    let warm_up = run.warm_up.as_ref().map_or_else(
        || run.whole.as_ref().map_or("no verdict on the warm-up", |_| "rated as a whole, by rounds").to_owned(),
        |warm_up| format!("warm-up of {} s, {}", warm_up.seconds, warm_up.end.text()),
    );
    let window = run.window.map_or_else(
        || "no measured window".to_owned(),
        |Window { from, to }| {
            let mean = short(run.throughput().value());
            format!("window from second {from} to {to} with a mean of {mean} {} per second", work.many)
        },
    );
    format!("Line chart of {} per second: {warm_up}; {window}.", work.many)
}

fn data(findings: &Findings<'_>) -> Table {
    let runs = findings.runs();
    Table {
        caption: prose! {
            "Windows of all runs. The record contains every second; ", Inline::Code("proofload export".to_owned()),
            " prints the figures."
        },
        columns: columns! {
            words("Run"), counts("Warm-up, s"), words("Window, s"), quantities("Mean", "1/s"),
            quantities("Lowest second", "1/s"), quantities("Highest second", "1/s")
        },
        rows: runs.map(|(point, run)| row(point, run)).collect(),
        ..Table::default()
    }
}

fn row(point: &PointFindings, run: &RunFindings) -> Vec<Cell> {
    let extreme = |pick: fn(f64, f64) -> f64| {
        let value = run.measured().iter().copied().reduce(pick).unwrap_or(f64::NAN);
        let n = run.measured().len() as u64;
        Quantity::new(value, Unit::PER_SECOND, n, Interval::none("an extreme value has no interval"))
    };
    let warm_up = match &run.warm_up {
        _ if run.whole.is_some() => super::checks::rounds::warm_up(run),
        None => Cell::Gap("no verdict".to_owned()),
        Some(warm_up) => Cell::Count(warm_up.seconds),
    };
    let window = run
        .window
        .map_or(Cell::Gap("no window".to_owned()), |Window { from, to }| Cell::datum(format!("{from} to {to}")));
    cells![title(point, run), warm_up, window, run.throughput(), extreme(f64::min), extreme(f64::max)]
}
