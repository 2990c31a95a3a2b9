//! Settings that are each valid and do not go together: missing capabilities, limits below the engine's minimum, crossed times.
//! One function a rule; the list is [`RULES`].

use super::client_rules::{clients_need, confirm_engine_has};
use super::drill_rules::drill_needs;
use super::engine_rules::engine_settings_taken;
use super::factor::{Factor, values_of};
use super::fault::Fault;
use super::folder_rules::folders;
use super::host_rules::standby_hosts_need;
use super::manager_rules::manager_needs;
use super::purge_rules::purge_needs;
use super::secret_rules::{password_in_url, secret_in_commands, secret_in_exporters, secret_in_settings};
use super::standby_rules::standbys_can;
use super::thread_rules::thread_limit_needs;
use super::tier_rules::tier_needs;
use super::typed::with_memory;
use super::validate::{Study, StudySource};
use super::word_rules::words_use;
use crate::catalogue::{Contradiction, EngineFacts, WorkloadFacts};
use crate::load_share::{HOST_PLACEHOLDER, LOAD_HOSTS, load_hosts};
use crate::plan::expand;
use crate::replication::{ReplicationAsked, ReplicationMode, replication};
use crate::setting_words::{LoadPacing, RestorePolicy};
use crate::settings::{Settings, Value, limit_settings, setting};
use crate::units::{Bytes, counted, duration_text};
use std::collections::{BTreeMap, BTreeSet};

/// What a rule looks at, and where it puts its faults.
pub(super) struct RuleContext<'a> {
    pub(super) study: &'a Study,
    pub(super) given: &'a StudySource<'a>,
    faults: &'a mut Vec<Fault>,
}

/// Every rule.
const RULES: &[fn(&mut RuleContext<'_>)] = &[
    title_says,
    workload_needs,
    workload_says,
    words_use,
    memory_needs,
    memory_per_data_needs,
    url_needs,
    exporters_need,
    password_in_url,
    secret_in_exporters,
    secret_in_settings,
    secret_in_commands,
    warm_up_order,
    whole_seconds,
    device_needs,
    restore_needs,
    null_limits,
    device_limits,
    open_load_needs,
    load_hosts_need,
    engine_settings_known,
    engine_settings_taken,
    cpu_fits_cores,
    quiet_seconds_need,
    replication_needs,
    replication_settings_are_ours,
    standbys_can,
    link_needs_standbys,
    drill_needs,
    purge_needs,
    tier_needs,
    manager_needs,
    standby_hosts_need,
    clients_need,
    confirm_engine_has,
    thread_limit_needs,
];

/// Most runs of a study. More are a slip in the levels; a plan of so many is still checked within seconds.
const MOST_RUNS: u128 = 100_000;

/// Runs every rule. The others look at every point, so that a study of too many is told alone.
pub(super) fn find_all(study: &Study, given: &StudySource<'_>, faults: &mut Vec<Fault>) {
    let mut look = RuleContext { study, given, faults };
    folders(&mut look);
    if !few_enough_runs(&mut look) {
        return;
    }
    for rule in RULES {
        rule(&mut look);
    }
}

impl RuleContext<'_> {
    /// Notes what is wrong with a setting.
    pub(super) fn fault(&mut self, key: &str, reason: String) {
        self.fault_near(key, reason, None);
    }

    /// Notes it with what was probably meant.
    pub(super) fn fault_near(&mut self, key: &str, reason: String, suggestion: Option<String>) {
        let line = self.given.line(key);
        self.faults.push(Fault { suggestion, ..Fault::new(line, key, reason) });
    }

    /// Paths of settings that are given a value or vary.
    pub(super) fn given_paths(&self) -> BTreeSet<String> {
        let varied = self.study.factors.iter().flat_map(Factor::paths);
        self.given.paths().map(str::to_owned).chain(varied).collect()
    }

    /// Every engine that the study uses.
    pub(super) fn engines(&self) -> Vec<EngineFacts> {
        let kinds = values_of(setting::ENGINE_KIND, &self.study.settings, &self.study.factors);
        kinds.iter().filter_map(|kind| self.given.catalogue().engine(&kind.to_string()).copied()).collect()
    }

    fn workload(&self) -> Option<WorkloadFacts> {
        self.given.catalogue().workload(self.study.settings.text(setting::WORKLOAD_KIND).ok()?).copied()
    }
}

/// A study has at most [`MOST_RUNS`]; counted without making them.
fn few_enough_runs(look: &mut RuleContext<'_>) -> bool {
    let levels = look.study.factors.iter().map(|factor| factor.levels.len() as u128);
    let runs = levels.fold(u128::from(look.study.repetitions()), u128::saturating_mul);
    if runs <= MOST_RUNS {
        return true;
    }
    let setting =
        look.study.factors.last().map_or(setting::STUDY_REPETITIONS, |factor| factor.setting.as_str()).to_owned();
    look.fault(
        &setting,
        format!("all levels and repetitions make {runs} runs, more than {MOST_RUNS}; remove some levels"),
    );
    false
}

/// A report needs something to be called by.
fn title_says(look: &mut RuleContext<'_>) {
    if look.study.title().trim().is_empty() {
        look.fault(setting::STUDY_TITLE, "is empty; say in a few words what the study asks".to_owned());
    }
}

/// A workload of SQL needs an engine of SQL.
fn workload_needs(look: &mut RuleContext<'_>) {
    let Some(workload) = look.workload() else { return };
    for engine in look.engines().iter().filter(|engine| workload.needs_sql && !engine.capabilities.sql) {
        look.fault(
            setting::ENGINE_KIND,
            format!("the workload {} needs SQL sessions, which {} does not have", workload.name, engine.name),
        );
    }
}

/// What a workload knows of its own settings, at every point; each fault once.
fn workload_says(look: &mut RuleContext<'_>) {
    let mut found: Vec<Contradiction> = Vec::new();
    // A search begins at its smallest load; what does not go together at its largest one is said as well.
    let largest = super::search::search(&look.study.settings).ok().flatten();
    let largest: BTreeMap<_, _> = largest.into_iter().map(|search| (search.setting, search.to)).collect();
    let points = expand(look.study).points.into_iter().map(|point| point.levels);
    let all = points.flat_map(|levels| {
        let at_largest: Option<BTreeMap<_, _>> =
            (!largest.is_empty()).then(|| levels.clone().into_iter().chain(largest.clone()).collect());
        std::iter::once(levels).chain(at_largest)
    });
    for levels in all {
        let settings = look.study.settings.with(&levels);
        let workload =
            settings.text(setting::WORKLOAD_KIND).ok().and_then(|name| look.given.catalogue().workload(name));
        let Some(workload) = workload else { continue };
        for contradiction in (workload.contradictions)(&settings) {
            if !found.contains(&contradiction) {
                found.push(contradiction);
            }
        }
    }
    for Contradiction { setting, reason } in found {
        look.fault(setting, reason);
    }
}

/// A memory level must be one that the engine starts with.
fn memory_needs(look: &mut RuleContext<'_>) {
    let smallest = values_of(setting::LIMITS_MEMORY, &look.study.settings, &look.study.factors)
        .into_iter()
        .filter_map(|value| if let Value::Bytes(bytes) = value { Some(*bytes) } else { None })
        .min();
    let Some(smallest) = smallest else { return };
    for engine in look.engines().iter().filter(|engine| smallest.0 < engine.minimum_memory_bytes) {
        let least = Bytes(engine.minimum_memory_bytes);
        look.fault(
            setting::LIMITS_MEMORY,
            format!("{smallest} is less than {} needs to start and work ({least})", engine.name),
        );
    }
}

/// A memory level that follows from the data is given once, and is one that the engine starts with at every point.
fn memory_per_data_needs(look: &mut RuleContext<'_>) {
    const PATH: &str = setting::LIMITS_MEMORY_PER_DATA;
    let given = |path: &str| !values_of(path, &look.study.settings, &look.study.factors).is_empty();
    if !given(PATH) {
        return;
    }
    let points = expand(look.study).points;
    let mut settings = points.iter().map(|point| look.study.settings.with(&point.levels));
    if settings.any(|settings| settings.get(PATH).is_some() && settings.get(setting::LIMITS_MEMORY).is_some()) {
        look.fault(PATH, "limits.memory gives the same limit in bytes; remove one of the two".to_owned());
        return;
    }
    for reason in too_little_memory(look) {
        look.fault(PATH, reason);
    }
}

/// Points whose share of the data is less than their engine works with; each reason once.
fn too_little_memory(look: &RuleContext<'_>) -> BTreeSet<String> {
    let told = |settings: &Settings| -> Option<String> {
        let workload = look.given.catalogue().workload(settings.text(setting::WORKLOAD_KIND).ok()?)?;
        let engine = look.given.catalogue().engine(settings.text(setting::ENGINE_KIND).ok()?)?;
        let share = settings.number(setting::LIMITS_MEMORY_PER_DATA).ok()?;
        let raw = (workload.raw_bytes)(settings);
        let memory = with_memory(settings.clone(), raw).bytes(setting::LIMITS_MEMORY).ok()?;
        let least = Bytes(engine.minimum_memory_bytes);
        (memory < least && raw.0 > 0).then(|| {
            format!("{share} of {raw} of data is {memory}, less than {} needs to start and work ({least})", engine.name)
        })
    };
    expand(look.study).points.iter().filter_map(|point| told(&look.study.settings.with(&point.levels))).collect()
}

/// A URL needs an engine that is reached by one; limits and restores of a server that we did not start are for its engine to do.
fn url_needs(look: &mut RuleContext<'_>) {
    if look.study.settings.get(setting::ENGINE_URL).is_none() {
        return;
    }
    let engines = look.engines();
    for engine in engines.iter().filter(|engine| !engine.capabilities.url) {
        look.fault(setting::ENGINE_URL, format!("{} cannot be reached by URL; remove it", engine.name));
    }
    let given = |path: &str| !values_of(path, &look.study.settings, &look.study.factors).is_empty();
    for path in limits().filter(|path| given(path)).collect::<Vec<_>>() {
        if engines.iter().any(|engine| !engine.capabilities.limits_at_url.contains(&path)) {
            let reason = "limits apply only to instances that Proofload starts, not to an existing server (engine.url)";
            look.fault(path, reason.to_owned());
        }
    }
    if restores(look.study) && engines.iter().any(|engine| !engine.capabilities.restore_at_url) {
        let reason = "an existing server (engine.url) cannot be restored from a file snapshot; use \"never\"";
        look.fault(RestorePolicy::PATH, reason.to_owned());
    }
}

/// Exporters observe a host that we do not run on; there must be an existing server, and an address that can be asked.
fn exporters_need(look: &mut RuleContext<'_>) {
    let settings = &look.study.settings;
    let endpoints = settings.list(setting::OBSERVE_PROMETHEUS).to_vec();
    if endpoints.is_empty() {
        for path in ["observe.device", "observe.series"] {
            if look.study.settings.get(path).is_some() {
                look.fault(path, "only used with exporters; set observe.prometheus too".to_owned());
            }
        }
        return;
    }
    if settings.get(setting::ENGINE_URL).is_none() {
        let reason = "exporters are only for existing servers (engine.url); the agent observes the host of an instance \
                      that Proofload starts";
        look.fault(setting::OBSERVE_PROMETHEUS, reason.to_owned());
    }
    for (number, endpoint) in endpoints.iter().enumerate() {
        let reason = match endpoint.strip_prefix("http://").map(|rest| rest.split('/').next().unwrap_or_default()) {
            None => {
                format!("{endpoint:?} must start with http://; an exporter behind TLS needs a proxy on the load host")
            }
            Some(host) if host.contains('@') => {
                format!(
                    "the address {} contains a user or password; a study must not contain secrets, so use a proxy",
                    number + 1
                )
            }
            Some(_) => continue,
        };
        look.fault(setting::OBSERVE_PROMETHEUS, reason);
    }
}

/// Paths of the limits.
fn limits() -> impl Iterator<Item = &'static str> {
    limit_settings().map(|spec| spec.path)
}

/// Warm-up ends after it begins.
fn warm_up_order(look: &mut RuleContext<'_>) {
    const LEAST: &str = setting::PROCEDURE_WARM_UP_AT_LEAST;
    const MOST: &str = "procedure.warm_up.at_most";
    let late = |settings: &Settings| {
        let (least, most) = (settings.duration(LEAST).ok()?, settings.duration(MOST).ok()?);
        let told = || format!("{} is longer than {MOST}, {}", duration_text(least), duration_text(most));
        (least > most).then(told)
    };
    let reasons: BTreeSet<String> =
        expand(look.study).points.iter().filter_map(|point| late(&look.study.settings.with(&point.levels))).collect();
    for reason in reasons {
        look.fault(LEAST, reason);
    }
}

/// Intervals are seconds.
fn whole_seconds(look: &mut RuleContext<'_>) {
    for path in [setting::PROCEDURE_MEASURE, "procedure.warm_up.round"] {
        let odd = values_of(path, &look.study.settings, &look.study.factors)
            .into_iter()
            .any(|value| matches!(value, Value::Duration(time) if time.subsec_nanos() != 0));
        if odd {
            look.fault(path, "must be whole seconds, because intervals are one second long".to_owned());
        }
    }
}

/// A device to precondition is an absolute path below /dev.
fn device_needs(look: &mut RuleContext<'_>) {
    if let Ok(device) = look.study.settings.text(setting::STORAGE_PRECONDITION_DEVICE)
        && !device.starts_with("/dev/")
    {
        look.fault(setting::STORAGE_PRECONDITION_DEVICE, format!("{device:?} is not a device; use a path below /dev"));
    }
}

/// What describes arrivals needs a rate, at every point.
fn open_load_needs(look: &mut RuleContext<'_>) {
    let points = expand(look.study).points;
    let settings: Vec<Settings> = points.iter().map(|point| look.study.settings.with(&point.levels)).collect();
    for path in [setting::WORKLOAD_ARRIVALS, setting::WORKLOAD_QUEUE_AT_MOST] {
        if settings.iter().any(|point| point.get(path).is_some() && point.get(setting::WORKLOAD_RATE).is_none()) {
            look.fault(path, "only used with a rate; set workload.rate too, or remove it".to_owned());
        }
    }
}

/// Several load agents need a server that all of them reach, and a command that tells them apart.
fn load_hosts_need(look: &mut RuleContext<'_>) {
    let hosts = match load_hosts(&look.study.settings) {
        Ok(hosts) => hosts.len(),
        Err(error) => return look.fault(LOAD_HOSTS, error.to_string()),
    };
    let command = look.study.settings.list(setting::AGENTS_LOAD);
    let (given, tells_apart) = (!command.is_empty(), command.iter().any(|part| part.contains(HOST_PLACEHOLDER)));
    if hosts == 0 && tells_apart {
        let reason = format!("contains {HOST_PLACEHOLDER}, but {LOAD_HOSTS} lists no host");
        look.fault(setting::AGENTS_LOAD, reason);
    }
    if hosts > 1 && given && !tells_apart {
        let reason = format!(
            "would start all {hosts} agents of {LOAD_HOSTS} on one machine; put {HOST_PLACEHOLDER} where the host name \
             belongs, such as [\"ssh\", \"-T\", \"{HOST_PLACEHOLDER}\", \"proofload\", \"agent\"]"
        );
        look.fault(setting::AGENTS_LOAD, reason);
    }
    for engine in look.engines() {
        if hosts > 1 && engine.capabilities.embedded && engine.capabilities.durable {
            let name = engine.name;
            look.fault(
                LOAD_HOSTS,
                format!("{name} runs inside one load agent; several load agents need a database server"),
            );
        }
    }
}

/// Whether some point restores the data before each run.
fn restores(study: &Study) -> bool {
    let values = values_of(RestorePolicy::PATH, &study.settings, &study.factors);
    values.iter().any(|value| RestorePolicy::of_value(value) == Some(RestorePolicy::EveryRun))
}

/// Restoring needs an engine whose files can be copied, or one that restores an existing server.
fn restore_needs(look: &mut RuleContext<'_>) {
    let by_url = look.study.settings.get(setting::ENGINE_URL).is_some();
    let restores = restores(look.study);
    for engine in look
        .engines()
        .iter()
        .filter(|engine| restores && engine.capabilities.durable && !engine.capabilities.file_snapshot)
        .filter(|engine| !(by_url && engine.capabilities.restore_at_url))
    {
        look.fault(RestorePolicy::PATH, format!("{} has no file snapshots; use \"never\"", engine.name));
    }
}

/// A memory limit on an engine that keeps nothing would measure nothing.
fn null_limits(look: &mut RuleContext<'_>) {
    for path in [setting::LIMITS_MEMORY, setting::LIMITS_MEMORY_PER_DATA] {
        let varied = look.study.factors.iter().any(|factor| factor.varies(path));
        let keeps_nothing = |engine: &&EngineFacts| !engine.capabilities.durable && !engine.capabilities.embedded;
        for engine in look.engines().iter().filter(keeps_nothing).filter(|_| varied) {
            look.fault(path, format!("{} has no memory to limit", engine.name));
        }
    }
}

/// A limit on a device needs data that lie on one.
fn device_limits(look: &mut RuleContext<'_>) {
    for path in [
        setting::LIMITS_READ_BANDWIDTH,
        setting::LIMITS_WRITE_BANDWIDTH,
        setting::LIMITS_READ_IOPS,
        setting::LIMITS_WRITE_IOPS,
    ] {
        if values_of(path, &look.study.settings, &look.study.factors).is_empty() {
            continue;
        }
        for engine in look.engines().iter().filter(|engine| !engine.capabilities.durable) {
            look.fault(path, format!("{} keeps no data on a device, so there is nothing to limit", engine.name));
        }
    }
}

/// An engine that takes a fixed list of settings is given no others, be they constant or factors.
fn engine_settings_known(look: &mut RuleContext<'_>) {
    const BELOW: &str = "engine.settings.";
    let given: BTreeSet<String> = look.given_paths().into_iter().filter(|path| path.starts_with(BELOW)).collect();
    for engine in look.engines() {
        let Some(names) = engine.setting_names.map(|names| names()) else { continue };
        for path in &given {
            let rest = path.strip_prefix(BELOW).unwrap_or_default();
            let name = match rest.split_once('.') {
                Some((owner, name)) if owner == engine.name => name,
                Some(_) => continue,
                None => rest,
            };
            if !names.contains(&name) {
                let reason = format!("{} has no setting {name:?}; it has {}", engine.name, names.join(", "));
                look.fault(path, reason);
            }
        }
    }
}

/// CPU time per second that is allowed fits on the cores that are.
fn cpu_fits_cores(look: &mut RuleContext<'_>) {
    let too_much = |path: &'static str, settings: &Settings| {
        let (cores, cpu) = (settings.count(setting::LIMITS_CORES).ok()?, settings.number(path).ok()?);
        let told = || format!("{cpu} CPU s/s do not fit on {} (limits.cores)", counted(cores as usize, "core"));
        (cpu > f64::from(cores)).then(|| (path, told()))
    };
    let points = expand(look.study).points;
    let settings = points.iter().map(|point| look.study.settings.with(&point.levels));
    let paths = [setting::LIMITS_CPU, setting::LIMITS_STANDBY_CPU];
    let of_point = |settings: Settings| paths.into_iter().filter_map(move |path| too_much(path, &settings));
    let reasons: BTreeSet<(&str, String)> = settings.flat_map(of_point).collect();
    for (path, reason) in reasons {
        look.fault(path, reason);
    }
}

/// Quiet seconds are a result only where nothing that was left undone is done later, and where one agent tells its seconds.
fn quiet_seconds_need(look: &mut RuleContext<'_>) {
    const PATH: &str = setting::PROCEDURE_QUIET_SECONDS;
    let settings = &look.study.settings;
    if settings.count(PATH).unwrap_or(0) == 0 {
        return;
    }
    let catches_up = !values_of(setting::WORKLOAD_RATE, settings, &look.study.factors).is_empty()
        || settings.text(setting::SEARCH_SETTING) == Ok(setting::WORKLOAD_RATE)
        || values_of(LoadPacing::PATH, settings, &look.study.factors)
            .iter()
            .any(|value| LoadPacing::of_value(value) != Some(LoadPacing::Saturated));
    let several = load_hosts(settings).is_ok_and(|hosts| hosts.len() > 1);
    if catches_up {
        look.fault(
            PATH,
            "needs a saturated load: paced users, and operations at a rate, catch up in quiet seconds".to_owned(),
        );
    }
    if several {
        look.fault(PATH, "works with one load agent only; remove agents.load_hosts".to_owned());
    }
}

/// Settings that do nothing without standbys.
const OF_STANDBYS: [&str; 5] = [
    "replication.standbys",
    "replication.confirm",
    setting::REPLICATION_RTT,
    setting::REPLICATION_BANDWIDTH,
    setting::LIMITS_STANDBY_CPU,
];

/// Standbys need an engine that has them, a mode of it, enough of them to confirm, and a snapshot to start from.
fn replication_needs(look: &mut RuleContext<'_>) {
    let settings = &look.study.settings;
    let points = expand(look.study).points;
    let mut found: BTreeSet<(&str, String)> = BTreeSet::new();
    let by_url = settings.get(setting::ENGINE_URL).is_some();
    let (mut replicated, mut alone) = (false, false);
    for settings in points.iter().map(|point| settings.with(&point.levels)) {
        let Ok(Some(asked)) = replication(&settings) else {
            alone = true;
            continue;
        };
        replicated = true;
        let engine = settings.text(setting::ENGINE_KIND).ok().and_then(|name| look.given.catalogue().engine(name));
        let missing = engine.and_then(|engine| mode_missing(engine, asked.mode, by_url));
        found.extend(missing.map(|why| (setting::REPLICATION_MODE, why)));
        found.extend(too_few_standbys(&asked).map(|why| ("replication.confirm", why)));
        if !by_url && settings.text(RestorePolicy::PATH).ok().and_then(RestorePolicy::of) == Some(RestorePolicy::Never)
        {
            let reason = "standbys start from the snapshot of the primary before each run; use \"every-run\"";
            found.insert((RestorePolicy::PATH, reason.to_owned()));
        }
    }
    if by_url && replicated {
        found.extend(not_ours(look, alone));
    }
    for path in OF_STANDBYS {
        if !replicated && look.given.is_given(path) {
            found.insert((path, "only used with standbys; set replication.mode too, or remove it".to_owned()));
        }
    }
    for (path, reason) in found {
        look.fault(path, reason);
    }
}

/// What a study of standbys of an existing server may not set; `alone`: some point has none.
fn not_ours(look: &RuleContext<'_>, alone: bool) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if alone {
        let reason =
            "an existing server (engine.url) has the same standbys at every point; remove \"none\" from the modes";
        found.push((setting::REPLICATION_MODE, reason.to_owned()));
    }
    for path in ["replication.confirm", setting::REPLICATION_RTT, setting::REPLICATION_BANDWIDTH] {
        if look.given.is_given(path) {
            let reason = "is up to the existing server (engine.url); remove it";
            found.push((path, reason.to_owned()));
        }
    }
    found
}

fn mode_missing(engine: &EngineFacts, mode: ReplicationMode, by_url: bool) -> Option<String> {
    let replication = engine.capabilities.replication;
    let modes = replication.map(|facts| if by_url { facts.by_url } else { facts.modes }).unwrap_or_default();
    let place = if by_url { " by engine.url" } else { "" };
    if modes.is_empty() {
        return Some(format!("{} does not support standbys{place}; remove it or use \"none\"", engine.name));
    }
    let words: Vec<&str> = modes.iter().map(|mode| mode.word()).collect();
    (!modes.contains(&mode)).then(|| format!("{} has no mode {mode}{place}; it has {}", engine.name, words.join(", ")))
}

fn too_few_standbys(asked: &ReplicationAsked) -> Option<String> {
    let there = asked.standbys.len();
    (asked.confirmation.count() as usize > there).then(|| {
        format!("{} standbys cannot confirm when there are {there} (replication.standbys)", asked.confirmation)
    })
}

/// A network, or a number of standbys, changes nothing at a level without standbys: their product measures the same several times.
fn link_needs_standbys(look: &mut RuleContext<'_>) {
    let Study { settings, factors } = look.study;
    let of_mode = |factor: &Factor| factor.varies(setting::REPLICATION_MODE);
    let crossed = |path: &str| {
        let others = factors.iter().filter(|factor| !of_mode(factor));
        others.into_iter().any(|factor| factor.varies(path) && factor.levels.len() > 1)
    };
    let modes = values_of(setting::REPLICATION_MODE, settings, factors);
    let alone = modes.iter().any(|mode| mode.to_string() == ReplicationMode::None.word());
    for path in OF_STANDBYS {
        if alone && factors.iter().any(of_mode) && crossed(path) {
            let reason = "has no effect without standbys: remove \"none\" from the modes, or this from the factors";
            look.fault(path, reason.to_owned());
        }
    }
}

/// What puts a mode in force is set by the mode alone.
fn replication_settings_are_ours(look: &mut RuleContext<'_>) {
    let modes = values_of(setting::REPLICATION_MODE, &look.study.settings, &look.study.factors);
    if modes.iter().all(|mode| mode.to_string() == ReplicationMode::None.word()) {
        return;
    }
    let given = look.given_paths();
    let ours = look
        .engines()
        .iter()
        .filter_map(|engine| engine.capabilities.replication)
        .flat_map(|facts| facts.settings)
        .collect();
    let ours: BTreeSet<&&str> = ours;
    for path in given.iter().filter(|path| path.starts_with("engine.")) {
        let name = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        if ours.iter().any(|setting| **setting == name) {
            look.fault(path, "is set by replication.mode; remove it".to_owned());
        }
    }
}
