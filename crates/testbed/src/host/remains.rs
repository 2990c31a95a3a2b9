//! What must not stay behind when the conductor is gone and a request does not end: known to whoever frees it from outside.

use crate::limits::{Group, loosen};
use crate::preconditioning;
use crate::sys;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The running server and the control group of one host role.
#[derive(Debug, Default)]
pub(crate) struct Remains {
    abandoned: AtomicBool,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    server: Option<u32>,
    group: Option<Group>,
    guests: Vec<u32>,
    preconditioned: Option<PathBuf>,
}

impl Remains {
    /// The server's process; none when none runs any more.
    pub(crate) fn set_server(&self, process: Option<u32>) {
        self.held().server = process;
    }

    /// The group of the limits, empty; none when it is gone.
    pub(crate) fn set_group(&self, group: Option<Group>) {
        let mut held = self.held();
        held.group = group;
        held.guests.clear();
    }

    /// A process that joined the limits and is no child of ours: it is not killed.
    pub(crate) fn add_guest(&self, process: u32) {
        self.held().guests.push(process);
    }

    /// The folder in which preconditioning is under way; none when it is not.
    pub(crate) fn set_preconditioned(&self, folder: Option<&Path>) {
        self.held().preconditioned = folder.map(Path::to_owned);
    }

    /// Has the conductor gone? Long waits look at it.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    /// Kills the server with all its processes and preconditioning with its files, frees others from the limits and removes
    /// the group.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
        let held = std::mem::take(&mut *self.held());
        held.group.iter().for_each(loosen);
        for process in held.server.into_iter().flat_map(sys::descendants) {
            sys::signal(process, 9);
        }
        if let Some(folder) = held.preconditioned {
            preconditioning::abandon(&folder);
        }
        if let Some(group) = held.group {
            // Also children that were born between the look and the signal.
            group.kill_members(&held.guests);
            group.dissolve();
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
