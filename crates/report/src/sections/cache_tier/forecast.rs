//! What caches of other sizes should give, and how far such forecasts of the measured sizes are from what was measured.

use crate::blocks::{Block, Cell, Table, cells, columns, prose};
use crate::findings::cache::forecast::{CacheForecast, SizeForecast, SizedPoint, cache_forecasts};
use crate::findings::{Findings, PointFindings, size_text};
use crate::numbers::{grouped, short};
use proofload_model::tier::CacheSize;
use proofload_model::units::Bytes;

/// Sizes that are told where they were not measured, % of the data.
const TOLD: [u32; 6] = [5, 10, 20, 40, 80, 120];

/// The table; nothing where no forecast can be made.
pub(super) fn table(findings: &Findings<'_>) -> Option<Block> {
    let forecasts = cache_forecasts(findings);
    let headline = &findings.workload.headline;
    let unit = if headline.told.is_empty() { headline.unit } else { headline.told };
    (!forecasts.is_empty()).then(|| {
        Block::Table(Table {
            id: "table-cache-forecast",
            caption: prose![
                "Forecasts for other cache sizes, each from the neighbouring measured sizes; a measured size is \
                 forecast from the others."
            ],
            columns: columns! {
                words("Cache"), quantities(format!("{} measured", headline.title), unit), quantities("Forecast", unit),
                quantities("Error", "%"), quantities("Read hits measured", "%"), quantities("Forecast", "%"),
                quantities("LRU", "%")
            },
            rows: forecasts.iter().flat_map(|forecast| rows(findings, forecast, forecasts.len() > 1)).collect(),
            note: prose![note(&forecasts) + &bypasses(findings, &forecasts)],
        })
    })
}

/// Measured sizes and others, in their order.
fn rows(findings: &Findings<'_>, forecast: &CacheForecast, is_one_of_several: bool) -> Vec<Vec<Cell>> {
    let measured = forecast.points.iter().map(|point| (point.size, measured_row(findings, forecast, point)));
    let mut rows: Vec<(Bytes, Vec<Cell>)> = measured.collect();
    let before = if is_one_of_several { format!(", {}", volumes(forecast)) } else { String::new() };
    for percent in TOLD {
        let size = CacheSize::PercentOfData(percent).before(forecast.data);
        let known = forecast.points.iter().any(|point| near(point.size, size));
        let label = format!("{percent} % of the data, {}{before}", size_text(&size.to_string()));
        rows.extend(forecast.at(size).ok().filter(|_| !known).map(|found| (size, told_row(label, &found))));
    }
    rows.sort_by_key(|(size, _)| *size);
    rows.into_iter().map(|(_, cells)| cells).collect()
}

fn volumes(forecast: &CacheForecast) -> String {
    let volumes: Vec<&str> = forecast.plan.cache.accelerate.iter().map(|volume| volume.word()).collect();
    volumes.join(" and ")
}

/// Whether two sizes are one but for the rounding of a part of the data.
fn near(one: Bytes, other: Bytes) -> bool {
    one.0.abs_diff(other.0) * 100 <= other.0
}

fn note(forecasts: &[CacheForecast]) -> String {
    let mut note = "Model: a closed queueing network of the active users and the modelled drives, calibrated on two \
        measured points. Hits come from a sample of the references that was fed to small caches of each size during \
        the load. Error: for a measured size, forecast minus measurement; for another size, ± the largest such error \
        of comparable measured sizes, and none beyond them where requests to the drives differ more than between \
        these."
        .to_owned();
    if forecasts.iter().any(|forecast| forecast.points.len() < 3) {
        note.push_str(" With only two measured sizes none can be left out, so the error of a forecast is unknown.");
    }
    let errors: Vec<f64> = forecasts.iter().filter_map(CacheForecast::curve_error).collect();
    if let Some(error) = errors.iter().copied().reduce(f64::max) {
        let error = grouped(100.0 * error, 1);
        note.push_str(&format!(
            " The sampled share of read hits differs from that of the measured caches by {error} percentage points on \
             average."
        ));
    }
    note
}

/// Says at which points writes bypassed the cache, since the small caches take every write; empty without any.
fn bypasses(findings: &Findings<'_>, forecasts: &[CacheForecast]) -> String {
    let label = |id: u32| findings.point(id).map(PointFindings::label);
    let points = forecasts.iter().flat_map(|forecast| &forecast.points);
    let told = points
        .filter_map(|point| Some(format!("{} ({} % of writes)", label(point.point)?, short(100.0 * point.bypassed?))));
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        return String::new();
    }
    format!(
        " Writes bypassed the cache at {}: bypasses are not simulated, so forecasts from these points may be wrong by \
         more than is told.",
        told.join(", ")
    )
}

fn percent(share: f64) -> Cell {
    Cell::datum(grouped(100.0 * share, 1))
}

fn measured_row(findings: &Findings<'_>, forecast: &CacheForecast, point: &SizedPoint) -> Vec<Cell> {
    let label = findings.points.iter().find(|one| one.id == point.point).map_or_else(String::new, |one| one.label());
    let mut cells = cells![label, short(point.headline)];
    let left_out = forecast.left_out(point.point).and_then(Result::ok);
    let hits = point.read_hits.map_or(Cell::Empty, percent);
    match left_out {
        Some(found) => {
            let sign = if found.error < 0.0 { "" } else { "+" };
            let off = format!("{sign}{}", grouped(100.0 * found.error, 1));
            cells.extend([Cell::datum(short(found.forecast.headline)), Cell::datum(off), hits]);
            cells.extend(shares(&found.forecast));
        }
        None => cells.extend([Cell::Empty, Cell::Empty, hits, Cell::Empty, Cell::Empty]),
    }
    cells
}

fn told_row(label: String, found: &SizeForecast) -> Vec<Cell> {
    let off = found.error.map_or(Cell::Empty, |error| Cell::datum(format!("±{}", grouped(100.0 * error, 0))));
    let mut cells = cells![label, Cell::Empty, short(found.headline), off, Cell::Empty];
    cells.extend(shares(found));
    cells
}

fn shares(found: &SizeForecast) -> [Cell; 2] {
    if found.size.0 == 0 {
        [Cell::Empty, Cell::Empty]
    } else {
        [percent(found.read_hits), percent(found.lru_read_hits)]
    }
}
