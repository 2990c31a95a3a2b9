//! How the cache became warm and what stayed dirty, second by second.

use crate::blocks::{
    Axis, Band, BandKind, Block, Cell, Chart, Column, Figure, Panel, Role, Sample, Series, Table, cells, prose,
};
use crate::findings::cache::tier::CachedPoint;
use crate::findings::{Findings, PointFindings, RunFindings, Window, traces};
use proofload_model::series::{SeriesName, tier};
use proofload_model::tier::TierVolume;
use proofload_record::Attempt;
use std::collections::BTreeMap;

/// Seconds whose requests are one place on a line of hits: fewer hold too few to tell a share.
const STEP: f64 = 2.0;

/// Panels of the first run of each point with a cache; nothing where no run was observed.
pub(super) fn figure(findings: &Findings<'_>, points: &[CachedPoint]) -> Option<Block> {
    let mut panels = Vec::new();
    for one in points.iter().filter(|one| !one.plan.cache.size.is_nothing()) {
        let Some(point) = findings.point(one.point) else { continue };
        let Some(run) = point.runs.first() else { continue };
        let Some(attempt) = findings.record.finished(run.run.index) else { continue };
        let cached: Vec<TierVolume> = one
            .volumes
            .iter()
            .map(|(volume, _)| *volume)
            .filter(|volume| one.plan.cache.accelerates(*volume))
            .collect();
        panels.push(hits(point, run, attempt, &cached));
        panels.push(dirty(point, run, attempt, &cached));
    }
    panels.retain(|panel| panel.series.iter().any(|series| !series.samples.is_empty()));
    if panels.is_empty() {
        return None;
    }
    let alt = panels.iter().map(|panel| format!("{}: {}", panel.title, panel.alt)).collect::<Vec<_>>().join(" ");
    Some(Block::Figure(Box::new(Figure {
        id: "figure-cache-over-time",
        caption: prose![
            "Hits and dirty lines from the start of the load, first run of each point; warm-up and measured window are shaded."
        ],
        alt,
        data: data(&panels),
        chart: Chart::Panels(panels),
    })))
}

fn hits(point: &PointFindings, run: &RunFindings, attempt: &Attempt, cached: &[TierVolume]) -> Panel {
    let shares =
        [("reads hit", tier::READ_HITS, tier::READS), ("writes absorbed", tier::WRITES_ABSORBED, tier::WRITES)];
    let series = shares.into_iter().enumerate().map(|(number, (name, part, whole))| Series {
        name: name.to_owned(),
        role: Role::Trace(number),
        samples: share(attempt, cached, part, whole),
    });
    Panel {
        title: format!("{}: hits", point.label()),
        alt: "Line chart of the share of reads and writes that the cache served.".to_owned(),
        x: Axis { up_to: Some(run.per_second.len() as f64), ..Axis::linear("Time", "s") },
        y: Axis { up_to: Some(100.0), ..Axis::linear("Hits of cached volumes", "%") },
        bands: bands(run),
        rules: Vec::new(),
        series: series.collect(),
    }
}

fn dirty(point: &PointFindings, run: &RunFindings, attempt: &Attempt, cached: &[TierVolume]) -> Panel {
    let of = |(number, volume): (usize, &TierVolume)| {
        let trace = traces(attempt, tier::DIRTY).into_iter().find(|trace| trace.instance == volume.word());
        let samples = trace.map(|trace| trace.samples).unwrap_or_default();
        let samples = samples.into_iter().filter(|(x, _)| *x >= 0.0);
        Series {
            name: volume.word().to_owned(),
            role: Role::Trace(number),
            samples: samples.map(|(x, y)| Sample { x, y: y * 1e-6, interval: None }).collect(),
        }
    };
    Panel {
        title: format!("{}: dirty", point.label()),
        alt: "Line chart of the dirty lines of each volume.".to_owned(),
        x: Axis { up_to: Some(run.per_second.len() as f64), ..Axis::linear("Time", "s") },
        y: Axis::linear("Dirty lines", "MB"),
        bands: bands(run),
        rules: Vec::new(),
        series: cached.iter().enumerate().map(of).collect(),
    }
}

fn bands(run: &RunFindings) -> Vec<Band> {
    let mut bands = Vec::new();
    if let Some(warm_up) = &run.warm_up {
        let to = warm_up.seconds as f64;
        bands.push(Band { from: 0.0, to, kind: BandKind::WarmUp, label: "warm-up".to_owned() });
    }
    if let Some((from, to)) = run.window.map(Window::span) {
        bands.push(Band { from, to, kind: BandKind::Window, label: "measured".to_owned() });
    }
    bands
}

/// What a part of a count is of it over each step, %.
fn share(attempt: &Attempt, volumes: &[TierVolume], part: SeriesName, whole: SeriesName) -> Vec<Sample> {
    let sums = |wanted| -> BTreeMap<u64, f64> {
        let mut sums = BTreeMap::new();
        let ours =
            traces(attempt, wanted).into_iter().filter(|trace| volumes.iter().any(|one| one.word() == trace.instance));
        for (at, value) in ours.flat_map(|trace| trace.samples).filter(|(at, _)| *at >= 0.0) {
            *sums.entry((at / STEP) as u64).or_insert(0.0) += value;
        }
        sums
    };
    let parts = sums(part);
    let places = sums(whole).into_iter().filter(|(_, whole)| *whole > 0.0);
    let sample = |(step, whole): (u64, f64)| Sample {
        x: (step as f64 + 0.5) * STEP,
        y: 100.0 * parts.get(&step).copied().unwrap_or(0.0) / whole,
        interval: None,
    };
    places.map(sample).collect()
}

fn data(panels: &[Panel]) -> Table {
    let mut rows = Vec::new();
    for panel in panels {
        for series in &panel.series {
            let mut values: Vec<f64> = series.samples.iter().map(|sample| sample.y).collect();
            values.sort_by(f64::total_cmp);
            let (Some(least), Some(most)) = (values.first(), values.last()) else { continue };
            let last = series.samples.last().map_or(0.0, |sample| sample.y);
            let told = |value: f64| Cell::datum(format!("{} {}", crate::numbers::short(value), panel.y.unit));
            rows.push(cells![panel.title.clone(), series.name.clone(), told(*least), told(last), told(*most)]);
        }
    }
    Table {
        id: "",
        caption: prose![],
        columns: ["Panel", "Line", "Least", "Last", "Most"].map(Column::words).to_vec(),
        rows,
        note: prose![],
    }
}
