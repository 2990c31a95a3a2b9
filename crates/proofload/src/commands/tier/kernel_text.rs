//! What is told of caches of the kernel as text, the answer first. It computes nothing but shares.

use super::units::{bytes, count, percent, time};
use proofload_testbed::caches::{CacheCount, CacheStatistics, CacheStep, KernelCache, TakenDownCache};
use std::time::Duration;

/// The state and counts of a cache.
pub(super) fn of(system: &dyn KernelCache, found: &CacheStatistics) -> String {
    let mut lines = vec![answer(system, found)];
    lines.extend(found.faults.iter().map(|fault| format!("FAULT: {fault}")));
    let blocks = match (found.used_blocks, found.blocks) {
        (Some(used), Some(all)) => {
            format!("{} of {} blocks of {} in use", count(used), count(all), bytes(found.block.0))
        }
        _ => format!("blocks of {}", bytes(found.block.0)),
    };
    let over = found.over.map_or_else(|| "since it was set up".to_owned(), |over| format!("over {}", time(over)));
    lines.push(format!("{}, {blocks}; counts {over}", found.mode));
    for of in CacheCount::ALL {
        if let Some((_, meaning)) = system.meanings().iter().find(|(meant, _)| meant == of) {
            let value = found.count(*of).map_or_else(|| "—".to_owned(), count);
            lines.push(format!("  {:<18} {value:>12}  {meaning}", of.name()));
        }
    }
    let missing: Vec<&str> =
        CacheCount::ALL.iter().filter(|of| found.count(**of).is_none()).map(|of| of.name()).collect();
    if !missing.is_empty() {
        lines.push(format!("not counted by {}: {}", system.name(), missing.join(", ")));
    }
    lines.join("\n")
}

/// The sentence that most readers want. What went past the cache stands beside the hits, which mean nothing without it.
fn answer(system: &dyn KernelCache, found: &CacheStatistics) -> String {
    let share = |share: Option<f64>, of: CacheCount, what: &str| {
        Some(format!("{} of {} {what}", percent(Some(share?)), count(found.count(of)?)))
    };
    let parts = [
        share(found.read_hit_ratio(), CacheCount::Reads, "reads hit"),
        share(found.write_hit_ratio(), CacheCount::Writes, "writes hit"),
        share(found.write_absorbed_ratio(), CacheCount::Writes, "writes were absorbed by the cache"),
        found.count(CacheCount::BytesBypassed).map(|past| format!("{} bypassed the cache", bytes(past))),
        found.count(CacheCount::WritesBypassed).map(|past| format!("{} writes bypassed the cache", count(past))),
        found.dirty.map(|dirty| format!("{} dirty", bytes(dirty.0))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{} at {}: {}", system.name(), found.volume, parts.join("; "))
}

/// A cache that was put in place.
pub(super) fn in_place(system: &dyn KernelCache, what: &str, found: &CacheStatistics) -> String {
    let faults: String = found.faults.iter().map(|fault| format!("; FAULT: {fault}")).collect();
    let dirty = found.dirty.map_or_else(String::new, |dirty| format!(", {} dirty", bytes(dirty.0)));
    format!(
        "{what}: {} at {}, {}, blocks of {}{dirty}{faults}",
        system.name(),
        found.volume,
        found.mode,
        bytes(found.block.0)
    )
}

/// The end of a cache.
pub(super) fn taken_down(system: &dyn KernelCache, outcome: &TakenDownCache, within: Duration) -> String {
    if outcome.left.0 == 0 && !outcome.was_in_place {
        return format!("{} was not set up; nothing is left of it", system.name());
    }
    if outcome.left.0 == 0 {
        return format!("taken down: {} is gone, nothing was dirty; {}", system.name(), outcome.origin);
    }
    let rate = outcome.cleaned_per_second.0;
    let more = match rate {
        0 => "nothing was cleaned, so the remaining time is unknown".to_owned(),
        rate => {
            let left = Duration::from_secs_f64(outcome.left.0 as f64 / rate as f64);
            format!("about {} more at {}/s", time(left), bytes(rate))
        }
    };
    format!(
        "not taken down within {}: {} are dirty; {more}. {} stays in place and keeps cleaning; repeat this command",
        time(within),
        bytes(outcome.left.0),
        system.name()
    )
}

/// Steps as lines for a shell, and what stands against the devices.
pub(super) fn plan(parts: &[(&str, Vec<CacheStep>)], against: Option<&str>) -> String {
    let mut lines = Vec::new();
    for (heading, steps) in parts {
        if !heading.is_empty() {
            lines.push(format!("# {heading}"));
        }
        lines.extend(steps.iter().map(CacheStep::to_string));
    }
    lines.extend(against.into_iter().flat_map(str::lines).map(|line| format!("# currently: {line}")));
    lines.join("\n")
}
