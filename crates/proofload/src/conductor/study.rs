//! A whole study: agents, preconditioning, then every run that is still missing.

use super::calibration::{Calibrations, Part};
use super::crew::{Crew, Role, Watch};
use super::journal::Journal;
use super::load_agents::LoadCommand;
use super::preparation::Prepared;
use super::search;
use crate::interrupt::Interrupt;
use crate::live::{Phase, View};
use proofload_model::deployment::InstancePlan;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::part::{HOST_PLACEHOLDER, load_hosts};
use proofload_model::plan::{Plan, Run};
use proofload_model::study::{Study, preconditioning};
use proofload_model::time::Clock;
use proofload_model::wire::host;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is to be done.
pub(crate) struct Assignment {
    pub(crate) study: Study,
    pub(crate) plan: Plan,
    /// Runs that the record already has.
    pub(crate) finished: BTreeSet<u32>,
    /// What earlier sessions of this record found out about the machine.
    pub(crate) calibrations: Calibrations,
    /// Was storage preconditioned in an earlier session of this record?
    pub(crate) preconditioned: bool,
    /// The device that `--yes` names.
    pub(crate) confirmed: Option<String>,
}

impl Assignment {
    /// Runs that are neither in the record nor were tried in this session.
    fn missing(&self, tried: &BTreeSet<u32>) -> Vec<Run> {
        let runs = self.plan.runs.iter();
        runs.filter(|run| !self.finished.contains(&run.index) && !tried.contains(&run.index)).copied().collect()
    }
}

/// How a study ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every run is in the record.
    Complete,
    /// Someone asked to stop.
    Interrupted,
    /// Runs failed; the first reason.
    Failed {
        /// How many.
        runs: usize,
        /// The first reason.
        reason: String,
    },
}

/// Carries out all that is missing.
pub(crate) fn conduct(
    assignment: &mut Assignment,
    journal: &mut Journal,
    view: &mut dyn View,
    clock: Arc<dyn Clock>,
    interrupt: Interrupt,
) -> Result<Outcome, Error> {
    let mut crew = Crew::new(journal, view, clock, interrupt);
    let outcome = runs(assignment, &mut crew);
    crew.stop(Role::Load);
    crew.stop(Role::Host);
    match outcome {
        Err(error) if error.is_interrupted() => {
            crew.journal.log("info", "conductor", &error.to_string())?;
            Ok(Outcome::Interrupted)
        }
        other => other,
    }
}

fn runs(assignment: &mut Assignment, crew: &mut Crew<'_>) -> Result<Outcome, Error> {
    let commands = Commands::of(&assignment.study)?;
    start_host(crew, &assignment.study, &commands)?;
    let folder = study_folder(&assignment.study)?;
    let facts = crew.host(host::Describe { folder })?;
    crew.journal.facts(&facts)?;
    if !assignment.preconditioned {
        precondition(assignment, crew)?;
    }
    if assignment.study.settings.get("search.setting").is_some() {
        search::begin(assignment, crew)?;
    }
    let (mut reasons, mut tried) = (Vec::new(), BTreeSet::new());
    loop {
        for run in assignment.missing(&tried) {
            tried.insert(run.index);
            match one_run(assignment, crew, &commands, run) {
                Ok(()) => assignment.finished.extend([run.index]),
                Err(error) if error.is_interrupted() => return Ok(Outcome::Interrupted),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        if !search::go_on(assignment, crew)? {
            break;
        }
        if crew.interrupted() {
            return Ok(Outcome::Interrupted);
        }
    }
    Ok(match reasons.first() {
        None => Outcome::Complete,
        Some(first) => Outcome::Failed { runs: reasons.len(), reason: first.clone() },
    })
}

/// One attempt at one run; whatever happens, it ends in the record and nothing of it stays behind.
fn one_run(assignment: &mut Assignment, crew: &mut Crew<'_>, commands: &Commands, run: Run) -> Result<(), Error> {
    let prepared = Prepared::of(&assignment.study, &assignment.plan, run)?;
    crew.view.begin_run(run.index);
    crew.journal.begin(run.index)?;
    crew.watch = Watch::default();
    let hosted = if crew.is_running(Role::Host) { Ok(()) } else { start_host(crew, &assignment.study, commands) };
    let ran = hosted
        .and_then(|()| crew.ensure_data(&prepared, &commands.load))
        .and_then(|()| calibrate(assignment, crew, commands, &prepared))
        .and_then(|()| crew.carry_out(&prepared, &commands.loads));
    match ran {
        Ok(()) => {
            crew.journal.finish()?;
            crew.view.end_run(run.index, None);
            Ok(())
        }
        Err(error) => {
            let error = if error.is_interrupted() {
                error
            } else {
                with_kills(crew, &prepared, error).context(format!("run {}", run.index))
            };
            crew.journal.fail(&error.to_string())?;
            crew.view.end_run(run.index, Some(&error.to_string()));
            clean_up(crew, &assignment.study, commands);
            Err(error)
        }
    }
}

/// Finds out what is not known yet of the machine for this run, and notes all of it in the run. What cannot be found out is noted with
/// its reason and keeps no run from going on; it is tried again when the study is resumed.
fn calibrate(
    assignment: &mut Assignment,
    crew: &mut Crew<'_>,
    commands: &Commands,
    prepared: &Prepared,
) -> Result<(), Error> {
    for part in Part::wanted(prepared) {
        let key = part.key(prepared);
        if !assignment.calibrations.knows(&key) {
            crew.watch = Watch::default();
            let number = assignment.calibrations.count();
            let facts = match crew.find_out(&part, prepared, &commands.load, number) {
                Ok(facts) => {
                    crew.journal.study_event(RunEvent::Calibrated { key: key.clone(), facts: facts.clone() })?;
                    facts
                }
                Err(error) if error.is_interrupted() => return Err(error),
                Err(error) => {
                    clean_up(crew, &assignment.study, commands);
                    crew.journal.log(
                        "warning",
                        "conductor",
                        &format!("calibration of the {}: {error}", part.word()),
                    )?;
                    crew.journal.event(RunEvent::CalibrationFailed(error.to_string()))?;
                    part.missing(&error)
                }
            };
            assignment.calibrations.add(key.clone(), facts);
        }
        crew.journal.facts(assignment.calibrations.facts(&key))?;
    }
    Ok(())
}

/// An error of a run, with what the limit of memory had to do with it: a server whose process was killed only says that a connection is
/// closed. What was used is noted in the run.
fn with_kills(crew: &mut Crew<'_>, prepared: &Prepared, error: Error) -> Error {
    let Some(limit) = prepared.primary().limits.memory.filter(|_| crew.is_running(Role::Host)) else { return error };
    let Ok(facts) = crew.host(host::ReadUsage { instance: prepared.primary().name.clone() }) else { return error };
    let kills = facts.iter().find(|fact| fact.name == "memory.oom_kills").and_then(|fact| fact.effective.as_deref());
    match kills.and_then(|kills| kills.parse::<u64>().ok()).filter(|kills| *kills > 0) {
        None => error,
        Some(kills) => {
            // A record that takes no facts tells so when the failure is written.
            let _noted = crew.journal.facts(&facts);
            let processes = if kills == 1 { "a process" } else { "processes" };
            Error::of(
                error.kind(),
                format!(
                    "{error}; the kernel killed {processes} of the database ({kills}) because limits.memory = {limit} did not suffice: \
                 raise it, or lower what the engine takes beside its cache or the users that work at once"
                ),
            )
        }
    }
}

/// After a failed run: agents stop and release; what a dead one left is swept by a fresh one.
fn clean_up(crew: &mut Crew<'_>, study: &Study, commands: &Commands) {
    crew.stop(Role::Load);
    crew.stop(Role::Host);
    crew.watch = Watch::default();
    if crew.interrupted() {
        return;
    }
    let swept = start_host(crew, study, commands);
    if let Err(error) = swept {
        let _noted = crew.journal.log("error", "conductor", &format!("cleaning up after a failed run: {error}"));
    }
}

/// Starts a host agent and lets it free what earlier, killed ones left.
fn start_host(crew: &mut Crew<'_>, study: &Study, commands: &Commands) -> Result<(), Error> {
    crew.start(Role::Host, &commands.host)?;
    crew.host(host::Sweep { folder: study_folder(study)? })
}

/// Preconditioning, when the study asks for it.
fn precondition(assignment: &Assignment, crew: &mut Crew<'_>) -> Result<(), Error> {
    let settings = &assignment.study.settings;
    let Some(how) = preconditioning(settings, assignment.confirmed.as_deref())? else { return Ok(()) };
    let first = assignment.plan.runs.first().ok_or_else(|| Error::new("the plan has no run"))?;
    let prepared = Prepared::of(&assignment.study, &assignment.plan, *first)?;
    crew.view.phase(Phase::Preconditioning);
    let InstancePlan { name, place, .. } = prepared.primary();
    let done = crew.host(host::Precondition { instance: name.clone(), place: place.clone(), how })?;
    for (name, body) in done.documents {
        crew.journal.document(&name, &body)?;
    }
    crew.journal.facts(&done.facts)?;
    crew.journal.event(RunEvent::Preconditioned)
}

/// The folder below which everything of a study lies.
fn study_folder(study: &Study) -> Result<String, Error> {
    let (root, name) = (study.settings.text("storage.path")?, study.settings.text("study.name")?);
    Ok(format!("{}/{name}", root.trim_end_matches('/')))
}

/// How agents are started.
struct Commands {
    host: Vec<String>,
    /// The first load agent's: it builds, calibrates and checks.
    load: Vec<String>,
    /// Every load agent's.
    loads: Vec<LoadCommand>,
}

impl Commands {
    fn of(study: &Study) -> Result<Self, Error> {
        let local = || -> Result<Vec<String>, Error> {
            let program = std::env::current_exe()
                .map_err(|error| Error::new(format!("finding this program's own file: {error}")))?;
            Ok(vec![program.to_string_lossy().into_owned(), "agent".to_owned()])
        };
        let given = |path: &str| match study.settings.list(path) {
            [] => local(),
            command => Ok(command.to_vec()),
        };
        let (host, load) = (given("agents.host")?, given("agents.load")?);
        let on_host = |name: &str| LoadCommand {
            name: name.to_owned(),
            command: load.iter().map(|word| word.replace(HOST_PLACEHOLDER, name)).collect(),
        };
        let mut loads: Vec<LoadCommand> =
            load_hosts(&study.settings)?.iter().map(|load_host| on_host(&load_host.name)).collect();
        if loads.is_empty() {
            loads.push(LoadCommand { name: "load".to_owned(), command: load });
        }
        Ok(Self { host, load: loads[0].command.clone(), loads })
    }
}
