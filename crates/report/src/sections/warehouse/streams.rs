//! Streams against throughput: what each further stream is worth.

use super::parts::{metric, plain};
use crate::blocks::{Block, Cell, Column, Inline, TableOf, prose};
use crate::findings::{Findings, PointFindings, level_number, level_text};
use crate::groups::by_key;
use crate::metrics::{CPU, QUERIES_PER_HOUR, SCAN_PHYSICAL};
use proofload_model::settings::setting;

const STREAMS: &str = setting::WORKLOAD_STREAMS;

pub(in super::super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let varies = findings.factors.iter().any(|factor| factor.setting == STREAMS && factor.levels.len() > 1);
    if !varies {
        return Vec::new();
    }
    let groups = groups(findings);
    let rows = groups.iter().flat_map(|(label, points)| {
        let before = move |place: usize| place.checked_sub(1).map(|before| points[before].1);
        points.iter().enumerate().map(move |(place, (streams, point))| (label, *streams, *point, before(place)))
    });
    let caption = prose!["Throughput by number of streams (closed loop), and gain of each step."];
    let table = TableOf::new("table-streams", caption, rows)
        .words("With", |(label, ..)| if label.is_empty() { "–".to_owned() } else { (*label).clone() })
        .quantities("Streams", "", |(_, streams, ..)| crate::numbers::short(*streams))
        .column(Column::metric(&QUERIES_PER_HOUR), |(_, _, point, _)| metric(point, QUERIES_PER_HOUR))
        .quantities("Per stream", QUERIES_PER_HOUR.told, |(_, streams, point, _)| {
            point.metric(QUERIES_PER_HOUR).map(|rate| rate.scaled(1.0 / streams, rate.unit().clone()))
        })
        .quantities("Compared with the previous step", "%", |(_, _, point, before)| before.map(|one| gain(one, point)))
        .column(Column::metric(&CPU), |(_, _, point, _)| metric(point, CPU))
        .column(Column::metric(&SCAN_PHYSICAL), |(_, _, point, _)| metric(point, SCAN_PHYSICAL))
        .note(prose! {
            "A step with a gain below 3 % has reached the machine's limit; ", Inline::Reference("table-bound"),
            " shows the bottleneck."
        });
    vec![Block::Table(table)]
}

/// Points by the levels of the other factors, each by rising number of streams.
fn groups<'f>(findings: &'f Findings<'_>) -> Vec<(String, Vec<(f64, &'f PointFindings)>)> {
    let measured = findings.points.iter().filter(|point| !point.runs.is_empty());
    let mut groups = by_key(measured.filter_map(|point| {
        let streams = point.level(STREAMS).and_then(level_number)?;
        let others = point.levels.iter().filter(|(setting, _)| setting != STREAMS).map(|(_, value)| level_text(value));
        Some((others.collect::<Vec<_>>().join(", "), (streams, point)))
    }));
    for (_, points) in &mut groups {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    groups
}

fn gain(before: &PointFindings, point: &PointFindings) -> Cell {
    let rate = |point: &PointFindings| point.metric(QUERIES_PER_HOUR).map(|rate| rate.value());
    match rate(point).and_then(|rate_after| Ok(100.0 * rate_after / rate(before)?)) {
        Ok(gain) => plain(gain, "%", 2, "a ratio of two points"),
        Err(why) => Cell::Gap(why),
    }
}
