//! Limits that this machine does not allow: tried before anything is built, then named at once or left out; and failover managers that it does
//! not have. Tries nothing on other hosts.

use super::study_file::{Refusal, StudyFile, read_with};
use crate::exit::Exit;
use crate::output;
use proofload_model::error::{Error, ErrorKind};
use proofload_model::intervention::THREAD_CPU;
use proofload_model::manager::{ManagerKind, manager};
use proofload_model::plan::expand;
use proofload_model::server_url::is_of_this_host;
use proofload_model::setting_words::WhenRefused;
use proofload_model::settings::{Settings, setting};
use proofload_model::study::{Factor, Study, limits_asked, standby_cpu, thread_limit};
use proofload_model::tier::{TierPlan, tier_plan};
use proofload_model::units::Bytes;
use proofload_model::wire::LimitsAsked;
use proofload_testbed::doctor::{find_list, find_manager, find_tier, try_limits, ways};
use std::collections::BTreeSet;
use std::path::Path;

/// A limit that cannot be had.
pub(super) struct RefusedLimit {
    /// Its setting.
    pub(super) setting: &'static str,
    /// What stands in the way.
    pub(super) why: Error,
}

impl RefusedLimit {
    /// Whether the machine is too small, rather than the rights of this user.
    pub(super) fn is_beyond_the_machine(&self) -> bool {
        self.why.kind() == ErrorKind::Refused
    }
}

/// What `--without-limits` sets.
pub(super) const WITHOUT: &str = "limits.when_refused=without";

/// The command that measures a study, as what it says of limits names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StudyCommand {
    /// `run`, and whether with `--without-limits`.
    Run { without_limits: bool },
    /// `compare --run` or `gate --run`, which have no such option and two studies.
    Pair,
}

impl StudyCommand {
    /// The command as it is typed.
    const fn typed(self) -> &'static str {
        match self {
            Self::Run { .. } => "proofload run …",
            Self::Pair => "proofload compare --run …",
        }
    }

    /// The same with a way to limits before it.
    fn typed_with(self, way: &str) -> String {
        if way.ends_with(' ') { format!("{way}{}", self.typed()) } else { way.to_owned() }
    }

    /// What lets it measure without the limits that are refused.
    fn option(self) -> String {
        match self {
            Self::Run { .. } => "--without-limits".to_owned(),
            Self::Pair => format!("--set {WITHOUT}"),
        }
    }

    /// What stands before words on one study of several.
    fn of_study(self, study: &Study) -> String {
        match self {
            Self::Run { .. } => String::new(),
            Self::Pair => format!("{}: ", study.name()),
        }
    }
}

/// Why the study of a run is not carried out.
pub(super) enum StudyRefusal {
    /// Refusal of the file or of what is in it.
    Study(Refusal),
    /// All that this machine lacks for it.
    Machine(Vec<String>),
}

impl StudyRefusal {
    /// Says so on stderr, for people.
    pub(super) fn tell(&self) -> Exit {
        match self {
            Self::Study(refusal) => refusal.tell(false),
            Self::Machine(faults) => {
                faults.iter().for_each(|text| output::error(text));
                Exit::Failure
            }
        }
    }

    /// The exit code and all that stands in the way, as one text.
    pub(super) fn failure(&self) -> (Exit, String) {
        match self {
            Self::Study(refusal) => (refusal.exit(), refusal.text()),
            Self::Machine(faults) => (Exit::Failure, faults.join("\n")),
        }
    }
}

/// Reads the study of a run. Without the limits that cannot be had, if the study or the command line allows it; else nothing is to be started.
pub(super) fn study_of(path: &Path, set: &[String], by: StudyCommand) -> Result<StudyFile, StudyRefusal> {
    let mut set = set.to_vec();
    if matches!(by, StudyCommand::Run { without_limits: true }) {
        set.push(WITHOUT.to_owned());
    }
    let file = read_with(path, &set).map_err(StudyRefusal::Study)?;
    let refused = refused(&file.study);
    let missing = [missing_manager(&file.study), missing_tier(&file.study), unfit_list(&file.study)];
    let missing: Vec<Error> = missing.into_iter().flatten().collect();
    if !missing.is_empty() {
        let mut faults: Vec<String> = missing.iter().map(|why| format!("nothing was started: {why}")).collect();
        // All faults at once: limits are told beside it, unless the study can do without them.
        if !refused.is_empty() && !WhenRefused::allows_without(&file.study.settings) {
            faults.push(stops(&refused, by));
        }
        return Err(StudyRefusal::Machine(faults));
    }
    if refused.is_empty() {
        return Ok(file);
    }
    if !WhenRefused::allows_without(&file.study.settings) {
        return Err(StudyRefusal::Machine(vec![stops(&refused, by)]));
    }
    output::note(&left_out_words(&file.study, &refused, by));
    if let Some(lost) = lost_factors(&file.study, &refused) {
        output::note(&format!("{}{lost}; {}", by.of_study(&file.study), way_to_limits(&refused, by)));
    }
    set.extend(refused.iter().map(|limit| format!("{}=none", limit.setting)));
    let title = format!("{}, without {}", file.study.title(), names(&refused));
    set.push(format!("study.title={title:?}"));
    let mut file = read_with(path, &set).map_err(StudyRefusal::Study)?;
    file.limits_left_out = refused.iter().map(|limit| limit.setting).collect();
    Ok(file)
}

/// Says that a study is carried out without limits.
fn left_out_words(study: &Study, refused: &[RefusedLimit], by: StudyCommand) -> String {
    format!(
        "{}this machine does not allow {} (proofload doctor says why); running without, as requested",
        by.of_study(study),
        names(refused)
    )
}

/// Whether the host under test is, or may be, another machine than this one.
pub(super) fn is_elsewhere(study: &Study) -> bool {
    study.settings.get(setting::ENGINE_URL).is_some() || !study.settings.list(setting::AGENTS_HOST).is_empty()
}

/// Whether the server of a study runs on this machine as far as its URL tells: the load goes out from here, to an address that leads back here.
pub(super) fn is_server_here(study: &Study) -> bool {
    let is_from_here =
        [setting::AGENTS_HOST, setting::AGENTS_LOAD].iter().all(|path| study.settings.list(path).is_empty());
    is_from_here && study.settings.text(setting::ENGINE_URL).is_ok_and(is_of_this_host)
}

/// What keeps a failover manager of the study's points from being used; nothing of a study whose host is another one, where its agent says so.
fn missing_manager(study: &Study) -> Option<Error> {
    if is_elsewhere(study) {
        return None;
    }
    let plan = expand(study);
    let asked = plan.points.iter().filter_map(|point| manager(&plan.settings(study, point.id)).ok().flatten());
    let kinds: BTreeSet<ManagerKind> = asked.map(|asked| asked.kind).collect();
    kinds.into_iter().find_map(|kind| find_manager(kind).err())
}

/// What keeps a cache tier from being served to a server of the study; `None` where its engine runs in the process.
pub(super) fn missing_tier(study: &Study) -> Option<Error> {
    if is_elsewhere(study) {
        return None;
    }
    once_each(served_tiers(study)).find_map(|plan| find_tier(&plan).err())
}

/// Plans of which each asks something else of this machine: its list may have millions of lines, and each point of a study names it again.
fn once_each(plans: Vec<TierPlan>) -> impl Iterator<Item = TierPlan> {
    let mut seen = BTreeSet::new();
    plans.into_iter().filter(move |plan| {
        let list = plan.cache.warming().map(|warm| warm.list.clone());
        seen.insert((plan.cache.folder.clone(), list, plan.cache.line))
    })
}

/// Cache tiers of the study's points that a process of ours serves.
pub(super) fn served_tiers(study: &Study) -> Vec<TierPlan> {
    tiers(study, false)
}

/// What is wrong with a list that a cache in the process of the load is filled from; `None` where nothing is, or the host is another one.
pub(super) fn unfit_list(study: &Study) -> Option<Error> {
    if is_elsewhere(study) {
        return None;
    }
    let mut seen = BTreeSet::new();
    let is_new =
        |plan: &TierPlan| plan.cache.warming().is_some_and(|warm| seen.insert((warm.list.clone(), plan.cache.line)));
    let lists = tiers(study, true).into_iter().filter(is_new);
    lists.map(|plan| find_list(&plan)).find_map(Result::err)
}

/// What keeps the rest of a study that was begun from going on here, as far as its cache tiers tell; the list of one may be gone since.
pub(super) fn missing_to_go_on(study: &Study) -> Option<String> {
    let missing: Vec<String> = [missing_tier(study), unfit_list(study)]
        .into_iter()
        .flatten()
        .map(|why| format!("nothing was started: {why}"))
        .collect();
    (!missing.is_empty()).then(|| missing.join("\n"))
}

/// Whether some point of a study fills a cache in the process of the load from a list.
pub(super) fn has_list(study: &Study) -> bool {
    tiers(study, true).iter().any(|plan| plan.cache.warming().is_some())
}

/// Cache tiers of the study's points: those in the process of the load, or those that a process of ours serves.
fn tiers(study: &Study, in_process: bool) -> Vec<TierPlan> {
    let plan = expand(study);
    let found = |point: &Settings| {
        let engine = proofload_engine::engine(point.text(setting::ENGINE_KIND).ok()?)?;
        tier_plan(point).ok().flatten().filter(|_| engine.facts().capabilities.tier_in_process == in_process)
    };
    plan.points.iter().filter_map(|point| found(&plan.settings(study, point.id))).collect()
}

/// Tries every limit of the study's points for itself; none of a study whose host is another one.
pub(super) fn refused(study: &Study) -> Vec<RefusedLimit> {
    if is_elsewhere(study) {
        return Vec::new();
    }
    let folder = Path::new(study.settings.text(setting::STORAGE_PATH).unwrap_or("."));
    let mut found: Vec<RefusedLimit> = Vec::new();
    for (setting, asked) in asked_limits(study) {
        if found.iter().all(|limit| limit.setting != setting) {
            found.extend(try_limits(asked, folder).err().map(|why| RefusedLimit { setting, why }));
        }
    }
    found
}

/// Every limit of the study's points for itself, each value once.
pub(super) fn asked_limits(study: &Study) -> Vec<(&'static str, LimitsAsked)> {
    let plan = expand(study);
    let mut asked: Vec<(&'static str, LimitsAsked)> = Vec::new();
    for limit in plan.points.iter().flat_map(|point| each(&plan.settings(study, point.id))) {
        if !asked.contains(&limit) {
            asked.push(limit);
        }
    }
    asked
}

/// Every limit of a point for itself.
fn each(point: &Settings) -> Vec<(&'static str, LimitsAsked)> {
    let all = limits_asked(point);
    let one = LimitsAsked::default;
    // The size of the data is not known yet; any amount of memory shows whether memory can be limited.
    let per_data = point.get(setting::LIMITS_MEMORY_PER_DATA).map(|_| Bytes::mebi(64));
    let memory = |memory: Bytes| LimitsAsked { memory: Some(memory), ..one() };
    [
        (setting::LIMITS_MEMORY, all.memory.map(memory)),
        (setting::LIMITS_MEMORY_PER_DATA, per_data.map(memory)),
        (setting::LIMITS_CORES, all.cores.map(|cores| LimitsAsked { cores: Some(cores), ..one() })),
        (setting::LIMITS_CPU, all.cpu.map(|cpu| LimitsAsked { cpu: Some(cpu), ..one() })),
        (setting::LIMITS_STANDBY_CPU, standby_cpu(point).map(|cpu| LimitsAsked { cpu: Some(cpu), ..one() })),
        (THREAD_CPU, thread_limit(point).map(|thread| LimitsAsked { thread: Some(thread), ..one() })),
        (
            setting::LIMITS_READ_BANDWIDTH,
            all.read_bandwidth.map(|rate| LimitsAsked { read_bandwidth: Some(rate), ..one() }),
        ),
        (
            setting::LIMITS_WRITE_BANDWIDTH,
            all.write_bandwidth.map(|rate| LimitsAsked { write_bandwidth: Some(rate), ..one() }),
        ),
        (setting::LIMITS_READ_IOPS, all.read_iops.map(|rate| LimitsAsked { read_iops: Some(rate), ..one() })),
        (setting::LIMITS_WRITE_IOPS, all.write_iops.map(|rate| LimitsAsked { write_iops: Some(rate), ..one() })),
    ]
    .into_iter()
    .filter_map(|(setting, asked)| Some((setting, asked?)))
    .collect()
}

/// Factors that a study has no more without these limits, and the points that are left; `None` where it keeps all of its factors.
pub(super) fn lost_factors(study: &Study, refused: &[RefusedLimit]) -> Option<String> {
    let is_refused = |path: &String| refused.iter().any(|limit| limit.setting == path.as_str());
    let is_lost = |factor: &Factor| factor.paths().iter().all(is_refused);
    let (lost, kept): (Vec<Factor>, Vec<Factor>) = study.factors.iter().cloned().partition(is_lost);
    let names: Vec<&str> = lost.iter().map(|factor| factor.setting.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let varies_more = !kept.is_empty() || study.settings.get(setting::SEARCH_SETTING).is_some();
    let all = expand(study).points.len();
    let left = expand(&Study { settings: study.settings.clone(), factors: kept }).points.len();
    let (which, so) = match (varies_more, names.len()) {
        (true, _) => ("", ""),
        (false, 1) => (", the only factor,", ", so nothing is compared"),
        (false, _) => (", all of its factors,", ", so nothing is compared"),
    };
    let are = if left == 1 { "is" } else { "are" };
    Some(format!("without {}{which} {left} of {all} points {are} left{so}", names.join(", ")))
}

/// The best way to limits that were refused.
fn way_to_limits(refused: &[RefusedLimit], by: StudyCommand) -> String {
    match ways().first().filter(|_| !refused.iter().all(RefusedLimit::is_beyond_the_machine)) {
        Some(way) => format!("to measure all of them: {}", by.typed_with(way.command)),
        None => "use less than the machine has to measure all of them".to_owned(),
    }
}

fn names(refused: &[RefusedLimit]) -> String {
    refused.iter().map(|limit| limit.setting).collect::<Vec<_>>().join(", ")
}

/// Why nothing was started, and what to try.
fn stops(refused: &[RefusedLimit], by: StudyCommand) -> String {
    let (names, first) = (names(refused), refused[0].why.cause());
    if refused.iter().all(RefusedLimit::is_beyond_the_machine) {
        return format!(
            "this machine does not allow {names}, and nothing was started: {first}\n\
             use less, such as --set {}=…, or {} (the title of the result says so)",
            refused[0].setting,
            by.option()
        );
    }
    let mut text = format!("this machine does not allow {names}, and nothing was started: {first}\nuse one of\n");
    for way in ways() {
        text.push_str(&format!("  {}   ({})\n", by.typed_with(way.command), way.when));
    }
    text + &format!("  {} {}   (the title of the result says what is missing)", by.typed(), by.option())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::study::validate;

    #[test]
    fn a_list_of_a_cache_in_the_process_is_read_before_anything_is_built() {
        let folder = tempfile::tempdir().expect("a folder");
        let list = folder.path().join("lines");
        let told = |percent: u32| {
            let text = format!(
                "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 1\n\
                 [engine]\nkind = \"sqlite\"\n[storage]\nkind = \"tier\"\nslow.drive = \"none\"\n\
                 cache.percent = {percent}\ncache.warm = {:?}\n",
                list.display().to_string()
            );
            let study = validate(&text, &[], &crate::catalogue::catalogue()).expect("it is valid");
            assert!(served_tiers(&study).is_empty() && has_list(&study) == (percent > 0));
            let why = unfit_list(&study).map(|error| error.to_string());
            let to_go_on = why.as_ref().map(|why| format!("nothing was started: {why}"));
            assert_eq!(missing_to_go_on(&study), to_go_on, "it may be gone when the study goes on");
            why
        };
        let missing = told(30).expect("it is missing");
        assert!(missing.starts_with("storage.cache.warm: failed to read the list of lines"), "{missing}");
        assert!(missing.contains(&list.display().to_string()) && missing.contains("check the path"), "{missing}");
        assert_eq!(told(0), None, "no cache needs no list");
        std::fs::write(&list, "{\"form\":1,\"volumes\":[]}\n{\"volume\":0,\"at\":0}\n").expect("writes");
        assert_eq!(told(30), None);
    }

    #[test]
    fn a_list_that_many_points_name_is_read_once() {
        let text = "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 1\n\
                    [engine]\nkind = \"postgresql\"\n[storage]\nkind = \"tier\"\nvolume = \"1GiB\"\n\
                    slow.drive = \"none\"\ncache.warm = \"/lists/lines\"\n\
                    [[factor]]\nsetting = \"storage.cache.percent\"\nlevels = [0, 10, 20]\n\
                    [[factor]]\nsetting = \"workload.virtual_users\"\nlevels = [1, 2]\n";
        let study = validate(text, &[], &crate::catalogue::catalogue()).expect("it is valid");
        let plans = served_tiers(&study);
        assert_eq!(plans.len(), 6);
        let lists: Vec<bool> = once_each(plans).map(|plan| plan.cache.warming().is_some()).collect();
        assert_eq!(lists.iter().filter(|has_list| **has_list).count(), 1, "{lists:?}");
        assert_eq!(lists.len(), 2, "without a cache, the rest is asked for all the same: {lists:?}");
    }

    /// Two studies have neither `--without-limits` nor words that could be of either.
    #[test]
    fn what_is_said_of_limits_is_of_the_command_that_measures() {
        let text = "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 1\n\
                    [engine]\nkind = \"null\"\n";
        let study = validate(text, &[], &crate::catalogue::catalogue()).expect("it is valid");
        let refused = |kind| [RefusedLimit { setting: "limits.cpu", why: Error::of(kind, "not allowed") }];
        let run = StudyCommand::Run { without_limits: false };
        for kind in [ErrorKind::Refused, ErrorKind::Other] {
            let (of_run, of_pair) = (stops(&refused(kind), run), stops(&refused(kind), StudyCommand::Pair));
            assert!(of_run.contains("--without-limits") && !of_run.contains("limits.when_refused"), "{of_run}");
            assert!(of_pair.contains("--set limits.when_refused=without"), "{of_pair}");
            assert!(!of_pair.contains("--without-limits") && !of_pair.contains("proofload run"), "{of_pair}");
        }
        assert_eq!(StudyCommand::Pair.typed_with("sudo "), "sudo proofload compare --run …");
        assert_eq!(run.typed_with("docker run …"), "docker run …");
        let [of_run, of_pair] =
            [run, StudyCommand::Pair].map(|by| left_out_words(&study, &refused(ErrorKind::Other), by));
        assert!(of_run.starts_with("this machine does not allow limits.cpu ("), "{of_run}");
        assert_eq!(of_pair, format!("s: {of_run}"));
    }

    #[test]
    fn a_study_that_loses_its_factors_is_told() {
        let text = "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"tprocc\"\nwarehouses = 10\nvirtual_users = 1\n\
                    [engine]\nkind = \"sqlite\"\n[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"128MiB\"]\n";
        let check = |more: &str, setting: &'static str, expected: Option<&str>| {
            let study = validate(&format!("{text}{more}"), &[], &crate::catalogue::catalogue()).expect("it is valid");
            let refused = [RefusedLimit { setting, why: Error::new("it is not allowed") }];
            assert_eq!(lost_factors(&study, &refused).as_deref(), expected);
        };
        let only = "without limits.memory, the only factor, 1 of 2 points is left, so nothing is compared";
        check("", "limits.memory", Some(only));
        check("", "limits.cores", None);
        let users = "[[factor]]\nsetting = \"workload.virtual_users\"\nlevels = [1, 2, 3]\n";
        check(users, "limits.memory", Some("without limits.memory 3 of 6 points are left"));
    }
}
