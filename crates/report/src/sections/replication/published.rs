//! Published results by mode beside this study's, relative to those without standbys.

use crate::blocks::{Block, Cell, Column, Table, prose};
use crate::findings::replication::forecast::quotient;
use crate::findings::replication::{MODE, ReplicatedPoint, replicated};
use crate::findings::{Findings, PointFindings};
use crate::metrics::{LatencyStatistic, MetricKey};
use crate::numbers::short;
use proofload_import::{Reference, ReferencePoint};
use proofload_model::replication::ReplicationMode;
use proofload_model::samples::ALL_KINDS;

/// Figures of a published point: throughput first, then times; name in the file, and our statistic.
const THROUGHPUTS: &[&str] = &["tpm", "throughput"];
const TIMES: &[(&str, LatencyStatistic)] =
    &[("latency_mean", LatencyStatistic::Mean), ("latency_p99", LatencyStatistic::P99)];

/// The table; nothing where the study names no published results by mode.
pub(super) fn blocks(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    let reference = findings.reference.as_ref()?.as_ref().ok()?;
    let theirs: Vec<Vec<Cell>> = reference.points.iter().filter_map(|point| their_row(reference, point)).collect();
    if theirs.is_empty() {
        return None;
    }
    let base = points.iter().find(|one| one.mode == ReplicationMode::None).and_then(|one| findings.point(one.point));
    let ours: Vec<Vec<Cell>> = points.iter().filter_map(|one| own_row(findings, one, base?)).collect();
    // One node alone beside itself says nothing.
    let ours = ours.into_iter().take(if points.iter().any(is_kept) { usize::MAX } else { 0 });
    Some(Block::Table(Table {
        id: "table-published",
        caption: prose!["Published results and these, relative to one node."],
        columns: vec![
            Column::words("Results"),
            Column::words("Mode"),
            Column::quantities("Throughput", "%"),
            Column::quantities("Mean response time", "×"),
            Column::quantities("p99", "×"),
        ],
        rows: theirs.into_iter().chain(ours).collect(),
        note: prose![
            "Hardware, software, size and users differ: compare the ratios, not the figures. Published figures have \
             no intervals. × is the ratio to one node."
        ],
    }))
}

fn is_kept(one: &ReplicatedPoint) -> bool {
    one.kept.as_ref().is_some_and(Result::is_ok)
}

/// Tells whether published results stand in this section.
pub(in super::super) fn is_drawn(findings: &Findings<'_>) -> bool {
    blocks(findings, &replicated(findings)).is_some()
}

fn their_row(reference: &Reference, point: &ReferencePoint) -> Option<Vec<Cell>> {
    let mode = point.level(MODE)?;
    let base = reference.points.iter().find(|one| one.level(MODE) == Some(ReplicationMode::None.word()))?;
    let of_base = |name: &str| Some(point.metrics.get(name)?.value / base.metrics.get(name)?.value);
    let cell = |value: Option<f64>| value.map_or(Cell::Empty, |value| Cell::datum(short(value)));
    let throughput = THROUGHPUTS.iter().find_map(|name| of_base(name)).map(|ratio| 100.0 * ratio);
    let mut cells = vec![Cell::datum(format!("{}, {}", reference.publisher, point.label())), Cell::code(mode)];
    cells.push(cell(throughput));
    cells.extend(TIMES.iter().map(|(name, _)| cell(of_base(name))));
    Some(cells)
}

fn own_row(findings: &Findings<'_>, one: &ReplicatedPoint, base: &PointFindings) -> Option<Vec<Cell>> {
    let point = findings.point(one.point).filter(|point| point.id == base.id || is_kept(one))?;
    let mut cells = vec![Cell::datum(format!("this study, {}", point.label())), Cell::code(one.mode.word())];
    if point.id == base.id {
        cells.extend([Cell::datum("100"), Cell::datum("1"), Cell::datum("1")]);
        return Some(cells);
    }
    cells.push(Cell::Quantity(one.kept.clone()?.ok()?));
    cells.extend(TIMES.iter().map(|(_, statistic)| {
        let metric = MetricKey::response(*statistic, ALL_KINDS);
        let ratio = quotient(&point.metric(&metric), &base.metric(&metric));
        ratio.map_or_else(Cell::Gap, Cell::Quantity)
    }));
    Some(cells)
}
