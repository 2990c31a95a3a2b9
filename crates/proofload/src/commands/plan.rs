//! `plan`: what a study would do, before it does it.

use super::pilot::Pilot;
use super::plan_times::{CalibrationPlan, in_all, total, waits};
use super::server_named::{changed_servers, changes_in_words, names_for_yes};
use super::study_needs::place;
use super::verdict::counted;
use crate::cli::PlanArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::local_time::local_zone;
use crate::output;
use crate::run_times::{RunTimes, build_time, data_set};
use proofload_engine::engine;
use proofload_model::engines::verified_words;
use proofload_model::error::Error;
use proofload_model::plan::{Plan, expand, most_runs};
use proofload_model::setting_words::RestorePolicy;
use proofload_model::settings::{Kind, SettingSpec, Value, limit_settings, setting};
use proofload_model::standby_hosts::STANDBY_COMMAND;
use proofload_model::study::{Goal, Study, preconditioning, purged_devices, search, values_of};
use proofload_model::tier::tier_plan;
use proofload_model::time::Clock;
use proofload_model::units::{Bytes, duration_words};
use proofload_testbed::preconditioning::{purge_refusal, refusal};
use std::collections::BTreeMap;
use std::path::Path;

/// Most runs that the text lists; the sums that follow are what a reader of more looks for.
const LISTED: usize = 100;

/// Fewest runs that are worth a line in their place.
const FOLDED: usize = 20;

/// Prints the plan.
pub(crate) fn run(arguments: &PlanArguments) -> Exit {
    let (pilot, arguments) = (arguments.pilot.as_deref(), &arguments.check);
    let file = match super::study_file::read_with(&arguments.study.study, &arguments.study.set) {
        Ok(file) => file,
        Err(refusal) => return refusal.tell(arguments.json),
    };
    let pilot = match pilot.map(|pilot| Pilot::read(pilot, &file.study)).transpose() {
        Ok(pilot) => pilot,
        Err(text) => return output::failure(arguments.json, Exit::Failure, &text),
    };
    if !arguments.json {
        file.tell_advice();
    }
    let told = if arguments.json {
        super::plan_json::plan_json(&file.study, pilot.as_ref())
    } else {
        text(&file.study).map(|text| text + &pilot.as_ref().map(Pilot::text).unwrap_or_default())
    };
    match told {
        Ok(text) => output::conclude(arguments.json, &text, Exit::Good),
        Err(error) => output::failure(arguments.json, Exit::Failure, &error.to_string()),
    }
}

fn text(study: &Study) -> Result<String, Error> {
    let plan = expand(study);
    let mut text = format!("{}: {}\n\n", study.name(), study.title());
    text.push_str(&search_text(study, &plan)?);
    text.push_str(&runs_text(study, &plan)?);
    text.push_str(&times_text(study, &plan)?);
    text.push_str(&space_text(study, &plan)?);
    text.push_str(&limits_text(study));
    text.push_str(&super::confirm::asked_text(study).unwrap_or_default());
    text.push_str(&verified_text(study));
    text.push_str(&destructive_text(study)?);
    let yes = names_for_yes(study);
    for server in changed_servers(study) {
        text.push_str(&format!("server {server}: {}; run requires --yes {yes}\n", changes_in_words(study)));
    }
    Ok(text)
}

/// Everything that is known of a search before its first result.
fn search_text(study: &Study, plan: &Plan) -> Result<String, Error> {
    let Some(search) = search(&study.settings)? else { return Ok(String::new()) };
    let goal = match &search.goal {
        Goal::Max { plateau } => format!("the smallest with throughput within {} % of the maximum", 100.0 * plateau),
        Goal::Percentile { statistic, at_most, operation } => {
            format!("the largest with {statistic} of {operation} at most {}", duration_words(*at_most))
        }
    };
    let combinations = if plan.points.len() == 1 {
        String::new()
    } else {
        format!(" for each of {} combinations of levels", plan.points.len())
    };
    let beside = if search.blocks { ", each except the first side by side with the best so far" } else { "" };
    Ok(format!(
        "a search over {} from {} to {}: {goal}, to {} %\nat most {}{combinations}{beside}, at most {} in total; each point is chosen from earlier results\n\n",
        search.setting,
        search.from,
        search.to,
        100.0 * search.resolution,
        counted(search.points as usize, "point"),
        counted(most_runs(study), "run")
    ))
}

fn runs_text(study: &Study, plan: &Plan) -> Result<String, Error> {
    let mut text = if most_runs(study) > plan.runs.len() {
        "known before the first result:\n".to_owned()
    } else {
        let (runs, points) = (counted(plan.runs.len(), "run"), counted(plan.points.len(), "point"));
        format!("{runs} of {points}, in this order:\n")
    };
    let shown = if plan.runs.len() > LISTED { LISTED - FOLDED } else { plan.runs.len() };
    for run in &plan.runs[..shown] {
        let levels: Vec<String> = plan.points[run.point as usize]
            .levels
            .iter()
            .map(|(setting, value)| format!("{setting} = {value}"))
            .collect();
        let sentinel = if run.sentinel { "  sentinel" } else { "" };
        let repetition =
            if study.repetitions() > 1 { format!("  repetition {}", run.repetition + 1) } else { String::new() };
        let levels = if levels.is_empty() { "the only point".to_owned() } else { levels.join(", ") };
        text.push_str(&format!(
            "  {:>3}  {levels}{repetition}{sentinel}  {}\n",
            run.index.saturating_add(1),
            RunTimes::of(&plan.settings(study, run.point))?.text()
        ));
    }
    if shown < plan.runs.len() {
        text.push_str(&format!("    …  {} more; proofload plan --json lists all\n", plan.runs.len() - shown));
    }
    Ok(text)
}

fn times_text(study: &Study, plan: &Plan) -> Result<String, Error> {
    let sizes = data_sizes(study, plan)?;
    let build = match sizes.values().sum::<u64>() {
        0 => String::new(),
        bytes => format!("build the data once: about {}\n", duration_words(build_time(bytes))),
    };
    Ok(format!(
        "\nload: {}{}\n{build}{}{}\n",
        total(study, plan)?.text(),
        waits(study, plan),
        CalibrationPlan::of(study, plan)?.text(),
        in_all(study, plan, SystemClock.wall(), &local_zone())
    ))
}

/// Expected size of each data set by its label.
pub(super) fn data_sizes(study: &Study, plan: &Plan) -> Result<BTreeMap<String, u64>, Error> {
    let mut sizes = BTreeMap::new();
    for point in &plan.points {
        sizes.extend(data_set(study, &plan.settings(study, point.id))?);
    }
    Ok(sizes)
}

/// Copies of each data set that lie on the disk at a time.
pub(super) fn copies(study: &Study) -> Result<u64, Error> {
    let restores = values_of(RestorePolicy::PATH, &study.settings, &study.factors);
    Ok(if restores.iter().any(|value| RestorePolicy::of_value(value) == Some(RestorePolicy::EveryRun)) { 2 } else { 1 })
}

/// Room that all copies of all data sets take while they grow.
pub(super) fn space(sizes: &BTreeMap<String, u64>, copies: u64) -> Bytes {
    round_size(sizes.values().sum::<u64>() * copies * 3 / 2)
}

/// The largest cache of a tier at any point; nothing where no point has one.
pub(super) fn largest_cache(study: &Study, plan: &Plan) -> Result<Bytes, Error> {
    let mut largest = 0;
    for point in &plan.points {
        let settings = plan.settings(study, point.id);
        let workload = proofload_load::workload(settings.text(setting::WORKLOAD_KIND)?);
        if let (Some(workload), Some(tier)) = (workload, tier_plan(&settings)?) {
            largest = largest.max(tier.cache.size.before(workload.expected_bytes(&settings)).0);
        }
    }
    Ok(round_size(largest))
}

fn space_text(study: &Study, plan: &Plan) -> Result<String, Error> {
    let sizes = data_sizes(study, plan)?;
    let copies = copies(study)?;
    let path = place(study)?;
    let cache = match largest_cache(study, plan)? {
        Bytes(0) => String::new(),
        cache => format!("cache: up to about {cache} in addition\n"),
    };
    Ok(format!(
        "space: about {} in {path} ({}, {copies} cop{} each, plus half while it grows)\n{cache}",
        space(&sizes, copies),
        counted(sizes.len(), "data set"),
        if copies == 1 { "y" } else { "ies" }
    ))
}

fn round_size(bytes: u64) -> Bytes {
    let unit = if bytes > 10 << 30 { 1 << 30 } else { 1 << 20 };
    Bytes(bytes.div_ceil(unit) * unit)
}

/// Every limit with its values: the levels of a factor (`none` where a level of a group leaves it out), one value, or an empty list.
pub(super) fn limits(study: &Study) -> Vec<(&'static str, Vec<String>)> {
    let values = |SettingSpec { path, kind, .. }: &'static SettingSpec| {
        let unit = if matches!(kind, Kind::Bandwidth { .. }) { "/s" } else { "" };
        let word = |value: &Value| format!("{value}{unit}");
        let mut values: Vec<String> = values_of(path, &study.settings, &study.factors).into_iter().map(word).collect();
        let factor = study.factors.iter().find(|factor| factor.varies(path));
        let some_have_none = factor.is_some_and(|factor| factor.values(path).any(|value| value.is_none()));
        if some_have_none && study.settings.get(path).is_none() {
            values.push("none".to_owned());
        }
        (*path, values)
    };
    limit_settings().map(values).collect()
}

/// Limits that were asked for.
fn limits_text(study: &Study) -> String {
    let asked = limits(study).into_iter().filter(|(_, values)| !values.is_empty());
    asked.map(|(path, values)| format!("{path}: {}\n", values.join(", "))).collect()
}

/// What is known on real servers of the engines that the study asks for.
fn verified_text(study: &Study) -> String {
    let kinds = values_of(setting::ENGINE_KIND, &study.settings, &study.factors);
    let names = kinds.iter().map(ToString::to_string);
    let keeps_data = |name: &String| engine(name).is_some_and(|engine| engine.about().keeps_data);
    names.filter(keeps_data).map(|name| format!("{name}: {}\n", verified_words(&name, None))).collect()
}

/// Devices whose data would be lost.
pub(super) fn destroyed(study: &Study) -> Result<Vec<String>, Error> {
    let once = preconditioning(&study.settings, None)?.and_then(|how| how.device);
    Ok(once.into_iter().chain(purged_devices(&study.settings)).collect())
}

fn destructive_text(study: &Study) -> Result<String, Error> {
    let (devices, purged) = (destroyed(study)?, purged_devices(&study.settings));
    let folder = Path::new(study.settings.text(setting::STORAGE_PATH)?).join(study.name());
    let local = study.settings.list(setting::AGENTS_HOST).is_empty();
    let has_own_hosts = !study.settings.list(STANDBY_COMMAND).is_empty();
    let elsewhere = study.settings.list(setting::STORAGE_PURGE_STANDBY_DEVICES).iter().filter(|_| has_own_hosts);
    let elsewhere: Vec<&String> = elsewhere.collect();
    let yes = names_for_yes(study);
    let line = |device: &String| {
        let when = if purged.contains(device) { " before each run" } else { "" };
        let lost = format!("DESTRUCTIVE: all data on {device} is lost{when}; run requires --yes {yes}\n");
        let refusal = if purged.contains(device) { purge_refusal } else { refusal };
        let refused = (local && !elsewhere.contains(&device)).then(|| refusal(device, &folder)).flatten();
        lost + &refused.map(|why| format!("this machine would {why}\n")).unwrap_or_default()
    };
    Ok(devices.iter().map(line).collect())
}
