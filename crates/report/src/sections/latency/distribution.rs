//! How response times are distributed at each point, and how they rise with the throughput where the load varies.

use crate::blocks::{Axis, Cell, Chart, Column, Figure, Panel, Prose, Role, Sample, Series, TableOf, prose};
use crate::findings::{Findings, PointFindings, all_kinds};
use crate::metrics::RESPONSE_P99;
use crate::numbers::short;
use crate::sections::charts::{shown_of, shown_value, spread};
use proofload_analysis::latency::Sparse;
use proofload_model::settings::setting;

/// Points that are drawn: one for each colour.
const MOST_POINTS: usize = 6;

/// Shares of the axis: label, share of the response times that were no longer.
const SHARES: &[(&str, f64)] =
    &[("0 %", 0.0), ("50 %", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("99.9 %", 0.999), ("99.99 %", 0.9999)];

/// Places between two marks of the axis.
const STEPS: u32 = 8;

/// Values that must lie beyond a share for it to be drawn.
const BEYOND: f64 = 10.0;

/// Settings that say how much load there is.
const LOADS: &[&str] = &[setting::WORKLOAD_VIRTUAL_USERS, setting::WORKLOAD_RATE, setting::WORKLOAD_STREAMS];

/// Both figures, as far as there is something to draw.
pub(crate) fn figures(findings: &Findings<'_>) -> Vec<Figure> {
    [distribution(findings), against_throughput(findings)].into_iter().flatten().collect()
}

/// All response times of a point's windows.
fn merged(point: &PointFindings) -> Sparse {
    let seconds: Vec<Sparse> = point.runs.iter().flat_map(|run| all_kinds(&run.latencies)).collect();
    Sparse::merged(&seconds)
}

/// Place of a share on the axis: each tenth of what lies beyond is one step.
fn place(share: f64) -> f64 {
    1.0 / (1.0 - share)
}

fn distribution(findings: &Findings<'_>) -> Option<Figure> {
    let points: Vec<(&PointFindings, Sparse)> = spread(findings.valid().collect(), MOST_POINTS)
        .into_iter()
        .map(|point| (point, merged(point)))
        .filter(|(_, all)| all.count() > 0)
        .collect();
    let series = |(number, (point, all)): (usize, &(&PointFindings, Sparse))| Series {
        name: if points.len() > 1 { point.label() } else { String::new() },
        role: Role::Curve(number),
        samples: curve(all),
    };
    let series: Vec<Series> = points.iter().enumerate().map(series).filter(|series| series.samples.len() > 1).collect();
    if series.is_empty() {
        return None;
    }
    let told = |(point, all): &(&PointFindings, Sparse)| {
        let at = |share| all.percentile(share).map_or("–".to_owned(), |time| short(time as f64 * 1e-6));
        format!("{}: half within {} ms, 99 % within {} ms.", point.label(), at(0.5), at(0.99))
    };
    let alt = format!(
        "Line chart of response times in ms by cumulative share. {}",
        points.iter().map(told).collect::<Vec<_>>().join(" ")
    );
    let time = |all: &Sparse, share: f64| {
        let enough = all.count() as f64 * (1.0 - share) >= BEYOND;
        let time = all.percentile(share).filter(|_| enough);
        time.map_or(Cell::Gap("too few".to_owned()), |time| Cell::datum(short(time as f64 * 1e-6)))
    };
    let data = TableOf::new("", Prose::new(), &points)
        .words("Point", |(point, _)| point.label())
        .each(
            &SHARES[1..],
            |(label, _)| Column::counts(format!("{label}, ms")),
            |(_, all), (_, share)| time(all, *share),
        )
        .table();
    let ticks = SHARES.iter().map(|(label, share)| (place(*share), (*label).to_owned())).collect();
    let valid = findings.valid().count();
    Some(Figure {
        id: "figure-distribution",
        caption: prose![
            "Distribution of all response times in the window; the share axis is logarithmic in the tail.",
            shown_of(points.len(), valid)
        ],
        alt: alt.clone(),
        chart: Chart::Plot(Panel {
            alt,
            ..Panel::of(
                Axis { ticks: Some(ticks), ..Axis::logarithmic("Cumulative share of response times", "") },
                Axis::logarithmic(RESPONSE_P99.axis, RESPONSE_P99.axis_unit),
                series,
            )
        }),
        data,
    })
}

/// Times at rising shares, as far as enough values lie beyond.
fn curve(all: &Sparse) -> Vec<Sample> {
    let last = place(SHARES.last().map_or(0.9, |(_, share)| *share)).log10();
    let steps = (last * f64::from(STEPS)) as u32;
    let sample = |step: u32| {
        let beyond = 10f64.powf(-f64::from(step) / f64::from(STEPS));
        if all.count() as f64 * beyond < BEYOND {
            return None;
        }
        let time = all.percentile(1.0 - beyond)?;
        Some(Sample { x: 1.0 / beyond, y: time as f64 * 1e-6, interval: None })
    };
    (0..=steps).map_while(sample).collect()
}

/// Response times against throughput, where the curve's factor is the load.
fn against_throughput(findings: &Findings<'_>) -> Option<Figure> {
    let curve = findings.curve.as_ref().ok().filter(|curve| LOADS.contains(&curve.setting.as_str()))?;
    let headline = findings.workload.headline;
    let valid = |index: &usize| Some(&findings.points[*index]).filter(|point| point.verdict.is_valid());
    let sample = |point: &PointFindings| {
        let (rate, p99) = (point.result(headline.key()).ok()?, shown_value(point, RESPONSE_P99).ok()?);
        Some(Sample { x: rate.value(), y: p99.value(), interval: p99.drawn_bounds() })
    };
    let series: Vec<Series> = curve
        .groups
        .iter()
        .enumerate()
        .map(|(number, group)| Series {
            name: group.label.clone(),
            role: Role::Measured(number),
            samples: group.points.iter().filter_map(valid).filter_map(sample).collect(),
        })
        .filter(|series| series.samples.len() > 1)
        .collect();
    if series.is_empty() {
        return None;
    }
    let told = series.iter().flat_map(|series| &series.samples);
    let told: Vec<String> = told.map(|one| format!("{} ms at {}", short(one.y), short(one.x))).collect();
    let alt = format!("Line chart of the 99th percentile against throughput. {}.", told.join(", "));
    let points: Vec<&PointFindings> =
        curve.groups.iter().flat_map(|group| group.points.iter().filter_map(valid)).collect();
    let data = TableOf::new("", Prose::new(), points)
        .words("Point", |point| point.label())
        .quantities(headline.axis, headline.axis_unit, |point| point.result(headline.key()))
        .quantities("p99", RESPONSE_P99.axis_unit, |point| shown_value(point, RESPONSE_P99))
        .table();
    Some(Figure {
        id: "figure-load",
        caption: prose!["99th percentile of response times against throughput; the load increases along the line."],
        alt: alt.clone(),
        chart: Chart::Plot(Panel {
            alt,
            ..Panel::of(
                Axis::linear(headline.axis, headline.axis_unit),
                Axis::linear("99th percentile", RESPONSE_P99.axis_unit),
                series,
            )
        }),
        data,
    })
}
