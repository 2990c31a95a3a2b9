//! Launches a program of an instance, under the limits that stand, and waits until what it serves answers: a server, or the failover manager that
//! runs one.

use super::log::Log;
use super::server::{InstanceWatch, Server, StopSignals};
use super::user::User;
use crate::agents::EventSink;
use crate::host::InstanceRemains;
use crate::limits::AppliedLimits;
use crate::sys::{self, Spawn};
use proofload_engine::CommandLine;
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// How long a program may take from its start to its first answer. Long, because a server that recovers from a crash, or makes a large
/// log, answers once that is done, which takes minutes for tens of gigabytes on a slow disk; a program that ends is noticed at once.
const PATIENCE: Duration = Duration::from_secs(600);

const GLANCE: Duration = Duration::from_millis(20);

/// Asks whether what is served at an address answers; an error means "not yet".
pub(super) type Answers<'a> = &'a dyn Fn(&str) -> Result<(), Error>;

/// Order to launch a program.
pub(crate) struct Launch<'a> {
    pub(crate) instance: &'a InstanceName,
    pub(crate) command: CommandLine,
    /// Folder that it works in, absolute.
    pub(crate) folder: &'a Path,
    /// File that takes its output.
    pub(crate) log: PathBuf,
    pub(crate) user: Option<&'a User>,
    pub(crate) signals: StopSignals,
    /// Data folder of the server that it runs beside itself.
    pub(crate) runs: Option<PathBuf>,
    pub(crate) port: u16,
    pub(crate) address: String,
    pub(crate) answers: Answers<'a>,
    pub(crate) limits: Option<&'a mut AppliedLimits>,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) events: &'a EventSink,
    pub(crate) remains: &'a Arc<InstanceRemains>,
}

/// Launches the program.
///
/// # Errors
/// A start that failed or took longer than 600 s, with the end of its log.
pub(crate) fn launch(order: Launch<'_>) -> Result<Server, Error> {
    let Launch { instance, command, folder, log, user, signals, runs, port, address, answers, mut limits, .. } = order;
    let (log, file) = Log::open(&log, user)?;
    let group = limits.as_deref().map(AppliedLimits::group).cloned();
    let (groups, cores) = limits.as_deref().map_or_else(|| Ok((Vec::new(), None)), AppliedLimits::entrance)?;
    let watch = Arc::new(InstanceWatch::new(instance.clone(), log, group));
    let birth = Birth { command, data: folder.to_owned(), file, groups, cores, user: user.cloned() };
    let process = give_birth(birth, signals.firm, &watch, order.events)?;
    order.remains.set_server(Some(process));
    order.remains.set_served(runs.clone());
    order.remains.set_data(runs.clone().unwrap_or_else(|| folder.to_owned()));
    if let Some(limits) = limits.as_deref_mut() {
        limits.born(process);
    }
    let (clock, remains) = (Arc::clone(order.clock), Arc::clone(order.remains));
    let server = Server { signals, process, runs, port, address, watch, clock, remains };
    until_it_answers(&server, answers)?;
    if let Some(limits) = limits.filter(|_| server.is_managed()) {
        limits.born(server.process());
    }
    server.watch.is_serving();
    // One that ended between its answer and this is told by nobody else.
    server.watch.ended().map_or(Ok(server), |reason| Err(exited(&reason)))
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
fn give_birth(birth: Birth, at_our_death: i32, watch: &Arc<InstanceWatch>, events: &EventSink) -> Result<u32, Error> {
    let (born, birthday) = sync_channel(1);
    let (watch, events) = (Arc::clone(watch), Arc::clone(events));
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
                // Whoever hears of its end may unmount what the log lies on.
                drop(birth.file);
                let _waiting = born.send(Ok(child.id()));
                watch.until_end(child, &events);
            }
        }
    });
    birthday
        .recv()
        .unwrap_or_else(|_| Err(Error::new("failed to start the server: the thread that starts it panicked")))
}

fn until_it_answers(server: &Server, answers: Answers<'_>) -> Result<(), Error> {
    let begun = server.clock.now();
    loop {
        let answer = answers(&server.address);
        // Another may answer in its place.
        server.notice_end();
        if let Some(reason) = server.watch.ended() {
            return Err(exited(&reason));
        }
        let Err(error) = answer else { return Ok(()) };
        if server.remains.is_abandoned() {
            return Err(Error::new("failed to start the server: the conductor is gone"));
        }
        if server.clock.now().since(begun) > PATIENCE {
            let text =
                format!("failed to start the server: no answer within {PATIENCE:?}: {error}; {}", server.watch.tail());
            return Err(Error::new(text));
        }
        server.clock.sleep(GLANCE);
    }
}

fn exited(reason: &str) -> Error {
    Error::new(format!("failed to start the server: it exited at once: {reason}"))
}
