//! Cost against protection: what each mode keeps of the throughput beside how long writes were away, where a study has several modes.

use crate::blocks::{Axis, Block, Chart, Figure, Inline, Panel, Role, Sample, Series, TableOf, prose};
use crate::findings::Findings;
use crate::findings::drills::DrilledPoint;
use crate::numbers::short;
use proofload_analysis::order_statistics::median;
use proofload_analysis::quantity::Unit;
use proofload_model::drill::ProbeKind;
use proofload_model::replication::ReplicationMode;

/// A mode and a fault: what is kept and what is lost.
struct Mark {
    label: String,
    kept: f64,
    away: (f64, Option<(f64, f64)>),
    lost: u64,
}

/// The figure, or why there is none; `None` for a study of one mode, which has nothing to compare with.
pub(crate) fn block(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Option<Block> {
    let drilled = || points.iter().filter(|point| point.fault.is_some() && !point.drills.is_empty());
    let least = drilled().map(|point| point.mode).min()?;
    if drilled().all(|point| point.mode == least) {
        return None;
    }
    if drilled().any(|point| came_at_a_rate(findings, point)) {
        return Some(Block::Paragraph(prose! {
            "The cost of the modes is not set against what they protect: the load came at a rate, which every mode \
             keeps up with, so their throughput is the same; a study whose load has no rate, such as ",
            Inline::Code("studies/quick/availability.toml".to_owned()), ", measures the cost."
        }));
    }
    Some(Block::Figure(Box::new(figure(findings, points, least))))
}

/// Whether the load of a point came at a rate, so that its throughput before the fault is what was asked for.
fn came_at_a_rate(findings: &Findings<'_>, point: &DrilledPoint<'_>) -> bool {
    findings.point(point.point).is_some_and(|one| one.runs.iter().any(|run| run.offered.is_some()))
}

fn figure(findings: &Findings<'_>, points: &[DrilledPoint<'_>], least: ReplicationMode) -> Figure {
    let drilled = points.iter().filter(|point| point.fault.is_some() && !point.drills.is_empty());
    let marks: Vec<Mark> = drilled.filter_map(|point| mark(findings, points, point, least)).collect();
    let series = |(number, mark): (usize, &Mark)| Series {
        name: format!("{}: {} lost", mark.label, mark.lost),
        role: Role::Measured(number),
        samples: vec![Sample { x: mark.kept, y: mark.away.0, interval: mark.away.1 }],
    };
    let told = |mark: &Mark| {
        let (away, kept) = (short(mark.away.0), short(mark.kept));
        format!("{}: {kept} % kept, write outage {away} s, {} lost.", mark.label, mark.lost)
    };
    let alt: Vec<String> = marks.iter().map(told).collect();
    Figure {
        id: "figure-cost-protection",
        caption: prose! {
            "Throughput before the fault, relative to that of ", least.word(),
            ", against the median write outage of each mode. The labels give the losses of all drills."
        },
        alt: format!("Scatter chart of throughput kept and write outage. {}", alt.join(" ")),
        chart: Chart::Plot(Panel::of(
            Axis { from_zero: false, ..Axis::linear("Throughput kept", "%") },
            Axis::linear("Write outage", "s"),
            marks.iter().enumerate().map(series).collect(),
        )),
        data: TableOf::new("data-cost-protection", prose!["Cost and protection by mode and fault."], &marks)
            .words("Point", |mark| mark.label.clone())
            .quantities("Throughput kept", "%", |mark| short(mark.kept))
            .quantities("Write outage", "s", |mark| short(mark.away.0))
            .quantities("Lost", "", |mark| mark.lost)
            .table(),
    }
}

fn mark(
    findings: &Findings<'_>,
    points: &[DrilledPoint<'_>],
    point: &DrilledPoint<'_>,
    least: ReplicationMode,
) -> Option<Mark> {
    let of_mode = points.iter().filter(|other| other.mode == least);
    let all: Vec<f64> = of_mode.flat_map(|other| &other.drills).map(|drill| drill.report.before).collect();
    let base = median(&all, Unit::PER_SECOND)?.value();
    let before = point.median(|drill| Some(drill.report.before))?.value();
    let away = point.median(|drill| Some(drill.outage(ProbeKind::Write)))?;
    Some(Mark {
        label: findings.label(point.point),
        kept: 100.0 * before / base,
        away: (away.value(), away.interval().bounds()),
        lost: point.lost(),
    })
}
