//! Interventions: what is changed of a point while its load runs, and what came of each visit. Plain data; may not know how a limit is set.

use crate::replication::ReplicationMode;
use crate::settings::Settings;
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

/// What changing a resource does to a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceClass {
    /// Every operation takes longer, also when nothing is full.
    Speed,
    /// A rate that may not be exceeded; what does not reach it does not feel it.
    Capacity,
    /// A number of things, which has no unit of time.
    Structure,
    /// Work that is switched off for a visit: what that gives is the most that can be had of it, and no step.
    Bound,
}

impl ResourceClass {
    /// The word in reports and machine-readable output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Capacity => "capacity",
            Self::Structure => "structure",
            Self::Bound => "bound",
        }
    }

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
    /// How long a change takes to act.
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

/// What a visit takes beside, at most: to put its change in force, and the rest of the second that runs.
const BESIDE: Duration = Duration::from_millis(1500);

/// Blocks before the first that has a visit of all resources but one.
const BLOCKS_BEFORE_JOINT: u32 = 3;

/// Resources whose value the study sets and which can be changed while the load runs, in the order of reports.
pub const LIVE_LIMITS: &[(&str, ResourceClass)] = &[
    ("limits.cpu", ResourceClass::Capacity),
    ("limits.cores", ResourceClass::Speed),
    (THREAD_CPU, ResourceClass::Capacity),
    ("limits.memory", ResourceClass::Structure),
    ("limits.read_iops", ResourceClass::Capacity),
    ("limits.write_iops", ResourceClass::Capacity),
    ("limits.read_bandwidth", ResourceClass::Capacity),
    ("limits.write_bandwidth", ResourceClass::Capacity),
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
        if is_set(path) || (*path == "limits.memory" && is_set("limits.memory_per_data")) {
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
    let has_standbys = settings.text("replication.mode").is_ok_and(|mode| mode != ReplicationMode::None.word());
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
    let elsewhere = ["agents.host", "agents.load", "agents.load_hosts"].into_iter().any(is_given);
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

/// Whether a resource is a quota of CPU time, which stops what has used it up until the next period.
pub fn is_quota(resource: &str) -> bool {
    ["limits.cpu", CLIENTS_CPU, THREAD_CPU].contains(&resource)
}

/// What is in force of a resource while it is changed by a step: less of it. One row in use becomes two: there is no less.
pub fn changed(resource: &str, untouched: f64, step: f64) -> f64 {
    match resource {
        HOT_ROWS if untouched <= 1.0 => 2.0,
        _ if LIVE_ENGINE.contains(&(resource, ResourceClass::Bound)) => 0.0,
        _ if is_counted(resource) => f64::from(lowered_users(untouched as u32, step)),
        _ => untouched * (1.0 - step),
    }
}

/// Longest time that a change of a resource of a point takes to act.
pub fn settles_at_most(resource: &str, settings: &Settings) -> Duration {
    let asked = |path: &str| settings.duration(path).unwrap_or_default();
    match resource {
        "limits.memory" => MEMORY_SETTLES,
        "engine.cache" => Duration::from_secs(6),
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

    /// Time that all blocks take if nothing is dropped and every visit is as long as can be drawn: for each resource of a point a visit, two
    /// of the untouched point, and from the fourth block on one of all resources but one. Each change acts, and is undone in the next visit.
    pub fn longest(&self, plans: &[ResourcePlan], settings: &Settings) -> Duration {
        let visit = SETTLES + BESIDE + Duration::from_secs(u64::from(self.visit_s) + u64::from(self.visit_s / 2));
        let more = |plan: &ResourcePlan| settles_at_most(&plan.name, settings).saturating_sub(SETTLES);
        let visits = u32::try_from(plans.len()).unwrap_or(u32::MAX).saturating_add(2);
        let block = visit * visits + 2 * plans.iter().map(more).sum::<Duration>();
        let time_like: Vec<Duration> = plans.iter().filter(|plan| plan.class.is_time_like()).map(more).collect();
        let joint =
            time_like.iter().max().filter(|_| time_like.len() > 1).map_or(Duration::ZERO, |more| visit + 2 * *more);
        block * self.blocks + joint * self.blocks.saturating_sub(BLOCKS_BEFORE_JOINT)
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
    /// Every resource with the unit of a time or a rate but this one.
    AllBut(String),
}

impl Change {
    /// Whether it lowers a resource.
    pub fn lowers(&self, resource: &str, class: ResourceClass) -> bool {
        match self {
            Self::Nothing => false,
            Self::One(name) => name == resource,
            Self::AllBut(name) => class.is_time_like() && name != resource,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("reference"),
            Self::One(name) => f.write_str(name),
            Self::AllBut(name) => write!(f, "all but {name}"),
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
    /// What was in force, as read back; `None` where it could not be read.
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
mod tests {
    use super::*;

    #[test]
    fn things_are_whole_and_one_row_becomes_two() {
        assert_eq!((changed(HOT_ROWS, 1.0, 0.2), changed(HOT_ROWS, 4.0, 0.2)), (2.0, 3.0));
        assert_eq!((changed(POOL, 2.0, 0.2), changed(POOL, 10.0, 0.3), changed(USERS, 8.0, 0.25)), (1.0, 7.0, 6.0));
        assert!((changed(HOLD, 250.0, 0.2) - 200.0).abs() < 1e-9);
    }

    #[test]
    fn settings_of_the_load_are_resources_where_the_study_sets_them() {
        let load = PointLoad { users: 8, is_embedded: false };
        let planned = |lines: &[(&str, crate::settings::Value)]| {
            let mut settings = Settings::default();
            settings.0.extend(lines.iter().map(|(path, value)| ((*path).to_owned(), value.clone())));
            resources(&settings, load)
        };
        let (none, _) = planned(&[]);
        assert!(none.iter().all(|plan| !plan.name.starts_with("workload.")));
        let (found, not_tried) =
            planned(&[(HOT_ROWS, crate::settings::Value::Integer(1)), (POOL, crate::settings::Value::Integer(1))]);
        let names: Vec<&str> =
            found.iter().map(|plan| plan.name.as_str()).filter(|name| name.starts_with("workload.")).collect();
        assert_eq!((names, not_tried.contains_key(POOL)), (vec![HOT_ROWS], true));
    }

    #[test]
    fn commits_without_a_flush_are_tried_alone_only() {
        let load = PointLoad { users: 1, is_embedded: false };
        let mut settings = Settings::default();
        settings.0.insert("confirm.engine".to_owned(), crate::settings::Value::List(vec!["durability".to_owned()]));
        let (found, _) = resources(&settings, load);
        assert!(found.iter().any(|plan| plan.name == DURABILITY && plan.class == ResourceClass::Bound));
        settings.0.insert("replication.mode".to_owned(), crate::settings::Value::Text("remote_flush".to_owned()));
        let (found, not_tried) = resources(&settings, load);
        assert!(found.iter().all(|plan| plan.name != DURABILITY));
        assert_eq!(not_tried[DURABILITY], WITH_STANDBYS);
    }

    #[test]
    fn flushes_are_a_resource_where_the_study_delays_them() {
        let load = PointLoad { users: 1, is_embedded: true };
        let mut settings = Settings::default();
        let (none, not_tried) = resources(&settings, load);
        assert!(none.iter().all(|plan| plan.name != FLUSH_DELAY));
        assert_eq!(not_tried[FLUSH_DELAY], NO_DELAY);
        settings.0.insert(FLUSH_DELAY.to_owned(), crate::settings::Value::Duration(Duration::from_millis(5)));
        let (found, not_tried) = resources(&settings, load);
        assert!(found.iter().any(|plan| plan.name == FLUSH_DELAY && plan.class == ResourceClass::Speed));
        assert!(!not_tried.contains_key(FLUSH_DELAY));
    }

    #[test]
    fn the_longest_time_holds_for_every_length_that_can_be_drawn_and_for_slow_changes() {
        let asked = ConfirmAsked { step: 0.2, blocks: 4, visit_s: 6 };
        let plan = |name: &str, class| ResourcePlan { name: name.to_owned(), class };
        let (cpu, reads) =
            (plan("limits.cpu", ResourceClass::Capacity), plan("limits.read_iops", ResourceClass::Capacity));
        let memory = plan("limits.memory", ResourceClass::Structure);
        let seconds = |plans: &[ResourcePlan]| asked.longest(plans, &Settings::default()).as_secs();
        // Visits of 9 s after 3 s: three in each block; four, and a joint one in the fourth block.
        assert_eq!(seconds(std::slice::from_ref(&cpu)), 4 * 3 * 12);
        assert_eq!(seconds(&[cpu.clone(), reads]), 4 * 4 * 12 + 12);
        // Memory is waited for when it is lowered and when it is put back, 30 s each; it is in no joint visit.
        assert_eq!(seconds(&[cpu, memory]), 4 * (4 * 12 + 57));
    }

    #[test]
    fn the_joint_visit_leaves_numbers_of_things_alone() {
        let all_but = Change::AllBut("limits.cpu".to_owned());
        assert!(all_but.lowers("limits.read_iops", ResourceClass::Capacity));
        assert!(!all_but.lowers("limits.cpu", ResourceClass::Capacity));
        assert!(!all_but.lowers(USERS, ResourceClass::Structure));
        assert!(Change::One(USERS.to_owned()).lowers(USERS, ResourceClass::Structure));
        assert!(!Change::Nothing.lowers("limits.cpu", ResourceClass::Capacity));
    }
}
