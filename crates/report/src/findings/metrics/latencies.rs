//! Response and service times of a run's window by kind of operation.

use proofload_analysis::latency::Sparse;
use proofload_model::samples::{IntervalSample, LatencyClock, is_deferred};
use std::collections::BTreeMap;

/// Histograms of a window by kind, one per second.
pub type ByKind = BTreeMap<String, Vec<Sparse>>;

/// Decodes the histograms of one clock over a window; what cannot be decoded comes back as a reason to void.
pub(crate) fn decoded(kinds: &[String], inside: &[&IntervalSample], clock: LatencyClock) -> (ByKind, Vec<String>) {
    let mut unreadable = Vec::new();
    let mut found = ByKind::new();
    for kind in kinds {
        let mut parts = Vec::new();
        for interval in inside {
            match of_second(interval, kind, clock) {
                Ok(part) => parts.push(part),
                Err(why) => unreadable.push(why),
            }
        }
        found.insert(kind.clone(), parts);
    }
    (found, unreadable)
}

fn of_second(interval: &IntervalSample, kind: &str, clock: LatencyClock) -> Result<Sparse, String> {
    let Some(stored) = interval.histograms.iter().find(|part| part.kind == kind && part.clock == clock) else {
        return Ok(Sparse::default());
    };
    let part = Sparse::from_v2_deflate(&stored.payload)
        .map_err(|error| format!("second {} of {kind}: {error}", interval.index))?;
    if part.count() == stored.count {
        return Ok(part);
    }
    let (found, counted) = (part.count(), stored.count);
    Err(format!("histogram of {kind} in second {}: {found} values, but {counted} were counted", interval.index))
}

/// One histogram per second over all kinds except deferred ones, which nobody waits for.
pub(crate) fn all_kinds(by_kind: &ByKind) -> Vec<Sparse> {
    let waited_for = || by_kind.iter().filter(|(kind, _)| !is_deferred(kind)).map(|(_, parts)| parts);
    let seconds = waited_for().map(Vec::len).max().unwrap_or(0);
    (0..seconds).map(|second| Sparse::merged(waited_for().filter_map(|parts| parts.get(second)))).collect()
}
