//! `--duet`: whether two studies can be measured at once. All that stands against it is told together.

use super::compare::Failure;
use super::siblings::{allowed_cores, shared_core, siblings_of};
use super::verdict::counted;
use crate::exit::Exit;
use proofload_analysis::bootstrap::FEWEST_SAMPLES;
use proofload_load::Rating;
use proofload_model::plan::expand;
use proofload_model::replication::instances_together;
use proofload_model::settings::Settings;
use proofload_model::study::{Study, values_of};
use proofload_model::units::duration_words;
use std::time::Duration;

/// Cores that clients of both should have to themselves.
const LEFT_TO_CLIENTS: u32 = 1;

/// Two studies that can be measured at once.
pub(super) fn expect_duet(one: &Study, other: &Study) -> Result<(), Failure> {
    let mut faults: Vec<String> = Vec::new();
    for study in [one, other] {
        let name = study.name();
        let asks = |path: &str| study.settings.count(path).is_ok_and(|count| count > 0);
        if study.repetitions() % 2 == 1 {
            faults.push(format!(
                "{name}: study.repetitions = {}: must be even, because the two studies swap places",
                study.repetitions()
            ));
        }
        for path in ["procedure.retries", "procedure.quiet_seconds", "study.sentinel_every"] {
            if asks(path) {
                faults.push(format!("{name}: {path}: a repeated run would have no partner; set it to 0 or remove it"));
            }
        }
        faults.extend(without_cores(study));
        faults.extend(short_window(study).map(|window| {
            format!(
                "{name}: procedure.measure = {}: a ratio over the same seconds needs {FEWEST_SAMPLES} of them or more; set it in both studies, \
                 such as --set procedure.measure=30s",
                duration_words(window)
            )
        }));
        if !values_of("workload.rounds", &study.settings, &study.factors).is_empty() {
            faults.push(format!("{name}: workload.rounds: a run rated as a whole has no seconds to compare"));
        }
    }
    let place =
        |study: &Study| (study.settings.text("storage.path").unwrap_or_default().to_owned(), study.name().to_owned());
    if place(one) == place(other) {
        faults.push(
            "both studies have the same name and storage.path: they would use the same data at the same time"
                .to_owned(),
        );
    }
    if one.settings.get("engine.url").is_some() && one.settings.get("engine.url") == other.settings.get("engine.url") {
        faults.push("both studies have the same engine.url: two loads on one server are not a duet".to_owned());
    }
    let levels = |study: &Study| expand(study).points.into_iter().map(|point| point.levels).collect::<Vec<_>>();
    if one.repetitions() != other.repetitions() || levels(one) != levels(other) {
        faults
            .push("the studies must have the same points and repetitions, because each run needs a partner".to_owned());
    }
    faults.extend(room([one, other]));
    if faults.is_empty() {
        return Ok(());
    }
    Err((
        Exit::StudyInvalid,
        format!("the two studies cannot be measured at the same time:\n  {}", faults.join("\n  ")),
    ))
}

/// The shortest window of a study, where its throughput has too few seconds for an interval, so that no ratio of it can be formed. `None`
/// where its runs are not rated by windows of a length that it sets, or go on until they have enough quiet seconds.
fn short_window(study: &Study) -> Option<Duration> {
    windows(study).into_iter().flatten().min().filter(is_short)
}

/// Whether a window has too few seconds for an interval of its throughput.
fn is_short(window: &Duration) -> bool {
    window.as_secs() < FEWEST_SAMPLES as u64
}

/// The window of each point; `None` where its runs are not rated by windows of a length that it sets, or go on until they have enough quiet
/// seconds.
fn windows(study: &Study) -> Vec<Option<Duration>> {
    let window = |settings: &Settings| {
        let rating = proofload_load::workload(settings.text("workload.kind").ok()?)?.rating(settings);
        let is_longer = settings.count("procedure.quiet_seconds").is_ok_and(|quiet| quiet as usize >= FEWEST_SAMPLES);
        settings.duration("procedure.measure").ok().filter(|_| rating == Rating::Window && !is_longer)
    };
    expand(study).points.iter().map(|point| window(&study.settings.with(&point.levels))).collect()
}

/// Refuses a study that has no point with a throughput to judge, where a gate judges nothing else.
pub(super) fn expect_judged_windows(study: &Study) -> Result<(), Failure> {
    let windows = windows(study);
    let is_judged = windows.iter().any(|window| window.is_none_or(|window| !is_short(&window)));
    let Some(longest) = windows.into_iter().flatten().max().filter(|_| !is_judged) else { return Ok(()) };
    Err((
        Exit::StudyInvalid,
        format!(
            "nothing was measured: {}: procedure.measure = {}: throughput of a window of less than {FEWEST_SAMPLES} s has no interval, and \
             the gate is asked for nothing else; set it in both studies, such as --set procedure.measure=30s",
            study.name(),
            duration_words(longest)
        ),
    ))
}

/// A warning before studies with windows of which no throughput is compared are measured in turns.
pub(super) fn short_window_warning(study: &Study) -> Option<String> {
    let window = duration_words(short_window(study)?);
    Some(format!(
        "warning: {}: procedure.measure = {window}: throughput of a window of less than {FEWEST_SAMPLES} s has no interval, so it cannot be \
         compared, only response times can; set it in both studies, such as --set procedure.measure=30s",
        study.name()
    ))
}

/// The refusal of a study whose databases would have no cores of their own to swap; servers by URL are where they are.
fn without_cores(study: &Study) -> Option<String> {
    let points = expand(study).points;
    let lacks = |settings: &Settings| !settings.count("limits.cores").is_ok_and(|count| count > 0);
    let is_open = study.settings.get("engine.url").is_none()
        && points.iter().any(|point| lacks(&study.settings.with(&point.levels)));
    is_open.then(|| {
        format!(
            "{}: limits.cores is not set at every point: both databases would run on all cores, and the two could not swap places; set it in \
             both studies, to at most half of the cores, such as --set limits.cores=1",
            study.name()
        )
    })
}

/// What both together ask for and this machine does not have.
fn room(studies: [&Study; 2]) -> Vec<String> {
    if studies.iter().any(|study| !study.settings.list("agents.host").is_empty()) {
        return Vec::new();
    }
    let Ok(cores) = std::thread::available_parallelism() else { return Vec::new() };
    let most = |study: &Study, of: &dyn Fn(&Settings) -> Option<f64>| {
        let points = expand(study).points;
        points.iter().filter_map(|point| of(&study.settings.with(&point.levels))).fold(0.0, f64::max)
    };
    let sum = |of: &dyn Fn(&Settings) -> Option<f64>| studies.iter().map(|study| most(study, of)).sum::<f64>();
    let (cores_here, mut faults) = (cores.get(), Vec::new());
    let cores =
        |settings: &Settings| Some(settings.number("limits.cores").ok()? * f64::from(instances_together(settings)));
    for (path, asked) in [("limits.cores", sum(&cores)), ("limits.cpu", sum(&cpu_of_all))] {
        if asked > cores_here as f64 {
            faults.push(format!(
                "{path}: both studies need {asked} with their standbys, but this machine has {}",
                counted(cores_here, "core")
            ));
        }
    }
    faults
}

/// CPU seconds per second that a point allows its instances on one machine together: each standby may have a limit of its own.
fn cpu_of_all(settings: &Settings) -> Option<f64> {
    let primary = settings.number("limits.cpu").ok();
    let standby = settings.number("limits.standby_cpu").ok().or(primary);
    let standbys = f64::from(instances_together(settings) - 1);
    (primary.is_some() || standby.is_some()).then(|| primary.unwrap_or(0.0) + standbys * standby.unwrap_or(0.0))
}

/// What weakens a duet here, in words: servers that stay where they are, clients that share the cores of the databases, and physical cores of
/// which each database has a hyperthread.
pub(super) fn weaknesses(one: &Study, other: &Study) -> Vec<String> {
    let mut found = Vec::new();
    if [one, other].into_iter().any(|study| study.settings.get("engine.url").is_some()) {
        found.push(
            "servers that a URL names do not swap places: what their places are worth stays in the ratio".to_owned(),
        );
    }
    if [one, other].into_iter().all(|study| study.settings.list("agents.host").is_empty()) {
        let cores = [one, other].map(cores_of_points);
        found.extend(crowded(&cores));
        found.extend(allowed_cores().and_then(|allowed| split_cores(&cores, &allowed, siblings_of)));
    }
    found
}

/// Cores that the databases of each point have.
fn cores_of_points(study: &Study) -> Vec<u32> {
    let of_point = |point: &Settings| point.count("limits.cores").unwrap_or(0) * instances_together(point);
    expand(study).points.iter().map(|point| of_point(&study.settings.with(&point.levels))).collect()
}

/// A warning where partners have hyperthreads of one physical core.
fn split_cores(
    [one, other]: &[Vec<u32>; 2],
    allowed: &[usize],
    siblings: impl Fn(usize) -> Vec<usize>,
) -> Option<String> {
    let mut counts = one.iter().zip(other).flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
    let (mine, theirs) = counts.find_map(|counts| shared_core(allowed, counts, &siblings))?;
    Some(format!(
        "cores {mine} and {theirs} are hyperthreads of one physical core, and each database has one of them: they slow each other, so the ratio \
         may be biased towards 1; give Proofload one thread of each physical core (taskset -c), or choose limits.cores so that both have whole ones"
    ))
}

fn crowded(of_points: &[Vec<u32>; 2]) -> Option<String> {
    let cores = std::thread::available_parallelism().ok()?.get() as u32;
    let taken: u32 = of_points.iter().map(|points| points.iter().copied().max().unwrap_or(0)).sum();
    (taken + LEFT_TO_CLIENTS > cores).then(|| {
        format!(
            "the two databases use {taken} of {}, so the clients share these cores: the ratio may be biased towards 1",
            counted(cores as usize, "core")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Value;

    fn study(limits: &str) -> Study {
        let text = format!(
            "[study]\nname = \"t\"\ntitle = \"t\"\nrepetitions = 2\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 1\n\
             [engine]\nkind = \"null\"\n{limits}"
        );
        proofload_model::study::validate(&text, &[], &crate::catalogue::catalogue()).expect("a valid study")
    }

    /// Nothing would be swapped without cores of their own.
    #[test]
    fn both_have_cores_of_their_own() {
        let told = without_cores(&study("")).expect("it is refused");
        assert!(told.contains("limits.cores") && told.contains("--set limits.cores=1"), "{told}");
        assert_eq!(without_cores(&study("[limits]\ncores = 1\n")), None);
        assert_eq!(without_cores(&study("[[factor]]\nsetting = \"limits.cores\"\nlevels = [1, 2]\n")), None);
    }

    /// Each study with what its windows lack, before anything is built.
    #[test]
    fn windows_too_short_for_a_ratio_are_refused_in_a_duet_and_warned_of_in_turns() {
        let of = |name: &str, more: &str| {
            let mut study = study(&format!("[limits]\ncores = 1\n{more}"));
            study.settings.0.insert("study.name".to_owned(), Value::Text(name.to_owned()));
            study
        };
        let measure = |seconds: &str| format!("[procedure]\nmeasure = \"{seconds}\"\n");
        let told = |one: &str, other: &str| expect_duet(&of("a", one), &of("b", other)).err().map(|(_, text)| text);
        let text = told(&measure("9s"), &measure("2s")).expect("it is refused");
        for wanted in ["a: procedure.measure = 9 s", "b: procedure.measure = 2 s", "--set procedure.measure=30s"] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let varied = "[[factor]]\nsetting = \"procedure.measure\"\nlevels = [\"20s\", \"5s\"]\n";
        assert_eq!(short_window(&of("a", varied)), Some(Duration::from_secs(5)));
        assert_eq!(short_window(&of("a", &measure("10s"))), None);
        let warned = short_window_warning(&of("a", &measure("9s"))).expect("it is warned of");
        assert!(warned.starts_with("warning: a: procedure.measure = 9 s: throughput"), "{warned}");
        assert_eq!(short_window_warning(&of("a", &measure("10s"))), None);
        // A gate of throughput has something to judge as soon as one point has a long window.
        assert_eq!(expect_judged_windows(&of("a", varied)), Ok(()));
        assert_eq!(expect_judged_windows(&of("a", &measure("10s"))), Ok(()));
        let (exit, text) = expect_judged_windows(&of("a", &measure("9s"))).expect_err("it is refused");
        assert!(exit == Exit::StudyInvalid && text.contains("a: procedure.measure = 9 s: throughput"), "{text}");
        // Measured in turns, such a run goes on until it has so many.
        let quiet = |seconds: u32| of("a", &format!("{}quiet_seconds = {seconds}\n", measure("9s")));
        assert_eq!(short_window(&quiet(10)), None);
        assert_eq!(short_window(&quiet(9)), Some(Duration::from_secs(9)));
    }

    #[test]
    fn split_physical_cores_are_told() {
        let cores = [1, 2].map(|count| cores_of_points(&study(&format!("[limits]\ncores = {count}\n"))));
        let allowed: Vec<usize> = (0..8).collect();
        let told = split_cores(&cores, &allowed, |core| vec![core & !1, core | 1]);
        assert!(told.is_some_and(|told| told.starts_with("cores 0 and 1 are hyperthreads")));
        assert_eq!(split_cores(&cores, &allowed, |core| vec![core]), None);
    }

    #[test]
    fn standbys_count_with_the_limit_that_they_have() {
        let sum = |settings: &[(&str, Value)]| {
            cpu_of_all(&Settings(settings.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect()))
        };
        let pair =
            [("replication.mode", Value::Text("remote_flush".to_owned())), ("replication.standbys", Value::Integer(2))];
        let with = |more: &[(&'static str, f64)]| {
            let more = more.iter().map(|(path, value)| (*path, Value::Number(*value)));
            sum(&pair.iter().cloned().chain(more).collect::<Vec<_>>())
        };
        assert_eq!(with(&[("limits.cpu", 1.5)]), Some(4.5));
        assert_eq!(with(&[("limits.cpu", 1.5), ("limits.standby_cpu", 0.25)]), Some(2.0));
        assert_eq!(with(&[("limits.standby_cpu", 0.25)]), Some(0.5));
        assert_eq!(with(&[]), None);
        assert_eq!(sum(&[("limits.cpu", Value::Number(1.5))]), Some(1.5), "a single node");
    }
}
