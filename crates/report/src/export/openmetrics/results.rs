//! Final figures of points with their confidence intervals. A void point has a verdict and no figure.

use super::family::{Family, Labels, Page, family_name};
use super::run::Run;
use super::units::{base, named};
use crate::findings::{Findings, PointFindings};
use std::collections::BTreeMap;
use std::io::Result;

/// One figure: labels, value, lower and upper bound, samples, time.
struct Figure {
    labels: Labels,
    value: f64,
    /// The upper end is `None` where it bounds nothing.
    bounds: Option<(f64, Option<f64>)>,
    n: u64,
    at_us: i64,
}

/// Families by name, each with its unit in words and its figures.
type Families = BTreeMap<String, (String, Vec<Figure>)>;

/// Writes verdicts, figures, and the sample sizes behind them.
pub(super) fn write(findings: &Findings<'_>, runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    let help = "1 if the point is valid, 0 if it is void.";
    page.family(&Family { name: "proofload_point_valid", kind: "gauge", unit: "", help });
    let mut families = Families::new();
    for point in &findings.points {
        let Some(at_us) = ended(point, runs) else { continue };
        let labels = Labels::of(&[("point", &point.id.to_string())]);
        let valid = if point.verdict.is_valid() { 1.0 } else { 0.0 };
        page.sample("proofload_point_valid", &labels, valid, at_us)?;
        if point.verdict.is_valid() {
            collect(point, &labels, at_us, &mut families);
        }
    }
    families.iter().try_for_each(|(name, (unit, figures))| family(name, unit, figures, page))?;
    let help = "Samples behind a result: seconds, operations or runs.";
    page.family(&Family { name: "proofload_result_samples", kind: "gauge", unit: "", help });
    for figure in families.values().flat_map(|(_, figures)| figures) {
        page.sample("proofload_result_samples", &figure.labels, figure.n as f64, figure.at_us)?;
    }
    Ok(())
}

/// The end of the last window of a point's runs that are written, microseconds since 1970.
fn ended(point: &PointFindings, runs: &[Run<'_>]) -> Option<i64> {
    let of_point = runs.iter().filter(|run| run.attempt.run.point == point.id && !run.attempt.run.sentinel);
    of_point.filter_map(|run| Some(run.zero_us + i64::try_from(run.attempt.window()?.1).ok()? * 1_000_000)).max()
}

fn collect(point: &PointFindings, labels: &Labels, at_us: i64, families: &mut Families) {
    for (metric, quantity) in &point.metrics {
        let Ok(quantity) = quantity else { continue };
        let (unit, factor) = base(&quantity.unit().0);
        let text = metric.to_string();
        let mut labels = labels.with("metric", &text);
        let name = match metric.latency() {
            Some(latency) => {
                labels.add("statistic", latency.statistic.word());
                labels.add("kind", &latency.kind);
                format!("proofload_result_{}_seconds", latency.clock.word())
            }
            None => format!("proofload_result_{}", named(&text, &unit)),
        };
        let high_of = |high: f64| (!quantity.is_unbounded_above()).then_some(high * factor);
        let bounds = quantity.interval().bounds().map(|(low, high)| (low * factor, high_of(high)));
        let figure = Figure { labels, value: quantity.value() * factor, bounds, n: quantity.n(), at_us };
        families.entry(family_name(&name)).or_insert_with(|| (unit, Vec::new())).1.push(figure);
    }
}

fn family(name: &str, unit: &str, figures: &[Figure], page: &mut Page<'_>) -> Result<()> {
    let unit = if name.ends_with(unit) { unit } else { "" };
    let help = "A result; bound tells the value from the ends of its 95 % confidence interval.";
    page.family(&Family { name, kind: "gauge", unit, help });
    for figure in figures {
        let mut line =
            |bound: &str, value: f64| page.sample(name, &figure.labels.with("bound", bound), value, figure.at_us);
        line("value", figure.value)?;
        if let Some((low, high)) = figure.bounds {
            line("ci95_low", low)?;
            if let Some(high) = high {
                line("ci95_high", high)?;
            }
        }
    }
    Ok(())
}
