//! One run of the plan, phase by phase: prepare, warm up, measure, verify, release. Phases are functions; what they work with is given.

use super::agents::LoadCommand;
use super::clients;
use super::commit_levels;
use super::data;
use super::drill::{self, DrillCourse};
use super::experiment;
use super::heard::Heard;
use super::load;
use super::preparation::PreparedRun;
use super::prober_pace;
use super::quiet_check;
use super::quiet_window;
use super::replication;
use super::run_context::RunContext;
use super::run_state::{LoadEnd, RunState};
use super::warm_up::{WarmUpEnded, WarmUpStanding, WarmUpWatch};
use super::whole_run;
use crate::live::Phase;
use proofload_load::Rating;
use proofload_model::deployment::InstancePlan;
use proofload_model::drill::FaultTarget;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::readiness::ReadinessFound;
use proofload_model::replication::link;
use proofload_model::samples::{MarkLabel, OperationCounts};
use proofload_model::study::{scraped, session_looks};
use proofload_model::time::Moment;
use proofload_model::wire::load::{CheckData, ConnectProber, EndProber, RestoreData, Verify};

/// Carries out one run. On an error the caller cleans up and marks the attempt.
pub(super) fn carry_out(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    load_commands: &[LoadCommand],
) -> Result<(), Error> {
    context.heard.state = RunState::before(load_commands.len(), prepared.patience());
    quiet_check::wait(context, prepared, prepared.procedure.wait_for_quiet)?;
    prepare(context, prepared, load_commands)?;
    context.meet()?;
    let mut drilled = None;
    match prepared.rating() {
        _ if prepared.experiment.is_some() => {
            begin_load(context, prepared)?;
            let warmed_up = warm_up(context, prepared)?;
            context.heard.journal.event(warmed_up)?;
            experiment::carry_out(context, prepared)?;
        }
        Rating::Window | Rating::ToItsEnd => {
            begin_load(context, prepared)?;
            let warmed_up = warm_up(context, prepared)?;
            let window = measure(context, prepared, warmed_up)?;
            let drill = prepared.drill.as_ref().map(|asked| drill::carry_out(context, prepared, asked, window));
            drilled = drill.transpose()?;
        }
        Rating::WholeRun { warm_up_rounds } => whole_run::measure(context, prepared, warm_up_rounds)?,
    }
    let totals = end_load(context, prepared)?;
    if let Some(course) = drilled {
        keep_drill(context, course)?;
    }
    verify(context, prepared, totals)?;
    release(context, prepared)
}

/// Restores, limits and starts the deployment; then opens, checks and connects the load.
fn prepare(context: &mut RunContext<'_>, prepared: &PreparedRun, load_commands: &[LoadCommand]) -> Result<(), Error> {
    if prepared.keeps_data() {
        let confirmed = context.confirmed.clone();
        context.testbed(prepared).purge(&prepared.purged, confirmed.as_deref())?;
        let anew = prepared.procedure.restore_every_run;
        context.testbed(prepared).restore(|instance| prepared.snapshot_of(instance), anew)?;
    }
    context.heard.view.phase(Phase::Preparing);
    let facts = context.testbed(prepared).prepare(|instance| instance.limits.clone())?;
    context.heard.journal.facts(&facts)?;
    let mut endpoints = Vec::new();
    if prepared.starts_instance() {
        let part = |instance: &InstancePlan, upstream: Option<&String>| {
            (instance.place.clone(), prepared.part(instance, upstream))
        };
        let mut started = match (&prepared.manager, &prepared.replication) {
            (Some(manager), Some(asked)) => context.testbed(prepared).start_managed(manager, asked)?,
            _ => context.testbed(prepared).start(link(&prepared.settings), part)?,
        };
        context.heard.journal.facts(&started.facts)?;
        let fault = prepared.drill.and_then(|drill| drill.fault);
        let parts_clients = fault.is_some_and(|fault| fault.target == FaultTarget::Clients);
        if let Some(link) = clients::network(prepared, parts_clients) {
            context.testbed(prepared).front(&mut started, link)?;
            clients::measure_network(context, prepared)?;
        }
        if prepared.is_one_machine {
            context.testbed(prepared).know_beside(&started.facts)?;
        }
        endpoints = started.endpoints(prepared.drill.is_some());
        context.addresses = started.names.iter().cloned().zip(started.addresses).collect();
        context.upstreams = started.upstreams;
        replication::establish(context, prepared)?;
    } else {
        replication::establish_existing(context, prepared)?;
    }
    commit_levels::calibrate(context, prepared)?;
    context.agents.start_load(load_commands)?;
    let pid = load::open(context, prepared, &endpoints)?;
    if prepared.is_embedded() {
        context.testbed(prepared).join(pid)?;
    }
    clients::limit(context, prepared, pid)?;
    if prepared.keeps_data() {
        if data::restores_at_url(prepared) {
            context.heard.view.phase(Phase::Restoring);
            context.ask_load(RestoreData { label: prepared.label.clone() })?;
            context.heard.view.phase(Phase::Preparing);
        }
        context.ask_load(CheckData {})?.must_fit()?;
    }
    load::connect(context, prepared)?;
    if prepared.fills_cache_in_load() {
        // Data that the cache was filled with were read through the page cache, which the restore had emptied.
        context.testbed(prepared).drop_page_cache()?;
    }
    if let Some(asked) = &prepared.drill {
        context.ask_load(ConnectProber { asked: asked.prober })?;
    }
    if prepared.procedure.prewarm {
        context.testbed(prepared).prewarm()?;
    }
    keep_limits(context, prepared)?;
    context.heard.journal.event(RunEvent::Prepared)
}

/// Reads back what should be in force.
fn keep_limits(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let facts = context.testbed(prepared).verify()?;
    context.heard.state.host.limit_to(&facts);
    context.heard.journal.facts(&facts)
}

/// Starts load and probes.
pub(super) fn begin_load(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    context.mark(MarkLabel::Before)?;
    load::start(context)?;
    let pid = context.load_pid(prepared);
    let origin = context.heard.state.origin;
    let (exporters, looks) = (scraped(&prepared.settings), session_looks(&prepared.settings));
    context.testbed(prepared).start_probes(origin.unwrap_or(Moment(0)), pid, &exporters, looks)?;
    context.heard.journal.time_zero(origin);
    context.heard.journal.event(RunEvent::LoadStarted(Some(prepared.run.seed)))
}

/// Hears seconds until the warm-up or the load ends; gives the event of the warm-up's end.
fn warm_up(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<RunEvent, Error> {
    context.heard.view.phase(Phase::WarmingUp);
    let mut watch = WarmUpWatch::new(&prepared.procedure);
    loop {
        let Heard { journal, view, state, .. } = &mut context.heard;
        match watch.look(&state.throughput, &state.observed) {
            WarmUpStanding::Ended(WarmUpEnded { event, readiness }) => {
                if !readiness.is_empty() {
                    journal.event(RunEvent::Readiness(readiness))?;
                }
                return Ok(event);
            }
            WarmUpStanding::Waits(open) => view.note(&format!(
                "throughput is steady; the warm-up waits for: {} (drift over the time to be measured)",
                words(&open)
            )),
            WarmUpStanding::GoesOn => {}
        }
        if !context.next_second()? {
            return Ok(RunEvent::EndedEarly { seconds: context.heard.state.throughput.len() as u64 });
        }
    }
}

/// Conditions of a deployment in one line.
fn words(found: &[ReadinessFound]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Measures a load of fixed length: whole seconds after the one that is running now, in every load agent. A load that ends by itself is
/// measured to its end. Answers with the window.
fn measure(context: &mut RunContext<'_>, prepared: &PreparedRun, warmed_up: RunEvent) -> Result<(usize, usize), Error> {
    let state = &mut context.heard.state;
    let from = (state.throughput.len() + 1).max(state.merger.furthest() as usize);
    let to = if prepared.rating() == Rating::ToItsEnd { usize::MAX } else { from + prepared.seconds() };
    state.merger.set_window(from as u64..to as u64);
    context.heard.view.phase(Phase::Measuring);
    let began = context.wait_for(from)?;
    context.mark(MarkLabel::WindowStart)?;
    let lasted = began && context.wait_for(to)?;
    let end = if lasted { quiet_window::extend(context, prepared, from, to)? } else { None };
    context.mark(MarkLabel::WindowEnd)?;
    if let Some(to) = end {
        keep_window(context, warmed_up, from, to)?;
        return Ok((from, to));
    }
    // The last whole second in which every user still had work.
    let state = &context.heard.state;
    let seconds = state.throughput.len();
    let end = state.end.map_or(0.0, |end| end.first_without_work.as_seconds());
    let end = (end as usize).min(seconds);
    if end > from {
        keep_window(context, warmed_up, from, end)?;
        return Ok((from, end));
    }
    keep_window(context, RunEvent::EndedEarly { seconds: seconds as u64 }, 0, end.max(1))?;
    Ok((0, end.max(1)))
}

/// Ends the prober, and notes the drill with what it found and how closely.
fn keep_drill(context: &mut RunContext<'_>, course: DrillCourse) -> Result<(), Error> {
    let prober = context.ask_load(EndProber {})?;
    prober_pace::note_coarse(context, &prober)?;
    context.heard.journal.event(RunEvent::Drilled(Box::new(course.report(*prober))))
}

/// Notes how the warm-up ended, and the window.
fn keep_window(context: &mut RunContext<'_>, warmed_up: RunEvent, from: usize, to: usize) -> Result<(), Error> {
    let journal = &mut context.heard.journal;
    journal.event(warmed_up)?;
    journal.event(RunEvent::Window { from: from as u64, to: to as u64 })
}

/// Ends load and probes; notes what was used and what the clients counted.
fn end_load(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<Vec<OperationCounts>, Error> {
    context.heard.view.phase(Phase::Stopping);
    let (intervals, totals) = load::stop(context)?;
    let usage = context.testbed(prepared).stop_probes()?;
    context.heard.journal.facts(&usage)?;
    context.mark(MarkLabel::After)?;
    let (journal, state) = (&mut context.heard.journal, &context.heard.state);
    if let Some(end) = state.end {
        journal.event(completed(&end, &totals))?;
    }
    if !state.lost.is_empty() {
        journal.event(RunEvent::SessionsLost(state.lost.clone()))?;
    }
    journal.event(RunEvent::LoadStopped { intervals, totals: totals.clone() })?;
    Ok(totals)
}

/// Reads limits back once more and lifts them, then checks: the checks are not what is measured.
fn verify(context: &mut RunContext<'_>, prepared: &PreparedRun, totals: Vec<OperationCounts>) -> Result<(), Error> {
    context.heard.view.phase(Phase::Verifying);
    keep_limits(context, prepared)?;
    context.testbed(prepared).release()?;
    clients::lift(context, prepared)?;
    load::gather_evidence(context)?;
    let checks = context.ask_load(Verify { totals })?;
    context.heard.journal.checks(&checks)
}

/// Ends load agents and instances.
fn release(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    load::release(context)?;
    context.testbed(prepared).end(prepared.instance_end())?;
    context.heard.journal.event(RunEvent::Released)
}

/// The event of a load that came to its own end.
fn completed(end: &LoadEnd, totals: &[OperationCounts]) -> RunEvent {
    let operations: u64 = totals.iter().map(|counts| counts.completed() + counts.failed).sum();
    let (seconds, first) = (end.ran.as_seconds(), end.first_without_work.as_seconds());
    RunEvent::Completed { seconds, operations, first_user_ended: Some(first) }
}
