//! The main figure: throughput at each point and, on the same axis below it, what the drive did.

use crate::blocks::{Axis, Bars, Chart, Figure, Group, Panel, Strips, prose};
use crate::findings::{Findings, PointFindings};
use crate::metrics::{DEVICE_READ_BANDWIDTH, DEVICE_WRITE_BANDWIDTH, MetricName, RELATIVE};
use crate::sections::charts::{factors_title, knee_band, over_factor, points_table, shown_value};

/// Reads below this share of writes make writes the drive's figure.
const FEW_READS: f64 = 0.02;

/// The figure; `None` where no point has a value.
pub(super) fn main(findings: &Findings<'_>) -> Option<Figure> {
    if findings.points.iter().all(|point| point.runs.is_empty()) {
        return None;
    }
    let headline = findings.workload.headline;
    let drive = drive(findings);
    let columns: Vec<MetricName> =
        findings.workload.figure.iter().copied().chain([RELATIVE]).chain(drive.map(|drive| drive.drawn())).collect();
    let mut panel = over_factor(findings, &headline);
    if panel.series.is_empty() {
        return None;
    }
    let mut alt = panel.alt.clone();
    let mut caption = prose!["Throughput against ", factors_title(findings)];
    let chart = match &findings.curve {
        Ok(curve) => {
            if curve.groups.len() == 1 {
                panel.bands.extend(knee_band(findings));
                panel = quiet(panel);
            }
            let below = drive.map(|drive| over_factor(findings, &drive));
            if let (Some(below), Some(drive)) = (&below, drive) {
                alt = format!("{alt} {}", below.alt);
                caption.extend(prose![", and below it ", drive.axis.to_lowercase()]);
            }
            caption.extend(prose!["."]);
            if !panel.bands.is_empty() {
                caption.extend(prose![" The shaded range holds the knee."]);
            }
            let panels = [vec![panel], below.map(quiet).into_iter().collect()].concat();
            Chart::Strips(vec![Strips { title: String::new(), panels }])
        }
        Err(_) => {
            caption.extend(prose!["."]);
            Chart::Bars(bars(findings))
        }
    };
    caption.extend(prose![" Whiskers are 95 % intervals; grey marks are void points, not results."]);
    Some(Figure { id: "figure-throughput", caption, alt, chart, data: points_table(findings, &columns) })
}

/// A panel without names of its series: they stand in the one above, or the caption says all that they would.
fn quiet(mut panel: Panel) -> Panel {
    for series in &mut panel.series {
        series.name.clear();
    }
    panel
}

/// Metric of the drive that is drawn: reads, or writes where there are next to no reads.
fn drive(findings: &Findings<'_>) -> Option<MetricName> {
    let most = |metric: MetricName| {
        let values = findings.points.iter().filter_map(|point| point.metric(metric.key()).ok());
        values.map(|value| value.value()).filter(|value| value.is_finite()).reduce(f64::max)
    };
    match (most(DEVICE_READ_BANDWIDTH), most(DEVICE_WRITE_BANDWIDTH)) {
        (Some(reads), Some(writes)) if reads < FEW_READS * writes => Some(DEVICE_WRITE_BANDWIDTH),
        (Some(_), _) => Some(DEVICE_READ_BANDWIDTH),
        (None, Some(_)) => Some(DEVICE_WRITE_BANDWIDTH),
        (None, None) => None,
    }
}

fn bars(findings: &Findings<'_>) -> Bars {
    let headline = findings.workload.headline;
    let value = |point: &PointFindings| {
        let quantity = point.result(headline.key()).ok()?;
        Some((quantity.value(), quantity.drawn_bounds()))
    };
    let group = |point: &PointFindings| Group { label: point.label(), values: vec![value(point)] };
    let observed = |point: &PointFindings| {
        let quantity = shown_value(point, headline.key()).ok().filter(|quantity| quantity.value().is_finite())?;
        Some((quantity.value(), quantity.drawn_bounds()))
    };
    Bars {
        axis: Axis::linear(headline.axis, headline.axis_unit),
        names: vec!["throughput".to_owned()],
        groups: findings.points.iter().map(group).collect(),
        observed: findings.points.iter().map(observed).collect(),
    }
}
