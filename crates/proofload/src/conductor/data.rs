//! Data before the first run: built once, kept as a snapshot, found again by its label.

use super::agents::LoadCommand;
use super::apart;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::commands::rights;
use crate::live::Phase;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::facts::data;
use proofload_model::settings::setting;
use proofload_model::wire::load::{BeginBuild, Build, BuildShare, CheckData, Close, DataState, KeepData, Open};

/// Makes sure that the data of a run exists: as a snapshot when runs restore it, else in place.
pub(super) fn ensure(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    commands: &[LoadCommand],
) -> Result<(), Error> {
    if !prepared.keeps_data() {
        return Ok(());
    }
    if prepared.primary().place.url.is_some() {
        return ensure_at_url(context, prepared, commands);
    }
    context.primary_alone(prepared).mount_volume(prepared.settings.bytes(setting::STORAGE_VOLUME).ok())?;
    if !context.primary_alone(prepared).has_snapshots(&prepared.label)? {
        make(context, prepared, commands)?;
    }
    apart::ensure(context, prepared)
}

/// Builds the data and keeps them as a snapshot.
fn make(context: &mut RunContext<'_>, prepared: &PreparedRun, commands: &[LoadCommand]) -> Result<(), Error> {
    context.heard.view.phase(Phase::Building);
    context.heard.journal.event(RunEvent::Building(prepared.label.clone()))?;
    context.primary_alone(prepared).create()?;
    build(context, prepared, commands)?;
    context.primary_alone(prepared).stop()?;
    refit_log(context, prepared)?;
    context.heard.view.progress("saving the snapshot", None);
    context.primary_alone(prepared).save(&prepared.label)
}

/// Starts and stops the server once more where the data that were built want another log, so that the snapshot has it and no run makes it.
fn refit_log(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    if !prepared.starts_instance() || !context.primary_alone(prepared).refit_log(prepared.building_place())? {
        return Ok(());
    }
    context.heard.view.progress("making the log anew for the size of the data", None);
    context.primary_alone(prepared).prepare_to_build()?;
    context.primary_alone(prepared).start(None, |_, _| prepared.building())?;
    context.primary_alone(prepared).stop()
}

/// Makes sure of the data of an existing server: those that fit are used, an empty database is filled, a build of ours that was broken off
/// goes on, and anything else ends the run untouched.
fn ensure_at_url(context: &mut RunContext<'_>, prepared: &PreparedRun, commands: &[LoadCommand]) -> Result<(), Error> {
    let first = commands.get(..1).unwrap_or_default();
    context.agents.start_load(first)?;
    context.ask_load(Open { spec: Box::new(prepared.load_spec(Vec::new())) })?;
    let found = context.ask_load(CheckData {});
    let changes = matches!(found, Ok(DataState::Fits | DataState::Differs { .. }));
    // What earlier runs have left of the data is put back before the next.
    let is_kept = changes && restores_at_url(prepared) && keep(context, prepared, false)?;
    context.agents.stop_load();
    if is_kept {
        return Ok(());
    }
    match found? {
        state @ (DataState::Fits | DataState::Differs { .. }) => state.must_fit()?,
        DataState::Empty { .. } | DataState::Unfinished { .. } => {
            may_build(prepared)?;
            context.heard.view.phase(Phase::Building);
            context.heard.journal.event(RunEvent::Building(prepared.label.clone()))?;
            build(context, prepared, commands)?;
        }
    }
    if restores_at_url(prepared) {
        context.agents.start_load(first)?;
        context.ask_load(Open { spec: Box::new(prepared.load_spec(Vec::new())) })?;
        keep(context, prepared, true)?;
        context.agents.stop_load();
    }
    Ok(())
}

/// An error where the login lacks a right to build at an existing server. Nothing is asked where the load comes from other hosts, which log
/// in by themselves.
fn may_build(prepared: &PreparedRun) -> Result<(), Error> {
    let url =
        prepared.primary().place.url.as_deref().filter(|_| prepared.settings.list(setting::AGENTS_LOAD).is_empty());
    let missing = url.and_then(|url| rights::missing_to_build(prepared.engine, url, &prepared.settings));
    missing.map_or(Ok(()), |why| {
        Err(Error::refused(format!(
            "nothing was built: {why}\nproofload doctor STUDY tells all rights that are lacking"
        )))
    })
}

/// Whether the server puts its data back before each run.
pub(super) fn restores_at_url(prepared: &PreparedRun) -> bool {
    prepared.primary().place.url.is_some() && prepared.procedure.restore_every_run
}

/// Whether the server keeps the data; has it keep them first where it is to.
fn keep(context: &mut RunContext<'_>, prepared: &PreparedRun, anew: bool) -> Result<bool, Error> {
    context.ask_load(KeepData { label: prepared.label.clone(), anew })
}

/// Builds without limits: they belong to the measured runs. Several load agents share the loading of rows; the first does what is left.
fn build(context: &mut RunContext<'_>, prepared: &PreparedRun, commands: &[LoadCommand]) -> Result<(), Error> {
    let mut endpoints = Vec::new();
    if prepared.starts_instance() {
        context.primary_alone(prepared).prepare_to_build()?;
        endpoints = context.primary_alone(prepared).start(None, |_, _| prepared.building())?.endpoints(false);
    }
    context.agents.start_load(commands)?;
    context.authenticate()?;
    let parts = prepared.parts();
    context.ask_all_load(|agent| {
        let part = parts.get(agent).cloned().unwrap_or_default();
        Open { spec: Box::new(prepared.building_spec(endpoints.clone(), part)) }
    })?;
    let mut facts = Vec::new();
    if commands.len() > 1 && context.ask_load(BeginBuild {})? {
        context.ask_all_load(|_| BuildShare {})?;
        facts.push(data::LOADED_BY.observed(commands.len(), "load agents"));
    }
    facts.extend(context.ask_load(Build {})?);
    context.ask_all_load(|_| Close {})?;
    context.agents.stop_load();
    context.heard.journal.facts(&facts)
}
