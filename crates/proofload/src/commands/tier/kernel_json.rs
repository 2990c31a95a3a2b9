//! What is told of caches of the kernel as JSON. It computes nothing but shares.

use proofload_testbed::caches::{CacheCount, CacheStatistics, CacheStep, KernelCache, TakenDownCache};
use serde_json::{Map, Value, json};

/// The state and counts of a cache. A count that the system does not have is null.
pub(super) fn of(system: &dyn KernelCache, found: &CacheStatistics) -> String {
    let counts: Map<String, Value> =
        CacheCount::ALL.iter().map(|of| (of.name().to_owned(), json!(found.count(*of)))).collect();
    let meanings: Map<String, Value> =
        system.meanings().iter().map(|(of, meaning)| (of.name().to_owned(), json!(meaning))).collect();
    let document = json!({
        "form": 1,
        "system": system.name(),
        "volume": found.volume,
        "mode": found.mode,
        "block_bytes": found.block.0,
        "blocks": found.blocks,
        "used_blocks": found.used_blocks,
        "dirty_bytes": found.dirty.map(|dirty| dirty.0),
        "clean": found.is_clean,
        "faults": found.faults,
        "over_ns": found.over.map(|over| u64::try_from(over.as_nanos()).unwrap_or(u64::MAX)),
        "read_hit_ratio": found.read_hit_ratio(),
        "write_hit_ratio": found.write_hit_ratio(),
        "write_absorbed_ratio": found.write_absorbed_ratio(),
        "counters": counts,
        "meanings": meanings,
    });
    format!("{document:#}")
}

/// The end of a cache.
pub(super) fn taken_down(system: &dyn KernelCache, outcome: &TakenDownCache) -> String {
    let document = json!({
        "form": 1,
        "system": system.name(),
        "taken_down": outcome.left.0 == 0,
        "was_in_place": outcome.was_in_place,
        "dirty_bytes": outcome.left.0,
        "bytes_per_second": outcome.cleaned_per_second.0,
    });
    format!("{document:#}")
}

/// Steps as lines for a shell.
pub(super) fn plan(parts: &[(&str, Vec<CacheStep>)], against: Option<&str>) -> String {
    let steps: Vec<String> = parts.iter().flat_map(|(_, steps)| steps).map(CacheStep::to_string).collect();
    let document = json!({ "form": 1, "steps": steps, "against": against });
    format!("{document:#}")
}
