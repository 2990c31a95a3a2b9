//! A whole study: agents, preconditioning, then every run that is still missing.

use super::agents::{Agents, LoadCommand};
use super::calibration::{self, CalibrationStep, Calibrations};
use super::experiment::experiment;
use super::experiment_rules::ExperimentChoice;
use super::heard::Heard;
use super::journal::Journal;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use super::run_state::RunState;
use super::{data, hosts, locked_out, retry, run, search, testbed};
use crate::interrupt::Interrupt;
use crate::live::{Phase, RunEnd, View};
use proofload_model::deployment::{HostName, InstanceName};
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::facts::{HOST_IDENTITY, usage};
use proofload_model::intervention::ConfirmAsked;
use proofload_model::load_share::load_hosts;
use proofload_model::log_level::LogLevel;
use proofload_model::network::{NetworkMember, network_members};
use proofload_model::plan::{Plan, Run};
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use proofload_model::standby_hosts::{STANDBY_COMMAND, StandbyHost, command_on, standby_hosts};
use proofload_model::study::{Study, preconditioning};
use proofload_model::time::Clock;
use proofload_model::units::duration_words;
use proofload_record::Record;
use proofload_report::findings::{Findings, evaluate, summarise};
use proofload_testbed::network::sweep_networks;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// What is to be done.
pub(crate) struct Assignment {
    pub(crate) study: Study,
    pub(crate) plan: Plan,
    /// Runs that the record already has.
    pub(crate) finished: BTreeSet<u32>,
    /// What earlier sessions of this record found out about the machine.
    pub(crate) calibrations: Calibrations,
    /// Whether storage was preconditioned in an earlier session of this record.
    pub(crate) preconditioned: bool,
    /// The device that `--yes` names.
    pub(crate) confirmed: Option<String>,
    /// How long each run of this session waits for a quiet host at most; `None`: as long as the study says.
    pub(crate) wait_for_quiet: Option<Duration>,
    /// Experiments with points, by a run of each, once all runs are finished.
    pub(crate) experiments: Vec<(Run, ConfirmAsked)>,
}

impl Assignment {
    /// Runs that are neither in the record nor were tried in this session.
    fn missing(&self, tried: &BTreeSet<u32>) -> Vec<Run> {
        let runs = self.plan.runs.iter();
        runs.filter(|run| !self.finished.contains(&run.index) && !tried.contains(&run.index)).copied().collect()
    }

    /// A run of the plan that waits for a quiet host as long as this session lets it.
    fn prepared(&self, run: Run) -> Result<PreparedRun, Error> {
        let mut prepared = PreparedRun::of(&self.study, &self.plan, run)?;
        prepared.procedure.wait_for_quiet = self.wait_for_quiet.unwrap_or(prepared.procedure.wait_for_quiet);
        Ok(prepared)
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

impl Outcome {
    /// How a study ended whose runs failed for these reasons.
    pub(super) fn of(reasons: &[String]) -> Self {
        match reasons.first() {
            None => Self::Complete,
            Some(first) => Self::Failed { runs: reasons.len(), reason: first.clone() },
        }
    }
}

/// Carries out all that is missing.
pub(crate) fn conduct(
    assignment: &mut Assignment,
    journal: &mut Journal,
    view: &mut dyn View,
    clock: Arc<dyn Clock>,
    interrupt: Interrupt,
) -> Result<Outcome, Error> {
    let mut context = RunContext::new(Agents::new(clock, interrupt), Heard::new(journal, view), None);
    let outcome = runs(assignment, &mut context);
    context.agents.stop_load();
    context.agents.stop_hosts();
    match outcome {
        Err(error) if error.is_interrupted() => {
            context.heard.journal.log(LogLevel::Info, "conductor", &error.to_string())?;
            Ok(Outcome::Interrupted)
        }
        other => other,
    }
}

fn runs(assignment: &mut Assignment, context: &mut RunContext<'_>) -> Result<Outcome, Error> {
    let commands = Commands::of(&assignment.study)?;
    start_hosts(context, &assignment.study, &commands)?;
    begin(assignment, context)?;
    if assignment.study.settings.get(setting::SEARCH_SETTING).is_some() {
        search::begin(assignment, context)?;
    }
    let (mut reasons, mut tried): (Vec<String>, BTreeSet<u32>) = (Vec::new(), BTreeSet::new());
    let before = assignment.finished.len();
    loop {
        for run in assignment.missing(&tried) {
            tried.insert(run.index);
            let failed = attempt(assignment, context, &commands, run)?;
            // A server that let a run of this session in may only be starting again.
            let may_be_closed = failed.is_some() && tried.len() == 1 && assignment.finished.len() == before;
            reasons.extend(failed);
            let left = assignment.missing(&tried).len();
            if may_be_closed
                && let Some(told) = locked_out::told(assignment, context, run, left)
                && let Some(first) = reasons.first_mut()
            {
                context.heard.journal.log(LogLevel::Warning, "conductor", &told)?;
                first.push_str(&format!("\n{told}"));
                return Ok(Outcome::of(&reasons));
            }
        }
        if !search::go_on(assignment, context)? {
            break;
        }
        context.agents.expect_no_interrupt()?;
    }
    if reasons.is_empty() && assignment.experiments.is_empty() {
        assignment.experiments = asked_experiments(assignment, context)?;
    }
    for (run, asked) in assignment.experiments.clone() {
        reasons.extend(experiment_with(assignment, context, &commands, (run, asked))?);
    }
    Ok(Outcome::of(&reasons))
}

/// Experiments that the study asks for and that have not ended yet, once all its runs are finished.
fn asked_experiments(assignment: &Assignment, context: &mut RunContext<'_>) -> Result<Vec<(Run, ConfirmAsked)>, Error> {
    if assignment.study.settings.get(setting::CONFIRM_POINTS).is_none() {
        return Ok(Vec::new());
    }
    let record = context.heard.journal.read_back_last()?;
    let choice = experiments_left(&evaluate(&record)).map_err(Error::refused)?;
    // The end of the study tells them, whatever the view.
    for text in &choice.refused {
        context.heard.journal.log(LogLevel::Warning, "conductor", text)?;
    }
    Ok(choice.planned)
}

/// Experiments that a study asks for (`confirm.points`) and that have not ended yet, and why there is none with other points.
fn experiments_left(findings: &Findings<'_>) -> Result<ExperimentChoice, String> {
    let settings = &findings.record.study.settings;
    let Ok(words) = settings.text(setting::CONFIRM_POINTS) else { return Ok(ExperimentChoice::default()) };
    let mut choice = ExperimentChoice::of(findings, words, ConfirmAsked::of(settings))?;
    // One whose untouched point moved says nothing: it is made again, once.
    let has_ended = |point: u32| {
        findings
            .attributions
            .iter()
            .any(|found| found.point == point && found.ended.is_some() && !found.wants_another())
    };
    choice.planned.retain(|(run, _)| !has_ended(run.point));
    for why in &mut choice.refused {
        *why = format!("no experiment (confirm.points = {words:?}) with {why}");
    }
    Ok(choice)
}

/// Experiments that a study asks for and that cannot be made: with which point, and why; a sentence each.
pub(crate) fn refused_experiments(findings: &Findings<'_>) -> Vec<String> {
    experiments_left(findings).map(|choice| choice.refused).unwrap_or_default()
}

/// Whether a session would find nothing to do: every run is finished, and every search and every experiment that the study asks for has
/// ended, or cannot be made.
pub(crate) fn nothing_is_missing(record: &Record) -> bool {
    let attempts = record.by_run();
    record.plan.runs.iter().all(|run| attempts.finished(run.index).is_some())
        && search::has_ended(record)
        && (record.study.settings.get(setting::CONFIRM_POINTS).is_none()
            || experiments_left(&evaluate(record)).is_ok_and(|choice| choice.planned.is_empty()))
}

/// Makes an experiment with the point of a run; the reason why it failed, if it did. Only what ends the study is an error.
fn experiment_with(
    assignment: &mut Assignment,
    context: &mut RunContext<'_>,
    commands: &Commands,
    (run, asked): (Run, ConfirmAsked),
) -> Result<Option<String>, Error> {
    context.agents.expect_no_interrupt()?;
    let mut prepared = assignment.prepared(run)?;
    prepared.experiment = Some(asked);
    match one_run(assignment, context, commands, &prepared) {
        Ok(()) => Ok(None),
        Err(error) if error.is_interrupted() => Err(error),
        Err(error) => {
            context.agents.expect_no_interrupt()?;
            Ok(Some(error.to_string()))
        }
    }
}

/// Describes the host and preconditions its storage, once per study.
pub(super) fn begin(assignment: &Assignment, context: &mut RunContext<'_>) -> Result<(), Error> {
    context.confirmed.clone_from(&assignment.confirmed);
    if let Some(wait) = assignment.wait_for_quiet {
        let wait = duration_words(wait);
        let text = format!("each run of this session waits up to {wait} for a quiet host, as --wait says");
        context.heard.journal.log(LogLevel::Info, "conductor", &text)?;
    }
    context.commits_known.extend(assignment.calibrations.commits().cloned());
    let folder = study_folder(&assignment.study)?;
    let commands = Commands::of(&assignment.study)?;
    context.host_facts.clear();
    for HostCommand { host, instance, .. } in commands.hosts.iter().filter(|command| command.is_described) {
        let facts = hosts::describe(&mut context.agents, &mut context.heard, host, &folder)?;
        // The facts of a host that a standby has to itself are that standby's.
        let of_instance = |fact| instance.iter().fold(fact, |fact, instance| testbed::of(instance, fact));
        let facts: Vec<Fact> = facts.into_iter().map(of_instance).collect();
        context.heard.journal.facts(&facts)?;
        let tells_hosts_apart =
            |fact: &&Fact| !fact.instance.is_standby() && HOST_IDENTITY.iter().any(|name| name.is_of(fact));
        context.host_facts.extend(facts.iter().filter(tells_hosts_apart).cloned());
    }
    if assignment.preconditioned { Ok(()) } else { precondition(assignment, context) }
}

/// Measures a run; the reason why it failed, if it did. Only what ends the study is an error.
pub(super) fn attempt(
    assignment: &mut Assignment,
    context: &mut RunContext<'_>,
    commands: &Commands,
    run: Run,
) -> Result<Option<String>, Error> {
    attempt_behind(assignment, context, commands, (run, 0))
}

/// The same on cores behind the first so many, which are another study's.
pub(super) fn attempt_behind(
    assignment: &mut Assignment,
    context: &mut RunContext<'_>,
    commands: &Commands,
    (run, cores_before): (Run, u32),
) -> Result<Option<String>, Error> {
    context.agents.expect_no_interrupt()?;
    let mut prepared = assignment.prepared(run)?;
    for instance in &mut prepared.deployment.instances {
        instance.limits.cores_before += cores_before;
    }
    let ended = retry::attempts(context, &prepared, |context| one_run(assignment, context, commands, &prepared));
    match ended {
        Ok(()) => {
            assignment.finished.extend([run.index]);
            Ok(None)
        }
        Err(error) if error.is_interrupted() => Err(error),
        Err(error) => {
            context.agents.expect_no_interrupt()?;
            Ok(Some(error.to_string()))
        }
    }
}

/// Makes one attempt at one run; whatever happens, the record gets its end and nothing of it stays behind.
fn one_run(
    assignment: &mut Assignment,
    context: &mut RunContext<'_>,
    commands: &Commands,
    prepared: &PreparedRun,
) -> Result<(), Error> {
    let run = prepared.run;
    context.heard.show_begin(run.index);
    context.heard.journal.begin(run.index)?;
    // A record may be carried on elsewhere.
    context.heard.journal.facts(&context.host_facts)?;
    if let Some(asked) = prepared.experiment {
        context.heard.journal.event(RunEvent::ExperimentBegun(experiment(prepared, asked)))?;
    }
    context.heard.state = RunState::default();
    let hosted = if has_hosts(context, commands) { Ok(()) } else { start_hosts(context, &assignment.study, commands) };
    let ran = hosted
        .and_then(|()| context.renew_password(prepared))
        .and_then(|()| data::ensure(context, prepared, &commands.loads))
        .and_then(|()| calibrate(assignment, context, commands, prepared))
        .and_then(|()| run::carry_out(context, prepared, &commands.loads));
    match ran {
        Ok(()) if prepared.experiment.is_some() => {
            context.heard.journal.end_experiment()?;
            if let Some((attempt, settings)) = context.heard.journal.read_finished(run.index)? {
                context.heard.show_end(run.index, &RunEnd::Judged(summarise(&attempt, &settings)));
            }
            Ok(())
        }
        Ok(()) => {
            context.heard.journal.finish()?;
            if let Some((attempt, settings)) = context.heard.journal.read_back_run(run.index)? {
                context.heard.show_end(run.index, &RunEnd::Judged(summarise(&attempt, &settings)));
            }
            Ok(())
        }
        Err(error) => {
            let error = if error.is_interrupted() {
                error
            } else {
                with_kills(context, prepared, without_ledger(context, prepared, error))
            };
            // The record and its attempt have the run's number already.
            context.heard.journal.fail(&error)?;
            let shown = context.heard.shown_before.saturating_add(run.index);
            let (error, ended) =
                if error.is_interrupted() { (error, RunEnd::Interrupted) } else { failed_run(shown, error) };
            context.heard.show_end(run.index, &ended);
            context.heard.failed_under_load = context.heard.state.origin.is_some();
            clean_up(context, &assignment.study, commands);
            Err(error)
        }
    }
}

/// The error of a run with the run's number, counted as the progress counts, and its end as the progress shows it, which has the number.
fn failed_run(index: u32, error: Error) -> (Error, RunEnd) {
    let ended = RunEnd::Failed(error.to_string());
    (error.context(format!("run {}", index.saturating_add(1))), ended)
}

/// The error of a drill whose loader has died: which acknowledged writes the database holds can be told no more.
fn without_ledger(context: &RunContext<'_>, prepared: &PreparedRun, error: Error) -> Error {
    match prepared.drill {
        Some(_) if context.heard.state.loader_lost => {
            error.context("the drill is void: its ledger was lost with the load agent")
        }
        _ => error,
    }
}

/// Calibrates what is not known yet of the machine for this run, and notes all results in the run. A step that fails is noted with its
/// reason and does not stop the run; it is tried again when the study is resumed.
fn calibrate(
    assignment: &mut Assignment,
    context: &mut RunContext<'_>,
    commands: &Commands,
    prepared: &PreparedRun,
) -> Result<(), Error> {
    for step in CalibrationStep::wanted(prepared) {
        let key = step.key(prepared);
        if !assignment.calibrations.knows(&key) {
            context.heard.state = RunState::default();
            let number = assignment.calibrations.count();
            let facts = match calibration::find_out(context, &step, prepared, &commands.load, number) {
                Ok(facts) => {
                    context
                        .heard
                        .journal
                        .study_event(RunEvent::Calibrated { key: key.clone(), facts: facts.clone() })?;
                    facts
                }
                Err(error) if error.is_interrupted() => return Err(error),
                Err(error) => {
                    clean_up(context, &assignment.study, commands);
                    context.heard.journal.log(
                        LogLevel::Warning,
                        "conductor",
                        &format!("calibration of the {}: {error}", step.word()),
                    )?;
                    context.heard.journal.event(RunEvent::CalibrationFailed(error.to_string()))?;
                    step.missing(&error)
                }
            };
            assignment.calibrations.add(key.clone(), facts);
        }
        context.heard.journal.facts(assignment.calibrations.facts(&key))?;
    }
    Ok(())
}

/// The error of a run, with what the limit of memory had to do with it: when a server's process was killed, the error itself only says
/// that a connection was closed. What was used is noted in the run.
fn with_kills(context: &mut RunContext<'_>, prepared: &PreparedRun, error: Error) -> Error {
    let Some(limit) = prepared.primary().limits.memory.filter(|_| has_host(context)) else { return error };
    let Ok(facts) = context.testbed(prepared).usage() else { return error };
    match usage::OOM_KILLS.number(&facts).map(|kills| kills as u64).filter(|kills| *kills > 0) {
        None => error,
        Some(kills) => {
            // A record that takes no facts tells so when the failure is written.
            let _noted = context.heard.journal.facts(&facts);
            let processes = if kills == 1 { "a process" } else { "processes" };
            Error::of(
                error.kind(),
                format!(
                    "{error}; the kernel killed {processes} of the database ({kills}) because limits.memory = {limit} \
                     is too small: raise it, or lower the engine's memory outside its cache or the number of users"
                ),
            )
        }
    }
}

/// Cleans up after a failed run: agents stop and release; a fresh one sweeps what a dead one left.
fn clean_up(context: &mut RunContext<'_>, study: &Study, commands: &Commands) {
    context.agents.stop_load();
    context.agents.stop_hosts();
    context.heard.state = RunState::default();
    if context.agents.expect_no_interrupt().is_err() {
        return;
    }
    let swept = start_hosts(context, study, commands);
    if let Err(error) = swept {
        let _noted = context.heard.journal.log(
            LogLevel::Error,
            "conductor",
            &format!("failed to clean up after a failed run: {error}"),
        );
    }
}

/// Starts the agent of each host in the place of earlier ones, and lets each free what earlier, killed ones left.
pub(super) fn start_hosts(context: &mut RunContext<'_>, study: &Study, commands: &Commands) -> Result<(), Error> {
    // What is left of the others would hold the study's folder.
    context.agents.stop_hosts();
    sweep_left_networks(context)?;
    context.agents.join_network(&commands.network)?;
    for HostCommand { host, command, .. } in &commands.hosts {
        context.agents.start_host(host.clone(), command)?;
    }
    sweep(context, study, commands)
}

/// Removes network namespaces whose owners are dead. Others made them: that it fails is no fault of this study.
fn sweep_left_networks(context: &mut RunContext<'_>) -> Result<(), Error> {
    match sweep_networks() {
        Ok(names) => names.into_iter().try_for_each(|name| {
            let text = format!("removed network namespace {name}, whose owner is dead");
            context.heard.journal.log(LogLevel::Info, "conductor", &text)
        }),
        Err(error) => {
            let text = format!("failed to remove network namespaces whose owners are dead: {error}");
            context.heard.journal.log(LogLevel::Warning, "conductor", &text)
        }
    }
}

/// Lets the agent of each host free what earlier, killed ones left of a study.
pub(super) fn sweep(context: &mut RunContext<'_>, study: &Study, commands: &Commands) -> Result<(), Error> {
    let folder = study_folder(study)?;
    let each = commands.hosts.iter().map(|command| &command.host);
    each.into_iter().try_for_each(|host| hosts::sweep(&mut context.agents, &mut context.heard, host, &folder))
}

/// Tells whether the agent of each host runs.
fn has_hosts(context: &RunContext<'_>, commands: &Commands) -> bool {
    context.agents.first_missing(commands.hosts.iter().map(|command| &command.host)).is_none()
}

/// Tells whether the agent of the primary's host runs.
fn has_host(context: &RunContext<'_>) -> bool {
    context.agents.host(&HostName::under_test()).is_some()
}

/// Preconditioning, when the study asks for it.
fn precondition(assignment: &Assignment, context: &mut RunContext<'_>) -> Result<(), Error> {
    let settings = &assignment.study.settings;
    let Some(how) = preconditioning(settings, assignment.confirmed.as_deref())? else { return Ok(()) };
    let first = assignment.plan.runs.first().ok_or_else(|| Error::new("the plan has no run"))?;
    let prepared = PreparedRun::of(&assignment.study, &assignment.plan, *first)?;
    context.heard.view.phase(Phase::Preconditioning);
    context.testbed(&prepared).precondition(how)
}

/// The folder below which everything of a study lies.
pub(super) fn study_folder(study: &Study) -> Result<String, Error> {
    let (root, name) = (study.settings.text(setting::STORAGE_PATH)?, study.settings.text(setting::STUDY_NAME)?);
    Ok(format!("{}/{name}", root.trim_end_matches('/')))
}

/// How the agent of a host is started.
#[derive(PartialEq, Eq)]
pub(super) struct HostCommand {
    pub(super) host: HostName,
    /// Standby that has the host to itself.
    instance: Option<InstanceName>,
    /// Whether it is a machine that no other agent describes.
    is_described: bool,
    pub(super) command: Vec<String>,
}

/// How agents are started.
#[derive(PartialEq, Eq)]
pub(super) struct Commands {
    /// Members of the network that agents are started in; empty where they have none of ours.
    network: Vec<NetworkMember>,
    /// Command of each host's agent, the primary's first.
    pub(super) hosts: Vec<HostCommand>,
    /// Command of the agent that builds, calibrates and checks: the first load agent's, under a name of its own.
    load: LoadCommand,
    /// Command of each load agent.
    pub(super) loads: Vec<LoadCommand>,
}

impl Commands {
    pub(super) fn of(study: &Study) -> Result<Self, Error> {
        let local = || -> Result<Vec<String>, Error> {
            let program = std::env::current_exe()
                .map_err(|error| Error::new(format!("failed to find this program's own file: {error}")))?;
            Ok(vec![program.to_string_lossy().into_owned(), "agent".to_owned()])
        };
        let given = |path: &str| match study.settings.list(path) {
            [] => local(),
            command => Ok(command.to_vec()),
        };
        let (host, load) = (given(setting::AGENTS_HOST)?, given(setting::AGENTS_LOAD)?);
        let standby = given(STANDBY_COMMAND)?;
        let hosts = standby_hosts(&study.settings).ok().flatten();
        let is_one_machine = hosts.as_ref().is_some_and(|hosts| hosts.is_one_machine);
        let apart = hosts.map(|hosts| hosts.standbys).unwrap_or_default();
        let of_standby = |(number, apart): (u32, &StandbyHost)| HostCommand {
            host: apart.host(),
            instance: Some(InstanceName::standby(number)),
            is_described: !is_one_machine,
            command: command_on(&standby, &apart.name),
        };
        let primary = HostCommand { host: HostName::under_test(), instance: None, is_described: true, command: host };
        let hosts = std::iter::once(primary).chain((1..).zip(&apart).map(of_standby)).collect();
        let on_host = |name: &str| LoadCommand { name: name.to_owned(), command: command_on(&load, name) };
        let mut loads: Vec<LoadCommand> =
            load_hosts(&study.settings)?.iter().map(|load_host| on_host(&load_host.name)).collect();
        if loads.is_empty() {
            loads.push(LoadCommand { name: "load".to_owned(), command: load });
        }
        let first = LoadCommand { name: "load".to_owned(), command: loads[0].command.clone() };
        Ok(Self { network: network_members(&study.settings), hosts, load: first, loads })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::plan::expand;
    use proofload_model::study::validate;

    #[test]
    fn a_failed_run_is_numbered_once_and_as_the_progress_counts() {
        let (error, ended) = failed_run(0, Error::new("no connection"));
        assert_eq!(
            (error.to_string().as_str(), ended),
            ("run 1: no connection", RunEnd::Failed("no connection".to_owned()))
        );
    }

    #[test]
    fn a_session_may_let_its_runs_wait_longer_than_the_study_says() {
        let text = "[study]\nname = \"t\"\ntitle = \"t\"\nseed = 1\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\n\
                    virtual_users = 1\n[engine]\nkind = \"null\"\n[procedure]\nwait_for_quiet = \"10s\"\n";
        let study = validate(text, &[], &crate::catalogue::catalogue()).expect("it is valid");
        let plan = expand(&study);
        let run = plan.runs[0];
        let mut assignment = Assignment {
            study,
            plan,
            finished: BTreeSet::new(),
            calibrations: Calibrations::default(),
            preconditioned: false,
            confirmed: None,
            wait_for_quiet: None,
            experiments: Vec::new(),
        };
        let waits = |assignment: &Assignment| {
            assignment
                .prepared(run)
                .map(|prepared| prepared.procedure.wait_for_quiet)
                .map_err(|error| error.to_string())
        };
        assert_eq!(waits(&assignment), Ok(Duration::from_secs(10)));
        assignment.wait_for_quiet = Some(Duration::from_secs(7_200));
        assert_eq!(waits(&assignment), Ok(Duration::from_secs(7_200)));
    }
}
