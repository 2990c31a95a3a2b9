//! What must not stay behind when the conductor is gone and a request does not end: known to whoever frees it from outside.

use crate::limits::Group;
use crate::sys;
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
}

impl Remains {
    /// The server's process; none when none runs any more.
    pub(crate) fn set_server(&self, process: Option<u32>) {
        self.held().server = process;
    }

    /// The group of the limits; none when it is gone.
    pub(crate) fn set_group(&self, group: Option<Group>) {
        self.held().group = group;
    }

    /// Has the conductor gone? Long waits look at it.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    /// Kills the server with all its processes, frees others from the limits and removes the group.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
        let held = std::mem::take(&mut *self.held());
        for process in held.server.into_iter().flat_map(sys::descendants) {
            sys::signal(process, 9);
        }
        if let Some(group) = held.group {
            group.evict();
            group.remove();
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
