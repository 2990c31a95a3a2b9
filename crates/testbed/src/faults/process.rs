//! A process that is not mistaken for a later one of the same number.

use crate::instances::Server;
use crate::sys;
use std::collections::BTreeSet;

/// SIGKILL.
const KILL: i32 = 9;
/// SIGCONT.
const CONTINUE: i32 = 18;
/// SIGSTOP.
const STOP: i32 = 19;

/// The process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    number: u32,
    started: Option<u64>,
}

impl Process {
    /// The process of this number.
    pub(crate) fn of(number: u32) -> Self {
        Self { number, started: sys::start_time(number) }
    }

    /// Processes of a server, and of the manager that runs it, with all that descend from them: those that live.
    pub(crate) fn of_server(server: &Server) -> Vec<Self> {
        let roots = server.roots().into_iter().filter(|root| sys::is_running(*root));
        let numbers: BTreeSet<u32> = roots.flat_map(sys::descendants).collect();
        numbers.into_iter().map(Self::of).collect()
    }

    /// Tells whether it runs.
    pub(crate) fn is_running(self) -> bool {
        sys::is_running(self.number) && sys::start_time(self.number) == self.started
    }

    /// Tells whether it stands still.
    pub(super) fn is_stopped(self) -> bool {
        sys::is_stopped(self.number)
    }

    /// Kills it.
    pub(crate) fn kill(self) {
        self.tell(KILL);
    }

    /// Stops it, or lets it go on.
    pub(super) fn halt(self, halted: bool) {
        self.tell(if halted { STOP } else { CONTINUE });
    }

    fn tell(self, signal: i32) {
        if sys::start_time(self.number) == self.started {
            sys::signal(self.number, signal);
        }
    }
}
