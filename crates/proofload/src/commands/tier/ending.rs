//! Ends a server of a pool within a time, and says what is left. It ends nothing that this process did not start.

use super::devices::OpenDevices;
use super::mounts::Mounts;
use super::ublk::BlockDevices;
use super::units::{count, time};
use super::warming::WarmingThread;
use crate::exit::Exit;
use crate::output;
use proofload_tier::control::ControlServer;
use proofload_tier::export::NbdServer;
use proofload_tier::tier::{Maintenance, Tier};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Everything that serves a pool. Dropping it ends it.
#[derive(Default)]
pub(super) struct ServerParts {
    /// Ended first: they are what users hold.
    pub(super) mounts: Option<Mounts>,
    pub(super) blocks: Option<BlockDevices>,
    pub(super) nbd: Vec<NbdServer>,
    pub(super) control: Option<ControlServer>,
    /// Ended before the pool is closed, like the next.
    pub(super) warming: Option<WarmingThread>,
    pub(super) maintenance: Option<Maintenance>,
    /// Dropped last: claims on the devices.
    pub(super) devices: Option<OpenDevices>,
}

impl ServerParts {
    /// What is where, of exports that name nodes and files.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mounts = self.mounts.as_ref().map_or(Vec::new(), Mounts::lines);
        [mounts, self.blocks.as_ref().map_or(Vec::new(), BlockDevices::lines)].concat()
    }
}

/// Texts about what is in use and goes with its last use, or why the pool is not closed.
type Closed = Result<Vec<String>, String>;

/// What the end is at, for the one who waits.
type Stage = Arc<Mutex<&'static str>>;

/// Ends exports, control socket and cleaner, makes everything durable and closes the pool.
pub(super) fn end(served: ServerParts, tier: Arc<Tier>, within: Duration) -> Exit {
    let dirty = tier.status().dirty_lines;
    let (done, outcome) = sync_channel(1);
    let stage: Stage = Arc::new(Mutex::new("exports"));
    let shared = Arc::clone(&stage);
    std::thread::spawn(move || close(served, tier, &shared, &done));
    match outcome.recv_timeout(within) {
        Ok(Ok(left)) => {
            left.iter().for_each(|text| output::error(text));
            let told = format!("stopped: the pool is closed, {} dirty lines remain in the cache", count(dirty));
            // The pool is closed, also where nobody can be told.
            if let Err(text) = output::result(&told) {
                output::error(&text);
            }
            Exit::Good
        }
        Ok(Err(text)) => output::failure(false, Exit::Failure, &format!("failed to close the pool: {text}")),
        Err(RecvTimeoutError::Timeout) => {
            let at = *stage.lock().unwrap_or_else(PoisonError::into_inner);
            let text = format!(
                "the pool was not closed within {}, still busy: {at}; flushed data are in the cache, and the next \
                 start recovers as after a crash",
                time(within)
            );
            output::failure(false, Exit::Failure, &text)
        }
        Err(RecvTimeoutError::Disconnected) => output::failure(false, Exit::Failure, "closing the pool failed"),
    }
}

fn close(mut served: ServerParts, tier: Arc<Tier>, stage: &Stage, done: &SyncSender<Closed>) {
    let at = |what| *stage.lock().unwrap_or_else(PoisonError::into_inner) = what;
    let mut left = served.mounts.take().map_or(Vec::new(), Mounts::end);
    left.extend(served.blocks.take().map_or(Vec::new(), BlockDevices::end));
    served.nbd.clear();
    at("the control socket");
    // Its file stays to the end: `tier stop` waits for that.
    let socket = served.control.take().map(ControlServer::retire);
    at("warming");
    served.warming = None;
    at("the cleaner");
    served.maintenance = None;
    at("closing the pool");
    let closed = match Arc::into_inner(tier) {
        // Users of what is left get errors, and nothing of theirs is lost that was written.
        Some(tier) => tier.close().map(|()| left).map_err(|error| error.to_string()),
        None if left.is_empty() => Err("something still uses it".to_owned()),
        None => Err(format!("{}; the next start recovers as after a crash", left.join("; "))),
    };
    drop(served);
    drop(socket);
    // Nobody waits any more when the time is over.
    drop(done.send(closed));
}
