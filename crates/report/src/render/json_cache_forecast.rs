//! Forecasts by the size of a cache as JSON: of the report, and of sizes that were asked for.

use crate::findings::Findings;
use crate::findings::cache::forecast::{CacheForecast, LeftOut, SizeForecast, SizedPoint, cache_forecasts};
use proofload_model::tier::{CacheSize, TierVolume};
use serde_json::{Value as Json, json};

/// Every group of points of which forecasts can be made; empty where there is none.
pub(super) fn groups(findings: &Findings<'_>) -> Vec<Json> {
    cache_forecasts(findings).iter().map(|forecast| group(findings, forecast)).collect()
}

/// The document of sizes that were asked for.
pub(crate) fn forecast_json(findings: &Findings<'_>, forecasts: &[CacheForecast], sizes: &[CacheSize]) -> String {
    let one = |forecast: &CacheForecast| {
        let mut found = group(findings, forecast);
        let sizes = sizes.iter().map(|size| asked(findings, forecast, *size));
        found["sizes"] = sizes.collect();
        found
    };
    let groups: Vec<Json> = forecasts.iter().map(one).collect();
    format!("{:#}", json!({ "form": 1, "forecasts": groups }))
}

fn asked(findings: &Findings<'_>, forecast: &CacheForecast, size: CacheSize) -> Json {
    let bytes = size.before(forecast.data);
    match forecast.at(bytes) {
        Ok(found) => size_json(findings, &found),
        Err(why) => json!({ "size_bytes": bytes.0, "missing": why }),
    }
}

fn group(findings: &Findings<'_>, forecast: &CacheForecast) -> Json {
    let cache = &forecast.plan.cache;
    let volumes: Vec<&str> = cache.accelerate.iter().map(|volume: &TierVolume| volume.word()).collect();
    json!({
        "slow_medium": forecast.plan.slow.to_string(),
        "cache": {
            "mode": cache.mode.word(), "policy": cache.policy.word(), "line_bytes": cache.line.0,
            "accelerate": volumes,
        },
        "data_bytes": forecast.data.0,
        "points": forecast.points.iter().map(|point| point_json(findings, forecast, point)).collect::<Vec<_>>(),
        "read_hits_error_mean": forecast.curve_error(),
    })
}

fn point_json(findings: &Findings<'_>, forecast: &CacheForecast, point: &SizedPoint) -> Json {
    let unit = findings.workload.headline.unit;
    let left_out = match forecast.left_out(point.point) {
        Some(Ok(found)) => left_out_json(findings, &found),
        Some(Err(why)) => json!({ "missing": why }),
        None => Json::Null,
    };
    let curve = point.curve.as_ref().map(|curve| {
        let places = curve.sizes.iter().flat_map(|(size, volumes)| volumes.iter().map(move |hits| (size, hits)));
        let places = places.map(|(size, hits)| {
            json!({
                "size_bytes": size.0, "volume": hits.volume.word(), "read_hits": hits.reads,
                "lru_read_hits": hits.lru_reads, "write_hits": hits.writes,
            })
        });
        json!({ "sampled_references": curve.sampled, "sizes": places.collect::<Vec<_>>() })
    });
    json!({
        "point": point.point, "size_bytes": point.size.0, "throughput": { "value": point.headline, "unit": unit },
        "read_hits": point.read_hits, "writes_bypassed": point.bypassed,
        "curve": curve.unwrap_or_else(|why| json!({ "missing": why })), "from_the_others": left_out,
    })
}

fn left_out_json(findings: &Findings<'_>, found: &LeftOut) -> Json {
    let mut forecast = size_json(findings, &found.forecast);
    forecast["error"] = json!(found.error);
    forecast["read_hits_error"] = json!(found.hit_error);
    forecast
}

fn size_json(findings: &Findings<'_>, found: &SizeForecast) -> Json {
    json!({
        "size_bytes": found.size.0,
        "throughput": { "value": found.headline, "unit": findings.workload.headline.unit },
        "error_at_most": found.error, "read_hits": found.read_hits, "lru_read_hits": found.lru_read_hits,
        "write_hits": found.write_hits, "cleaned_mb_per_s": found.cleaned, "calibrated_on_points": found.calibrated,
        "references_of_points": found.traced, "bypasses_at_points": found.bypassed, "place": found.place.word(),
    })
}
