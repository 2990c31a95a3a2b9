//! What a cache tier under the data needs of the rest of a study.

use super::contradictions::RuleContext;
use super::factor::values_of;
use crate::plan::expand;
use crate::settings::{Settings, Value};
use crate::tier::{TIER, TierVolume, tier_plan};
use crate::units::Bytes;
use std::collections::BTreeSet;

/// Settings that only a tier has.
const BELOW: [&str; 2] = ["storage.slow.", "storage.cache."];

/// The fewest lines that a cache can have.
const LEAST_LINES: u64 = 8;

/// Settings of a tier need one, and a tier needs an engine that runs on it.
pub(super) fn tier_needs(look: &mut RuleContext<'_>) {
    let varied = look.study.factors.iter().flat_map(|factor| factor.paths());
    let given: BTreeSet<String> = look.given.paths().map(str::to_owned).chain(varied).collect();
    let ours = given.iter().filter(|path| BELOW.iter().any(|before| path.starts_with(before)));
    if look.study.settings.text("storage.kind") != Ok(TIER) {
        ours.for_each(|path| look.fault(path, "only used with storage.kind = \"tier\"".to_owned()));
        return;
    }
    for engine in look.engines().iter().filter(|engine| !engine.capabilities.tier_in_process) {
        let reason = format!(
            "{} does not run on a tier: only an engine in our own process reads and writes through one",
            engine.name
        );
        look.fault("storage.kind", reason);
    }
    for other in ["storage.volume", "storage.purge.device", "storage.precondition.device", "storage.precondition.size"]
    {
        if given.contains(other) {
            look.fault(other, "the data of a tier lie on a modelled medium; leave it out".to_owned());
        }
    }
    let has = |path: &str| !values_of(path, &look.study.settings, &look.study.factors).is_empty();
    if has("storage.cache.size") && has("storage.cache.percent") {
        let reason = "storage.cache.size gives the same in bytes; leave one of the two out".to_owned();
        look.fault("storage.cache.percent", reason);
    }
    for (path, reason) in point_faults(look) {
        look.fault(path, reason);
    }
}

/// What is wrong with the cache of some point; each reason once.
fn point_faults(look: &RuleContext<'_>) -> BTreeSet<(&'static str, String)> {
    let points = expand(look.study).points;
    points.iter().flat_map(|point| faults_of(&look.study.settings.with(&point.levels))).collect()
}

fn faults_of(settings: &Settings) -> Vec<(&'static str, String)> {
    const VOLUMES: &str = "storage.cache.accelerate";
    let mut faults = Vec::new();
    let volumes = settings.list(VOLUMES);
    for (place, volume) in volumes.iter().enumerate() {
        if TierVolume::of(volume).is_none() {
            faults.push((
                VOLUMES,
                format!("there is no volume {volume:?}; there are {}", TierVolume::WORDS.join(" and ")),
            ));
        } else if volumes[..place].contains(volume) {
            faults.push((VOLUMES, format!("{volume} stands twice")));
        }
    }
    if matches!(settings.get(VOLUMES), Some(Value::List(none)) if none.is_empty()) {
        faults.push((VOLUMES, "names no volume; for no cache say storage.cache.size = \"0B\"".to_owned()));
    }
    let line = settings.bytes("storage.cache.line").unwrap_or(Bytes(8192));
    if !line.0.is_power_of_two() || !(4096..=65_536).contains(&line.0) {
        faults.push(("storage.cache.line", format!("{line} is not one of 4KiB, 8KiB, 16KiB, 32KiB and 64KiB")));
    }
    if let (Ok(Some(plan)), Ok(size)) = (tier_plan(settings), settings.bytes("storage.cache.size"))
        && !plan.cache.size.is_nothing()
        && size.0 / plan.cache.line.0.max(1) < LEAST_LINES
    {
        faults.push(("storage.cache.size", format!("{size} are fewer than {LEAST_LINES} lines of {line}")));
    }
    faults
}
