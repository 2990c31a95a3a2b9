//! Streams against throughput: what each further stream is worth.

use super::parts::{metric, plain};
use crate::blocks::{Block, Cell, Inline, Table, columns, prose};
use crate::findings::{Findings, PointFindings, level_number, level_text};
use crate::metrics::{CPU, QUERIES_PER_HOUR, SCAN_PHYSICAL};

const STREAMS: &str = "workload.streams";

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let varies = findings.factors.iter().any(|factor| factor.setting == STREAMS && factor.levels.len() > 1);
    if !varies {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (label, points) in groups(findings) {
        for (place, (streams, point)) in points.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| points[before].1);
            rows.push(row(&label, *streams, point, before));
        }
    }
    vec![Block::Table(Table {
        id: "table-streams",
        caption: prose!["Throughput by number of streams (closed loop), and gain of each step."],
        columns: columns! {
            words("With"), quantities("Streams", ""), metric(&QUERIES_PER_HOUR),
            quantities("Per stream", QUERIES_PER_HOUR.told), quantities("Compared with the previous step", "%"),
            metric(&CPU), metric(&SCAN_PHYSICAL)
        },
        rows,
        note: prose! {
            "A step with a gain below 3 % has reached the machine's limit; ", Inline::Reference("table-bound"),
            " shows the bottleneck."
        },
    })]
}

/// Points by the levels of the other factors, each by rising number of streams.
fn groups<'f>(findings: &'f Findings<'_>) -> Vec<(String, Vec<(f64, &'f PointFindings)>)> {
    let mut groups: Vec<(String, Vec<(f64, &PointFindings)>)> = Vec::new();
    for point in findings.points.iter().filter(|point| !point.runs.is_empty()) {
        let Some(streams) = point.level(STREAMS).and_then(level_number) else { continue };
        let others = point.levels.iter().filter(|(setting, _)| setting != STREAMS).map(|(_, value)| level_text(value));
        let label = others.collect::<Vec<_>>().join(", ");
        match groups.iter_mut().find(|(known, _)| *known == label) {
            Some((_, points)) => points.push((streams, point)),
            None => groups.push((label, vec![(streams, point)])),
        }
    }
    for (_, points) in &mut groups {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    groups
}

fn row(label: &str, streams: f64, point: &PointFindings, before: Option<&PointFindings>) -> Vec<Cell> {
    let rate = |point: &PointFindings| point.metric(QUERIES_PER_HOUR);
    let each = rate(point).map(|rate| rate.scaled(1.0 / streams, rate.unit().clone()));
    let gain = before.map(|before| Ok::<f64, String>(100.0 * rate(point)?.value() / rate(before)?.value()));
    vec![
        Cell::datum(if label.is_empty() { "–" } else { label }),
        Cell::datum(crate::numbers::short(streams)),
        metric(point, QUERIES_PER_HOUR),
        crate::sections::charts::measured_cell(each),
        match gain {
            None => Cell::Empty,
            Some(Ok(gain)) => plain(gain, "%", 2, "a ratio of two points"),
            Some(Err(why)) => Cell::Gap(why),
        },
        metric(point, CPU),
        metric(point, SCAN_PHYSICAL),
    ]
}
