//! Response times: percentiles by kind of operation.

pub(super) mod distribution;

use super::charts::{factor_axis, factors_title, milliseconds, shown_value};
use crate::blocks::{
    Axis, Block, Cell, Chart, Column, Figure, Notice, Panel, Prose, Role, Sample, Series, Table, TableOf, prose,
};
use crate::findings::{Findings, PointFindings, level_number};
use crate::metrics::{LatencyStatistic, MetricKey, PERCENTILES, RESPONSE_P99};
use crate::numbers::short;
use crate::workloads::Clocks;
use proofload_model::samples::LatencyClock;

/// Kinds of work up to which the table stands open.
const MOST_ROWS: usize = 8;

/// Percentiles as papers write them, in the order of [`PERCENTILES`].
const TITLES: [&str; 4] = ["p50", "p95", "p99", "p99.9"];

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let kinds = findings.kinds();
    let shown = findings.largest().or_else(|| findings.points.iter().find(|point| !point.runs.is_empty()));
    let mut words = prose! {
        "Response time counts from the intended start of ", findings.workload.work.with_article(),
        " to its completion. Percentiles come from histograms merged over the window, never from averages of \
         percentiles; their confidence intervals come from resampling seconds, not requests, because neighbouring \
         requests are correlated."
    };
    words.extend(service_words(findings));
    let mut blocks = vec![Block::Paragraph(words)];
    if let Some(point) = shown {
        let table = Block::Table(without_empty_columns(point_table(findings, point)));
        blocks.push(folded_if(kinds.len() > MOST_ROWS, || prose!["At ", point.label(), ", by kind"], table));
    }
    if findings.valid().next().is_some() {
        blocks.extend(distribution::figures(findings).into_iter().map(|figure| Block::Figure(Box::new(figure))));
        let panels = figure(findings, &kinds).map(|figure| Block::Figure(Box::new(figure)));
        let label =
            || prose!["Percentiles against ", factors_title(findings), " by kind of ", findings.workload.work.one];
        blocks.extend(panels.map(|panels| folded_if(kinds.len() > 1, label, panels)));
    } else {
        let words = prose!["response times against ", factors_title(findings), ": no point is valid."];
        blocks.push(Block::Notice(Notice::Gap, words));
    }
    blocks
}

/// Folds what is long.
fn folded_if(long: bool, label: impl FnOnce() -> Prose, block: Block) -> Block {
    if long { Block::Fold(label(), vec![block]) } else { block }
}

/// One row of figures: the clock of its metrics, and how the row is called where several clocks are told apart.
type Clock = (LatencyClock, Option<&'static str>);

/// The clocks of a point's rows.
fn clocks(findings: &Findings<'_>, point: &PointFindings) -> Vec<Clock> {
    let of_service = |key: &MetricKey| key.latency().is_some_and(|latency| latency.clock == LatencyClock::Service);
    let stored = point.metrics.keys().any(of_service);
    let saturated = point.runs.iter().all(|run| run.offered.is_none());
    match findings.workload.clocks {
        Clocks::Response => vec![(LatencyClock::Response, None)],
        Clocks::Both if stored => {
            [LatencyClock::Response, LatencyClock::Service].map(|clock| (clock, Some(clock.word()))).to_vec()
        }
        Clocks::Both if saturated => vec![(LatencyClock::Response, Some("response = service"))],
        Clocks::Both => vec![(LatencyClock::Response, Some("response; service not recorded"))],
    }
}

/// What service time is, or why it is not shown apart.
fn service_words(findings: &Findings<'_>) -> Prose {
    let mut clocks = findings.points.iter().flat_map(|point| clocks(findings, point));
    match findings.workload.clocks {
        Clocks::Response => Prose::new(),
        Clocks::Both if clocks.any(|(clock, _)| clock == LatencyClock::Service) => prose![
            " Service time counts from the actual start: if it is short and response time is long, operations waited \
             for a free user."
        ],
        Clocks::Both => prose![
            " Users were saturated: an operation is due when its user becomes free, so service time equals response \
             time, and one row shows both."
        ],
    }
}

/// The figures of each kind at points, a row for each clock that is told apart.
fn figures_of<'f>(
    id: &'static str,
    caption: Prose,
    findings: &Findings<'_>,
    points: impl IntoIterator<Item = &'f PointFindings>,
    with_points: bool,
) -> Table {
    let kinds = findings.kinds();
    let rows = points.into_iter().flat_map(|point| {
        let clocks = clocks(findings, point);
        kinds.iter().flat_map(move |kind| clocks.clone().into_iter().map(move |clock| (point, kind, clock)))
    });
    let percentiles = PERCENTILES.iter().map(|(statistic, _)| *statistic).zip(TITLES);
    TableOf::new(id, caption, rows)
        .when(with_points, |table| table.column(Column::point(findings), |(point, ..)| point.label()))
        .words(findings.workload.work.one_capital, |(_, kind, _)| findings.workload.kind_title(kind))
        .when(findings.workload.clocks == Clocks::Both, |table| {
            table.words("Time", |(.., (_, word))| word.map(|word| prose![word]))
        })
        .each(
            std::iter::once((LatencyStatistic::Mean, "Mean")).chain(percentiles),
            |(_, title)| Column::quantities(*title, "ms"),
            |(point, kind, (clock, _)), (statistic, _)| cell(point, *clock, *statistic, kind),
        )
        .table()
}

/// A percentile of too few samples was measured, as its mean was, and says nothing.
fn cell(point: &PointFindings, clock: LatencyClock, statistic: LatencyStatistic, kind: &str) -> Cell {
    let shown = |statistic| shown_value(point, MetricKey::latency_of(clock, statistic, kind));
    match shown(statistic) {
        Err(why) if shown(LatencyStatistic::Mean).is_ok() => Cell::datum(why),
        other => super::charts::measured_cell(other),
    }
}

/// Leaves out columns of which no cell has a number, and says so below the table.
fn without_empty_columns(mut table: Table) -> Table {
    let empty = |column: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(column));
        cells.all(|cell| matches!(cell, Cell::Prose(_) | Cell::Gap(_)))
    };
    let numbers = table.columns.iter().enumerate().filter(|(_, column)| column.unit.is_some());
    let gone: Vec<usize> = numbers.map(|(place, _)| place).filter(|place| empty(*place)).collect();
    if gone.is_empty() || table.rows.is_empty() {
        return table;
    }
    let titles: Vec<Prose> = gone.iter().map(|place| table.columns[*place].title.clone()).collect();
    for place in gone.into_iter().rev() {
        table.columns.remove(place);
        table.rows.iter_mut().for_each(|row| drop(row.remove(place)));
    }
    let mut note = prose!["Omitted because of too few samples: "];
    for (number, title) in titles.into_iter().enumerate() {
        note.extend(if number == 0 { Prose::new() } else { prose![", "] });
        note.extend(title);
    }
    note.extend(prose![". "]);
    table.note = [note, table.note].concat();
    table
}

fn point_table(findings: &Findings<'_>, point: &PointFindings) -> Table {
    let validity = if point.verdict.is_valid() { "" } else { " (void: context, not a result)" };
    let caption =
        prose!["Response times at ", point.label(), validity, " by kind of ", findings.workload.work.one, "."];
    figures_of("table-latency", caption, findings, [point], false)
}

fn figure(findings: &Findings<'_>, kinds: &[String]) -> Option<Figure> {
    let mut panels: Vec<Panel> = kinds.iter().map(|kind| panel(findings, kind)).collect();
    panels.retain(|panel| !panel.series.is_empty());
    one_scale(&mut panels);
    let alt = panels.iter().map(|panel| panel.alt.clone()).collect::<Vec<_>>().join(" ");
    let data = figures_of("", prose!["Response times of every point."], findings, &findings.points, true);
    (!panels.is_empty()).then(|| Figure {
        id: "figure-latency",
        caption: prose! {
            "Percentiles of response times against ", factors_title(findings),
            ", logarithmic, on a common scale; one panel for each kind of ", findings.workload.work.one,
            ", valid points only."
        },
        alt,
        chart: Chart::Panels(panels),
        data,
    })
}

/// Gives all panels the range of values of all.
fn one_scale(panels: &mut [Panel]) {
    let all = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.samples);
    let ends = all.flat_map(|sample| sample.interval.map_or([sample.y, sample.y], |(low, high)| [low, high]));
    let ends = ends.filter(|end| end.is_finite() && *end > 0.0);
    let (low, high) = ends.fold((f64::INFINITY, 0.0f64), |(low, high), end| (low.min(end), high.max(end)));
    if low < high {
        panels.iter_mut().for_each(|panel| panel.y.within = Some((low, high)));
    }
}

/// One kind: a line for each percentile. With several groups the first group's points are joined; the table has all.
fn panel(findings: &Findings<'_>, kind: &str) -> Panel {
    let series: Vec<Series> = PERCENTILES
        .iter()
        .enumerate()
        .map(|(number, (statistic, _))| Series {
            name: TITLES[number].to_owned(),
            role: if findings.curve.is_ok() { Role::Measured(number) } else { Role::Dots(number) },
            samples: samples(findings, &MetricKey::response(*statistic, kind)),
        })
        .filter(|series| !series.samples.is_empty())
        .collect();
    let p99 = samples(findings, &MetricKey::response(LatencyStatistic::P99, kind));
    let ends = p99.first().zip(p99.last()).map(|(first, last)| (first.y, last.y));
    let words = ends.map_or_else(
        || " No valid point has a value.".to_owned(),
        |(first, last)| {
            format!(
                " The 99th percentile goes from {} ms to {} ms from the first to the last level.",
                short(first),
                short(last)
            )
        },
    );
    Panel {
        title: findings.workload.kind_title(kind),
        alt: format!(
            "Line chart of percentiles of {} response times in ms, logarithmic.{words}",
            findings.workload.kind_title(kind)
        ),
        ..Panel::of(factor_axis(findings), Axis::logarithmic(RESPONSE_P99.axis, RESPONSE_P99.axis_unit), series)
    }
}

fn samples(findings: &Findings<'_>, metric: &MetricKey) -> Vec<Sample> {
    let sample = |x: Option<f64>, point: &PointFindings| {
        let quantity = milliseconds(point.result(metric)).ok()?;
        Some(Sample { x: x?, y: quantity.value(), interval: quantity.drawn_bounds() })
    };
    match &findings.curve {
        Ok(curve) => {
            let points = curve.groups.first().map(|group| group.points.as_slice()).unwrap_or_default();
            let x = |point: &PointFindings| point.level(&curve.setting).and_then(level_number);
            points.iter().map(|index| &findings.points[*index]).filter_map(|point| sample(x(point), point)).collect()
        }
        Err(_) => {
            findings.points.iter().enumerate().filter_map(|(index, point)| sample(Some(index as f64), point)).collect()
        }
    }
}
