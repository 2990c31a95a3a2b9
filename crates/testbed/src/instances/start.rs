//! Starts a server in its place, under the limits that stand, and waits until it answers.

use super::launch::{Launch, launch};
use super::secrets::write_secret;
use super::server::{Server, StopSignals};
use super::user::User;
use crate::agents::EventSink;
use crate::host::{InstanceRemains, is_server_of};
use crate::limits::AppliedLimits;
use proofload_engine::{CommandLine, FileToWrite, Replication, ServerRecipe, StandbyFiles};
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use proofload_model::time::Clock;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Order to start the server of an instance.
pub(crate) struct Start<'a> {
    pub(crate) instance: &'a InstanceName,
    pub(crate) recipe: &'static dyn ServerRecipe,
    /// Its data folder, absolute.
    pub(crate) data: PathBuf,
    /// Port of an earlier server that clients know; `None`: any that is free.
    pub(crate) port: Option<u16>,
    /// Names and values, later ones win.
    pub(crate) settings: &'a [(String, String)],
    /// What makes it a standby; empty for another instance.
    pub(crate) standby: StandbyFiles,
    /// Where other hosts reach it, if they do.
    pub(crate) reached: Option<WayIn>,
    pub(crate) limits: Option<&'a mut AppliedLimits>,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) events: &'a EventSink,
    pub(crate) remains: &'a Arc<InstanceRemains>,
}

/// Way by which other hosts come to an instance.
#[derive(Clone, Copy)]
pub(crate) struct WayIn {
    pub(crate) engine: &'static dyn Replication,
    /// Address of this host.
    pub(crate) at: IpAddr,
}

/// Starts the server; answers with it and with facts about the start.
///
/// # Errors
/// No instance in the folder, one that runs already, a start that failed or took longer than 600 s, with the end of its log.
pub(crate) fn start(order: Start<'_>) -> Result<(Server, Vec<Fact>), Error> {
    let Start { instance, recipe, data, port, settings, standby, reached, limits, clock, events, remains } = order;
    let begun = clock.now();
    let user = User::for_server(recipe.unprivileged_users())?;
    refuse_unfit(recipe, &data, user.as_ref())?;
    let at = reached.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |reached| reached.at);
    let port = port.map_or_else(|| free_port_at(at), Ok)?;
    let settings: Vec<(String, String)> = settings.iter().cloned().chain(standby.settings).collect();
    let reachable = reached.map(|WayIn { engine, at }| engine.reachable(&settings, at, port)).transpose()?;
    let in_their_place = reachable.iter().flat_map(|reachable| &reachable.files);
    for file in recipe.configure(&data, &settings, port)?.iter().chain(in_their_place).chain(&standby.files) {
        write(&data, file, user.as_ref())?;
    }
    for file in &standby.secrets {
        write_secret(&data.join(&file.path), &file.content, user.as_ref())?;
    }
    lead(&data, &standby.links)?;
    let command = recipe.start(&data)?;
    let (polite, firm, patience) = recipe.stop_signals();
    let server = launch(Launch {
        instance,
        command: command.clone(),
        folder: &data,
        log: data.join(recipe.log_file()),
        user: user.as_ref(),
        signals: StopSignals { polite, firm, patience },
        runs: None,
        port,
        address: recipe.address(&data, port),
        answers: &|address| Ok(recipe.probe(address)?),
        limits,
        clock,
        events,
        remains,
    })?;
    let process = server.process();
    let took = server.clock.now().since(begun);
    let facts = facts(&command, user.as_ref(), process, took);
    Ok((server, facts))
}

/// Writes what gives stopped data that were just built another log at their next start; tells whether there is such.
pub(crate) fn refit_log(recipe: &dyn ServerRecipe, data: &Path, settings: &[(String, String)]) -> Result<bool, Error> {
    let Some(file) = recipe.log_after_build(data, settings)? else { return Ok(false) };
    let user = User::for_server(recipe.unprivileged_users())?;
    write(data, &file, user.as_ref()).map(|()| true)
}

fn refuse_unfit(recipe: &dyn ServerRecipe, data: &Path, user: Option<&User>) -> Result<(), Error> {
    if !data.is_dir() {
        return Err(Error::new(format!("failed to start the server: no instance exists in {}", data.display())));
    }
    if let Some(process) = recipe.running_pid(data).filter(|process| is_server_of(*process, data)) {
        return Err(Error::new(format!(
            "failed to start the server: process {process} already serves {}",
            data.display()
        )));
    }
    user.map_or(Ok(()), |user| user.can_reach(data))
}

/// A port that nobody listens on at this moment.
pub(crate) fn free_port() -> Result<u16, Error> {
    free_port_at(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// The same at an address, which must be one of this host.
fn free_port_at(at: IpAddr) -> Result<u16, Error> {
    proofload_engine::free_port(at).map_err(|error| {
        Error::new(format!("failed to find a free port at {at}, which must be an address of this host: {error}"))
    })
}

fn write(data: &Path, file: &FileToWrite, user: Option<&User>) -> Result<(), Error> {
    let path = data.join(&file.path);
    std::fs::write(&path, &file.content)
        .map_err(|error| Error::new(format!("failed to write {}: {error}", path.display())))?;
    user.map_or(Ok(()), |user| user.own(&path))
}

/// Makes symbolic links in a folder, in the place of earlier ones.
///
/// # Errors
/// A link cannot be made.
pub(crate) fn lead(folder: &Path, links: &[(PathBuf, PathBuf)]) -> Result<(), Error> {
    links.iter().try_for_each(|(name, to)| link(&folder.join(name), to))
}

fn link(path: &Path, to: &Path) -> Result<(), Error> {
    let made = std::fs::remove_file(path).or_else(not_there).and_then(|()| std::os::unix::fs::symlink(to, path));
    made.map_err(|error| Error::new(format!("link {} to {}: {error}", path.display(), to.display())))
}

fn not_there(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn facts(command: &CommandLine, user: Option<&User>, process: u32, took: Duration) -> Vec<Fact> {
    let line = format!("{} {}", command.program.display(), command.arguments.join(" "));
    let user = user.map_or("ourselves", |user| &user.name);
    let source = "the start of the instance";
    vec![
        engine::INSTANCE_COMMAND.observed(line, source),
        engine::INSTANCE_USER.observed(user, source),
        engine::INSTANCE_PROCESS.observed(process, source),
        engine::INSTANCE_START_TIME.observed(took, source),
    ]
}
