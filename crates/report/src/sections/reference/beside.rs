//! Figures of others by kind of operation beside the study's own: a table of totals, a table of latencies, two charts. Figures of
//! others stand as they were published or read; may not compute one, but operations in flight by Little's law.

use crate::blocks::{
    Axis, Bars, Block, Cell, Chart, Column, Figure, Group, Panel, Role, Sample, Series, Table, cells, columns, prose,
};
use crate::findings::{Findings, PointFindings};
use crate::metrics::{LatencyStatistic, MetricKey, PERCENTILES, RUN_TIME, THROUGHPUT};
use crate::numbers::{count, short};
use crate::sections::charts::{capital, measured_cell, milliseconds};
use proofload_import::{Reference, ReferenceOperation, ReferencePoint, percentile_title};
use proofload_model::settings::setting;

/// Largest number of the study's points beside the others; of more, only the one with the largest throughput.
const MOST_POINTS: usize = 4;
/// Largest number of bars in a group.
const MOST_BARS: usize = 6;

/// A point of a reference.
type Theirs<'r> = (&'r Reference, &'r ReferencePoint);

/// Points of references that have figures by operation for this study's workload.
pub(crate) fn comparable<'r>(findings: &Findings<'_>, references: &[&'r Reference]) -> Vec<Theirs<'r>> {
    let same = |reference: &&&Reference| reference.workload.as_deref() == Some(findings.workload.kind);
    let points =
        references.iter().filter(same).flat_map(|reference| reference.points.iter().map(|point| (*reference, point)));
    points.filter(|(_, point)| !point.operations.is_empty()).collect()
}

/// The blocks.
pub(crate) fn blocks(findings: &Findings<'_>, theirs: &[Theirs<'_>]) -> Vec<Block> {
    let ours = ours(findings);
    let mut blocks = vec![
        Block::Paragraph(prose![
            "The tables below compare figures by kind of operation with this study's. Hardware, software, size and \
             keys may differ. Response times count from the intended start, service times from the actual start; they \
             are equal if operations never wait for a free user."
        ]),
        Block::Table(totals(findings, &ours, theirs)),
        Block::Table(latencies(findings, &ours, theirs)),
    ];
    let bars = ours.len() + theirs.len();
    if !ours.is_empty() && bars <= MOST_BARS {
        blocks.push(Block::Figure(Box::new(means(findings, &ours, theirs))));
        if theirs.iter().any(|(_, point)| point.operations.iter().any(has_percentiles)) {
            blocks.push(Block::Figure(Box::new(percentiles(findings, &ours, theirs))));
        }
    }
    blocks.extend(remarks(theirs));
    blocks
}

fn ours<'f>(findings: &'f Findings<'_>) -> Vec<&'f PointFindings> {
    let valid: Vec<&PointFindings> = findings.valid().collect();
    if valid.len() > MOST_POINTS { findings.largest().into_iter().collect() } else { valid }
}

/// Mean response time of a kind.
fn mean_of(kind: &str) -> MetricKey {
    MetricKey::response(LatencyStatistic::Mean, kind)
}

/// Kinds of which this study or another has a latency.
fn kinds(findings: &Findings<'_>, theirs: &[Theirs<'_>]) -> Vec<String> {
    let mut kinds = findings.kinds();
    let own = |kind: &str| findings.valid().any(|point| point.metric(mean_of(kind)).is_ok());
    kinds.retain(|kind| own(kind) || theirs.iter().any(|point| drawn(point, kind).is_some()));
    kinds
}

fn own_name(findings: &Findings<'_>, point: &PointFindings) -> String {
    if findings.points.len() == 1 { "this study".to_owned() } else { format!("this study, {}", point.label()) }
}

fn their_name((reference, point): &Theirs<'_>) -> String {
    match point.label() {
        label if reference.points.len() == 1 || label.is_empty() => reference.title.clone(),
        label => format!("{}, {label}", reference.title),
    }
}

fn has_percentiles(operation: &ReferenceOperation) -> bool {
    operation.figures.keys().any(|name| percentile_title(name).is_some())
}

/// A figure of others.
fn published(value: Option<f64>) -> Cell {
    value.map_or(Cell::Empty, |value| Cell::datum(four(value)))
}

/// Four significant digits.
fn four(value: f64) -> String {
    let whole = value.abs().max(1e-6).log10().floor() as i32;
    crate::numbers::grouped(value, usize::try_from(3 - whole).unwrap_or(0))
}

fn totals(findings: &Findings<'_>, ours: &[&PointFindings], theirs: &[Theirs<'_>]) -> Table {
    let mut rows = Vec::new();
    for point in ours {
        let throughput = measured_cell(point.metric(THROUGHPUT));
        rows.push(cells![own_name(findings, point), throughput, Cell::Empty, Cell::Empty, Cell::Empty]);
    }
    for point in theirs {
        let metric = |name: &str| point.1.metrics.get(name);
        let run_time = metric("run_time").map(|figure| Cell::datum(format!("{} {}", four(figure.value), figure.unit)));
        let users = point.1.level(setting::WORKLOAD_VIRTUAL_USERS).map_or(Cell::Empty, Cell::datum);
        let throughput =
            metric(THROUGHPUT.name).filter(|figure| figure.unit == THROUGHPUT.unit).map(|figure| figure.value);
        let name = Cell::datum(their_name(point));
        let per_second = throughput.map_or(Cell::Empty, |value| Cell::datum(crate::numbers::grouped(value, 0)));
        rows.push(vec![name, per_second, run_time.unwrap_or(Cell::Empty), users, published(point.1.in_flight())]);
    }
    Table {
        id: "table-beside",
        caption: prose!["Throughput of this study compared with others."],
        columns: columns! {
            words("Results"), metric(&THROUGHPUT), quantities(RUN_TIME.title, ""), counts("Virtual users"),
            counts("In flight")
        },
        rows,
        note: prose![
            "Figures of others are shown as published or imported, without intervals. In flight: throughput times \
             mean service time, by Little's law. For saturated users it should be close to their number; otherwise \
             the figures are inconsistent."
        ],
    }
}

fn latencies(findings: &Findings<'_>, ours: &[&PointFindings], theirs: &[Theirs<'_>]) -> Table {
    let mut rows = Vec::new();
    for kind in kinds(findings, theirs) {
        rows.extend(ours.iter().map(|point| own_row(findings, point, &kind)));
        for point in theirs {
            let operations = point.1.operations.iter().filter(|operation| operation.kind == kind);
            rows.extend(operations.map(|operation| their_row(findings, point, operation)));
        }
    }
    let titles = PERCENTILES.iter().filter_map(|(statistic, _)| percentile_title(statistic.word()));
    let mut columns = columns![words("Operation"), words("Results"), words("Time"), counts("Completed")];
    columns.extend([Column::quantities("Mean", "ms")]);
    columns.extend(titles.map(|title| Column::quantities(title, "ms")));
    Table {
        id: "table-beside-latency",
        caption: prose!["Latencies of this study compared with others, by kind of operation."],
        columns,
        rows,
        note: prose!["Empty cells were not published."],
    }
}

fn own_row(findings: &Findings<'_>, point: &PointFindings, kind: &str) -> Vec<Cell> {
    let metric = |statistic| measured_cell(milliseconds(point.metric(MetricKey::response(statistic, kind))));
    let completed = point.metric(mean_of(kind)).map_or(Cell::Empty, |mean| Cell::Count(mean.n()));
    let title = findings.workload.kind_title(kind);
    let mut row = cells![title, own_name(findings, point), "response", completed];
    row.push(metric(LatencyStatistic::Mean));
    row.extend(PERCENTILES.iter().map(|(statistic, _)| metric(*statistic)));
    row
}

fn their_row(findings: &Findings<'_>, point: &Theirs<'_>, operation: &ReferenceOperation) -> Vec<Cell> {
    let completed = operation.count("count").map_or(Cell::Empty, |number| Cell::datum(count(number)));
    let title = findings.workload.kind_title(&operation.kind);
    let mut row = cells![title, their_name(point), operation.clock.word(), completed];
    row.push(published(operation.milliseconds("mean")));
    row.extend(PERCENTILES.iter().map(|(statistic, _)| published(operation.milliseconds(statistic.word()))));
    row
}

/// The operation of a kind that is drawn: by response time where there is one, as this study's are.
fn drawn<'r>(point: &Theirs<'r>, kind: &str) -> Option<&'r ReferenceOperation> {
    point.1.operations.iter().filter(|operation| operation.kind == kind).min_by_key(|operation| operation.clock)
}

fn names(findings: &Findings<'_>, ours: &[&PointFindings], theirs: &[Theirs<'_>]) -> Vec<String> {
    ours.iter().map(|point| own_name(findings, point)).chain(theirs.iter().map(their_name)).collect()
}

fn means(findings: &Findings<'_>, ours: &[&PointFindings], theirs: &[Theirs<'_>]) -> Figure {
    let mean = |point: &PointFindings, kind: &str| {
        let quantity = milliseconds(point.result(mean_of(kind))).ok()?;
        Some((quantity.value(), quantity.drawn_bounds()))
    };
    let group = |kind: &String| {
        let own = ours.iter().map(|point| mean(point, kind));
        let other = theirs.iter().map(|point| Some((drawn(point, kind)?.milliseconds("mean")?, None)));
        Group { label: findings.workload.kind_title(kind), values: own.chain(other).collect() }
    };
    let groups: Vec<Group> = kinds(findings, theirs).iter().map(group).collect();
    let names = names(findings, ours, theirs);
    let alt = format!("Bar chart of mean latencies in ms by kind of operation: {}.", names.join("; "));
    Figure {
        id: "figure-beside",
        caption: prose![
            "Mean latencies by kind of operation, this study's with 95 % confidence intervals, others' without."
        ],
        alt,
        chart: Chart::Bars(Bars { axis: Axis::linear("Mean latency", "ms"), names, groups, observed: Vec::new() }),
        data: Table { id: "", note: Vec::new(), ..latencies(findings, ours, theirs) },
    }
}

fn percentiles(findings: &Findings<'_>, ours: &[&PointFindings], theirs: &[Theirs<'_>]) -> Figure {
    let panels: Vec<Panel> = kinds(findings, theirs).iter().map(|kind| panel(findings, ours, theirs, kind)).collect();
    Figure {
        id: "figure-beside-percentiles",
        caption: prose![
            "Percentiles by kind of operation, logarithmic scale: this study's (filled markers) and others' (dashed, \
             open markers). For others, response times if measured, otherwise service times."
        ],
        alt: panels.iter().map(|panel| panel.alt.clone()).collect::<Vec<_>>().join(" "),
        chart: Chart::Panels(panels),
        data: Table { id: "", note: Vec::new(), ..latencies(findings, ours, theirs) },
    }
}

fn panel(findings: &Findings<'_>, ours: &[&PointFindings], theirs: &[Theirs<'_>], kind: &str) -> Panel {
    let places = || PERCENTILES.iter().enumerate().map(|(place, (statistic, _))| (place as f64, *statistic));
    let own = ours.iter().enumerate().map(|(number, point)| {
        let sample = |(x, statistic): (f64, LatencyStatistic)| {
            let quantity = milliseconds(point.result(MetricKey::response(statistic, kind))).ok()?;
            Some(Sample { x, y: quantity.value(), interval: quantity.drawn_bounds() })
        };
        Series {
            name: own_name(findings, point),
            role: Role::Measured(number),
            samples: places().filter_map(sample).collect(),
        }
    });
    let other = theirs.iter().map(|point| {
        let operation = drawn(point, kind);
        // A logarithmic axis has no place for nothing.
        let value = |name: &str| operation?.milliseconds(name).filter(|ms| *ms > 0.0);
        let sample =
            |(x, statistic): (f64, LatencyStatistic)| Some(Sample { x, y: value(statistic.word())?, interval: None });
        Series { name: their_name(point), role: Role::Reference, samples: places().filter_map(sample).collect() }
    });
    let series: Vec<Series> = own.chain(other).filter(|series| !series.samples.is_empty()).collect();
    let ticks = places().filter_map(|(x, statistic)| Some((x, percentile_title(statistic.word())?))).collect();
    let title = findings.workload.kind_title(kind);
    let words: Vec<String> = series.iter().map(describe).collect();
    Panel {
        alt: format!("Line chart of percentiles of {title} in ms, logarithmic. {}", words.join(" ")),
        title,
        ..Panel::of(
            Axis { ticks: Some(ticks), from_zero: false, ..Axis::linear("Percentile", "") },
            Axis::logarithmic("Latency", "ms"),
            series,
        )
    }
}

fn describe(series: &Series) -> String {
    let values: Vec<String> = series.samples.iter().map(|sample| short(sample.y)).collect();
    format!("{}: {}.", series.name, values.join(", "))
}

/// What is to be known of the figures of others.
fn remarks(theirs: &[Theirs<'_>]) -> Option<Block> {
    let mut pairs = Vec::new();
    for point in theirs {
        let of_operations = point.1.operations.iter().flat_map(|operation| {
            operation
                .notes
                .iter()
                .map(|note| format!("{} ({}): {note}", capital(&operation.kind), operation.clock.word()))
        });
        let notes: Vec<String> = point.1.notes.iter().cloned().chain(of_operations).collect();
        if !notes.is_empty() {
            pairs.push((prose![their_name(point)], prose![notes.join(" ")]));
        }
    }
    (!pairs.is_empty()).then(|| Block::Fold(prose!["Notes on the figures of others"], vec![Block::KeyValues(pairs)]))
}
