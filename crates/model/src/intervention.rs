//! Interventions: what is changed of a point while its load runs, and what came of each visit. Plain data; may not know how a limit is set.

use crate::engines::named_engine;
use crate::replication::ReplicationMode;
use crate::settings::{Settings, setting};
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Name of the resource that is the number of users of the load.
pub const USERS: &str = "users";

/// Name of the resource that is the CPU time of the load generator.
pub const CLIENTS_CPU: &str = "clients.cpu";

/// Name of the resource that is the round trip between users and database, counted in round trips per second.
pub const CLIENTS_RTT: &str = "clients.rtt";

/// Name of the resource that is the bandwidth between users and database.
pub const CLIENTS_BANDWIDTH: &str = "clients.bandwidth";

/// Name of the resource that is the CPU time of the threads of one role of the database.
pub const THREAD_CPU: &str = "limits.thread_cpu";

/// Name of the resource that is the number of records that operations of the load use.
pub const HOT_ROWS: &str = "workload.hot_rows";

/// Name of the resource that is the number of connections that users share.
pub const POOL: &str = "workload.pool";

/// Name of the resource that is the time for which transactions are held before they commit, counted as times per second.
pub const HOLD: &str = "workload.hold";

/// Name of the resource that is the delay of every flush of a tier, counted as flushes per second.
pub const FLUSH_DELAY: &str = "storage.flush_delay";

/// Name of the resource that is the flush of each commit, off for a visit.
pub const DURABILITY: &str = "engine.durability";

/// Name of the resource that is the writing of changed pages in the background, off for a visit.
pub const PAGE_FLUSHING: &str = "engine.page_flushing";

words! {
    /// What changing a resource does to a system.
    ResourceClass {
        /// Every operation takes longer, also when nothing is full.
        Speed = "speed",
        /// A rate that may not be exceeded; what does not reach it does not feel it.
        Capacity = "capacity",
        /// A number of things, which has no unit of time.
        Structure = "structure",
        /// Work that is switched off for a visit: what that gives is the most that can be had of it, and no step.
        Bound = "bound",
    }
}

impl ResourceClass {
    /// Whether it has the unit of a time or a rate: the elasticities of all such resources add up to 1.
    pub const fn is_time_like(self) -> bool {
        matches!(self, Self::Speed | Self::Capacity)
    }
}

/// A limit as it is in force, with what was used of it since it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitMeter {
    /// Path of the setting, such as `limits.cpu`.
    pub setting: String,
    /// What changing it does.
    pub class: ResourceClass,
    /// How long a change takes to act; of memory how long it takes until all of it is filled, since the size of the step decides
    /// ([`memory_settles`]).
    pub settles: Duration,
    /// What the study asks for: per second, or the number or size of a thing.
    pub asked: f64,
    /// What is in force, in the same unit: the smallest of all devices. `None`: no limit.
    pub in_force: Option<f64>,
    /// Used since it was made, on each device; once, where the limit is not of devices. Empty where it is not counted.
    pub used: Vec<f64>,
}

/// Time that a change is given to act before a visit counts: more than most limits of ours take, and users to end what they began.
pub const SETTLES: Duration = Duration::from_millis(1500);

/// Longest time that memory is given to be filled again.
pub const MEMORY_SETTLES: Duration = Duration::from_secs(30);

/// Shortest time that memory is given to be filled again.
const MEMORY_SETTLES_LEAST: Duration = Duration::from_secs(3);

/// Time that a change of memory by a step takes to act, of which all takes this long to be filled.
pub fn memory_settles(all: Duration, step: f64) -> Duration {
    all.mul_f64(step).clamp(MEMORY_SETTLES_LEAST, MEMORY_SETTLES)
}

/// Longest time that a cache of the database is given to be filled again.
const CACHE_SETTLES: Duration = Duration::from_secs(6);

/// Longest time that background work which was switched is waited for: a worker ends its table, and what was put off is done.
pub const WORK_ENDS: Duration = Duration::from_secs(20);

/// Longest time in which what background work left undone in a block is done after it.
const CAUGHT_UP: Duration = Duration::from_secs(20);

/// What a visit takes beside, at most: to put its change in force, and the rest of the second that runs.
const BESIDE: Duration = Duration::from_millis(1500);

/// Blocks before the first that has a visit of all resources but one.
const BLOCKS_BEFORE_JOINT: u32 = 3;

/// Time in which cores that are slowed are occupied once: short beside what a user notices, long beside a switch of threads. Source: ours.
pub const CORE_PERIOD: Duration = Duration::from_millis(10);

/// Blocks that have a visit in which a limit that is confirmed is raised, at least: the last ones.
pub const RAISED_BLOCKS: u32 = 3;

/// Blocks before all that is visited can be decided, after which a raise is visited until it is.
const BLOCKS_BEFORE_SURE: u32 = 6;

/// Blocks before a limit can be confirmed.
const BLOCKS_BEFORE_RAISE: u32 = 2;

/// Resources whose value the study sets and which can be changed while the load runs, in the order of reports.
pub const LIVE_LIMITS: &[(&str, ResourceClass)] = &[
    (setting::LIMITS_CPU, ResourceClass::Capacity),
    (setting::LIMITS_CORES, ResourceClass::Speed),
    (THREAD_CPU, ResourceClass::Capacity),
    (setting::LIMITS_MEMORY, ResourceClass::Structure),
    (setting::LIMITS_READ_IOPS, ResourceClass::Capacity),
    (setting::LIMITS_WRITE_IOPS, ResourceClass::Capacity),
    (setting::LIMITS_READ_BANDWIDTH, ResourceClass::Capacity),
    (setting::LIMITS_WRITE_BANDWIDTH, ResourceClass::Capacity),
    (CLIENTS_RTT, ResourceClass::Speed),
    (CLIENTS_BANDWIDTH, ResourceClass::Capacity),
    (FLUSH_DELAY, ResourceClass::Speed),
];

/// Settings of the load that can be changed while it runs, where a study sets them.
pub const LIVE_LOAD: &[(&str, ResourceClass)] =
    &[(HOLD, ResourceClass::Speed), (HOT_ROWS, ResourceClass::Structure), (POOL, ResourceClass::Structure)];

/// What experiments change of a running database, where a study asks for it by `confirm.engine`: a size, or background work or the flush of
/// commits that is off for a visit.
pub const LIVE_ENGINE: &[(&str, ResourceClass)] = &[
    ("engine.cache", ResourceClass::Structure),
    ("engine.autovacuum", ResourceClass::Bound),
    ("engine.checkpoints", ResourceClass::Bound),
    (PAGE_FLUSHING, ResourceClass::Bound),
    (DURABILITY, ResourceClass::Bound),
];

/// Why commits are not made without their flush beside standbys.
const WITH_STANDBYS: &str = "what a commit waits for is the mode of replication (replication.mode)";

/// Why the latency of commits is not changed where nothing of ours delays it.
const NO_DELAY: &str = "the study delays no flushes (storage.flush_delay)";

/// Beginning of the names of resources that are of the database itself.
pub const ENGINE: &str = "engine.";

/// Resources of the database itself that a study asks for.
pub fn engine_asked(settings: &Settings) -> Vec<String> {
    settings.list("confirm.engine").iter().map(|word| format!("{ENGINE}{word}")).collect()
}

/// What is never changed, with the reason.
const NEVER_CHANGED: &[(&str, &str)] =
    &[("locks of the database", "they have no limit that can be lowered from outside")];

/// What decides, beside the settings of a point, what can be changed of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointLoad {
    /// Users of the load.
    pub users: u32,
    /// Whether the database runs in the process of the load generator.
    pub is_embedded: bool,
}

/// The resources of a point that can be changed, and what cannot with the reason.
pub fn resources(settings: &Settings, load: PointLoad) -> (Vec<ResourcePlan>, BTreeMap<String, String>) {
    let is_set = |path: &str| settings.get(path).is_some();
    let plan = |name: &str, class| ResourcePlan { name: name.to_owned(), class };
    let (mut planned, mut not_tried) = (Vec::new(), BTreeMap::new());
    let mut leave_out = |name: &str, why: &str| not_tried.insert(name.to_owned(), why.to_owned());
    for (path, class) in LIVE_LIMITS {
        // Memory may be asked for as a share of the data.
        if is_set(path) || (*path == setting::LIMITS_MEMORY && is_set(setting::LIMITS_MEMORY_PER_DATA)) {
            planned.push(plan(path, *class));
        } else {
            leave_out(path, if *path == FLUSH_DELAY { NO_DELAY } else { "the study sets no such limit" });
        }
    }
    for (path, class) in LIVE_LOAD.iter().filter(|(path, _)| is_set(path)) {
        match settings.count(path) {
            Ok(1) if *path == POOL => drop(leave_out(path, "there is only one connection")),
            _ => planned.push(plan(path, *class)),
        }
    }
    let asked = engine_asked(settings);
    let has_standbys = settings.text(setting::REPLICATION_MODE).is_ok_and(|mode| mode != ReplicationMode::None.word());
    for (name, class) in LIVE_ENGINE.iter().filter(|(name, _)| asked.iter().any(|one| one == name)) {
        if *name == DURABILITY && has_standbys {
            leave_out(name, WITH_STANDBYS);
        } else {
            planned.push(plan(name, *class));
        }
    }
    match clients_elsewhere(settings) {
        _ if load.is_embedded => {
            drop(leave_out(
                CLIENTS_CPU,
                "the database runs in the process of the load generator: limits.cpu holds for both",
            ));
        }
        Some(why) => drop(leave_out(CLIENTS_CPU, why)),
        None => planned.push(plan(CLIENTS_CPU, ResourceClass::Capacity)),
    }
    if load.users >= 2 {
        planned.push(plan(USERS, ResourceClass::Structure));
    } else {
        leave_out(USERS, "there is only one");
    }
    NEVER_CHANGED.iter().for_each(|(name, why)| drop(leave_out(name, why)));
    (planned, not_tried)
}

/// Why the load generator is not a process of this machine whose CPU time could be limited; `None` where it is.
pub fn clients_elsewhere(settings: &Settings) -> Option<&'static str> {
    let is_given = |path: &str| !settings.list(path).is_empty();
    let elsewhere = [setting::AGENTS_HOST, setting::AGENTS_LOAD, "agents.load_hosts"].into_iter().any(is_given);
    elsewhere.then_some("agents are started by commands of the study, maybe on other hosts")
}

/// Users that are left when some are lowered by a step: at least one less, at least one.
pub fn lowered_users(users: u32, step: f64) -> u32 {
    let left = (f64::from(users) * (1.0 - step)).round() as u32;
    left.clamp(1, users.saturating_sub(1).max(1))
}

/// Whether a resource is a number of things, of which there are whole ones only.
pub fn is_counted(resource: &str) -> bool {
    [USERS, POOL, HOT_ROWS].contains(&resource)
}

/// Whether two names are the same resource seen from two sides: a quota of CPU time that is full stands for the speed of the cores. Both are
/// shares of the time of the cores, so that lowering both acts as lowering one.
pub fn are_one(one: &str, other: &str) -> bool {
    const SIDES: [&str; 2] = [setting::LIMITS_CPU, setting::LIMITS_CORES];
    one != other && SIDES.contains(&one) && SIDES.contains(&other)
}

/// Whether a resource is a quota of CPU time, which stops what has used it up until the next period.
pub fn is_quota(resource: &str) -> bool {
    [setting::LIMITS_CPU, CLIENTS_CPU, THREAD_CPU].contains(&resource)
}

/// What is in force of a resource while it is changed by a step: less of it. One row in use becomes two: there is no less.
pub fn changed(resource: &str, untouched: f64, step: f64) -> f64 {
    match resource {
        HOT_ROWS if untouched <= 1.0 => 2.0,
        _ if LIVE_ENGINE.contains(&(resource, ResourceClass::Bound)) => 0.0,
        _ if is_counted(resource) => f64::from(lowered_users(untouched.round() as u32, step)),
        _ => as_limited(resource, untouched * (1.0 - step)),
    }
}

/// A rate of a resource as its limit takes it: devices are limited to whole requests and bytes per second, at least one.
pub fn as_limited(resource: &str, rate: f64) -> f64 {
    let of_devices = [
        setting::LIMITS_READ_IOPS,
        setting::LIMITS_WRITE_IOPS,
        setting::LIMITS_READ_BANDWIDTH,
        setting::LIMITS_WRITE_BANDWIDTH,
    ];
    if of_devices.contains(&resource) { rate.round().max(1.0) } else { rate }
}

/// What is in force of a resource while it is raised by a step.
pub fn raised(untouched: f64, step: f64) -> f64 {
    untouched * (1.0 + step)
}

/// Whether changing a resource changes the data that the load works on: users that each have a warehouse, and records in use.
pub fn moves_data(resource: &str, settings: &Settings) -> bool {
    match resource {
        USERS => {
            settings.get(setting::WORKLOAD_WAREHOUSES).is_some()
                && settings.boolean(setting::WORKLOAD_ALL_WAREHOUSES) != Ok(true)
        }
        HOT_ROWS => true,
        _ => false,
    }
}

/// Longest time that other data take to fill what limits how much of them is in memory; zero where nothing does.
fn refills_at_most(settings: &Settings) -> Duration {
    let caches = settings.text(setting::ENGINE_KIND).ok().and_then(named_engine).map(|known| known.cache.as_slice());
    let is_cache = |path: &String| {
        let name = path.strip_prefix("engine.settings.").and_then(|name| name.rsplit('.').next());
        name.is_some_and(|name| caches.unwrap_or_default().iter().any(|cache| cache == name))
    };
    if settings.get(setting::LIMITS_MEMORY).is_some() || settings.get(setting::LIMITS_MEMORY_PER_DATA).is_some() {
        MEMORY_SETTLES
    } else if settings.0.keys().any(is_cache) {
        CACHE_SETTLES
    } else {
        Duration::ZERO
    }
}

/// Longest time that a change of a resource of a point takes to act.
pub fn settles_at_most(resource: &str, settings: &Settings) -> Duration {
    let refills = if moves_data(resource, settings) { refills_at_most(settings) } else { Duration::ZERO };
    acts_at_most(resource, settings).max(refills)
}

/// The same without the time that other data take to fill memory.
fn acts_at_most(resource: &str, settings: &Settings) -> Duration {
    let asked = |path: &str| settings.duration(path).unwrap_or_default();
    match resource {
        setting::LIMITS_MEMORY => MEMORY_SETTLES,
        "engine.cache" => CACHE_SETTLES,
        "engine.autovacuum" | "engine.checkpoints" | PAGE_FLUSHING => WORK_ENDS + Duration::from_secs(4),
        of_engine if of_engine.starts_with(ENGINE) => Duration::from_secs(4),
        CLIENTS_RTT | CLIENTS_BANDWIDTH => SETTLES + asked(CLIENTS_RTT),
        FLUSH_DELAY => SETTLES + asked(FLUSH_DELAY),
        HOLD | HOT_ROWS | POOL => SETTLES + asked(HOLD),
        _ => SETTLES,
    }
}

/// What is asked of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfirmAsked {
    /// Share by which a resource is lowered.
    pub step: f64,
    /// Blocks at most.
    pub blocks: u32,
    /// Seconds of a visit that count, at least: drawn up to half as many again, so that visits keep no time with what the database does
    /// at intervals.
    pub visit_s: u32,
}

impl ConfirmAsked {
    /// Smallest and largest step.
    pub const STEPS: (f64, f64) = (0.05, 0.5);
    /// What is asked where nothing is said.
    pub const USUAL: Self = Self { step: 0.2, blocks: 12, visit_s: 6 };

    /// Longest visit that is made because operations take long.
    pub const LONGEST_VISIT: Duration = Duration::from_secs(300);
    /// Mean response times that a visit lasts at least, so that what began before it and what ends after it is little of it. Source: ours.
    const RESPONSES: f64 = 20.0;
    /// Share of a visit that is let pass before it counts, at least: two mean response times of the shortest.
    const SETTLING: f64 = 2.0 / Self::RESPONSES;

    /// What is asked with visits long enough for operations of this mean response time.
    ///
    /// # Errors
    /// The seconds that a visit would take, where they are more than [`Self::LONGEST_VISIT`].
    pub fn with_response(self, mean: Duration) -> Result<Self, u64> {
        let needed = (Self::RESPONSES * mean.as_secs_f64()).ceil() as u64;
        if needed > Self::LONGEST_VISIT.as_secs() {
            return Err(needed);
        }
        Ok(Self { visit_s: self.visit_s.max(u32::try_from(needed).unwrap_or(u32::MAX)), ..self })
    }

    /// Time that passes before a visit counts, at least: users end what they began.
    pub fn settles(&self) -> Duration {
        SETTLES.max(Duration::from_secs_f64(f64::from(self.visit_s) * Self::SETTLING))
    }

    /// What a study asks for.
    pub fn of(settings: &Settings) -> Self {
        Self {
            step: settings.number("confirm.step").unwrap_or(Self::USUAL.step),
            blocks: settings.count("confirm.blocks").unwrap_or(Self::USUAL.blocks),
            visit_s: settings
                .duration("confirm.visit")
                .map_or(Self::USUAL.visit_s, |visit| visit.as_secs().max(1) as u32),
        }
    }

    /// Time that all blocks take if nothing is dropped and every visit is as long as can be drawn: for each resource of a point a visit,
    /// two of the untouched point, from the fourth block on one of all resources but one, and in the last blocks, which are those after the
    /// sixth or the last three, one of a limit that is raised. Each change acts, and is undone in the next visit.
    pub fn longest(&self, plans: &[ResourcePlan], settings: &Settings) -> Duration {
        let settles = self.settles();
        let visit = settles + BESIDE + Duration::from_secs(u64::from(self.visit_s) + u64::from(self.visit_s / 2));
        let more = |plan: &ResourcePlan| settles_at_most(&plan.name, settings).saturating_sub(settles);
        let visits = u32::try_from(plans.len()).unwrap_or(u32::MAX).saturating_add(2);
        let is_work = |plan: &&ResourcePlan| plan.class == ResourceClass::Bound && plan.name != DURABILITY;
        let after = CAUGHT_UP * u32::try_from(plans.iter().filter(is_work).count()).unwrap_or(u32::MAX);
        let block = visit * visits + 2 * plans.iter().map(more).sum::<Duration>() + after;
        let time_like: Vec<Duration> = plans.iter().filter(|plan| plan.class.is_time_like()).map(more).collect();
        let joint =
            time_like.iter().max().filter(|_| time_like.len() > 1).map_or(Duration::ZERO, |more| visit + 2 * *more);
        let raisable = plans.iter().filter(|plan| plan.can_be_raised()).map(more).max();
        let raise = raisable.map_or(Duration::ZERO, |more| visit + 2 * more);
        let raises = RAISED_BLOCKS
            .min(self.blocks.saturating_sub(BLOCKS_BEFORE_RAISE))
            .max(self.blocks.saturating_sub(BLOCKS_BEFORE_SURE));
        block * self.blocks + joint * self.blocks.saturating_sub(BLOCKS_BEFORE_JOINT) + raise * raises
    }
}

/// What a visit changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Nothing: the untouched point.
    Nothing,
    /// One resource.
    One(String),
    /// Every resource with the unit of a time or a rate but this one, and but what is the same resource seen from another side.
    AllBut(String),
    /// More of one resource by the step by which others are lowered.
    Raised(String),
}

impl Change {
    /// Whether it lowers a resource.
    pub fn lowers(&self, resource: &str, class: ResourceClass) -> bool {
        match self {
            Self::Nothing | Self::Raised(_) => false,
            Self::One(name) => name == resource,
            Self::AllBut(name) => class.is_time_like() && name != resource && !are_one(name, resource),
        }
    }

    /// Tells whether it raises a resource.
    pub fn raises(&self, resource: &str) -> bool {
        matches!(self, Self::Raised(name) if name == resource)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("reference"),
            Self::One(name) => f.write_str(name),
            Self::AllBut(name) => write!(f, "all but {name}"),
            Self::Raised(name) => write!(f, "more of {name}"),
        }
    }
}

/// A resource of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourcePlan {
    /// Path of its setting, or [`USERS`].
    pub name: String,
    /// What changing it does.
    pub class: ResourceClass,
}

impl ResourcePlan {
    /// Tells whether there can be more of it than the point has, as far as the host has it: of limits, never of users or other things.
    pub fn can_be_raised(&self) -> bool {
        self.class == ResourceClass::Capacity || self.name == setting::LIMITS_MEMORY
    }
}

/// The begin of an experiment: what is asked, and what can be changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What is asked.
    pub asked: ConfirmAsked,
    /// Seed of the orders of visits.
    pub seed: u64,
    /// Resources that are changed.
    pub resources: Vec<ResourcePlan>,
    /// What is not changed, with the reason.
    pub not_tried: BTreeMap<String, String>,
}

/// A resource in a visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceReading {
    /// Its name.
    pub name: String,
    /// What was in force, as read back: of users, those that began an operation in the visit. `None` where it could not be read.
    pub in_force: Option<f64>,
    /// Mean use per second of the part that used most; `None` where it is not counted.
    pub used: Option<f64>,
}

/// One visit: what was changed, when it counts, and what was read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InterventionVisit {
    /// Number of the block, from 0 on over all attempts at the point.
    pub block: u32,
    /// What was changed.
    pub change: Change,
    /// First second of the load that counts.
    pub from: u64,
    /// Second after the last one that counts.
    pub to: u64,
    /// How long the change took, ms.
    pub switched_ms: f64,
    /// Each resource.
    pub readings: Vec<ResourceReading>,
}

impl InterventionVisit {
    /// The reading of a resource.
    pub fn reading(&self, resource: &str) -> Option<&ResourceReading> {
        self.readings.iter().find(|reading| reading.name == resource)
    }
}

#[cfg(test)]
mod tests;
