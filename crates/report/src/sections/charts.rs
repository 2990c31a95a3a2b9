//! Charts over the study's factor, from findings: shared by the sections of results.

use crate::blocks::{Axis, Band, BandKind, Cell, Column, Panel, Prose, Role, Sample, Scale, Series, Table, TableOf};
use crate::findings::{Curve, Findings, Measured, PointFindings, level_number, level_text, setting_title};
use crate::metrics::{MetricKey, MetricName};
pub(super) use crate::numbers::capital;
use crate::numbers::grouped;
use proofload_analysis::quantity::Unit;

/// Ratio of neighbouring loads from which on both have a label.
const LABELS_APART: f64 = 1.6;

/// A panel over the factor: lines over numbers, dots over words; void points as crosses. Titles are those of the metric's axis.
pub(super) fn over_factor(findings: &Findings<'_>, shown: &MetricName) -> Panel {
    let series = match &findings.curve {
        Ok(curve) => curve_series(findings, curve, shown),
        Err(_) => dots(findings, shown),
    };
    let y = Axis::linear(shown.axis, shown.axis_unit);
    let mut panel = Panel::of(factor_axis(findings), y, series);
    panel.alt = describe(findings, &panel, shown);
    panel
}

/// The horizontal axis: levels of the curve's factor, or one place for each point.
pub(super) fn factor_axis(findings: &Findings<'_>) -> Axis {
    let (title, scale, ticks) = match &findings.curve {
        Ok(curve) => {
            let factor = findings.factors.iter().find(|factor| factor.setting == curve.setting);
            let levels = factor.map(|factor| factor.levels.as_slice()).unwrap_or_default();
            let tick = |level| Some((level_number(level)?, level_text(level)));
            let scale = if curve.geometric { Scale::Logarithmic } else { Scale::Linear };
            let ticks: Vec<(f64, String)> = levels.iter().filter_map(tick).collect();
            (setting_title(&curve.setting), scale, if findings.searches.is_empty() { ticks } else { apart(ticks) })
        }
        Err(_) => {
            let tick = |(index, point): (usize, &PointFindings)| (index as f64, point.label());
            (factors_title(findings), Scale::Linear, findings.points.iter().enumerate().map(tick).collect())
        }
    };
    Axis {
        title: capital(&title),
        unit: String::new(),
        scale,
        ticks: Some(ticks),
        from_zero: false,
        up_to: None,
        within: None,
    }
}

/// Keeps the ticks whose labels find room beside each other: a search may choose loads that lie densely.
fn apart(ticks: Vec<(f64, String)>) -> Vec<(f64, String)> {
    let mut kept: Vec<(f64, String)> = Vec::new();
    for tick in ticks {
        if kept.last().is_none_or(|last| tick.0 >= last.0 * LABELS_APART) {
            kept.push(tick);
        }
    }
    kept
}

/// The titles of all factors.
pub(super) fn factors_title(findings: &Findings<'_>) -> String {
    let factors = findings.factors.iter().map(|factor| setting_title(&factor.setting));
    let titles: Vec<String> = factors.collect();
    if titles.is_empty() { "point".to_owned() } else { titles.join(", ") }
}

fn curve_series(findings: &Findings<'_>, curve: &Curve, shown: &MetricName) -> Vec<Series> {
    let mut series = Vec::new();
    let mut void: Vec<Sample> = Vec::new();
    for (number, group) in curve.groups.iter().enumerate() {
        let mut samples = Vec::new();
        for index in &group.points {
            let point = &findings.points[*index];
            let Some(sample) = sample(point, x_of(point, curve), shown) else { continue };
            if point.verdict.is_valid() {
                samples.push(sample);
            } else {
                void.push(sample);
                // The line breaks here: nothing is drawn through a point that has no result.
                samples.push(Sample { y: f64::NAN, interval: None, ..sample });
            }
        }
        series.push(Series { name: group.label.clone(), role: Role::Measured(number), samples });
    }
    void.sort_by(|a, b| a.x.total_cmp(&b.x));
    with_void(series, void)
}

/// One place for each point.
fn dots(findings: &Findings<'_>, shown: &MetricName) -> Vec<Series> {
    let (mut valid, mut void) = (Vec::new(), Vec::new());
    for (index, point) in findings.points.iter().enumerate() {
        let Some(sample) = sample(point, Some(index as f64), shown) else { continue };
        if point.verdict.is_valid() {
            valid.push(sample);
        } else {
            void.push(sample);
        }
    }
    with_void(vec![Series { name: String::new(), role: Role::Dots(0), samples: valid }], void)
}

/// Series with the void points as crosses, those without a value left out.
fn with_void(mut series: Vec<Series>, void: Vec<Sample>) -> Vec<Series> {
    if !void.is_empty() {
        series.push(Series { name: "void, not a result".to_owned(), role: Role::Void, samples: void });
    }
    series.retain(|series| series.samples.iter().any(|sample| sample.y.is_finite()));
    if let [only, _, ..] = series.as_mut_slice()
        && only.name.is_empty()
    {
        only.name = "valid points".to_owned();
    }
    series
}

fn x_of(point: &PointFindings, curve: &Curve) -> Option<f64> {
    point.level(&curve.setting).and_then(level_number)
}

fn sample(point: &PointFindings, x: Option<f64>, shown: &MetricName) -> Option<Sample> {
    let quantity = shown_value(point, shown.key()).ok().filter(|quantity| quantity.value().is_finite())?;
    Some(Sample { x: x?, y: quantity.value(), interval: quantity.drawn_bounds() })
}

/// Points up to this number are all told in words; of more, the first and the last.
const TOLD: usize = 8;

/// The chart in words: what is drawn, and its values.
fn describe(findings: &Findings<'_>, panel: &Panel, shown: &MetricName) -> String {
    let kind = if findings.curve.is_ok() { "Line chart" } else { "Dot chart" };
    let unit = if shown.axis_unit.is_empty() { String::new() } else { format!(" in {}", shown.axis_unit) };
    let mut text = format!("{kind} of {}{unit} against {}.", shown.axis.to_lowercase(), panel.x.title.to_lowercase());
    for series in &panel.series {
        let finite: Vec<&Sample> = series.samples.iter().filter(|sample| sample.y.is_finite()).collect();
        let name = if series.name.is_empty() { String::new() } else { format!("{}: ", series.name) };
        let value = |sample: &Sample| format!("{} at {}", crate::numbers::short(sample.y), tick_of(panel, sample.x));
        let told: Vec<String> = match finite.as_slice() {
            [] => continue,
            [first, .., last] if finite.len() > TOLD => vec![value(first), value(last)],
            all => all.iter().map(|sample| value(sample)).collect(),
        };
        text.push_str(&format!(" {name}{}.", told.join(", ")));
    }
    if panel.series.is_empty() {
        text.push_str(" No point has a value.");
    }
    text
}

fn tick_of(panel: &Panel, x: f64) -> String {
    let ticks = panel.x.ticks.iter().flatten();
    ticks
        .filter(|(value, _)| *value == x)
        .map(|(_, label)| label.clone())
        .next()
        .unwrap_or_else(|| crate::numbers::short(x))
}

/// The knee of the only group as a shaded range, when it has one.
pub(super) fn knee_band(findings: &Findings<'_>) -> Option<Band> {
    let (from, to) = findings.only_knee()?.range()?;
    Some(Band { from, to, kind: BandKind::Knee, label: "knee".to_owned() })
}

/// A number of the curve's factor as its level is written.
pub(super) fn level_words(findings: &Findings<'_>, setting: &str, number: f64) -> String {
    let factor = findings.factors.iter().find(|factor| factor.setting == setting);
    let mut levels = factor.into_iter().flat_map(|factor| &factor.levels);
    let same = levels.find(|level| level_number(level) == Some(number));
    same.map_or_else(|| grouped(number, 0), level_text)
}

/// A table of points: a column for the levels, one for each metric, and the verdict.
pub(super) fn points_table(findings: &Findings<'_>, metrics: &[MetricName]) -> Table {
    points_with("", Prose::new(), findings, metrics.iter().map(|metric| (Column::metric(metric), metric.key())))
        .verdict()
        .table()
}

/// Points with a column for their levels, and one for each metric under its head.
pub(super) fn points_with<'f>(
    id: &'static str,
    caption: Prose,
    findings: &'f Findings<'_>,
    metrics: impl IntoIterator<Item = (Column, MetricKey)>,
) -> TableOf<&'f PointFindings> {
    TableOf::new(id, caption, &findings.points).column(Column::point(findings), |point| point.label()).each(
        metrics,
        |(head, _)| head.clone(),
        |point, (_, metric)| shown_value(point, metric),
    )
}

impl TableOf<&PointFindings> {
    /// Adds the column of verdicts.
    pub(super) fn verdict(self) -> Self {
        self.words("Verdict", |point| verdict_cell(point))
    }
}

impl Column {
    /// The column of points' names, under the titles of the factors.
    pub(super) fn point(findings: &Findings<'_>) -> Self {
        Self::words(capital(&factors_title(findings)))
    }

    /// The column of a metric under its title.
    pub(super) fn metric(metric: &MetricName) -> Self {
        Self::quantities(metric.title, metric.told)
    }
}

/// A metric as tables and axes show it: times in ns as ms.
pub(super) fn shown_value(point: &PointFindings, key: impl Into<MetricKey>) -> Measured {
    let key: MetricKey = key.into();
    let value = point.metric(&key);
    if key.latency().is_some() { milliseconds(value) } else { value }
}

/// A measured value as a cell.
pub(super) fn measured_cell(value: Measured) -> Cell {
    Cell::from(value)
}

/// A point's verdict as a cell.
pub(super) fn verdict_cell(point: &PointFindings) -> Cell {
    Cell::Verdict(point.verdict.is_valid(), point.verdict.word())
}

/// Nanoseconds in milliseconds, for tables and axes.
pub(super) fn milliseconds(value: Measured) -> Measured {
    value.map(|quantity| quantity.scaled(1e-6, Unit::named("ms")))
}

/// Chooses at most so many of all, spread evenly from the first to the last.
pub(super) fn spread<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let (count, steps) = (all.len(), most.saturating_sub(1).max(1));
    if count <= most {
        return all;
    }
    let chosen: Vec<usize> = (0..most).map(|step| (step * (count - 1) + steps / 2) / steps).collect();
    all.into_iter().enumerate().filter(|(place, _)| chosen.binary_search(place).is_ok()).map(|(_, one)| one).collect()
}

/// Says that some of the points are not shown; empty where all are.
pub(super) fn shown_of(shown: usize, all: usize) -> String {
    if shown < all { format!(" Shown are {shown} of {all} points.") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn what_is_chosen_of_many_has_both_ends_and_keeps_its_order() {
        for count in 1..200 {
            for most in 2..30 {
                let chosen = spread((0..count).collect(), most);
                assert_eq!(chosen.len(), count.min(most), "{most} of {count}");
                assert_eq!((chosen.first(), chosen.last()), (Some(&0), Some(&(count - 1))));
                assert!(chosen.is_sorted());
            }
        }
        assert_eq!(spread((0..500).collect(), 6), [0, 100, 200, 299, 399, 499]);
    }
}
