//! Starts a server in its place, under the limits that stand, and waits until it answers.

use super::log::Log;
use super::server::{InstanceWatch, Server};
use super::user::User;
use crate::agents::EventSink;
use crate::host::{InstanceRemains, is_server_of};
use crate::limits::AppliedLimits;
use crate::sys::{self, Spawn};
use proofload_engine::{CommandLine, FileToWrite, ServerRecipe, StandbyFiles};
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use proofload_model::time::Clock;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// How long a server may take from its start to its first answer.
const PATIENCE: Duration = Duration::from_secs(60);

const GLANCE: Duration = Duration::from_millis(50);

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
    pub(crate) limits: Option<&'a mut AppliedLimits>,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) events: &'a EventSink,
    pub(crate) remains: &'a Arc<InstanceRemains>,
}

/// Starts the server; answers with it and with facts about the start.
///
/// # Errors
/// No instance in the folder, one that runs already, a start that failed or took longer than 60 s, with the end of its log.
pub(crate) fn start(order: Start<'_>) -> Result<(Server, Vec<Fact>), Error> {
    let Start { instance, recipe, data, port, settings, standby, limits, clock, events, remains } = order;
    let begun = clock.now();
    let user = User::for_server(recipe.unprivileged_users())?;
    refuse_unfit(recipe, &data, user.as_ref())?;
    let port = port.map_or_else(free_port, Ok)?;
    let settings: Vec<(String, String)> = settings.iter().cloned().chain(standby.settings).collect();
    for file in recipe.configure(&data, &settings, port)?.iter().chain(&standby.files) {
        write(&data, file, user.as_ref())?;
    }
    lead(&data, &standby.links)?;
    let command = recipe.start(&data)?;
    let (log, file) = Log::open(&data.join(recipe.log_file()), user.as_ref())?;
    let group = limits.as_deref().map(AppliedLimits::group).cloned();
    let (groups, cores) = limits.as_deref().map_or_else(|| Ok((Vec::new(), None)), AppliedLimits::entrance)?;
    let watch = Arc::new(InstanceWatch::new(instance.clone(), log, group));
    let birth = Birth { command: command.clone(), data: data.clone(), file, groups, cores, user: user.clone() };
    let process = give_birth(birth, recipe, &watch, events)?;
    remains.set_server(Some(process));
    if let Some(limits) = limits {
        limits.born(process);
    }
    let address = recipe.address(&data, port);
    let (clock, remains) = (Arc::clone(clock), Arc::clone(remains));
    let server = Server { recipe, process, port, address, watch, clock, remains };
    until_it_answers(&server)?;
    server.watch.is_serving();
    let took = server.clock.now().since(begun);
    let facts = facts(&command, user.as_ref(), process, took);
    Ok((server, facts))
}

fn refuse_unfit(recipe: &dyn ServerRecipe, data: &Path, user: Option<&User>) -> Result<(), Error> {
    if !data.is_dir() {
        return Err(Error::new(format!("start the server: there is no instance in {}", data.display())));
    }
    if let Some(process) = recipe.running_pid(data).filter(|process| is_server_of(*process, data)) {
        return Err(Error::new(format!("start the server: process {process} already serves {}", data.display())));
    }
    user.map_or(Ok(()), |user| user.can_reach(data))
}

/// A port that nobody listens on at this moment.
fn free_port() -> Result<u16, Error> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|error| Error::new(format!("find a free port: {error}")))
}

fn write(data: &Path, file: &FileToWrite, user: Option<&User>) -> Result<(), Error> {
    let path = data.join(&file.path);
    std::fs::write(&path, &file.content).map_err(|error| Error::new(format!("write {}: {error}", path.display())))?;
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

/// All that the thread needs that gives birth to the server.
struct Birth {
    command: CommandLine,
    data: PathBuf,
    file: File,
    groups: Vec<File>,
    cores: Option<Vec<usize>>,
    user: Option<User>,
}

/// Starts the process on a thread that lives as long as it does, and answers with its number.
fn give_birth(
    birth: Birth,
    recipe: &'static dyn ServerRecipe,
    watch: &Arc<InstanceWatch>,
    events: &EventSink,
) -> Result<u32, Error> {
    let (born, birthday) = sync_channel(1);
    let (watch, events) = (Arc::clone(watch), Arc::clone(events));
    let (_, at_our_death, _) = recipe.stop_signals();
    std::thread::spawn(move || {
        let child = sys::spawn(Spawn {
            program: &birth.command.program,
            arguments: &birth.command.arguments,
            environment: &birth.command.environment,
            folder: &birth.data,
            log: &birth.file,
            groups: birth.groups,
            cores: birth.cores,
            user: birth.user.map(|user| (user.user, user.group)),
            at_our_death,
        });
        match child {
            Err(error) => drop(born.send(Err(error))),
            Ok(child) => {
                let _waiting = born.send(Ok(child.id()));
                watch.until_end(child, &events);
            }
        }
    });
    birthday.recv().unwrap_or_else(|_| Err(Error::new("start the server: the thread that starts it ended by a panic")))
}

fn until_it_answers(server: &Server) -> Result<(), Error> {
    let begun = server.clock.now();
    loop {
        let answer = server.recipe.probe(&server.address);
        if let Some(reason) = server.watch.ended() {
            return Err(Error::new(format!("start the server: it ended at once: {reason}")));
        }
        let Err(error) = answer else { return Ok(()) };
        if server.remains.is_abandoned() {
            return Err(Error::new("start the server: the conductor is gone"));
        }
        if server.clock.now().since(begun) > PATIENCE {
            let text = format!("start the server: no answer within {PATIENCE:?}: {error}; {}", server.watch.tail());
            return Err(Error::new(text));
        }
        server.clock.sleep(GLANCE);
    }
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
