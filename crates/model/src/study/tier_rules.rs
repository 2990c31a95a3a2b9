//! What a cache tier under the data needs of the rest of a study.

use super::contradictions::RuleContext;
use super::factor::values_of;
use crate::catalogue::Capabilities;
use crate::intervention::FLUSH_DELAY;
use crate::letters::is_steering;
use crate::plan::expand;
use crate::settings::{Settings, Value, setting};
use crate::tier::{DriveModel, QUOTAS, TIER, TierPlan, TierVolume, tier_plan};
use crate::tier_cleaning::{CachePart, CleaningPlan, DirtyMark};
use crate::tier_warming::{WARM, WARM_WITHIN};
use crate::units::Bytes;
use std::collections::BTreeSet;

/// Settings that only a tier has.
const BELOW: [&str; 3] = ["storage.slow.", "storage.cache.", FLUSH_DELAY];

/// Settings that only modelled drives have.
const OF_MODEL: [&str; 5] = [
    "storage.slow.raid",
    "storage.slow.drives",
    "storage.slow.write_cache",
    "storage.slow.stroke",
    "storage.slow.scheduling",
];

/// The fewest lines that a cache can have.
const LEAST_LINES: u64 = 8;

/// Settings of a tier need one, and a tier needs an engine that runs on it.
pub(super) fn tier_needs(look: &mut RuleContext<'_>) {
    let varied = look.study.factors.iter().flat_map(|factor| factor.paths());
    let given: BTreeSet<String> = look.given.paths().map(str::to_owned).chain(varied).collect();
    let ours = given.iter().filter(|path| BELOW.iter().any(|before| path.starts_with(before)));
    if look.study.settings.text("storage.kind") != Ok(TIER) {
        ours.for_each(|path| {
            look.fault(path, "only used with storage.kind = \"tier\"; set that, or remove it".to_owned())
        });
        return;
    }
    for engine in look.engines() {
        of_engine(look, engine.name, &engine.capabilities, &given);
    }
    for other in ["storage.purge.device", setting::STORAGE_PRECONDITION_DEVICE, "storage.precondition.size"] {
        if given.contains(other) {
            look.fault(
                other,
                "cannot be combined with a tier, whose data are on a modelled medium; remove it".to_owned(),
            );
        }
    }
    let has = |path: &str| !values_of(path, &look.study.settings, &look.study.factors).is_empty();
    if has("storage.cache.size") && has("storage.cache.percent") {
        let reason = "storage.cache.size gives the same in bytes; remove one of the two".to_owned();
        look.fault("storage.cache.percent", reason);
    }
    if has(WARM_WITHIN) && !has(WARM) {
        look.fault(WARM_WITHIN, format!("only used with {WARM}; set that, or remove it"));
    }
    for (path, reason) in point_faults(look) {
        look.fault(path, reason);
    }
}

/// What an engine on a tier needs beside it.
fn of_engine(look: &mut RuleContext<'_>, name: &str, can: &Capabilities, given: &BTreeSet<String>) {
    if can.tier_in_process {
        if given.contains(setting::STORAGE_VOLUME) {
            look.fault(setting::STORAGE_VOLUME, format!("{name} accesses its tier through files; remove it"));
        }
        if given.contains("storage.cache.path") {
            look.fault(
                "storage.cache.path",
                format!("the cache of {name} is always stored beside its data; remove it"),
            );
        }
        return;
    }
    if !can.tier_as_volumes() || given.contains(setting::ENGINE_URL) {
        let reason = format!(
            "{name} cannot run on a tier: a tier needs an engine in the load agent's process, or a server that \
             Proofload starts"
        );
        look.fault("storage.kind", reason);
        return;
    }
    if !given.contains(setting::STORAGE_VOLUME) {
        let reason = format!("{name} needs storage.volume, the size of the slow volume, such as \"4GiB\"");
        look.fault("storage.kind", reason);
    }
    let modes = values_of(setting::REPLICATION_MODE, &look.study.settings, &look.study.factors);
    if modes.iter().any(|mode| mode.to_string() != "none") || given.contains(setting::DRILL_FAULT) {
        look.fault("storage.kind", "a tier needs a single server, without standbys or drills".to_owned());
    }
    let with_log = |settings: &Settings| settings.list("storage.cache.accelerate").iter().any(|one| one == "log");
    let points = expand(look.study).points;
    if !can.log_folder && points.iter().any(|point| with_log(&look.study.settings.with(&point.levels))) {
        look.fault("storage.cache.accelerate", format!("{name} keeps its log in its data; remove log"));
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
            faults.push((VOLUMES, format!("unknown volume {volume:?}; known: {}", TierVolume::WORDS.join(" and "))));
        } else if volumes[..place].contains(volume) {
            faults.push((VOLUMES, format!("{volume} is listed twice")));
        }
    }
    if matches!(settings.get(VOLUMES), Some(Value::List(none)) if none.is_empty()) {
        faults.push((VOLUMES, "lists no volume; for no cache use storage.cache.size = \"0B\"".to_owned()));
    }
    if settings.text("storage.slow.drive") == Ok(DriveModel::NotModelled.word()) {
        let given = OF_MODEL.into_iter().filter(|path| settings.get(path).is_some());
        faults.extend(given.map(|path| (path, "only used with modelled drives; remove it".to_owned())));
    }
    let line = settings.bytes("storage.cache.line").unwrap_or(Bytes(8192));
    if !line.0.is_power_of_two() || !(4096..=65_536).contains(&line.0) {
        faults.push(("storage.cache.line", format!("{line} must be 4KiB, 8KiB, 16KiB, 32KiB or 64KiB")));
    }
    let plan = tier_plan(settings).ok().flatten();
    // A single drive is one, whatever else is said of others.
    let refusal = plan.iter().filter(|plan| plan.slow.is_modelled());
    let refusal = refusal.filter_map(|plan| plan.slow.raid.refusal(plan.slow.count()));
    faults.extend(refusal.map(|reason| ("storage.slow.drives", reason)));
    let marks = CleaningPlan::of(settings).faults(|mark| mark.setting().to_owned());
    faults.extend(marks.into_iter().map(|(mark, reason)| (key_of(settings, mark), reason)));
    faults.extend(plan.iter().flat_map(quota_faults));
    faults.extend(plan.iter().filter_map(warm_fault).map(|reason| (WARM, reason.to_owned())));
    if let (Some(plan), Ok(size)) = (plan, settings.bytes("storage.cache.size"))
        && !plan.cache.size.is_nothing()
        && size.0 / plan.cache.line.0.max(1) < LEAST_LINES
    {
        faults.push((
            "storage.cache.size",
            format!("{size} is too small: it needs room for at least {LEAST_LINES} lines of {line}"),
        ));
    }
    faults
}

/// The setting that a fault of a mark is told of: the mark, or the next one where only that is given.
fn key_of(settings: &Settings, mark: DirtyMark) -> &'static str {
    let next = DirtyMark::ALL.into_iter().skip_while(|one| *one != mark).nth(1);
    let given =
        [Some(mark), next].into_iter().flatten().map(DirtyMark::setting).find(|path| settings.get(path).is_some());
    given.unwrap_or(mark.setting())
}

/// What is wrong with the list that a cache is filled from.
fn warm_fault(plan: &TierPlan) -> Option<&'static str> {
    let warm = plan.cache.warm.as_ref()?;
    if warm.list.trim().is_empty() {
        return Some("does not name a file");
    }
    if warm.list.chars().any(is_steering) {
        return Some("contains control characters");
    }
    let is_twice = plan.cache.prewarm && plan.cache.warming().is_some();
    is_twice.then_some("procedure.prewarm fills the cache as well; remove one of the two")
}

/// What is wrong with the parts of a cache that its volumes may hold.
fn quota_faults(plan: &TierPlan) -> Vec<(&'static str, String)> {
    let cache = &plan.cache;
    let given: Vec<_> =
        QUOTAS.into_iter().filter(|(volume, _)| cache.quotas.iter().any(|(of, _)| of == volume)).collect();
    if cache.size.is_nothing() {
        return Vec::new();
    }
    if !QUOTAS.iter().all(|(volume, _)| cache.accelerates(*volume)) {
        let reason = "only used where data and log are cached; add both to storage.cache.accelerate, or remove it";
        return given.into_iter().map(|(_, path)| (path, reason.to_owned())).collect();
    }
    let [Some((_, data)), Some((_, log))] = [cache.quotas.first(), cache.quotas.get(1)] else { return Vec::new() };
    if data.parts() + log.parts() <= CachePart::WHOLE.parts() {
        return Vec::new();
    }
    let reason = format!(
        "{log} and the {data} of storage.cache.data_quota are more than the cache; use at most {}",
        data.rest()
    );
    vec![(QUOTAS[1].1, reason)]
}
