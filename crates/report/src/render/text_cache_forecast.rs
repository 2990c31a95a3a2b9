//! Forecasts by the size of a cache as text: the sizes that were asked for first, then what they rest on.

use crate::findings::cache::forecast::{CacheForecast, SizeForecast, SizePlace, SizedPoint};
use crate::findings::{Findings, size_text};
use crate::numbers::{grouped, short};
use proofload_model::tier::CacheSize;
use proofload_model::units::Bytes;

/// The text of sizes that were asked for.
pub(crate) fn forecast_text(findings: &Findings<'_>, forecasts: &[CacheForecast], sizes: &[CacheSize]) -> String {
    let several = forecasts.len() > 1;
    let one = |forecast: &CacheForecast| {
        let mut lines: Vec<String> = several.then(|| format!("{}:", cache_text(forecast))).into_iter().collect();
        lines.extend(sizes.iter().map(|size| asked(findings, forecast, *size)));
        lines.push("measured sizes, each forecast from the others where at least two are left:".to_owned());
        lines.extend(forecast.points.iter().map(|point| measured(findings, forecast, point)));
        lines.extend(forecast.curve_error().map(|error| {
            format!(
                "sampled and measured hit ratios differ by {} percentage points on average",
                grouped(100.0 * error, 1)
            )
        }));
        lines.join("\n")
    };
    forecasts.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn cache_text(forecast: &CacheForecast) -> String {
    let cache = &forecast.plan.cache;
    let volumes: Vec<&str> = cache.accelerate.iter().map(|volume| volume.word()).collect();
    format!(
        "{}, {}, lines of {}, before {}, on {}",
        cache.mode.word(),
        cache.policy.word(),
        cache.line,
        volumes.join(" and "),
        forecast.plan.slow
    )
}

fn asked(findings: &Findings<'_>, forecast: &CacheForecast, size: CacheSize) -> String {
    let bytes = size.before(forecast.data);
    let part = 100.0 * bytes.0 as f64 / forecast.data.0.max(1) as f64;
    let named = format!("{} ({} % of the data)", bytes_text(bytes), short(part));
    match forecast.at(bytes) {
        Ok(found) => format!("{named}: {}\n  {}", told(findings, &found), rests_on(findings, forecast, &found)),
        Err(why) => format!("{named}: no forecast: {why}"),
    }
}

fn told(findings: &Findings<'_>, found: &SizeForecast) -> String {
    let headline = &findings.workload.headline;
    let hits = |share: f64| grouped(100.0 * share, 1);
    format!(
        "{} {} {}; {} % of reads hit (LRU {} %), {} % of writes; the cleaner writes {} MB/s",
        headline.title,
        short(found.headline),
        headline.told,
        hits(found.read_hits),
        hits(found.lru_read_hits),
        hits(found.write_hits),
        short(found.cleaned),
    )
}

fn rests_on(findings: &Findings<'_>, forecast: &CacheForecast, found: &SizeForecast) -> String {
    let label = |id: u32| findings.label(id);
    let [first, second] = found.calibrated.map(label);
    let traced: Vec<String> = found.traced.iter().map(|id| label(*id)).collect();
    let of = match found.place {
        SizePlace::Between => "the sizes in between",
        SizePlace::Above => "the largest size",
        SizePlace::Below => "the smallest size",
    };
    let error = match found.error {
        Some(error) => {
            format!("error at most {} %: that of {of}, forecast from the others", grouped(100.0 * error, 0))
        }
        None if forecast.points.len() > 2 => {
            format!("error unknown: {of} was forecast from nearer ones")
        }
        None => {
            format!("error unknown: with {} sizes, {of} cannot be left out", forecast.points.len())
        }
    };
    let bypassed: Vec<String> = found.bypassed.iter().map(|id| label(*id)).collect();
    let bypasses = if bypassed.is_empty() {
        String::new()
    } else {
        format!("; writes bypassed the cache at {}, which is not simulated", bypassed.join(" and "))
    };
    format!("{error}; calibrated on {first} and {second}, references from {}{bypasses}", traced.join(" and "))
}

fn measured(findings: &Findings<'_>, forecast: &CacheForecast, point: &SizedPoint) -> String {
    let label = findings.points.iter().find(|one| one.id == point.point).map_or_else(String::new, |one| one.label());
    let hits = |share: f64| format!("{} % of reads hit", grouped(100.0 * share, 1));
    let own = point.read_hits.map_or_else(|| "no cache".to_owned(), hits);
    let beside = match forecast.left_out(point.point) {
        Some(Ok(found)) => {
            let sign = if found.error < 0.0 { "" } else { "+" };
            let error = grouped(100.0 * found.error, 1);
            format!("forecast {} ({sign}{error} %), {}", short(found.forecast.headline), hits(found.forecast.read_hits))
        }
        Some(Err(why)) => format!("not forecast: {why}"),
        None => String::new(),
    };
    format!("  {label} ({}): {}, {own}; {beside}", bytes_text(point.size), short(point.headline))
}

fn bytes_text(size: Bytes) -> String {
    size_text(&size.to_string()).replace('\u{a0}', " ")
}
