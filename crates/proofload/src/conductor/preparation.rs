//! Everything that a run needs of its point: settings, deployment, procedure. Pure.

use proofload_engine::{Engine, place_settings, place_settings_with_room};
use proofload_load::{Calibration, Rating, Workload};
use proofload_model::deployment::{Deployment, InstanceName, InstancePlan, Role, StoragePlan};
use proofload_model::drill::{DrillAsked, drill};
use proofload_model::error::Error;
use proofload_model::intervention::{ConfirmAsked, PointLoad};
use proofload_model::load_share::{LoadHost, LoadShare, load_hosts};
use proofload_model::manager::{ManagerAsked, manager};
use proofload_model::plan::{Plan, Run, mix};
use proofload_model::replication::{ReplicationAsked, ReplicationPart, replication};
use proofload_model::setting_words::RestorePolicy;
use proofload_model::settings::{Settings, setting};
use proofload_model::standby_hosts::{HostFault, standby_hosts};
use proofload_model::study::{
    Procedure, Study, data_place, limits_asked, limits_standby_thread, procedure, purged_devices, standby_cpu,
    thread_limit, values_of, with_memory,
};
use proofload_model::time::WallTime;
use proofload_model::units::Bytes;
use proofload_model::wire::{DataLocation, LimitsAsked, LoadSpec};
use std::time::Duration;

/// Date of every date column at load: 2026-01-01T00:00:00Z. One date for all, so that equal studies give equal bytes.
pub(crate) const LOAD_TIME: WallTime = WallTime(1_767_225_600_000_000);

/// Everything about one run.
pub(crate) struct PreparedRun {
    pub(crate) run: Run,
    pub(crate) settings: Settings,
    pub(crate) deployment: Deployment,
    /// The primary alone: data are built and calibrated without standbys.
    pub(crate) alone: Deployment,
    /// The primary with its standbys on hosts of their own, whose snapshots end at one place; `None` where standbys run beside it.
    pub(crate) apart: Option<Deployment>,
    /// Whether those hosts are one machine.
    pub(crate) is_one_machine: bool,
    /// Replication of the deployment; `None` for an instance alone.
    pub(crate) replication: Option<ReplicationAsked>,
    /// Failover manager that runs the instances; `None`: we do.
    pub(crate) manager: Option<ManagerAsked>,
    /// Drill after the measured window; `None` for a run without one.
    pub(crate) drill: Option<DrillAsked>,
    /// Experiment with the point after the warm-up, in the place of the measured window; `None` for a run that is measured.
    pub(crate) experiment: Option<ConfirmAsked>,
    /// Devices that are purged before the run, one for each instance; empty where none is.
    pub(crate) purged: Vec<String>,
    pub(crate) procedure: Procedure,
    /// Whether some run of the study goes on with the data that the run before it left.
    pub(crate) reuses_data: bool,
    pub(crate) engine: &'static dyn Engine,
    pub(crate) workload: &'static dyn Workload,
    /// Names the data: engine, workload, seed, scale. Runs with equal labels share a snapshot.
    pub(crate) label: String,
    data_seed: u64,
    hosts: Vec<LoadHost>,
}

impl PreparedRun {
    /// Collects everything about a run from its settings.
    pub(crate) fn of(study: &Study, plan: &Plan, run: Run) -> Result<Self, Error> {
        let settings = plan.settings(study, run.point);
        let workload_name = settings.text(setting::WORKLOAD_KIND)?;
        let workload = proofload_load::workload(workload_name)
            .ok_or_else(|| Error::new(format!("unknown workload {workload_name}")))?;
        let raw = workload.expected_bytes(&settings);
        let settings = with_memory(settings, raw);
        let engine_name = settings.text(setting::ENGINE_KIND)?;
        let engine =
            proofload_engine::engine(engine_name).ok_or_else(|| Error::new(format!("unknown engine {engine_name}")))?;
        let mut limits = limits_asked(&settings);
        let sessions = workload.sessions(&settings);
        let drill = drill(&settings)?;
        let mut place = data_place(&settings, settings_in_place(engine, &settings, sessions, drill.as_ref()))?;
        let label = format!("{engine_name} {}", workload.data_label(&settings, study.seed()));
        let study_folder = place.folder.clone();
        place.folder = format!("{study_folder}/{}", folder_name(&label));
        let replication = replication(&settings)?;
        if let Some(thread) = &mut limits.thread {
            // Another point of the study has the role, so that a misspelled one is found there.
            let varied = study.factors.iter().any(|factor| factor.varies(setting::REPLICATION_MODE));
            thread.may_be_absent = varied && replication.is_none();
        }
        let mut alone = Deployment::of_one(place, limits);
        if alone.primary().place.tier.is_some() && engine.server().is_some() {
            alone.primary_mut().storage = StoragePlan::tier();
        }
        let hosts = standby_hosts(&settings).map_err(|faults| host_error(&faults))?;
        let hosts = hosts.filter(|_| engine.replication().is_some() && alone.primary().place.url.is_none());
        alone.primary_mut().address = hosts.as_ref().map(|hosts| hosts.primary);
        let apart = hosts.as_ref().map(|hosts| {
            let names: Vec<InstanceName> = (1..).zip(&hosts.standbys).map(|(n, _)| InstanceName::standby(n)).collect();
            alone.clone().with_standbys(&names).on_hosts(hosts, &study_folder)
        });
        let manager = manager(&settings)?;
        let mut deployment = replicated(alone.clone(), engine, replication.as_ref(), manager.is_some());
        if let Some(hosts) = &hosts {
            deployment = deployment.on_hosts(hosts, &study_folder);
        }
        let of_standbys = thread_limit(&settings).filter(|_| limits_standby_thread(&settings));
        deployment = deployment.with_standby_cpu(standby_cpu(&settings)).with_standby_thread(of_standbys.as_ref());
        let purged = purged_devices(&settings);
        if !purged.is_empty() {
            beside_snapshots(&mut deployment);
        }
        Ok(Self {
            run,
            deployment,
            purged,
            alone,
            apart,
            is_one_machine: hosts.is_some_and(|hosts| hosts.is_one_machine),
            replication,
            manager,
            drill,
            experiment: None,
            procedure: procedure(&settings)?,
            reuses_data: reuses_data(study),
            engine,
            workload,
            label,
            data_seed: study.seed(),
            hosts: load_hosts(&settings)?,
            settings,
        })
    }

    /// Folder with the snapshot that an instance is restored from, on its host.
    pub(crate) fn snapshot_of(&self, instance: &InstancePlan) -> String {
        let of_its_host =
            self.apart.as_ref().and_then(|apart| apart.instances.iter().find(|one| one.name == instance.name));
        of_its_host.unwrap_or_else(|| self.alone.primary()).place.folder.clone()
    }

    /// The instance that takes the writes of the load.
    pub(crate) fn primary(&self) -> &InstancePlan {
        self.deployment.primary()
    }

    /// The part of an instance in the replication; `upstream`: address of the primary, once it runs.
    pub(crate) fn part(&self, instance: &InstancePlan, upstream: Option<&String>) -> ReplicationPart {
        match (instance.role, &self.replication, upstream) {
            (Role::Primary, Some(asked), _) => ReplicationPart::Primary(asked.clone()),
            (Role::Standby, _, Some(upstream)) => ReplicationPart::Standby { upstream: upstream.clone() },
            _ => ReplicationPart::Alone,
        }
    }

    /// The part of the run that makes its result.
    pub(crate) fn rating(&self) -> Rating {
        self.workload.rating(&self.settings)
    }

    /// The calibration before the first run; `None` when nothing is to be found out or the engine keeps no data.
    pub(crate) fn calibration(&self) -> Option<Calibration> {
        self.workload.calibration(&self.settings).filter(|_| self.keeps_data())
    }

    /// The limits of a calibration: those of the run but memory.
    pub(crate) fn calibration_limits(&self) -> LimitsAsked {
        LimitsAsked { memory: None, ..self.primary().limits.clone() }
    }

    /// Expected size of the data as text.
    pub(crate) fn raw_size(&self) -> Bytes {
        self.workload.expected_bytes(&self.settings)
    }

    /// Longest time that the run may go without reporting a second of load.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.workload.patience(&self.settings)
    }

    /// Share of the load that each load agent has.
    pub(crate) fn parts(&self) -> Vec<LoadShare> {
        LoadShare::all(&self.hosts)
    }

    /// Sessions of the run.
    pub(crate) fn users(&self) -> u32 {
        self.workload.sessions(&self.settings)
    }

    /// What decides, beside its settings, what an experiment with it can change.
    pub(crate) fn load(&self) -> PointLoad {
        PointLoad { users: self.users(), is_embedded: self.is_embedded() }
    }

    /// Whether we start the instance and own its files, so that the load can start with none of the data cached.
    pub(crate) fn can_start_cold(&self) -> bool {
        self.keeps_data() && self.primary().place.url.is_none()
    }

    /// Length of the measured window, whole seconds.
    pub(crate) fn seconds(&self) -> usize {
        usize::try_from(self.procedure.measure.as_secs()).unwrap_or(usize::MAX)
    }

    /// How an instance alone is started for a build.
    pub(crate) fn building(&self) -> (DataLocation, ReplicationPart) {
        (self.building_place(), ReplicationPart::Alone)
    }

    /// The place without its tier and without the settings that a memory limit implies: a build may use the machine.
    pub(crate) fn building_place(&self) -> DataLocation {
        let mut unlimited = self.settings.clone();
        unlimited.0.remove(setting::LIMITS_MEMORY);
        DataLocation {
            settings: place_settings(self.engine, &unlimited, 1),
            tier: None,
            ..self.primary().place.clone()
        }
    }

    /// Specification for a single load agent, or the first where one will do.
    pub(crate) fn load_spec(&self, endpoints: Vec<String>) -> LoadSpec {
        self.load_spec_of(endpoints, LoadShare::default())
    }

    /// Specification for the load agent of a part.
    pub(crate) fn load_spec_of(&self, endpoints: Vec<String>, part: LoadShare) -> LoadSpec {
        LoadSpec {
            part,
            workload: self.settings.text(setting::WORKLOAD_KIND).unwrap_or_default().to_owned(),
            settings: self.settings.clone(),
            place: self.primary().place.clone(),
            endpoints,
            data_seed: self.data_seed,
            input_seed: self.run.seed,
            load_time: LOAD_TIME,
        }
    }

    /// Seed of the inputs of an attempt. Data that are not restored have the values of an earlier one; the same again would change nothing,
    /// which SQLite and InnoDB then do not write. Source: `btreeOverwriteContent` in SQLite's `btree.c`; MySQL manual, "UPDATE Statement".
    pub(crate) fn input_seed(&self, begun: WallTime) -> u64 {
        let is_worn = self.keeps_data() && !self.procedure.restore_every_run;
        if is_worn && self.workload.rewrites_values() {
            mix(self.run.seed, u64::try_from(begun.0).unwrap_or_default())
        } else {
            self.run.seed
        }
    }

    /// The same without the settings that a memory limit implies.
    pub(crate) fn building_spec(&self, endpoints: Vec<String>, part: LoadShare) -> LoadSpec {
        LoadSpec { place: self.building_place(), ..self.load_spec_of(endpoints, part) }
    }

    /// Whether the database is a server that we start ourselves.
    pub(crate) fn starts_instance(&self) -> bool {
        self.primary().place.url.is_none() && self.engine.server().is_some()
    }

    /// Whether the load runs inside the limited process.
    pub(crate) fn is_embedded(&self) -> bool {
        self.engine.facts().capabilities.embedded
    }

    /// Whether the process of the load fills a cache tier from a list of lines when it opens the data.
    pub(crate) fn fills_cache_in_load(&self) -> bool {
        let tier = self.primary().place.tier.as_deref();
        self.is_embedded() && tier.is_some_and(|plan| plan.cache.warming().is_some())
    }

    /// Whether the engine keeps data that can be built, copied and checked.
    pub(crate) fn keeps_data(&self) -> bool {
        self.engine.facts().capabilities.durable
    }
}

/// Whether some point of a study takes the data as they are.
fn reuses_data(study: &Study) -> bool {
    let values = values_of(RestorePolicy::PATH, &study.settings, &study.factors);
    values.iter().any(|value| RestorePolicy::of_value(value) == Some(RestorePolicy::Never))
}

/// Settings of a place for so many sessions. Where a memory limit implies how many connections a server takes, a drill has room for those
/// that it gives up; what a session may take of the memory stays that of the users, so that runs with and without drills are alike.
fn settings_in_place(
    engine: &dyn Engine,
    settings: &Settings,
    sessions: u32,
    drill: Option<&DrillAsked>,
) -> Vec<(String, String)> {
    let more = drill.map_or(0, |drill| drill_connections(drill, sessions));
    place_settings_with_room(engine, settings, sessions, more)
}

/// Connections that a prober has open at once.
const PROBER_CONNECTIONS: u32 = 24;
/// Connections of a prober that wait for a commit.
const PROBER_COMMITS: u32 = 12;
/// Most connections for which a drill asks.
const MOST_CONNECTIONS: u32 = 2_000;

/// Connections that a drill needs beside those of the users, at most: while commits hang, prober and users give theirs up at each
/// deadline, and the server keeps what serves one until its commit ends.
fn drill_connections(asked: &DrillAsked, users: u32) -> u32 {
    let deadline = asked.prober.deadline.max(Duration::from_millis(1));
    let deadlines = (asked.lasts + asked.within).as_nanos().div_ceil(deadline.as_nanos());
    let given_up = u32::try_from(deadlines).unwrap_or(u32::MAX).saturating_mul(PROBER_COMMITS.saturating_add(users));
    given_up.saturating_add(PROBER_CONNECTIONS).min(MOST_CONNECTIONS)
}

/// A deployment with the standbys of a replication, and its primary with the settings of the mode: all instances, where a manager may
/// make any of them the primary. An existing server keeps its standbys; what connections ask for is the mode's.
fn replicated(
    alone: Deployment,
    engine: &'static dyn Engine,
    asked: Option<&ReplicationAsked>,
    is_managed: bool,
) -> Deployment {
    let Some(asked) = asked else { return alone };
    if let (Some(_), Some(existing)) = (&alone.primary().place.url, engine.existing_replication()) {
        let mut deployment = alone;
        deployment.primary_mut().place.settings.extend(existing.session_settings(asked.mode));
        return deployment;
    }
    let Some(facet) = engine.replication() else { return alone };
    let mut deployment = alone.with_standbys(&asked.standbys);
    if is_managed {
        let settings = facet.managed_settings(asked);
        deployment.instances.iter_mut().for_each(|instance| instance.place.settings.extend(settings.clone()));
    } else {
        deployment.primary_mut().place.settings.extend(facet.primary_settings(asked));
        let standbys = deployment.instances.iter_mut().filter(|instance| instance.role == Role::Standby);
        standbys.for_each(|standby| standby.place.settings.extend(facet.standby_settings(asked)));
    }
    deployment
}

/// Puts the data of runs beside the folders that keep snapshots: data are built and kept beside the device that is purged, on each host.
fn beside_snapshots(deployment: &mut Deployment) {
    let of_primary = deployment.primary().host.clone();
    for InstancePlan { role, host, place, .. } in &mut deployment.instances {
        if *role == Role::Primary {
            place.folder.push_str(".primary");
        } else if *host != of_primary {
            place.folder.push_str(".purged");
        }
    }
}

/// What is wrong with the hosts of standbys; refused by validation before.
fn host_error(faults: &[HostFault]) -> Error {
    let texts: Vec<String> = faults.iter().map(|(path, reason)| format!("{path}: {reason}")).collect();
    Error::new(texts.join("; "))
}

/// A label as the name of a folder.
fn folder_name(label: &str) -> String {
    label
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' || letter == '.' { letter } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::drill::{FaultRecovery, ProberAsked, Rejoin};
    use proofload_model::fault_strength::FaultStrength;
    use proofload_model::plan::expand;
    use proofload_model::settings::Value;
    use proofload_model::standby_hosts::{StandbyHost, StandbyHosts};
    use proofload_model::study::validate;

    fn drilled(deadline: Duration, within: Duration) -> DrillAsked {
        DrillAsked {
            fault: None,
            strength: FaultStrength::Whole,
            phase: Duration::ZERO,
            recovery: FaultRecovery::Promote,
            lasts: Duration::from_secs(20),
            promote_after: Duration::ZERO,
            within,
            rejoin: Rejoin::Restore,
            prober: ProberAsked { rate: 10, calm_rate: 10, deadline },
        }
    }

    #[test]
    fn a_drill_has_room_for_the_connections_that_it_gives_up() {
        let seconds = Duration::from_secs;
        assert_eq!(drill_connections(&drilled(seconds(10), seconds(40)), 8), 24 + 6 * 20);
        assert_eq!(drill_connections(&drilled(seconds(7), seconds(40)), 8), 24 + 9 * 20);
        assert_eq!(drill_connections(&drilled(seconds(1), seconds(120)), 64), 2_000);
        assert_eq!(drill_connections(&drilled(Duration::ZERO, seconds(120)), u32::MAX), 2_000);
    }

    #[test]
    fn room_for_a_drill_changes_connections_alone_and_never_what_a_study_says() {
        let engine = proofload_engine::engine("postgresql").expect("it is built in");
        let setting = engine.memory().and_then(|memory| memory.connections_setting());
        let is_connections = |name: &str| Some(name) == setting;
        let drill = drilled(Duration::from_secs(1), Duration::from_secs(120));
        let check = |given: Vec<(&str, Value)>, expected: &[&str]| {
            let settings = Settings(given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect());
            let (with, without) =
                (settings_in_place(engine, &settings, 8, Some(&drill)), settings_in_place(engine, &settings, 8, None));
            let connections: Vec<&str> =
                with.iter().filter(|(name, _)| is_connections(name)).map(|(_, value)| value.as_str()).collect();
            assert_eq!(connections, expected);
            let others = |all: &[(String, String)]| -> Vec<(String, String)> {
                all.iter().filter(|(name, _)| !is_connections(name)).cloned().collect()
            };
            assert_eq!(others(&with), others(&without));
        };
        let limit = |mebibytes| ("limits.memory", Value::Bytes(Bytes::mebi(mebibytes)));
        let own = || ("engine.settings.max_connections", Value::Text("50".to_owned()));
        check(vec![limit(64)], &["152"]);
        check(vec![limit(4096)], &["2024"]);
        check(vec![limit(64), own()], &["152", "50"]);
        check(vec![own()], &["50"]);
        check(Vec::new(), &[]);
    }

    #[test]
    fn values_are_written_anew_where_an_earlier_attempt_left_its_own() {
        let check = |load: &str, engine: &str, restore: &str, is_own: bool| {
            let text = format!(
                "[study]\nname = \"t\"\ntitle = \"t\"\nseed = 1\n[workload]\n{load}\nvirtual_users = 1\n[engine]\n\
                 kind = \"{engine}\"\n[procedure]\nrestore = \"{restore}\"\n"
            );
            let study = validate(&text, &[], &crate::catalogue::catalogue()).expect("it is valid");
            let plan = expand(&study);
            let prepared = PreparedRun::of(&study, &plan, plan.runs[0]).expect("it is prepared");
            let seeds = [1, 2].map(|begun| prepared.input_seed(WallTime(begun)));
            assert_eq!(seeds[0] != seeds[1], is_own, "{text}");
            assert_eq!(seeds.contains(&plan.runs[0].seed), !is_own, "{text}");
        };
        let (records, warehouses) = ("kind = \"ycsb\"\nrecords = 100", "kind = \"tprocc\"\nwarehouses = 1");
        check(records, "sqlite", "never", true);
        check(records, "sqlite", "every-run", false);
        check(records, "null", "never", false);
        check(warehouses, "sqlite", "never", false);
    }

    #[test]
    fn the_load_fills_a_cache_where_the_engine_is_in_its_process_and_the_tier_has_a_list() {
        let check = |engine: &str, storage: &str, expected: bool| {
            let text = format!(
                "[study]\nname = \"t\"\ntitle = \"t\"\nseed = 1\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\n\
                 virtual_users = 1\n[engine]\nkind = \"{engine}\"\n[storage]\n{storage}"
            );
            let study = validate(&text, &[], &crate::catalogue::catalogue()).expect("it is valid");
            let plan = expand(&study);
            let prepared = PreparedRun::of(&study, &plan, plan.runs[0]).expect("it is prepared");
            assert_eq!(prepared.fills_cache_in_load(), expected, "{engine}: {storage}");
        };
        let tier = "kind = \"tier\"\nslow.drive = \"none\"\ncache.percent = ";
        check("sqlite", &format!("{tier}30\ncache.warm = \"lines\"\n"), true);
        check("sqlite", &format!("{tier}0\ncache.warm = \"lines\"\n"), false);
        check("sqlite", &format!("{tier}30\n"), false);
        check("sqlite", "", false);
        check("postgresql", &format!("volume = \"4GiB\"\n{tier}30\ncache.warm = \"lines\"\n"), false);
    }

    #[test]
    fn a_purge_leaves_the_snapshot_of_every_host_alone() {
        let place = DataLocation::in_folder("postgresql", "study/data");
        let pair =
            || Deployment::of_one(place.clone(), LimitsAsked::default()).with_standbys(&[InstanceName::standby(1)]);
        let folders = |mut deployment: Deployment| {
            beside_snapshots(&mut deployment);
            deployment.instances.into_iter().map(|instance| instance.place.folder).collect::<Vec<_>>()
        };
        let beside = pair().instances[1].place.folder.clone();
        assert_eq!(folders(pair()), ["study/data.primary", beside.as_str()], "a standby beside it has no snapshot");
        let local = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
        let hosts = StandbyHosts {
            primary: local,
            standbys: vec![StandbyHost { name: "db2".to_owned(), address: local }],
            is_one_machine: true,
            device: None,
        };
        let apart = pair().on_hosts(&hosts, "study");
        let snapshot = apart.instances[1].place.folder.clone();
        let purged = format!("{snapshot}.purged");
        assert_eq!(folders(apart), ["study/data.primary", purged.as_str()]);
    }

    #[test]
    fn labels_make_folders_that_stay_in_their_place() {
        assert_eq!(folder_name("sqlite tprocc/w=4 ../x"), "sqlite_tprocc_w_4_.._x");
    }
}
