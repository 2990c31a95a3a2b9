//! Published results beside this study's, relative to the slow medium alone.

use crate::blocks::{Block, Cell, Table, cells, columns, prose};
use crate::findings::Findings;
use crate::findings::cache::tier::{CachedPoint, cached};
use crate::numbers::short;
use crate::sections::charts::measured_cell;
use proofload_import::{Reference, ReferencePoint};

/// Setting by which published results name their cache.
const CACHE: &str = "storage.cache";
/// The level of those without one.
const NONE: &str = "none";

/// The table; nothing where the study names no published results by cache.
pub(super) fn blocks(findings: &Findings<'_>, points: &[CachedPoint]) -> Option<Block> {
    let reference = findings.reference.as_ref()?.as_ref().ok()?;
    let theirs: Vec<Vec<Cell>> = reference.points.iter().filter_map(|point| their_row(reference, point)).collect();
    let ours = points.iter().filter_map(|one| own_row(findings, one));
    (!theirs.is_empty()).then(|| {
        Block::Table(Table {
            id: "table-cache-published",
            caption: prose!["Published results and these, relative to the slow medium alone."],
            columns: columns! {
                words("Results"), quantities("Relative to no cache", "×"), quantities("Read hits", "%"),
                quantities("Write hits", "%")
            },
            rows: theirs.into_iter().chain(ours).collect(),
            note: prose![
                "Hardware, software, size and users differ: compare the ratios, not the figures. Published figures \
                 have no intervals and do not define a write hit."
            ],
        })
    })
}

/// Tells whether published results stand in this section.
pub(in super::super) fn is_drawn(findings: &Findings<'_>) -> bool {
    blocks(findings, &cached(findings)).is_some()
}

fn their_row(reference: &Reference, point: &ReferencePoint) -> Option<Vec<Cell>> {
    let level = point.level(CACHE)?;
    let base = reference.points.iter().find(|one| one.level(CACHE) == Some(NONE))?;
    let value = |point: &ReferencePoint, name: &str| point.metrics.get(name).map(|metric| metric.value);
    let times = value(point, &reference.compare).zip(value(base, &reference.compare)).map(|(own, base)| own / base);
    let cell = |value: Option<f64>| value.map_or(Cell::Empty, |value| Cell::datum(short(value)));
    let times = times.filter(|_| level != NONE);
    Some(cells! {
        format!("{}, {}", reference.publisher, point.label()), cell(times), cell(value(point, "read_hits")),
        cell(value(point, "write_hits"))
    })
}

fn own_row(findings: &Findings<'_>, one: &CachedPoint) -> Option<Vec<Cell>> {
    let times = one.times.clone()?;
    Some(cells! {
        format!("this study, {}", findings.point(one.point)?.label()), times,
        one.both.read_hits.clone().map_or(Cell::Empty, measured_cell),
        one.both.write_hits.clone().map_or(Cell::Empty, measured_cell)
    })
}
