//! Points on a cache tier as JSON: what the cache is worth, its volumes, its medium.

use super::json::measured;
use crate::findings::cache::latency::{RequestLatency, request_latencies};
use crate::findings::cache::tier::{CachedPoint, DelayTimes, MediumUse, VolumeUse, cached};
use crate::findings::{Findings, Measured};
use proofload_model::tier::TierVolume;
use serde_json::{Map, Value as Json, json};

/// Every point on a tier; empty where there is none.
pub(super) fn points(findings: &Findings<'_>) -> Vec<Json> {
    cached(findings).iter().map(|point| one(findings, point)).collect()
}

fn one(findings: &Findings<'_>, point: &CachedPoint) -> Json {
    let latencies = request_latencies(findings, point);
    let volume = |(volume, found): &(TierVolume, VolumeUse)| {
        let is_cached = point.plan.cache.accelerates(*volume);
        let mut told = volume_json(found, is_cached.then(|| point.plan.cache.mode.word()));
        let ours = latencies.iter().filter(|one| one.volume == *volume);
        told["latencies"] = Json::Object(ours.map(|one| (one.class.word().to_owned(), latency(one))).collect());
        (volume.word().to_owned(), told)
    };
    json!({
        "point": point.point, "slow_medium": point.plan.slow.to_string(),
        "flush_delay_ms": point.plan.flush_delay.map(|delay| 1e3 * delay.as_secs_f64()),
        "times_without_cache": optional(point.times.as_ref()),
        "volumes": point.volumes.iter().map(volume).collect::<Map<_, _>>(), "medium": medium(&point.medium),
    })
}

/// A volume; hits and lines only where it is cached.
fn volume_json(found: &VolumeUse, mode: Option<&str>) -> Json {
    let mut volume = json!({ "mode": mode, "reads": measured(&found.reads), "writes": measured(&found.writes) });
    volume["flushes"] = measured(&found.flushes);
    if mode.is_some() {
        volume["read_hits"] = optional(found.read_hits.as_ref());
        volume["write_hits"] = optional(found.write_hits.as_ref());
        volume["writes_absorbed"] = optional(found.absorbed.as_ref());
        volume["writes_bypassed"] = optional(found.bypassed.as_ref());
        volume["evictions"] = measured(&found.evictions);
        volume["promoted"] = measured(&found.promoted);
        volume["clean_run"] = optional(found.clean_run.as_ref());
        volume["in_use"] = measured(&found.in_use);
        volume["dirty"] = measured(&found.dirty);
        volume["cleaned"] = measured(&found.cleaned);
    }
    volume
}

/// Times of one class of requests, ms.
fn latency(found: &RequestLatency) -> Json {
    json!({ "count": found.count, "p50": measured(&found.p50), "p99": measured(&found.p99) })
}

fn medium(found: &MediumUse) -> Json {
    let delays = |times: Option<DelayTimes>| times.map(|times| json!({ "p50": times.p50, "p99": times.p99 }));
    json!({
        "requests": measured(&found.requests), "busy": measured(&found.busy), "queue": measured(&found.queue),
        "response": optional(found.response.as_ref()), "later_than_response": optional(found.late.as_ref()),
        "later_than_response_ms": delays(found.late_times), "files_later_ms": delays(found.outrun_times),
    })
}

/// A figure; null where there was nothing to count.
fn optional(value: Option<&Measured>) -> Json {
    value.map_or(Json::Null, measured)
}
